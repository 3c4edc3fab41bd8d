#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Write the seeds of the fuzz targets msg_decode, desc_decode and wire_parts.

    tests/judge/wire/make_seeds.py            from the root of the repository

Builds the messages with Python's struct, not with the codec, from docs/wire.md; copies the recorded messages of
corpus/captures.  Running it again gives the same files.
"""
import os
import shutil
import struct
import sys

LITTLE, BIG = "<", ">"
NAMES = {LITTLE: "le", BIG: "be"}
SRC, DST = 0x00050000C0A80A01, 0x00050000C0A80A02
SRCSTAMP, DSTSTAMP = 0x0005A1B2C3D4E5F6, 0x0005AABBCCDDEEFF


def checksum(data, signed):
    total = 0
    for byte in data:
        value = byte - 256 if signed and byte > 127 else byte
        total = ((total << 1 | total >> 31) + value) & 0xFFFFFFFF
    return total or 1


def message(order, kind, body, flavour=None, version=0x12, credits=1, dststamp=DSTSTAMP):
    data = struct.pack(order + "IHBBIIQQQQ", 0x0BE91B91, version, kind, credits, 48 + len(body), 0, SRC, SRCSTAMP,
                       DST, dststamp) + body
    if flavour is None:
        return data
    return data[:12] + struct.pack(order + "I", checksum(data, flavour == "signed")) + data[16:]


def lnet(kind, length, union):
    return struct.pack("<QQIIII", DST, SRC, 12345, 12345, kind, length) + union.ljust(40, b"\0")


def descriptor(order, count, size, high):
    """count fragments of size bytes; high: addresses up to the last byte of the address space."""
    first = (1 << 64) - 1 - 4096 * count if high else 0x7F1234560E00
    frags = b"".join(struct.pack(order + "IQ", size, first + 4096 * i) for i in range(count))
    return struct.pack(order + "II", 0x00ABCD01, count) + frags


HANDLE = b"\x33" * 8 + b"\x44" * 8
PUT = HANDLE + struct.pack("<QQII", 0x0123456789ABCDEF, 0xFEEDFACECAFEBEEF, 26, 512)
GET = HANDLE + struct.pack("<QIII", 0xDEADBEEF, 8, 0, 8192)
ACK = HANDLE + struct.pack("<QI", 0xDEADBEEF, 4096)
COOKIE = struct.pack("<Q", 0x1122334455667788)
COOKIE_2 = struct.pack("<Q", 0x99AABBCCDDEEFF00)


def bodies(order):
    """(name, type, body) of every kind of message, plain and at its limits."""
    yield "connreq", 0xC0, struct.pack(order + "HHI", 8, 257, 4096)
    yield "connack", 0xC1, struct.pack(order + "HHI", 8, 256, 4096)
    yield "noop", 0xD0, b""
    yield "immediate_put", 0xD1, lnet(1, 5, PUT) + b"hello"
    yield "immediate_ack", 0xD1, lnet(0, 0, ACK)
    yield "immediate_get", 0xD1, lnet(2, 0, GET)
    yield "immediate_reply", 0xD1, lnet(3, 3, HANDLE) + b"abc"
    yield "put_req_put", 0xD2, lnet(1, 1 << 20, PUT) + COOKIE
    yield "put_req_reply", 0xD2, lnet(3, 5000, HANDLE) + COOKIE
    yield "put_nak", 0xD3, COOKIE + struct.pack(order + "i", -93)
    yield "put_done", 0xD5, COOKIE + struct.pack(order + "i", 1 << 20)
    yield "get_done", 0xD7, COOKIE + struct.pack(order + "i", -61)
    for count, size, high in ((1, 1 << 20, False), (2, 4096, True), (256, 4096, False), (257, 4080, False)):
        rd = descriptor(order, count, size, high)
        yield "put_ack_%d" % count, 0xD4, COOKIE + COOKIE_2 + rd
        yield "get_req_%d" % count, 0xD6, lnet(2, 0, GET) + COOKIE + rd


# One text for each way through the parser of NIDs.
NID_TEXTS = {
    "o2ib": b"192.168.10.1@o2ib", "o2ib7": b"192.168.10.1@o2ib7", "o2ib65535": b"255.255.255.255@o2ib65535",
    "tcp10": b"10.77.0.1@tcp10", "lo": b"0@lo", "hex": b"0x00050000c0a80a01", "hex_any": b"0xFFFFFFFFFFFFFFFF",
    "bad_empty": b"", "bad_hex_none": b"0x", "bad_hex_long": b"0x00050000c0a80a011", "bad_hex_digit": b"0x12g",
    "bad_three": b"192.168.10@o2ib", "bad_octet": b"192.168.10.256@o2ib", "bad_octal": b"192.168.10.01@o2ib",
    "bad_minus": b"192.168.10.-1@o2ib", "bad_long_octet": b"192.168.10.111111@o2ib",
    "bad_no_network": b"192.168.10.1", "bad_network_name": b"192.168.10.1@elan",
    "bad_network_number": b"192.168.10.1@o2ib65536", "bad_network_octal": b"192.168.10.1@o2ib01",
    "bad_network_tail": b"192.168.10.1@o2ib7x", "bad_network_letter": b"192.168.10.1@tcpx",
    "bad_ipv6": b"fe80::1@o2ib", "bad_long": b"1" * 70,
}
NID_NUMBERS = {"o2ib7": 0x00050007C0A80A01, "tcp": 0x00020000C0A80A01, "lo": 0x0009000000000000,
               "lo1": 0x0009000100000000, "top_byte": 0x01050000C0A80A01, "any": 0xFFFFFFFFFFFFFFFF}
# Data that end before, in and behind the checksum's own field; and data whose sum is 0, which counts as 1.
SUMMED = {"none": b"", "zeros": bytes(20), "11": b"\xaa" * 11, "12": b"\xaa" * 12, "14": b"\xaa" * 14,
          "16": b"\xaa" * 16, "64": bytes(range(100, 164)), "signed_zero": b"\x01\xfe",
          "unsigned_zero": b"\xff" * 32 + b"\x01" * 40}


def parts():
    """(name, input) for fuzz/wire_parts.c; the first byte of an input selects what is called."""
    for name, text in NID_TEXTS.items():
        yield "nid_text_" + name, b"\0" + text
    for name, number in NID_NUMBERS.items():
        yield "nid_number_" + name, b"\1" + struct.pack(">Q", number)
    for kind, name in enumerate(("ack", "put", "get", "reply", "hello", "none")):
        yield "lnet_" + name, b"\2" + lnet(kind, 5, bytes(range(1, 41)))
    for name, data in SUMMED.items():
        yield "checksum_" + name, b"\3" + data
    for order in (LITTLE, BIG):
        record = struct.pack(order + "IHBBQHHI", 0x0BE91B91, 0x12, 7, 0, SRCSTAMP, 8, 257, 4096)
        yield "reject_" + NAMES[order], b"\4" + record
        yield "reject_v1_" + NAMES[order], b"\4" + struct.pack(order + "IHB", 0x0BE91B91, 0x11, 3)
        yield "reject_short_" + NAMES[order], b"\4" + record[:23]
    yield "name_rule", b"\5\xd2wire/header/magic"
    yield "name_none", b"\5\x05wire/header/no-such-rule"
    yield "name_reject_rule", b"\5\x00wire/encode/capacity"


def write(directory, name, data):
    with open(os.path.join(directory, name), "wb") as file:
        file.write(data)


def main():
    captures = "corpus/captures"
    if not os.path.isdir(captures):
        sys.exit("make_seeds.py: no %s here: run it from the root of the repository" % captures)
    messages, descriptors, rest = ("corpus/%s/seed" % name for name in ("msg_decode", "desc_decode", "wire_parts"))
    for directory in (messages, descriptors, rest):
        os.makedirs(directory, exist_ok=True)
    for name, data in parts():
        write(rest, name, data)
    for order in (LITTLE, BIG):
        for name, kind, body in bodies(order):
            write(messages, "%s_%s" % (name, NAMES[order]), message(order, kind, body))
            flavour = "signed" if "put" in name else "unsigned"
            if "256" not in name:
                write(messages, "%s_%s_%s" % (name, NAMES[order], flavour), message(order, kind, body, flavour))
        write(messages, "noop_v1_%s" % NAMES[order], message(order, 0xD0, b"", version=0x11))
        write(messages, "noop_trailing_%s" % NAMES[order], message(order, 0xD0, b"trailing"))
        for count, size, high in ((1, 1 << 20, False), (2, 1, True), (256, 4096, False), (257, 4080, False)):
            write(descriptors, "frags_%d_%s" % (count, NAMES[order]), descriptor(order, count, size, high))
        write(descriptors, "frags_0_%s" % NAMES[order], descriptor(order, 0, 1, False))
        write(descriptors, "frags_258_%s" % NAMES[order], descriptor(order, 258, 1, False))
    for name in sorted(os.listdir(captures)):
        if name.endswith(".bin"):
            shutil.copyfile(os.path.join(captures, name), os.path.join(messages, "capture_" + name[:-4]))
        if name.endswith(".bin") and ("PUT_ACK" in name or "GET_REQ" in name):
            with open(os.path.join(captures, name), "rb") as file:
                data = file.read()
            write(descriptors, "capture_" + name[:-4], data[64 if "PUT_ACK" in name else 128:])


main()
