# SPDX-License-Identifier: MIT
"""For every rule of docs/wire.md the last legal and the first illegal value, in one byte order.

Each function yields Case tuples. A case names the rule that it expects, so that the second codec is checked as well;
"then" is the later rule that refuses a case which is legal for its own rule.
"""

from collections import namedtuple

import codec
from vector_samples import desc, message, patch, sample, with_checksum

MIB = 1 << 20
FOREIGN = {"any_lnd": True}
STRICT = {"require_checksum": True}

Case = namedtuple("Case", "rule boundary comment data options kind edits then", defaults=({}, "decode", {}, None))
LEGAL, ILLEGAL = "last-legal", "first-illegal"


def pair(rule, legal, illegal, comments=("", ""), options=None, kind="decode", then=None):
    """Both sides of a boundary."""
    options = options or {}
    yield Case(rule, LEGAL, comments[0], legal, options, kind, {}, then)
    yield Case(rule, ILLEGAL, comments[1], illegal, options, kind, {}, None)


def header(order):
    noop = sample("NOOP", order)
    for options, comment in (({"max_frags": 255}, "255"), ({"max_frags": 258}, "258"), ({"max_frags": 0}, "0")):
        yield Case("wire/options/max-frags", ILLEGAL, f"the option is {comment}", noop, options)
    for limit in (256, 257):
        yield Case("wire/options/max-frags", LEGAL, f"the option is {limit}", noop, {"max_frags": limit})
    yield from pair("wire/header/short-for-version", noop[:6], noop[:5], ("6 bytes", "5 bytes"),
                    then="wire/header/short-for-header")
    yield Case("wire/header/short-for-version", ILLEGAL, "no bytes at all", b"")
    yield from pair("wire/header/magic", noop, patch(noop, 0, order, 4, codec.MAGIC + 1), ("the magic", "one more"))
    yield Case("wire/header/magic", ILLEGAL, "one less", patch(noop, 0, order, 4, codec.MAGIC - 1))
    yield Case("wire/header/magic", ILLEGAL, "LNet's generic magic", patch(noop, 0, order, 4, 0x45726963))
    yield Case("wire/header/version", LEGAL, "version 0x11", patch(noop, 4, order, 2, 0x11))
    yield Case("wire/header/version", LEGAL, "version 0x12", noop)
    for version in (0x10, 0x13, 0x1200):
        yield Case("wire/header/version", ILLEGAL, f"version {version:#x}", patch(noop, 4, order, 2, version))
    yield from pair("wire/header/short-for-header", noop, noop[:47], ("48 bytes", "47 bytes"))
    yield from pair("wire/header/nob-over-received", noop, patch(noop, 8, order, 4, 49), ("48 of 48", "49 of 48"))
    for nob in (0x7FFFFFFF, 0x80000000, 0xFFFFFFFF):
        yield Case("wire/header/nob-over-received", ILLEGAL, f"nob {nob:#x}: negative for who reads it as signed"
                   if nob >> 31 else f"nob {nob:#x}", patch(noop, 8, order, 4, nob))
    long = noop + bytes(4049)
    yield from pair("wire/header/nob-over-limit", patch(long, 8, order, 4, 4096), patch(long, 8, order, 4, 4097),
                    ("4096 of 4097", "4097 of 4097"))
    summed = sample("NOOP", order, "unsigned")
    yield from pair("wire/header/checksum-absent", patch(noop, 12, order, 4, codec.checksums(noop)[0]), noop,
                    ("a checksum", "no checksum"), STRICT)
    plain, signed = codec.message_checksums(noop, 48)
    for flavour, sum_ in (("unsigned", plain), ("signed", signed)):
        yield Case("wire/header/checksum", LEGAL, f"the {flavour} sum", patch(noop, 12, order, 4, sum_))
        for other in (sum_ - 1, sum_ + 1):
            yield Case("wire/header/checksum", ILLEGAL, f"the {flavour} sum {other - sum_:+d}",
                       patch(noop, 12, order, 4, other))
    yield Case("wire/header/checksum", ILLEGAL, "the sum in the other byte order",
               summed[:12] + summed[12:16][::-1] + summed[16:])
    yield Case("wire/header/checksum", ILLEGAL, "the sum over the field itself, too",
               patch(summed, 12, order, 4, codec.checksums(summed)[0]))
    yield from tolerated(order)
    yield from nids(noop, order, "srcnid", 16)
    yield from nids(noop, order, "dstnid", 32)
    for kind in (0xC0, 0xC1, 0xD0, 0xD7):
        data = patch(sample(codec.TYPES[kind], order), 6, order, 1, kind)
        yield Case("wire/header/type", LEGAL, f"type {kind:#x}", data)
    for kind in (0, 0xBF, 0xC2, 0xCF, 0xD8, 0xFF):
        yield Case("wire/header/type", ILLEGAL, f"type {kind:#x}", patch(noop, 6, order, 1, kind))


