# SPDX-License-Identifier: MIT
"""Mutated inputs for compare_codecs.py: bytes of messages, descriptors and reject records, structs, and texts."""

import codec
from vector_samples import lnet, patch, payload_of, with_checksum

INTERESTING = (0, 1, 2, 3, 4, 5, 0x11, 0x12, 0x13, 47, 48, 49, 56, 60, 72, 119, 120, 121, 128, 136, 255, 256, 257, 258,
               4095, 4096, 4097, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 32,
               (1 << 63) - 1, 1 << 63, (1 << 64) - 4096, (1 << 64) - 1, 0x00050000C0A80A01, 0x0005000000000000,
               0x00050000FFFFFFFF, 0x00FF0000C0A80A01, 0x0009000000000000, 0x0002000A0A4D0001, 0x01050000C0A80A01,
               0x0BE91B91, 0x911BE90B, 0x45726963)
HEADER_FIELDS = ((0, 4), (4, 2), (6, 1), (7, 1), (8, 4), (12, 4), (16, 8), (24, 8), (32, 8), (40, 8))
LNET_FIELDS = ((48, 8), (56, 8), (64, 4), (68, 4), (72, 4), (76, 4), (80, 8), (96, 8), (104, 4), (112, 4), (116, 4))
BODY_FIELDS = {"CONNREQ": ((48, 2), (50, 2), (52, 4)), "CONNACK": ((48, 2), (50, 2), (52, 4)), "NOOP": ((8, 4),),
               "IMMEDIATE": LNET_FIELDS, "PUT_REQ": LNET_FIELDS + ((120, 8),), "PUT_NAK": ((48, 8), (56, 4)),
               "PUT_DONE": ((48, 8), (56, 4)), "GET_DONE": ((48, 8), (56, 4)),
               "PUT_ACK": ((48, 8), (56, 8), (64, 4), (68, 4), (72, 4), (76, 8), (84, 4), (88, 8)),
               "GET_REQ": LNET_FIELDS + ((120, 8), (128, 4), (132, 4), (136, 4), (140, 8), (148, 4), (152, 8))}
REJECT_FIELDS = ((0, 4), (4, 2), (6, 1), (7, 1), (8, 8), (16, 2), (18, 2), (20, 4))
DESC_FIELDS = ((0, 4), (4, 4), (8, 4), (12, 8), (20, 4), (24, 8))
LONGEST = 8192


def order_of(data):
    return "big" if data[:4] == b"\x0b\xe9\x1b\x91" else "little"


def set_field(rng, data, fields):
    """A boundary value, or one next to it, mostly in the message's own order."""
    offset, size = rng.choice(fields)
    if offset + size > len(data):
        return data
    value = rng.choice(INTERESTING) + rng.choice((0, 0, 0, -1, 1))
    little = (offset, size) in LNET_FIELDS and offset >= 48
    order = "little" if little else order_of(data)
    if rng.random() < 0.1:
        order = "big" if order == "little" else "little"
    return patch(data, offset, order, size, value)


def damage(rng, data, fields, seeds):
    """One mutation."""
    kind = rng.randrange(10)
    if kind < 5 or not data:
        return set_field(rng, data, fields)
    at = rng.randrange(len(data))
    if kind == 5:
        return data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1:]
    if kind == 6:
        return data[:at]
    if kind == 7:
        return data + (bytes if rng.random() < 0.5 else rng.randbytes)(rng.choice((1, 3, 12, 72, 140, 4096)))
    if kind == 8:
        other = rng.choice(seeds)
        cut = at if rng.random() < 0.5 else rng.randrange(len(other) + 1)
        return data[:at] + other[cut:]
    return data[:at] + rng.randbytes(rng.randrange(1, 9)) + data[at + 1:]


