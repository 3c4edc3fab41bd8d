# SPDX-License-Identifier: MIT
"""The fields of a message as tshark should show them: names, places, and the values of the reference."""

from dataclasses import dataclass, field

import roce_pcap

# docs/wire.md, "Constants".
MAGIC = 0x0BE91B91
TYPES = {"CONNREQ": 0xC0, "CONNACK": 0xC1, "NOOP": 0xD0, "IMMEDIATE": 0xD1, "PUT_REQ": 0xD2, "PUT_NAK": 0xD3,
         "PUT_ACK": 0xD4, "PUT_DONE": 0xD5, "GET_REQ": 0xD6, "GET_DONE": 0xD7}
LNET_TYPES = {"ACK": 0, "PUT": 1, "GET": 2, "REPLY": 3}

UNUSED = "lnet.ptl_filler"
NO_FIELD = "(no field)"

# docs/wire.md, "Header", "Bodies", "LNet header" and "Reject record": our field, tshark's, offset, bytes.
HEADER = [("ibm_magic", "lnet.ib.magic", 0, 4), ("ibm_version", "lnet.ib.version", 4, 2),
          ("ibm_type", "lnet.ib.type", 6, 1), ("ibm_credits", "lnet.ib.credits", 7, 1),
          ("ibm_nob", "lnet.ib.nob", 8, 4), ("ibm_cksum", "lnet.ib_csum", 12, 4),
          ("ibm_srcnid", "lnet.src_nid", 16, 8), ("ibm_srcstamp", "lnet.ib.srcstamp", 24, 8),
          ("ibm_dstnid", "lnet.dest_nid", 32, 8), ("ibm_dststamp", "lnet.ib.dststamp", 40, 8)]
PARAMETERS = [("connparams", "lnet.connparam", 48, 8), ("ibcp_queue_depth", "lnet.connparam.qdepth", 48, 2),
              ("ibcp_max_frags", "lnet.connparam.max_frags", 50, 2),
              ("ibcp_max_msg_size", "lnet.connparam.max_size", 52, 4)]
COMPLETION = [("ibcm_cookie", "lnet.o2ib.cookie", 48, 8), ("ibcm_status", "lnet.o2ib.status", 56, 4)]
COOKIES = [("ibpam_src_cookie", "lnet.o2ib.src_cookie", 48, 8), ("ibpam_dst_cookie", "lnet.o2ib.dest_cookie", 56, 8)]
LNET = [("hdr.dest_nid", "lnet.dest_nid", 48, 8), ("hdr.src_nid", "lnet.src_nid", 56, 8),
        ("hdr.dest_pid", "lnet.dest_pid", 64, 4), ("hdr.src_pid", "lnet.src_pid", 68, 4),
        ("hdr.type", "lnet.msg_type", 72, 4), ("hdr.payload_length", "lnet.payload_length", 76, 4)]
VARIANT_AT, VARIANT_BYTES, LNET_END = 80, 40, 120
HANDLES = {"ACK": "dst_wmd", "PUT": "ack_wmd", "GET": "return_wmd", "REPLY": "dst_wmd"}
MATCH = ("match_bits", "lnet.msg_dst_match_bits", 16, 8)
VARIANTS = {"ACK": [MATCH, ("mlength", "lnet.msg_length", 24, 4)],
            "PUT": [MATCH, ("hdr_data", "lnet.msg_hdr_data", 24, 8), ("ptl_index", "lnet.ptl_index", 32, 4),
                    ("offset", "lnet.offset", 36, 4)],
            "GET": [MATCH, ("ptl_index", "lnet.ptl_index", 24, 4), ("src_offset", "lnet.src_offset", 28, 4),
                    ("sink_length", "lnet.sink_length", 32, 4)],
            "REPLY": []}
REJECT = [("ibr_magic", "lnet.ib.magic", 0, 4), ("ibr_version", "lnet.ib.version", 4, 2),
          ("ibr_why", NO_FIELD, 6, 1), ("ibr_incarnation", NO_FIELD, 8, 8),
          ("ibr_cp.ibcp_queue_depth", NO_FIELD, 16, 2),
          ("ibr_cp.ibcp_max_frags", NO_FIELD, 18, 2), ("ibr_cp.ibcp_max_msg_size", NO_FIELD, 20, 4)]
NID_PARTS = [("address", "lnet.nid.addr", 0, 4), ("network", "lnet.nid.net_interface", 4, 2),
             ("lnd", "lnet.nid.type", 6, 2)]


@dataclass(frozen=True)
class Field:
    ours: str
    shown: str  # tshark's name
    at: int  # offset in the message
    size: int
    value: object = None  # an integer, a text, or None if tshark shows only the place

    def place(self):
        """What tshark shows of it."""
        return (self.shown, self.at, self.size, self.value)

    def text(self):
        value = "" if self.value is None else f" = {self.value}"
        if isinstance(self.value, int):
            value += f" (0x{self.value & 0xFFFFFFFFFFFFFFFF:x})"
        return f"{self.shown}, {self.size} bytes at {self.at}{value}"


