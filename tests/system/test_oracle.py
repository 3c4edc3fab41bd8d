#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Test `o2ref check`: implementations that agree, that differ and are named, that misbehave; and the output.

usage: test_oracle.py [DIRECTORY [CLASS[.TEST]]... [--part=I/N]]
DIRECTORY: of o2ref, o2props and tests/impl/reference; default build/.  Last line "N passed, N failed".
"""

import contextlib
import functools
import json
import os
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lib"))
import suite  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(next((a for a in sys.argv[1:] if not a.startswith("-")), ROOT / "build")).resolve()
REFERENCE = BUILD / "impl_reference.so"
MUTANTS = BUILD / "impl_mutants.so"
MISBEHAVE = BUILD / "impl_misbehave.so"
PROGRAM = BUILD / "impl_reference_program"
PROXY = ROOT / "tests" / "impl" / "reference" / "proxy.py"
TALKER = ROOT / "tests" / "impl" / "reference" / "talker.py"
STAGES = ("msg_decode", "msg_encode", "sg_build", "dma_map", "reg_plan", "rdma_plan", "transfer",
          "device", "rdma_chain", "connect", "deliver", "keys", "send_plan", "setup", "flow")

AGREE, DIFFER, USAGE, CANNOT = 0, 1, 2, 77

# {deliberate defect: (check that must name it, most bytes of choices that its shrunk case may have)}.
DEFECTS = {
    "gap-never-seen": ("sg/kiov/gap-flag", 13),
    "fmr-collapse-gapped": ("reg/fmr/bytes", 40),
    "open-work-request": ("rdma/sink-bytes", 14),
    "forget-last-fragment": ("rdma/sink-bytes", 14),
    "cut-offset-lost": ("sg/iov/bytes", 26),
    "entry-too-many": ("sg/kiov/refused-legal", 800),
    "dma-offset-lost": ("dma/bus/bytes", 14),
    "fastreg-page-twice": ("reg/fastreg/bytes", 34),
    "swap-fragments": ("reg/global/bytes", 28),
    "phys-last-page": ("reg/phys/bytes", 34),
    "user-page-start": ("reg/user/bytes", 26),
}

# {misbehaviour of an implementation: check that must name it}.
MISDEEDS = {
    "crash": "run/crash",
    "abort": "run/crash",
    "hang": "run/hang",
    "exit": "run/exit",
    "stdout": "run/stdout",
    "stdout-once": "run/stdout",
    "leak": "run/leak",
    "in-front": "run/crash",
    "overrun": "run/overrun",
    "underrun": "run/overrun",
    "underrun-and-print": "run/overrun",
    "long-name": "run/overrun",
    "input": "run/input-written",
    "count": "run/count-over-capacity",
    "status": "run/status",
    "no-errno": "run/status",
    "flag": "run/value",
    "unstable": "run/unstable",
    "overread": "run/crash",
}


def run(*arguments, expect=None, env=None, given=b""):
    done = subprocess.run([str(BUILD / "o2ref"), "check", *map(str, arguments)], capture_output=True, timeout=240,
                          check=False, input=given, env={**os.environ, **(env or {})})
    if done.returncode not in (AGREE, DIFFER, USAGE) or (expect is not None and done.returncode != expect):
        raise AssertionError(f"{arguments}: status {done.returncode}\n{done.stdout.decode()}\n{done.stderr.decode()}")
    return done


def side_by_side(function, names):
    """[(name, the function's result for it)].  Several run at a time, because they mostly wait for time-outs."""
    names = list(names)
    with ThreadPoolExecutor(4) as pool:
        return list(zip(names, pool.map(function, names)))


def result(*arguments, expect=None, **more):
    done = run("--json", "-", *arguments, expect=expect, **more)
    return json.loads(done.stdout)


def findings(document, index=0):
    return {each["check"]: each for each in document["implementations"][index]["findings"]}


def proxy(*changes):
    """The words that name the reference as a program, with changes of its answers."""
    return ("--", sys.executable, PROXY, PROGRAM, *changes)


def talker(mistake):
    """The words that name the program that makes this mistake."""
    return ("--", sys.executable, TALKER, mistake)


def question(nob=2, pieces=({"page": 1, "offset": 0, "len": 2},)):
    return {"form": "o2ref/sg_build/input", "version": 1, "max_entries": 257, "space": {"page_bytes": 4096, "npages": 4, "ranges": []},
            "buffer": {"kind": "kiov", "offset": 0, "nob": nob, "pieces": list(pieces)}}


def write_known(path, *differences):
    """Write a list of known differences: each a check, or the members of its entry."""
    path.write_text(json.dumps({"form": "o2ref/known_differences", "version": 1, "differences": [
        {"reason": "for the test", **(each if isinstance(each, dict) else {"check": each})} for each in differences]}))
    return path


def write_map(path, errors):
    path.write_text(json.dumps({"form": "o2ref/error_map", "version": 1, "errors": errors}))
    return path


def wait_for(condition):
    """Returns whether the condition came true within a minute."""
    deadline = time.monotonic() + 60
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.01)
    return condition()


def stage_of(check):
    """The stage in which a check is made; if only that stage runs, a fifteenth of the cases is enough."""
    return {"sg": "sg_build", "dma": "dma_map", "reg": "reg_plan", "rdma": "rdma_plan", "transfer": "transfer"}[check.split("/")[0]]


class Agreement(unittest.TestCase):
    def test_the_reference_agrees_with_itself_and_every_rule_was_met(self):
        document = result("--cases", 200000, REFERENCE, expect=AGREE)
        one = document["implementations"][0]
        self.assertEqual(one["findings"], [])
        self.assertEqual(one["rules_not_met"], [])
        self.assertEqual([each["stage"] for each in one["stages"]], list(STAGES))
        for stage in one["stages"]:
            self.assertGreater(stage["agreed"], 12000, stage)

    def test_the_reference_agrees_with_itself_as_a_program(self):
        document = result("--cases", 1000, "--", PROGRAM, expect=AGREE)
        self.assertEqual(document["implementations"][0]["restarts"], 0)

    def test_the_kernel_profile_is_no_stricter(self):
        self.assertTrue(result("--cases", 20000, "--profile", "kernel", REFERENCE, expect=AGREE)["agree"])


class Differences(unittest.TestCase):
    def test_each_defect_is_named_with_a_small_case(self):
        for defect, (check, most) in DEFECTS.items():
            with self.subTest(defect):
                document = result("--cases", 1000, "--stage", stage_of(check), MUTANTS, expect=DIFFER, env={"O2_MUTANT": defect})
                self.assertIn(check, findings(document))
                self.assertLessEqual(findings(document)[check]["shrunk"]["to_bytes"], most)

    def test_a_replay_shows_the_same_difference(self):
        env = {"O2_MUTANT": "gap-never-seen"}
        finding = findings(result("--cases", 2000, "--stage", "sg_build", MUTANTS, env=env))["sg/kiov/gap-flag"]
        words = shlex.split(finding["replay"])
        self.assertEqual(words[:2], ["o2ref", "check"])
        again = findings(result(*words[2:], expect=DIFFER, env=env))
        self.assertEqual(again["sg/kiov/gap-flag"]["question"], finding["question"])

    def test_a_replay_is_whole_whatever_the_words_are(self):
        env = {"O2_MUTANT": "gap-never-seen"}
        with tempfile.TemporaryDirectory() as directory:
            folder = Path(directory, "it's one", *["x" * 200] * 4)
            folder.mkdir(parents=True)
            library = shutil.copy(MUTANTS, folder / "a library.so")
            for more in ((), ("--out", folder / "found here")):
                document = result("--cases", 2000, "--no-corpus", "--stage", "sg_build", *more, library, env=env)
                words = shlex.split(findings(document)["sg/kiov/gap-flag"]["replay"])
                self.assertEqual(words[-1], str(library))
                self.assertIn("sg/kiov/gap-flag", findings(result(*words[2:], expect=DIFFER, env=env)))
        command = [sys.executable, str(TALKER), "refuse-all", "a b", "", "$HOME"]
        found = findings(result("--cases", 5, "--no-corpus", "--stage", "sg_build", "--shrink", 3, "--", *command, expect=DIFFER))
        for finding in found.values():
            self.assertEqual(shlex.split(finding["replay"])[-len(command) - 1:], ["--", *command])

    def test_a_replay_has_the_options_that_matter(self):
        with tempfile.TemporaryDirectory() as directory:
            map_file, file = write_map(Path(directory) / "map.json", {"a": "sg/*"}), Path(directory) / "case.json"
            file.write_text(json.dumps(question()))
            for case, said in ((os.path.relpath(file), str(file)), (file.read_text(), file.read_text())):
                document = result("--case", case, "--map", os.path.relpath(map_file), "--timeout-ms", 2500, *proxy("nob-4096"),
                                  expect=DIFFER)
                words = shlex.split(findings(document)["sg/kiov/nob"]["replay"])
                self.assertNotIn("--pedantic", words)
                self.assertEqual(words[2:8], ["--case", said, "--map", str(map_file), "--timeout-ms", "2500"])
                self.assertIn("sg/kiov/nob", findings(result(*words[2:], expect=DIFFER)))
            document = result("--case", file, "--pedantic", "--growth-mib", 700, *proxy("nob-4096"), expect=DIFFER)
            words = shlex.split(findings(document)["sg/kiov/nob"]["replay"])
            self.assertEqual(words[4:7], ["--growth-mib", "700", "--pedantic"])

    def test_a_case_file_replays_and_holds_for_the_reference(self):
        env = {"O2_MUTANT": "open-work-request"}
        with tempfile.TemporaryDirectory() as directory:
            document = result("--cases", 2000, "--out", directory, MUTANTS, expect=DIFFER, env=env)
            for finding in findings(document).values():
                path = shlex.split(finding["replay"])[3]
                again = result("--case", path, MUTANTS, expect=DIFFER if finding["counts"] else None, env=env)
                self.assertIn(finding["check"], findings(again))
                result("--case", path, REFERENCE, expect=AGREE)

    def test_what_cannot_be_written_is_said_with_the_reason(self):
        arguments = ("--cases", 2000, "--no-corpus", "--stage", "sg_build", "--shrink", 3, MUTANTS)
        for suffix in (".json", ".c"):
            with tempfile.TemporaryDirectory() as directory:
                run("--out", directory, *arguments, expect=DIFFER, env={"O2_MUTANT": "gap-never-seen"})
                full = next(path for path in sorted(Path(directory).iterdir()) if path.suffix == suffix)
                full.unlink()
                full.symlink_to("/dev/full")
                done = run("--out", directory, *arguments, expect=USAGE, env={"O2_MUTANT": "gap-never-seen"})
                self.assertIn(f"{full}: No space left on device", done.stderr.decode())

    def test_options_that_do_not_reach_the_fuzzer_are_refused(self):
        for option in ("--stage=rdma_plan", "--json=-", "--pedantic", "--seed=1", "--cases=3", "--timeout-ms=1000", "--html=x"):
            text = run("--fuzz", option, REFERENCE, "--", "-runs=1", expect=USAGE).stderr.decode()
            self.assertEqual(text, f"o2ref: {option.split('=')[0]} is not for --fuzz (see: o2ref check --help)\n")

    def test_as_many_implementations_as_may_be(self):
        case = ("--cases", 1, "--no-corpus", "--stage", "sg_build")
        result(*case, *[REFERENCE] * 16, expect=AGREE)
        for more in ([REFERENCE], ["--", sys.executable, TALKER]):
            self.assertIn("more than 16 implementations", run(*case, *[REFERENCE] * 16, *more, expect=USAGE).stderr.decode())

    def test_several_implementations_side_by_side(self):
        document = result("--cases", 3000, REFERENCE, MUTANTS, "--", PROGRAM, expect=DIFFER,
                          env={"O2_MUTANT": "gap-never-seen"})
        self.assertEqual([one["agrees"] for one in document["implementations"]], [True, False, True])


class Conduct(unittest.TestCase):
    def test_each_misdeed_is_a_finding_and_the_run_goes_on(self):
        def ask(misdeed):
            # Only the misbehaviour hang may count as one, so the others get long time-outs.  The corpus has small cases that
            # hang, which are soon shrunk; the others skip the corpus, which costs a process for each question.
            few = ("--timeout-ms", 100) if misdeed == "hang" else ("--timeout-ms", 5000, "--no-corpus")
            return result("--cases", 60, "--stage", "sg_build,msg_decode", *few, MISBEHAVE, expect=DIFFER, env={"O2_MISBEHAVE": misdeed})

        for misdeed, document in side_by_side(ask, MISDEEDS):
            with self.subTest(misdeed):
                check, found = MISDEEDS[misdeed], findings(document)
                self.assertIn(check, found)
                self.assertIsNotNone(found[check]["question"])
                if misdeed not in ("unstable", "overread", "stdout-once"):
                    # The smallest case has two pieces.
                    self.assertEqual(len(found[check]["question"]["buffer"]["pieces"]), 2)
                    self.assertLessEqual(found[check]["shrunk"]["to_bytes"], 20)

    def test_bytes_that_are_no_text_lose_no_finding(self):
        with tempfile.TemporaryDirectory() as directory:
            library = shutil.copy(MISBEHAVE, os.path.join(directory, os.fsdecode(b"li\xffb.so")))
            document = result("--cases", 60, "--no-corpus", "--stage", "sg_build", "--shrink", 3, "--label", os.fsdecode(b"a \xff"),
                              library, expect=DIFFER, env={"O2_MISBEHAVE": "latin-1"})
        one = document["implementations"][0]
        self.assertEqual((document["label"], one["label"], one["title"]), ("a ?", "a ?", "mine?"))
        self.assertEqual(one["name"], os.path.join(directory, "li?b.so"))
        finding = findings(document)["sg/kiov/refused-legal"]
        self.assertIn("trop-carr?", finding["found"])
        self.assertEqual(finding["implementation"]["refused"]["rule"], "trop-carr?")

    def test_nobody_makes_lines_of_their_own_in_the_text(self):
        odd = "x\x1b[2J\nFORGED"
        with tempfile.TemporaryDirectory() as directory:
            program = Path(directory) / odd
            program.write_text(f"#!/bin/sh\nexec {sys.executable} {TALKER} forge\n")
            program.chmod(0o755)
            text = run("--cases", 20, "--no-corpus", "--stage", "sg_build", "--shrink", 3, "--label", odd, REFERENCE, program,
                       expect=DIFFER).stdout.decode()
        self.assertTrue(text.replace("\n", "").isprintable(), text)
        self.assertNotIn("\nFORGED", text)
        for line in (rf"implementation refused, EINVAL, x\?\[2J\?FORGED|x\?\[2J\?FORGED", r" {2}\S*/x\?\[2J\?FORGED", r"replay .*x\?\[2J\?FORGED",
                     r"\(x\?\[2J\?FORGED\): differs"):
            self.assertRegex(text, line)

    def test_it_is_said_where_it_wrote(self):
        document = result("--cases", 50, "--no-corpus", MISBEHAVE, env={"O2_MISBEHAVE": "overrun"})
        self.assertIn("array entry, 0 bytes behind its end", findings(document)["run/overrun"]["found"])

        document = result("--cases", 50, "--no-corpus", MISBEHAVE, env={"O2_MISBEHAVE": "in-front"})
        self.assertEqual([each["found"] for each in document["implementations"][0]["findings"]], ["it wrote in front of the input"])

    def test_each_call_finds_the_same(self):
        """Questions that are asked again, for leaks, come with an empty answer, as docs/oracle.md says."""
        document = result("--cases", 400, "--no-corpus", "--stage", "sg_build", MISBEHAVE, env={"O2_MISBEHAVE": "adds"})
        self.assertEqual(set(findings(document)), {"sg/kiov/refused-legal", "sg/iov/refused-legal"})

    def test_output_of_a_stage_that_leaks_is_laid_to_it(self):
        document = result("--cases", 1000, "--no-corpus", "--stage", "sg_build,msg_decode", MISBEHAVE, env={"O2_MISBEHAVE": "leak-and-print"})
        found = [each for each in document["implementations"][0]["findings"] if each["check"] == "run/stdout"]
        self.assertEqual([(each["stage"], len(each["question"]["buffer"]["pieces"])) for each in found], [("sg_build", 3)])

    def test_what_ends_behind_its_last_answer_is_no_silence(self):
        found = findings(result("--cases", 60, "--no-corpus", "--stage", "sg_build", MISBEHAVE, env={"O2_MISBEHAVE": "closes"}))
        self.assertEqual((set(found), found["run/exit"]["found"]), ({"run/exit"}, "it ended with status 0"))

    def test_what_is_printed_without_end_is_not_kept(self):
        """The memory file of an output may not grow to 8 MiB; a question that is asked again prints 2 MiB."""
        with contextlib.ExitStack() as stack:
            _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
            resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 23, most))
            stack.callback(resource.setrlimit, resource.RLIMIT_FSIZE, (most, most))
            found = findings(result("--cases", 600, "--no-corpus", "--stage", "sg_build", "--shrink", 3, MISBEHAVE, env={"O2_MISBEHAVE": "trace"}))
        self.assertEqual(set(found), {"run/stdout"})

    def test_it_is_said_how_much_it_leaks(self):
        document = result("--cases", 50, "--no-corpus", MISBEHAVE, env={"O2_MISBEHAVE": "leak"})
        said = re.search(r"grows by (\d+) bytes with each call", findings(document)["run/leak"]["found"])
        # tests/impl/reference/misbehave.c loses 100 bytes; the heap rounds sizes up.
        self.assertTrue(100 <= int(said[1]) < 200, said[0])

    def test_what_is_printed_once_is_said_in_full(self):
        found = findings(result("--cases", 20, "--no-corpus", "--stage", "sg_build", MISBEHAVE, env={"O2_MISBEHAVE": "stdout-once"}))
        self.assertIn("it printed 14 bytes on standard output", found["run/stdout"]["found"])

    def test_a_slow_object_does_not_hang(self):
        """Each call has the time limit for itself, also when a question is asked again many times."""
        document = result("--cases", 4, "--no-corpus", "--stage", "sg_build", "--shrink", 0, "--timeout-ms", 400, MISBEHAVE,
                          env={"O2_MISBEHAVE": "slow"}, expect=DIFFER)
        self.assertNotIn("run/hang", findings(document))

    def test_a_lock_that_stays_held_is_no_busy_machine(self):
        found = findings(result("--cases", 300, "--no-corpus", "--stage", "sg_build", "--timeout-ms", 200, "--shrink", 3, MISBEHAVE,
                                env={"O2_MISBEHAVE": "lock"}, expect=DIFFER))["run/hang"]
        self.assertEqual((found["field"], found["found"]), ("conduct, after other questions", "no answer within 200 ms"))

    def test_hanging_stages_are_given_up(self):
        document = result("--cases", 300, "--timeout-ms", 50, MISBEHAVE, env={"O2_MISBEHAVE": "hang"})
        stages = {each["stage"]: each for each in document["implementations"][0]["stages"]}
        self.assertTrue(stages["sg_build"]["given_up"])
        text = run("--cases", 300, "--no-corpus", "--stage", "sg_build", "--timeout-ms", 50, "--shrink", 0, MISBEHAVE,
                   env={"O2_MISBEHAVE": "hang"}).stdout.decode()
        self.assertRegex(text, r"(?m)^sg_build .*, given up *$")


