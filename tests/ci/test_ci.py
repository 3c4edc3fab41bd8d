#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Tests of ci/campaign and ci/test themselves.  The last line is "N passed, N failed"."""

import html.parser
import importlib.machinery
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import types
import unittest
import unittest.mock
import xml.etree.ElementTree as tree
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "ci"))

from o2ci import (against, build, cpu, fuzzing, harness, jobs, junit, output, page, parts, place, process, simulation, table,
                  transfer)  # noqa: E402
from o2ci.failures import Failures  # noqa: E402
from o2fuzz import findings  # noqa: E402
from o2fuzz import targets as fuzz_targets  # noqa: E402
from o2ci.shard import Shard  # noqa: E402
from o2fuzz.afl import Afl  # noqa: E402
from o2fuzz import engine as engine_module  # noqa: E402
from o2fuzz.engine import Engine, Plan, Result  # noqa: E402
from o2fuzz.libfuzzer import LibFuzzer  # noqa: E402
from o2ci.result import CANNOT_RUN, FINDING, HELD, Finding, Report, Row, derived_seed  # noqa: E402

sys.path.insert(0, str(ROOT / "tests" / "system"))
import mutants  # noqa: E402

sys.path.insert(0, str(ROOT / "tests" / "lib"))
import suite  # noqa: E402

NASTY = 'a <b> & "c" \x00\x1b[31m ]]> é'


def props_result(**changes):
    pairs = {source: {sink: 100 for sink in ("global", "fmr", "fastreg")} for source in ("global", "fmr", "fastreg")}
    result = {"form": "o2ref/props_result", "version": 1, "property": "transfer", "device": "loop", "seed": "0x1",
              "seconds": 1.0, "cases": 950, "moved": 900, "refused": 50, "bytes": 1 << 24, "pairs": pairs,
              "situations": {"put": 450, "get": 450}, "missing": [], "hw_counters": {}, "findings": []}
    return {**result, **changes}


def report_of(*rows):
    return Report(7, "quick", 10, "2026-01-01T00:00:00+00:00", "ci/campaign", {"o2ref": "abc"}, 12.0, list(rows))


def finding(title="transfer on loopverbs: wrong-bytes"):
    return Finding("loop", title, "build/gcc/o2props replay F --device loop", ["sink fragment 0 of 2, bytes 0..9: x"], ["F"])


def fuzz_row(**changes):
    figures = {"target": "sg_iov", "engine": "afl", "execs": 123456, "execs_per_sec": 1000, "edges": 321}
    return Row("fuzz", "fuzz", "sg_iov", 5.0, figures=figures, **changes)


def all_rows():
    rxe = props_result(device="rxa,rxb", hw_counters={
        "rxa": {"before": {"sent_pkts": 5}, "after": {"sent_pkts": 4105}}, "rxb": {"before": {}, "after": {}}})
    rxe["guest"] = {"kernel": "6.1.0", "accel": "tcg", "boot_seconds": 4.4}
    return [Row("property", "rxe", "soft-RoCE", 9.0, figures=rxe), fuzz_row(),
            Row("property", "loop", "loopverbs", 1.0, figures=props_result()),
            Row("harness", "canary", "planted defect under afl", 1.0, figures={"found": True, "execs": 54})]


class TemporaryFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="o2ref-test-ci-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.failures = Failures(self.folder / "failures")

    def outcome(self, status, text="", timed_out=False):
        log = self.folder / "some.log"
        log.write_text(text)
        return process.Outcome(status, 1.0, log, timed_out)


class Statuses(unittest.TestCase):
    def test_exit_status(self):
        held, broken = Row("fuzz", "fuzz", "a"), Row("fuzz", "fuzz", "b", findings=[finding()])
        absent = Row("property", "rxe", "c", reason="no qemu")
        self.assertEqual([row.verdict for row in (held, broken, absent)], [HELD, FINDING, CANNOT_RUN])
        self.assertEqual(report_of(held).status(), 0)
        self.assertEqual(report_of(held, broken).status(), 1)
        self.assertEqual(report_of(held, absent).status(), 77)
        self.assertEqual(report_of(absent, broken).status(), 1)  # a finding takes precedence
        self.assertEqual(report_of().status(), 77)  # nothing ran, so nothing held

    def test_seeds_differ_by_step_and_repeat(self):
        self.assertEqual(derived_seed(1, "loop"), derived_seed(1, "loop"))
        self.assertNotEqual(derived_seed(1, "loop"), derived_seed(1, "model"))
        self.assertNotEqual(derived_seed(1, "loop"), derived_seed(2, "loop"))
        self.assertLess(derived_seed(1, "fuzz", 31), 1 << 31)


