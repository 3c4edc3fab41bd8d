#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Test ping, put and get with --judge on the in-process network: a correct peer gives no findings, and each quirk that its
peer can see is named by its rule.

usage: test_net_judge.py [O2REF]   the program; default $O2REF_CLI, else build/gcc/o2ref.  Last line "N passed, N failed".
"""

import json
import re
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
import test_net  # noqa: E402
from test_net import FAILED, MODES, OK, PEER, run  # noqa: E402

JUDGED = re.compile(r"^judge: \d+ messages and (\d+) WRITEs of ours on (?:1 connection|(?!1 )\d+ connections): "
                    r"(\d+) must, (\d+) should, (\d+) notes$", re.MULTILINE)
FINDING = re.compile(r"^o2ref: judge: (must|should|note) ([a-z]+/[a-z-]+): ", re.MULTILINE)
END = (8 << 20) - 4096  # last 4096 bytes of the served memory, for a GET of 4096 bytes beyond its end

# What an end sees of each quirk (docs/judge.md, "At an end of ours"): {quirk: (command, exit status, findings by severity and
# rule)}.
QUIRKS = {
    "sums-signed": (("ping", "--checksum", "unsigned"), FAILED, [("note", "connect/refused")]),
    "sums-other-bytes": (("get", "--size", 3000), FAILED, [("must", "message/wire")]),
    "second-page-wrong": (("get", "--size", 3000, "--offset", 3000), OK, [("should", "payload/get")]),
    "gapped-source-silent": (("get", "--timeout", 1), FAILED, [("should", "transfer/unanswered"), ("note", "end/open")]),
    "late": (("put", "--timeout", 1), FAILED, [("should", "transfer/unanswered"), ("note", "end/open")]),
}
# Quirks that no rule covers, with the reason: docs/judge.md.
DEAF = {
    "short-get-claims",   # the peer's WRITEs are not visible
    "closes-first",       # a connection may end at any time
    "lst-flip-bit",       # only the two ends know the bytes of a bulk
}


def judged(command, *arguments):
    return run(command, "--judge", "--device", "loop", *arguments, PEER)


def found(done):
    return FINDING.findall(done.stderr)


class Behaving(unittest.TestCase):
    def clean(self, *arguments):
        done = judged(*arguments)
        self.assertEqual((done.returncode, done.stderr), (OK, ""), arguments)
        writes, *times = map(int, JUDGED.search(done.stdout).groups())
        self.assertEqual(times, [0, 0, 0], arguments)
        return writes

    def test_every_mode_and_size(self):
        self.assertEqual(self.clean("ping", "--count", 3, "--interval", 1), 0)
        for mode in MODES:
            for size in (1, 3976, 3977, 1048576):
                writes = self.clean("put", "--mode", mode, "--size", size, "--count", 9, "--verify")
                self.assertEqual(writes > 0, size > 3976)
                self.assertEqual(self.clean("get", "--mode", mode, "--size", size, "--count", 9), 0)

    def test_many_at_a_time(self):
        for depth in (2, 8, 255):
            for command in ("put", "get"):
                self.clean(command, "--count", 400, "--in-flight", 64, "--size", 5000, "--queue-depth", depth)
        for checksum in ("unsigned", "signed", "auto"):
            self.clean("put", "--count", 100, "--no-ack", "--size", 100, "--verify", "--checksum", checksum)

    def test_json(self):
        done = judged("put", "--json", "--count", 3)
        form = json.loads(done.stdout)
        self.assertEqual(form["judge"], {"connections": 1, "messages": 12, "writes": 3, "must": 0, "should": 0, "note": 0,
                                         "findings": []})
        done = judged("get", "--json", "--size", 3000, "--loop-quirk", "sums-other-bytes")
        (row,) = json.loads(done.stdout)["judge"]["findings"]
        self.assertEqual((row["rule"], row["severity"], row["wire_rule"], row["who"]),
                         ("message/wire", "must", "wire/header/checksum", PEER))
        self.assertNotIn("judge", json.loads(test_net.loop("put", "--json").stdout))


class Quirks(unittest.TestCase):
    def test_each_is_in_a_table(self):
        listed = re.findall(r"(?m)^  ([a-z-]+)(?:\[=MS\])? +(?=\S)", run("serve", "--help").stdout.split("several times:")[1])
        self.assertEqual(sorted(listed), sorted({*QUIRKS, *DEAF}))

    def test_those_that_show_are_named(self):
        for quirk, (command, status, expected) in QUIRKS.items():
            with self.subTest(quirk):
                done = judged(*command, "--loop-quirk", quirk)
                self.assertEqual((done.returncode, found(done)), (status, expected))
                # A finding of severity `must` alone gives the exit status; the other failures are the command's own.
                done = judged(*command)
                self.assertEqual((done.returncode, found(done)), (OK, []))

    def test_those_that_do_not_are_silent(self):
        for quirk, command in (("short-get-claims", ("get", "--size", 8192, "--offset", END)), ("closes-first", ("ping",))):
            self.assertIn(quirk, DEAF)
            with self.subTest(quirk):
                self.assertEqual(found(judged(*command, "--loop-quirk", quirk)), [])

    def test_what_was_put_is_read_back(self):
        done = judged("put", "--size", 3000, "--offset", 3000, "--verify", "--loop-quirk", "second-page-wrong")
        self.assertEqual((done.returncode, found(done)), (FAILED, [("should", "payload/get")]))
        self.assertIn(": payload[1096] is 238, expected ", done.stderr)
        # Bytes of another seed are unknown to the judge, so it cannot find wrong ones.
        self.assertEqual(found(judged("get", "--size", 3000, "--offset", 3000, "--seed", 2, "--loop-quirk", "second-page-wrong")), [])

    def test_a_finding_alone_is_enough(self):
        """The transfer succeeds, because the wrong checksum is tolerated; then the judge tolerates it as well."""
        done = judged("get", "--size", 3000, "--tolerate-immediate-checksum", "--loop-quirk", "sums-other-bytes")
        self.assertEqual((done.returncode, found(done)), (OK, []))


if __name__ == "__main__":
    sys.exit(test_net.suite.run(test_net.suite.of(sys.modules[__name__])))