class Programs(unittest.TestCase):
    """tests/impl/reference/talker.py makes the mistakes that its first argument names."""

    # {mistake: (check, text in the output of --selftest)}.
    MISTAKES = {
        "crash": ("run/crash", "SIGABRT"),
        "exit": ("run/exit", "status 3"),
        "exit-loud": ("run/exit", "status 3: panic ?"),
        "hang": ("run/hang", "no answer within"),
        "closes": ("protocol/frame", "it closed its output and went on"),
        "print": ("protocol/frame", "text came"),
        "no-length": ("protocol/frame", "four bytes of length go first"),
        "big-endian": ("protocol/frame", "big-endian"),
        "length-of-all": ("protocol/frame", "counts its own four bytes"),
        "no-json": ("protocol/json", "no JSON"),
        "other-form": ("protocol/form", "expected \"o2ref/sg_build/output\""),
        "missing-field": ("protocol/field", None),
        "bad-errno": ("protocol/field", None),
        "bad-class": ("protocol/field", None),
        "bad-rule": ("protocol/field", None),
        "bad-index": ("protocol/field", None),
        "newline": ("protocol/frame", "behind the answer"),
        "no-flush": ("run/hang", "flush standard output"),
        "short-read": (None, "fewer bytes than were asked for"),
        "one-request": ("run/exit", "status 0"),
        "stays": (None, "does not leave"),
    }

    def test_each_mistake_is_a_finding(self):
        def ask(mistake):
            # A program that never answers costs a time-out at each question; the others get time for a busy machine.
            cases, timeout_ms = {"hang": (20, 60), "no-flush": (20, 60), "length-of-all": (2, 1000), "newline": (5, 1000)}.get(
                mistake, (5, 5000))
            return result("--cases", cases, "--no-corpus", "--stage", "sg_build", "--timeout-ms", timeout_ms, "--shrink", 3,
                          *talker(mistake), expect=DIFFER)

        checks = {mistake: check for mistake, (check, _) in self.MISTAKES.items() if check is not None}
        for mistake, document in side_by_side(ask, checks):
            with self.subTest(mistake):
                self.assertIn(checks[mistake], findings(document))

    def test_a_program_with_wrong_frames_is_given_up(self):
        for mistake in ("print", "newline", "twice"):
            words = ("--cases", 300, "--no-corpus", "--stage", "sg_build", "--timeout-ms", 5000, "--shrink", 3)
            document = result(*words, *talker(mistake), expect=DIFFER)
            one, = document["implementations"]
            stage, = one["stages"]
            with self.subTest(mistake):
                self.assertEqual((one["misframed"], stage["asked"], stage["given_up"]), (8, 8, True))
                self.assertEqual([finding["check"] for finding in one["findings"]], ["protocol/frame"])
        text = run(*words, *talker("print"), expect=DIFFER).stdout.decode()
        self.assertIn("8 answers are not framed rightly; try `o2ref check --selftest -- ", text)

    def test_an_encoder_without_a_limit(self):
        document = result("--cases", 1, "--stage", "msg_encode", "--shrink", 0, *proxy("too-long"), expect=DIFFER)
        found, = document["implementations"][0]["findings"]
        self.assertEqual(found["check"], "wire/header/nob-over-limit")
        self.assertIn("vector encode/header/nob-over-limit/", found["origin"])

    def test_how_long_was_waited_and_why_it_ended_is_said(self):
        """A program that has just started gets ten times as long."""
        def found(mistake, check, timeout_ms):
            return findings(result("--cases", 2, "--no-corpus", "--stage", "sg_build", "--timeout-ms", timeout_ms, "--shrink", 0,
                                   *talker(mistake), expect=DIFFER))[check]["found"]

        self.assertEqual(found("hang", "run/hang", 70), "no answer within 700 ms")
        self.assertEqual(found("closes", "protocol/frame", 5000), "it closed its output and went on")

    def test_what_a_hanging_program_prints_is_no_reason(self):
        document = result("--cases", 3, "--no-corpus", "--stage", "sg_build", "--timeout-ms", 200, "--shrink", 0,
                          *talker("hang-loud"), expect=DIFFER)
        found, = document["implementations"][0]["findings"]
        self.assertEqual(found["reason"], "conduct: no answer within # ms")

    @staticmethod
    def runs(pid):
        try:
            return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
        except (FileNotFoundError, ProcessLookupError):
            return False

    def test_what_a_program_has_started_ends_with_it(self):
        for ends in (None, signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(ends), tempfile.TemporaryDirectory() as directory:
                pids_file = Path(directory) / "pids"
                command = ("--cases", "5", "--no-corpus", "--stage", "sg_build", "--shrink", "0", "--timeout-ms",
                           "50" if ends is None else "60000", "--", "sh", "-c",
                           "sleep 900 & echo $! >>" + shlex.quote(str(pids_file)) + "; wait")
                if ends is None:
                    self.assertIn("run/hang", findings(result(*command, expect=DIFFER)))
                else:
                    # Restore the default action: nohup makes tests ignore the signal, and child processes inherit that.
                    with subprocess.Popen([str(BUILD / "o2ref"), "check", *command], start_new_session=True,
                                          preexec_fn=functools.partial(signal.signal, ends, signal.SIG_DFL)) as process:
                        wait_for(lambda: pids_file.exists() and pids_file.read_text().endswith("\n"))
                        process.send_signal(ends)
                        self.assertEqual(process.wait(60), -ends)
                pids = pids_file.read_text().split()
                self.assertTrue(pids and wait_for(lambda: not any(map(self.runs, pids))))

    def test_what_is_asked_ends_with_a_check_that_is_killed(self):
        def stopped(pid):
            """The child that has stopped itself at a question."""
            children = Path(f"/proc/{pid}/task/{pid}/children")
            for child in children.read_text().split() if children.exists() else ():
                with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                    if Path(f"/proc/{child}/stat").read_text().rsplit(")", 1)[1].split()[0] == "T":
                        return child
            return None

        for words in ((MISBEHAVE,), ("--", "sh", "-c", "kill -STOP $$; exec sleep 900")):
            command = [BUILD / "o2ref", "check", "--no-corpus", "--cases", "1", "--stage", "sg_build", "--timeout-ms", "60000", *words]
            with self.subTest(words), subprocess.Popen(command, env={**os.environ, "O2_MISBEHAVE": "stop"}) as process:
                asked = wait_for(lambda: stopped(process.pid))
                self.assertIsNotNone(asked)
                # When the parent ends, the kernel ends stopped processes, but not those that hang.
                os.kill(int(asked), signal.SIGCONT)
                process.kill()
                process.wait(60)
                ended = wait_for(lambda: not self.runs(asked))
                if not ended:
                    os.kill(int(asked), signal.SIGKILL)
                self.assertTrue(ended)

    def test_a_check_that_is_ended_leaves_no_files(self):
        with tempfile.TemporaryDirectory() as directory:
            old, new, page = (Path(directory) / name for name in ("old", "new", "page"))
            old.write_text("as it was")
            command = [BUILD / "o2ref", "check", "--no-corpus", "--seconds", "600", "--json", old, "--junit", new, "--html", page, REFERENCE]
            with subprocess.Popen(command) as process:
                self.assertTrue(wait_for(page.exists) and wait_for(new.exists))
                process.terminate()
                self.assertEqual(process.wait(60), -signal.SIGTERM)
            self.assertEqual([path.name for path in Path(directory).iterdir()], ["old"])
            self.assertEqual(old.read_text(), "as it was")

    def test_a_program_that_grows_is_a_finding(self):
        arguments = ("--cases", 1200, "--no-corpus", "--stage", "sg_build", "--shrink", 3, "--growth-mib", 20)
        self.assertIn("protocol/memory", findings(result(*arguments, *talker("grow"), expect=DIFFER)))
        self.assertNotIn("protocol/memory", findings(result(*arguments, *talker("refuse-all"), expect=DIFFER)))

    def test_growth_while_another_finding_is_made_small(self):
        document = result("--cases", 1500, "--no-corpus", "--stage", "sg_build", "--growth-mib", 40, *proxy("grow", "refuse-4096"), expect=DIFFER)
        other = findings(document)["sg/iov/refused-legal"]
        self.assertTrue(other["first_seen"]["answers"] < 40 and other["shrunk"]["calls"] > 130)
        self.assertRegex(findings(document)["protocol/memory"]["found"], r"^it has \d+ MiB in memory, \d+ MiB after its first answers$")

    def test_a_program_that_ends_at_two_places_has_two_findings(self):
        document = result("--cases", 20, "--no-corpus", "--stage", "sg_build", "--shrink", 3, *talker("two-places"), expect=DIFFER)
        lines = [i for i, line in enumerate(TALKER.read_text(encoding="utf-8").splitlines(), 1) if "raise " in line]
        found = document["implementations"][0]["findings"]
        self.assertEqual(sorted(finding["reason"] for finding in found),
                         [f"conduct: at talker.py:{line}" for line in lines])
        self.assertEqual({finding["check"] for finding in found}, {"run/exit"})

    def test_selftest_says_what_is_wrong(self):
        def ask(mistake):
            return run("--selftest", "--timeout-ms", 3000, *talker(mistake), expect=DIFFER)

        said = {mistake: words for mistake, (_, words) in self.MISTAKES.items() if words is not None}
        for mistake, done in side_by_side(ask, said):
            with self.subTest(mistake):
                self.assertIn(said[mistake], done.stdout.decode())

    def test_selftest_says_how_long_it_waited(self):
        """A program that has just started gets ten times as long."""
        self.assertIn("no answer within 5000 ms", run("--selftest", "--timeout-ms", 500, *talker("hang"), expect=DIFFER).stdout.decode())

    def test_selftest_passes_what_is_right(self):
        for words in ((PROGRAM,), (sys.executable, TALKER, "none")):
            self.assertIn("the framing is right", run("--selftest", "--", *words, expect=AGREE).stdout.decode())

    def test_what_is_late_once_does_not_count_as_hanging(self):
        with tempfile.TemporaryDirectory() as directory:
            document = result("--cases", 1000, "--no-corpus", "--stage", "sg_build", "--timeout-ms", 400, *proxy(),
                              env={"O2_LATE": str(Path(directory) / "late")}, expect=AGREE)
        one, = document["implementations"]
        stage, = one["stages"]
        self.assertEqual((one["late"] >= 8, stage["given_up"], stage["differed"]), (True, False, 0))
        self.assertEqual(stage["agreed"], stage["asked"])
        self.assertGreater(stage["asked"], 900)

    def test_bytes_behind_the_very_last_answer(self):
        case = ("--case", json.dumps(question()))
        for _ in range(5):
            self.assertIn("protocol/frame", findings(result(*case, *proxy("tail"), expect=DIFFER)))
        result(*case, *proxy(), expect=AGREE)

    def test_the_last_words_of_a_program_that_has_said_much(self):
        found = findings(result("--cases", 700, "--no-corpus", "--stage", "sg_build", *proxy("loud-end"), expect=DIFFER))["run/exit"]
        self.assertEqual((found["found"], found["reason"]), ("it ended with status 3: mine.go:7: gone", "conduct: at mine.go:7"))

    def test_answers_that_change_now_and_then(self):
        document = result("--cases", 2000, "--no-corpus", "--stage", "sg_build", "--shrink", 3, *proxy("now-and-then"), expect=DIFFER)
        found, = document["implementations"][0]["findings"]
        self.assertEqual((found["check"], found["reason"]), ("run/unstable", "sg/kiov/nob"))
        self.assertGreater(found["seen"], 5)
        self.assertLess(found["first_seen"]["answers"], 200)

    def test_answers_to_the_question_before(self):
        document = result("--cases", 1500, "--no-corpus", "--stage", "sg_build", "--shrink", 3, *proxy("one-behind"), expect=DIFFER)
        one, = document["implementations"]
        found = [each for each in one["findings"] if each["check"] == "run/unstable"]
        self.assertEqual((len(found), len({each["cause"] for each in found})), (8, 1))
        self.assertIn("run/unstable", [each["check"] for each in one["not_kept"]])

    def test_members_of_a_refusal(self):
        run_words = ("--cases", 300, "--no-corpus", "--stage", "sg_build", "--shrink", 3)
        result(*run_words, *proxy("null"), expect=AGREE)
        for change, words in (("errno-number", "refused.errno is not a text"), ("index-below", "refused.index is -1")):
            found = findings(result(*run_words, *proxy(change), expect=DIFFER))
            self.assertIn(words, found["protocol/field"]["found"])

    def test_one_flavour_without_decoding(self):
        result("--profile", "kernel", "--no-corpus", "--stage", "connect,deliver", "--cases", 3000, *proxy("one-flavour"), expect=AGREE)

    def test_selftest_waits_and_reads_on(self):
        run("--selftest", *proxy("slow-end"), expect=AGREE)
        self.assertIn("the length is big-endian", run("--selftest", *proxy("big-endian"), expect=DIFFER).stdout.decode())
        self.assertIn("the program cannot be run", run("--selftest", "--", "/nowhere", expect=USAGE).stdout.decode())

    def test_stages_of_version_2_are_asked_whatever_is_asked_first(self):
        """A program names them in an answer; those to sg_build do not come if it does not have that stage."""
        def asked(*arguments):
            one, = result(*arguments, expect=AGREE)["implementations"]
            return {each["stage"]: each["asked"] - each["not_implemented"] for each in one["stages"]}

        few = ("--cases", 1)
        self.assertEqual(asked("--stage", "flow", *few, *proxy("no-sg_build")), asked("--stage", "flow", *few, *proxy()))
        self.assertGreater(asked("--stage", "reg_plan,flow", *few, *proxy())["flow"], 80)
        self.assertGreater(asked("--no-corpus", "--stage", "reg_plan,flow", "--cases", 100, *proxy())["flow"], 40)

    def test_status_89_is_not_implemented(self):
        document = result("--cases", 50, "--no-corpus", *talker("refuse-all"), expect=DIFFER)
        stages = {each["stage"]: each for each in document["implementations"][0]["stages"]}
        self.assertTrue(stages["dma_map"]["absent"])
        self.assertFalse(stages["sg_build"]["absent"])

    def test_status_89_counts_although_the_stage_is_listed(self):
        one, = result("--cases", 600, "--no-corpus", "--stage", "sg_build,device", *proxy("no-device"), expect=AGREE)["implementations"]
        stages = {each["stage"]: each for each in one["stages"]}
        self.assertEqual((one["restarts"], stages["device"]["absent"], stages["device"]["left_out"]), (1, True, 0))


class Judgement(unittest.TestCase):
    ENV = {"O2_MUTANT": "gap-never-seen"}
    RUN = ("--cases", 4000, "--stage", "sg_build")

    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)

    def write(self, name, document):
        path = Path(self.directory.name) / name
        path.write_text(json.dumps(document))
        return path

    def known(self, *differences, name="known.json"):
        return write_known(Path(self.directory.name) / name, *differences)

    def map(self, errors, name="map.json"):
        return write_map(Path(self.directory.name) / name, errors)

    def test_known_differences_do_not_count(self):
        known = self.known("sg/kiov/gap-flag", "sg/iov/gap-flag")
        document = result(*self.RUN, "--known", known, MUTANTS, env=self.ENV, expect=AGREE)
        self.assertEqual(findings(document)["sg/kiov/gap-flag"]["known"], "for the test")

    def test_an_answer_that_changes_may_be_known(self):
        words = ("--cases", 60, "--no-corpus", "--stage", "sg_build", "--shrink", 3)
        document = result(*words, "--known", self.known("run/unstable"), MISBEHAVE, env={"O2_MISBEHAVE": "unstable"}, expect=AGREE)
        self.assertEqual({each["known"] for each in document["implementations"][0]["findings"]}, {"for the test"})
        result(*words, MISBEHAVE, env={"O2_MISBEHAVE": "unstable"}, expect=DIFFER)

    def test_lists_are_read_once_for_all_implementations(self):
        lists = (("--known", self.known("sg/kiov/gap-flag", "sg/iov/gap-flag")),
                 ("--map", self.map({"a": "sg/*"})))
        for option, path in lists:
            with self.subTest(option):
                result(*self.RUN, option, "/dev/stdin", MUTANTS, MUTANTS, given=path.read_bytes(), env=self.ENV,
                       expect=AGREE if option == "--known" else DIFFER)

    def test_a_known_difference_that_does_not_occur_is_reported(self):
        known = self.known("sg/kiov/gap-flag", "sg/iov/gap-flag", "sg/kiov/nob")
        document = result(*self.RUN, "--known", known, MUTANTS, env=self.ENV, expect=DIFFER)
        self.assertEqual([each["check"] for each in document["implementations"][0]["stale"]], ["sg/kiov/nob"])

    def test_a_known_difference_that_the_profile_accepts_is_not_stale(self):
        known = self.known("sg/kiov/entry-past-page", "sg/kiov/nob")
        for profile, stale in (("strict", ["sg/kiov/entry-past-page", "sg/kiov/nob"]), ("kernel", ["sg/kiov/nob"])):
            document = result(*self.RUN, "--profile", profile, "--known", known, REFERENCE, expect=DIFFER)
            self.assertEqual([each["check"] for each in document["implementations"][0]["stale"]], stale)

    def test_a_known_difference_may_name_a_stage_and_a_condition(self):
        both = [{"check": f"sg/{kind}/gap-flag", "stage": "sg_build"} for kind in ("kiov", "iov")]
        result(*self.RUN, "--known", self.known(*both), MUTANTS, env=self.ENV, expect=AGREE)
        elsewhere = [dict(each, stage="transfer") for each in both]
        self.assertEqual({each["known"] for each in findings(result(*self.RUN, "--known", self.known(*elsewhere), MUTANTS,
                                                                    env=self.ENV, expect=DIFFER)).values()}, {None})
        pages = [dict(each, when={"space.page_bytes": [4096, {"least": 10000, "most": 20000}]}) for each in both]
        document = result(*self.RUN, "--known", self.known(*pages), MUTANTS, env=self.ENV, expect=DIFFER)
        flags = [each for each in document["implementations"][0]["findings"] if each["check"].endswith("/gap-flag")]
        for finding in flags:
            size = finding["question"]["space"]["page_bytes"]
            self.assertEqual(finding["known"], "for the test" if size in (4096, 16384) else None)
            self.assertEqual(finding["counts"], size == 65536)
        self.assertEqual({finding["counts"] for finding in flags}, {True, False})
        word = [dict(each, when={"buffer.pieces.first.len": {"least": 0}}) for each in both]
        result(*self.RUN, "--known", self.known(*word), MUTANTS, env=self.ENV, expect=DIFFER)
        rest = [dict(each, when={"space.page_bytes": 65536}) for each in both]
        result(*self.RUN, "--known", self.known(*pages, *rest), MUTANTS, env=self.ENV, expect=AGREE)

    def test_an_error_map_translates_names(self):
        def found(nob, rules):
            return findings(result("--case", json.dumps(question(nob, ())), "--map", self.map({"talker-length": rules}),
                                   *talker("refuse-all")))

        self.assertEqual(found(0, "sg/nob"), {})
        self.assertIn("sg/vector-too-short", found(2, "sg/nob")["sg/rule"]["expected"])
        self.assertIn("sg/nob", found(0, ["sg/kiov/*"])["sg/rule"]["expected"])

    def test_a_known_difference_hides_no_other(self):
        arguments = ("--no-corpus", "--stage", "sg_build", "--cases", 2500, "--shrink", 20)
        small = self.known({"check": "sg/kiov/refused-legal", "when": {"space.page_bytes": 4096}})
        document = result(*arguments, "--known", small, *proxy("no-size-4096", "broken-65536"), expect=DIFFER)
        self.assertTrue(any("EIO" in each["found"] for each in document["implementations"][0]["findings"] if each["counts"]))
        self.assertGreater(document["implementations"][0]["causes_not_kept"], 0)
        both = self.known(*({"check": "sg/kiov/refused-legal", "when": {"space.page_bytes": size}} for size in (4096, 65536)))
        document = result(*arguments, "--known", both, *proxy("no-size-4096", "broken-65536"), expect=AGREE)
        self.assertEqual(document["implementations"][0]["stale"], [])

    def test_a_known_difference_explains_no_other(self):
        large = self.known(*({"check": f"sg/{kind}/refused-legal", "when": {"space.page_bytes": 65536}} for kind in ("kiov", "iov")))
        document = result("--no-corpus", "--stage", "sg_build", "--cases", 3000, "--shrink", 20, "--known", large,
                          *proxy("refuse-65536", "errno-of-sg/too-many-entries"), expect=DIFFER)
        self.assertTrue(findings(document)["sg/errno"]["counts"])

    def test_what_does_not_count_explains_nothing_that_does(self):
        """Which of the two is seen first depends on the seed."""
        for seed in range(1, 5):
            document = result("--no-corpus", "--stage", "rdma_plan", "--cases", 3000, "--shrink", 20, "--seed", seed,
                              *proxy("distrust"), expect=DIFFER)
            counted = {each["check"] for each in document["implementations"][0]["findings"] if each["counts"]}
            self.assertEqual(counted, {"rdma/errno"})
            self.assertIn("rdma/impossible", findings(document))

    def test_a_known_difference_that_does_not_occur_fails_in_junit(self):
        path = Path(self.directory.name) / "report.xml"
        known = self.known("sg/kiov/nob")
        run(*self.RUN, "--known", known, "--junit", path, REFERENCE, expect=DIFFER)
        failures = {each.get("name"): each.find("failure") for each in ElementTree.parse(path).getroot().iter("testcase")}
        self.assertEqual({name for name, failure in failures.items() if failure is not None}, {"sg/kiov/nob"})

    def test_bad_files_are_refused(self):
        def one(name, **more):
            return self.known({"check": "sg/kiov/nob", **more}, name=name)

        for arguments, words in (
                (("--map", self.map({"mine": "sg/no-such-rule"}, "a.json")), "is not the id of a rule"),
                (("--map", self.map({"mine": "sg/errno"}, "j.json")), "errors.mine: sg/errno is not the id of a rule"),
                (("--map", self.map({"mine": "run/*"}, "k.json")), "errors.mine: run/* is not the id of a rule"),
                (("--map", self.write("b.json", {})), "expected the form"),
                (("--known", self.known("no/such/check")), "is no check"),
                (("--known", one("d.json", stage="tea")), "'tea' is no stage"),
                (("--known", one("e.json", when=3)), "when is not an object"),
                (("--known", one("f.json", when={"a": {"most": "b"}})), "when.a is not a value"),
                (("--known", self.write("g.json", {"form": "o2ref/known_differences", "version": 1})), "is not an array"),
                (("--known", one("h.json", wehn={"a": 1})), "sg/kiov/nob: 'wehn' is none of check, stage, when, reason"),
                (("--map", self.map({"mine": ["sg/*", "nosuch/*"]}, "i.json")),
                 "errors.mine: nosuch/* is not the id of a rule"),
                (("--case", self.write("c.json", {"form": "x"})), "form"),
                (("--choices", "sg_build:0g"), "hexadecimal"),
                (("--choices", "sg_build:" + 40000 * "0"), "40000 hexadecimal digits, the most are "),
                (("--corpus", "/nowhere"), "Not a directory")):
            with self.subTest(words):
                self.assertIn(words, run(*arguments, REFERENCE, expect=USAGE).stderr.decode())


