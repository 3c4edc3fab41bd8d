# SPDX-License-Identifier: MIT
"""The runs that judge systematic mutants: properties and unit tests (docs/mutants.md)."""

import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

PROPERTY, TEST = "property", "test"
MAP_BYTES = 1 << 16  # O2_SYSTEMATIC_BYTES
FILE_BYTES = 1 << 32  # limit of one file, shared memory included: a mutant may write endlessly
CANNOT_RUN = 77
LONGEST_S = 300  # a unit test that takes longer without a mutant is left out

# Each property runs twice: with few cases, which find nearly all mutants, then with as many as take some seconds.
OF_O2PROPS = (
    ("codec", (), 20_000, 1_000_000), ("keys", (), 20_000, 300_000), ("pools", (), 5000, 100_000),
    ("sg", (), 20_000, 300_000), ("dma", (), 20_000, 300_000), ("reg_plan", (), 20_000, 300_000),
    ("rdma", (), 20_000, 300_000), ("parts", (), 20_000, 300_000),
    ("forms", (), 3000, 30_000), ("sim", (), 1000, 10_000), ("hostile", (), 500, 5000), ("nodes", (), 120, 800),
    ("endpoint", (), 150, 1000), ("verdicts", (), 10_000, 100_000), ("verbs", (), 500, 10_000), ("settings", (), 1000, 10_000),
    ("commands", (), 60, 500), ("lst", (), 1000, 8000), ("hosts", (), 60, 400),
    ("transfer", ("--device", "model"), 1000, 5000), ("transfer", ("--device", "loop"), 1000, 2000),
    ("transfer", ("--device", "loop", "--connect", "cm"), 300, 600),
)
SEED, DEEP_SEED = 1, 2
CONFORM_NID = "10.77.0.2@o2ib"  # NID of the peer that runs in the same process
# Implementations that share no code with the reference, and the reference itself as a shared object and as a program.
OF_CHECK = (("libsecond.so", ("libsecond.so",)), ("impl_reference.so", ("impl_reference.so",)),
            ("impl_reference_program", ("--", "impl_reference_program")))
# {misbehaviour (tests/impl/reference): the only check that detects it}.
OF_OBJECTS = {"crash": "run/crash", "abort": "run/crash", "hang": "run/hang", "exit": "run/exit", "stdout": "run/stdout",
              "leak": "run/leak", "overrun": "run/overrun", "long-name": "run/overrun", "input": "run/input-written",
              "count": "run/count-over-capacity", "status": "run/status", "no-errno": "run/status", "flag": "run/value",
              "overread": "run/crash"}
OF_PROGRAMS = {"crash": "run/crash", "exit": "run/exit", "print": "protocol/frame", "no-length": "protocol/frame",
               "big-endian": "protocol/frame", "no-json": "protocol/json", "other-form": "protocol/form",
               "missing-field": "protocol/field", "bad-errno": "protocol/field"}
# Check with the difference listed as known: must succeed.  Without the list: must find a difference (exit status 1).
KNOWN_AND_NOT = 'props=$1; shift; "$props" check --known "$0" "$@" && { "$props" check "$@"; [ $? -eq 1 ]; }'
# Left out: tests of this harness, tests that read sources as text, and tests of deliberate defects.
NO_TESTS = ("corpus_", "property_", "exhaustive_", "fuzz_mutant_", "fuzz_list", "fuzz_seeds", "test_mutants_table", "test_systematic",
            "test_install", "docs", "lustre", "rooms", "style", "coverage")
# Programs that scripts call when they are given a folder of programs.
SIBLINGS = ("o2props", "o2ref", "o2ref-net-loop", "impl_reference.so", "impl_misbehave.so", "impl_reference_program",
            "libsecond.so", "libstart.so")
WITH_DEFECTS = ("o2props-mutants", "impl_mutants.so")


@dataclass
class Run:
    """A command that succeeds without a mutant; if it fails with a mutant, the mutant is detected."""
    name: str
    kind: str  # PROPERTY or TEST
    command: list
    environment: dict = field(default_factory=dict)
    seconds: float = 0.0  # duration without a mutant
    reached: bytes = b""  # one byte for each mutant


@dataclass(frozen=True)
class Outcome:
    status: int | None  # None: it did not end in time
    seconds: float
    reached: bytes
    tail: str

    @property
    def held(self):
        return self.status == 0

    @property
    def words(self):
        if self.status is None or self.status == -signal.SIGXCPU:
            return "time-out"
        return f"signal {-self.status}" if self.status < 0 else f"exit {self.status}"


def property_runs(programs, corpus):
    runs = []
    for name, options, few, many in OF_O2PROPS:
        for cases, seed in ((few, SEED), (many, DEEP_SEED)):
            command = [programs / "o2props", "run", name, *options, "--cases", str(cases), "--seed", str(seed),
                       "--findings", "1", "--shrink-calls", "0"]
            runs.append(Run(" ".join((name, *options[1::2], str(cases))), PROPERTY, command))
    runs.append(Run("hostile --all", PROPERTY, [programs / "o2props", "hostile", "--all"]))
    runs.append(Run("conform", PROPERTY, [programs / "o2ref", "conform", "--device", "loop", CONFORM_NID]))
    for name, words in OF_CHECK:
        words = [programs / word if word != "--" else word for word in words]
        runs.append(Run(f"check {name}", PROPERTY,
                        [programs / "o2props", "check", "--cases", "3000", "--seed", "1", "--corpus", corpus, *words]))
    runs.append(Run("check --selftest", PROPERTY,
                    [programs / "o2props", "check", "--selftest", "--", programs / "impl_reference_program"]))
    return runs


