# SPDX-License-Identifier: MIT
"""Packets of RoCEv2 that carry o2iblnd messages, and the capture file that holds them.

Ethernet, IPv4, UDP to port 4791, base transport header, payload, invariant CRC.  A message is one SEND on a reliable
connection; CONNREQ, CONNACK and reject records are private data of the connection manager, in a datagram to queue
pair 1.  Layouts:
InfiniBand Architecture Specification volume 1, chapters 9 (transport headers), 12 (connection manager) and 13
(management datagrams), annexes A11 (RDMA IP CM service) and A17 (RoCEv2).
"""

import struct
import zlib
from dataclasses import dataclass

ETHERTYPE_IPV4 = 0x0800
IP_PROTOCOL_UDP = 17
ROCE_PORT = 4791
LINKTYPE_ETHERNET = 1
IPV4_BYTES_MAX = 65535

OPCODE_RC_SEND_ONLY = 0x04
OPCODE_UD_SEND_ONLY = 0x64
PARTITION = 0xFFFF
CM_QP = 1
CM_QKEY = 0x80010000

CM_REQ, CM_REP, CM_REJ = 0x0010, 0x0013, 0x0012
MAD_BYTES = 256
REQ_PRIVATE_AT, REQ_PRIVATE_BYTES = 164, 92
REP_PRIVATE_AT, REP_PRIVATE_BYTES = 60, 196
REJ_PRIVATE_AT, REJ_PRIVATE_BYTES = 108, 148
REJ_CONSUMER_DEFINED = 28
IP_CM_HEADER_BYTES = 36
SERVICE_ID_TCP = 0x0000000001060000  # of the RDMA IP CM service, port space TCP; the port in the last 16 bits
LNET_PORT = 987

ADDRESSES = ((10, 77, 0, 1), (10, 77, 0, 2))


@dataclass(frozen=True)
class Packet:
    frame: bytes
    message_at: int  # where the message begins in the frame


def ones_complement_sum(data):
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def invariant_crc(ip, udp, transport):
    """The CRC 32 at the end of a packet; fields that a router may change count as all ones."""
    masked = bytearray(ip)
    masked[1] = masked[8] = 0xFF  # type of service, time to live
    masked[10:12] = b"\xff\xff"  # checksum
    bth = bytearray(transport)
    bth[4] = 0xFF  # reserved, used for congestion marks
    return struct.pack("<I", zlib.crc32(b"\xff" * 8 + masked + udp[:6] + b"\xff\xff" + bth))


def frame(transport, sender, flow):
    """transport: headers and payload, up to the invariant CRC; it is padded here."""
    udp_bytes = 8 + len(transport) + 4
    if 20 + udp_bytes > IPV4_BYTES_MAX:
        raise ValueError(f"payload of {len(transport)} bytes: does not fit into one packet")
    source, destination = ADDRESSES[sender], ADDRESSES[1 - sender]
    ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + udp_bytes, 0, 0x4000, 64, IP_PROTOCOL_UDP, 0, bytes(source),
                     bytes(destination))
    ip = ip[:10] + struct.pack("!H", ones_complement_sum(ip)) + ip[12:]
    udp = struct.pack("!HHHH", 0xC000 | flow & 0x3FFF, ROCE_PORT, udp_bytes, 0)
    ethernet = struct.pack("!6s6sH", bytes((2, 0) + destination), bytes((2, 0) + source), ETHERTYPE_IPV4)
    return ethernet + ip + udp + transport + invariant_crc(ip, udp, transport)


def base_header(opcode, payload_bytes, queue_pair, sequence):
    pad = -payload_bytes % 4
    return struct.pack("!BBHII", opcode, 0x40 | pad << 4, PARTITION, queue_pair, sequence & 0xFFFFFF), b"\0" * pad


def send(message, sender, index):
    """The message as one SEND on a reliable connection; index is the packet sequence number."""
    header, pad = base_header(OPCODE_RC_SEND_ONLY, len(message), 0x100 + sender, index)
    whole = frame(header + message + pad, sender, sender)
    return Packet(whole, len(whole) - 4 - len(pad) - len(message))


