# SPDX-License-Identifier: MIT
"""LNet selftest's messages in the recordings of corpus/captures/lst: (packet, portal, match bits, 160 bytes) each."""

import struct
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[3] / "corpus" / "captures" / "lst"
ETHERNET, IPV4, UDP, TRANSPORT, INVARIANT_CRC = 14, 20, 8, 12, 4
MESSAGE_HEADER, LNET_HEADER, MESSAGE_BYTES = 48, 72, 160
SEND_ONLY, IMMEDIATE, PUT = 0x04, 0xD1, 1
PORTALS = (50, 51, 52)


def frames(path):
    """Number from 1 on, and bytes, of each packet of a classic little-endian pcap file."""
    data, at, number = path.read_bytes(), 24, 0
    assert data[:4] == b"\xd4\xc3\xb2\xa1", path
    while at < len(data):
        length = struct.unpack_from("<I", data, at + 8)[0]
        number += 1
        yield number, data[at + 16:at + 16 + length]
        at += 16 + length


def messages(path):
    for number, frame in frames(path):
        if frame[12:14] != b"\x08\0" or frame[ETHERNET + 9] != 17:
            continue
        roce = frame[ETHERNET + IPV4 + UDP:]
        padding = (roce[1] >> 4) & 3
        body = roce[TRANSPORT:len(roce) - INVARIANT_CRC - padding]
        if roce[0] != SEND_ONLY or len(body) < MESSAGE_HEADER + LNET_HEADER or body[6] != IMMEDIATE:
            continue
        lnet = body[MESSAGE_HEADER:MESSAGE_HEADER + LNET_HEADER]
        kind, length = struct.unpack_from("<II", lnet, 24)
        match_bits, portal = struct.unpack_from("<Q", lnet, 48)[0], struct.unpack_from("<I", lnet, 64)[0]
        payload = body[MESSAGE_HEADER + LNET_HEADER:]
        if kind == PUT and length == MESSAGE_BYTES and portal in PORTALS:
            yield number, portal, match_bits, payload[:MESSAGE_BYTES]
