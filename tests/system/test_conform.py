#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Test o2ref conform on the in-process network against docs/conform.md.

usage: test_conform.py [O2REF]   the program; default $O2REF_CLI, else build/gcc/o2ref.  Last line "N passed, N failed".
"""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path[:0] = [str(ROOT / "tests" / "lib"), str(ROOT / "tests" / "system")]

import guide  # noqa: E402
import suite  # noqa: E402

PROGRAM = suite.program()
PEER = "10.77.0.2@o2ib"
OK, FOUND, USAGE, CANNOT = 0, 1, 2, 77
ROW = re.compile(r"^(holds|FINDING|known|tolerated|not tried) +(\S+) +(\S.*)$", re.M)
LAST = re.compile(r"^(\d+) hold, (\d+) findings, (\d+) known, (\d+) tolerated, (\d+) not tried; seed (\d+)$")


def run(*arguments):
    return suite.ended([PROGRAM, "conform", *arguments], (OK, FOUND, USAGE, CANNOT), stdin=subprocess.DEVNULL, timeout=250, text=True)


def loop(*arguments):
    return run("--device", "loop", *arguments, PEER)


def page():
    return (ROOT / "docs" / "conform.md").read_text(encoding="utf-8")


def listed():
    """Id, sentence and source of each probe, as the program lists them."""
    return re.findall(r"^(\S+) +(.*) \(docs/(.*)\)$", run("--list").stdout, re.M)


def quirks():
    """{quirk: ids} from the page's last table; ids: the findings if their probes run."""
    rows = page().partition("| Quirk | Named by |\n|---|---|\n")[2]
    return {quirk: re.findall(r"`([a-z0-9/-]+/[a-z0-9-]+)`", ids)
            for names, ids in re.findall(r"^\| (.*?) \| (.*) \|$", rows, re.M)
            for quirk in re.findall(r"`([a-z-]+)`", names) if not quirk.startswith("--")}


def is_lst(name):
    return name.startswith("lst/")


class Clean(unittest.TestCase):
    def test_a_good_peer(self):
        done = loop("--checksum", "unsigned")
        self.assertEqual((done.returncode, done.stderr), (OK, ""), done.stdout)
        rows = ROW.findall(done.stdout)
        self.assertEqual([row[:2] for row in rows], [("holds", probe[0]) for probe in listed() if not is_lst(probe[0])])
        self.assertEqual(LAST.match(done.stdout.splitlines()[-1]).groups(), (str(len(rows)), "0", "0", "0", "0", "1"))

    def test_the_examples_of_the_page(self):
        found = [step for step in guide.steps(page(), None) if "--device loop" in step.command]
        self.assertEqual(len(found), 3)
        env = {**os.environ, "PATH": f"{Path(PROGRAM).resolve().parent}:{os.environ['PATH']}"}
        for step, printed, as_shown in guide.run(found, ROOT, env=env):
            with self.subTest(step.command):
                self.assertTrue(as_shown, printed)

    def test_no_checksums_to_check(self):
        done = loop("--only", "checksum/")
        self.assertEqual((done.returncode, [row for row in ROW.findall(done.stdout) if row[0] != "holds"]),
                         (OK, [("not tried", "checksum/payload", "it sends no checksums")]), done.stdout)

    def test_a_good_test_node(self):
        done = loop("--lst", "--checksum", "signed")
        self.assertEqual((done.returncode, done.stderr), (OK, ""), done.stdout)
        self.assertEqual([row[1] for row in ROW.findall(done.stdout)], [probe[0] for probe in listed()])
        self.assertEqual([row[1:] for row in ROW.findall(done.stdout) if row[0] != "holds"],
                         [("lst/expire", "its session timeout (100 s) is not below --timeout")])
        # Together the probes close and make connections many times.
        connections, = re.findall(r" on (\d+) connections$", done.stdout, re.M)
        self.assertGreater(int(connections), 1000)
        for options in (("--mode", "fmr", "--queue-depth", 2), ("--mode", "phys"), ("--mode", "user", "--checksum", "auto")):
            with self.subTest(options=options):
                done = loop("--lst", "--only", "lst/", "--rounds", 1, *options)
                self.assertEqual((done.returncode, done.stderr), (OK, ""), done.stdout)

    def test_modes_and_depths_of_ours(self):
        """Our own settings must not be reported as properties of the peer."""
        for options in (("--mode", "fmr", "--queue-depth", 2), ("--mode", "global", "--queue-depth", 255, "--max-frags", 256),
                        ("--checksum", "auto"), ("--seed", 12345)):
            with self.subTest(options=options):
                done = loop("--only", "ping/,put/,get/,end/,leave/", *options)
                self.assertEqual(done.returncode, OK, done.stdout)

    def test_more_pings_than_can_be_in_flight(self):
        """The whole table at the largest depth: some probes ping twice as often as it says."""
        for options in (("--queue-depth", 255, "--rounds", 2), ("--queue-depth", 128, "--only", "flow/")):
            with self.subTest(options=options):
                done = loop(*options)
                self.assertEqual((done.returncode, done.stderr), (OK, ""), done.stdout)

    def test_a_peer_with_limits(self):
        """An in-process peer has the same settings: it rejects requests beyond one limit, then those beyond the other."""
        for options in (("--queue-depth", 4), ("--max-frags", 256), ("--queue-depth", 2, "--max-frags", 256)):
            with self.subTest(options=options):
                done = loop("--only", "connect/", *options)
                self.assertEqual((done.returncode, done.stderr), (OK, ""), done.stdout)
                held = {row[1]: row[0] for row in ROW.findall(done.stdout)}
                # In version 0x11 a reject names no limit.
                if "--max-frags" in options:
                    self.assertEqual(held.pop("connect/version-1"), "not tried")
                self.assertEqual(set(held.values()), {"holds"}, done.stdout)


