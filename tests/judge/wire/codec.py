# SPDX-License-Identifier: MIT
"""A second codec for o2iblnd's messages, written from docs/wire.md alone and apart from ref/wire.

decode() and encode() work on dicts that have the shape of the JSON forms' "message" with numbers in place of texts;
to_json() and from_json() turn one into the other. A refusal is an exception that carries what docs/wire.md says an
error carries. tests/judge/wire/compare_codecs.py compares this codec with ref/wire.
"""

import struct

from codec_base import (ORDERS, U32, U64, BadText, Refused, check_nid, checksums, local,  # noqa: F401
                        message_checksums, nid_from_text, nid_to_text, number_to_json)

MAGIC = 0x0BE91B91
MESSAGE_BYTES = 4096
HEADER_BYTES = 48
IMMEDIATE_BYTES = 120
PAYLOAD_MAX_BYTES = MESSAGE_BYTES - IMMEDIATE_BYTES
TRANSFER_BYTES = 1 << 20
LNET_BYTES = 72
FRAG_BYTES = 12

TYPES = {0xC0: "CONNREQ", 0xC1: "CONNACK", 0xD0: "NOOP", 0xD1: "IMMEDIATE", 0xD2: "PUT_REQ", 0xD3: "PUT_NAK",
         0xD4: "PUT_ACK", 0xD5: "PUT_DONE", 0xD6: "GET_REQ", 0xD7: "GET_DONE"}
TYPE_NUMBERS = {name: number for number, name in TYPES.items()}
MINIMUM = {"CONNREQ": 56, "CONNACK": 56, "NOOP": 48, "IMMEDIATE": 120, "PUT_REQ": 128, "PUT_NAK": 60, "PUT_ACK": 72,
           "PUT_DONE": 60, "GET_REQ": 136, "GET_DONE": 60}
LNET_TYPES = {0: "ACK", 1: "PUT", 2: "GET", 3: "REPLY", 4: "HELLO"}
LNET_NUMBERS = {name: number for number, name in LNET_TYPES.items()}
LNET_ADMITTED = {"IMMEDIATE": (0, 1, 2, 3), "PUT_REQ": (1, 3), "GET_REQ": (2,)}
# Variant of the LNet header: names in the order of the struct formats; a handle is two numbers.
VARIANTS = {"ACK": ("<QQQI", ("dst_wmd", "match_bits", "mlength")),
            "PUT": ("<QQQQII", ("ack_wmd", "match_bits", "hdr_data", "ptl_index", "offset")),
            "GET": ("<QQQIII", ("return_wmd", "match_bits", "ptl_index", "src_offset", "sink_length")),
            "REPLY": ("<QQ", ("dst_wmd",))}
FLAVOURS = ("none", "unsigned", "signed", "unverified")
NO_OPTIONS = {"max_frags": 257, "require_checksum": False, "any_lnd": False, "tolerate_immediate_checksum": False}
# {prefix of a rule's id: prefix of the field's name}, for fields of a descriptor.
DESC_FIELD = {"wire/put_ack/": "ibpam_rd.", "wire/get_req/": "ibgm_rd.", "wire/desc/": ""}

HEX_KEYS = frozenset(("ibm_srcstamp", "ibm_dststamp", "ibprm_cookie", "ibpam_src_cookie", "ibpam_dst_cookie",
                      "ibgm_cookie", "ibcm_cookie", "rf_addr", "rd_key", "match_bits", "hdr_data",
                      "wh_interface_cookie", "wh_object_cookie"))
NID_KEYS = frozenset(("ibm_srcnid", "ibm_dstnid", "dest_nid", "src_nid"))


# --- checks that decoding and encoding share ------------------------------------------------------------------------

def check_options(options):
    if options["max_frags"] not in (256, 257):
        raise local("wire/options/max-frags", "max_frags", options["max_frags"], 257)