def misdeed_run(programs, name, check, words, **environment):
    known = programs.parent / f"known-{check.replace('/', '-')}.json"
    known.write_text(json.dumps({"form": "o2ref/known_differences", "version": 1,
                                 "differences": [{"check": check, "reason": "it is what is to be found"}]}))
    options = ["--seed", "1", "--no-corpus", "--shrink", "20", "--timeout-ms", "100" if check == "run/hang" else "5000"]
    return Run(f"check of {name}", PROPERTY, ["sh", "-c", KNOWN_AND_NOT, known, programs / "o2props", *options, *words],
               environment)


def misdeed_runs(programs):
    """A run for each misbehaviour: exactly the expected check must detect it."""
    talker = programs.parents[1] / "tests" / "impl" / "reference" / "talker.py"
    runs = []
    for name, check in OF_OBJECTS.items():
        stage = "msg_decode" if name == "overread" else "sg_build"
        words = ["--cases", "30" if name == "hang" else "300", "--stage", stage, programs / "impl_misbehave.so"]
        runs.append(misdeed_run(programs, f"an object: {name}", check, words, O2_MISBEHAVE=name))
    for name, check in OF_PROGRAMS.items():
        words = ["--cases", "20", "--stage", "sg_build", "--", sys.executable, talker, name]
        runs.append(misdeed_run(programs, f"a program: {name}", check, words))
    return runs


def corpus_runs(programs, corpus):
    """Replay the committed corpus of each fuzz target."""
    runs = []
    for folder in sorted(path for path in corpus.iterdir() if path.name != "canary"):
        folders = [path for kind in ("seed", "found", "regress") if (path := folder / kind).is_dir()]
        if (programs.parents[1] / "fuzz" / f"{folder.name}.c").is_file() and folders:
            runs.append(Run(f"corpus {folder.name}", PROPERTY, [programs / f"fuzz_{folder.name}_replay", *folders]))
    return runs


def ctest_entries(programs):
    """Yield (name, command, environment) of the unit tests, built or not, from cmake's CTestTestfile.cmake files."""
    for path in sorted(programs.rglob("CTestTestfile.cmake")):
        text = path.read_text(encoding="utf-8")
        for name, rest in re.findall(r"^add_test\(\[=\[(.*?)\]=\] (.*)\)$", text, re.M):
            about = re.search(rf"^set_tests_properties\(\[=\[{re.escape(name)}\]=\] (.*)\)$", text, re.M)
            about = about[1] if about else ""
            if not name.startswith(NO_TESTS) and not name.endswith("_mutants") and "PASS_REGULAR_EXPRESSION" not in about:
                values = re.search(r'ENVIRONMENT "(.*?)"', about)
                pairs = [one.split("=", 1) for one in values[1].split(";")] if values else []
                yield name, re.findall(r'"(.*?)"', rest), dict(pairs)


def test_runs(programs):
    return [Run(name, TEST, command, environment) for name, command, environment in ctest_entries(programs)]


def targets_of(programs, runs):
    """The targets that ninja must build for the runs, and the programs that scripts call from the folder of programs."""
    words = [Path(word) for run in runs for word in run.command]
    found = {str(word.relative_to(programs)) for word in words if word.is_absolute() and word.is_relative_to(programs)}
    # WITH_DEFECTS are not built in this copy, whose sources have other switches: mutant_tree.bring copies them.
    return sorted((found - {".", *WITH_DEFECTS}) | set(SIBLINGS))


def limits(child, seconds):
    """Limit a child's file size and, if its usual time is known, its processor time.  Its own children inherit the limits."""
    wanted = [(resource.RLIMIT_FSIZE, FILE_BYTES), (resource.RLIMIT_CORE, 0)]
    if seconds is not None:
        wanted.append((resource.RLIMIT_CPU, int(5 + 4 * seconds)))
    for what, most in wanted:
        try:
            resource.prlimit(child.pid, what, (most, most + 1))
        except (ProcessLookupError, PermissionError):
            pass  # the child has already ended


def execute(run, number, seconds=None):
    """Execute one run with mutant `number` (0: none).  seconds: duration without a mutant; None: not yet known."""
    folder = Path(tempfile.mkdtemp(prefix="o2ref-systematic-"))
    try:
        (folder / "map").write_bytes(bytes(MAP_BYTES))
        environment = {**os.environ, **run.environment, "O2_SYSTEMATIC": f"{number}:{folder / 'map'}"}
        started = time.monotonic()
        with (folder / "output").open("wb") as output:
            child = subprocess.Popen(list(map(str, run.command)), cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                                     stdout=output, stderr=subprocess.STDOUT, start_new_session=True)
        limits(child, seconds)
        try:
            status = child.wait(timeout=600 if seconds is None else 20 + 10 * seconds)
        except subprocess.TimeoutExpired:
            status = None
        try:
            os.killpg(child.pid, signal.SIGKILL)  # kill its process group, with all that it left running
        except ProcessLookupError:
            pass
        child.wait()
        tail = (folder / "output").read_bytes()[-3000:].decode(errors="replace")
        return Outcome(status, time.monotonic() - started, (folder / "map").read_bytes(), tail)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
