# SPDX-License-Identifier: MIT
"""device, modes and queue sizes: docs/modes.md, "Choosing a mode"; docs/transport.md, "Sizes" and "Tunables"."""

from refusal import MAX_FRAGS, Refuse

CAPABILITIES = {"global": ("global",), "fmr": ("fmr",), "fastreg": ("fastreg",), "user": (), "phys": (),
                "fastreg_gaps": ("fastreg", "gaps")}


def choose(form):
    """The mode of a transfer."""
    tunable, segments, prefers_mapping = form["map_on_demand"], form["segments"], form["preference"] == "mapping"
    if tunable > 256:
        raise Refuse("EINVAL", "choose/map-on-demand", tunable, 256)
    if segments == 0:
        raise Refuse("EINVAL", "choose/segments", segments, 1)
    mapped = tunable != 0 if prefers_mapping else tunable != 0 and segments >= max(tunable, 2)
    if form["global"] and not mapped:
        return "global"
    if form["fmr"]:
        return "fmr"
    if form["fastreg"]:
        return "fastreg_gaps" if form["gaps"] and form["use_gaps"] else "fastreg"
    if form["global"] and prefers_mapping:
        return "global"
    raise Refuse("ENOSYS", "choose/no-way-to-register", 0)


def clamp(value, low, high):
    return max(low, min(value, high))


def check(form):
    old = form["ibm_version"] == 0x11
    for rule, name, low, high in (("queue-depth", "queue_depth", 3 if old else 2, 255), ("max-frags", "max_frags", 1, MAX_FRAGS),
                                  ("wrq-sge", "wrq_sge", 1, 32), ("device-sge", "wrq_sge", 1, form["max_sge"]),
                                  ("version", "ibm_version", 0x11, 0x12), ("peer-tx-credits", "peer_tx_credits", 0, 255)):
        if not low <= form[name] <= high:
            raise Refuse("EINVAL", "conn/" + rule, form[name], high)


def queues(depth, sends, form):
    """Sizes of the send, receive and completion queue."""
    send = max(depth, sends) * (form["max_frags"] + 3)
    receive = 2 * depth + (0 if form["ibm_version"] == 0x11 else 2)
    return send, receive, send + receive


def fit(form):
    """The largest queue depth and concurrent sends, up to the configured values, that the device has room for."""
    old = form["ibm_version"] == 0x11
    depth = form["queue_depth"]
    tx_credits = form["peer_tx_credits"] or depth
    sends = clamp(form["concurrent_sends"] or tx_credits, tx_credits // 2, 2 * tx_credits)
    if old:
        sends = clamp(sends, 4, 16)
    sends = min(sends, 2 * depth)
    least = max(3, 4) if old else 2
    while True:
        send, receive, both = queues(depth, sends, form)
        if max(send, receive) <= form["max_qp_wr"] and both <= form["max_cqe"]:
            return depth, sends
        full = max(depth, sends) - 1
        if full < least:
            raise Refuse("EINVAL", "conn/device-queue", send, form["max_qp_wr"])
        depth, sends = min(depth, full), min(sends, full)


def device(form):
    mode = choose(form)
    check(form)
    depth, sends = fit(form)
    send, receive, both = queues(depth, sends, form)
    return {"device": {**{name: all(form[part] for part in parts) for name, parts in CAPABILITIES.items()}, "mode": mode,
                       "queue_depth": depth, "concurrent_sends": sends, "send_wrs": send, "recv_wrs": receive,
                       "cq_entries": both}}
