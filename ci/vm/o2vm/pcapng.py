# SPDX-License-Identifier: MIT
"""Convert the pcap file that QEMU writes to a pcapng file, with a description of the capture.

Source: the pcap and pcapng specifications (IETF opsawg), "Section Header Block", "Interface Description Block",
"Enhanced Packet Block".
"""
import struct

PCAP_HEAD = struct.Struct("IHHiIII")
PCAP_RECORD = struct.Struct("IIII")
PCAP_MAGIC_US = 0xA1B2C3D4
SECTION, INTERFACE, PACKET = 0x0A0D0D0A, 1, 6
BYTE_ORDER_MAGIC = 0x1A2B3C4D
END_OF_OPTIONS, COMMENT, USER_APPLICATION, NAME = 0, 1, 4, 2
MICROSECONDS = 1_000_000
MAX_PACKET_BYTES = 1 << 20


class NoCapture(Exception):
    """The file is not a pcap file as QEMU writes it; the text is one line."""


def padded(data):
    return data + b"\0" * (-len(data) % 4)


def option(code, text):
    data = text.encode()
    return struct.pack("=HH", code, len(data)) + padded(data)


def block(kind, body):
    length = struct.pack("=I", 12 + len(body))
    return struct.pack("=I", kind) + length + body + length


def head(link_type, snap_bytes, comment):
    end = option(END_OF_OPTIONS, "")
    section = struct.pack("=IHHq", BYTE_ORDER_MAGIC, 1, 0, -1) + option(COMMENT, comment)
    section += option(USER_APPLICATION, "ci/vm/pair") + end
    interface = struct.pack("=HHI", link_type, 0, snap_bytes) + option(NAME, "wire") + end
    return block(SECTION, section) + block(INTERFACE, interface)


def convert(source, out, comment):
    """Convert `source` to `out`, both open files.  Returns the number of packets.  An incomplete last record is left out; QEMU
    leaves one if it is killed while it writes."""
    first = source.read(PCAP_HEAD.size)
    if len(first) < PCAP_HEAD.size or PCAP_HEAD.unpack(first)[0] != PCAP_MAGIC_US:
        raise NoCapture(f"it begins {first[:4].hex() or 'with nothing'}, expected the head of a pcap file")
    *_, snap_bytes, link_type = PCAP_HEAD.unpack(first)
    out.write(head(link_type, snap_bytes, comment))
    count = 0
    while True:
        record = source.read(PCAP_RECORD.size)
        if len(record) < PCAP_RECORD.size:
            return count
        seconds, part, seen, length = PCAP_RECORD.unpack(record)
        if seen > MAX_PACKET_BYTES:
            raise NoCapture(f"packet {count + 1} has {seen} bytes, limit {MAX_PACKET_BYTES}")
        data = source.read(seen)
        if len(data) < seen:
            return count
        time = seconds * MICROSECONDS + part
        out.write(block(PACKET, struct.pack("=IIIII", 0, time >> 32, time & 0xFFFFFFFF, seen, length) + padded(data)))
        count += 1