class ThenAndNow(unittest.TestCase):
    """--compare: what happened to the causes of an earlier result."""

    RUN = ("--no-corpus", "--stage", "sg_build,dma_map,reg_plan", "--cases", 4000)

    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.old = Path(self.directory.name) / "old.json"

    def before(self, defect, *arguments):
        run(*self.RUN, "--json", self.old, "--label", "mine 1", *arguments, MUTANTS, expect=DIFFER, env={"O2_MUTANT": defect})

    def after(self, defect, expect, *arguments, cases=4000):
        document = result(*self.RUN, "--compare", self.old, *arguments, "--cases", cases, MUTANTS if defect else REFERENCE,
                          env={"O2_MUTANT": defect or ""}, expect=expect)
        one, = document["implementations"]
        self.assertEqual(document["since"], {"file": str(self.old), "label": "mine 1"})
        return {each["check"]: each["since"] for each in one["findings"]}, {each["check"]: each["asked"] for each in one["gone"]}

    def test_the_same_is_no_difference_and_is_asked_for_by_its_question(self):
        self.before("gap-never-seen")
        # Only two cases are drawn: the earlier findings were tried again.
        since, gone = self.after("gap-never-seen", AGREE, cases=2)
        self.assertEqual(since["sg/kiov/gap-flag"], "same")
        self.assertEqual((set(since.values()), gone), ({"same"}, {}))

    def test_what_is_mended_is_gone_unless_it_was_not_asked(self):
        self.before("gap-never-seen")
        since, gone = self.after(None, AGREE)
        self.assertEqual((since, set(gone.values())), ({}, {True}))
        self.assertLessEqual(set(gone), {"sg/kiov/gap-flag", "sg/iov/gap-flag"})
        _, gone = self.after(None, AGREE, "--stage", "dma_map")
        self.assertEqual(set(gone.values()), {False})

    def test_another_cause_is_new(self):
        self.before("gap-never-seen")
        since, gone = self.after("dma-offset-lost", DIFFER)
        self.assertEqual(since["dma/bus/bytes"], "new")
        self.assertTrue(gone)
        text = run(*self.RUN, "--compare", self.old, "--label", "mine 2", MUTANTS, expect=DIFFER,
                   env={"O2_MUTANT": "dma-offset-lost"}).stdout.decode()
        self.assertRegex(text, r"(?m)^  must  dma/bus/bytes  \(new, dma_map, ")
        self.assertRegex(text, r"(?m)^  gone  sg/k?iov/gap-flag  \(sg_build\): gaps$")
        self.assertRegex(text, r"impl_mutants.so \(mine 2\): differs: ")
        self.assertRegex(text, r"since \S+old.json, mine 1: (1 cause is|[1-9]\d* causes are) new, 0 the same, [1-9]\d* gone")

    def both(self, before, after, *arguments, old=()):
        """The status of a run with changes, held against one with others."""
        words = ("--no-corpus", "--stage", "sg_build", "--cases", 1200, "--shrink", 20)
        run(*words, "--json", self.old, *old, *proxy(*before))
        done = run(*words, "--compare", self.old, "--json", "-", *arguments, *proxy(*after))
        return done.returncode, json.loads(done.stdout)

    def test_what_counts_is_new_unless_it_counted_before(self):
        status, document = self.both(("cut",), ("cut", "other-page"))
        self.assertEqual(status, DIFFER)
        self.assertEqual({each["since"] for each in document["implementations"][0]["findings"] if each["severity"] == "must"}, {"new"})
        self.assertEqual(self.both(("cut", "other-page"), ("cut", "other-page"))[0], AGREE)
        listed = ("--known", write_known(Path(self.directory.name) / "known.json",
                                         {"check": "sg/kiov/nob", "when": {"space.page_bytes": 65536}}))
        self.assertEqual(self.both(("nob-65536",), ("nob-65536", "nob-4096"), *listed, old=listed)[0], DIFFER)
        self.assertEqual(self.both(("nob-65536",), ("nob-65536",), *listed, old=listed)[0], AGREE)

    def test_what_was_there_before_explains_nothing_new(self):
        before = ("refuse-65536",)
        self.assertEqual(self.both(before, (*before, "errno-of-sg/iov/no-page"))[0], DIFFER)
        after = (*before, "errno-of-sg/iov/no-page")
        self.assertEqual(self.both(after, after)[0], AGREE)

    def test_what_was_dropped_before_is_not_new(self):
        self.assertEqual(self.both(("no-size-4096",), ("no-size-4096",))[0], AGREE)
        status, document = self.both((), ("no-size-4096",))
        one, = document["implementations"]
        self.assertEqual(status, DIFFER)
        self.assertEqual([(each["stage"], each["check"]) for each in one["not_kept"]], [("sg_build", "sg/kiov/refused-legal")])

    def test_what_cannot_be_compared(self):
        self.before("gap-never-seen", "--profile", "kernel")
        self.assertIn("its profile is 'kernel', that of this run strict",
                      run("--compare", self.old, REFERENCE, expect=USAGE).stderr.decode())
        self.old.write_text(json.dumps({"form": "o2ref/check_result", "version": 1}))
        self.assertIn("implementations is not an array", run("--compare", self.old, REFERENCE, expect=USAGE).stderr.decode())
        self.assertIn("No such file", run("--compare", "/nowhere", REFERENCE, expect=USAGE).stderr.decode())

    def test_a_program_that_ends_in_bytes_that_are_no_text_is_new(self):
        arguments = ("--no-corpus", "--stage", "sg_build", "--cases", 20, "--shrink", 0)
        run(*arguments, "--json", self.old, "--", PROGRAM, expect=AGREE)
        text = run(*arguments, "--compare", self.old, *talker("exit-loud"), expect=DIFFER).stdout.decode()
        self.assertIn("differs: 1 finding of 1 cause in ", text)
        self.assertIn("1 cause is new, 0 the same, 0 gone", text)


