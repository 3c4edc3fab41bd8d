#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Test o2ref conform over RDMA (docs/conform.md).  The peer is `o2ref serve`, with and without quirks; the misbehaving node of
--hostile is `o2props` in the same folder.

    ci/vm/run -- tests/device/conform_rxe.py [O2REF [TEST]...]

O2REF: the program, with o2props in its folder; default build/gcc/o2ref.  TEST: Conform.test_clean, ...  Last line "N passed,
N failed".  The devices are those of tests/device/net_rxe.py.
"""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
import net_rxe  # noqa: E402
from net_rxe import DEVICE_A, OK, PEER, Server  # noqa: E402

FOUND, CANNOT = 1, 77
LONG = 400  # for a whole table in an emulator


def conform(*arguments, seconds=LONG):
    """(status, {id: outcome}, whole output)."""
    done = subprocess.run([net_rxe.PROGRAM, "conform", "--device", DEVICE_A, "--json", *map(str, arguments), PEER],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=seconds, check=False)
    if done.returncode not in (OK, FOUND):
        return done.returncode, {}, done.stdout + done.stderr
    return done.returncode, {probe["id"]: probe["outcome"] for probe in json.loads(done.stdout)["probes"]}, done.stdout + done.stderr


def judge(*arguments):
    return subprocess.run([net_rxe.PROGRAM, "judge", *arguments], stdout=subprocess.PIPE, text=True, timeout=LONG, check=False)


class Conform(unittest.TestCase):
    def test_clean(self):
        with Server(), tempfile.TemporaryDirectory() as folder:
            status, outcomes, text = conform("--rounds", 1, "--out", folder)
            self.assertEqual(status, OK, text)
            judged = judge(f"{folder}/said.pcapng")
            self.assertEqual(judged.returncode, OK, judged.stdout)
            self.assertIn("\n0 must, 0 should, ", judged.stdout)
            self.assertEqual({name for name, outcome in outcomes.items() if outcome != "holds"}, {"checksum/payload"}, text)
            self.assertGreater(len(outcomes), 90)

    def test_a_test_node(self):
        """The peer was sent wrong bytes on purpose, and reports that at its end."""
        with Server("--lst") as server:
            status, outcomes, text = conform("--lst", "--only", "lst/", "--rounds", 1)
            self.assertEqual(status, OK, text)
            self.assertEqual({name for name, outcome in outcomes.items() if outcome != "holds"}, {"lst/expire"}, text)
            self.assertGreater(len(outcomes), 45)
            status, _, err = server.end()
            self.assertEqual((status, len(err.splitlines())), (FOUND, 5), err)

    def test_nobody_listens(self):
        status, _, text = conform("--port", 9999)
        self.assertEqual(status, CANNOT, text)

    def named(self, quirk, ids, *arguments, only=""):
        with Server("--quirk", quirk):
            status, outcomes, text = conform(*arguments, *(("--only", only) if only else ()))
            found = sorted(name for name, outcome in outcomes.items() if outcome == "finding")
            self.assertEqual((status, found), (FOUND, sorted(ids)), text)

    def test_quirks(self):
        for quirk, ids, only in (
            ("sums-signed", ["checksum/unsigned"], "checksum/,connect/"),
            ("sums-other-bytes", ["checksum/payload"], "checksum/,ping/"),
            ("second-page-wrong", ["offset/remote-3000", "offset/remote-4095", "judge/payload/get"], "offset/"),
            ("short-get-claims", ["end/get"], "end/"),
            ("gapped-source-silent", ["get/size-4095", "judge/transfer/unanswered"], "get/size-1,get/size-4095"),
            ("closes-first", ["ping/one"], "ping/,end/"),
            ("late=4000", ["ping/one"], "ping/"),
        ):
            with self.subTest(quirk=quirk):
                self.named(quirk, ids, "--timeout", 3, only=only)

    def test_hostile(self):
        """A few misbehaviours of each kind: the judge names them while they happen, and again (except for message/wire) from
        the capture; it does not name the peer.  tests/device/vm/hostile.py runs all of them."""
        wanted = {"magic": "message/wire", "noop-storm": "credits/noop-storm", "asks-depth-0": "connect/limits",
                  "nak-of-success": "transfer/errno", "before": "write/outside"}
        with Server(), tempfile.TemporaryDirectory() as folder:
            status, outcomes, text = conform("--hostile", "--only", ",".join(f"hostile/{name}" for name in wanted), "--out", folder)
            self.assertEqual((status, outcomes), (OK, {f"hostile/{name}": "holds" for name in wanted}), text)
            report = json.loads((Path(folder) / "report.json").read_text(encoding="utf-8"))
            judged = json.loads(judge("--json", f"{folder}/said.pcapng").stdout)
        self.assertEqual((report["lies"], report["lies_named"]), (len(wanted), len(wanted)))
        for probe in report["probes"]:
            name = probe["id"].removeprefix("hostile/")
            self.assertIn(wanted[name], probe["named"])
            self.assertTrue(any(row["rule"] == wanted[name] and probe["first_packet"] <= row["packet"] <= probe["last_packet"]
                                for row in judged["findings"]) or wanted[name] == "message/wire", (probe, judged["findings"]))
        self.assertNotIn(PEER, {row["who"] for row in judged["findings"] if row["severity"] != "note"})


if __name__ == "__main__":
    sys.exit(net_rxe.main(sys.modules[__name__]))
