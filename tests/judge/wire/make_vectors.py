#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Write corpus/vectors: the wire's test vectors, from docs/wire.md's golden messages and the second codec.

  make_vectors.py [FOLDER]

Nothing in here is random and nothing comes from ref/wire: every run writes the same bytes.
"""

import json
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

import codec  # noqa: E402
import codec_reject  # noqa: E402
import vector_encode  # noqa: E402
import vector_rules  # noqa: E402
from vector_samples import (GOLDEN, GOLDEN_REJECTS, lnet, message, patch, sample, with_both_sums, with_checksum)  # noqa: E402
from vector_text import flat_line, flatten  # noqa: E402

FOLDER = Path(__file__).resolve().parents[3] / "corpus" / "vectors"
GENERATOR = "tests/judge/wire/make_vectors.py 1"
FORM = "o2ref/wire_vectors"

NOTES = {
    "Golden": ("KNOWN_ANSWER", "Bytes worked out from the layout alone (docs/wire.md, appendix)."),
    "Plain": ("BASIC", "A legal message with another value in every field."),
    "Boundary": ("BOUNDARY", "The last legal or the first illegal value of one rule."),
    "OrderOfChecks": ("ORDER", "Breaks more than one rule: the one that stands first is reported."),
    "TrailingBytes": ("LENIENCY", "Bytes after the body, within nob or after it: they carry no meaning."),
    "UnusedBytes": ("LENIENCY", "Bytes that a variant or a version does not use: they carry no meaning."),
    "Unusual": ("LENIENCY", "Legal by the rules, yet no implementation is known to send it."),
    "Tolerated": ("LENIENCY", "Accepted with an option only: the checksum vouches for nothing."),
    "Padded": ("LENIENCY", "As a connection manager hands it over: with zeros up to a fixed size."),
    "SignedNumber": ("SIGNEDNESS", "An unsigned number that looks negative to who reads it as signed."),
    "NidText": ("TEXT", "The text form of a node's name (docs/wire.md, \"NIDs\")."),
    "Encode": ("ENCODING", "Edits a decoded message and encodes it."),
}

# Add texts only at the end: a text's number is part of its id.
NID_TEXTS = (
    "192.168.10.1@o2ib", "192.168.10.1@o2ib7", "255.255.255.255@o2ib65535", "10.77.0.1@tcp10", "0@lo", "0.0.0.0@o2ib",
    "1.2.3.4@tcp", "1.2.3.4@o2ib0", "1.2.3.4@o2ib9", "1.2.3.4@o2ib10", "0x0009000100000000", "0xffffffffffffffff",
    "0x0", "0x00050007c0a80a01", "0x50007C0A80A01", "0x000600000a4d0001", "0x0105000000000001", "0x0003ffff00000000",
    "1.2.3.4@o2ib65536", "1.2.3.4@o2ib100000", "1.2.3.4@o2ib99999999999", "1.2.3.4@o2ib00", "1.2.3.4@o2ib07",
    "1.2.3.4@o2ib-1", "1.2.3.4@o2ib ", "1.2.3.4@gni", "1.2.3.4@lo", "1.2.3.4@", "1.2.3.4", "1.2.3.4 @o2ib",
    "1.2.3.4@O2IB", "256.2.3.4@o2ib", "1.2.3.256@o2ib", "1.2.3.04@o2ib", "01.2.3.4@o2ib", "1.2.3@o2ib", "1.2..4@o2ib",
    "+1.2.3.4@o2ib",
    " 1.2.3.4@o2ib", "1.2.3.a@o2ib", "1,2,3,4@o2ib", "@o2ib", "o2ib", "0@lo0", "1@lo", "0x", "0x00000000000000000",
    "0X1", "0x1g", "-0x1", "fe80::1@o2ib", "::", "1.2.3.4:5@o2ib", "[::1]@tcp",
)


def answer(case):
    """What the second codec makes of a case: (decoded or None, canonical or None, refusal or None)."""
    options = {**codec.NO_OPTIONS, **case.options}
    try:
        if case.kind == "decode":
            decoded = codec.decode(case.data, options)
            return decoded, codec.encode(decoded, options), None
        if case.kind.startswith("desc_"):
            order = case.kind[5:]
            desc = codec.decode_desc(case.data, order, options)
            return {"byte_order": order, **desc}, codec.encode_desc(desc, codec.ORDERS[order]), None
        if case.kind == "encode":
            decoded = codec.decode(case.data, codec.NO_OPTIONS)
            edited = vector_encode.apply(decoded, case.edits)
            return None, codec.encode(edited, options, case.edits.get("capacity_bytes", codec.MESSAGE_BYTES)), None
        record = codec_reject.decode(case.data)
        if case.kind == "reject":
            return record, codec_reject.encode(record), None
        return None, reencode_reject(record, case.edits), None
    except codec.Refused as refused:
        return None, None, refused.answer


def reencode_reject(record, edits):
    order = edits.get("order")
    record = {**record, **{key: value for key, value in edits.items() if key in record}}
    if order is not None:
        record["byte_order"] = ("little", "big")[order] if order < 2 else order
    return codec_reject.encode(record, edits.get("capacity_bytes", codec_reject.RECORD_BYTES))


def test_of(case, name, flags, accepted="valid", expect=None):
    """The vector of a case. expect: the rule that has to refuse it, None when it has to be accepted."""
    decoded, canonical, refused = answer(case)
    if (refused and refused["rule"]) != expect:
        raise SystemExit(f"make_vectors: {name}: expected {expect or 'acceptance'}, the codec says {refused}")
    test = {"id": name, "comment": case.comment, "flags": flags, "kind": case.kind, "bytes": case.data.hex()}
    for key, value in (("options", case.options),
                       ("edits", {each: codec.number_to_json(number) for each, number in case.edits.items()})):
        if value:
            test[key] = value
    if refused:
        return {**test, "result": "invalid", "rule": refused["rule"], "refused": refused}
    test["result"] = accepted
    if decoded:
        test["fields"], test["flat"] = codec.to_json(decoded), flatten(decoded)
    if canonical != case.data:
        test["canonical"] = canonical.hex()
        if decoded:
            test["result"] = "acceptable"
    return test


class Group:
    def __init__(self, name, notes, **members):
        self.name, self.notes, self.members, self.tests, self.counts = name, notes, members, [], {}

    def add(self, case, name, flags, accepted="valid", expect=None):
        stem = f"{self.name}/{name}"
        self.counts[stem] = self.counts.get(stem, 0) + 1
        number = "" if self.counts[stem] == 1 else f"-{self.counts[stem]}"
        self.tests.append(test_of(case, stem + number, flags, accepted, expect))

    def json(self):
        return {"name": self.name, "notes": self.notes, **self.members, "tests": self.tests}


def good(data, comment="", options=None, kind="decode"):
    return vector_rules.Case(None, None, comment, data, options or {}, kind)


def golden():
    group = Group("golden", "Bytes that no program of this project has made.")
    for name, text, signed, unsigned in GOLDEN:
        data, order = bytes.fromhex(text), name.rsplit("-", 1)[1]
        if codec.message_checksums(data, len(data)) != (unsigned, signed):
            raise SystemExit(f"make_vectors: {name}: the codec's checksums are not those of the golden message")
        for flavour, sum_ in (("none", 0), ("signed", signed), ("unsigned", unsigned)):
            group.add(good(patch(data, 12, order, 4, sum_), f"checksum {flavour}"), f"{name}/{flavour}", ["Golden"])
    for name, text in GOLDEN_REJECTS:
        group.add(good(bytes.fromhex(text), "reason 7", kind="reject"), name, ["Golden"])
    return group


def plain(name):
    """Every shape of one type: order, flavour, version, variant, extreme values."""
    group = Group(f"valid/{name.lower()}", f"Legal {name} messages in canonical form.", message=name)
    kinds = [codec.LNET_TYPES[kind] for kind in codec.LNET_ADMITTED.get(name, ())] or [None]
    for order in codec.ORDERS:
        for flavour in codec.FLAVOURS[:3]:
            for kind in kinds:
                label = "/".join(filter(None, (kind and kind.lower(), flavour, order)))
                group.add(good(sample(name, order, flavour, lnet_kind=kind)), label, ["Plain"])
        old = patch(sample(name, order), 4, order, 2, 0x11)
        group.add(good(old, "version 0x11"), f"version-11/{order}", ["Plain"])
        extreme = message(name, order)
        extreme.update(ibm_credits=255, ibm_srcstamp=codec.U64, ibm_dststamp=0)
        group.add(good(codec.encode(extreme), "extreme stamps and credits"), f"extreme/{order}", ["Plain"])
        for count in (2, 256, 257) if name in ("PUT_ACK", "GET_REQ") else ():
            full = message(name, order, "signed" if count == 256 else "none", count=count)
            for frag in (full["body"].get("ibpam_rd") or full["body"]["ibgm_rd"])["rd_frags"]:
                frag["rf_nob"] = 1 + frag["rf_addr"] // 4096 % 4000
            group.add(good(codec.encode(full), f"{count} fragments"), f"fragments-{count}/{order}", ["Plain"])
        for length in (0, 1, 255, 3976) if name == "IMMEDIATE" else ():
            data = sample(name, order, "unsigned" if length == 255 else "none", lnet_kind="REPLY",
                          payload_length=length)
            group.add(good(data, f"{length} bytes of payload"), f"payload-{length}/{order}", ["Plain"])
        if name == "IMMEDIATE":
            both = with_both_sums(sample(name, order, lnet_kind="PUT", payload_length=64), order)
            group.add(good(both, "both sums are equal: unsigned is reported"), f"both-sums/{order}", ["Plain"])
    return group


def trailing():
    group = Group("trailing", "Bytes after the body are ignored; the canonical form has none.")
    for name in codec.TYPE_NUMBERS:
        for order in codec.ORDERS:
            data = sample(name, order)
            inside = patch(data + b"\xa5\x80\xff", 8, order, 4, len(data) + 3)
            label = f"{name.lower()}/{order}"
            group.add(good(inside, "3 bytes inside nob"), f"inside/{label}", ["TrailingBytes"], "acceptable")
            group.add(good(with_checksum(inside, order, "signed"), "3 bytes inside nob, which the checksum covers"),
                      f"inside-signed/{label}", ["TrailingBytes"], "acceptable")
            after = sample(name, order, "unsigned") + b"\xa5\x80\xff"
            group.add(good(after, "3 bytes after nob, which no checksum covers"), f"after/{label}",
                      ["TrailingBytes"], "acceptable")
    return group


def unused():
    group = Group("unused", "Bytes without a meaning: any value is accepted, zeros are written.")
    used = {"ACK": 28, "GET": 36, "REPLY": 16}
    for order in codec.ORDERS:
        for kind, bytes_ in used.items():
            data = sample("IMMEDIATE", order, lnet_kind=kind)
            data = data[:80 + bytes_] + b"\xc3" * (40 - bytes_) + data[120:]
            group.add(good(data, f"{kind}: the last {40 - bytes_} bytes of the variant"),
                      f"immediate/{kind.lower()}/{order}", ["UnusedBytes"], "acceptable")
            group.add(good(with_checksum(data, order), f"{kind}, with a checksum"),
                      f"immediate-summed/{kind.lower()}/{order}", ["UnusedBytes"], "acceptable")
        reject = bytes.fromhex(GOLDEN_REJECTS[order == "big"][1])
        group.add(good(patch(reject, 7, order, 1, 0xC3), "padding of a reject record", kind="reject"),
                  f"reject-padding/{order}", ["UnusedBytes"], "acceptable")
        group.add(good(patch(reject, 4, order, 2, 0x11), "version 0x11 with more than 7 bytes", kind="reject"),
                  f"reject-version-11/{order}", ["UnusedBytes"], "acceptable")
    return group


def unusual():
    group = Group("unusual", "Legal, though not what peers are known to send.")
    for order in codec.ORDERS:
        for name, dest, source in (("routed", 0x0002000A0A4D0001, 0x0002000B0A4D0002),
                                   ("loopback", 9 << 48, 9 << 48), ("any", codec.U64, 0x0105000000000000),
                                   ("foreign", 0x00070001C0A80A01, 0x0009000100000000)):
            msg = message("IMMEDIATE", order)
            msg["body"]["hdr"] = lnet("PUT", 5, dest, source)
            group.add(good(codec.encode(msg), "NIDs of the LNet header are not looked at"), f"lnet-nids/{name}/{order}",
                      ["Unusual"], "acceptable")
        far = patch(patch(sample("CONNREQ", order), 48, order, 8, 0), 32, order, 8, 0x0009000700000001)
        group.add(good(far, "parameters of 0, another LND type", {"any_lnd": True}), f"connreq/{order}", ["Unusual"],
                  "acceptable")
        none = message("GET_REQ", order)
        none["body"]["hdr"]["return_wmd"] = {"wh_interface_cookie": codec.U64, "wh_object_cookie": codec.U64}
        none["body"].update(ibgm_cookie=0, ibgm_rd={"rd_key": 0, "rd_frags": [{"rf_nob": 1, "rf_addr": 0}] * 2})
        group.add(good(codec.encode(none), "cookie, key and address 0, a handle that is none, fragments that overlap"),
                  f"get_req/{order}", ["Unusual"], "acceptable")
        padded = sample("CONNACK", order, "unsigned") + bytes(140)
        group.add(good(padded, "196 bytes of private data"), f"padded/connack/{order}", ["Padded"], "acceptable")
        reject = bytes.fromhex(GOLDEN_REJECTS[order == "big"][1]) + bytes(124)
        group.add(good(reject, "148 bytes of private data", kind="reject"), f"padded/reject/{order}", ["Padded"],
                  "acceptable")
        wrong = patch(sample("IMMEDIATE", order), 12, order, 4, 0x00BADBAD)
        group.add(good(wrong, "a checksum of other bytes", {"tolerate_immediate_checksum": True}),
                  f"unverified/{order}", ["Tolerated"], "acceptable")
    return group


def nids():
    """The text of NIDs: reading it, and writing it again."""
    group = Group("nid", "A text, and the number that it stands for; bytes are its characters.")
    for text in NID_TEXTS:
        test = {"id": f"nid/{len(group.tests) + 1}", "comment": text, "flags": ["NidText"], "kind": "nid",
                "bytes": text.encode().hex()}
        try:
            number = codec.nid_from_text(text)
        except codec.BadText as bad:
            group.tests.append({**test, "result": "invalid", "rule": bad.rule, "errno": bad.error,
                                "flat": f"{bad.rule},{bad.error}"})
            continue
        written = codec.nid_to_text(number)
        group.tests.append({**test, "result": "valid" if written == text else "acceptable",
                            "fields": {"nid": f"0x{number:016x}", "text": written},
                            "flat": f"nid={number:x},text={written}"})
    return group


def by_rule(name, notes, cases):
    """One group per rule, from a function of the byte order."""
    groups = {}
    for order in codec.ORDERS:
        for case in cases(order):
            kind = "encode/" if case.kind in ("encode", "reject_encode") else ""
            group = groups.setdefault(case.rule, Group(f"{name}/{case.rule[5:]}", notes, rule=case.rule))
            flags = ["OrderOfChecks" if case.boundary == "order" else "Boundary"] + (["Encode"] if kind else [])
            expect = case.then if case.boundary == vector_rules.LEGAL else case.rule
            group.add(case, f"{kind}{case.boundary}/{order}", flags, expect=expect)
            group.tests[-1].update(boundary=case.boundary, byte_order=order)
    return list(groups.values())


def all_encode(order):
    yield from vector_encode.encode_local(order)
    yield from vector_encode.encode_header(order)
    yield from vector_encode.encode_body(order)


def files():
    yield "golden", [golden()]
    yield "valid", [plain(name) for name in codec.TYPE_NUMBERS]
    yield "nids", [nids()]
    yield "acceptable", [trailing(), unused(), unusual()]
    about = "The last legal and the first illegal value of a rule, in both byte orders."
    yield "rules_header", by_rule("header", about, vector_rules.header)
    for name in codec.TYPE_NUMBERS:
        yield f"rules_{name.lower()}", by_rule(
            name.lower(), about, lambda order, name=name: vector_rules.of_type(name, order))
    yield "rules_desc", by_rule("desc", about, vector_rules.bare_desc)
    yield "rules_reject", by_rule("reject", about, vector_encode.rejects)
    yield "rules_encode", by_rule("encode", "The same for encoding.", all_encode)
    yield "order_of_checks", by_rule("order", "More than one rule is broken.", vector_rules.order_of_checks)


def document_text(document):
    """JSON with one test per line, so that a changed test changes one line."""
    groups = []
    for group in document["groups"]:
        tests = ",\n".join("   " + json.dumps(test) for test in group["tests"])
        head = json.dumps({key: value for key, value in group.items() if key != "tests"}, indent=1)[2:-2]
        groups.append(" {\n  " + head.replace("\n", "\n ").strip() + ',\n  "tests": [\n' + tests + "\n  ]\n }")
    head = json.dumps({key: value for key, value in document.items() if key != "groups"}, indent=1)[:-2]
    return head + ',\n "groups": [\n' + ",\n".join(groups) + "\n ]\n}\n"


def write(folder):
    folder.mkdir(parents=True, exist_ok=True)
    lines = []
    for name, groups in files():
        tests = [test for group in groups for test in group.tests]
        lines += [flat_line(test) for test in tests]
        for test in tests:
            test.pop("flat", None)
        used = sorted({flag for test in tests for flag in test["flags"]})
        document = {"form": FORM, "version": 1, "schema": "schema.json", "generator": GENERATOR, "count": len(tests),
                    "notes": {flag: {"kind": NOTES[flag][0], "description": NOTES[flag][1]} for flag in used},
                    "groups": [group.json() for group in groups]}
        (folder / f"{name}.json").write_text(document_text(document))
    (folder / "vectors.txt").write_text("\n".join(lines) + "\n")
    return len(lines)


def main(arguments):
    folder = Path(arguments[0]) if arguments else FOLDER
    print(f"{write(folder)} vectors in {folder}")


if __name__ == "__main__":
    main(sys.argv[1:])
