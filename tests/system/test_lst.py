#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Test o2ref lst on the in-process network against docs/lst.md, "The command".

usage: test_lst.py [O2REF]   the program; default $O2REF_CLI, else build/gcc/o2ref.  Last line "N passed, N failed".
"""

import json
import re
import signal
import subprocess
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

import test_net  # noqa: E402
from test_net import FAILED, MODES, OK, PEER, PROGRAM, USAGE, suite  # noqa: E402

# (bytes, offset): around the largest IMMEDIATE, within a page, across pages, and the longest.
PLACES = ((8, 0), (8, 4088), (2048, 512), (3976, 0), (3984, 112), (4096, 0), (8000, 192), (65536, 0), (1048568, 8), (1048576, 0))


def command(test, *options):
    return [PROGRAM, "lst", "--device", "loop", *map(str, options), PEER, test]


def run(test, *options):
    return test_net.run(*command(test, *options)[1:])


class Tests(unittest.TestCase):
    def report(self, test, count, *options):
        done = run(test, "--json", "--count", count, *options)
        self.assertEqual((done.returncode, done.stderr), (OK, ""), (test, options))
        report = json.loads(done.stdout)
        self.assertEqual((report["done"], report["failed"], report["wrong"]), (count, 0, 0))
        self.assertEqual(set(report["failures"].values()), {0})
        self.assertEqual(report["session"], {"made": True, "left": False, "timeout_s": 100})
        # One more request: the second STAT.
        self.assertEqual(report["node"]["rpcs_rcvd"], count + 1)
        return report

    def test_reverse(self):
        for size, offset in PLACES:
            for test in ("read", "write"):
                for mode in ("fastreg", "fmr"):
                    with self.subTest(size=size, offset=offset, test=test, mode=mode):
                        done = run(test, "--json", "--reverse", "--count", 6, "--concurrency", 2, "--size", size, "--offset", offset,
                                   "--mode", mode)
                        self.assertEqual((done.returncode, done.stderr), (OK, ""))
                        report = json.loads(done.stdout)
                        self.assertEqual((report["done"], report["failed"], report["wrong"], report["bytes"], report["reverse"]),
                                         (6, 0, 0, 6 * size, True))
                        self.assertEqual(report["verified"], 6 if test == "write" else 0)
                        self.assertEqual(report["session"], {"made": True, "left": False, "timeout_s": 100})

    def test_every_place_and_check(self):
        for size, offset in PLACES:
            for check in ("none", "simple", "full"):
                for test in ("read", "write"):
                    with self.subTest(size=size, offset=offset, check=check, test=test):
                        report = self.report(test, 5, "--size", size, "--offset", offset, "--check", check)
                        self.assertEqual((report["bytes"], report["size"], report["offset"], report["check"]),
                                         (5 * size, size, offset, check))
                        self.assertEqual(report["node"]["bulk_put" if test == "read" else "bulk_get"], 5 * size)
                        self.assertEqual(report["verified"], 5 if test == "read" and check != "none" else 0)
            report = self.report("read", 5, "--size", size, "--offset", offset, "--check", "none", "--every-word")
            self.assertEqual(report["verified"], 5)

    def test_every_mode(self):
        for mode in MODES:
            for size in (3976, 65536, 1048576):
                for test in ("ping", "read", "write"):
                    with self.subTest(mode=mode, size=size, test=test):
                        self.report(test, 3, "--mode", mode, "--size", size)

    def test_many_at_a_time(self):
        for concurrency, depth in ((1, 8), (64, 2), (64, 8), (255, 8), (1024, 255)):
            for test in ("ping", "read", "write"):
                with self.subTest(concurrency=concurrency, depth=depth, test=test):
                    report = self.report(test, 2000, "--concurrency", concurrency, "--queue-depth", depth, "--size", 8192)
                    self.assertEqual(report["concurrency"], concurrency)
        self.report("read", 300, "--concurrency", 64, "--size", 1048576)

    def test_judged(self):
        for test in ("ping", "read", "write"):
            for size in (2048, 65536):
                report = self.report(test, 100, "--judge", "--size", size)
                self.assertEqual(report["judge"]["findings"], [])

    def test_seconds(self):
        done = run("read", "--seconds", 1, "--json")
        self.assertEqual((done.returncode, done.stderr), (OK, ""))
        report = json.loads(done.stdout)
        self.assertGreater(report["done"], 8)
        self.assertLess(report["seconds"], 10)
        done = run("ping", "--seconds", 1, "--count", 1_000_000_000)
        self.assertEqual(done.returncode, FAILED)
        self.assertRegex(done.stderr, r"^o2ref: ended after \d+ of 1000000000 operations\n$")

    def test_progress(self):
        """A line a second counts what has been done until then, whoever is the client."""
        for options in ((), ("--reverse",)):
            with self.subTest(options=options):
                done = run("read", "--seconds", 3, "--progress", *options)
                self.assertEqual(done.returncode, OK)
                lines = re.findall(r"(?m)^lst: (\d+) done, 0 failed, (\d+\.\d) MB/s, (\d+)/s$", done.stderr)
                self.assertEqual(len(lines), done.stderr.count("\n"))
                self.assertGreater(int(lines[-1][0]), int(lines[0][0]))
                self.assertGreater(int(lines[-1][2]), int(lines[-1][0]) // 10)

    def test_words(self):
        done = run("write", "--count", 20, "--size", 4096)
        self.assertEqual((done.returncode, done.stderr), (OK, ""))
        self.assertRegex(done.stdout, r"^lst: 20 done, 0 failed, 81920 bytes in .*\n"
                         r"the node counts: 21 requests, 0 dropped, 0 errors, 0 bytes read from it, 81920 bytes written to it\n$")
        self.assertIn("verify: 1 checked, 0 wrong\n", run("read").stdout)

    def test_a_bit_is_found(self):
        """A flipped bit is found, also where the protocol's own check does not look."""
        for options, found in ((["--check", "full"], True), (["--check", "simple", "--every-word"], True), (["--check", "simple"], False)):
            done = run("read", *options, "--count", 3, "--loop-quirk", "lst-flip-bit")
            self.assertEqual(done.returncode, FAILED if found else OK)
            if found:
                self.assertEqual(done.stderr, f"o2ref: read 0 at {PEER}: data: bytes 2048 to 2055 are 0xeeb0eeb1eeb2eeb2, "
                                 "not 0xeeb0eeb1eeb2eeb3\n")
                self.assertIn("\nverify: 3 checked, 3 wrong\nfailed: 3 data\n", done.stdout)

    def test_late(self):
        """The node delays each message; an answer that takes longer than the limit is a time-out."""
        self.report("read", 3, "--loop-quirk", "late=50")
        done = run("ping", "--timeout", 1, "--loop-quirk", "late=3000")
        self.assertEqual(done.returncode, FAILED)
        self.assertRegex(done.stderr, r"^o2ref: \S+: make session: no answer in time \(ETIMEDOUT\)")

    def test_a_signal_ends_it(self):
        with subprocess.Popen(command("write", "--seconds", 50, "--json", "--progress"), stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as running:
            self.assertRegex(running.stderr.readline(), r"^lst: \d+ done, 0 failed, ")
            running.send_signal(signal.SIGINT)
            out, err = running.communicate(timeout=30)
        report = json.loads(out)
        self.assertEqual(running.returncode, FAILED)
        self.assertRegex(err, rf"(?m)^o2ref: ended after {report['done']} operations, before its 50 s were over\n")
        self.assertEqual((report["failed"], report["session"]["left"]), (0, False))
        self.assertGreater(report["done"], 0)

    def test_help_and_usage(self):
        text = subprocess.run([PROGRAM, "lst", "--help"], capture_output=True, text=True, check=True).stdout
        self.assertTrue(text.startswith("usage: o2ref lst [OPTION]... NID ping|read|write\n"))
        self.assertLessEqual(max(map(len, text.splitlines())), 100)
        for option in re.findall(r"^  (?:-h, )?--([a-z-]+)", text, re.M):
            self.assertNotIn("is no option", run("ping", f"--{option}", "--help").stderr, option)
        for test, *options in (("dance",), ("read", "--size", 7), ("read", "--size", 4096, "--offset", 8), ("ping", "--concurrency", 1025)):
            done = run(test, *options)
            self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (USAGE, "", 1))


if __name__ == "__main__":
    sys.exit(suite.run(suite.of(sys.modules[__name__])))
