# SPDX-License-Identifier: MIT
"""Vectors for encoding, and for the reject record.

Encoding starts from bytes that decode; "edits" then change members of the struct, so that a vector can have a struct
that no message decodes to.
"""

import copy

import codec
from vector_rules import ILLEGAL, LEGAL, MIB, Case
from vector_samples import GOLDEN_REJECTS, patch, sample

FLAVOURS = codec.FLAVOURS


def apply(message, edits):
    """The dict of codec.decode with edits made; the keys are those of schema.json, "edits"."""
    changed = copy.deepcopy(message)
    body = changed["body"]
    desc = body.get("ibpam_rd") or body.get("ibgm_rd")
    for key, value in edits.items():
        name, _, index = key.partition(".")
        if key == "order":
            changed["byte_order"] = ("little", "big")[value] if value < 2 else value
        elif key == "cksum_flavour":
            changed[key] = FLAVOURS[value] if value < len(FLAVOURS) else value
        elif key in ("type", "payload_length"):
            body["hdr"][key] = value
        elif key == "payload":
            body[key] = None
        elif key == "rd_nfrags":
            desc["rd_frags"] = (desc["rd_frags"] + [desc["rd_frags"][0]] * value)[:value]
        elif index:
            desc["rd_frags"][int(index)][name] = value
        elif key == "ibcm_status":
            body[key] = value
        elif key != "capacity_bytes":
            changed[key] = value
    return changed


def both(rule, data, edits, illegal, comments=("", ""), options=None):
    yield Case(rule, LEGAL, comments[0], data, options or {}, "encode", edits)
    yield Case(rule, ILLEGAL, comments[1], data, options or {}, "encode", illegal)


def encode_local(order):
    """Rules that only a mistake of the caller breaks."""
    noop, get = sample("NOOP", order), sample("GET_REQ", order, count=3)
    put = sample("IMMEDIATE", order, payload_length=1)
    yield from both("wire/encode/order", noop, {"order": 1}, {"order": 2}, ("big", "2"))
    yield from both("wire/encode/order", noop, {"order": 0}, {"order": 0x7FFFFFFF}, ("little", "2^31 - 1"))
    yield from both("wire/encode/cksum-flavour", get, {"cksum_flavour": 3}, {"cksum_flavour": 4},
                    ("unverified: encoded as unsigned", "4"))
    empty = sample("IMMEDIATE", order, payload_length=0)
    for side, comment, data in ((LEGAL, "no payload, and none is said", empty), (ILLEGAL, "no payload of 1 byte", put)):
        yield Case("wire/encode/payload-missing", side, comment, data, {}, "encode", {"payload": 0})
    for data in (noop, put, get):
        yield from both("wire/encode/capacity", data, {"capacity_bytes": len(data)},
                        {"capacity_bytes": len(data) - 1}, ("room for all of it", "room for all but one byte"))
    yield Case("wire/encode/capacity", ILLEGAL, "no room", noop, {}, "encode", {"capacity_bytes": 0})
    yield Case("wire/options/max-frags", ILLEGAL, "the option is 258, and the order 2", noop, {"max_frags": 258},
               "encode", {"order": 2})


def encode_header(order):
    noop = sample("NOOP", order)
    yield from both("wire/header/version", noop, {"ibm_version": 0x11}, {"ibm_version": 0x10}, ("0x11", "0x10"))
    yield from both("wire/header/version", noop, {"ibm_version": 0x12}, {"ibm_version": 0x13}, ("0x12", "0x13"))
    long = sample("IMMEDIATE", order, payload_length=3976) + b"\x5a"
    yield from both("wire/header/nob-over-limit", long, {}, {"payload_length": 3977}, ("3976 bytes", "3977 bytes"))
    yield from both("wire/header/checksum-absent", patch(noop, 12, order, 4, codec.message_checksums(noop, 48)[0]),
                    {"cksum_flavour": 2}, {"cksum_flavour": 0}, ("signed", "none"), {"require_checksum": True})
    for side in ("srcnid", "dstnid"):
        rule, field = f"wire/header/{side}-", f"ibm_{side}"
        if side == "srcnid":
            yield Case(rule + "wildcard", ILLEGAL, "the wildcard", noop, {}, "encode", {field: codec.U64})
        for tail, legal, illegal, options in (
                ("top-byte", 0x0005FFFF00000001, 0x01050000C0A80A01, {}),
                ("lnd-any", 0x00FE000000000001, 0x00FF0000C0A80A01, {"any_lnd": True}),
                ("lnd-foreign", 0x0005000000000001, 0x00060000C0A80A01, {}),
                ("address-zero", 0x0005000000000001, 0x0005000000000000, {}),
                ("address-ones", 0x00050000FFFFFFFE, 0x00050000FFFFFFFF, {})):
            yield from both(rule + tail, noop, {field: legal}, {field: illegal}, (f"{legal:#018x}", f"{illegal:#018x}"),
                            options)
    yield from both("wire/header/type", noop, {}, {"ibm_type": 0xD8}, ("0xd0", "0xd8"))
    yield Case("wire/header/version", "order", "version before source", noop, {}, "encode",
               {"ibm_version": 0x13, "ibm_srcnid": 0})
    yield Case("wire/header/dstnid-top-byte", "order", "destination before type", noop, {}, "encode",
               {"ibm_dstnid": codec.U64, "ibm_type": 0})


