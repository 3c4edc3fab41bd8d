# SPDX-License-Identifier: MIT
"""Convert a recorded capture to other link types, tags, addresses and path MTUs.

Recordings are RoCEv2 over Ethernet and IPv4 (corpus/captures/pcap).  The transport (base transport header to invariant
CRC) is kept, except if packets are split for a smaller MTU.  CRCs are not recomputed: nothing checks them.
"""

import struct

ETHERNET, SLL, ERF, INFINIBAND, SLL2 = 1, 113, 197, 247, 276
IPV4_AT, UDP_AT, BTH_AT = 14, 34, 42
ICRC_BYTES, BTH_BYTES = 4, 12
SEND, WRITE, ACK = range(3)
# Opcodes of a first, middle, last and only packet; the recordings have none with immediate data or invalidation.
CODES = {SEND: (0x00, 0x01, 0x02, 0x04), WRITE: (0x06, 0x07, 0x08, 0x0A)}
KINDS = {code: kind for kind, codes in CODES.items() for code in codes}
RETH_BYTES = 16
PSNS = 1 << 24


def transport_of(frame):
    """(last byte of the source's and of the target's address, base transport header to ICRC), or None."""
    if len(frame) < BTH_AT + BTH_BYTES or frame[12:14] != b"\x08\x00" or frame[23] != 17 or frame[36:38] != b"\x12\xb7":
        return None
    length = struct.unpack_from(">H", frame, UDP_AT + 4)[0] - 8
    return frame[29], frame[33], frame[BTH_AT:BTH_AT + length]


def udp(transport):
    return struct.pack(">HHHH", 0xC000, 4791, len(transport) + 8, 0) + transport


def ipv4(source, target, transport):
    return struct.pack(">BBHHHBBH4B4B", 0x45, 0, 28 + len(transport), 1, 0x4000, 64, 17, 0, 10, 77, 0, source, 10, 77, 0,
                       target) + udp(transport)


def six(protocol, source, target, payload):
    """A packet with an IPv6 header or a global route header, which have the same form."""
    address = bytes.fromhex("fe80" + 24 * "0")
    return (struct.pack(">IHBB", 6 << 28, len(payload), protocol, 64) + address + bytes([0, source]) + address +
            bytes([0, target]) + payload)


def ipv6(source, target, transport):
    return six(17, source, target, udp(transport))


def global_route(source, target, transport):
    return six(0x1B, source, target, transport)


def ethernet(type_bytes, network=ipv4):
    return lambda *packet: bytes(12) + bytes.fromhex(type_bytes) + network(*packet)


def sll(type_bytes, network=ipv4):
    return lambda *packet: struct.pack(">HHH8x", 0, 1, 6) + bytes.fromhex(type_bytes) + network(*packet)


def sll2(type_bytes, network=ipv4):
    return lambda *packet: bytes.fromhex(type_bytes[:4]) + struct.pack(">HIHBB8x", 0, 3, 1, 0, 6) + bytes.fromhex(
        type_bytes[4:]) + network(*packet)


