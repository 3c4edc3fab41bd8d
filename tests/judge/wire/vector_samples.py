# SPDX-License-Identifier: MIT
"""Messages that make_vectors.py starts from: golden ones as data, and samples of every type."""

import codec

SOURCE, SINK = 0x00050000C0A80A01, 0x00050000C0A80A02
SOURCE_STAMP, SINK_STAMP = 0x0005A1B2C3D4E5F6, 0x0005AABBCCDDEEFF

HEAD_LITTLE = "01 0a a8 c0 00 00 05 00 f6 e5 d4 c3 b2 a1 05 00 02 0a a8 c0 00 00 05 00 ff ee dd cc bb aa 05 00"
HEAD_BIG = "00 05 00 00 c0 a8 0a 01 00 05 a1 b2 c3 d4 e5 f6 00 05 00 00 c0 a8 0a 02 00 05 aa bb cc dd ee ff"

# docs/wire.md, "Appendix: golden messages": name, bytes without checksum, signed sum, unsigned sum.
GOLDEN = (
    ("noop-little", "91 1b e9 0b 12 00 d0 04 30 00 00 00 00 00 00 00" + HEAD_LITTLE, 0xF0D055DD, 0xEDA2D20E),
    ("noop-big", "0b e9 1b 91 00 12 d0 04 00 00 00 30 00 00 00 00" + HEAD_BIG, 0xE2A234DC, 0x220043E9),
    ("put_ack-little", "91 1b e9 0b 12 00 d4 00 54 00 00 00 00 00 00 00" + HEAD_LITTLE +
     "88 77 66 55 44 33 22 11 00 ff ee dd cc bb aa 99 01 cd ab 00 01 00 00 00 00 00 01 00 00 78 56 34 12 7f 00 00",
     0x94296DDB, 0x575138F3),
    ("get_req-big", "0b e9 1b 91 00 12 d6 01 00 00 00 a0 00 00 00 00" + HEAD_BIG +
     "02 0a a8 c0 00 00 05 00 01 0a a8 c0 00 00 05 00 39 30 00 00 39 30 00 00 02 00 00 00 00 00 00 00"
     "33 33 33 33 33 33 33 33 44 44 44 44 44 44 44 44 ef be ad de 00 00 00 00 08 00 00 00 00 00 00 00"
     "00 20 00 00 00 00 00 00 00 00 00 00 00 00 00 07 00 00 12 34 00 00 00 02 00 00 10 00 00 00 00 00"
     "12 34 50 00 00 00 10 00 00 00 00 00 12 34 70 00", 0x462C93BA, 0x65690408),
    ("connreq-little", "91 1b e9 0b 12 00 c0 00 38 00 00 00 00 00 00 00"
     "01 0a a8 c0 00 00 05 00 f6 e5 d4 c3 b2 a1 05 00 02 0a a8 c0 00 00 05 00 00 00 00 00 00 00 00 00"
     "08 00 01 01 00 10 00 00", 0xD045F860, 0xA1C6295D),
    ("immediate-little", "91 1b e9 0b 12 00 d1 02 7d 00 00 00 00 00 00 00" + HEAD_LITTLE +
     "02 0a a8 c0 00 00 05 00 01 0a a8 c0 00 00 05 00 39 30 00 00 39 30 00 00 01 00 00 00 05 00 00 00"
     "11 11 11 11 11 11 11 11 22 22 22 22 22 22 22 22 ef cd ab 89 67 45 23 01 ef be fe ca ce fa ed fe"
     "1a 00 00 00 00 00 00 00 68 65 6c 6c 6f", 0x15351C97, 0x84A1424F),
    ("get_done-little", "91 1b e9 0b 12 00 d7 00 3c 00 00 00 00 00 00 00" + HEAD_LITTLE +
     "07 00 00 00 00 00 00 00 c3 ff ff ff", 0x065E151E, 0x2E2133EB),
)

GOLDEN_REJECTS = (
    ("reject-little", "91 1b e9 0b 12 00 07 00 f6 e5 d4 c3 b2 a1 05 00 08 00 01 01 00 10 00 00"),
    ("reject-big", "0b e9 1b 91 00 12 07 00 00 05 a1 b2 c3 d4 e5 f6 00 08 01 01 00 00 10 00"),
)


def patch(data, offset, order, size, value):
    """data with the number at offset replaced; size in bytes, value may be negative."""
    number = (value & (1 << 8 * size) - 1).to_bytes(size, order)
    return data[:offset] + number + data[offset + size:]