def encode_body(order):
    for name in ("IMMEDIATE", "PUT_REQ", "GET_REQ"):
        last = codec.LNET_TYPES[codec.LNET_ADMITTED[name][-1]]
        data = sample(name, order, lnet_kind=last)
        yield from both(f"wire/{name.lower()}/lnet-type", data, {}, {"type": 4}, (last, "HELLO"))
    for name in ("PUT_ACK", "GET_REQ"):
        prefix = f"wire/{name.lower()}/"
        two = sample(name, order, count=2)
        yield from both(prefix + "nfrags-zero", two, {"rd_nfrags": 1}, {"rd_nfrags": 0}, ("1", "0"))
        most = [{"rf_nob": 4080, "rf_addr": 4096 * index} for index in range(257)]
        offset = 64 if name == "PUT_ACK" else 128
        full = two[:offset] + codec.encode_desc({"rd_key": 1, "rd_frags": most}, codec.ORDERS[order])
        full = patch(full, 8, order, 4, len(full))
        yield from both(prefix + "nfrags-over-limit", full, {}, {"rd_nfrags": 258}, ("257", "258"))
        yield from both(prefix + "nfrags-over-limit", two, {}, {"rd_nfrags": 257}, ("2 of 256", "257 of 256"),
                        {"max_frags": 256})
        yield from both(prefix + "frag-nob-zero", two, {"rf_nob.1": 1}, {"rf_nob.1": 0}, ("1", "0"))
        yield from both(prefix + "frag-nob-over-limit", two, {"rd_nfrags": 1, "rf_nob.0": MIB},
                        {"rd_nfrags": 1, "rf_nob.0": MIB + 1}, ("1 MiB", "1 MiB + 1"))
        yield from both(prefix + "frag-sum-over-limit", two, {"rf_nob.0": MIB - 4096}, {"rf_nob.0": MIB - 4095},
                        ("1 MiB in two", "1 MiB + 1 in two"))
        yield from both(prefix + "frag-addr-wraps", two, {"rf_addr.1": codec.U64 - 4096},
                        {"rf_addr.1": codec.U64 - 4095}, ("ends at 2^64 - 1", "ends at 2^64"))
    for name in ("PUT_NAK", "PUT_DONE", "GET_DONE"):
        yield from both(f"wire/{name.lower()}/status-over-limit", sample(name, order), {"ibcm_status": MIB},
                        {"ibcm_status": MIB + 1}, ("1 MiB", "1 MiB + 1"))
    yield from both("wire/immediate/payload-not-zero", sample("IMMEDIATE", order, lnet_kind="ACK") + b"!", {},
                    {"payload_length": 1}, ("ACK, 0", "ACK, 1"))
    yield from both("wire/put_req/payload-over-limit", sample("PUT_REQ", order), {"payload_length": MIB},
                    {"payload_length": MIB + 1}, ("1 MiB", "1 MiB + 1"))
    yield from both("wire/get_req/payload-not-zero", sample("GET_REQ", order), {}, {"payload_length": 1}, ("0", "1"))


def rejects(order):
    """The reject record, decoded and encoded."""
    def case(rule, boundary, comment, data, edits=None, kind="reject", then=None):
        return Case("wire/reject/" + rule, boundary, comment, data, {}, kind, edits or {}, then)

    record = bytes.fromhex(GOLDEN_REJECTS[order == "big"][1])
    old = patch(record, 4, order, 2, 0x11)
    yield case("short-for-why", LEGAL, "7 bytes of version 0x11", old[:7])
    yield case("short-for-why", LEGAL, "7 bytes of version 0x12", record[:7], then="wire/reject/short-for-params")
    yield case("short-for-why", ILLEGAL, "6 bytes", old[:6])
    yield case("magic", LEGAL, "the magic", record)
    yield case("magic", LEGAL, "the generic magic", patch(record, 0, order, 4, 0x45726963))
    yield case("magic", ILLEGAL, "one more", patch(record, 0, order, 4, 0x0BE91B92))
    yield case("magic", ILLEGAL, "the generic magic less one", patch(record, 0, order, 4, 0x45726962))
    for version, boundary in ((0x11, LEGAL), (0x12, LEGAL), (0x10, ILLEGAL), (0x13, ILLEGAL)):
        yield case("version", boundary, f"version {version:#x}", patch(record, 4, order, 2, version))
    for why in range(11):
        yield case("why", LEGAL if 1 <= why <= 9 else ILLEGAL, f"reason {why}", patch(record, 6, order, 1, why))
    yield case("why", "order", "reason before length", patch(record, 6, order, 1, 0)[:7])
    yield case("short-for-params", LEGAL, "24 bytes", record)
    yield case("short-for-params", LEGAL, "23 bytes of version 0x11", old[:23])
    yield case("short-for-params", ILLEGAL, "23 bytes", record[:23])
    blank = old[:8] + bytes(16)
    for edits, boundary, comment in (({"order": 1}, LEGAL, "big"), ({"order": 2}, ILLEGAL, "2")):
        yield case("order", boundary, comment, record, edits, "reject_encode")
    for member in ("ibr_incarnation", "ibcp_queue_depth", "ibcp_max_frags", "ibcp_max_msg_size"):
        yield case("version-1-params", LEGAL, f"no {member}", blank, {member: 0}, "reject_encode")
        yield case("version-1-params", ILLEGAL, f"{member} 1", blank, {member: 1}, "reject_encode")
    yield case("capacity", LEGAL, "24 bytes", record, {"capacity_bytes": 24}, "reject_encode")
    yield case("capacity", ILLEGAL, "23 bytes", record, {"capacity_bytes": 23}, "reject_encode")
    for key, rule, values in (("ibr_version", "version", (0x12, 0x13)), ("ibr_why", "why", (9, 10))):
        yield case(rule, LEGAL, "encoded", record, {key: values[0]}, "reject_encode")
        yield case(rule, ILLEGAL, "encoded", record, {key: values[1]}, "reject_encode")