class Usage(unittest.TestCase):
    def test_what_cannot_be_run(self):
        for arguments, words in (((), "no implementation"), (("/nowhere.so",), "No such file"),
                                 ((BUILD / "libo2ref.a.so",), "No such file"), (("--", "/nowhere"), "No such file"),
                                 (("--stage", "tea", REFERENCE), "--stage has 'tea', not msg_decode, "),
                                 (("--cases", "-1", REFERENCE), "--cases is '-1', not a number"),
                                 (("--seconds", "inf", REFERENCE), "--seconds is 'inf', not a number of seconds from 0.001 to 31536000"),
                                 (("--seconds", "1e300", REFERENCE), "--seconds is '1e300'"),
                                 (("--seconds", "1e-300", REFERENCE), "--seconds is '1e-300'"),
                                 (("--seconds", "nan", REFERENCE), "--seconds is 'nan'"),
                                 (("--seconds", " 1", REFERENCE), "--seconds is ' 1', not a number of seconds from 0.001 to 31536000"),
                                 (("--seconds", "0x1p-3", REFERENCE), "--seconds is '0x1p-3'"),
                                 (("--profile", "x", REFERENCE), "--profile is 'x', not strict or kernel"),
                                 (("--nothing",), "no option"),
                                 (("--first", str(2**63), REFERENCE), f"--first is '{2**63}'"),
                                 (("--cases", "0", REFERENCE), "needs --seconds"),
                                 (("--case", "{", REFERENCE), "the command line"),
                                 (("--case", "/nowhere.json", REFERENCE), "/nowhere.json: No such file or directory\n"),
                                 (("--case", ROOT / "corpus", REFERENCE), f"{ROOT / 'corpus'}: Is a directory\n"),
                                 (("--selftest", REFERENCE), "needs --")):
            with self.subTest(words):
                self.assertIn(words, run(*arguments, expect=USAGE).stderr.decode())

    def test_what_is_wrong_with_a_committed_case(self):
        for place, content, words in (("vectors", "{", "string or '}' expected near end of file (line 1)"),
                                      ("stages", '{"tests": [{"question": {"form": "o2ref/sg_build/input", "version": 2}}]}',
                                       "json/version: version is 2, expected 1 (Invalid argument)"),
                                      ("transfer/scenario", '{"op": "tea"}', "json/form: form (Invalid argument)")):
            with self.subTest(place), tempfile.TemporaryDirectory() as directory:
                path = Path(directory) / place / "one.json"
                path.parent.mkdir(parents=True)
                path.write_text(content, encoding="ascii")
                text = run("--corpus", directory, "--cases", 1, REFERENCE, expect=USAGE).stderr.decode()
                self.assertEqual(text, f"o2ref: check: {path}: {words}\n")

    def test_why_a_case_was_not_asked(self):
        with tempfile.TemporaryDirectory() as directory:
            long = Path(directory) / "long.bin"
            long.write_bytes(bytes(9000))
            for arguments, words in ((("--case", long), f"{long}: 9000 bytes, a message that can be asked has 8192 at most"),
                                     (("--case", json.dumps(question()), "--stage", "flow"), "it was not asked: --stage leaves out this stage")):
                self.assertIn(words, run(*arguments, REFERENCE, expect=USAGE).stderr.decode())

    def test_what_it_reads_or_another_option_writes_is_not_written(self):
        short = ("--no-corpus", "--stage", "sg_build", "--cases", 20)
        with tempfile.TemporaryDirectory() as directory:
            folder = Path(directory)
            mine, script, other = (Path(shutil.copy(path, folder)) for path in (REFERENCE, TALKER, PROGRAM))
            read, page = folder / "read", folder / "page"
            page.write_bytes(b"as it was")
            (folder / "link").symlink_to(page)
            read.touch()
            before = {path.name for path in folder.iterdir()}
            for words, why in (
                    (("--json", mine, mine), f"{mine}: this is what is tested, so --json cannot write it"),
                    (("--html", mine, REFERENCE, mine), f"{mine}: this is what is tested, so --html cannot write it"),
                    (("--junit", script, "--", sys.executable, script), f"{script}: this is what is tested, so --junit cannot write it"),
                    (("--json", other, "--", other), f"{other}: this is what is tested, so --json cannot write it"),
                    (("--map", read, "--html", read, REFERENCE), f"{read}: this is the error map, so --html cannot write it"),
                    (("--known", read, "--json", read, REFERENCE), f"{read}: this is the list of known differences, so --json cannot write it"),
                    (("--case", read, "--json", read, REFERENCE), f"{read}: this is the case that is asked, so --json cannot write it"),
                    (("--compare", read, "--html", read, REFERENCE), f"{read}: this is the earlier result, so --html cannot write it"),
                    (("--json", page, "--html", page, REFERENCE), f"{page}: --json writes this file, and so does --html"),
                    (("--html", page, "--junit", folder / "link", REFERENCE), f"{folder}/link: --html writes this file, and so does --junit"),
                    (("--json", folder / "a", "--html", folder / "a", REFERENCE), f"{folder}/a: --json writes this file, and so does --html"),
                    (("--json", "-", "--html", "-", REFERENCE), "-: --json writes this file, and so does --html"),
                    (("--html", "/dev/stdout", "--junit", "-", REFERENCE), "-: --html writes this file, and so does --junit"),
                    (("--json", page, "--html", folder / "no" / "x", REFERENCE), f"{folder}/no/x: No such file or directory"),
                    (("--json", folder / "new", "--map", folder / "no", REFERENCE), None),
                    (("--json", page, "--out", page, REFERENCE), None),
                    (("--out", folder / "no" / "x", REFERENCE), None)):
                read.write_bytes(b"read")
                with self.subTest(words=words):
                    done = run(*short, *words, expect=USAGE)
                    self.assertEqual((done.stdout, done.stderr.count(b"\n")), (b"", 1))
                    if why is not None:
                        self.assertEqual(done.stderr.decode(), f"o2ref: {why}\n")
                    self.assertEqual({path.name for path in folder.iterdir()}, before)
                    for path, kept in ((mine, REFERENCE.read_bytes()), (script, TALKER.read_bytes()), (other, PROGRAM.read_bytes()),
                                       (read, b"read"), (page, b"as it was")):
                        self.assertEqual(path.read_bytes(), kept, path)

    def test_standard_output_has_one_text(self):
        for option, begins, ends in (("--json", b"{", b"}\n"), ("--html", b"<!DOCTYPE html>", b"</html>\n"),
                                     ("--junit", b"<?xml", b"</testsuites>\n")):
            done = run("--no-corpus", "--stage", "sg_build", "--cases", 20, option, "-", REFERENCE, expect=AGREE)
            with self.subTest(option):
                self.assertEqual((done.stdout[:len(begins)], done.stdout[-len(ends):]), (begins, ends))
                self.assertIn(b": agrees: ", done.stderr)

    def test_no_name_is_cut_inside_a_letter(self):
        with tempfile.TemporaryDirectory() as directory:
            for letters in ("\u00e9" * 12, "a" + "\u00e9" * 12):
                library = shutil.copy(REFERENCE, Path(directory) / f"{letters}.so")
                text = run("--no-corpus", "--stage", "sg_build", "--cases", 20, library, expect=AGREE).stdout.decode()
                self.assertRegex(text.splitlines()[0], "^ +\u00e9+[.]so *$")

    def test_no_report_is_a_case_of_the_corpus(self):
        with tempfile.TemporaryDirectory() as directory:
            for place, option, refused in (("stages/r.json", "--json", True), ("sg_kiov/seed/page", "--html", True),
                                           ("stages/r.html", "--html", False), ("r.json", "--json", False)):
                path = Path(directory) / place
                path.parent.mkdir(parents=True, exist_ok=True)
                words = ("--corpus", directory, "--stage", "sg_build", "--cases", 1, option, path, REFERENCE)
                with self.subTest(place):
                    text = run(*words, expect=USAGE if refused else AGREE).stderr.decode()
                    self.assertEqual(text, f"o2ref: {path}: this would be read as a case of the corpus, so {option} cannot write it\n"
                                     if refused else "")
                    self.assertEqual(path.exists(), not refused)

    def test_the_earlier_result_may_make_room_for_the_new_one(self):
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "result.json"
            for more in ((), ("--compare", path)):
                run("--no-corpus", "--stage", "sg_build", "--cases", 20, "--json", path, *more, REFERENCE, expect=AGREE)
                self.assertEqual("since" in json.loads(path.read_text()), bool(more))

    def test_in_the_shortest_time_something_is_asked(self):
        result("--seconds", "0.001", "--no-corpus", "--stage", "sg_build", REFERENCE, expect=AGREE)

    def test_only_a_name_with_the_suffix_of_one_is_a_library(self):
        with tempfile.TemporaryDirectory() as directory:
            for name, copied in (("my.solver", PROGRAM), ("x.so.d", PROGRAM), ("libx.so.1.2", REFERENCE), ("my.solver.so", REFERENCE)):
                path = shutil.copy(copied, Path(directory) / name)
                with self.subTest(name):
                    result("--cases", 20, "--no-corpus", "--stage", "sg_build", path, expect=AGREE)

    def test_help_names_every_option(self):
        text = run("--help", expect=AGREE).stdout.decode()
        source = (ROOT / "props" / "cmd" / "check_options.c").read_text()
        for name in re.findall(r'^\t\{"([a-z-]+)",', source, re.M):
            self.assertIn("--" + name, text + " --help")

    def test_help_names_every_stage(self):
        header = (ROOT / "ref" / "oracle" / "stage.h").read_text()
        stages = [name.lower() for name in re.findall(r"^\tO2_STAGE_(\w+)(?: = \w+)?,$", header, re.M)]
        text = run("--help", expect=AGREE).stdout.decode()
        listed = re.search(r"only these stages: ([\w, \n]*?)\n +--", text)[1]
        self.assertEqual(listed.replace(",", "").split(), stages)

    def test_the_table_of_checks_is_in_the_documentation(self):
        table = run("--list-checks", expect=AGREE).stdout.decode()
        document = (ROOT / "docs" / "oracle.md").read_text()
        self.assertIn(table.strip(), document, "docs/oracle.md: paste `o2ref check --list-checks` under Checks")