def lnet(kind, payload_length=0, dest=SINK, source=SOURCE):
    """An LNet header whose every field has a value of its own."""
    handle = {"wh_interface_cookie": 0x8182838485868788, "wh_object_cookie": 0x9192939495969798}
    hdr = {"dest_nid": dest, "src_nid": source, "dest_pid": 12345, "src_pid": 0x80003039,
           "type": codec.LNET_NUMBERS[kind], "payload_length": payload_length}
    variants = {"ACK": {"dst_wmd": handle, "match_bits": 0xA1A2A3A4A5A6A7A8, "mlength": 0x00012345},
                "PUT": {"ack_wmd": handle, "match_bits": 0xA1A2A3A4A5A6A7A8, "hdr_data": 0xB1B2B3B4B5B6B7B8,
                        "ptl_index": 26, "offset": 0xC1C2C3C4},
                "GET": {"return_wmd": handle, "match_bits": 0xA1A2A3A4A5A6A7A8, "ptl_index": 8,
                        "src_offset": 0xD1D2D3D4, "sink_length": 0x00100000},
                "REPLY": {"dst_wmd": handle}}
    return {**hdr, **variants[kind]}


def payload_of(length):
    return bytes((7 * index + (index >> 8)) & 255 for index in range(length))


def desc(count=1, nob=4096, address=0x00007F1234567800):
    """A descriptor of count fragments of nob bytes; each address is 4096 bytes after the one before."""
    return {"rd_key": 0x80ABCD01, "rd_frags": [{"rf_nob": nob, "rf_addr": address + 4096 * index}
                                               for index in range(count)]}


def body(name, lnet_kind=None, count=1, payload_length=5, status=65536):
    if name == "NOOP":
        return {}
    if name in ("CONNREQ", "CONNACK"):
        return {"ibcp_queue_depth": 0x0108, "ibcp_max_frags": 257, "ibcp_max_msg_size": 4096}
    if name == "IMMEDIATE":
        kind = lnet_kind or "PUT"
        length = payload_length if kind in ("PUT", "REPLY") else 0
        return {"hdr": lnet(kind, length), "payload": payload_of(length)}
    if name == "PUT_REQ":
        return {"hdr": lnet(lnet_kind or "PUT", 65536), "ibprm_cookie": 0xE1E2E3E4E5E6E7E8}
    if name == "PUT_ACK":
        return {"ibpam_src_cookie": 0xE1E2E3E4E5E6E7E8, "ibpam_dst_cookie": 0xF1F2F3F4F5F6F7F8,
                "ibpam_rd": desc(count)}
    if name == "GET_REQ":
        return {"hdr": lnet("GET"), "ibgm_cookie": 0xE1E2E3E4E5E6E7E8, "ibgm_rd": desc(count)}
    return {"ibcm_cookie": 0xE1E2E3E4E5E6E7E8, "ibcm_status": status}


def message(name, order="little", flavour="none", **fields):
    """A legal message of type name, as codec.encode takes it. fields: those of body()."""
    return {"byte_order": order, "ibm_version": 0x12, "ibm_type": codec.TYPE_NUMBERS[name], "ibm_credits": 7,
            "cksum_flavour": flavour, "ibm_srcnid": SOURCE, "ibm_srcstamp": SOURCE_STAMP, "ibm_dstnid": SINK,
            "ibm_dststamp": SINK_STAMP, "body": body(name, **fields)}


def sample(name, order="little", flavour="none", **fields):
    return codec.encode(message(name, order, flavour, **fields))


def with_both_sums(data, order):
    """The message with other last 32 bytes, which make its two sums equal.

    A byte that gets its highest bit adds 256 more to the unsigned sum, rotated by its distance from the end.
    """
    data = bytearray(data[:-32] + b"a" * 32)
    plain, signed = codec.message_checksums(data, len(data))
    missing = (signed - plain) % (2 ** 32 - 1)
    for i in range(32):
        data[len(data) - 1 - i] |= (missing >> (i + 8) % 32 & 1) << 7
    return with_checksum(bytes(data), order)


def with_checksum(data, order, flavour="unsigned"):
    """data with the checksum over its own nob bytes, or over all bytes if nob is larger than data."""
    nob = int.from_bytes(data[8:12], order)
    sums = codec.message_checksums(data, min(nob, len(data)))
    return patch(data, 12, order, 4, sums[flavour == "signed"])
