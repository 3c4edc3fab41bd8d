#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Check corpus/vectors: the schema, stable ids, every rule of docs/wire.md with both sides of its boundary in both byte
orders, the golden messages against the text, and that the generator writes the same files again.

The last line is "N passed, N failed"; exit status 0, 1, or 77 when Debian's python3-jsonschema is missing.
"""

import collections
import filecmp
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
VECTORS = ROOT / "corpus" / "vectors"
WRITTEN_BY_HAND = ("README.md", "schema.json")


class Lint:
    def __init__(self):
        self.passed = self.failed = 0

    def check(self, good, what):
        if good:
            self.passed += 1
        else:
            self.failed += 1
            print(f"FAIL {what}")
        return good


def rules_of_docs():
    """Rule id -> class, from the tables of docs/wire.md."""
    text = (ROOT / "docs" / "wire.md").read_text()
    return dict(re.findall(r"^\| R?\d+ \| `(wire/[^`]+)` \| (\w+) \|", text, re.M))


def golden_of_docs():
    """The bytes of every dump in the appendix, in its order."""
    appendix = (ROOT / "docs" / "wire.md").read_text().partition("## Appendix: golden messages")[2]
    dumps = []
    for offset, digits in re.findall(r"^ +([0-9a-f]{4})  ([0-9a-f ]+)$", appendix, re.M):
        if int(offset, 16) == 0:
            dumps.append("")
        dumps[-1] += digits.replace(" ", "")
    return dumps


def documents():
    return {file.name: json.loads(file.read_text()) for file in sorted(VECTORS.glob("*.json"))
            if file.name != "schema.json"}


def tests_of(document):
    return [test for group in document["groups"] for test in group["tests"]]


def check_schema(lint, read, validator):
    for name, document in read.items():
        errors = sorted(validator.iter_errors(document), key=lambda error: list(map(str, error.path)))
        for error in errors[:5]:
            where = "/".join(map(str, error.path))
            print(f"  {name}: {where}: {error.message[:200]}")
        lint.check(not errors, f"{name}: {len(errors)} faults by schema.json")
        tests = tests_of(document)
        lint.check(document["count"] == len(tests), f"{name}: count is {document['count']}, there are {len(tests)}")
        used = {flag for test in tests for flag in test["flags"]}
        lint.check(used == set(document["notes"]), f"{name}: flags and notes differ: {used ^ set(document['notes'])}")


def check_tests(lint, read, classes):
    ids = collections.Counter(test["id"] for document in read.values() for test in tests_of(document))
    lint.check(max(ids.values()) == 1, f"ids that occur twice: {[each for each in ids if ids[each] > 1][:5]}")
    for document in read.values():
        for group in document["groups"]:
            for test in group["tests"]:
                lint.check(sane(test, group, classes), f"{test['id']}: contradicts itself or docs/wire.md")


def sane(test, group, classes):
    """What a schema cannot say about one test."""
    if test["kind"] == "nid":
        return test["result"] != "invalid" or test["rule"].startswith("nid/")
    if test["result"] == "invalid":
        refused = test["refused"]
        if refused["rule"] != test["rule"] or classes.get(test["rule"]) != refused["class"]:
            return False
        local = refused["class"] == "local"
        # The limit of an LNet type is a set, so that the two may be the same number.
        same = refused["value"] == refused["limit"] and not refused["rule"].endswith("/lnet-type")
        if (refused["errno"] == "EPROTO") == local or same:
            return False
    if test.get("boundary") in ("first-illegal", "order"):
        return test.get("rule") == group["rule"]
    if test.get("boundary") == "last-legal":
        return test.get("rule") != group["rule"]
    return test["result"] != "invalid"


def check_boundaries(lint, read, classes):
    """Both sides, both orders, of every rule; and no rule that the text does not have."""
    met = {(group["rule"], test["boundary"], test["byte_order"]) for document in read.values()
           for group in document["groups"] if "rule" in group for test in group["tests"]}
    for rule in classes:
        for side in ("last-legal", "first-illegal"):
            for order in ("little", "big"):
                lint.check((rule, side, order) in met, f"{rule}: no vector {side}, {order}")
    unknown = {rule for rule, _, _ in met} - set(classes)
    lint.check(not unknown, f"rules without a row in docs/wire.md: {sorted(unknown)}")
    lint.check(len(classes) > 60, f"only {len(classes)} rules found in docs/wire.md: has its table changed?")


def check_golden(lint, read):
    """The vectors without checksum are the dumps of the text, byte for byte, in its order."""
    dumps = golden_of_docs()
    plain = [test["bytes"] for test in tests_of(read["golden.json"])
             if test["kind"] == "reject" or test["id"].endswith("/none")]
    lint.check(plain == dumps and len(dumps) > 8,
               f"golden.json has {len(plain)} messages and docs/wire.md {len(dumps)}, or their bytes differ")


def check_again(lint):
    """A second run of the generator gives the same files, and there are no others."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([HERE / "make_vectors.py", folder], capture_output=True, text=True, check=False)
        if not lint.check(done.returncode == 0, f"make_vectors.py: {done.stderr.strip()[-500:]}"):
            return
        made = {file.name for file in Path(folder).iterdir()}
        there = {file.name for file in VECTORS.iterdir()} - set(WRITTEN_BY_HAND)
        lint.check(made == there, f"files that make_vectors.py does not write, or that are missing: {made ^ there}")
        for name in sorted(made & there):
            lint.check(filecmp.cmp(Path(folder) / name, VECTORS / name, shallow=False),
                       f"{name}: make_vectors.py writes other bytes: run tests/judge/wire/make_vectors.py")


def main():
    try:
        import jsonschema
    except ImportError:
        print("cannot run here: the package python3-jsonschema is missing (apt-get install python3-jsonschema)")
        return 77
    schema = json.loads((VECTORS / "schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    lint, read, classes = Lint(), documents(), rules_of_docs()
    check_schema(lint, read, jsonschema.Draft202012Validator(schema))
    check_tests(lint, read, classes)
    check_boundaries(lint, read, classes)
    check_golden(lint, read)
    check_again(lint)
    print(f"{lint.passed} passed, {lint.failed} failed")
    return 1 if lint.failed else 0


if __name__ == "__main__":
    sys.exit(main())
