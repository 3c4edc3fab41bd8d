# SPDX-License-Identifier: MIT
"""A second codec of LNet selftest's messages, written from docs/lst.md; it shares no code with ref/lst.

A message is a dictionary {dotted name: number, or bytes for a name}, in the order of docs/lst.md.
"""

MESSAGE_BYTES, HEADER_BYTES = 160, 24
MAGIC = 0xEEB0F00D
ORDERS = ("little", "big")

SID = (("ses_nid", 0, 8), ("ses_stamp", 8, 8))
HEADER = (("msg_version", 4, 4), ("msg_type", 8, 4), ("msg_reserved0", 12, 4), ("msg_reserved1", 16, 4),
          ("msg_ses_feats", 20, 4))


def inside(name, at, fields):
    return tuple((f"{name}.{each}", at + offset, size) for each, offset, size in fields)


def run(at, size, *names):
    return tuple((name, at + size * index, size) for index, name in enumerate(names))


FW = run(0, 4, "running_ms", "active_batches", "zombie_sessions", "brw_errors", "ping_errors")
RPC = run(0, 4, "errors", "rpcs_sent", "rpcs_rcvd", "rpcs_dropped", "rpcs_expired") + run(20, 8, "bulk_get", "bulk_put")
LNET = (run(0, 4, "lcc_msgs_alloc", "lcc_msgs_max", "lcc_errors", "lcc_send_count", "lcc_recv_count", "lcc_route_count",
            "lcc_drop_count") +
        run(28, 8, "lcc_send_length", "lcc_recv_length", "lcc_route_length", "lcc_drop_length"))
BULK_V1 = (("blk_opc", 0, 2), ("blk_flags", 2, 2), ("blk_len", 4, 4), ("blk_offset", 8, 4))
BULK_V0 = run(0, 4, "blk_opc", "blk_npg", "blk_flags")
PING = run(0, 4, "png_size", "png_flags")
NAME_BYTES = 32

# {type: (name, bytes of the body, fields)}; a field is (name, offset in the message, bytes).
BODIES = {
    0: ("MKSN_REQST", 60, (("mksn_rpyid", 24, 8), *inside("mksn_sid", 32, SID), ("mksn_force", 48, 4), ("mksn_name", 52, 32))),
    1: ("MKSN_REPLY", 56, (("mksn_status", 24, 4), *inside("mksn_sid", 28, SID), ("mksn_timeout", 44, 4), ("mksn_name", 48, 32))),
    2: ("RMSN_REQST", 24, (("rmsn_rpyid", 24, 8), *inside("rmsn_sid", 32, SID))),
    3: ("RMSN_REPLY", 20, (("rmsn_status", 24, 4), *inside("rmsn_sid", 28, SID))),
    4: ("BATCH_REQST", 44, (("bar_rpyid", 24, 8), *inside("bar_sid", 32, SID), ("bar_bid", 48, 8), ("bar_opc", 56, 4),
                            ("bar_testidx", 60, 4), ("bar_arg", 64, 4))),
    5: ("BATCH_REPLY", 28, (("bar_status", 24, 4), *inside("bar_sid", 28, SID), ("bar_active", 44, 4), ("bar_time", 48, 4))),
    6: ("STAT_REQST", 28, (("str_rpyid", 24, 8), *inside("str_sid", 32, SID), ("str_type", 48, 4))),
    7: ("STAT_REPLY", 136, (("str_status", 24, 4), *inside("str_sid", 28, SID), *inside("str_fw", 44, FW),
                            *inside("str_rpc", 64, RPC), *inside("str_lnet", 100, LNET))),
    8: ("TEST_REQST", 70, (("tsr_rpyid", 24, 8), ("tsr_bulkid", 32, 8), *inside("tsr_sid", 40, SID), ("tsr_bid", 56, 8),
                           ("tsr_service", 64, 4), ("tsr_loop", 68, 4), ("tsr_concur", 72, 4), ("tsr_is_client", 76, 1),
                           ("tsr_stop_onerr", 77, 1), ("tsr_ndest", 78, 4))),
    9: ("TEST_REPLY", 20, (("tsr_status", 24, 4), *inside("tsr_sid", 28, SID))),
    10: ("DEBUG_REQST", 28, (("dbg_rpyid", 24, 8), *inside("dbg_sid", 32, SID), ("dbg_flags", 48, 4))),
    11: ("DEBUG_REPLY", 60, (("dbg_status", 24, 4), *inside("dbg_sid", 28, SID), ("dbg_timeout", 44, 4), ("dbg_nbatch", 48, 4),
                             ("dbg_name", 52, 32))),
    12: ("BRW_REQST", 28, (("brw_rpyid", 24, 8), ("brw_bulkid", 32, 8), ("brw_rw", 40, 4), ("brw_len", 44, 4), ("brw_flags", 48, 4))),
    13: ("BRW_REPLY", 4, (("brw_status", 24, 4),)),
    14: ("PING_REQST", 32, (("pnr_rpyid", 24, 8), ("pnr_magic", 32, 4), ("pnr_seq", 36, 4), ("pnr_time_sec", 40, 8),
                            ("pnr_time_nsec", 48, 8))),
    15: ("PING_REPLY", 12, (("pnr_status", 24, 4), ("pnr_magic", 28, 4), ("pnr_seq", 32, 4))),
    16: ("JOIN_REQST", 56, (("join_rpyid", 24, 8), *inside("join_sid", 32, SID), ("join_group", 48, 32))),
    17: ("JOIN_REPLY", 56, (("join_status", 24, 4), *inside("join_sid", 28, SID), ("join_timeout", 44, 4), ("join_session", 48, 32))),
}
TEST_REQUEST, TSR_U_AT, SERVICE_BRW, SERVICE_PING = 8, 82, 11, 12


