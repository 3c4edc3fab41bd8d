#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Test o2ref lst with o2ref serve --lst: LNet selftest between two processes, over RDMA and its connection manager.

    ci/vm/run -- tests/device/lst_rxe.py [O2REF [TEST]...]

O2REF: the program; else build/gcc/o2ref.  TEST: Lst.test_many and so on.  Last line "N passed, N failed".
The environment variable O2REF_LST_COUNT is the number of operations of each kind in test_many (default: 1000).

The two devices and their addresses are taken from the variables that ci/vm/run sets (docs/vm.md).
"""

import json
import os
import signal
import sys
import time
import unittest

sys.dont_write_bytecode = True
import net_rxe  # noqa: E402
from net_rxe import FAILED, MODES, OK, PEER, SECONDS, US, Server, finish  # noqa: E402

COUNT = int(os.environ.get("O2REF_LST_COUNT", "1000"))


def start(test, *options):
    return net_rxe.start("lst", "--json", *options, PEER, peer=test)


def run(test, *options):
    status, out, err = finish(start(test, *options))
    return status, json.loads(out) if out else None, err


class Lst(unittest.TestCase):
    def well(self, count, test, *options):
        status, report, err = run(test, "--count", count, *options)
        self.assertEqual((status, err), (OK, ""), report)
        self.assertEqual((report["done"], report["failed"], report["wrong"]), (count, 0, 0))
        self.assertEqual((report["session"]["made"], report["session"]["left"]), (True, False))
        return report

    def test_every_mode_and_form(self):
        with Server("--lst") as server:
            for mode in MODES:
                for size, offset in ((8, 4088), (3976, 0), (3984, 112), (65536, 0), (1048576, 0)):
                    for test in ("read", "write"):
                        with self.subTest(mode=mode, size=size, test=test):
                            report = self.well(5, test, "--mode", mode, "--size", size, "--offset", offset)
                            self.assertEqual(report["node"]["bulk_put" if test == "read" else "bulk_get"], 5 * size)
            status, out, err = server.end()
            self.assertEqual((status, err), (OK, ""))
            self.assertIn(f"lst: {len(MODES) * 10} sessions, 0 expired; served 0 pings, 150 reads, 150 writes, ", out)

    def test_many(self):
        with Server("--lst") as server:
            self.well(COUNT, "ping", "--concurrency", 64)
            for size in (4096, 65536):
                for test in ("read", "write"):
                    self.well(COUNT, test, "--size", size, "--concurrency", 32)
            status, out, err = server.end()
            self.assertEqual((status, err), (OK, ""))
            self.assertIn(f"lst: 5 sessions, 0 expired; served {COUNT} pings, {2 * COUNT} reads, {2 * COUNT} writes, ", out)

    def test_reverse(self):
        with Server("--lst") as server:
            for size, offset in ((8, 4088), (3976, 0), (3984, 112), (65536, 0), (1048576, 0)):
                for test in ("read", "write"):
                    with self.subTest(size=size, test=test):
                        status, report, err = run(test, "--reverse", "--count", 8, "--size", size, "--offset", offset)
                        self.assertEqual((status, err), (OK, ""), report)
                        self.assertEqual((report["done"], report["failed"], report["wrong"], report["bytes"]), (8, 0, 0, 8 * size))
                        self.assertEqual((report["session"]["made"], report["session"]["left"]), (True, False))
            status, out, err = server.end()
            self.assertEqual((status, err), (OK, ""))
            self.assertIn("own tests 80, 0 failed; ", out)

    def test_a_bit_is_found(self):
        with Server("--lst", "--quirk", "lst-flip-bit"):
            for size in (2048, 65536):
                status, report, err = run("read", "--check", "simple", "--every-word", "--size", size, "--count", 5)
                self.assertEqual((status, report["wrong"]), (FAILED, 5))
                at = min(size, 4096) // 2
                self.assertIn(f": data: bytes {at} to {at + 7} are 0xeeb0eeb1eeb2eeb2, not 0xeeb0eeb1eeb2eeb3\n", err)

    def test_a_console_dies(self):
        """A dead console's session remains: the next console is refused and told its owner, unless it uses --force."""
        with Server("--lst", "--mode", "global"):
            first = start("ping", "--mode", "global", "--seconds", SECONDS, "--progress")
            self.assertIn("0 failed", first.stderr.readline())
            first.send_signal(signal.SIGKILL)
            first.communicate()
            status, report, err = run("ping", "--mode", "global")
            self.assertEqual((status, report["session"]["status"], report["session"]["owner"]), (FAILED, "EBUSY", US))
            self.assertIn(f"{PEER} is busy: it is in session 'o2ref' of {US}, until 100 s after its last request", err)
            self.well(9, "ping", "--mode", "global", "--force")
            self.well(9, "read", "--mode", "global")

    def test_the_node_leaves(self):
        """Unanswered requests fail when the node leaves, long before the time limit of an answer."""
        with Server("--lst", "--mode", "global") as server:
            running = start("write", "--mode", "global", "--seconds", SECONDS, "--progress", "--timeout", SECONDS)
            self.assertIn("0 failed", running.stderr.readline())
            began = time.monotonic()
            server.end(signal.SIGTERM)
            status, out, _ = finish(running)
        report = json.loads(out)
        self.assertEqual((status, report["session"]["left"]), (FAILED, True))
        self.assertLess(time.monotonic() - began, SECONDS / 2)

    def test_a_signal_ends_it_in_order(self):
        with Server("--lst"):
            running = start("read", "--seconds", SECONDS, "--progress")
            self.assertIn("0 failed", running.stderr.readline())
            running.send_signal(signal.SIGINT)
            status, out, _ = finish(running)
            self.assertEqual((status, json.loads(out)["session"]["left"]), (FAILED, False))
            self.well(3, "ping")

    def test_nobody_serves_it(self):
        with Server():
            status, report, err = run("ping", "--timeout", 2)
            self.assertEqual((status, report["session"]["status"]), (FAILED, "ETIMEDOUT"))
            self.assertIn("; is lnet_selftest loaded there?\n", err)


if __name__ == "__main__":
    sys.exit(net_rxe.main(sys.modules[__name__]))