class Judging(TemporaryFolder):
    """Findings and verdicts from the ways in which o2props and the guest can end."""

    def judge(self, run, outcome, result=None, current=None):
        if result is not None:
            (self.folder / "result.json").write_text(json.dumps(result))
        if current is not None:
            (self.folder / "current-case").write_text(current)
        return transfer.judge(self.failures, run, outcome, self.folder)

    def test_held(self):
        row = self.judge(transfer.Run("loop", 1, moved=900), self.outcome(0), props_result())
        self.assertEqual((row.verdict, row.figures["moved"]), (HELD, 900))

    def test_guest_and_packets(self):
        text = "vm: guest answered after 4.4 s (tcg, kernel 6.1.0-56-amd64)\n"
        row = self.judge(transfer.Run("rxe", 1, min_per_pair=80), self.outcome(0, text), props_result(device="rxa,rxb"))
        self.assertEqual(row.verdict, HELD)
        self.assertEqual(row.figures["guest"], {"kernel": "6.1.0-56-amd64", "accel": "tcg", "boot_seconds": 4.4})

    def test_finding_is_copied_with_its_replay_line(self):
        (self.folder / "cases").mkdir()
        (self.folder / "cases" / "transfer-12").write_bytes(b"\1\2")
        (self.folder / "cases" / "transfer-12.json").write_text("{}")
        # In the guest the folder has another path.
        found = {"signature": "wrong-bytes", "lines": ["sink fragment 0 of 1, bytes 0..3"], "seed": "0x1", "case": 3,
                 "case_file": "/share/cases/transfer-12", "scenario_file": "/share/cases/transfer-12.json"}
        row = self.judge(transfer.Run("rxe", 1), self.outcome(1), props_result(device="rxa,rxb", findings=[found]))
        self.assertEqual(row.verdict, FINDING)
        self.assertEqual(len(row.findings), 1)
        copy = self.folder / "failures" / "rxe-transfer-12"
        self.assertEqual(copy.read_bytes(), b"\1\2")
        program = place.shown(place.program("o2props"))
        self.assertEqual(row.findings[0].replay, f"ci/vm/run -- {program} replay {copy} --device rxa,rxb")
        self.assertIn(row.findings[0].replay, (self.folder / "failures" / "rxe-transfer-12.txt").read_text())
        self.assertTrue((self.folder / "failures" / "rxe-transfer-12.json").is_file())

    def test_replay_names_host_and_mutant(self):
        run = transfer.Run("rxe", 1, host=True, program="o2props-mutants", mutant="swap-fragments")
        self.assertRegex(run.again(["replay", "F"]), r"^ci/vm/run --host -- \S+o2props-mutants replay F --mutant swap-fragments$")

    def test_newer_kernel_is_a_run_of_its_own(self):
        run = transfer.Run("rxe", 1, connect="processes")
        self.assertEqual((run.step, run.name), ("rxe-processes", "soft-RoCE, connection manager, two processes"))
        self.assertIn(" --device rxa,rxb --connect processes ", run.whole("rxa,rxb"))
        run = transfer.Run("rxe", 1, prop="nodes", cases=9)
        self.assertEqual((run.step, run.name), ("rxe-nodes", "nodes, soft-RoCE"))
        self.assertIn("o2props run nodes --device rxa,rxb --cases 9 ", run.whole("rxa,rxb"))
        run = transfer.Run("loop", 1, connect="cm", preset="clang-asan")
        self.assertEqual((run.step, run.name), ("loop-cm clang-asan", "loopverbs, connection manager (clang-asan)"))
        run = transfer.Run("rxe", 1, suite="some-backports")
        self.assertRegex(run.again(["replay", "F"]), r"^ci/vm/run --suite some-backports -- \S+o2props replay F$")
        row = self.judge(run, self.outcome(77, "vm: cannot run here: no suite some-backports\n"))
        self.assertEqual((row.step, row.name, row.verdict), ("rxe-newer", "soft-RoCE, newer kernel", CANNOT_RUN))
        self.assertIn("no suite some-backports", row.reason)

    def test_objects_left_in_a_device_are_a_finding(self):
        def resources(when, mr):
            text = json.dumps([{"ifindex": 0, "ifname": "rxa", "qp": 1, "mr": mr}])
            (self.folder / f"resources-{when}.json").write_text(text)

        resources("before", 0)
        resources("after", 0)
        row = self.judge(transfer.Run("rxe", 1), self.outcome(0), props_result())
        self.assertEqual((row.verdict, row.figures["resources"]["after"]), (HELD, {"rxa": {"qp": 1, "mr": 0}}))
        resources("after", 2)
        row = self.judge(transfer.Run("rxe", 1), self.outcome(0), props_result())
        self.assertIn("other objects after the run", row.findings[0].title)
        self.assertIn("'mr': 2", "\n".join(row.findings[0].lines))
        (self.folder / "resources-after.json").unlink()
        row = self.judge(transfer.Run("rxe", 1), self.outcome(0), props_result())
        self.assertEqual(row.verdict, FINDING)
        (self.folder / "result.json").unlink()
        row = self.judge(transfer.Run("rxe", 1), self.outcome(71, "guest kernel panic: BUG: something\n"))
        self.assertEqual([found.title for found in row.findings], ["transfer on soft-RoCE: guest kernel panic: BUG: something"])

    def test_kernel_warning_and_panic_are_findings_with_the_case(self):
        case = "o2props run transfer --device rxa,rxb --seed 0x7 --first 299 --cases 1      \n"
        for status, word in ((70, "warning"), (71, "panic")):
            text = f"guest kernel {word}: BUG: something\n"
            row = self.judge(transfer.Run("rxe", 1), self.outcome(status, text), None, case)
            self.assertEqual(row.verdict, FINDING)
            self.assertIn(f"guest kernel {word}: BUG: something", row.findings[0].title)
            self.assertTrue(row.findings[0].replay.endswith("--device rxa,rxb --seed 0x7 --first 299 --cases 1"))
        row = self.judge(transfer.Run("rxe", 1), self.outcome(70, text), props_result())  # a result does not hide it
        self.assertEqual(row.verdict, FINDING)

    def test_guest_that_dies_or_never_ends(self):
        for outcome in (self.outcome(72), self.outcome(124), self.outcome(137, timed_out=True)):
            self.assertEqual(self.judge(transfer.Run("rxe", 1), outcome).verdict, FINDING)

    def test_signal_is_a_finding_with_the_last_case(self):
        case = "o2props run transfer --device loop --seed 0x5 --first 9 --cases 1"
        row = self.judge(transfer.Run("loop", 1), self.outcome(134, "line\nABORTING\n"), None, case)
        self.assertIn("signal 6", row.findings[0].title)
        self.assertIn("--first 9", row.findings[0].replay)
        self.assertIn("ABORTING", row.findings[0].lines)

    def test_no_result_is_a_finding(self):
        for status in (0, 1, 2):
            self.assertEqual(self.judge(transfer.Run("loop", 1), self.outcome(status)).verdict, FINDING, status)

    def test_property_without_a_device(self):
        found = {"signature": "keys/flags", "lines": ["valid 0, posted 0; expected 1, 0"], "seed": "0x7", "case": 3}
        result = {**props_result(property="keys", device="model"), "findings": [found]}
        row = self.judge(transfer.Run("model", 7, prop="keys", cases=9), self.outcome(1), result)
        self.assertEqual((row.group, row.step, row.name, row.verdict), ("model", "keys", "keys", FINDING))
        self.assertEqual(row.findings[0].title, "property keys: keys/flags")
        self.assertIn("o2props run keys --device model --seed 0x7 --first 3 --cases 1", row.findings[0].replay)
        # The copy of a case file has another name, from which replay cannot derive the property.
        (self.folder / "cases").mkdir()
        (self.folder / "cases" / "keys-12").write_bytes(b"\1\2")
        result["findings"] = [{**found, "case_file": "/share/cases/keys-12"}]
        row = self.judge(transfer.Run("model", 7, prop="keys", cases=9), self.outcome(1), result)
        copy = self.folder / "failures" / "keys-keys-12"
        self.assertTrue(row.findings[0].replay.endswith(f"o2props replay {copy} --property keys --device model"),
                        row.findings[0].replay)
        held = {key: props_result()[key] for key in ("form", "version", "cases", "missing", "hw_counters", "findings")}
        held["situations"] = {"abandoned": 5, "wrapped": 0}
        row = self.judge(transfer.Run("model", 7, prop="keys", cases=9), self.outcome(0), held)
        shown = table.text(report_of(row))
        self.assertIn("1 of 2", shown)
        self.assertIn("keys: wrapped", page.html(report_of(row)))

    def test_simulation_is_run_twice(self):
        run = simulation.run_of(7, 9000)
        result = {**props_result(property="sim", device="model"), "operations": 9001, "events": 77, "trace": "0x12"}
        rows = [self.judge(run, self.outcome(0), changed)
                for changed in (result, result, {**result, "trace": "0x13"}, {**result, "operations": 8999})]
        row = simulation.judge(self.failures, run, rows[:2])
        self.assertEqual(row.verdict, HELD)
        self.assertIn("2 times from seed 0x1: each time trace 0x12", table.text(report_of(row)))
        row = simulation.judge(self.failures, run, [rows[0], rows[2]])
        self.assertEqual([found.lines for found in row.findings], [["trace: first 0x12, then 0x13"]])
        self.assertIn("o2props run sim --device model --moved 9000 --seed", row.findings[0].replay)
        row = simulation.judge(self.failures, run, [rows[3], rows[3]])
        self.assertIn("8999 operations, 9000 were asked for", row.findings[0].title)
        (self.folder / "result.json").unlink()
        absent = self.judge(run, self.outcome(77, "cannot run here: no program\n"))
        self.assertEqual(simulation.judge(self.failures, run, [absent, absent]).verdict, CANNOT_RUN)

    def test_cannot_run(self):
        row = self.judge(transfer.Run("rxe", 1), self.outcome(77, "vm: cannot run here: no qemu\n"))
        self.assertEqual((row.verdict, row.reason), (CANNOT_RUN, "vm: cannot run here: no qemu"))

    def test_counts_that_were_not_reached(self):
        row = self.judge(transfer.Run("loop", 1, moved=901), self.outcome(0), props_result())
        self.assertIn("901 were asked for", row.findings[0].title)
        row = self.judge(transfer.Run("loop", 1, min_per_pair=101), self.outcome(0), props_result())
        self.assertEqual(len(row.findings), 9)
        row = self.judge(transfer.Run("loop", 1), self.outcome(1), props_result(missing=["both PUT and GET"]))
        self.assertEqual(len(row.findings), 1)
        self.assertIn("both PUT and GET", row.findings[0].title)