def check_lnet_type(name, number):
    """Rules 34 to 36."""
    admitted = LNET_ADMITTED[name]
    if number not in admitted:
        raise Refused(f"wire/{name.lower()}/lnet-type", "hdr.type", HEADER_BYTES + 24, number,
                      sum(1 << each for each in admitted))


def check_count(prefix, offset, count, options):
    """offset: of the descriptor in the message."""
    field = DESC_FIELD[prefix] + "rd_nfrags"
    if count == 0:
        raise Refused(prefix + "nfrags-zero", field, offset + 4, 0, 1)
    if count > options["max_frags"]:
        raise Refused(prefix + "nfrags-over-limit", field, offset + 4, count, options["max_frags"])


def check_frags(prefix, offset, frags):
    """frags: (rf_nob, rf_addr) each; each rule is checked for all of them before the next rule."""
    def refuse(rule, field, index, value, limit):
        place = offset + 8 + FRAG_BYTES * index + (0 if field == "rf_nob" else 4)
        raise Refused(prefix + rule, f"{DESC_FIELD[prefix]}rd_frags[].{field}", place, value, limit, index)

    for index, (nob, _) in enumerate(frags):
        if nob == 0:
            refuse("frag-nob-zero", "rf_nob", index, 0, 1)
    for index, (nob, _) in enumerate(frags):
        if nob > TRANSFER_BYTES:
            refuse("frag-nob-over-limit", "rf_nob", index, nob, TRANSFER_BYTES)
    total = 0
    for index, (nob, _) in enumerate(frags):
        total += nob
        if total > TRANSFER_BYTES:
            refuse("frag-sum-over-limit", "rf_nob", index, total, TRANSFER_BYTES)
    for index, (nob, address) in enumerate(frags):
        if address + nob > U64:
            refuse("frag-addr-wraps", "rf_addr", index, address, U64 - nob)


def check_status(name, status):
    """Rules 59 to 61."""
    if status > TRANSFER_BYTES:
        raise Refused(f"wire/{name.lower()}/status-over-limit", "ibcm_status", 56, status, TRANSFER_BYTES)


def check_payload(name, lnet_type, length, nob=None):
    """Rules 62 to 66. nob: that of the message when decoding, None when encoding."""
    prefix, offset = f"wire/{name.lower()}/", HEADER_BYTES + 28
    if lnet_type in (0, 2):
        if length:
            raise Refused(prefix + "payload-not-zero", "hdr.payload_length", offset, length, 0)
    elif length > TRANSFER_BYTES:
        raise Refused(prefix + "payload-over-limit", "hdr.payload_length", offset, length, TRANSFER_BYTES)
    elif name == "IMMEDIATE" and nob is not None and length > nob - IMMEDIATE_BYTES:
        raise Refused(prefix + "payload-past-nob", "hdr.payload_length", offset, length, nob - IMMEDIATE_BYTES,
                      kind="message")


# --- decoding -------------------------------------------------------------------------------------------------------

def decode_lnet(data):
    hdr = dict(zip(("dest_nid", "src_nid", "dest_pid", "src_pid", "type", "payload_length"),
                   struct.unpack_from("<QQIIII", data, HEADER_BYTES)))
    kind = LNET_TYPES[hdr["type"]]
    form, names = VARIANTS[kind]
    first, second, *rest = struct.unpack_from(form, data, HEADER_BYTES + 32)
    hdr[names[0]] = {"wh_interface_cookie": first, "wh_object_cookie": second}
    hdr.update(zip(names[1:], rest))
    return hdr


def decode_desc_at(data, end, offset, order, options, prefix):
    """The descriptor at offset of data, of which only the first end bytes count."""
    if end < offset + 8:
        raise Refused(prefix + "short-for-count", "length_bytes", 0, end, 8)
    key, count = struct.unpack_from(order + "II", data, offset)
    check_count(prefix, offset, count, options)
    if end < offset + 8 + FRAG_BYTES * count:
        field, place = ("length_bytes", 0) if prefix == "wire/desc/" else ("ibm_nob", 8)
        raise Refused(prefix + "nob-under-frags", field, place, end, offset + 8 + FRAG_BYTES * count)
    frags = list(struct.iter_unpack(order + "IQ", data[offset + 8:offset + 8 + FRAG_BYTES * count]))
    check_frags(prefix, offset, frags)
    return {"rd_key": key, "rd_frags": [{"rf_nob": nob, "rf_addr": address} for nob, address in frags]}