class Table(unittest.TestCase):
    def test_is_that_of_the_page(self):
        rows = re.findall(r"^\| `([a-z0-9/_-]+)` \| (.*) \| \[[a-z]+\.md\]\((.*)\) \|$", page(), re.M)
        self.assertEqual(rows, listed())
        self.assertEqual(len({row[0] for row in rows}), len(rows))

    def test_behind_the_last_option(self):
        done = run("--device", "loop", "--loop-quirk", "short-get-claims", "--only", "end/", "--", PEER)
        again, = re.findall(r"^ +again: o2ref conform (.*)$", done.stdout, re.M)
        self.assertRegex(run(*shlex.split(again)).stdout, r"\nFINDING +end/get |^FINDING +end/get ")

    def test_each_row_can_be_tried_by_itself(self):
        for wanted in ("connect/other-life", "end/get", "restart/stamp"):
            rows = ROW.findall(loop("--only", wanted).stdout)
            self.assertEqual([row[:2] for row in rows], [("holds", wanted)])


class Quirks(unittest.TestCase):
    VALUES = {"late": "late=3000"}

    def test_each_is_named(self):
        table = quirks()
        offered = re.findall(r"^  ([a-z][a-z-]*)", subprocess.run([PROGRAM, "serve", "--help"], capture_output=True, text=True, check=True)
                             .stdout.partition("--quirk ")[2], re.M)
        self.assertEqual(sorted(table), sorted(offered))
        for quirk, ids in table.items():
            with self.subTest(quirk=quirk):
                self.assertTrue(ids)
                probes = [name for name in ids if not name.startswith("judge/")]
                options = ("--timeout", 2, "--lst", "--loop-quirk", self.VALUES.get(quirk, quirk))
                only = () if ids[0] == "ping/one" else ("--only", ",".join(["ping/", "checksum/", "end/", "connect/", *probes]))
                done = loop(*options, *only)
                self.assertEqual(done.returncode, FOUND, done.stdout)
                found = [row[1] for row in ROW.findall(done.stdout) if row[0] == "FINDING"]
                self.assertEqual(sorted(found), sorted(ids))
                self.tries_again(done.stdout, found)
                self.bytes_are_shown(done.stdout, len(probes))

    def bytes_are_shown(self, text, count):
        """For each probe: the peer's last reply; if that was a message, it begins with the protocol's magic."""
        said = re.findall(r"^ +the peer said last: (.*)$", text, re.M)
        self.assertEqual(len(said), count, text)
        for last in said:
            self.assertRegex(last, r"^(a (message|reject|reply) of \d+ bytes: 911be90b [0-9a-f ]+(\.\.)?|the end of the connection|nothing)$")

    def tries_again(self, text, found):
        """The command that a finding prints reproduces that finding and no other."""
        again = re.findall(r"^ +again: o2ref conform (.*)$", text, re.M)
        self.assertEqual(len(again), len(found))
        done = run(*shlex.split(again[0]))
        rows = [row for row in ROW.findall(done.stdout) if row[0] != "not tried" and not row[1].startswith("judge/")]
        self.assertEqual([row[:2] for row in rows], [("FINDING", found[0])])
        # The figures must be equal, except those that differ from run to run.
        if not re.search("waited|cksum", rows[0][2]):
            self.assertIn(rows[0], ROW.findall(text))

    def test_figures_are_in_the_finding(self):
        text = loop("--loop-quirk", "second-page-wrong", "--only", "offset/").stdout
        self.assertRegex(text, r"GET of 3000 bytes at offset 3000: byte 1096 is 0xee, not 0x..")
        text = loop("--loop-quirk", "sums-other-bytes", "--only", "checksum/").stdout
        self.assertRegex(text, r"wire/header/checksum: ibm_cksum is \d+, expected \d+")

    def test_kernels_are_known_for_some(self):
        done = loop("--profile", "kernel", "--loop-quirk", "short-get-claims")
        self.assertEqual(done.returncode, OK, done.stdout)
        self.assertEqual([row[1] for row in ROW.findall(done.stdout) if row[0] == "tolerated"], ["end/get"])
        done = loop("--profile", "kernel", "--loop-quirk", "second-page-wrong", "--only", "offset/")
        self.assertEqual(done.returncode, FOUND)