class Engines(TemporaryFolder):
    # Leaves a stopped process in a session of its own, as AFL++ does.
    LEAVES_ONE = """setsid sh -c 'echo $$ > new; mv new pid; kill -STOP $$' & until [ -e pid ]; do :; done"""

    def test_nothing_is_left_of_an_engine(self):
        engine = Engine(Plan(self.folder, self.folder, 30, 1, self.folder, self.folder))
        os.chdir(self.folder)
        self.addCleanup(os.chdir, ROOT)
        status = engine.run(["sh", "-c", self.LEAVES_ONE], 30, self.folder / "log", {}, lambda elapsed: False)
        self.assertEqual(status, 0, (self.folder / "log").read_text())
        state = Path("/proc", (self.folder / "pid").read_text().strip(), "stat")
        end = time.monotonic() + 20
        while state.exists() and state.read_text().split(")")[-1].split()[0] != "Z":
            self.assertLess(time.monotonic(), end, f"{state.parent} is still there")
            time.sleep(0.01)

    def test_a_shared_corpus_in_which_files_go(self):
        engine = Engine(Plan(self.folder, self.folder, 30, 1, self.folder, self.folder))
        engine.name, target = "some", fuzz_targets.read_targets()["json"]
        program = engine.binary(target)
        program.parent.mkdir(parents=True)
        program.write_text(f'#!/bin/sh\necho $# >> {self.folder}/counts\n')
        program.chmod(0o755)
        engine.kept(target).mkdir(parents=True)
        (engine.kept(target) / "here").write_text("input")
        (engine.kept(target) / "gone").symlink_to("replaced")  # listed, but cannot be opened
        result, work = Result(target.name, engine.name), engine.fresh_folder(target)
        with unittest.mock.patch.object(engine_module, "TOGETHER", 50):  # no command line has room for many thousands
            engine.prepare(target, result, work)
        count = len(list((work / "in").iterdir()))
        self.assertEqual(count, len(target.corpus_files()) + 1)
        self.assertEqual(result.found.list(), [])
        full, rest = divmod(count, 50)
        self.assertEqual([int(line) for line in (self.folder / "counts").read_text().split()], [50] * full + [rest] * (rest > 0))

    def test_a_kept_input_that_fails_now_does_not_stop_the_engine(self):
        engine, target = Afl(Plan(self.folder, self.folder, 30, 1, self.folder, self.folder, Shard(1, 2))), "lst"
        target = fuzz_targets.read_targets()[target]
        engine.binary(target).parent.mkdir(parents=True)
        engine.binary(target).write_text('#!/bin/sh\ncat "$@" | grep -q "no good" && echo "o2ref fuzz: found" && exit 1\ntrue\n')
        engine.binary(target).chmod(0o755)
        crashes = engine.shared(target, "out") / "crashes"  # of an earlier run of this shard that was killed
        for folder, name, text in ((engine.kept(target), "a", "no good"), (crashes, "id:0", "no good, too"),
                                   (engine.kept(target), "b", "good"), (crashes, "README.txt", "")):
            folder.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
        for number in (1, 2):
            result, work = Result(target.name, engine.name), engine.fresh_folder(target)
            engine.prepare(target, result, work)
            self.assertEqual([(found.summary, found.duplicates) for found in result.found.list()], [("found", 1)], number)
            self.assertEqual(len(list((work / "in").iterdir())), len(target.corpus_files()) + 1)
            self.assertEqual([path.name for path in engine.kept(target).iterdir()], ["b"])
            self.assertEqual(sorted(path.read_text() for path in engine.failing(target).iterdir()), ["no good", "no good, too"])
        self.assertFalse(crashes.exists())

    def test_crashes_that_are_not_described_wait_for_the_next_run(self):
        engine, target = Afl(Plan(self.folder, self.folder, 30, 1, self.folder, self.folder)), fuzz_targets.read_targets()["lst"]
        (self.folder / "out" / "crashes").mkdir(parents=True)
        for number in range(23):
            (self.folder / "out" / "crashes" / f"id:{number:06}").write_text(str(number))
        result = Result(target.name, engine.name)
        engine.collect_one(target, result, self.folder / "out")
        self.assertEqual([found.duplicates for found in result.found.list()], [19])
        self.assertEqual({file.read_text() for file in engine.failing(target).iterdir()}, {"20", "21", "22"})

    def test_a_target_that_ends_at_once_was_not_fuzzed(self):
        engine = LibFuzzer(Plan(self.folder, self.folder, 5, 1, self.folder, self.folder))
        target = fuzz_targets.read_targets()["lst"]
        engine.binary(target).parent.mkdir(parents=True)
        engine.binary(target).write_text("#!/bin/sh\ntrue\n")
        engine.binary(target).chmod(0o755)
        engine.merged(target).mkdir(parents=True)
        (engine.merged(target) / "a").write_text("input")
        result = engine.fuzz(target)
        self.assertIn("ended with status 0 before its time", result.error)
        self.assertEqual(result.corpus, len(target.corpus_files()) + 1)