def infiniband(with_global, with_crc=True):
    def carry(source, target, transport):
        body = global_route(source, target, transport) if with_global else transport
        head = struct.pack(">BBHHH", 0, 3 if with_global else 2, target, (8 + len(body)) // 4, source)
        return head + (body + bytes(2) if with_crc else body[:-ICRC_BYTES])
    return carry


def erf(carried, extensions=0):
    def carry(*packet):
        body = carried(*packet)
        more = b"".join(bytes([0x80 if number + 1 < extensions else 5]) + bytes(7) for number in range(extensions))
        pad = -len(body) % 8
        length = 16 + len(more) + len(body) + pad
        return struct.pack("<Q", 1 << 32) + struct.pack(">BBHHH", 21 | (0x80 if extensions else 0), 4, length, 0, len(
            body)) + more + body + bytes(pad)
    return carry


# {name: (link type of the file, function that makes the frame of a packet, a frame of another protocol)}.
CARRIERS = {
    "ethernet": (ETHERNET, ethernet("0800"), bytes(12) + b"\x08\x06" + bytes(46)),
    "vlan": (ETHERNET, ethernet("810000070800"), bytes(12) + b"\x81\x00\x00\x07\x08\x06" + bytes(46)),
    "qinq": (ETHERNET, ethernet("88a80005810000070800"), b""),
    "old-qinq": (ETHERNET, ethernet("910000058100000786dd", ipv6), b""),
    "ipv6": (ETHERNET, ethernet("86dd", ipv6), b""),
    "vlan-ipv6": (ETHERNET, ethernet("8100000786dd", ipv6), b""),
    "rocev1": (ETHERNET, ethernet("8915", global_route), b""),
    "sll": (SLL, sll("0800"), bytes(14) + b"\x08\x06" + bytes(28)),
    "sll-vlan-ipv6": (SLL, sll("8100000786dd", ipv6), b""),
    "sll2": (SLL2, sll2("0800"), b"\x08\x06" + bytes(46)),
    "sll2-vlan": (SLL2, sll2("810000070800"), b""),
    "infiniband": (INFINIBAND, infiniband(False), struct.pack(">BBHHH", 0, 0, 1, 10, 2) + bytes(34)),
    "infiniband-global": (INFINIBAND, infiniband(True), b""),
    "infiniband-no-crc": (INFINIBAND, infiniband(False, False), b""),
    "erf": (ERF, erf(infiniband(False)), struct.pack(">8xBBHHH", 2, 4, 80, 0, 60) + bytes(64)),
    "erf-extended": (ERF, erf(infiniband(True), 3), b""),
}


def file_of(link, packets, snapshot=65535):
    """A pcap file.  packets: (nanoseconds, frame) each; frames longer than the snapshot are cut."""
    data = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, snapshot, link)
    for time_ns, frame in packets:
        seen = frame[:snapshot]
        data += struct.pack("<IIII", time_ns // 10**9, time_ns % 10**9, len(seen), len(frame)) + seen
    return data


def carried(packets, name):
    """(link type, packets) of the capture in that carrier; what is not RoCE becomes its frame of another protocol."""
    link, carry, other = CARRIERS[name]
    frames = [(time_ns, transport_of(frame)) for time_ns, frame in packets]
    return link, [(time_ns, other if packet is None else carry(*packet)) for time_ns, packet in frames]


class Split:
    """The same conversation with a smaller path MTU: more packets, and sequence numbers that count them."""

    def __init__(self, mtu):
        self.mtu = mtu
        self.flows = {}  # (source, target, queue pair): [next original number, how much is added]
        self.sent = {}   # (source, original number): the number of its last packet

    def pieces(self, source, target, transport):
        """The packets, from base transport header to ICRC, into which this one is split."""
        code, number = transport[0], struct.unpack_from(">I", transport, 8)[0] & 0xFFFFFF
        kind = KINDS.get(code)
        if code == 0x11:
            return [self.numbered(transport, self.sent.get((target, number), number))]
        if kind is None:
            return [transport]
        flow = self.flows.setdefault((source, target, transport[4:8]), [number, 0])
        if flow[0] != number:
            flow[:] = [number, 0]
        place = CODES[kind].index(code)
        first, last = place in (0, 3), place in (2, 3)
        extra = RETH_BYTES if kind == WRITE and first else 0
        pad = transport[1] >> 4 & 3
        payload = transport[BTH_BYTES + extra:len(transport) - ICRC_BYTES - pad]
        cut = [payload[at:at + self.mtu] for at in range(0, len(payload), self.mtu)] or [b""]
        out = []
        for index, piece in enumerate(cut):
            begins, ends = first and index == 0, last and index == len(cut) - 1
            pad = -len(piece) % 4
            head = bytes([CODES[kind][3 if begins and ends else 0 if begins else 2 if ends else 1],
                          transport[1] & 0xCF | pad << 4]) + transport[2:BTH_BYTES + (extra if begins else 0)]
            out.append(self.numbered(head + piece + bytes(pad + ICRC_BYTES), number + flow[1] + index))
        flow[:] = [(number + 1) % PSNS, flow[1] + len(cut) - 1]
        self.sent[source, number] = (number + flow[1]) % PSNS
        return out

    @staticmethod
    def numbered(transport, number):
        return transport[:8] + transport[8:9] + struct.pack(">I", number % PSNS)[1:] + transport[12:]


def split(packets, mtu):
    """The packets of a capture over Ethernet, split; (nanoseconds, frame) each."""
    splitter, out = Split(mtu), []
    for time_ns, frame in packets:
        packet = transport_of(frame)
        if packet is None:
            out.append((time_ns, frame))
            continue
        source, target, transport = packet
        out += [(time_ns, bytes(12) + b"\x08\x00" + ipv4(source, target, piece))
                for piece in splitter.pieces(source, target, transport)]
    return out