class Known(unittest.TestCase):
    def known(self, text, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "known"
            path.write_text(text, encoding="utf-8")
            return loop("--known", path, *arguments)

    def test_a_mute_peer_is_not_whole(self):
        done = self.known("ping/one\n", "--timeout", 2, "--loop-quirk", "closes-first", "--only", "ping/")
        self.assertEqual((done.returncode, {row[0] for row in ROW.findall(done.stdout)}), (FOUND, {"known", "not tried"}), done.stdout)
        self.assertEqual(done.stderr, "o2ref: the peer does not answer a ping, so nothing else was tried\n")

    def test_is_listed_and_does_not_count(self):
        done = self.known("# a comment\n\n  end/get   # reports more than it wrote\nput/size-1\nget/size-1\n",
                          "--loop-quirk", "short-get-claims", "--only", "end/,put/")
        self.assertEqual(done.returncode, OK, done.stdout)
        self.assertEqual([row[1] for row in ROW.findall(done.stdout) if row[0] == "known"], ["end/get"])
        # A known finding whose probe was not tried must not be reported as gone.
        self.assertEqual(re.findall(r"^listed in --known but no longer found: (.*)$", done.stdout, re.M), ["put/size-1"])
        self.assertEqual(LAST.match(done.stdout.splitlines()[-1]).group(2, 3), ("0", "1"))
        report = json.loads(self.known("end/get\nend/put", "--loop-quirk", "short-get-claims", "--only", "end/", "--json").stdout)
        self.assertEqual((report["known"], report["findings"], report["known_and_gone"]), (1, 0, ["end/put"]))

    def test_a_tolerated_one_still_occurs(self):
        with tempfile.TemporaryDirectory() as folder:
            done = self.known("end/get\nend/put\n", "--profile", "kernel", "--loop-quirk", "short-get-claims", "--only", "end/", "--out", folder)
            junit = (Path(folder) / "report.junit.xml").read_text(encoding="utf-8")
            report = json.loads((Path(folder) / "report.json").read_text(encoding="utf-8"))
        self.assertEqual([row[1] for row in ROW.findall(done.stdout) if row[0] == "tolerated"], ["end/get"])
        self.assertEqual((report["tolerated"], report["known"], report["known_and_gone"]), (1, 0, ["end/put"]))
        self.assertIn("<system-out>tolerated: ", junit)
        self.assertNotIn("<system-out>known: ", junit)

    def test_the_longest_line(self):
        """1023 characters with the newline, and one more."""
        for length, status in ((1023, OK), (1024, USAGE)):
            with self.subTest(length=length):
                done = self.known("end/get #".ljust(length - 1, "x") + "\nend/put\n", "--only", "end/get")
                self.assertEqual(done.returncode, status, done.stderr)

    def test_another_finding_counts(self):
        done = self.known("end/put\n", "--loop-quirk", "short-get-claims", "--only", "end/")
        self.assertEqual(done.returncode, FOUND, done.stdout)

    def test_bad_lists(self):
        for text, said in (("end/get\nno/such\n", "line 2: 'no/such' is no id"), ("end/get\nend/get\n", "line 2: 'end/get' is listed twice"),
                           ("hostile/magic\nhostile/magi\n", "line 2: 'hostile/magi' is no id"), ("hostile/\n", "line 1: 'hostile/' is no id"),
                           ("x" * 2000, "line 1: "), ("end/get extra\n" * 2, "line 1: 'end/get' is followed by text that is no comment"),
                           ("end/get\nend/put\textra # why\n", "line 2: 'end/put' is followed by text that is no comment")):
            with self.subTest(text=text[:20]):
                done = self.known(text)
                self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (USAGE, "", 1))
                self.assertIn(said, done.stderr)
        self.assertEqual(loop("--known", "/no/such/file").returncode, USAGE)


