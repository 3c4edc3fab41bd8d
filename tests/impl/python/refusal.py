# SPDX-License-Identifier: MIT
"""Shared by all stages: refusals, numbers of the JSON forms, and the limits of docs/mapping.md."""

TRANSFER_BYTES = 1 << 20
LAST = (1 << 64) - 1
PAGE_SIZES = (4096, 16384, 65536)
MAX_FRAGS = 257


class Refuse(Exception):
    """A stage's refusal: the name of the errno, the rule id, the value found, and the limit and index if there are any."""

    def __init__(self, errno, rule, value, limit=None, index=None):
        super().__init__(rule)
        self.form = {"errno": errno, "rule": rule, "value": to_form(value)}
        if limit is not None:
            self.form["limit"] = to_form(limit)
        if index is not None:
            self.form["index"] = index


def to_form(value):
    """A length as the forms write it: an integer below 2^63, otherwise a string "0x..."."""
    return value if value < 1 << 63 else hex(value)


def number(value):
    """The integer value of a form's member, which is a number or a string "0x..."."""
    return int(value, 16) if isinstance(value, str) else value


def spans(items, address, length):
    """Pairs (address, length) of a form's list."""
    return [(number(item[address]), item[length]) for item in items]


def check_page_size(stage, page_bytes):
    if page_bytes not in PAGE_SIZES:
        raise Refuse("EINVAL", stage + "/page-size", page_bytes, PAGE_SIZES[-1])