def tolerated(order):
    """What the option tolerate_immediate_checksum lets pass, and what is just outside of it."""
    option = {"tolerate_immediate_checksum": True}
    for kind, length, legal in (("PUT", 1, True), ("REPLY", 5, True), ("PUT", 0, False), ("GET", 0, False)):
        wrong = patch(sample("IMMEDIATE", order, lnet_kind=kind, payload_length=length), 12, order, 4, 0x00BADBAD)
        yield Case("wire/header/checksum", LEGAL if legal else ILLEGAL,
                   f"a wrong sum, tolerated only with a payload: {kind} of {length} bytes", wrong, option)
    wrong = patch(sample("IMMEDIATE", order, payload_length=1), 12, order, 4, 0x00BADBAD)
    yield Case("wire/header/checksum", ILLEGAL, "a wrong sum, not tolerated without the option", wrong)
    yield Case("wire/header/checksum", ILLEGAL, "a wrong sum, and a payload that passes nob",
               patch(wrong, 76, "little", 4, 2), option)
    yield Case("wire/header/checksum", ILLEGAL, "a wrong sum of a PUT_REQ, not tolerated",
               patch(sample("PUT_REQ", order), 12, order, 4, 0x00BADBAD), option)
    yield Case("wire/header/checksum", ILLEGAL, "a wrong sum, and nob ends one byte before the payload's place",
               patch(patch(wrong, 8, order, 4, 119), 76, "little", 4, 1), option)


def nids(noop, order, side, offset):
    """The rules for one of the header's two NIDs."""
    def of(nid):
        return patch(noop, offset, order, 8, nid)

    rule = f"wire/header/{side}-"
    if side == "srcnid":
        yield from pair(rule + "wildcard", of(codec.U64 - 1), of(codec.U64),
                        ("the wildcard less 1: a top byte", "the wildcard"), then=rule + "top-byte")
    else:
        yield Case(rule + "top-byte", ILLEGAL, "the wildcard", of(codec.U64))
    yield from pair(rule + "top-byte", of(0x0005FFFFC0A80A01), of(0x01050000C0A80A01), ("bits 63..56 zero", "bit 56"))
    yield from pair(rule + "lnd-any", of(0x00FE0000C0A80A01), of(0x00FF0000C0A80A01), ("type 0xfe", "type 0xff"),
                    FOREIGN)
    yield Case(rule + "lnd-any", ILLEGAL, "type 0xff without any_lnd", of(0x00FF0000C0A80A01))
    yield Case(rule + "lnd-foreign", LEGAL, "o2ib", of(0x00050000C0A80A01))
    yield Case(rule + "lnd-foreign", LEGAL, "tcp, with any_lnd", of(0x00020000C0A80A01), FOREIGN)
    for lnd in (2, 4, 6):
        yield Case(rule + "lnd-foreign", ILLEGAL, f"LND type {lnd}", of(lnd << 48 | 0xC0A80A01))
    yield from pair(rule + "address-zero", of(0x0005000000000001), of(0x0005000000000000), ("0.0.0.1", "0.0.0.0"))
    yield from pair(rule + "address-ones", of(0x00050000FFFFFFFE), of(0x00050000FFFFFFFF),
                    ("255.255.255.254", "255.255.255.255"))