def message(rng, seeds):
    """Bytes of a mutated message, mostly with a corrected nob, and sometimes with a corrected checksum."""
    data = rng.choice(seeds)
    name = codec.TYPES.get(data[6] if len(data) > 6 else 0, "NOOP")
    for _ in range(rng.choice((0, 1, 1, 1, 2, 2, 3, 5))):
        # Change the header rarely: its rules are checked first and would hide all others.
        fields = HEADER_FIELDS if rng.random() < 0.25 else BODY_FIELDS[name]
        data = damage(rng, data, fields, seeds)
    data = data[:LONGEST]
    if len(data) < codec.HEADER_BYTES:
        return data
    order = order_of(data)
    if rng.random() < 0.6:
        data = patch(data, 8, order, 4, min(len(data), codec.MESSAGE_BYTES) - rng.choice((0, 0, 0, 0, 1, 5)))
    flavour = rng.choice(("zero", "zero", "zero", "unsigned", "signed", "keep"))
    if flavour == "zero":
        return patch(data, 12, order, 4, 0)
    if flavour == "keep" or len(data) > 1024 and rng.random() < 0.9:
        return data
    return with_checksum(data, order, flavour)


def other_bytes(rng, seeds, fields):
    """A mutated descriptor or reject record."""
    data = rng.choice(seeds)
    for _ in range(rng.choice((0, 1, 1, 2, 3))):
        data = damage(rng, data, fields, seeds)
    return data[:LONGEST]


def struct(rng, seeds):
    """A message for encoding, as a dict, with some fields set to boundary values that fit their sizes."""
    msg = codec.decode(rng.choice(seeds))
    msg["cksum_flavour"] = rng.choice(codec.FLAVOURS)
    body = msg["body"]
    for _ in range(rng.choice((0, 1, 1, 2))):
        key = rng.choice(("ibm_version", "ibm_credits", "ibm_srcnid", "ibm_srcstamp", "ibm_dstnid", "ibm_dststamp"))
        bits = {"ibm_version": 16, "ibm_credits": 8}.get(key, 64)
        if rng.random() < 0.3:
            msg[key] = rng.choice(INTERESTING) & (1 << bits) - 1
    if "hdr" in body and rng.random() < 0.5:
        body["hdr"] = lnet_header(rng)
        if "payload" in body:
            body["payload"] = payload_of(body["hdr"]["payload_length"])
    desc = body.get("ibpam_rd") or body.get("ibgm_rd")
    if desc and rng.random() < 0.7:
        frag = rng.choice(desc["rd_frags"])
        frag["rf_nob"] = rng.choice(INTERESTING) & codec.U32
        frag["rf_addr"] = rng.choice(INTERESTING)
        desc["rd_frags"] = desc["rd_frags"][:rng.choice((0, 1, 256, 257, 257, 257))]
    if "ibcm_status" in body and rng.random() < 0.7:
        body["ibcm_status"] = (rng.choice(INTERESTING) & codec.U32) - rng.choice((0, 1 << 31))
        body["ibcm_status"] = max(-1 << 31, min((1 << 31) - 1, body["ibcm_status"]))
    return msg


def lnet_header(rng):
    """A random LNet header; its payload length may be illegal for its variant, but is below 4096."""
    kind = rng.choice(("ACK", "PUT", "GET", "REPLY"))
    length = rng.choice((0, 0, 1, 5, 3976, 3977, 4000))
    return lnet(kind, length, rng.choice(INTERESTING), rng.choice(INTERESTING))


def text(rng):
    """A text that is a NID or resembles one."""
    numbers = ("0", "1", "10", "255", "256", "01", "007", "1000", "65535", "65536", "99999999999", "", "x", "-1", " 1",
               "+1")
    parts = [rng.choice(numbers[:4] if rng.random() < 0.9 else numbers) for _ in range(rng.choice((4, 4, 4, 4, 3, 5)))]
    name = rng.choice(("o2ib", "o2ib", "tcp", "lo", "o2i", "gni", "tc", "O2IB", ""))
    net = rng.choice(numbers) if rng.random() < 0.6 else ""
    at = rng.choice(("@", "@", "@", "@", "@", "@@", ""))
    made = rng.choice(("", "", "", " ")) + ".".join(parts) + at + name + net
    digits = "".join(rng.choice("0123456789abcdefABCDEFg") for _ in range(rng.randrange(18)))
    return rng.choice((made, made, made, made, "0x" + digits, "0@lo", "0@lo0", "fe80::1@o2ib", "::", "0X1", "1@lo"))
