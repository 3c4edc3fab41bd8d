# SPDX-License-Identifier: MIT
"""The flat form of vectors (corpus/vectors/vectors.txt), for programs without a JSON reader; see its README."""

import codec

ORDER_NUMBERS = {name: number for number, name in enumerate(codec.ORDERS)}
FLAVOUR_NUMBERS = {name: number for number, name in enumerate(codec.FLAVOURS)}


def flatten(value):
    """Every field of a decoded dict in its order: name=hexadecimal, a negative one in 64 bits of two's complement."""
    parts = []
    for key, each in value.items():
        if isinstance(each, dict):
            parts += [flatten(each)] if each else []
        elif key == "rd_frags":
            parts += [f"frag={frag['rf_nob']:x}@{frag['rf_addr']:x}" for frag in each]
        elif key == "byte_order":
            parts.append(f"{key}={ORDER_NUMBERS[each]:x}")
        elif key == "cksum_flavour":
            parts.append(f"{key}={FLAVOUR_NUMBERS[each]:x}")
        elif key == "payload":
            parts.append(f"payload={each.hex()}")
        else:
            parts.append(f"{key}={each & codec.U64:x}")
    return ",".join(parts)


def number(value):
    return f"{int(value, 16) if isinstance(value, str) else int(value) & codec.U64:x}"


def pairs(members):
    return ",".join(f"{key}={number(value)}" for key, value in members.items()) or "-"


def refusal(refused):
    members = {key: refused[key] for key in ("offset_bytes", "value", "limit", "index") if key in refused}
    return f"{refused['rule']},{refused['class']},{refused['errno']},{refused['field']},{pairs(members)}"


def flat_line(test):
    """id, kind, options, bytes, edits, result, refusal or fields, canonical; separated by tabs, "-" if empty."""
    outcome = refusal(test["refused"]) if "refused" in test else test.get("flat", "-")
    return "\t".join((test["id"], test["kind"], pairs(test.get("options", {})), test["bytes"] or "-",
                      pairs(test.get("edits", {})), test["result"], outcome, test.get("canonical", "-")))