def minimum(name, order):
    """nob against the fixed part of the body; the bytes beyond are there, so that only nob differs."""
    least = codec.MINIMUM[name]
    data = sample(name, order) + bytes(16)
    legal = patch(data, 8, order, 4, least)
    then = {"PUT_ACK": "wire/put_ack/nob-under-frags", "GET_REQ": "wire/get_req/nob-under-frags",
            "IMMEDIATE": "wire/immediate/payload-past-nob"}.get(name)
    yield from pair(f"wire/{name.lower()}/nob-under-minimum", legal, patch(data, 8, order, 4, least - 1),
                    (f"nob {least}", f"nob {least - 1}"), then=then)
    yield Case(f"wire/{name.lower()}/nob-under-minimum", ILLEGAL, "nob 0", patch(data, 8, order, 4, 0))


def lnet_types(name, order):
    rule = f"wire/{name.lower()}/lnet-type"
    for kind in codec.LNET_ADMITTED[name]:
        yield Case(rule, LEGAL, f"LNet type {kind}", sample(name, order, lnet_kind=codec.LNET_TYPES[kind]))
    for kind in sorted({0, 1, 2, 3, 4, 5, 0x01000000, 0xFFFFFFFF} - set(codec.LNET_ADMITTED[name])):
        yield Case(rule, ILLEGAL, f"LNet type {kind:#x}", patch(sample(name, order), 72, "little", 4, kind))


def statuses(name, order):
    rule = f"wire/{name.lower()}/status-over-limit"
    for status in (MIB, 0, -1, -(1 << 31)):
        yield Case(rule, LEGAL, f"status {status}", sample(name, order, status=status))
    for status in (MIB + 1, 0x7FFFFFFF):
        yield Case(rule, ILLEGAL, f"status {status}", patch(sample(name, order), 56, order, 4, status))


def fragments(prefix, offset, order, of, kind):
    """The descriptor's rules. of(desc): the bytes that contain the descriptor."""
    def case(rule, boundary, comment, frags, count=None, cut=0, options=None, then=None):
        data = of({"rd_key": 0x1234, "rd_frags": [{"rf_nob": nob, "rf_addr": address} for nob, address in frags]})
        data = data if count is None else patch(data, offset + 4, order, 4, count)
        if cut and kind == "decode":
            data = patch(data, 8, order, 4, len(data) - cut)
        elif cut:
            data = data[:-cut]
        return Case(prefix + rule, boundary, comment, data, options or {}, kind, {}, then)

    many = [(4080, 0x100000 + 4096 * index) for index in range(258)]
    yield case("nfrags-zero", LEGAL, "1 fragment", many[:1])
    yield case("nfrags-zero", ILLEGAL, "no fragment", many[:1], 0)
    for limit in (257, 256):
        options = {"max_frags": 256} if limit == 256 else {}
        small = [(1 + index, address) for index, (_, address) in enumerate(many)]
        yield case("nfrags-over-limit", LEGAL, f"{limit} of {limit}", small[:limit], options=options)
        yield case("nfrags-over-limit", ILLEGAL, f"{limit + 1} of {limit}", small[:limit + 1], options=options)
    for count in (0x7FFFFFFF, 0x80000000, 0xFFFFFFFF):
        yield case("nfrags-over-limit", ILLEGAL, f"rd_nfrags {count:#x}", many[:1], count)
    yield case("nob-under-frags", LEGAL, "the last byte of 2 fragments", many[:2])
    yield case("nob-under-frags", ILLEGAL, "one byte less than 2 fragments", many[:2], cut=1)
    yield case("nob-under-frags", ILLEGAL, "257 fragments announced, 1 there", many[:1], 257)
    yield case("frag-nob-zero", LEGAL, "1 byte", [(4096, 0), (1, 8192)])
    yield case("frag-nob-zero", ILLEGAL, "0 bytes in the last fragment", [(4096, 0), (0, 8192)])
    yield case("frag-nob-zero", ILLEGAL, "0 bytes, after one that is too large: the rule that comes first",
               [(MIB + 1, 0), (0, 8192)])
    yield case("frag-nob-over-limit", LEGAL, "1 MiB", [(MIB, 0x1000)])
    yield case("frag-nob-over-limit", ILLEGAL, "1 MiB + 1", [(MIB + 1, 0x1000)])
    yield case("frag-nob-over-limit", ILLEGAL, "2^31 in the second", [(1, 0), (1 << 31, 0x1000)])
    yield case("frag-nob-over-limit", ILLEGAL, "2^32 - 1", [(0xFFFFFFFF, 0)])
    yield case("frag-sum-over-limit", LEGAL, "1 MiB in two", [(MIB - 1, 0x1000), (1, 0x200000)])
    yield case("frag-sum-over-limit", ILLEGAL, "1 MiB + 1 in two", [(MIB, 0x1000), (1, 0x200000)])
    yield case("frag-sum-over-limit", ILLEGAL, "257 of 1 MiB: broken by the second", [(MIB, 0)] * 257)
    last = (1 << 64) - 1
    yield case("frag-addr-wraps", LEGAL, "ends at 2^64 - 1", [(16, last - 16)])
    yield case("frag-addr-wraps", ILLEGAL, "ends at 2^64", [(16, last - 15)])
    yield case("frag-addr-wraps", ILLEGAL, "1 byte at 2^64 - 1, in the second", [(1, 0), (1, last)])


