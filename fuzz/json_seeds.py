# SPDX-License-Identifier: MIT
"""Seeds of the fuzz target json: a valid text of each form, and the number of the allocation that fails (fuzz/json.c)."""

import json
import struct
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# In the order of readers[] in fuzz/json.c; frames come after them.
READERS = ("case", "answer", "msg_decode/output", "msg_encode/output", "reject_encode/input", "reject_decode/output",
           "sg_build/input", "sg_build/output", "dma_map/input", "dma_map/output", "reg_plan/input", "reg_plan/output",
           "rdma_plan/input", "rdma_plan/output", "scenario", "frames")


def form(name, **members):
    return {"form": f"o2ref/{name}", "version": 1, **members}


MESSAGE = {"byte_order": "little", "ibm_version": 18, "ibm_type": "PUT_ACK", "ibm_credits": 0, "ibm_nob": 84,
           "cksum_flavour": "none", "ibm_srcnid": "192.168.10.1@o2ib", "ibm_srcstamp": "0x5a1b2c3d4e5f6",
           "ibm_dstnid": "192.168.10.2@o2ib", "ibm_dststamp": "0x5aabbccddeeff",
           "body": {"ibpam_src_cookie": "0x1122334455667788", "ibpam_dst_cookie": "0x99aabbccddeeff00",
                    "ibpam_rd": {"rd_key": "0xabcd01", "rd_frags": [{"rf_nob": 65536, "rf_addr": "0x7f1234567800"}]}}}
REJECT = {"byte_order": "big", "ibr_magic": "o2iblnd", "ibr_version": 18, "ibr_why": 3, "ibr_incarnation": "0x5a1b2c3d4e5f6",
          "ibr_cp": {"ibcp_queue_depth": 8, "ibcp_max_frags": 256, "ibcp_max_msg_size": 4096}}
OPTIONS = {"max_frags": 257, "require_checksum": False, "any_lnd": True, "tolerate_immediate_checksum": False}
WIRE_REFUSED = {"errno": "EPROTO", "rule": "wire/header/version", "class": "connection", "field": "ibm_version",
                "offset_bytes": 4, "value": 7, "limit": 18}
REFUSED = {"errno": "EINVAL", "rule": "dma/count", "field": "count", "value": 0, "limit": 257, "index": 3}
SPACE = {"page_bytes": 4096, "npages": 8, "ranges": [{"base": "0x1000", "pages": [3, 1]}, {"base": "0x8000", "pages": [7]}]}
KIOV = {"kind": "kiov", "offset": 0, "nob": 8,
        "pieces": [{"page": 1, "offset": 2, "len": 3}, {"page": 4, "offset": 5, "len": 6}]}
IOV = {"kind": "iov", "offset": 1, "nob": 5, "pieces": [{"base": "0x1003", "len": 9}]}
LIST = {"gaps": True, "nob": 9, "entries": [{"page": 1, "offset": 2, "length": 3}, {"page": 4, "offset": 5, "length": 6}]}
BUS = {"kind": "bus", "page_bytes": 4096, "npages": 8, "base": "0x10000", "unmapped": []}
VIRTUAL = {"kind": "virtual", "page_bytes": 4096, "npages": 8, "base": "0x10000", "unmapped": [0, 7]}
IOMMU = {"kind": "iommu", "page_bytes": 4096, "npages": 3, "base": "0x10000", "unmapped": [],
         "iommu": {"device_pages": [2, 0, 1], "merge": "0x1", "fault": "none"}}
SEGMENTS = {"nob": 9, "segments": [{"addr": "0x1000", "length": 4}, {"addr": "0x2000", "length": 5}]}
REQUEST = {"mode": "fmr", "side": "sink", "page_bytes": 4096, "max_pages": 257, "peer_max_frags": 256, "gaps": False}
PHYS = {**REQUEST, "mode": "phys", "iova": "0x100000000000", "contiguous": True}
PLAN = {"mode": "fmr", "side": "sink", "page_bytes": 4096, "local_write": True, "remote_write": False, "iova": "0x0",
        "length": 4, "page_offset": 0, "pages": ["0x1000", "0x2000"], "frags": [{"rf_nob": 4, "rf_addr": "0x0"}]}
GAPS = {**PLAN, "mode": "fastreg_gaps", "entries": [{"addr": "0x10000e00", "length": 512}]}
SOURCE = {"rd_key": "0x1", "rd_frags": [{"rf_nob": 4, "rf_addr": "0x0"}]}
SINK = {"rd_key": "0x2", "rd_frags": [{"rf_nob": 4, "rf_addr": "0x9"}, {"rf_nob": 5, "rf_addr": "0x8"}]}
CHAIN = {"lkey": "0x1", "rkey": "0x2", "nob": 4, "wr": [{"remote_addr": "0x9", "length": 4, "first_sge": 0, "num_sge": 2}],
         "sge": [{"addr": "0x0", "length": 3}, {"addr": "0x5", "length": 1}]}