FUZZER = BUILD / "o2ref-fuzz-impl"
COMPILER = subprocess.run([ROOT / "ci" / "compiler", "clang"], capture_output=True, text=True, check=False).stdout.strip()


@unittest.skipUnless(FUZZER.exists(), "o2ref-fuzz-impl is not built: there is no libFuzzer here, or no libstdc++ of the compiler")
class Fuzzing(unittest.TestCase):
    def fuzz(self, words, *engine, env=None):
        """(exit status, output) of `o2ref check --fuzz WORDS -- ENGINE`."""
        with tempfile.TemporaryDirectory() as directory:
            done = subprocess.run([str(BUILD / "o2ref"), "check", "--fuzz", *map(str, words), "--", "-seed=1",
                                   f"-artifact_prefix={directory}/", *engine], capture_output=True, timeout=240, check=False,
                                  env={**os.environ, **(env or {})})
        return done.returncode, done.stderr.decode(errors="replace")

    def test_nothing_is_found_in_the_reference(self):
        status, text = self.fuzz([REFERENCE], "-runs=30000")
        self.assertEqual(status, 0, text)

    def test_defects_are_found_from_nothing(self):
        # Where the defect shows first depends on the engine's path: in its stage, or in a whole transfer.
        for defect, check in (("open-work-request", "(rdma/|transfer/)"), ("gap-never-seen", "(gap-flag|reg/|transfer/)"),
                              ("fmr-collapse-gapped", "(reg/|transfer/)")):
            with self.subTest(defect):
                status, text = self.fuzz([MUTANTS], "-runs=200000", "-max_len=2048", env={"O2_MUTANT": defect})
                self.assertNotEqual(status, 0)
                self.assertRegex(text, rf"o2ref fuzz: implementation: \S*{check}")
                choices = re.search(r"--choices (\S+)", text).group(1)
                result("--choices", choices, MUTANTS, expect=DIFFER, env={"O2_MUTANT": defect})
                result("--choices", choices, REFERENCE, expect=AGREE)

    def test_known_differences_are_passed_over(self):
        with tempfile.TemporaryDirectory() as directory:
            known = write_known(Path(directory) / "known.json", "sg/kiov/gap-flag", "sg/iov/gap-flag", "reg/fastreg/gaps", "reg/phys/gaps",
                                "reg/more-fragments-than-peer-accepts", "rdma/too-many-work-requests", "transfer/refused-legal",
                                "transfer/errno", "transfer/rule", "transfer/where")
            status, text = self.fuzz(["--known", known, MUTANTS], "-runs=20000", env={"O2_MUTANT": "gap-never-seen"})
        self.assertEqual(status, 0, text)

    def test_profile_map_and_known_differences_are_honoured(self):
        # The implementation refuses every question with the same errno and name.
        legal = ["sg/kiov/refused-legal", "sg/iov/refused-legal"]
        for known, options, check in ((legal, (), "sg/errno"), ([*legal, "sg/errno"], (), None),
                                      ([*legal, "sg/errno"], ("--map",), "sg/rule"), (legal, ("--profile", "kernel"), None)):
            with self.subTest(options=options, check=check), tempfile.TemporaryDirectory() as directory:
                path = write_known(Path(directory) / "known.json", *({"check": each, "stage": "sg_build"} for each in known))
                map_file = write_map(Path(directory) / "map.json", {"Mine": "dma/*"})
                options = (*options, map_file) if options == ("--map",) else options
                status, text = self.fuzz(["--known", path, *options, MISBEHAVE], "-runs=3000", env={"O2_MISBEHAVE": "refuse"})
                self.assertEqual(status == 0, check is None, text)
                self.assertIn(f"implementation: {check}" if check else "Done 3000 runs", text)
                if check is not None and "--map" in options:
                    self.assertRegex(text, rf"replay: o2ref check --choices \S+ --map {map_file} ")

    @unittest.skipUnless(COMPILER, "no clang")
    def test_coverage_of_the_library_is_used(self):
        with tempfile.TemporaryDirectory() as directory:
            library = Path(directory) / "covered.so"
            subprocess.run([COMPILER, "-fsanitize=fuzzer-no-link", "-shared", "-fPIC", f"-I{ROOT}/ref/oracle/include",
                            "-o", str(library), str(ROOT / "tests" / "impl" / "reference" / "misbehave.c"), "-D_GNU_SOURCE"],
                           check=True, timeout=60)
            _, text = self.fuzz([library], "-runs=5000")
            self.assertRegex(text, r"cov: [1-9]")

    def test_what_cannot_be_fuzzed(self):
        self.assertEqual(self.fuzz(["/nowhere.so"])[0], USAGE)