def put_ack(order):
    def of(rd):
        msg = message("PUT_ACK", order)
        return encode_raw(msg, "ibpam_rd", rd)

    yield from fragments("wire/put_ack/", 64, order, of, "decode")


def get_req(order):
    def of(rd):
        msg = message("GET_REQ", order)
        return encode_raw(msg, "ibgm_rd", rd)

    yield from lnet_types("GET_REQ", order)
    yield from fragments("wire/get_req/", 128, order, of, "decode")
    data = sample("GET_REQ", order)
    yield from pair("wire/get_req/payload-not-zero", data, patch(data, 76, "little", 4, 1), ("none", "1"))


def encode_raw(msg, member, rd):
    """A message with a descriptor that encoding would refuse: the checks are left out."""
    order = codec.ORDERS[msg["byte_order"]]
    good = codec.encode(msg)
    start = 64 if member == "ibpam_rd" else 128
    data = good[:start] + codec.encode_desc(rd, order)
    return patch(data, 8, msg["byte_order"], 4, len(data))


def bare_desc(order):
    kind = f"desc_{order}"

    def of(rd):
        return codec.encode_desc(rd, codec.ORDERS[order])

    one = of(desc(1))
    yield from pair("wire/desc/short-for-count", one[:8], one[:7], ("8 bytes", "7 bytes"), kind=kind,
                    then="wire/desc/nob-under-frags")
    yield Case("wire/desc/short-for-count", ILLEGAL, "no bytes at all", b"", {}, kind)
    yield Case("wire/options/max-frags", ILLEGAL, "the option is 258, for a bare descriptor", one,
               {"max_frags": 258}, kind)
    yield from fragments("wire/desc/", 0, order, of, kind)


