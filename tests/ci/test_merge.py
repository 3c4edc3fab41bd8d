#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Tests of shards of a campaign and of ci/merge.  The last line is "N passed, N failed"."""

import json
import re
import resource
import shlex
import shutil
import subprocess
import sys
import types
import unittest
import unittest.mock
import xml.etree.ElementTree as tree
from dataclasses import replace
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

import test_ci  # noqa: E402
from o2ci import corpora, merge, output, place, shard, transfer  # noqa: E402
from o2ci.failures import Failures  # noqa: E402
from o2ci.result import Row  # noqa: E402
from o2fuzz import minimise, targets  # noqa: E402
from o2fuzz.afl import Afl  # noqa: E402
from o2fuzz.engine import Plan  # noqa: E402

MERGE = place.ROOT / "ci" / "merge"


def shards(of):
    return [shard.Shard(index, of) for index in range(1, of + 1)]


class Shares(unittest.TestCase):
    def test_disjoint_and_complete(self):
        """Each case is in exactly one shard; runs that last until a count is reached start at cases far apart."""
        for of in (1, 2, 3, 7, 10, 100):
            for count in (0, 1, 5, 250, 9999, 200_000):
                runs = [range(part.first(count), part.first(count) + part.share(count)) for part in shards(of)]
                self.assertEqual([number for run in runs for number in run], list(range(count)), (of, count))
            moved = [part.bounds({"moved": 2000, "min_per_pair": 20}) for part in shards(of)]
            self.assertEqual(sum(run["moved"] for run in moved), 2000)
            self.assertEqual(sum(run["min_per_pair"] for run in moved), 20)
            starts = [run.get("first", 0) for run in moved]
            self.assertTrue(all(after - before >= shard.APART for before, after in zip(starts, starts[1:])))
            self.assertLess(starts[-1] + shard.APART, 1 << 64)
            for number in range(20):
                self.assertEqual(sum(part.owns(number) for part in shards(of)), 1)

    def test_more_shards_than_cases(self):
        bounds = [part.bounds({"cases": 3}) for part in shards(5)]
        self.assertEqual([run and run["cases"] for run in bounds], [None, 1, None, 1, 1])

    def test_same_cases_as_the_whole(self):
        """Three shards of a property together meet what the whole meets."""
        program = place.program("o2props")
        if not program.exists():
            self.skipTest(f"{place.shown(program)} is not built")

        def situations(part):
            run = transfer.Run("model", 9, prop="sg", **part.bounds({"cases": 1001}))
            done = subprocess.run([program, "run", "sg", "--device", "model", *run.bounds(), "--seed", "9", "--json"],
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
            found = json.loads(done.stdout)
            return found["cases"], found["situations"]

        whole, *parts = [situations(part) for part in (shard.Shard(), *shards(3))]
        self.assertEqual(sum(cases for cases, _met in parts), whole[0])
        for name, number in whole[1].items():
            self.assertEqual(sum(met[name] for _cases, met in parts), number, name)

    def test_fuzz_seeds(self):
        seeds = [part.fuzz_seed((1 << 31) - 5, 31) for part in shards(100)]
        self.assertEqual(len(set(seeds)), 100)
        self.assertTrue(all(0 <= seed < 1 << 31 for seed in seeds))

    def test_usage(self):
        for text in ("0/2", "3/2", "1/0", "1/10001", "x", "1", "1/2/3", "-1/2", ""):
            with self.assertRaises(ValueError):
                shard.read(text)
        for options in (["--shard", "1/2"], ["--shard", "3/2", "--seed", "1"]):
            done = subprocess.run([place.ROOT / "ci" / "campaign", "--no-setup", *options], capture_output=True, check=False)
            self.assertEqual(done.returncode, 2)

    def test_main_and_secondaries(self):
        """AFL++ of all shards works in one folder; a shard that is run again keeps the inputs that it had found."""
        target = targets.read_targets()["sg_iov"]
        with test_ci.tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            options = []
            for part in shards(3):
                engine = Afl(Plan(folder, folder, 1, 1, folder, folder, part))
                engine.kept(target).mkdir(parents=True, exist_ok=True)
                words, own = engine.instance(target, folder / "work", "out")
                options.append(words[2])
                (own / "queue").mkdir(parents=True)
                (own / "queue" / "id:000001,src:0").write_text(str(part))
                (own / "queue" / "id:000000,orig:0").write_text("given")
                engine.salvage(target)
                self.assertFalse(own.exists())
                self.assertEqual(own.parent, folder / "sync" / "sg_iov")
            self.assertEqual(options, ["-M", "-S", "-S"])
            self.assertEqual({file.read_text() for file in (folder / "afl" / "sg_iov").iterdir()}, {"1/3", "2/3", "3/3"})


class Merge(test_ci.TemporaryFolder):
    def shard(self, index, of, *rows, **changes):
        folder = self.folder / str(index)
        output.prepare(folder)
        report = replace(test_ci.report_of(*rows), shard=shard.Shard(index, of),
                         command=f"ci/campaign --seed 7 --shard {index}/{of} --report {folder}", **changes)
        output.write(report, folder)
        return folder

    def merge(self, *words):
        done = subprocess.run([MERGE, "--report", self.folder / "merged", *words], capture_output=True, text=True, check=False)
        path = self.folder / "merged" / "report.json"
        return done, json.loads(path.read_text()) if path.exists() else None

    def loop(self, moved, **changes):
        return Row("property", "loop", "loopverbs", 2.0, figures=test_ci.props_result(moved=moved), **changes)

    def test_counts_add_up(self):
        fuzz = [test_ci.fuzz_row() for _ in range(2)]
        for seed, row in enumerate(fuzz, 1):
            row.runs = [{"begin": 3.0, "seconds": 5.0, "log": "log/fuzz.log"}]
            row.figures["curves"] = [{"seed": seed, "points": [[10, 5], [1000, 321]]}]
        done, report = self.merge(self.shard(1, 2, self.loop(900), fuzz[0]), self.shard(2, 2, self.loop(100), fuzz[1]))
        self.assertEqual((done.returncode, report["status"]), (0, 0), done.stdout + done.stderr)
        rows = {row["name"]: row for row in report["rows"]}
        self.assertEqual(rows["loopverbs"]["figures"]["moved"], 1000)
        self.assertEqual(rows["loopverbs"]["figures"]["pairs"]["fmr"]["global"], 200)
        self.assertEqual(rows["loopverbs"]["figures"]["seed"], "0x1")
        self.assertEqual(rows["loopverbs"]["figures"]["version"], 1)
        self.assertEqual(rows["sg_iov"]["figures"]["execs"], 246912)
        self.assertEqual(rows["sg_iov"]["figures"]["edges"], 321)
        self.assertEqual([curve["seed"] for curve in rows["sg_iov"]["figures"]["curves"]], [1, 2])
        self.assertEqual([run["shard"] for run in rows["sg_iov"]["runs"]], ["1/2", "2/2"])
        self.assertEqual(rows["shards of the campaign"]["figures"]["what"], "2 of 2")
        for name in ("report.txt", "index.html", "junit.xml"):
            self.assertTrue((self.folder / "merged" / name).is_file(), name)
        self.assertEqual(tree.parse(self.folder / "merged" / "junit.xml").getroot().findall(".//failure"), [])

    def found(self, index, case, title):
        """A finding that has files, as a campaign would have written them."""
        failures = Failures(self.folder / str(index) / "failures")
        source = self.folder / "transfer-1"
        source.write_bytes(case)
        copy = failures.copy("loop", source)
        return failures.keep("loop", "transfer-1", title, f"o2props replay {place.shown(copy)}", ["wrong"], [copy])

    def test_findings_by_cause(self):
        folders = []
        for index, case, title in ((1, b"12345", "wrong byte 17"), (2, b"1", "wrong byte 4"), (3, b"12", "hangs")):
            folder = self.shard(index, 3)
            row = self.loop(1, findings=[self.found(index, case, title)])
            report = replace(test_ci.report_of(row), shard=shard.Shard(index, 3))
            output.write(report, folder)
            folders.append(folder)
        done, report = self.merge(*folders)
        self.assertEqual(done.returncode, 1)
        found = [finding for row in report["rows"] for finding in row["findings"]]
        self.assertEqual([finding["title"] for finding in found], ["wrong byte 17", "wrong byte 4", "hangs"])
        self.assertEqual([finding["lines"][-1] for finding in found], [f"found in shard {index}/3" for index in (1, 2, 3)])
        # The smallest case of a cause comes first.
        printed = [line for line in done.stdout.splitlines() if line.startswith("FINDING")]
        self.assertEqual(printed, ["FINDING wrong byte 4", "FINDING hangs"])
        self.assertIn("the same cause: wrong byte 17", done.stdout)
        shutil.rmtree(self.folder / "1")
        for finding in found:
            for name in finding["files"]:
                self.assertTrue((place.ROOT / name).is_file(), name)
            case = place.ROOT / finding["replay"].split()[-1]
            self.assertIn(case.read_bytes(), (b"12345", b"1", b"12"))
            self.assertIn(finding["replay"], (place.ROOT / finding["files"][1]).read_text())

    def test_folders_whose_names_need_quotes(self):
        """The replay lines of a merged report are commands, whatever the folder's name is."""
        folder, merged = self.shard(1, 1), self.folder / "it's a merged"
        row = self.loop(1, findings=[self.found(1, b"1", "wrong byte 4")])
        output.write(replace(test_ci.report_of(row), shard=shard.Shard(1, 1)), folder)
        self.merge("--report", merged, folder)
        rows = json.loads((merged / "report.json").read_text())["rows"]
        found, = (finding for row in rows for finding in row["findings"])
        copy = merged / "failures" / "shard1-loop-transfer-1"
        self.assertEqual(shlex.split(found["replay"]), ["o2props", "replay", str(copy)])
        lines = Path(found["files"][-1]).read_text().splitlines()
        self.assertIn(f"replay:  {found['replay']}", lines)
        self.assertIn(f"file:    {copy}", lines)

    def test_missing_and_broken(self):
        """The readable shards are merged; missing and unreadable ones are findings."""
        first, third = self.shard(1, 4, self.loop(900)), self.shard(3, 4, self.loop(1))
        (self.folder / "empty").mkdir()
        unfinished = self.folder / "unfinished"
        output.prepare(unfinished)
        again = self.folder / "again"
        shutil.copytree(first, again)
        done, report = self.merge(first, third, self.folder / "empty", unfinished, again)
        self.assertEqual(done.returncode, 1)
        for words in ("shard 2/4 is missing", "shard 4/4 is missing", "empty: report.json cannot be read",
                      "unfinished: its campaign has not ended", "again: shard 1/4 is in", "ci/campaign --seed 7 --shard 2/4\n"):
            self.assertIn(words, done.stdout)
        self.assertEqual([row["figures"]["moved"] for row in report["rows"] if row["name"] == "loopverbs"], [901])

    def test_command_of_a_missing_shard(self):
        """It lacks the option --report of the shard from whose command it is made, whatever the folder's name is."""
        for words in ("--report 'a b' --seed 7 --shard 1/4", "--seed 7 --shard=1/4 --report=r1", "--seed 7 --sha 1/4 --rep r1",
                      "'--report=a b' --seed 7 --shard 1/4", "--rep='a b' --seed 7 --sh=1/4"):
            of = types.SimpleNamespace(command="ci/campaign " + words)
            self.assertEqual(merge.again(of, "2/4").split(), ["ci/campaign", "--seed", "7", *"--shard 2/4".split()])

    def test_cut_off(self):
        folder = self.shard(1, 2, self.loop(900))
        text = (folder / "report.json").read_text()
        newer = text.replace('"version": 1,\n "comm', '"version": 9,\n "comm')
        self.assertNotEqual(newer, text)
        for broken in (text[:len(text) // 2], "[]", text.replace('"rows"', '"row"'), newer):
            (folder / "report.json").write_text(broken)
            done, _report = self.merge(folder)
            self.assertEqual(done.returncode, 1, broken[:80])
            self.assertIn("no shard can be read: ", done.stderr)

    def test_what_could_not_run(self):
        absent = Row("property", "rxe", "soft-RoCE", reason="no qemu")
        here = Row("property", "rxe", "soft-RoCE", 1.0, figures=test_ci.props_result())
        done, report = self.merge(self.shard(1, 2, absent), self.shard(2, 2, here))
        self.assertEqual((done.returncode, report["status"]), (77, 77))
        self.assertIn("shard 1/2: no qemu", done.stdout)

    def test_usage(self):
        of_two, other_seed = self.shard(1, 2), self.shard(2, 2, seed=8)
        for words in ([], [of_two, other_seed], [of_two, self.shard(3, 3)], ["--report", of_two, of_two],
                      ["--corpora", self.folder / "none", of_two], ["--report", "/", of_two]):
            done, _report = self.merge(*words)
            self.assertEqual(done.returncode, 2, words)

    def test_shards_of_other_work(self):
        """A part that one shard left out would count as held."""
        first = self.shard(1, 2)
        for more, others, status in (("--host", "", 2), ("--only sg", "", 2), ("--only sg,dma", "--only=dma,sg", 0),
                                     ("--sim-op 5", "--sim-operations 6", 2), ("--sim-op 5", "--sim-operations=5", 0),
                                     ("--mixed-minutes 1", "", 2), ("--coverage", "", 2), ("--corpora a --no-setup", "--corpora b", 0)):
            for index, words in ((1, more), (2, others)):
                report = replace(test_ci.report_of(self.loop(1)), shard=shard.Shard(index, 2), command=f"ci/campaign {words} --seed 7")
                output.write(report, self.shard(index, 2))
            done, _report = self.merge("--no-minimise", first, self.folder / "2")
            self.assertEqual(done.returncode, status, (more, others, done.stdout + done.stderr))
            if status:
                self.assertRegex(done.stderr, rf"^ci/merge: {more[:5]}\S* is .*: not of one campaign$")

    def test_corpora_in_the_folder_that_is_cleared(self):
        output.prepare(self.folder / "merged")
        kept = self.folder / "merged" / "corpora" / "afl" / "sg_iov" / "a"
        kept.parent.mkdir(parents=True)
        kept.write_text("a")
        done, _report = self.merge("--corpora", self.folder / "merged" / "corpora", self.shard(1, 1))
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertTrue(kept.is_file())

    def test_a_report_that_cannot_be_written(self):
        """As on a full disk.  Python ignores SIGXFSZ, so a longer write fails."""
        folder = self.shard(1, 1, self.loop(900))
        done = subprocess.run([MERGE, "--report", self.folder / "merged", folder], capture_output=True, text=True, check=False,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024)))
        self.assertEqual((done.returncode, done.stderr), (2, f"ci/merge: {self.folder}/merged: File too large\n"))

    @unittest.skipUnless(place.program("fuzz_wire_parts", "libfuzzer").exists(), "preset libfuzzer is not built")
    def test_corpora(self):
        """Inputs that add no coverage are dropped, and the engines' folders are deleted."""
        target = targets.read_targets()["wire_parts"]
        known = target.corpus_files()[0].read_bytes()
        shared = self.folder / "corpora"
        for engine, name in (("libfuzzer", "a"), ("afl", "b")):
            (shared / engine / "wire_parts").mkdir(parents=True)
            (shared / engine / "wire_parts" / name).write_bytes(known)
        queue = shared / "sync" / "wire_parts" / "out-1-of-2" / "queue"
        (queue / ".state").mkdir(parents=True)  # AFL++'s own
        (queue / "id:000000").write_bytes(known)
        done, report = self.merge("--corpora", shared, self.shard(1, 1))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual([row["figures"]["what"] for row in report["rows"] if row["step"] == "corpora"], ["3 inputs, 0 kept"])
        self.assertEqual([path.name for path in shared.iterdir()], ["merged"])
        minimise.replace(shared / "merged" / "wire_parts", [b"x"])
        self.assertEqual(len(list((shared / "merged" / "wire_parts").iterdir())), 1)

    @unittest.skipUnless(place.program("fuzz_canary", "libfuzzer").exists(), "preset libfuzzer is not built")
    def test_an_input_of_the_corpora_that_fails_is_a_finding(self):
        """AFL++ keeps what only the sanitizers refuse, and libFuzzer leaves it out of what it minimises."""
        canary, shared = place.program("fuzz_canary", "libfuzzer"), self.folder / "corpora"
        (shared / "afl" / "wire_parts").mkdir(parents=True)
        (shared / "afl" / "wire_parts" / "bad").write_bytes(b"\x50\xa0\x01")
        with unittest.mock.patch.object(corpora.place, "program", lambda name, preset="gcc": canary):
            row = corpora.execute([shared], shared, self.folder / "failures", lambda line: None)
        self.assertIn("crash in wire_parts on an input of the corpora", row.findings[0].title)
        self.assertEqual((len(row.findings), Path(row.findings[0].files[0]).read_bytes()), (1, b"\x50\xa0\x01"))
        self.assertEqual(len(list((shared / "failing" / "wire_parts").iterdir())), 1)


class Slurm(test_ci.TemporaryFolder):
    """What ci/slurm/submit passes to a fake sbatch; tests/ci/slurm.py tests it with a real one."""

    def submit(self, *words, program=True):
        if program:
            fake = self.folder / "sbatch"
            fake.write_text(f'#!/bin/sh\nprintf "%s\\n" "$*" >> {self.folder}/jobs\nwc -l < {self.folder}/jobs\n')
            fake.chmod(0o755)
        environment = {"PATH": f"{self.folder}:/usr/bin:/bin"} if program else {"PATH": str(self.tools())}
        return subprocess.run([place.ROOT / "ci" / "slurm" / "submit", *words], env=environment, capture_output=True, text=True,
                              check=False)

    def tools(self):
        """A folder with only the programs that the script needs before it looks for sbatch."""
        folder = self.folder / "tools"
        folder.mkdir()
        for name in ("bash", "dirname", "ls"):
            (folder / name).symlink_to(shutil.which(name))
        return folder

    def test_jobs(self):
        done = self.submit("--shards", "3", "--dir", self.folder / "run", "--seed", "5", "--sbatch", "--partition=p", "--",
                           "--minutes", "9")
        self.assertEqual(done.returncode, 0, done.stderr)
        build, array, last = (self.folder / "jobs").read_text().splitlines()
        for line in (build, array, last):
            self.assertIn("--requeue --partition=p", line)
        self.assertRegex(build, r"--wrap exec sh -c .*ci/campaign .*--build-only .*--minutes 9 \|\| \[ \$\? -eq 77 \]")
        for status, expected in ((0, 0), (1, 1), (77, 0)):
            command = re.sub(r"ci/campaign .*--minutes 9", f"(exit {status})", build.split(" --wrap ", 1)[1])
            self.assertEqual(subprocess.run(["sh", "-c", command], check=False).returncode, expected)
        self.assertIn("--array=1-3 --dependency=afterok:1 ", array)
        self.assertIn("--dependency=afterany:2 ", last)
        for index in (1, 2, 3):
            self.assertIn(f"{self.folder}/run/shard-{index}", last)

    def test_names_that_need_quotes(self):
        """Slurm gives the command of --wrap to /bin/sh."""
        run = self.folder / "it's a r\xfcn"
        done = self.submit("--shards", "2", "--dir", run, "--seed", "5", "--no-build", "--", "--baseline", "a b")
        self.assertEqual(done.returncode, 0, done.stderr)
        command = (self.folder / "jobs").read_text().splitlines()[0].split(" --wrap ", 1)[1].replace("exec sh -c", "exec printf %s")
        shown = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=True).stdout
        shown = shown.replace("ci/campaign", "printf '%s\\n'", 1)
        words = subprocess.run(["sh", "-c", shown], capture_output=True, text=True, check=True,
                               env={"SLURM_ARRAY_TASK_ID": "2", "PATH": "/usr/bin:/bin"}).stdout.splitlines()
        self.assertEqual(words, ["--no-setup", "--no-build", "--seed", "5", "--shard", "2/2", "--corpora", f"{run}/corpora",
                                 "--report", f"{run}/shard-2", "--baseline", "a b"])

    def test_usage(self):
        run = self.folder / "run"
        for words in ([], ["--shards", "0", "--dir", run], ["--shards", "2"], ["--shards", "2", "--dir", self.folder],
                      ["--shards", "2", "--dir", run, "--", "--seed", "1"], ["--shards"], ["x"],
                      ["--shards", "08", "--dir", run], ["--shards", "2", "--dir", run, "--seed", "x"],
                      ["--shards", "2", "--dir", run, "--", "--jobs", "4"]):
            self.assertEqual(self.submit(*words).returncode, 2, words)
        done = self.submit("--shards", "2", "--dir", run, program=False)
        self.assertEqual(done.returncode, 77, done.stderr)


if __name__ == "__main__":
    sys.exit(test_ci.main(sys.modules[__name__]))