class Reports(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        cls.paths = {kind: Path(cls.directory.name) / f"report.{kind}" for kind in ("html", "xml", "json")}
        cls.done = run("--cases", 3000, "--html", cls.paths["html"], "--junit", cls.paths["xml"], "--label", "tree 5, abc <&>", "--json",
                       cls.paths["json"], REFERENCE, MUTANTS, expect=DIFFER, env={"O2_MUTANT": "fmr-collapse-gapped"})

    @classmethod
    def tearDownClass(cls):
        cls.directory.cleanup()

    def test_the_table(self):
        text = self.done.stdout.decode()
        self.assertIn("reg/fmr/bytes", text)
        self.assertIn("replay     o2ref check --case '{\"form\":\"o2ref/reg_plan/input\"", text)
        self.assertIn("impl_reference.so (tree 5, abc <&>): agrees", text)

    def test_the_page(self):
        page = self.paths["html"].read_text()
        self.assertIn("reg/fmr/bytes", page)
        self.assertIn("<svg", page)
        self.assertIn('class="mark"', page)
        for word in ("<script", "http-equiv", "@import"):
            self.assertNotIn(word, page)

    def test_a_picture_for_every_stage_with_memory(self):
        for defect, check in (("gap-never-seen", "sg/kiov/gap-flag"), ("dma-offset-lost", "dma/bus/bytes"),
                              ("fmr-collapse-gapped", "reg/fmr/bytes"), ("phys-last-page", "reg/phys/bytes"),
                              ("user-page-start", "reg/user/bytes"), ("open-work-request", "rdma/sink-bytes"),
                              ("swap-fragments", "transfer/bytes")):
            with self.subTest(check), tempfile.TemporaryDirectory() as directory:
                page = Path(directory) / "page.html"
                document = result("--cases", 1300, "--stage", stage_of(check), "--html", page, MUTANTS, env={"O2_MUTANT": defect})
                picture = findings(document)[check]["picture"]
                self.assertEqual(ElementTree.fromstring(picture).tag, "{http://www.w3.org/2000/svg}svg")
                self.assertIn(picture, page.read_text())

    def test_junit(self):
        suites = ElementTree.parse(self.paths["xml"]).getroot()
        self.assertEqual([len(suite.findall("testcase/failure")) > 0 for suite in suites], [False, True])
        self.assertEqual(len({len(suite) for suite in suites}), 1)
        for suite in suites:
            said = {each.get("name"): each.get("value") for each in suite.find("properties")}
            self.assertEqual(said["label"], "tree 5, abc <&>")
            self.assertEqual(set(STAGES) | {"label", "profile", "seed"}, set(said))
            self.assertRegex(said["sg_build"], r"^\d+ asked, 0 not implemented, 0 left out$")

    def test_junit_says_what_was_not_answered(self):
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "report.xml"
            case = json.dumps(question(pieces=[{"page": 1, "offset": 0, "len": 1}] * 2))
            run("--case", case, "--junit", path, "--profile", "kernel", REFERENCE, expect=AGREE)
            cases = {each.get("name"): each.find("skipped") for each in ElementTree.parse(path).getroot().iter("testcase")}
        self.assertEqual({name: cases[name].get("message") for name in (
            "dma/bus/bytes", "sg/iov/bytes", "sg/nob", "sg/too-many-entries")}, {
                "dma/bus/bytes": "the stage was not asked",
                "sg/iov/bytes": "no question of this kind was answered",
                "sg/nob": "the profile does not ask for it",
                "sg/too-many-entries": "no question that was answered breaks this rule"})
        self.assertIsNone(cases["sg/kiov/bytes"])
        self.assertIsNone(cases["run/crash"])

    def test_json_is_what_the_schema_says(self):
        document = json.loads(self.paths["json"].read_text())
        schema = json.loads((ROOT / "docs" / "check_result.schema.json").read_text())
        self.check(document, schema, "result")

    def check(self, value, schema, where):
        """The part of JSON Schema that the document uses."""
        kinds = {"object": dict, "array": list, "string": str, "integer": int, "number": (int, float), "boolean": bool,
                 "null": type(None)}
        allowed = schema.get("type", [])
        allowed = [allowed] if isinstance(allowed, str) else allowed
        if allowed:
            self.assertTrue(any(isinstance(value, kinds[kind]) for kind in allowed), f"{where}: {type(value)}")
        if "const" in schema:
            self.assertEqual(value, schema["const"], where)
        if "enum" in schema:
            self.assertIn(value, schema["enum"], where)
        if isinstance(value, dict) and "properties" in schema:
            self.assertEqual(set(schema.get("required", ())) - value.keys(), set(), where)
            self.assertEqual(value.keys() - schema["properties"].keys(), set(), where)
            for key, member in value.items():
                self.check(member, schema["properties"][key], f"{where}.{key}")
        if isinstance(value, list) and "items" in schema:
            for index, item in enumerate(value):
                self.check(item, schema["items"], f"{where}[{index}]")


if __name__ == "__main__":
    sys.exit(suite.run(suite.of(sys.modules[__name__])))
