# SPDX-License-Identifier: MIT
"""transfer: all stages of both nodes (docs/oracle.md, "A whole transfer")."""

from mapping import dma_map, rdma_plan, sg_build
from refusal import Refuse, number
from registration import reg_plan


def one_range(buffer, nob):
    """Mode user: the address of the first byte, or None if the bytes are not one range of virtual addresses."""
    if buffer["kind"] != "iov":
        return None
    first, at, start, end = number(buffer["offset"]), 0, None, None
    for piece in buffer["pieces"]:
        length = number(piece["len"])
        low, high = max(at, first), min(at + length, first + nob)
        if low < high:
            address = number(piece["base"]) + low - at
            if end not in (None, address):
                return None
            start, end = address if start is None else start, address + high - low
        at += length
    return start


def prepare(form, side, nob):
    """The registration plan for nob bytes of one side's memory."""
    memory = form[side]
    buffer = dict(memory["buffer"], nob=nob)
    try:
        entries = sg_build({"max_entries": memory["max_pages"], "space": memory["space"], "buffer": buffer})["list"]
        segments = dma_map({"device": memory["device"], "list": entries})["list"]
        request = {"mode": memory["mode"], "side": side, "page_bytes": memory["space"]["page_bytes"],
                   "max_pages": memory["max_pages"], "peer_max_frags": form["max_frags"], "gaps": entries["gaps"],
                   "iova": memory["iova"]}
        if memory["mode"] == "user":
            start = one_range(buffer, nob)
            request.update(iova=start or 0, contiguous=start is not None)
        return reg_plan({"request": request, "list": segments})["plan"]
    except Refuse as refusal:
        refusal.form["where"] = side
        raise


def transfer(form):
    offered = {side: number(form[side]["buffer"]["nob"]) for side in ("source", "sink")}
    moved = min(offered.values())
    first, then = ("source", "sink") if form["op"] == "put" else ("sink", "source")
    plans = {first: prepare(form, first, offered[first])}
    plans[then] = prepare(form, then, moved)
    descriptors = {side: {"rd_key": form[side]["key"], "rd_frags": plans[side]["frags"]} for side in plans}
    try:
        writes = rdma_plan({"nob": moved, "limits": {"max_wrs": form["max_frags"], "wrq_sge": form["wrq_sge"]},
                            **descriptors})
    except Refuse as refusal:
        refusal.form["where"] = "writes"
        raise
    return {**plans, **writes}