class Fuzzing(TemporaryFolder):
    def rows(self, **changes):
        results = [{"target": name, "engine": engine, "seconds": 5.0, "execs": 10, "execs_per_sec": 2, "edges": 3,
                    "corpus": 4, "error": None, "findings": []}
                   for name in fuzzing.target_names() for engine in ("libfuzzer", "afl")]
        report = {"form": "o2ref/fuzz/report", "version": 1, "seed": 1, "seconds_per_target": 5, "not_built": [], "results": results,
                  "canary": [{"engine": "afl", "found": True, "execs": 9, "seconds": 1.0}]}
        changed = changes.pop("change", lambda report: None)
        changed(report)
        return fuzzing.rows_of(self.failures, report, "ci/fuzz", self.outcome(changes.get("status", 0)))

    def test_held(self):
        rows = self.rows()
        self.assertEqual({row.verdict for row in rows}, {HELD})
        self.assertIn("ci/fuzz --target lst --engine afl --seconds 5 --seed 1", [row.again for row in rows])
        self.assertEqual(len(rows), 1 + 2 * len(fuzzing.target_names()))

    def test_usage(self):
        for words, said in ((("--lanes", "0"), "--lanes is 0, allowed are 1 to 64"), (("--lanes", "65"), "--lanes is 65, "),
                            (("--seconds", "0"), "--seconds is 0, allowed are 1 to 86400"), (("--target", "x"), "no target 'x'")):
            done = subprocess.run([ROOT / "ci" / "fuzz", "--no-build", *words], capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, said in done.stderr), (2, True), done.stderr)

    def test_finding_is_copied(self):
        crash = self.folder / "sg_iov-12"
        crash.write_bytes(b"x")

        def change(report):
            found = {"kind": "crash", "file": str(crash), "replay": f"build/libfuzzer/fuzz_sg_iov -timeout=10 {crash}",
                     "summary": "heap-buffer-overflow"}
            next(result for result in report["results"] if result["target"] == "sg_iov")["findings"].append(found)

        bad = [row for row in self.rows(change=change, status=1) if row.findings]
        self.assertEqual([row.name for row in bad], ["sg_iov"])
        copy = self.folder / "failures" / "fuzz-sg_iov-12"
        self.assertEqual(copy.read_bytes(), b"x")
        self.assertEqual(bad[0].findings[0].replay, f"build/libfuzzer/fuzz_sg_iov -timeout=10 {copy}")

    def test_replay_is_a_command_that_fails(self):
        """What only a sanitizer sees, or takes too long, passes in the plain replayer."""
        case, plain = self.folder / "case", self.folder / "gcc" / "fuzz_lst_replay"
        case.write_bytes(b"x")
        self.assertEqual(findings.how_to_replay(case, "lst", self.folder), (None, f"{plain} {case}"))
        for program, status, expected in ((plain, 0, (False, f"{plain} {case}")),
                                          (self.folder / "afl" / "fuzz_lst", 1, (False, f"{self.folder}/afl/fuzz_lst {case}")),
                                          (self.folder / "libfuzzer" / "fuzz_lst", 1,
                                           (False, f"{self.folder}/libfuzzer/fuzz_lst -timeout=10 {case}")),
                                          (plain, 1, (True, f"{plain} {case}"))):
            program.parent.mkdir(exist_ok=True)
            program.write_text(f"#!/bin/sh\nexit {status}\n")
            program.chmod(0o755)
            self.assertEqual(findings.how_to_replay(case, "lst", self.folder), expected)

    def test_red_when_canary_error_or_absence(self):
        def canary(report):
            report["canary"][0]["found"] = False

        def error(report):
            report["results"][0]["error"] = "ended with status 1"

        def absence(report):
            report["results"].pop()

        for change in (canary, error, absence):
            self.assertEqual(sum(len(row.findings) for row in self.rows(change=change)), 1, change.__name__)
        self.assertEqual(sum(len(row.findings) for row in self.rows(status=1)), 1)

    def test_share_of_time(self):
        self.assertEqual(fuzzing.share_of(-100), fuzzing.MIN_SECONDS)
        self.assertEqual(fuzzing.share_of(600), 600 // len(fuzzing.target_names()))


class Forms(TemporaryFolder):
    """The reports as JUnit, HTML and JSON, and the table."""

    def test_table_fits_and_is_aligned(self):
        report = report_of(*all_rows())
        lines = table.text(report).splitlines()
        self.assertLessEqual(max(map(len, lines)), 100)
        text = "\n".join(lines)
        self.assertLess(text.index("\nloopverbs "), text.index("\nsoft-RoCE "))
        self.assertIn("packets sent, by hw_counters: 4,100 (rxa 4,100); bytes / MTU 4096: 4,096", text)
        self.assertIn("Linux 6.1.0 (tcg)", text)
        self.assertEqual(lines[-1], "nothing found")
        section = table.render(table.Section(["name", "n", "verdict"], [["a", "1,000", "held"], ["long", "2", "held"]]))
        self.assertEqual(section[2:], ["a     1,000  held", "long      2  held"])

    def test_finding_stands_at_the_end(self):
        text = table.text(report_of(Row("property", "loop", "loopverbs", findings=[finding()])))
        self.assertTrue(text.endswith("replay: build/gcc/o2props replay F --device loop"))
        self.assertNotIn("nothing found", text)
        text = table.text(report_of(Row("property", "rxe", "soft-RoCE", reason="no qemu")))
        self.assertIn("cannot run: soft-RoCE: no qemu", text)
        self.assertTrue(text.endswith("nothing found in what could run"))

    def test_junit_is_well_formed(self):
        bad = Row("property", "loop", NASTY, findings=[finding(NASTY), finding()])
        absent = Row("property", "rxe", "soft-RoCE", reason=NASTY)
        path = self.folder / "junit.xml"
        junit.write(report_of(bad, absent, fuzz_row()), path)
        suites = {suite.get("name"): suite for suite in tree.parse(path).getroot()}
        self.assertEqual([suites["property"].get(key) for key in ("tests", "failures", "skipped")], ["2", "1", "1"])
        self.assertEqual(len(suites["property"].findall(".//failure")), 1)
        self.assertIn("replay: build/gcc/o2props replay F", suites["property"].find(".//failure").text)
        self.assertEqual(suites["fuzz"].find("testcase").get("name"), "sg_iov under afl")

    def test_cross_table_and_what_was_held_are_shown(self):
        pair = {"cells": 72, "met": 71, "least": 0}
        held = {"before": {"regions": 0}, "most": {"regions": 1234}, "after": {"regions": 0}}
        polarity = {"<1,1>": {"cells": 968, "met": 967, "least": 0, "moved": 1234567},
                    "<0,0>": {"cells": 242, "met": 241, "least": 0, "moved": 89}}
        figures = props_result(held=held, cross={"pairs": {"fmr": {"fmr": pair, "user": pair}}, "polarity": polarity,
                                                 "user_kiov_refused": {"cells": 12, "met": 11}},
                               refusals={"source": {"reg/phys/gaps EINVAL": 7}})
        report = report_of(Row("property", "loop", "loopverbs", 1.0, figures=figures))
        text = table.text(report)
        self.assertIn("142 of 144, the least 0 times; a KIOV for mode user refused in 11 of 12", text)
        self.assertIn("<1,1> 1,234,567, <0,0> 89", text)
        self.assertIn("regions 1,234 -> 0", text)
        self.assertIn("71/72 (0)", page.html(report))
        self.assertIn("&lt;1,1&gt;</td><td>1,234,567</td><td>967/968 (0)", page.html(report))
        self.assertIn("reg/phys/gaps EINVAL, source", page.html(report))

    def test_html_escapes_and_closes(self):
        row = Row("property", "loop", "<script>alert(1)</script>", figures=props_result(),
                  findings=[finding("<script>alert(2)</script>")])
        text = page.html(report_of(row, *all_rows()))
        self.assertNotIn("<script", text)
        self.assertNotIn("http", text)  # the page loads nothing
        self.assertIn("&lt;script&gt;alert(2)", text)
        self.assertIn('<a class="finding" href="#cause-0">FINDING</a>', text)
        open_tags = []

        class Reader(html.parser.HTMLParser):
            def handle_starttag(self, tag, attrs):
                if tag not in ("meta", "br", "wbr"):
                    open_tags.append(tag)

            def handle_endtag(self, tag):
                assert open_tags.pop() == tag, tag

        Reader().feed(text)
        self.assertEqual(open_tags, [])

    def test_json(self):
        report = report_of(*all_rows(), Row("property", "loop", "x", findings=[finding()]))
        output.prepare(self.folder / "report")
        output.write(report, self.folder / "report")
        read = json.loads((self.folder / "report" / "report.json").read_text())
        self.assertEqual((read["form"], read["version"], read["status"]), ("o2ref/campaign_report", 1, 1))
        self.assertEqual(sum(len(row["findings"]) for row in read["rows"]), 1)

    def test_only_our_folders_are_cleared(self):
        other = self.folder / "other"
        other.mkdir()
        self.assertTrue(output.usable(other))
        (other / "log").write_text("mine")
        self.assertFalse(output.usable(other))
        self.assertFalse(output.usable(other / "log"))
        for text in ('{"name": "a web app"}', '{"form": "o2ref', "[]"):
            (other / "report.json").write_text(text)
            self.assertFalse(output.usable(other), text)
        output.prepare(self.folder / "ours")
        self.assertTrue(output.usable(self.folder / "ours"))


class Parts(TemporaryFolder):
    def sums(self, status, text, in_guest=False):
        tally = parts.of_script(self.outcome(status, text), in_guest)
        return tally.passed, tally.failed, tally.skipped

    def test_scripts(self):
        self.assertEqual(self.sums(0, "x\n5 passed, 0 failed\n"), (5, 0, 0))
        self.assertEqual(self.sums(0, "5 passed, 0 failed, 2 skipped (70 s)\nvm: logs kept\n"), (5, 0, 2))
        self.assertEqual(self.sums(1, "3 passed, 2 failed\n"), (3, 2, 0))
        self.assertEqual(self.sums(1, "3 passed, 0 failed\n"), (3, 1, 0))  # failed after it had printed its sums
        self.assertEqual(self.sums(0, "all well\n"), (0, 1, 0))
        self.assertEqual(self.sums(0, ""), (0, 1, 0))
        self.assertEqual(self.sums(77, "cannot run here: no qemu\n", True), (0, 0, 1))
        self.assertEqual(self.sums(77, "cannot run here\n"), (0, 1, 0))

    def test_what_failed_stands_in_the_note(self):
        note = parts.of_script(self.outcome(1, "FAIL a: 5\nmore\nok   b\n1 passed, 1 failed\n"), False).note
        self.assertIn("FAIL a: 5\n    more", note)
        text = "".join(f"FAILED {number}: {'x' * 1000}\n" for number in range(9)) + "0 passed, 9 failed\n"
        lines = parts.of_script(self.outcome(1, text), False).note.splitlines()
        self.assertLessEqual(len(lines), 1 + parts.SHOWN_FAILURES * parts.SHOWN_LINES)
        self.assertLess(max(map(len, lines)), 400)
        self.assertNotIn("FAIL", parts.of_script(self.outcome(0, "FAIL-safe\n1 passed, 0 failed\n"), False).note)

    def test_cmocka_and_plain_programs(self):
        good = "[==========] Running 3 test(s).\n[  PASSED  ] 3 test(s).\n"
        bad = "[  PASSED  ] 2 test(s).\n[  FAILED  ] tests: 1 test(s), listed below:\n[  FAILED  ] test_x\n"
        self.assertEqual(parts.test_cases(good, True), (3, 0))
        self.assertEqual(parts.test_cases(bad, False), (2, 1))
        self.assertEqual(parts.test_cases("", True), (1, 0))
        self.assertEqual(parts.test_cases("Segmentation fault", False), (0, 1))
        self.assertEqual(parts.test_cases("4 passed, 1 failed", False), (4, 1))

    def test_children_stop_and_time_out(self):
        children = process.Children(self.folder / "log")
        children.say = lambda tag, line: None
        outcome = children.run("x", ["sh", "-c", "sleep 60 & echo here; wait"], timeout=0.5)
        self.assertTrue(outcome.timed_out)
        self.assertLess(outcome.seconds, 30)
        self.assertEqual(children.run("x", ["sh", "-c", "kill -ABRT $$"]).status, 134)
        children.stop_all()
        self.assertRaises(process.Stopped, children.run, "x", ["true"])

    def test_list_of_mutants_is_read(self):
        names = mutants.mutants_of(mutants.PLANS)
        demanded = {"fmr-collapse-gapped", "forget-last-fragment", "swap-fragments", "open-work-request"}
        self.assertLessEqual(demanded, set(names))


def programs_of(line):
    """The programs of build/gcc that a command line of the README runs, with those that they execute in turn."""
    found = re.search(r"build/gcc/(\S+)(?: (\w+))?", line)
    if found is None:
        return set()
    program, command = found.groups()
    in_process = "--device" not in line or "--device loop" in line
    if program == "o2ref" and command in ("serve", "ping", "put", "get", "conform"):
        return {"o2ref", "o2ref-net-loop" if "--device loop" in line else "o2ref-net"}
    if program == "o2ref" and command in ("check", "explain"):
        return {"o2ref", "o2props"}
    return {program} if in_process else {program, f"{program}-verbs"}


class ByHand(unittest.TestCase):
    """A campaign builds all programs that the README's section "By hand" runs."""

    def test_programs_are_built(self):
        text = (ROOT / "README.md").read_text(encoding="utf-8")
        lines = text.split("## By hand")[1].split("## ")[0].splitlines()
        wanted = set().union(*(programs_of(line) for line in lines))
        self.assertLessEqual({"o2ref", "o2ref-net-loop", "o2props", "o2props-verbs"}, wanted)
        targets = importlib.machinery.SourceFileLoader("campaign", str(ROOT / "ci" / "campaign")).load_module().BUILDS["gcc"]
        done = subprocess.run(["ninja", "-C", place.BUILD / "gcc", "-t", "inputs", *targets], capture_output=True, text=True,
                              check=True)
        built = set(targets) | set(done.stdout.split())
        self.assertEqual(wanted - built, set())


class SetUp(TemporaryFolder):
    """ci/test installs what preset gcc needs, and the rest beside the build of that preset."""

    def begun(self, setup, root, *statuses):
        """(answer, groups of each call of ci/setup, number of builds) for these statuses of ci/setup."""
        module = importlib.machinery.SourceFileLoader("ci_test", str(ROOT / "ci" / "test")).load_module()
        test = module.Test(self.folder, 1)
        with (unittest.mock.patch.object(module.build, "setup", side_effect=statuses) as installs,
              unittest.mock.patch.object(test, "build", return_value=True) as builds,
              unittest.mock.patch.object(module.os, "geteuid", return_value=0 if root else 1000)):
            answer = test.set_up_and_build(setup)
        return answer, [call.args[1:] for call in installs.call_args_list], builds.call_count

    def test_in_two_steps(self):
        self.assertEqual(self.begun(True, True, 0, 0), (True, [("gcc",), ()], 1))

    def test_something_is_missing(self):
        self.assertEqual(self.begun(True, True, 77), (False, [("gcc",)], 0))
        self.assertEqual(self.begun(True, True, 0, 77), (False, [("gcc",), ()], 1))

    def test_who_is_not_root_is_told_all_at_once(self):
        self.assertEqual(self.begun(True, False, 0), (True, [()], 1))
        self.assertEqual(self.begun(True, False, 77), (False, [()], 0))

    def test_no_setup(self):
        self.assertEqual(self.begun(False, True), (True, [], 1))

    def test_what_apt_has_begun_is_not_cut_short(self):
        """An interrupted set-up waits for the apt-get that runs, and begins no other."""
        log, go = self.folder / "apt-get.log", self.folder / "go"
        programs = {"apt-cache": "echo '  Candidate: 1'", "dpkg-query": ":", "id": "echo 0",
                    "apt-get": f'echo "begin $*" >> {log}; while [ ! -e {go} ]; do sleep 0.05; done; echo end >> {log}'}
        for name, text in programs.items():
            (self.folder / name).write_text(f"#!/bin/sh\n{text}\n")
            (self.folder / name).chmod(0o755)
        children = process.Children(self.folder / "log", unittest.mock.Mock())
        with (unittest.mock.patch.dict(os.environ, PATH=f"{self.folder}:{os.environ['PATH']}"),
              unittest.mock.patch.dict(process.Children.run.__kwdefaults__, stop_s=0.1),
              ThreadPoolExecutor() as threads):
            setup = threads.submit(build.setup, children, "gcc")
            while not log.exists():
                time.sleep(0.05)
            stop = threads.submit(children.stop_all)
            self.assertRaises(TimeoutError, stop.result, 1)
            go.touch()
            stop.result(60)
            self.assertRaises(process.Stopped, setup.result, 60)
        self.assertEqual(log.read_text().splitlines(), ["begin -q -q update", "end"])

    def test_groups(self):
        """Group gcc is a part of group build."""
        listed = (ROOT / "ci" / "packages").read_text(encoding="utf-8")
        groups = [(row.split()[0].split(","), row.split()[1]) for row in listed.splitlines() if row and row[0] != "#"]
        named = {group: {package for names, package in groups if group in names} for group in ("build", "gcc", "vm")}
        self.assertEqual({group for names, _ in groups for group in names}, set(named))
        self.assertLess({"gcc", "cmake", "libibverbs-dev"}, named["gcc"])
        self.assertLess(named["gcc"], named["build"])


class Coverage(unittest.TestCase):
    """Which lines ci/coverage lists as never run (docs/coverage.md)."""

    def missed(self, text, *segments):
        script = importlib.machinery.SourceFileLoader("coverage", str(ROOT / "ci" / "coverage")).load_module()
        return [(line, code) for line, _kind, code in script.missed_lines(text, {"segments": list(segments)}, {})]

    def test_a_body_on_one_line_behind_which_the_function_goes_on(self):
        text = ["{", "if (x)", "return 1;", "y();", "}"]
        self.assertEqual(self.missed(text, (1, 1, 3, True, True, False), (2, 7, 0, True, False, True), (3, 1, 0, True, True, False),
                                     (3, 9, 3, True, False, False), (5, 2, 0, False, False, False)), [(3, "return 1;")])

    def test_the_rest_of_a_statement_is_not_listed(self):
        text = ["{", "if (x)", "return f(x,", "1);", "}"]
        self.assertEqual(self.missed(text, (1, 1, 3, True, True, False), (2, 7, 0, True, False, True), (3, 1, 0, True, True, False),
                                     (4, 3, 3, True, False, False), (5, 2, 0, False, False, False)), [(3, "return f(x,")])


class Same(unittest.TestCase):
    """What ci/same compares (docs/contributing.md, "A change of structure")."""

    def setUp(self):
        self.script = importlib.machinery.SourceFileLoader("same", str(ROOT / "ci" / "same")).load_module()

    def test_captures_are_decoded_and_judged_as_such(self):
        asked = []
        side = types.SimpleNamespace(run=lambda *words: asked.append(words) or "", result=lambda *_words, **_more: "",
                                     options=lambda *_words: "", source=ROOT, build=ROOT)
        for _name, ask in self.script.questions(0):
            ask(side)
        for file in (ROOT / "corpus" / "captures" / "pcap").glob("*.pcap"):
            for words in (("decode", "--pcap"), ("judge",)):
                self.assertIn(("o2ref", *words, file), asked)
                self.assertIn(("o2ref", *words, "--json", file), asked)

    @unittest.skipUnless(place.program("o2ref").exists(), "o2ref is not built")
    def test_the_options_of_every_command(self):
        said = subprocess.run([place.program("o2ref"), "--help"], capture_output=True, text=True, check=True).stdout
        self.assertEqual(sorted(self.script.COMMANDS["o2ref"]), sorted(["", *re.findall(r"(?m)^  ([a-z]+) ", said)]))


class Jobs(unittest.TestCase):
    """A campaign on all processors."""
    # Measured seconds of the steps of profile quick, in a guest and on the host, and of a guest's start.
    GUEST, HOST, BOOT = (115, 100, 60, 40, 45), (70, 8, 13, 2, 3, 33, 24, 9, 9, 8, 7, 7, 30), 10

    def test_as_many_shards_as_processors_and_memory_allow(self):
        self.assertEqual([jobs.shards_for(n, None) for n in (1, 2, 3, 4, 5, 64)], [1, 1, 1, 2, 2, 32])
        self.assertEqual([jobs.shards_for(64, mib) for mib in (100, jobs.SHARD_MIB, 5 * jobs.SHARD_MIB + 1)], [1, 1, 5])

    def busy(self, processors, minutes):
        """The used part of the processors' time: each shard runs its steps in two lanes, and then two engines."""
        shards, ends = jobs.shards_for(processors, None), [0.0, 0.0]
        queues = [[self.BOOT + seconds / shards for seconds in self.GUEST], [seconds / shards for seconds in self.HOST]]
        while queues[0] or queues[1]:
            lane = ends.index(min(ends))
            ends[lane] += (queues[lane] or queues[1 - lane]).pop(0)
        wall = max(60 * minutes, max(ends) + 5 * len(fuzzing.target_names()))
        return shards * (sum(ends) + 2 * (wall - max(ends))) / (processors * wall)

    def test_nine_tenths_of_all_processors_are_used(self):
        for processors in (2, 8, 64):
            self.assertGreaterEqual(self.busy(processors, 10), 0.9, processors)


class Against(unittest.TestCase):
    """ci/bench --against compares this tree with an earlier commit (docs/performance.md)."""

    def test_old_and_new_in_turn_and_their_ratios(self):
        seconds, asked = {"old": iter((4.0, 9.0, 6.0)), "new": iter((1.0, 3.0, 1.0))}, []
        figures = against.measure(3, lambda side: (asked.append(side), (next(seconds[side]), 1024, "said"))[1])
        self.assertEqual(asked, ["old", "new"] * 3)
        row = against.summary("sim", figures, 10)
        self.assertEqual((row["ratio"], row["ratios"]), (4.0, [4.0, 3.0, 6.0]))
        self.assertEqual(row["resident_kib"], {"old": 1024, "new": 1024})

    def test_a_program_that_fails_is_named(self):
        with self.assertRaisesRegex(cpu.Failed, "false: status 1"):
            cpu.used(["false"])

    def test_a_commit_that_is_not_there_is_refused(self):
        done = subprocess.run([ROOT / "ci" / "bench", "--against", "nonsense"], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (2, "ci/bench: --against nonsense: no such commit\n"))

    def test_numbers_below_their_least_are_refused(self):
        for option in ("--rounds", "--rxe-rounds", "--seconds"):
            done = subprocess.run([ROOT / "ci" / "bench", option, "0"], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("must be positive", done.stderr)


class Harness(TemporaryFolder):
    def test_a_run_that_failed_has_caught_nothing(self):
        def run(_tag, command, **_options):
            table = {"form": "o2ref/mutant_table", "summary": "", "mutants": [
                {"runs": [{"how": "finding"}, {"how": how}]} for how in ("finding", "crash", "time-out", "missed", "failed")]}
            Path(command[-1]).write_text(json.dumps(table))
            return self.outcome(1)

        row = harness.all_mutants(types.SimpleNamespace(run=run), self.failures, self.folder)
        self.assertEqual((row.figures["caught"], row.figures["of"]), (3, 5))


class CannotBegin(TemporaryFolder):
    """Files that cannot be written, invalid numbers and missing programs are reported before anything runs."""

    def ran(self, command, *arguments):
        # HERE stands for the test's folder.
        words = [str(word).replace("HERE", str(self.folder)) for word in arguments]
        return subprocess.run([ROOT / "ci" / command, *words], capture_output=True, text=True, timeout=100, check=False,
                              env={**os.environ, "O2REF_BUILD": str(self.folder / "build")})

    def test_usage(self):
        (self.folder / "file").write_text("")
        (self.folder / "build" / "gcc").mkdir(parents=True)
        (self.folder / "build" / "gcc" / "compile_commands.json").write_text("[]")
        fuzz = ("fuzz", "--no-build", "--engine", "libfuzzer", "--seconds", 1)
        for words, line in (
                (("campaign", "--no-setup", "--no-build", "--report", "HERE/file/r"), "ci/campaign: HERE/file/r: Not a directory"),
                (("merge", "--report", "HERE/file/r", "HERE"), "ci/merge: HERE/file/r: Not a directory"),
                (("campaign", "--no-setup", "--no-build", "--report", "HERE/" + "r" * 300),
                 f"ci/campaign: error: --report is HERE/{'r' * 300}: File name too long"),
                (("campaign", "--no-setup", "--no-build", "--corpora", "HERE/c", "--report", "HERE/r\udcff"),
                 "ci/campaign: error: an argument is not UTF-8: '\\udcff'"),
                ((*fuzz, "--out", "HERE/file/r"), "ci/fuzz: HERE/file/r: Not a directory"),
                ((*fuzz, "--out", "HERE/out", "--corpora", "HERE/file/r"), "ci/fuzz: HERE/file/r: Not a directory"),
                ((*fuzz, "--out", "HERE/out", "--json", "HERE"), "ci/fuzz: HERE: Is a directory"),
                ((*fuzz, "--build", "HERE/none"), "fuzz: error: --build is HERE/none, which is no folder"),
                (("mutants", "--judge", "--only", "none-such"), "ci/mutants: no mutant none-such in tests/mutants/*.toml"),
                (("mutants", "--judge", "--write", "--only", "swap-fragments"),
                 "ci/mutants: --write cannot be used with --only: it writes the whole table"),
                (("mutants", "--no-build", "--seconds", "0"), "ci/mutants: --seconds is 0, allowed are 1 and more"),
                (("mutants", "--no-build", "--cases", "0"), "ci/mutants: --cases is 0, allowed are 1 and more"),
                (("mutants", "--no-build", "--seeds", "1,-1"), "ci/mutants: --seeds is 1,-1, not numbers with commas between them"),
                (("mutants", "--no-build", "--json", "HERE"), "ci/mutants: HERE: Is a directory"),
                (("mutants", "--systematic", "2", "--json", "HERE"), "ci/mutants: HERE: Is a directory"),
                (("bench", "--json", "HERE"), "ci/bench: HERE: Is a directory"),
                (("bench-fuzz", "--no-build", "--json", "HERE"), "ci/bench-fuzz: HERE: Is a directory"),
                (("bench-mutator", "--no-build", "--json", "HERE"), "ci/bench-mutator: HERE: Is a directory"),
                (("coverage", "--html", "HERE"), "ci/coverage: HERE: Is a directory"),
                (("analyse", "HERE/file"), "ci/analyse: error: preset gcc does not compile: HERE/file"),
                (("same", "--cases", "-1", "HEAD"), "same: error: --cases is -1, allowed are 0 and more"),
                (("test", "--seed", "x"), "ci/test: error: argument --seed: is 'x', not a number of 0 to 2^64 - 1"),
                (("campaign", "--seed", "-1"), "ci/campaign: error: argument --seed: is '-1', not a number of 0 to 2^64 - 1")):
            with self.subTest(words=words):
                done = self.ran(*words)
                self.assertEqual((done.returncode, done.stderr.splitlines()[-1]), (2, line.replace("HERE", str(self.folder))))
                self.assertNotIn("Traceback", done.stderr)

    def test_what_is_not_built(self):
        done = self.ran("campaign", "--no-setup", "--no-build", "--minutes", 0, "--profile", "full", "--jobs", 2, "--only",
                        "codec,model,loop,explore,mutants,simulation", "--report", "HERE/report")
        self.assertEqual((done.returncode, done.stderr), (77, ""))
        report = json.loads((self.folder / "report" / "report.json").read_text())
        self.assertEqual([(row["name"], row["verdict"]) for row in report["rows"] if "not built" not in row["reason"]], [])
        self.assertEqual(len(report["rows"]), 7)
        (self.folder / "build").mkdir(exist_ok=True)
        done = self.ran("fuzz", "--no-build", "--engine", "libfuzzer", "--build", "HERE/build", "--out", "HERE/out")
        self.assertEqual(done.returncode, 77)
        self.assertRegex(done.stdout, r"^ci/fuzz: cannot run here: \S+/libfuzzer/fuzz_canary is not built\n$")
        done = self.ran("fuzz-minimise", "--build", "HERE/build", "sg_iov")
        self.assertEqual((done.returncode, done.stdout), (77, "sg_iov: no binary, build it first\n"))
        for words in ((), ("--judge",)):
            done = self.ran("mutants", "--no-build", *words)
            self.assertEqual((done.returncode, done.stderr), (77, ""), words)

    def test_a_target_that_cannot_merge(self):
        """It is named, and the other targets are tried."""
        program = self.folder / "build" / "libfuzzer" / "fuzz_sg_iov"
        program.parent.mkdir(parents=True)
        program.write_text("#!/bin/sh\nexit 3\n")
        program.chmod(0o755)
        done = self.ran("fuzz-minimise", "--build", "HERE/build", "sg_iov", "sg_kiov")
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (1, "sg_iov: -merge=1 ended with status 3\nsg_kiov: no binary, build it first\n", ""))

    def test_a_program_that_only_fails_is_no_canary(self):
        program = self.folder / "build" / "libfuzzer" / "fuzz_canary"
        program.parent.mkdir(parents=True)
        program.write_text("#!/bin/sh\necho error while loading shared libraries\nexit 127\n")
        program.chmod(0o755)
        done = self.ran("fuzz", "--canary", "--no-build", "--engine", "libfuzzer", "--build", "HERE/build")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("canary: NOT FOUND by libfuzzer", done.stdout)
        fuzz = ("fuzz", "--engine", "libfuzzer", "--build", "HERE/build", "--canary")
        for file, below, more in (("canary/work", "/libfuzzer/canary/in", ["--no-build"]), ("log", "", [])):
            path = self.folder / "out" / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("")
            done = self.ran(*fuzz, *more, "--out", "HERE/out")
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertRegex(done.stderr, rf"\Aci/fuzz: {self.folder}/out/{file}{below}: (Not a directory|File exists)\n\Z")
        done = self.ran("fuzz", "--canary", "--no-build", "--engine", "libfuzzer", "--build", "HERE/build", "--json", "/dev/full")
        self.assertEqual((done.returncode, done.stderr), (2, "ci/fuzz: /dev/full: No space left on device\n"))


@unittest.skipUnless(place.program("o2props-mutants").exists(), "o2props-mutants is not built")
class Campaign(TemporaryFolder):
    """Runs of ci/campaign itself, without a guest."""

    def campaign(self, *arguments):
        command = [ROOT / "ci" / "campaign", "--no-setup", "--no-build", "--report", self.folder / "report",
                   *(() if "--jobs" in arguments else ("--jobs", "2")), *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)

    def test_defect_makes_it_red(self):
        done = self.campaign("--only", "model", "--mutant", "forget-last-fragment", "--seed", "5")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("replay: ", done.stdout)
        report = json.loads((self.folder / "report" / "report.json").read_text())
        found = [found for row in report["rows"] for found in row["findings"]]
        words = "\n".join(found[0]["lines"])
        self.assertRegex(words, r"sink fragment \d+ of \d+, bytes \d+\.\.\d+")
        self.assertRegex(words, r"(?m)^source: .*\n  \[0\]")  # the scenario in words
        for name in found[0]["files"]:
            self.assertTrue((ROOT / name).is_file(), name)
        # The replay line fails again; with the program without defects it passes.
        words = found[0]["replay"].split()
        self.assertEqual(subprocess.run(words, cwd=ROOT, capture_output=True, check=False).returncode, 1)
        healthy = [words[0].removesuffix("-mutants"), *words[1:words.index("--mutant")]]
        self.assertEqual(subprocess.run(healthy, cwd=ROOT, capture_output=True, check=False).returncode, 0)
        failures = tree.parse(self.folder / "report" / "junit.xml").getroot().findall(".//failure")
        self.assertGreaterEqual(len(failures), 1)

    def test_shards_side_by_side_make_one_report(self):
        done = self.campaign("--only", "model,codec", "--mutant", "forget-last-fragment", "--seed", "5", "--jobs", "4")
        if jobs.shards_for(4, jobs.available_mib()) == 1:
            self.skipTest("no memory for two shards")
        self.assertEqual(done.returncode, 1, done.stdout)
        report = json.loads((self.folder / "report" / "report.json").read_text())
        self.assertEqual({run["shard"] for row in report["rows"] for run in row["runs"]}, {"1/2", "2/2"})
        rows = {row["name"]: row for row in report["rows"]}
        self.assertEqual(rows["codec"]["figures"]["cases"], 200_000)
        found = rows["memory model"]["findings"][0]
        for name in found["files"]:
            self.assertTrue((ROOT / name).is_file(), name)
        self.assertEqual(subprocess.run(found["replay"].split(), cwd=ROOT, capture_output=True, check=False).returncode, 1)

    def test_defect_makes_the_simulation_red(self):
        done = self.campaign("--only", "simulation", "--sim-operations", "500", "--mutant", "reserved-lost", "--seed", "5")
        if not place.program("o2props-mutants", simulation.PRESET).is_file():
            self.assertEqual(done.returncode, 77, done.stdout)
            self.skipTest(f"preset {simulation.PRESET} was not built")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("FINDING property sim clang-asan: sim/reserved", done.stdout)

    def test_usage(self):
        for arguments in (["--minutes", "-1"], ["--profile", "huge"], ["--seed", "x"], ["--only", "x"],
                          ["--sim-operations", "-1"], ["--jobs", "0"], ["--jobs", "2", "--seed", "1", "--shard", "1/2"]):
            self.assertEqual(self.campaign(*arguments).returncode, 2, arguments)

    def test_interrupt(self):
        command = [ROOT / "ci" / "campaign", "--no-setup", "--no-build", "--report", self.folder / "report", "--only", "loop",
                   "--profile", "full"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as running:
            for line in running.stdout:
                if line.startswith("[loop]"):
                    break
            started = time.monotonic()
            running.send_signal(signal.SIGINT)
            rest = running.stdout.read()
            self.assertEqual(running.wait(60), 130, rest)
        self.assertLess(time.monotonic() - started, 30)
        left = subprocess.run(["pgrep", "-f", str(self.folder)], capture_output=True, text=True, check=False)
        self.assertEqual(left.stdout.strip(), "", "a program is left behind")

    def test_interrupt_before_the_first_step(self):
        """While it looks for the versions of what is installed, which takes a second."""
        command = [ROOT / "ci" / "campaign", "--no-setup", "--no-build", "--report", self.folder / "report", "--only", "loop"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as running:
            while not (self.folder / "report" / "log").is_dir() and running.poll() is None:
                pass
            running.send_signal(signal.SIGTERM)
            said = running.communicate(timeout=60)[0]
        self.assertIn(running.returncode, (143, -signal.SIGTERM), said)
        self.assertNotIn("Traceback", said)


def main(module=sys.modules[__name__]):
    """Run the tests of a module."""
    os.chdir(ROOT)
    return suite.run(suite.of(module))


if __name__ == "__main__":
    sys.exit(main())
