# SPDX-License-Identifier: MIT
"""Questions, each for a clause that drawn cases almost never ask about. stage_vectors.py commits them.

RARE: for each stage, the questions by what they ask.
"""


def sg_build(offset, *pieces, ranges=()):
    """The piece that offset skips to its last byte is illegal; the others give 3 bytes."""
    return {"form": "o2ref/sg_build/input", "version": 1, "max_entries": 257,
            "space": {"page_bytes": 4096, "npages": 4, "ranges": list(ranges)},
            "buffer": {"kind": "iov" if ranges else "kiov", "offset": offset, "nob": 3, "pieces": list(pieces)}}


def dma_map(merge, *entries, kind="iommu"):
    """entries: (page, offset, length). The IOMMU has the pages in their order."""
    device = {"kind": kind, "page_bytes": 4096, "npages": 65, "base": "0x10000000", "unmapped": []}
    if kind == "iommu":
        device["iommu"] = {"device_pages": list(range(65)), "merge": hex(merge), "fault": "none"}
    return {"form": "o2ref/dma_map/input", "version": 1, "device": device,
            "list": {"gaps": True, "nob": sum(length for _, _, length in entries),
                     "entries": [{"page": page, "offset": offset, "length": length} for page, offset, length in entries]}}


def reg_plan_of(mode, *segments, iova=None, max_pages=257):
    """segments: (addr, length). iova: only for the modes that are told one."""
    told = {} if iova is None else {"iova": hex(iova), "contiguous": True}
    return {"form": "o2ref/reg_plan/input", "version": 1,
            "request": {"mode": mode, "side": "source", "page_bytes": 4096, "max_pages": max_pages, "peer_max_frags": 257,
                        "gaps": False, **told},
            "list": {"nob": sum(length for _, length in segments),
                     "segments": [{"addr": hex(addr), "length": length} for addr, length in segments]}}


def reg_plan(mode, length, iova=None, addr=0x10000100):
    """One segment at offset 0x100 of its page."""
    return reg_plan_of(mode, (addr, length), iova=iova)


NIDS = "010aa8c000000500f6e5d4c3b2a10500020aa8c000000500ffeeddccbbaa0500"


def decode(data):
    return {"form": "o2ref/msg_decode/input", "version": 1,
            "options": {"max_frags": 257, "require_checksum": False, "any_lnd": False, "tolerate_immediate_checksum": True},
            "bytes": data}


def msg_decode(lnet_type, payload_length, cksum="addbba00", start="911be90b1200d10779000000", end="00"):
    """A message with an LNet header and a wrong checksum: an IMMEDIATE with a byte behind its headers."""
    lnet = "020aa8c000000500010aa8c0000005003930000039300080" + f"{lnet_type:02x}000000{payload_length:02x}000000" + "00" * 40
    return decode(start + cksum + NIDS + lnet + end)


def keys(*last):
    """A device has not accepted the invalidate of a sink's key, so the key is alive. last: the event after that."""
    return {"form": "o2ref/keys/input", "version": 1, "order": "invalidate-last", "lkey": "0x100", "rkey": "0x200",
            "events": [{"event": "map", "side": "sink"}, {"event": "post"}, {"event": "complete", "fails_at": 1},
                       *({"event": event} for event in last)]}


def deliver(awaits, start, body):
    """body: what follows the cookie."""
    return {"form": "o2ref/deliver/input", "version": 1, "awaits": awaits, "max_frags": 257, "cookie": "0x1122334455667788",
            "nob": 4096, "bytes": start + "00000000" + NIDS + "8877665544332211" + body}


def put_nak(status):
    return deliver("PUT_REQ", "911be90b1200d3073c000000", f"{status:02x}000000")


def put_ack(awaits):
    return deliver(awaits, "911be90b1200d40754000000", "0100000000000000" "11000000" "01000000" "00100000" "0010000000000000")


def reject(why):
    node = {"ibm_version": 18, "queue_depth": 16, "max_frags": 257, "max_msg_size": 4096}
    return {"form": "o2ref/connect/input", "version": 1, "event": "reject", "cm_reason": 28, "nid": "0x50000c0a80a01",
            "incarnation": "0x5a1b2c3d4e5f6", "registers": True, "own": node, "asked": node,
            "bytes": f"911be90b1200{why:02x}00ffeeddccbbaa0500" + "0800" "0101" "00100000"}


def flow(*last):
    """The peer has credits again, but two requests without an answer, so no reservation. last: what follows."""
    request = [{"event": "receive", "type": "GET_REQ"}, {"event": "repost"}, {"event": "sent"}]  # a NOOP gives back the credit
    return {"form": "o2ref/flow/input", "version": 1, "ibm_version": 18, "queue_depth": 2, "high_water": 1,
            "concurrent_sends": 2, "keepalive_ms": 0, "events": [*request, *request, *last]}


def received(kind):
    return {"event": "receive", "type": kind}