@dataclass
class Message:
    name: str
    data: bytes
    kind: str  # "PUT_ACK" and so on, or "REJECT"
    lnet: object  # "PUT" and so on, or None
    order: str
    values: dict  # our field: integer
    shown: list = field(default_factory=list)  # what tshark shows
    replay: str = ""

    def label(self):
        return f"{self.name} ({self.kind}{' ' + self.lnet if self.lnet else ''}, {self.order}-endian)"

    def in_private_data(self):
        return self.kind in roce_pcap.CARRIERS

    def pad(self):
        """The number of bytes that pad the packet to whole words."""
        return 0 if self.in_private_data() else -len(self.data) % 4

    def room(self):
        """The number of bytes that tshark takes for the message: all private data, or the message with its padding."""
        return roce_pcap.private_room(self.kind) if self.in_private_data() else len(self.data) + self.pad()


def number(value):
    return int(value, 16) if isinstance(value, str) else value


def flat(prefix, value, into):
    """Members of JSON objects and lists as "a.b[2].c"."""
    if isinstance(value, dict):
        for key, member in value.items():
            flat(f"{prefix}.{key}" if prefix else key, member, into)
    elif isinstance(value, list):
        for index, member in enumerate(value):
            flat(f"{prefix}[{index}]", member, into)
    elif prefix != "payload":
        into[prefix] = number(value)


def values_of(line):
    message = line["message"]
    names = {"ibm_magic": MAGIC, "ibm_type": TYPES[message["ibm_type"]], "ibm_cksum": line["ibm_cksum"]}
    body = message["body"]
    if "hdr" in body:
        body["hdr"]["type"] = LNET_TYPES[body["hdr"]["type"]]
    for key in ("ibpam_rd", "ibgm_rd"):
        if key in body:
            body[key]["rd_nfrags"] = len(body[key]["rd_frags"])
    values = {}
    flat("", body, values)
    flat("", {key: value for key, value in message.items() if key.startswith("ibm_") and key != "ibm_type"}, values)
    for name in [name for name in values if name.endswith("nid")]:
        nid = values.pop(name)
        values |= {f"{name}.address": nid & 0xFFFFFFFF, f"{name}.network": nid >> 32 & 0xFFFF, f"{name}.lnd": nid >> 48}
    return values | names


def message_of(line, name, replay):
    data = bytes.fromhex(line["bytes"])
    if "reject" in line:
        values = {"ibr_magic": MAGIC}
        flat("", {key: value for key, value in line["reject"].items() if key.startswith("ibr_") and key != "ibr_magic"},
             values)
        return Message(name, data, "REJECT", None, line["reject"]["byte_order"], values, replay=replay)
    message = line["message"]
    return Message(name, data, message["ibm_type"], line["lnet_type"], message["byte_order"], values_of(line),
                   replay=replay)


def descriptor(name, at, count):
    rows = [(name, "lnet.rdma", at, 8 + 12 * count), (f"{name}.rd_key", "lnet.rdma.key", at, 4),
            (f"{name}.rd_nfrags", "lnet.rdma.nfrags", at + 4, 4)]
    for i in range(count):
        rows += [(f"{name}.rd_frags[{i}].rf_nob", "lnet.rdma_frag.size", at + 8 + 12 * i, 4),
                 (f"{name}.rd_frags[{i}].rf_addr", "lnet.rdma_frag.addr", at + 12 + 12 * i, 8)]
    return rows


def lnet_header(lnet):
    handle = f"hdr.{HANDLES[lnet]}"
    rows = LNET + [(f"{handle}.wh_interface_cookie", "lnet.msg_dst_interface_cookie", VARIANT_AT, 8),
                   (f"{handle}.wh_object_cookie", "lnet.msg_dst_object_cookie", VARIANT_AT + 8, 8)]
    rows += [(f"hdr.{ours}", shown, VARIANT_AT + at, size) for ours, shown, at, size in VARIANTS[lnet]]
    end = max(at + size for _, _, at, size in rows)
    return rows + ([("hdr.unused", UNUSED, end, LNET_END - end)] if end < LNET_END else [])


def layout(message):
    """Rows of all fields that the message has."""
    if message.kind == "REJECT":
        return REJECT
    rows, kind = list(HEADER), message.kind
    if message.lnet:
        rows += lnet_header(message.lnet)
    if kind in ("CONNREQ", "CONNACK"):
        rows += PARAMETERS
        if message.room() > len(message.data):
            rows.append(("after_nob", UNUSED, len(message.data), message.room() - len(message.data)))
    elif kind in ("PUT_NAK", "PUT_DONE", "GET_DONE"):
        rows += COMPLETION
    elif kind == "PUT_ACK":
        rows += COOKIES + descriptor("ibpam_rd", 64, message.values["ibpam_rd.rd_nfrags"])
    elif kind == "PUT_REQ":
        rows.append(("ibprm_cookie", "lnet.o2ib.cookie", LNET_END, 8))
    elif kind == "GET_REQ":
        rows += [("ibgm_cookie", "lnet.o2ib.cookie", LNET_END, 8)]
        rows += descriptor("ibgm_rd", 128, message.values["ibgm_rd.rd_nfrags"])
    elif kind == "IMMEDIATE" and message.values["hdr.payload_length"]:
        # tshark shows its place and length, but not its bytes.
        rows.append(("payload", "lnet.payload", LNET_END, message.values["hdr.payload_length"]))
    return rows


def with_nid_parts(rows):
    for ours, shown, at, size in rows:
        yield ours, shown, at, size
        if ours.endswith("nid"):
            yield from ((f"{ours}.{part}", name, at + where, length) for part, name, where, length in NID_PARTS)


def expected(message):
    """The fields that tshark shows if it has no defect."""
    rows = with_nid_parts(layout(message))
    return [Field(ours, shown, at, size, message.values.get(ours)) for ours, shown, at, size in rows]