def mad(attribute, transaction, rest):
    return struct.pack("!BBBBHHQHHI", 1, 7, 2, 3, 0, 0, transaction, attribute, 0, 0) + rest


def gid(address):
    return b"\0" * 10 + b"\xff\xff" + bytes(address)


def connect_request(private, sender, number):
    """A ConnectRequest of the RDMA IP CM service: its own 36 bytes come before the consumer's."""
    source, destination = ADDRESSES[sender], ADDRESSES[1 - sender]
    path = struct.pack("!HH16s16sIBBBB", 0xFFFF, 0xFFFF, gid(source), gid(destination), 0, 0, 64, 0, 0x98)
    body = struct.pack("!I4xQQIIIIIIHBB", number, SERVICE_ID_TCP | LNET_PORT, 0x020000FFFE000000 | sender,
                       0, 0, (0x200 + number) << 8, 0, 0, (number & 0xFFFFFF) << 8 | 7, PARTITION, 0x50, 0xF0)
    ip_cm = struct.pack("!BBH12x4s12x4s", 0, 0x40, 0x8000 | number & 0x7FFF, bytes(source), bytes(destination))
    return mad(CM_REQ, number, body + path + b"\0" * 44 + (ip_cm + private).ljust(REQ_PRIVATE_BYTES, b"\0"))


def connect_reply(private, sender, number):
    body = struct.pack("!IIIIIIBBBBQ", 0x10000 + number, number, 0, (0x300 + number) << 8, 0,
                       (number & 0xFFFFFF) << 8, 1, 1, 0, 0xE0, 0x020000FFFE000000 | sender)
    return mad(CM_REP, number, body + private.ljust(REP_PRIVATE_BYTES, b"\0"))


def connect_reject(private, sender, number):
    del sender
    body = struct.pack("!IIBBH72x", 0x10000 + number, number, 0, 0, REJ_CONSUMER_DEFINED)
    return mad(CM_REJ, number, body + private.ljust(REJ_PRIVATE_BYTES, b"\0"))


# {message: (function that makes the datagram that carries it, offset of the consumer's private data in that)}.
CARRIERS = {
    "CONNREQ": (connect_request, REQ_PRIVATE_AT + IP_CM_HEADER_BYTES),
    "CONNACK": (connect_reply, REP_PRIVATE_AT),
    "REJECT": (connect_reject, REJ_PRIVATE_AT),
}


def datagram(management, sender, index):
    header, _ = base_header(OPCODE_UD_SEND_ONLY, len(management), CM_QP, index)
    extended = struct.pack("!II", CM_QKEY, CM_QP)
    return frame(header + extended + management, sender, sender)


def private_room(kind):
    """Bytes of the consumer's private data; they are always sent in full, padded with zeros."""
    return {"CONNREQ": REQ_PRIVATE_BYTES - IP_CM_HEADER_BYTES, "CONNACK": REP_PRIVATE_BYTES,
            "REJECT": REJ_PRIVATE_BYTES}[kind]


def connect(message, kind, sender, index):
    """CONNREQ, CONNACK or a reject record as the connection manager carries it."""
    make, private_at = CARRIERS[kind]
    if len(message) > private_room(kind):
        raise ValueError(f"{kind} of {len(message)} bytes: private data has room for {private_room(kind)}")
    management = make(message, sender, index)
    if len(management) != MAD_BYTES or management[private_at:private_at + len(message)] != message:
        raise AssertionError(f"{kind}: datagram of {len(management)} bytes, or no message at {private_at}")
    whole = datagram(management, sender, index)
    return Packet(whole, len(whole) - 4 - MAD_BYTES + private_at)


def write(path, frames):
    """A capture file (pcap 2.4, microseconds, little-endian), one frame each millisecond."""
    with open(path, "wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, IPV4_BYTES_MAX + 14, LINKTYPE_ETHERNET))
        for index, data in enumerate(frames):
            file.write(struct.pack("<IIII", index // 1000, index % 1000 * 1000, len(data), len(data)) + data)