def immediate(order):
    yield from lnet_types("IMMEDIATE", order)
    rule = "wire/immediate/payload-"
    for kind in ("ACK", "GET"):
        data = sample("IMMEDIATE", order, lnet_kind=kind) + b"\xa5"
        data = patch(data, 8, order, 4, len(data))
        yield from pair(rule + "not-zero", data, patch(data, 76, "little", 4, 1), (f"{kind}, 0", f"{kind}, 1"))
    for kind in ("PUT", "REPLY"):
        data = sample("IMMEDIATE", order, lnet_kind=kind)
        yield from pair(rule + "over-limit", patch(data, 76, "little", 4, MIB), patch(data, 76, "little", 4, MIB + 1),
                        (f"{kind}, 1 MiB", f"{kind}, 1 MiB + 1"), then=rule + "past-nob")
        yield from pair(rule + "past-nob", data, patch(data, 76, "little", 4, 6) + b"!",
                        (f"{kind}, ends at nob", f"{kind}, ends one after nob, though that byte was received"))
    yield Case(rule + "over-limit", ILLEGAL, "2^32 - 1", patch(data, 76, "little", 4, 0xFFFFFFFF))


def put_req(order):
    yield from lnet_types("PUT_REQ", order)
    for kind in ("PUT", "REPLY"):
        data = sample("PUT_REQ", order, lnet_kind=kind)
        yield from pair("wire/put_req/payload-over-limit", patch(data, 76, "little", 4, MIB),
                        patch(data, 76, "little", 4, MIB + 1), (f"{kind}, 1 MiB", f"{kind}, 1 MiB + 1"))


def of_type(name, order):
    """All cases of the rules of one message type."""
    yield from minimum(name, order)
    own = {"IMMEDIATE": immediate, "PUT_REQ": put_req, "PUT_ACK": put_ack, "GET_REQ": get_req}.get(name)
    if own:
        yield from own(order)
    if name in ("PUT_NAK", "PUT_DONE", "GET_DONE"):
        yield from statuses(name, order)


def order_of_checks(order):
    """Messages that break two rules: the one that stands first is reported."""
    def case(rule, comment, data, options=None):
        return Case(rule, "order", comment, data, options or {})

    noop = sample("NOOP", order)
    yield case("wire/header/magic", "magic and version", bytes(6))
    yield case("wire/header/version", "version, and too short for a header", patch(noop[:47], 4, order, 2, 0x13))
    yield case("wire/header/nob-over-received", "nob over both limits", patch(noop, 8, order, 4, 5000))
    yield case("wire/header/nob-over-limit", "nob over the limit, checksum absent",
               patch(noop + bytes(5000), 8, order, 4, 4097), STRICT)
    bad = patch(noop, 12, order, 4, 0x00BADBAD)
    yield case("wire/header/checksum", "checksum and source", patch(bad, 16, order, 8, codec.U64))
    yield case("wire/header/srcnid-lnd-foreign", "source and destination",
               patch(patch(noop, 16, order, 8, 0), 32, order, 8, codec.U64))
    yield case("wire/header/dstnid-address-zero", "destination and type",
               patch(patch(noop, 32, order, 8, 5 << 48), 6, order, 1, 0xD8))
    short = patch(noop, 8, order, 4, 0)
    yield case("wire/header/type", "an unknown type has no minimum", patch(short, 6, order, 1, 0xD8))
    get = sample("GET_REQ", order, count=2)
    hello = patch(get, 72, "little", 4, 4)
    yield case("wire/get_req/lnet-type", "LNet type and fragments", patch(hello, 132, order, 4, 0))
    yield case("wire/get_req/nfrags-over-limit", "count, and nob under it", patch(get, 132, order, 4, 300))
    wraps = patch(get, 136, order, 4, 0xFFFFFFFF)
    yield case("wire/get_req/frag-nob-over-limit", "length before sum, address and payload",
               patch(patch(wraps, 140, order, 8, -1), 76, "little", 4, 9))
    yield case("wire/get_req/frag-addr-wraps", "address before payload",
               patch(patch(get, 140, order, 8, -1), 76, "little", 4, 9))
    yield case("wire/put_ack/nob-under-minimum", "a descriptor outside nob is not looked at",
               patch(patch(sample("PUT_ACK", order), 8, order, 4, 71), 68, order, 4, 0))
    put = with_checksum(sample("IMMEDIATE", order), order)
    yield case("wire/header/checksum", "a checksum that misses one payload byte", put[:-1] + b"\xff")
