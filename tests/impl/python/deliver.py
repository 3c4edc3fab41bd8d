# SPDX-License-Identifier: MIT
"""deliver, what a received message reports to LNet (docs/oracle.md, "A message that has arrived")."""

import codec
from refusal import Refuse, number

ANSWERED = {"PUT_ACK": "PUT_REQ", "PUT_NAK": "PUT_REQ", "PUT_DONE": "PUT_ACK", "GET_DONE": "GET_REQ"}
COOKIES = {"PUT_ACK": "ibpam_src_cookie"}
BELIEVED = {"PUT_NAK": lambda status, nob: status == 0, "PUT_DONE": lambda status, nob: status == nob,
            "GET_DONE": lambda status, nob: status <= nob}
RULES = {"PUT_NAK": "conn/nak-status", "PUT_DONE": "conn/put-done-status", "GET_DONE": "conn/get-done-status"}


def close(rule, value=0):
    refusal = Refuse("EPROTO", rule, value)
    refusal.form["class"] = "connection"
    raise refusal


def outcome(kind, body, nob):
    status = body["ibcm_status"]
    if status < 0:
        return 0, status
    if not BELIEVED[kind](status, nob):
        close(RULES[kind], status)
    return status, 0


def deliver(form):
    message = codec.decode(bytes.fromhex(form["bytes"]), dict(codec.NO_OPTIONS, max_frags=form["max_frags"]))
    kind, body = codec.TYPES[message["ibm_type"]], message["body"]
    length = status = 0
    if kind in ("CONNREQ", "CONNACK"):
        close("conn/unexpected-type", message["ibm_type"])
    if kind in ANSWERED and (form["awaits"] != ANSWERED[kind] or
                             body[COOKIES.get(kind, "ibcm_cookie")] != number(form["cookie"])):
        close("conn/unknown-cookie")
    if kind in ("IMMEDIATE", "PUT_REQ"):
        length = body["hdr"]["payload_length"]
    elif kind in ("PUT_ACK", "GET_REQ"):
        length = sum(frag["rf_nob"] for frag in body["ibpam_rd" if kind == "PUT_ACK" else "ibgm_rd"]["rd_frags"])
    elif kind in RULES:
        length, status = outcome(kind, body, number(form["nob"]))
    return {"deliver": {"length": length, "status": status}}