NODE = {"mode": "fmr", "max_pages": 257, "iova": "0x0", "key": "0x51", "space": SPACE, "buffer": KIOV, "device": IOMMU}

DECODE = form("msg_decode/input", bytes="911be90b1200d404", options=OPTIONS)
ENCODE = form("msg_encode/input", message=MESSAGE, options=OPTIONS)
SG = form("sg_build/input", max_entries=257, space=SPACE, buffer=KIOV)
DMA = form("dma_map/input", device=VIRTUAL, list=LIST)
REG = form("reg_plan/input", request=REQUEST, list=SEGMENTS)
RDMA = form("rdma_plan/input", nob=4, limits={"max_wrs": 257, "wrq_sge": 2}, source=SOURCE, sink=SINK)
TRANSFER = form("transfer/input", op="put", max_frags=257, wrq_sge=2, source=NODE, sink={**NODE, "device": VIRTUAL})
ANSWERS = {
    "decoded": (DECODE, form("msg_decode/output", message=MESSAGE)),
    "encoded": (ENCODE, form("msg_encode/output", bytes="911be90b")),
    "list": (SG, form("sg_build/output", list=LIST)),
    "segments": (DMA, form("dma_map/output", list=SEGMENTS)),
    "plan": (REG, form("reg_plan/output", plan=PLAN)),
    "chain": (RDMA, form("rdma_plan/output", plan=CHAIN)),
    "transfer": (TRANSFER, form("transfer/output", source=PLAN, sink=PLAN, plan=CHAIN)),
    "refused": (TRANSFER, form("transfer/output", refused={"errno": "EFBIG", "rule": "TooManyFragments", "where": "sink"})),
    "not-implemented": (SG, form("sg_build/output", not_implemented=True)),
}


def texts():
    """Name of a seed, its reader, and its text."""
    for name, asked in (("decode", DECODE), ("encode", ENCODE), ("sg", SG), ("dma", DMA), ("reg", REG), ("rdma", RDMA),
                        ("transfer", TRANSFER)):
        yield f"case-{name}", "case", asked
    for name, (asked, answer) in ANSWERS.items():
        yield f"answer-{name}", "answer", {"asked": asked, "answer": answer}
    yield "message", "msg_decode/output", form("msg_decode/output", message=MESSAGE)
    yield "message-refused", "msg_decode/output", form("msg_decode/output", refused=WIRE_REFUSED)
    yield "bytes", "msg_encode/output", form("msg_encode/output", bytes="911be90b")
    yield "reject", "reject_encode/input", form("reject_encode/input", reject=REJECT)
    yield "rejected", "reject_decode/output", form("reject_decode/output", reject=REJECT)
    yield "sg-kiov", "sg_build/input", SG
    yield "sg-iov", "sg_build/input", {**SG, "buffer": IOV}
    yield "sg-list", "sg_build/output", form("sg_build/output", list=LIST)
    for name, device in (("bus", BUS), ("virtual", VIRTUAL), ("iommu", IOMMU)):
        yield f"dma-{name}", "dma_map/input", {**DMA, "device": device}
    yield "dma-list", "dma_map/output", form("dma_map/output", list=SEGMENTS)
    yield "dma-refused", "dma_map/output", form("dma_map/output", refused=REFUSED)
    yield "reg-fmr", "reg_plan/input", REG
    yield "reg-phys", "reg_plan/input", {**REG, "request": PHYS}
    yield "plan", "reg_plan/output", form("reg_plan/output", plan=PLAN)
    yield "plan-gaps", "reg_plan/output", form("reg_plan/output", plan=GAPS)
    yield "rdma", "rdma_plan/input", RDMA
    yield "chain", "rdma_plan/output", form("rdma_plan/output", plan=CHAIN)
    yield "scenario", "scenario", json.loads((ROOT / "corpus/transfer/scenario/one-byte.json").read_text())


def frame(value):
    text = json.dumps(value).encode()
    return struct.pack("<I", len(text)) + text


def seeds():
    """The first bytes select the reader, the allocation that fails in reading, and the one that fails in writing."""
    found = {}
    for name, reader, value in texts():
        text = json.dumps(value, separators=(",", ":")).encode()
        for nth in (0, 1, 2, 3):
            found[f"{name}-{nth}" if nth else name] = bytes((READERS.index(reader), nth, 5 * nth)) + text
    two = frame(ANSWERS["list"][1]) + frame([1]) + struct.pack("<I", 3) + b"{}}" + struct.pack("<I", 2**31)
    found["frames"] = bytes((READERS.index("frames"), 0, 0)) + two
    return found
