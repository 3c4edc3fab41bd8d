# SPDX-License-Identifier: MIT
"""What every stage here shares: refusals, numbers of the JSON forms, and limits of docs/mapping.md."""

TRANSFER_BYTES = 1 << 20
LAST = (1 << 64) - 1
PAGE_SIZES = (4096, 16384, 65536)
MAX_FRAGS = 257


class Refuse(Exception):
    """A stage's refusal: the name of an errno, the rule of docs/, what was found and what is allowed, if there is a limit."""

    def __init__(self, errno, rule, value, limit=None, index=None):
        super().__init__(rule)
        self.form = {"errno": errno, "rule": rule, "value": to_form(value)}
        if limit is not None:
            self.form["limit"] = to_form(limit)
        if index is not None:
            self.form["index"] = index


def to_form(value):
    """A length: an integer below 2^63, else a string."""
    return value if value < 1 << 63 else hex(value)


def number(value):
    """An integer of a form, be it a number or a string "0x..."."""
    return int(value, 16) if isinstance(value, str) else value


def spans(items, address, length):
    """Pairs (address, length) of a form's list."""
    return [(number(item[address]), item[length]) for item in items]


def check_page_size(stage, page_bytes):
    if page_bytes not in PAGE_SIZES:
        raise Refuse("EINVAL", stage + "/page-size", page_bytes, PAGE_SIZES[-1])
