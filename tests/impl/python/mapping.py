# SPDX-License-Identifier: MIT
"""sg_build, dma_map and rdma_plan from docs/mapping.md.  Each takes an input form, and returns the members of its
output form or raises Refuse."""

from refusal import LAST, MAX_FRAGS, TRANSFER_BYTES, Refuse, check_page_size, number, spans


# --- sg_build -------------------------------------------------------------------------------------------------------

def check_kiov(space, piece, index):
    page, offset, length = piece["page"], piece["offset"], number(piece["len"])
    if page >= space["npages"]:
        raise Refuse("EINVAL", "sg/kiov/no-such-page", page, space["npages"], index)
    if offset + length > space["page_bytes"]:
        raise Refuse("EINVAL", "sg/kiov/entry-past-page", length, max(space["page_bytes"] - offset, 0), index)


def check_iov(_space, piece, index):
    base, length = number(piece["base"]), number(piece["len"])
    if base + length > LAST:
        raise Refuse("EINVAL", "sg/iov/wraps", length, LAST - base, index)


def page_behind(space, address, index):
    size = space["page_bytes"]
    for each in space["ranges"]:
        slot = (address - number(each["base"])) // size
        if 0 <= slot < len(each["pages"]) and each["pages"][slot] < space["npages"]:
            return each["pages"][slot]
    raise Refuse("EFAULT", "sg/iov/no-page", address, index=index)


def kiov_cuts(space, piece, skip, length, _index):
    """The parts of a piece, as (function that finds the page, offset in the page, length).  A kiov has one part."""
    return [(lambda: piece["page"], piece["offset"] + skip, length)]


def iov_cuts(space, piece, skip, length, index):
    address, size = number(piece["base"]) + skip, space["page_bytes"]
    end = address + length
    while address < end:
        part = min(size - address % size, end - address)
        yield (lambda at=address: page_behind(space, at, index)), address % size, part
        address += part


KINDS = {"kiov": (check_kiov, kiov_cuts), "iov": (check_iov, iov_cuts)}


def check_sg(form):
    space, buffer = form["space"], form["buffer"]
    nob = number(buffer["nob"])
    check_page_size("sg", space["page_bytes"])
    if form["max_entries"] not in (256, 257):
        raise Refuse("EINVAL", "sg/max-entries", form["max_entries"], MAX_FRAGS)
    if not 1 <= nob <= TRANSFER_BYTES:
        raise Refuse("EINVAL", "sg/nob", nob, TRANSFER_BYTES)
    return nob


def sg_build(form):
    nob, space, buffer = check_sg(form), form["space"], form["buffer"]
    first, end, at = number(buffer["offset"]), number(buffer["offset"]) + nob, 0
    check, cut = KINDS[buffer["kind"]]
    entries = []
    for index, piece in enumerate(buffer["pieces"]):
        if at >= end:
            break
        length = number(piece["len"])
        begin, stop = max(at, first), min(at + length, end)
        at += length
        if begin >= stop:
            continue
        check(space, piece, index)
        for page, offset, part in cut(space, piece, begin - (at - length), stop - begin, index):
            if len(entries) == form["max_entries"]:
                raise Refuse("EFAULT", "sg/too-many-entries", len(entries) + 1, form["max_entries"])
            entries.append({"page": page(), "offset": offset, "length": part})
    if at < end:
        raise Refuse("EINVAL", "sg/vector-too-short", nob, max(at - first, 0))
    gaps = any(entry["offset"] for entry in entries[1:]) or any(
        entry["offset"] + entry["length"] != space["page_bytes"] for entry in entries[:-1])
    return {"list": {"gaps": gaps, "nob": nob, "entries": entries}}


# --- dma_map --------------------------------------------------------------------------------------------------------

