# SPDX-License-Identifier: MIT
"""What the parts of the second codec share: refusals, NIDs and checksums. From docs/wire.md alone, as codec.py is."""

import re

U32, U64 = (1 << 32) - 1, (1 << 64) - 1
NID_ANY = U64
LNDS = {2: "tcp", 5: "o2ib"}
LND_NUMBERS = {name: number for number, name in LNDS.items()}
LOOPBACK = 9 << 48
ORDERS = {"little": "<", "big": ">"}


class Refused(Exception):
    """Why something was refused; docs/wire.md, "Rules"."""

    def __init__(self, rule, field, offset, value, limit, index=None, error="EPROTO", kind="connection"):
        super().__init__(rule)
        self.rule = rule
        self.answer = {"errno": error, "rule": rule, "class": kind, "field": field, "offset_bytes": offset,
                       "value": number_to_json(value), "limit": number_to_json(limit)}
        if index is not None:
            self.answer["index"] = index


class BadText(Exception):
    """A text that is no NID: rule and errno."""

    def __init__(self, rule, error="EINVAL"):
        super().__init__(rule)
        self.rule, self.error = rule, error


def number_to_json(number):
    """JSON's integers end at 2^63 - 1: from there on, hexadecimal digits."""
    return number if number < 1 << 63 else f"0x{number:x}"


def local(rule, field, value, limit, error="EINVAL"):
    return Refused(rule, field, 0, value, limit, error=error, kind="local")


# --- NIDs -----------------------------------------------------------------------------------------------------------

def nid_to_text(nid):
    """192.168.10.1@o2ib7, or 0x and 16 digits."""
    if nid == LOOPBACK:
        return "0@lo"
    lnd = LNDS.get(nid >> 48)
    if lnd is None:
        return f"0x{nid:016x}"
    network = nid >> 32 & 0xFFFF
    dotted = ".".join(str(nid >> shift & 255) for shift in (24, 16, 8, 0))
    return f"{dotted}@{lnd}{network if network else ''}"


def decimal(text, most):
    """The number, or None for what has a leading zero, another character, or is too large."""
    if not re.fullmatch(r"0|[1-9][0-9]{0,9}", text) or int(text) > most:
        return None
    return int(text)


def nid_from_text(text):
    """The number, or BadText."""
    if re.fullmatch(r"0x[0-9a-fA-F]{1,16}", text):
        return int(text, 16)
    if text == "0@lo":
        return LOOPBACK
    if ":" in text:
        raise BadText("nid/ipv6", "EAFNOSUPPORT")
    match = re.fullmatch(r"([0-9]+)\.([0-9]+)\.([0-9]+)\.([0-9]+)(.*)", text, re.S)
    parts = [decimal(part, 255) for part in match.groups()[:4]] if match else [None]
    if None in parts:
        raise BadText("nid/address")
    rest = match[5]
    name = next((each for each in LND_NUMBERS if rest.startswith(f"@{each}")), None)
    if name is None:
        raise BadText("nid/network")
    rest = rest[1:]
    number = 0 if rest == name else decimal(rest[len(name):], 0xFFFF)
    if number is None:
        raise BadText("nid/network")
    first, second, third, fourth = parts
    return LND_NUMBERS[name] << 48 | number << 32 | first << 24 | second << 16 | third << 8 | fourth


def check_nid(side, offset, nid, options):
    """Rules 12 to 22."""
    field, rule = f"ibm_{side}", f"wire/header/{side}-"
    lnd, address = nid >> 48 & 255, nid & U32
    if side == "srcnid" and nid == NID_ANY:
        raise Refused(rule + "wildcard", field, offset, nid, NID_ANY - 1)
    if nid >> 56:
        raise Refused(rule + "top-byte", field, offset, nid, 0)
    if lnd == 255:
        raise Refused(rule + "lnd-any", field, offset, nid, 5)
    if lnd != 5 and not options["any_lnd"]:
        raise Refused(rule + "lnd-foreign", field, offset, nid, 5)
    if address == 0:
        raise Refused(rule + "address-zero", field, offset, nid, 1)
    if address == U32:
        raise Refused(rule + "address-ones", field, offset, nid, U32 - 1)


# --- checksum -------------------------------------------------------------------------------------------------------

def checksums(data):
    """(unsigned, signed) over data, which has zeros in the place of the checksum."""
    plain = signed = 0
    for byte in data:
        plain = ((plain << 1 | plain >> 31) + byte) & 0xFFFFFFFF
        signed = ((signed << 1 | signed >> 31) + (byte if byte < 128 else byte - 256)) & 0xFFFFFFFF
    return plain or 1, signed or 1


def message_checksums(data, nob):
    return checksums((data[:12] + b"\0\0\0\0" + data[16:nob])[:nob])