def decode_desc(data, byte_order, options=NO_OPTIONS):
    """A bare descriptor."""
    check_options(options)
    return decode_desc_at(data, len(data), 0, ORDERS[byte_order], options, "wire/desc/")


def decode_body(data, name, nob, order, options):
    """The body of a message whose header is good."""
    if name == "NOOP":
        return {}
    if name in ("CONNREQ", "CONNACK"):
        return dict(zip(("ibcp_queue_depth", "ibcp_max_frags", "ibcp_max_msg_size"),
                        struct.unpack_from(order + "HHI", data, 48)))
    if name in ("PUT_NAK", "PUT_DONE", "GET_DONE"):
        cookie, = struct.unpack_from("<Q", data, 48)
        status, = struct.unpack_from(order + "i", data, 56)
        check_status(name, status)
        return {"ibcm_cookie": cookie, "ibcm_status": status}
    if name == "PUT_ACK":
        source, sink = struct.unpack_from("<QQ", data, 48)
        return {"ibpam_src_cookie": source, "ibpam_dst_cookie": sink,
                "ibpam_rd": decode_desc_at(data, nob, 64, order, options, "wire/put_ack/")}
    lnet_type, length = struct.unpack_from("<II", data, HEADER_BYTES + 24)
    check_lnet_type(name, lnet_type)
    if name == "GET_REQ":
        desc = decode_desc_at(data, nob, 128, order, options, "wire/get_req/")
        check_payload(name, lnet_type, length)
        return {"hdr": decode_lnet(data), "ibgm_cookie": struct.unpack_from("<Q", data, 120)[0], "ibgm_rd": desc}
    check_payload(name, lnet_type, length, nob)
    hdr = decode_lnet(data)
    if name == "PUT_REQ":
        return {"hdr": hdr, "ibprm_cookie": struct.unpack_from("<Q", data, 120)[0]}
    return {"hdr": hdr, "payload": data[IMMEDIATE_BYTES:IMMEDIATE_BYTES + length]}


def decode_order(data):
    """Rules 4 to 7: length, magic and version; returns the byte order."""
    if len(data) < 6:
        raise Refused("wire/header/short-for-version", "length_bytes", 0, len(data), 6)
    for byte_order, order in ORDERS.items():
        magic, version = struct.unpack_from(order + "IH", data)
        if magic == MAGIC:
            break
    else:
        raise Refused("wire/header/magic", "ibm_magic", 0, struct.unpack_from("<I", data)[0], MAGIC)
    if version not in (0x11, 0x12):
        raise Refused("wire/header/version", "ibm_version", 4, version, 0x12)
    if len(data) < HEADER_BYTES:
        raise Refused("wire/header/short-for-header", "length_bytes", 0, len(data), HEADER_BYTES)
    return byte_order


def decode_flavour(data, kind, nob, cksum, options):
    """Rules 10 and 11: the flavour of the checksum."""
    if cksum == 0:
        if options["require_checksum"]:
            raise Refused("wire/header/checksum-absent", "ibm_cksum", 12, 0, 1)
        return "none"
    plain, signed = message_checksums(data, nob)
    if cksum == plain:
        return "unsigned"
    if cksum == signed:
        return "signed"
    if options["tolerate_immediate_checksum"] and TYPES.get(kind) == "IMMEDIATE" and nob >= IMMEDIATE_BYTES:
        lnet_type, length = struct.unpack_from("<II", data, HEADER_BYTES + 24)
        if lnet_type in (1, 3) and 1 <= length <= nob - IMMEDIATE_BYTES:
            return "unverified"
    raise Refused("wire/header/checksum", "ibm_cksum", 12, cksum, plain)