def check_device(device):
    size, base, npages = device["page_bytes"], number(device["base"]), device["npages"]
    check_page_size("dma", size)
    if base % size:
        raise Refuse("EINVAL", "dma/base-alignment", base, size)
    if npages > (LAST - base) // size:
        raise Refuse("EINVAL", "dma/base-wraps", npages, (LAST - base) // size)


def check_fault(fault, count):
    """The result of mapping a legal list: refuse if the IOMMU is set to fail."""
    if fault == "nothing":
        raise Refuse("EIO", "dma/iommu/mapped-nothing", 0, count)
    if fault != "none":
        raise Refuse(fault.upper(), "dma/iommu/failed", count, count)


def place_of(entry, device, index):
    """The device address of an entry, after its checks."""
    page, npages = entry["page"], device["npages"]
    if page >= npages:
        raise Refuse("EINVAL", "dma/no-such-page", page, npages, index)
    room = max(device["page_bytes"] - entry["offset"], 0)
    if not 1 <= entry["length"] <= room:
        raise Refuse("EINVAL", "dma/entry-past-page", entry["length"], room, index)
    if device["kind"] == "virtual" and page in device["unmapped"]:
        raise Refuse("EFAULT", "dma/virtual/no-cpu-mapping", page, index=index)
    if device["kind"] == "iommu":
        there = device["iommu"]["device_pages"][page]
        if there >= npages:
            raise Refuse("EINVAL", "dma/iommu/no-such-device-page", there, npages, page)
        page = there
    return number(device["base"]) + page * device["page_bytes"] + entry["offset"]


def dma_map(form):
    device, entries = form["device"], form["list"]["entries"]
    check_device(device)
    if not 1 <= len(entries) <= MAX_FRAGS:
        raise Refuse("EINVAL", "dma/count", len(entries), MAX_FRAGS)
    iommu = device["iommu"] if device["kind"] == "iommu" else {"merge": 0, "fault": "none"}
    merge, segments, end = number(iommu["merge"]), [], None
    for index, entry in enumerate(entries):
        address = place_of(entry, device, index)
        if merge >> index % 64 & 1 and address == end:
            segments[-1]["length"] += entry["length"]
        else:
            segments.append({"addr": hex(address), "length": entry["length"]})
        end = address + entry["length"]
    check_fault(iommu["fault"], len(entries))
    return {"list": {"nob": sum(entry["length"] for entry in entries), "segments": segments}}


# --- rdma_plan ------------------------------------------------------------------------------------------------------

def check_rdma(form, lists):
    limits, nob = form["limits"], number(form["nob"])
    for name, top in (("max_wrs", MAX_FRAGS), ("wrq_sge", 32)):
        if not 1 <= limits[name] <= top:
            raise Refuse("EINVAL", "rdma/" + name.replace("_", "-"), limits[name], top)
    for name, frags in lists.items():
        if len(frags) > MAX_FRAGS:
            raise Refuse("EINVAL", f"rdma/{name}-nfrags", len(frags), MAX_FRAGS)
    if nob > TRANSFER_BYTES:
        raise Refuse("EINVAL", "rdma/nob", nob, TRANSFER_BYTES)
    return nob


def take(frags, nob, name):
    """Yield each non-empty fragment as [address, bytes left]; the caller consumes it with advance()."""
    for address, length in frags:
        if length:
            yield [address, length]
    raise Refuse("EPROTO", f"rdma/{name}-too-small", nob, sum(length for _, length in frags))


def advance(cursor, part):
    return [(cursor[0] + part) & LAST, cursor[1] - part]


def rdma_plan(form):
    lists = {name: spans(form[name]["rd_frags"], "rf_addr", "rf_nob") for name in ("source", "sink")}
    left = nob = check_rdma(form, lists)
    cursors = {name: take(frags, nob, name) for name, frags in lists.items()}
    source, sink, requests, gather = [0, 0], [0, 0], [], []
    limits, open_request = form["limits"], None
    while left:
        if not source[1]:
            source = next(cursors["source"])
        if not sink[1]:
            sink, open_request = next(cursors["sink"]), None
        if open_request is None or open_request["num_sge"] == limits["wrq_sge"]:
            if len(requests) == limits["max_wrs"]:
                raise Refuse("EMSGSIZE", "rdma/too-many-work-requests", len(requests) + 1, limits["max_wrs"])
            open_request = {"remote_addr": hex(sink[0]), "length": 0, "first_sge": len(gather), "num_sge": 0}
            requests.append(open_request)
        part = min(source[1], sink[1], left)
        gather.append({"addr": hex(source[0]), "length": part})
        open_request["length"] += part
        open_request["num_sge"] += 1
        source, sink, left = advance(source, part), advance(sink, part), left - part
    return {"plan": {"lkey": form["source"]["rd_key"], "rkey": form["sink"]["rd_key"], "nob": nob, "wr": requests,
                     "sge": gather}}
