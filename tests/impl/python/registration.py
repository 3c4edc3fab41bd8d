# SPDX-License-Identifier: MIT
"""reg_plan: docs/modes.md, sections "Registration modes" to "fastreg_gaps", and "Refusals of reg_plan"."""

from refusal import LAST, MAX_FRAGS, TRANSFER_BYTES, Refuse, check_page_size, number, spans


def check_request(request):
    check_page_size("reg", request["page_bytes"])
    if request["max_pages"] not in (256, 257):
        raise Refuse("EINVAL", "reg/max-pages", request["max_pages"], MAX_FRAGS)
    if request["side"] == "sink" and not 1 <= request["peer_max_frags"] <= MAX_FRAGS:
        raise Refuse("EINVAL", "reg/peer-max-frags", request["peer_max_frags"], MAX_FRAGS)


def check_segments(segments):
    if not 1 <= len(segments) <= MAX_FRAGS:
        raise Refuse("EINVAL", "reg/count", len(segments), MAX_FRAGS)
    total = 0
    for index, (address, length) in enumerate(segments):
        if length == 0:
            raise Refuse("EINVAL", "reg/empty-segment", 0, 1, index)
        if address + length > LAST:
            raise Refuse("EINVAL", "reg/segment-wraps", length, LAST - address, index)
        total += length
        if total > TRANSFER_BYTES:
            raise Refuse("EMSGSIZE", "reg/too-long", total, TRANSFER_BYTES, index)
    return total


def list_pages(request, segments, hole):
    """The pages that the segments span, and for each segment the offset of its first byte in these pages.

    hole: the rule that a list with an undeclared gap breaks.
    """
    size, limit = request["page_bytes"], request["max_pages"]
    pages, places, end = [], [], None
    for index, (address, length) in enumerate(segments):
        if not request["gaps"] and end not in (None, address) and (address % size or end % size):
            raise Refuse("EINVAL", hole, address, end, index)
        end = address + length
        first, last = address - address % size, (end - 1) // size * size
        if not pages or address % size == 0 or pages[-1] != first:
            pages.append(first)
        places.append((len(pages) - 1) * size + address % size)
        pages += range(first + size, last + size, size)
        if len(pages) > limit:
            raise Refuse("EINVAL", "reg/too-many-pages", limit + 1, limit, index)
    return pages, places


def check_run(rule, start, length, index=None):
    """Refuse a range of addresses that wraps.  index: the segment where it starts; None: an iova."""
    if start + length > LAST:
        raise Refuse("EINVAL", rule, length, LAST - start, index)


def plan_global(request, segments, nob):
    return {}, list(segments)


def paged(pages, iova, nob):
    return {"iova": iova, "length": nob, "pages": pages}


def plan_fmr(request, segments, nob):
    size = request["page_bytes"]
    pages, places = list_pages(request, segments, "reg/fmr/undeclared-gap")
    if request["gaps"]:
        frags = [(place, length) for place, (_, length) in zip(places, segments)]
        return paged(pages, min(places), max(map(sum, frags)) - min(places)), frags
    return paged(pages, places[0], nob), [(places[0], nob)]


def plan_fastreg(request, segments, nob):
    if request["gaps"]:
        raise Refuse("EPROTONOSUPPORT", "reg/fastreg/gaps", 1, 0)
    pages, _ = list_pages(request, segments, "reg/fastreg/short-map")
    start = segments[0][0]
    check_run("reg/fastreg/iova-wraps", start, nob, 0)
    return paged(pages, start, nob), [(start, nob)]


def plan_user(request, segments, nob):
    if not request["contiguous"]:
        raise Refuse("EPROTONOSUPPORT", "reg/user/not-contiguous", 0, 1)
    start = number(request["iova"])
    check_run("reg/user/address-wraps", start, nob)
    return {"iova": start, "length": nob}, [(start, nob)]


def plan_phys(request, segments, nob):
    size, iova = request["page_bytes"], number(request["iova"])
    if request["gaps"]:
        raise Refuse("EINVAL", "reg/phys/gaps", 1, 0)
    pages, places = list_pages(request, segments, "reg/phys/undeclared-gap")
    # The iova may be that of the first page or that of the first byte.
    if iova % size not in (0, places[0]):
        raise Refuse("EINVAL", "reg/phys/iova-alignment", iova, size)
    iova -= iova % size
    check_run("reg/phys/iova-wraps", iova, places[0] + nob)
    return paged(pages, iova + places[0], nob), [(iova + places[0], nob)]


def plan_fastreg_gaps(request, segments, nob):
    if len(segments) > request["max_pages"]:
        raise Refuse("EINVAL", "reg/fastreg_gaps/too-many-entries", len(segments), request["max_pages"])
    start = segments[0][0]
    check_run("reg/fastreg_gaps/iova-wraps", start, nob, 0)
    entries = [{"addr": hex(address), "length": length} for address, length in segments]
    return {"iova": start, "length": nob, "entries": entries}, [(start, nob)]


MODES = {"global": plan_global, "fmr": plan_fmr, "fastreg": plan_fastreg, "user": plan_user, "phys": plan_phys,
         "fastreg_gaps": plan_fastreg_gaps}


def reg_plan(form):
    request = form["request"]
    check_request(request)
    segments = spans(form["list"]["segments"], "addr", "length")
    nob = check_segments(segments)
    what, frags = MODES[request["mode"]](request, segments, nob)
    sink = request["side"] == "sink"
    if sink and len(frags) > request["peer_max_frags"]:
        raise Refuse("EFBIG", "reg/more-fragments-than-peer-accepts", len(frags), request["peer_max_frags"])
    plan = {"mode": request["mode"], "side": request["side"], "page_bytes": request["page_bytes"],
            "local_write": sink, "remote_write": sink, "iova": hex(what.get("iova", 0)),
            "length": what.get("length", 0), "page_offset": what.get("iova", 0) % request["page_bytes"],
            "pages": [hex(page) for page in what.get("pages", ())],
            "frags": [{"rf_nob": length, "rf_addr": hex(address)} for address, length in frags]}
    if "entries" in what:
        plan["entries"] = what["entries"]
    return {"plan": plan}
