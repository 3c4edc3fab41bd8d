# SPDX-License-Identifier: MIT
"""The reject record: docs/wire.md, "Reject record". From that text alone, as codec.py is."""

import struct

from codec_base import ORDERS, Refused, local

MAGICS = (0x0BE91B91, 0x45726963)
RECORD_BYTES = 24
OFFSETS = {"ibr_incarnation": 8, "ibcp_queue_depth": 16, "ibcp_max_frags": 18, "ibcp_max_msg_size": 20}


def check_version_and_reason(version, why):
    """R6 and R7."""
    if version not in (0x11, 0x12):
        raise Refused("wire/reject/version", "ibr_version", 4, version, 0x12)
    if not 1 <= why <= 9:
        raise Refused("wire/reject/why", "ibr_why", 6, why, 9)


def decode(data):
    """The record at the start of data, as a dict of numbers, or Refused."""
    if len(data) < 7:
        raise Refused("wire/reject/short-for-why", "length_bytes", 0, len(data), 7)
    for byte_order, order in ORDERS.items():
        magic, version, why = struct.unpack_from(order + "IHB", data)
        if magic in MAGICS:
            break
    else:
        raise Refused("wire/reject/magic", "ibr_magic", 0, struct.unpack_from("<I", data)[0], MAGICS[0])
    check_version_and_reason(version, why)
    record = {"byte_order": byte_order, "ibr_magic": magic, "ibr_version": version, "ibr_why": why,
              **dict.fromkeys(OFFSETS, 0)}
    if version == 0x11:
        return record
    if len(data) < RECORD_BYTES:
        raise Refused("wire/reject/short-for-params", "length_bytes", 0, len(data), RECORD_BYTES)
    record.update(zip(OFFSETS, struct.unpack_from(order + "QHHI", data, 8)))
    return record


def encode(record, capacity=RECORD_BYTES):
    """The 24 bytes of record, or Refused."""
    if record["byte_order"] not in ORDERS:
        raise local("wire/reject/order", "order", record["byte_order"], 1)
    if record["ibr_version"] == 0x11:
        for name, offset in OFFSETS.items():
            if record[name]:
                raise Refused("wire/reject/version-1-params", name, offset, record[name], 0, error="EINVAL",
                              kind="local")
    if capacity < RECORD_BYTES:
        raise local("wire/reject/capacity", "capacity_bytes", capacity, RECORD_BYTES, "ENOSPC")
    check_version_and_reason(record["ibr_version"], record["ibr_why"])
    return struct.pack(ORDERS[record["byte_order"]] + "IHBBQHHI", record["ibr_magic"], record["ibr_version"],
                       record["ibr_why"], 0, *(record[name] for name in OFFSETS))