class Said(unittest.TestCase):
    """Traffic is judged while it happens, and again from the capture."""

    def judged(self, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            done = loop("--out", folder, *arguments)
            capture = Path(folder) / "said.pcapng"
            judge = subprocess.run([PROGRAM, "judge", "--json", capture], capture_output=True, text=True, timeout=100, check=False)
            decode = subprocess.run([PROGRAM, "decode", "--pcap", capture], capture_output=True, text=True, timeout=100, check=False)
            report = json.loads((Path(folder) / "report.json").read_text(encoding="utf-8"))
        self.assertEqual(decode.stderr, "")
        return done, report, json.loads(judge.stdout), decode.stdout

    def test_the_capture_holds_all_of_it(self):
        done, report, judge, decoded = self.judged("--rounds", 1)
        self.assertEqual(done.returncode, OK, done.stdout)
        self.assertEqual((judge["seen"]["messages"], judge["seen"]["connections"]), (report["judged_messages"], report["judged_connections"]))
        self.assertGreater(judge["seen"]["messages"], 4000)
        self.assertEqual((judge["must"], judge["should"]), (0, 0), judge["findings"])
        writes, = re.findall(r"and (\d+) WRITEs of ours", done.stdout)
        self.assertEqual(len(re.findall(r"  WRITE \d+ bytes", decoded)), int(writes))
        # Every type of message, and each message of the connection manager that an end sees.
        for word in ("CM REQ", "CM REP", "CM REJ", "CM DREQ", "CONNREQ", "CONNACK", "IMMEDIATE", "NOOP", "PUT_REQ", "PUT_ACK",
                     "PUT_NAK", "PUT_DONE", "GET_REQ", "GET_DONE"):
            self.assertTrue(re.search(rf" {word}\b", decoded), word)

    def test_a_finding_names_its_packets(self):
        done, report, _, decoded = self.judged("--loop-quirk", "second-page-wrong", "--only", "put/size-1,offset/remote-3000")
        probe, = (probe for probe in report["probes"] if probe["id"] == "offset/remote-3000")
        first, last = probe["first_packet"], probe["last_packet"]
        self.assertRegex(done.stdout, rf"\n +said: packets {first} to {last} of /\S+/said.pcapng\n")
        lines = [line for line in decoded.splitlines() if re.match(r" +\d+  ", line) and first <= int(line.split()[0]) <= last]
        # The excerpt reaches from the connection's own request to its end.
        self.assertRegex(lines[0], "CM REQ ")
        self.assertRegex(lines[-1], "CM DREQ")
        self.assertEqual(sum("IMMEDIATE PUT 3000 bytes" in line for line in lines), 1)
        self.assertEqual(sum("IMMEDIATE REPLY 3000 bytes" in line for line in lines), 1)

    def test_a_probe_without_a_word_has_no_packets(self):
        _, report, _, _ = self.judged("--portal", 7, "--only", "ping/one,put/size-1,checksum/payload")
        has = {probe["id"]: "first_packet" in probe or "last_packet" in probe for probe in report["probes"]}
        self.assertEqual(has, {"ping/one": True, "checksum/payload": True, "put/size-1": False})

    def test_what_the_peer_breaks_is_named(self):
        done, report, judge, _ = self.judged("--timeout", 2, "--loop-quirk", "gapped-source-silent", "--only", "get/size-4096")
        self.assertEqual(done.returncode, FOUND)
        probe, = (probe for probe in report["probes"] if probe["id"].startswith("judge/"))
        self.assertEqual(probe["id"], "judge/transfer/unanswered")
        self.assertRegex(probe["seen"], r"^the peer, in \S+ \(packet \d+\): milliseconds is \d+, limit 1800")
        self.assertRegex(probe["again"], r"--only (get/size-4096|ping/one)$")


class Hostile(unittest.TestCase):
    """Misbehaviour is tried only over devices (tests/device/conform_rxe.py); here there are none."""

    def test_is_asked_for_by_name(self):
        self.assertNotIn("hostile/", loop("--only", "ping/").stdout)
        done = loop("--only", "hostile/magic")
        self.assertEqual((done.returncode, done.stdout), (USAGE, ""))
        self.assertEqual(done.stderr, "o2ref: --only: 'hostile/magic' needs --hostile\n")
        done = loop("--hostile", "--only", "ping/one,hostile/magic,hostile/magi")
        self.assertEqual((done.returncode, done.stdout), (USAGE, ""))
        self.assertEqual(done.stderr, "o2ref: --only: unknown probe 'hostile/magi' (see: o2ref conform --list)\n")

    def test_needs_a_device(self):
        done = loop("--hostile", "--only", "ping/one,hostile/magic,hostile/version")
        self.assertEqual(done.returncode, OK, done.stderr)
        self.assertEqual(ROW.findall(done.stdout)[1:], [("not tried", f"hostile/{name}", "--hostile needs an RDMA device")
                                                        for name in ("magic", "version")])
        table = (ROOT / "docs" / "hostile.md").read_text(encoding="utf-8").partition("## The table")[2]
        rows = ROW.findall(loop("--hostile", "--only", "hostile/").stdout)
        self.assertEqual([row[1] for row in rows], [f"hostile/{name}" for name in re.findall(r"^\| `([a-z0-9-]+)`", table, re.M)])


class Lacks(unittest.TestCase):
    def test_no_place(self):
        done = loop("--portal", 7, "--timeout", 2)
        self.assertEqual(done.returncode, OK, done.stdout)
        lacking = {row[1]: row[2] for row in ROW.findall(done.stdout) if row[0] == "not tried"}
        self.assertEqual(lacking["put/size-1"], "no memory takes PUTs at portal 7 (see --portal, --match-bits)")
        self.assertNotIn("get/size-1", lacking)
        self.assertNotIn("ping/many", lacking)
        done = loop("--read-portal", 7, "--only", "get/", "--timeout", 2)
        self.assertEqual({row[0] for row in ROW.findall(done.stdout)}, {"not tried"})

    def test_a_place_of_another_size(self):
        for size in (4 << 20, 16 << 20):
            rows = ROW.findall(loop("--place-bytes", size, "--only", "end/").stdout)
            self.assertEqual({row[0] for row in rows}, {"not tried"})
            self.assertIn(f"the peer's memory is not {size} bytes long (see --place-bytes)", {row[2] for row in rows})


    def test_the_place_of_the_ping_is_none(self):
        """What is PUT there is no memory that a GET brings back: the peer would be blamed for that."""
        for options in (("--portal", 0), ("--read-portal", 0)):
            done = loop(*options, "--match-bits", "0x8000000000000000")
            self.assertEqual((done.returncode, done.stdout), (USAGE, ""))
            self.assertEqual(done.stderr, f"o2ref: {options[0]} 0 with --match-bits 0x8000000000000000 is the place of LNet's ping\n")


class Output(unittest.TestCase):
    def test_json(self):
        done = loop("--json", "--only", "end/", "--loop-quirk", "short-get-claims")
        report = json.loads(done.stdout)
        self.assertEqual((report["form"], report["version"], report["peer"]), ("o2ref/conform/output", 1, PEER))
        self.assertEqual((report["holds"], report["findings"], report["not_tried"], report["whole"]), (3, 1, 0, True))
        probe, = (probe for probe in report["probes"] if probe["outcome"] == "finding")
        self.assertEqual(probe["id"], "end/get")
        self.assertIn("wrote 0 of them", probe["seen"])
        self.assertEqual(probe["again"], f"o2ref conform --device loop --loop-quirk short-get-claims {PEER} --only end/get")

    def test_json_is_what_the_schema_says(self):
        schema = json.loads((ROOT / "docs" / "conform.schema.json").read_text(encoding="utf-8"))
        rows = schema["properties"]["probes"]["items"]
        with tempfile.TemporaryDirectory() as folder:
            report = json.loads(loop("--json", "--only", "end/,get/size-1", "--read-portal", 9, "--out", folder, "--loop-quirk",
                                     "short-get-claims").stdout)
        self.assertEqual(sorted(report), sorted(schema["required"]))
        self.assertEqual(sorted(report), sorted(schema["properties"]))
        seen = set()
        for row in report["probes"]:
            seen |= set(row)
            self.assertLessEqual(set(rows["required"]), set(row))
            self.assertLessEqual(set(row), set(rows["properties"]))
            self.assertIn(row["outcome"], rows["properties"]["outcome"]["enum"])
        # Misbehaviour needs a device: tests/device/conform_rxe.py.
        self.assertEqual(seen | {"named"}, set(rows["properties"]))
        self.assertEqual((report["lies"], report["lies_named"]), (0, 0))

    def test_files(self):
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "new\nline"
            done = loop("--out", out, "--only", "end/,get/size-1", "--read-portal", 9, "--loop-quirk", "short-get-claims")
            self.assertEqual(done.returncode, FOUND, done.stderr)
            self.assertEqual((out / "report.txt").read_text(encoding="utf-8"), done.stdout)
            self.assertRegex(done.stdout, r"\n +said: packets \d+ to \d+ of \S+/new\?line/said.pcapng\n")
            report = json.loads((out / "report.json").read_text(encoding="utf-8"))
            self.assertEqual([probe["id"] for probe in report["probes"]], [row[1] for row in ROW.findall(done.stdout)])
            suite, = ElementTree.parse(out / "report.junit.xml").getroot()
            self.assertEqual([suite.get(name) for name in ("name", "tests", "failures", "errors", "skipped")], [PEER, "5", "1", "0", "1"])
            failed, = (case.get("name") for case in suite if case.find("failure") is not None)
            self.assertEqual(failed, "end/get")
            again = loop("--out", out, "--only", "end/put")
            self.assertEqual(again.returncode, OK)
            self.assertEqual((out / "report.txt").read_text(encoding="utf-8"), again.stdout)

    def test_files_of_an_earlier_run_are_gone(self):
        """A run that cannot begin or reach the peer leaves no report that may be taken for its own."""
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(loop("--out", folder, "--only", "ping/one").returncode, OK)
            Path(folder, "other").touch()
            done = run("--device", "there-is-no-such", "--out", folder, PEER)
            if "o2ref-net:" in done.stderr:
                self.skipTest("built without verbs")
            self.assertEqual(done.returncode, CANNOT)
            self.assertEqual(os.listdir(folder), ["other"])

    def test_files_when_standard_output_is_full(self):
        for words in ((), ("--json",)):
            with self.subTest(words), tempfile.TemporaryDirectory() as folder, open("/dev/full", "wb") as full:
                done = subprocess.run([PROGRAM, "conform", "--device", "loop", "--only", "ping/,connect/", "--out", folder, *words, PEER],
                                      stdout=full, stderr=subprocess.PIPE, timeout=60, text=True, check=False)
                self.assertEqual((done.returncode, done.stderr), (USAGE, "o2ref: standard output: No space left on device\n"))
                self.assertEqual(set(os.listdir(folder)), {"report.txt", "report.json", "report.junit.xml", "said.pcapng"})
                self.assertEqual(json.loads((Path(folder) / "report.json").read_text(encoding="utf-8"))["findings"], 0)

    def test_files_that_cannot_be_written(self):
        done = loop("--out", "/dev/null/x", "--only", "end/")
        self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (USAGE, "", 1))
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "file").touch()
            for path, why in ((f"{folder}/file", "Not a directory"), (f"{folder}/{'x/' * 2048}"[:4085], "File name too long")):
                done = loop("--out", path, "--only", "end/")
                self.assertEqual((done.returncode, done.stdout, done.stderr), (USAGE, "", f"o2ref: {path}: {why}\n"))
            (Path(folder) / "report.json").mkdir()
            done = loop("--out", folder, "--only", "end/get")
            self.assertEqual(done.returncode, USAGE)
            self.assertRegex(done.stderr, r"^o2ref: .*report\.json: [^\n]*\n$")

    def test_usage(self):
        for arguments, text in (((), "exactly one NID is needed"), ((PEER, PEER), "exactly one NID is needed"),
                                (("--only", "nothing/at-all", PEER), "unknown probe 'nothing/at-all'"),
                                (("--place-bytes", 1, PEER), "--place-bytes"), (("--profile", "odd", PEER), "--profile"),
                                (("--rounds", 0, PEER), "--rounds"), (("--only", "lst/read-8", PEER), "'lst/read-8' needs --lst")):
            with self.subTest(arguments=arguments):
                done = run("--device", "loop", *arguments)
                self.assertEqual((done.returncode, done.stdout), (USAGE, ""))
                self.assertIn(text, done.stderr)

    def test_interrupted(self):
        with tempfile.TemporaryDirectory() as folder:
            process = subprocess.Popen([PROGRAM, "conform", "--device", "loop", "--rounds", "1000000", "--only", "ping/one,leave/",
                                        "--out", folder, PEER], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            self.addCleanup(process.kill)
            self.assertRegex(process.stdout.readline(), r"^holds +ping/one ")
            process.send_signal(signal.SIGINT)
            began = time.monotonic()
            out, err = process.communicate(timeout=60)
            self.assertLess(time.monotonic() - began, 10)
            self.assertEqual((process.returncode, err), (FOUND, "o2ref: interrupted, so not all was tried\n"), out)
            report = json.loads((Path(folder) / "report.json").read_text(encoding="utf-8"))
            self.assertEqual((report["whole"], report["findings"]), (False, 0), out)
            self.assertIn("\nnot complete: interrupted, so not all was tried\n", (Path(folder) / "report.txt").read_text(encoding="utf-8"))
            junit, = ElementTree.parse(Path(folder) / "report.junit.xml").getroot()
            self.assertEqual([junit.get(name) for name in ("failures", "errors")], ["0", "1"])
            self.assertEqual(junit.get("tests"), str(len(junit)))
            error, = junit.iter("error")
            self.assertEqual(error.get("message"), "interrupted, so not all was tried")

    def test_no_device(self):
        done = run("--device", "there-is-no-such", PEER)
        if "o2ref-net:" in done.stderr:
            self.skipTest("built without verbs")
        self.assertEqual((done.returncode, done.stdout), (CANNOT, ""))
        self.assertRegex(done.stderr, r"^o2ref: there is no RDMA device there-is-no-such [^\n]*\n$")
        # Wrong usage is no absent device.
        done = run("--loop-quirk", "late", PEER)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (USAGE, "", "o2ref: --loop-quirk is for --device loop\n"))


if __name__ == "__main__":
    sys.exit(suite.run(suite.of(sys.modules[__name__])))