def queued(kind):
    return {"event": "queue", "type": kind}


ACK, PUT, GET = 0, 1, 2
LAST_3 = {"page": 1, "offset": 0, "len": 3}
JOINED = ((1, 1, 2), (1, 3, 4))
AT_THE_END = ((2**64 - 0x2000, 0x1000), (0x10000000, 0x1000))

RARE = {
    "msg_decode": {
        "wrong-checksum/ack": msg_decode(ACK, 0),
        "wrong-checksum/ack-with-payload": msg_decode(ACK, 1),
        "wrong-checksum/get": msg_decode(GET, 0),
        "wrong-checksum/get-with-payload": msg_decode(GET, 1),
        "wrong-checksum/put-req": msg_decode(PUT, 1, start="911be90b1200d20780000000", end="0100000000000000"),
        # Of the signed bytes the sum is 0, so the checksum is 1.
        "right-checksum/sum-of-zero": decode("911be90b1200d0073000000001000000010aa8c000000500e43ac3fc9653947a"
                                             "020aa8c00000050091858a8d474c00d8"),
        # Implementations of one flavour of checksum tolerate one of these.
        "right-checksum/unsigned": msg_decode(PUT, 1, "377708b1"),
        "right-checksum/signed": msg_decode(PUT, 1, "deb40f0a"),
    },
    "sg_build": {
        "skipped/no-such-page": sg_build(5, {"page": 4, "offset": 0, "len": 5}, LAST_3),
        "skipped/past-page": sg_build(5, {"page": 0, "offset": 4092, "len": 5}, LAST_3),
        "skipped/wraps": sg_build(5, {"base": "0xfffffffffffffffb", "len": 5}, {"base": "0x1000", "len": 3},
                                  ranges=[{"base": "0x1000", "pages": [1]}]),
    },
    # Regions that end in front of the last address, which is legal, and those that take it in.
    "reg_plan": {
        "last-address/user": reg_plan("user", 0xff, iova=2**64 - 0x100),
        "last-address/user-wraps": reg_plan("user", 0x100, iova=2**64 - 0x100),
        "last-address/phys": reg_plan("phys", 0xeff, iova=2**64 - 0x1000),
        "last-address/phys-wraps": reg_plan("phys", 0xf00, iova=2**64 - 0x1000),
        "last-address/fastreg": reg_plan("fastreg", 0xeff, addr=2**64 - 0xf00),
        "last-address/fastreg-wraps": reg_plan_of("fastreg", *AT_THE_END),
        "last-address/fastreg_gaps-wraps": reg_plan_of("fastreg_gaps", *AT_THE_END),
        "last-address/fastreg_gaps": reg_plan("fastreg_gaps", 0xeff, addr=2**64 - 0xf00),
        "last-address/segment-wraps": reg_plan("global", 0xf00, addr=2**64 - 0xf00),
        # Two rules are broken; the list is looked at first.
        "order/gap-before-alignment": reg_plan_of("phys", (0x10000100, 16), (0x10003000, 16), iova=0x5000200),
        "limit/one-entry-more": reg_plan_of("fastreg_gaps", *((0x10000000 + i * 32, 16) for i in range(257)), max_pages=256),
        "limit/all-entries": reg_plan_of("fastreg_gaps", *((0x10000000 + i * 32, 16) for i in range(256)), max_pages=256),
    },
    "dma_map": {
        "joined-in-page/merged": dma_map(2, *JOINED),
        "joined-in-page/not-merged": dma_map(1, *JOINED),
        "joined-in-page/bus": dma_map(0, *JOINED, kind="bus"),
        "joined/entry-64": dma_map(1, *((page, 0, 4096) for page in range(65))),
    },
    "keys": {
        "key-stays-alive/unmap": keys("unmap"),
        "key-stays-alive/post": keys("post"),
        "key-stays-alive/complete": keys("complete"),
        "key-stays-alive/flush": keys() | {"events": [*keys()["events"], {"event": "flush", "lkey": "0x300", "rkey": "0x400"}]},
    },
    "deliver": {
        "nak-status/least": put_nak(1),
        "nak-status/none": put_nak(0),
        "other-step/put-ack-of-nothing": put_ack("nothing"),
        "other-step/put-ack-of-put-ack": put_ack("PUT_ACK"),
        "other-step/put-ack-of-get-req": put_ack("GET_REQ"),
        "other-step/put-ack": put_ack("PUT_REQ"),
    },
    "connect": {
        "reject/reason-0": reject(0),
    },
    "flow": {
        "reservations/get-req": flow(received("GET_REQ")),
        "reservations/put-req": flow(received("PUT_REQ")),
        "reservations/no-request": flow(received("IMMEDIATE")),
        "reservations/answered": flow(queued("GET_DONE"), received("PUT_REQ")),
        "reservations/put-done": flow(queued("PUT_REQ"), received("PUT_ACK"), queued("PUT_DONE"), received("GET_REQ")),
    },
}
