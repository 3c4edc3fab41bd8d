# SPDX-License-Identifier: MIT
"""send_plan, the slot and gather entries of a SEND (docs/oracle.md, "A message as it is posted")."""

import codec
from mapping import sg_build
from refusal import MAX_FRAGS, Refuse, number
from transfer import prepare

HEADERS, SLOT = 120, 4096


def byte_at(page, offset):
    return (91 + page * 167 + offset * 13 + (offset >> 8) * 29) & 255


def payload_of(memory):
    entries = sg_build({"max_entries": MAX_FRAGS, "space": memory["space"], "buffer": memory["buffer"]})["list"]["entries"]
    return bytes(byte_at(entry["page"], entry["offset"] + at) for entry in entries for at in range(entry["length"]))


def registered(form):
    """The plan of the payload's registration; None if it cannot be registered or needs too many gather entries."""
    try:
        plan = prepare({"source": form["memory"], "max_frags": MAX_FRAGS}, "source", number(form["memory"]["buffer"]["nob"]))
    except Refuse:
        return None
    return plan if len(plan["frags"]) < form["max_sge"] else None


def send_plan(form):
    message = codec.from_json(form["message"])
    room = min(form["max_msg_size"], SLOT)
    nob = number(form["memory"]["buffer"]["nob"])
    if nob > max(room - HEADERS, 0):
        raise Refuse("EMSGSIZE", "conn/payload-too-long", nob, room - HEADERS)
    if nob > 0:
        message["body"]["payload"] = payload_of(form["memory"])
        message["body"]["hdr"]["payload_length"] = nob
    encoded = codec.encode(message, dict(codec.NO_OPTIONS, max_frags=form["max_frags"]))
    if len(encoded) > room:
        raise Refuse("ENOSPC", "wire/encode/capacity", len(encoded), room)
    plan = registered(form) if nob > 0 else None
    slot = encoded[:HEADERS] if plan else encoded
    entries = [{"addr": form["slot_addr"], "length": len(slot), "lkey": form["slot_lkey"]}]
    if plan is None:
        return {"send": {"slot": slot.hex(), "sge": entries}}
    entries += [{"addr": frag["rf_addr"], "length": frag["rf_nob"], "lkey": form["memory"]["key"]} for frag in plan["frags"]]
    return {"send": {"slot": slot.hex(), "sge": entries, "plan": plan}}
