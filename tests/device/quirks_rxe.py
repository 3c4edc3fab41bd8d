#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Test quirks of a peer (docs/peer.md, "Quirks") over RDMA: `o2ref serve --quirk` in one process; ping, put, get and
`o2props hostile --peer` in others must tolerate the quirk or name it.

    ci/vm/run -- tests/device/quirks_rxe.py [O2REF [TEST]...]

O2REF: the program, with o2props in its folder; default build/gcc/o2ref.  TEST: Quirks.test_late and so on.  Last line
"N passed, N failed".  The devices are those of tests/device/net_rxe.py.
"""

import subprocess
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
import net_rxe  # noqa: E402
from net_rxe import DEVICE_A, DEVICE_B, FAILED, OK, PEER, SECONDS, Server, client  # noqa: E402

CANNOT = 77  # hostile: nothing was tried, as the peer does not serve a correct node
SERVED = 8 << 20
LIE = "magic"  # any misbehaviour that peers do not tolerate


class Quirks(unittest.TestCase):
    def well(self, *arguments):
        status, out, err = client(*arguments)
        self.assertEqual((status, err), (OK, ""), f"{arguments}: {out}")

    def named(self, pattern, *arguments):
        status, out, err = client(*arguments)
        self.assertEqual((status, err.count("\n")), (FAILED, 1), f"{arguments}: {out}{err}")
        self.assertRegex(err, r"^o2ref: (reading back )?(ping|PUT|GET) \d+.*" + pattern)

    def hostile(self, *arguments):
        """(status, output) of a misbehaving node, with a correct node that sends requests before and after it."""
        program = Path(net_rxe.PROGRAM).with_name("o2props")
        done = subprocess.run([program, "hostile", "--device", DEVICE_A, "--peer", PEER, *map(str, arguments), LIE],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=SECONDS, check=False)
        return done.returncode, done.stdout

    def met(self, *arguments):
        status, out = self.hostile(*arguments)
        self.assertEqual((status, out.splitlines()[-1]), (OK, "1 passed, 0 failed, 0 tolerated, 0 not tried"), out)

    def begins_not(self, pattern, *arguments):
        status, out = self.hostile(*arguments)
        self.assertEqual(status, CANNOT, out)
        self.assertRegex(out, r"^o2props: cannot begin: an honest node's " + pattern)

    def judged(self, pattern, *arguments):
        """Run a misbehaving and a correct node against a victim of ours; all correct nodes have the quirk."""
        program = Path(net_rxe.PROGRAM).with_name("o2props")
        done = subprocess.run([program, "hostile", "--device", f"{DEVICE_A},{DEVICE_B}", *map(str, arguments), LIE],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=SECONDS, check=False)
        self.assertRegex(done.stdout, rf"^{LIE} +" + pattern)

    PLACE = ("--portal", 60, "--match-bits", "0x1234")

    def test_sums_signed(self):
        with Server("--quirk", "sums-signed"):
            self.named(r"fatal \(reason 3\)", "put", "--checksum", "unsigned")
            self.named(r"fatal \(reason 3\)", "get", "--checksum", "unsigned")
            self.named(r"fatal \(reason 3\)", "ping", "--checksum", "unsigned")
            for kind in ("off", "signed", "auto"):
                self.well("put", "--checksum", kind, "--size", 3000, "--count", 20, "--verify")
                self.well("get", "--checksum", kind, "--count", 20, "--verify")
            self.met(*self.PLACE)
        # The correct node has the quirk, and the peer's checksum uses unsigned chars.
        with Server("--checksum", "unsigned"):
            self.begins_not("ping", "--quirk", "sums-signed", *self.PLACE)
            self.met(*self.PLACE)

    def test_sums_other_bytes(self):
        with Server("--quirk", "sums-other-bytes"):
            wrong = "wire/header/checksum: .*--tolerate-immediate-checksum"
            for command in (("ping",), ("get", "--size", 3000, "--verify"), ("put", "--size", 3000, "--verify")):
                self.named(wrong, *command)
                self.well(*command, "--tolerate-immediate-checksum")
            # The quirk affects only IMMEDIATEs with a payload.
            self.well("put", "--verify")
            self.well("get", "--verify")
            self.begins_not("ping ends with .*the peer has broken a rule: wire/header/checksum: ", *self.PLACE)

    def test_second_page_wrong(self):
        with Server("--quirk", "second-page-wrong"):
            for command in ("put", "get"):
                self.named("byte 1096 is 0xee, not 0x", command, "--size", 3000, "--offset", 3000, "--verify")
                self.well(command, "--size", 1096, "--offset", 3000, "--verify")
                self.well(command, "--verify")
            self.well("ping")
            self.begins_not("GET of the 3000 bytes that it has PUT: byte 1096 is 0xee, not 0x", *self.PLACE)
            self.met()

    def test_short_get_claims(self):
        with Server("--quirk", "short-get-claims", "--buffer", f"60:0x1234:{SERVED}", "--buffer", f"61:0x1234:{SERVED}:ro",
                    "--buffer", "62:0x1234:6000"):
            short = ("--size", 8192, "--offset", SERVED - 4096)
            self.named("the peer reports 8192 bytes and wrote 0 of them$", "get", *short, "--verify")
            self.named("short: the peer reports 4096 of 8192 bytes$", "put", *short, "--verify")
            self.well("get", "--verify")
            self.well("put", "--verify")
            self.well("ping")
            self.met(*self.PLACE)
            # The served memory is shorter than the correct node's transfers.
            self.begins_not("GET of 9000 bytes: the peer reports 9000 bytes and wrote 0 of them", "--portal", 62, "--match-bits", "0x1234")

    def test_gapped_source_silent(self):
        with Server("--quirk", "gapped-source-silent", "--buffer", "60:0x1234", "--buffer", "61:0x1234:ro"):
            self.named(r"waited \d+ ms for the peer's GET_DONE, limit 3000 ms$", "get", "--timeout", 3)
            self.well("get", "--size", 3000, "--verify")
            self.well("put", "--verify")
            self.well("ping")
            self.met(*self.PLACE)
            # The memory that can only be read consists of parts of pages.
            self.begins_not(r"GET ends with .*waited \d+ ms for the peer's GET_DONE, limit 20000 ms", "--portal", 61,
                            "--match-bits", "0x1234")
        with Server("--quirk", "gapped-source-silent", "--mode", "fmr"):
            self.well("get", "--verify")

    def test_closes_first(self):
        with Server("--quirk", "closes-first"):
            for command in ("ping", "put", "get"):
                self.named(r"the peer has ended the connection \(DREQ\)$", command)
            self.begins_not(r"ping ends with .*the peer has ended the connection \(DREQ\)", *self.PLACE)
        self.judged("NOT MET: open 0, closed 1 times with -5 by conn/completion;", "--quirk", "closes-first")
        self.judged("met", "--quirk", "sums-signed")

    def test_late(self):
        with Server("--quirk", "late=4000"):
            for command, answer in (("ping", "LNet's REPLY"), ("put", "the peer's PUT_ACK"), ("get", "the peer's GET_DONE")):
                self.named(rf"waited \d+ ms for {answer}, limit 2000 ms$", command, "--timeout", 2)
                self.well(command, "--timeout", 60)
        with Server("--quirk", "late=25000"):
            self.begins_not(r"ping ends with .*waited \d+ ms for LNet's REPLY, limit 20000 ms", *self.PLACE)


if __name__ == "__main__":
    sys.exit(net_rxe.main(sys.modules[__name__]))