def decode(data, options=NO_OPTIONS):
    """The message at the start of data, or Refused."""
    check_options(options)
    byte_order = decode_order(data)
    order = ORDERS[byte_order]
    (version, kind, credits, nob, cksum, srcnid, srcstamp, dstnid,
     dststamp) = struct.unpack_from(order + "HBBIIQQQQ", data, 4)
    if nob > len(data):
        raise Refused("wire/header/nob-over-received", "ibm_nob", 8, nob, len(data))
    if nob > MESSAGE_BYTES:
        raise Refused("wire/header/nob-over-limit", "ibm_nob", 8, nob, MESSAGE_BYTES)
    flavour = decode_flavour(data, kind, nob, cksum, options)
    check_nid("srcnid", 16, srcnid, options)
    check_nid("dstnid", 32, dstnid, options)
    name = TYPES.get(kind)
    if name is None:
        raise Refused("wire/header/type", "ibm_type", 6, kind, 0xD7)
    if nob < MINIMUM[name]:
        raise Refused(f"wire/{name.lower()}/nob-under-minimum", "ibm_nob", 8, nob, MINIMUM[name])
    return {"byte_order": byte_order, "ibm_version": version, "ibm_type": kind, "ibm_credits": credits,
            "ibm_nob": nob, "cksum_flavour": flavour, "ibm_srcnid": srcnid, "ibm_srcstamp": srcstamp,
            "ibm_dstnid": dstnid, "ibm_dststamp": dststamp, "body": decode_body(data, name, nob, order, options)}


# --- encoding -------------------------------------------------------------------------------------------------------

def encode_lnet(hdr):
    kind = LNET_TYPES[hdr["type"]]
    form, names = VARIANTS[kind]
    handle = hdr[names[0]]
    variant = struct.pack(form, handle["wh_interface_cookie"], handle["wh_object_cookie"],
                          *(hdr[name] for name in names[1:]))
    return struct.pack("<QQIIII", hdr["dest_nid"], hdr["src_nid"], hdr["dest_pid"], hdr["src_pid"], hdr["type"],
                       hdr["payload_length"]) + variant.ljust(40, b"\0")


def encode_desc(desc, order):
    frags = desc["rd_frags"]
    return struct.pack(order + "II", desc["rd_key"], len(frags)) + b"".join(
        struct.pack(order + "IQ", frag["rf_nob"], frag["rf_addr"]) for frag in frags)


def check_message(message, options):
    """Check a struct by the rules of decoding, in their order; returns the name of its type."""
    name, body = TYPES.get(message["ibm_type"]), message["body"]
    if message["ibm_version"] not in (0x11, 0x12):
        raise Refused("wire/header/version", "ibm_version", 4, message["ibm_version"], 0x12)
    length = body["hdr"]["payload_length"] if name == "IMMEDIATE" else 0
    if length > PAYLOAD_MAX_BYTES:
        raise Refused("wire/header/nob-over-limit", "ibm_nob", 8, IMMEDIATE_BYTES + length, MESSAGE_BYTES)
    if options["require_checksum"] and message["cksum_flavour"] == "none":
        raise Refused("wire/header/checksum-absent", "ibm_cksum", 12, 0, 1)
    check_nid("srcnid", 16, message["ibm_srcnid"], options)
    check_nid("dstnid", 32, message["ibm_dstnid"], options)
    if name is None:
        raise Refused("wire/header/type", "ibm_type", 6, message["ibm_type"], 0xD7)
    if "hdr" in body:
        check_lnet_type(name, body["hdr"]["type"])
    for key, offset in (("ibpam_rd", 64), ("ibgm_rd", 128)):
        if key in body:
            frags = [(frag["rf_nob"], frag["rf_addr"]) for frag in body[key]["rd_frags"]]
            check_count(f"wire/{name.lower()}/", offset, len(frags), options)
            check_frags(f"wire/{name.lower()}/", offset, frags)
    if "ibcm_status" in body:
        check_status(name, body["ibcm_status"])
    if "hdr" in body:
        check_payload(name, body["hdr"]["type"], body["hdr"]["payload_length"])
    return name


