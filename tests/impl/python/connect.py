# SPDX-License-Identifier: MIT
"""connect, the negotiation of a connection: docs/connection.md, "Negotiation"."""

import struct

import codec
from refusal import Refuse

OLD = 0x11
LNET_MAGIC = 0x45726963
REASONS = {1: "race", 2: "resources", 3: "fatal", 4: "uncompat", 5: "stale", 6: "frags", 7: "depth", 8: "service", 9: "early"}
NUMBERS = {name: number for number, name in REASONS.items()}
ALL_ONES = (1 << 64) - 1


def magics(data):
    return {order: struct.unpack_from(order + "I", data)[0] for order in "<>"}


def check(rows):
    """Refuse by the first row that is broken.  A row is (rule, errno, reason of the reject, whether it is broken)."""
    for rule, errno, why, broken in rows:
        if broken:
            raise Refuse(errno, rule, 0, index=NUMBERS[why] if why else None)


def check_version(form, data):
    check([("connreq/short", "EPROTO", "fatal", len(data) < 6)])
    found = magics(data)
    check([("connreq/generic-magic", "EPROTO", "fatal", LNET_MAGIC in found.values())])
    order = ">" if found[">"] == codec.MAGIC else "<"
    version, = struct.unpack_from(order + "H", data, 4)
    check([("connreq/version", "EPROTO", "fatal",
            codec.MAGIC in found.values() and not OLD <= version <= form["own"]["ibm_version"])])


def limits(part, params, most, old, reasons):
    """Rows for check() about queue depth, fragments and message size.  reasons: the reject's reason for each."""
    depth, frags, size = params["ibcp_queue_depth"], params["ibcp_max_frags"], params["ibcp_max_msg_size"]
    deep, many, large = reasons
    return ([(part + "/queue-depth-over", "EPROTO", deep, depth > most["queue_depth"]),
             (part + "/queue-depth-under", "EPROTO", deep, depth < (8 if old else 2)),
             (part + "/max-frags-over", "EPROTO", many, frags > most["max_frags"]),
             (part + "/max-frags-zero", "EPROTO", many, frags == 0)],
            [(part + "/max-msg-size-over", "EPROTO", large, size > codec.MESSAGE_BYTES),
             (part + "/max-msg-size-under", "EPROTO", large, size < 148)])


def agreed(message):
    body = message["body"]
    return {"ibm_version": message["ibm_version"], "queue_depth": body["ibcp_queue_depth"], "max_frags": body["ibcp_max_frags"],
            "max_msg_size": body["ibcp_max_msg_size"]}


def take_request(form, data):
    check_version(form, data)
    try:
        message = codec.decode(data)
    except codec.Refused as error:
        error.answer["index"] = NUMBERS["fatal"]
        raise
    own, old, stamp = form["own"], message["ibm_version"] == OLD, message["ibm_dststamp"]
    check([("connreq/dstnid", "EPROTO", "fatal", message["ibm_dstnid"] != int(form["nid"], 16)),
           ("connreq/dststamp", "ESTALE", "stale",
            stamp not in (0, int(form["incarnation"], 16)) and not (old and stamp == ALL_ONES)),
           ("connreq/type", "EPROTO", "fatal", codec.TYPES[message["ibm_type"]] != "CONNREQ")])
    most = dict(own, queue_depth=8) if old else own
    bounds, sizes = limits("connreq", message["body"], most, old, ("fatal",) * 3 if old else ("depth", "frags", "fatal"))
    few = message["body"]["ibcp_max_frags"] < own["max_frags"] and not form["registers"]
    check([*bounds, ("connreq/max-frags-few", "EPROTO", "fatal" if old else "frags", few), *sizes])
    return agreed(message), message["ibm_srcnid"], message["ibm_srcstamp"]


def take_answer(form, data):
    message, asked = codec.decode(data), form["asked"]
    check([("connack/type", "EPROTO", None, codec.TYPES[message["ibm_type"]] != "CONNACK"),
           ("connack/version", "EPROTO", None, message["ibm_version"] != asked["ibm_version"])])
    bounds, sizes = limits("connack", message["body"], asked, asked["ibm_version"] == OLD, (None,) * 3)
    check([*bounds, *sizes, ("connack/dstnid", "ESTALE", None, message["ibm_dstnid"] != int(form["nid"], 16)),
           ("connack/dststamp", "ESTALE", None, message["ibm_dststamp"] != int(form["incarnation"], 16))])
    return agreed(message), 0, message["ibm_srcstamp"]


def give_up(rule, errno="ECONNREFUSED"):
    raise Refuse(errno, rule, 0)


def read_record(data):
    """Version, reason, incarnation, depth and fragments of a reject record."""
    if len(data) < 7:
        give_up("wire/reject/short-for-why")
    orders = [order for order, magic in magics(data).items() if magic in (codec.MAGIC, LNET_MAGIC)]
    if not orders:
        give_up("wire/reject/magic")
    version, why = struct.unpack_from(orders[0] + "HB", data, 4)
    if version not in (OLD, 0x12):
        give_up("wire/reject/version")
    if why not in REASONS:
        give_up("wire/reject/why")
    if version == OLD:
        return version, REASONS[why], ALL_ONES, None, None
    if len(data) < 24:
        give_up("wire/reject/short-for-params")
    return (version, REASONS[why], *struct.unpack_from(orders[0] + "QHH", data, 8))


def take_reject(form, data):
    asked, reason = dict(form["asked"]), form["cm_reason"]
    if reason == 10:
        return asked, 0, 0
    if reason == 8:
        give_up("reject/no-listener", "EHOSTUNREACH")
    if reason != 28:
        give_up("reject/cm-reason")
    version, why, life, depth, frags = read_record(data)
    if why == "fatal" and version == OLD and asked["ibm_version"] != OLD:
        why = "uncompat"
    if why in ("frags", "depth"):
        if version == OLD:
            give_up("reject/why")
        less = frags < asked["max_frags"] if why == "frags" else depth < asked["queue_depth"]
        if not less or depth < 2 or frags == 0:
            give_up("reject/unusable-limit")
        asked.update(queue_depth=min(depth, asked["queue_depth"]), max_frags=min(frags, asked["max_frags"]))
    elif why not in ("race", "stale", "uncompat"):
        give_up("reject/why")
    if version > form["own"]["ibm_version"]:
        give_up("reject/why")
    asked["ibm_version"] = version
    if version == OLD:
        asked["queue_depth"] = 8
    return asked, 0, life


EVENTS = {"connreq": take_request, "connack": take_answer, "reject": take_reject}


def connect(form):
    params, nid, life = EVENTS[form["event"]](form, bytes.fromhex(form["bytes"]))
    return {"connect": {"params": params, "peer_nid": hex(nid), "peer_incarnation": hex(life)}}