class Refused(Exception):
    """A message is refused: rule, value, limit; message: its fields if they could be read, else None."""

    def __init__(self, rule, value, limit, message=None):
        super().__init__(rule)
        self.rule, self.value, self.limit, self.message = rule, value, limit, message


def parameters(message):
    """The fields of the union tsr_u of a TEST_REQST; the service and the features decide."""
    if message["tsr_service"] == SERVICE_PING:
        return inside("tsr_u", TSR_U_AT, PING)
    if message["tsr_service"] != SERVICE_BRW:
        return ()
    return inside("tsr_u", TSR_U_AT, BULK_V1 if message["msg_ses_feats"] & 1 else BULK_V0)


def read(data, order, fields, message):
    for name, at, size in fields:
        piece = data[at:at + size]
        message[name] = piece[:NAME_BYTES - 1].split(b"\0")[0] if size == NAME_BYTES else int.from_bytes(piece, order)


def decode(data):
    if len(data) != MESSAGE_BYTES:
        raise Refused("lst/length", len(data), MESSAGE_BYTES)
    order = next((each for each in ORDERS if int.from_bytes(data[:4], each) == MAGIC), None)
    if order is None:
        raise Refused("lst/magic", int.from_bytes(data[:4], "little"), MAGIC)
    message = {"byte_order": order}
    read(data, order, HEADER, message)
    if message["msg_type"] not in BODIES:
        raise Refused("lst/type", message["msg_type"], max(BODIES))
    read(data, order, BODIES[message["msg_type"]][2], message)
    if message["msg_type"] == TEST_REQUEST:
        read(data, order, parameters(message), message)
    if message["msg_version"] != 1:
        raise Refused("lst/version", message["msg_version"], 1, message)
    return message


def encode(message):
    data, order = bytearray(MESSAGE_BYTES), message["byte_order"]
    data[:4] = MAGIC.to_bytes(4, order)
    fields = HEADER + BODIES[message["msg_type"]][2]
    if message["msg_type"] == TEST_REQUEST:
        fields += parameters(message)
    for name, at, size in fields:
        value = message[name]
        data[at:at + size] = value.ljust(size, b"\0") if size == NAME_BYTES else value.to_bytes(size, order)
    return bytes(data)