def encode_body(body, order):
    """The bytes of a body; its members tell its kind."""
    if "ibcp_queue_depth" in body:
        return struct.pack(order + "HHI", body["ibcp_queue_depth"], body["ibcp_max_frags"], body["ibcp_max_msg_size"])
    if "ibcm_cookie" in body:
        return struct.pack("<Q", body["ibcm_cookie"]) + struct.pack(order + "i", body["ibcm_status"])
    if "ibpam_rd" in body:
        return struct.pack("<QQ", body["ibpam_src_cookie"], body["ibpam_dst_cookie"]) + encode_desc(body["ibpam_rd"],
                                                                                                     order)
    if "ibgm_rd" in body:
        return encode_lnet(body["hdr"]) + struct.pack("<Q", body["ibgm_cookie"]) + encode_desc(body["ibgm_rd"], order)
    if "ibprm_cookie" in body:
        return encode_lnet(body["hdr"]) + struct.pack("<Q", body["ibprm_cookie"])
    return encode_lnet(body["hdr"]) + body["payload"] if "hdr" in body else b""


def encode(message, options=NO_OPTIONS, capacity=MESSAGE_BYTES):
    """The canonical form of message, or Refused. A payload of None is the missing payload of rule 67."""
    check_options(options)
    if message["byte_order"] not in ORDERS:
        raise local("wire/encode/order", "order", message["byte_order"], 1)
    if message["cksum_flavour"] not in FLAVOURS:
        raise local("wire/encode/cksum-flavour", "cksum_flavour", message["cksum_flavour"], 3)
    check_message(message, options)
    body, order = message["body"], ORDERS[message["byte_order"]]
    if "payload" in body and body["payload"] is None:
        if body["hdr"]["payload_length"]:
            raise local("wire/encode/payload-missing", "payload", 0, body["hdr"]["payload_length"])
        body = dict(body, payload=b"")
    tail = encode_body(body, order)
    nob = HEADER_BYTES + len(tail)
    if nob > capacity:
        raise local("wire/encode/capacity", "capacity_bytes", capacity, nob, "ENOSPC")
    data = struct.pack(order + "IHBBIIQQQQ", MAGIC, message["ibm_version"], message["ibm_type"],
                       message["ibm_credits"], nob, 0, message["ibm_srcnid"], message["ibm_srcstamp"],
                       message["ibm_dstnid"], message["ibm_dststamp"]) + tail
    if message["cksum_flavour"] == "none":
        return data
    sum_ = message_checksums(data, nob)[message["cksum_flavour"] == "signed"]
    return data[:12] + struct.pack(order + "I", sum_) + data[16:]


# --- JSON form ------------------------------------------------------------------------------------------------------

def to_json(value, key=None):
    """A decoded message (or part of one) as the JSON forms show it."""
    if isinstance(value, dict):
        shown = {name: to_json(each, name) for name, each in value.items()}
        if "dest_nid" in value:
            shown["type"] = LNET_TYPES[value["type"]]
        return shown
    if isinstance(value, list):
        return [to_json(each) for each in value]
    if key in NID_KEYS:
        return nid_to_text(value)
    if key in HEX_KEYS:
        return f"0x{value:x}"
    if key == "payload":
        return value.hex()
    return TYPES[value] if key == "ibm_type" else value


def from_json(value, key=None):
    if isinstance(value, dict):
        read = {name: from_json(each, name) for name, each in value.items()}
        if "dest_nid" in value:
            read["type"] = LNET_NUMBERS[value["type"]]
        return read
    if isinstance(value, list):
        return [from_json(each) for each in value]
    if key in NID_KEYS:
        return nid_from_text(value)
    if key in HEX_KEYS:
        return int(value, 16)
    if key == "payload":
        return bytes.fromhex(value)
    return TYPE_NUMBERS[value] if key == "ibm_type" else value
