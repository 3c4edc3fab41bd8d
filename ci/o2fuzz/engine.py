# SPDX-License-Identifier: MIT
"""Code that both engines share: the result of one target, and running a program under a deadline."""

import contextlib
import os
import shutil
import signal
import subprocess
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from . import curve, findings
from .findings import Collection
from o2ci import cpu
from o2ci.shard import Shard

STARTED = time.monotonic()


@dataclass
class Result:
    target: str
    engine: str
    seconds: float = 0.0
    execs: int = 0
    edges: int = 0
    corpus: int = 0  # inputs at the end, including committed ones
    imported: int = 0  # inputs taken over from other runs at the same time
    found: Collection = field(default_factory=Collection)
    error: str | None = None  # the engine itself failed: this target was not fuzzed
    began: float = 0.0  # seconds after ci/fuzz was started
    cpu_seconds: float = 0.0  # processor time, except the last half second of each process
    curves: list = field(default_factory=list)  # of each process of the engine: [(executions, edges)]

    def execs_per_sec(self):
        return round(self.execs / self.seconds) if self.seconds > 0 else 0

    def as_json(self):
        return {
            "target": self.target,
            "engine": self.engine,
            "began": round(self.began, 1),
            "seconds": round(self.seconds, 1),
            "cpu_seconds": round(self.cpu_seconds, 2),
            "execs": self.execs,
            "execs_per_sec": self.execs_per_sec(),
            "edges": self.edges,
            "corpus": self.corpus,
            "imported": self.imported,
            "curve": curve.thinned(curve.joined(self.curves)),
            "error": self.error,
            "findings": [finding.as_json() for finding in self.found.list()],
        }


@dataclass(frozen=True)
class Plan:
    """The settings of a run of ci/fuzz."""

    build_dir: Path
    out: Path
    seconds: int
    seed: int
    failures: Path
    corpora: Path
    shard: Shard = Shard()  # this run's part of the runs that use these corpora at the same time


TAIL_BYTES = 4096
TOGETHER = 500  # inputs that are replayed by one process
RUN = "O2_FUZZ_RUN"  # environment variable of all processes that an engine starts, which their children inherit
# Folders in that of the corpora, beside those of the engines.
MERGED = "merged"
FAILING = "failing"  # inputs that failed, and that no engine may start from


def tail_of(path):
    """The end of a log that another process writes; empty if the log does not exist yet."""
    if not path.exists():
        return ""
    with open(path, "rb") as stream:
        stream.seek(max(0, path.stat().st_size - TAIL_BYTES))
        return stream.read().decode(errors="replace")


def kill_all_of(run):
    """Kill all processes whose environment has this value of RUN.

    AFL++'s fork server is in its own session, and its child process is stopped between two inputs.  The child outlives its
    parents and gets no signal of theirs.
    """
    mark = f"{RUN}={run}".encode()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (process / "environ").read_bytes().split(b"\0"):
                os.kill(int(process.name), signal.SIGKILL)
        except OSError:
            continue  # it has ended, or belongs to another user


class Engine:
    """Fuzzes targets one after another.  `progress` is a text for the progress line."""

    name = ""
    # An engine that still runs so long after its time is stopped.
    GRACE_S = 60

    def __init__(self, plan):
        self.plan = plan
        self.progress = "waits"
        self.process = None
        self.cpu_seconds = 0.0  # of the programs that ran for the current target
        self.stopping = threading.Event()

    def fuzz(self, target, first_only=False):
        """Fuzz one target for its share of time; first_only: end at the first finding."""
        result = Result(target.name, self.name)
        work = self.fresh_folder(target)
        self.kept(target).mkdir(parents=True, exist_ok=True)
        self.prepare(target, result, work)
        started = time.monotonic()
        self.cpu_seconds = 0.0
        result.began = started - STARTED
        self.run_for_its_time(target, result, work, first_only)
        result.seconds = time.monotonic() - started
        result.cpu_seconds = self.cpu_seconds
        self.collect(target, result, work)
        return result

    def kept(self, target):
        """The folder of inputs that runs of this engine added to the committed corpus."""
        return self.plan.corpora / self.name / target.name

    def merged(self, target):
        """The folder of inputs that ci/merge minimised from those of all engines."""
        return self.plan.corpora / MERGED / target.name

    def failing(self, target):
        return self.plan.corpora / FAILING / target.name

    def binary(self, target):
        return self.plan.build_dir / self.name / f"fuzz_{target.name}"

    def fresh_folder(self, target):
        folder = self.plan.out / "work" / self.name / target.name
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "in").mkdir(parents=True)
        return folder

    def prepare(self, target, result, work):
        """Copy the engine's initial inputs into work/in: the committed corpus and the inputs that earlier runs kept.

        An input that already fails is a finding, and is left out: an engine would stop at it.  libFuzzer also reads what earlier
        runs kept, so it is moved out of there, to where every run tries it again.  AFL++ refuses empty files and an empty folder.
        A file may disappear before it is copied: the engine of another run with these corpora has replaced it by a smaller one.
        """
        self.progress = f"{target.name}: replays the corpus"
        folders = (self.merged(target), self.failing(target), self.kept(target))
        files = target.corpus_files() + [file for folder in folders for file in sorted(folder.glob("*"))]
        copies = {}
        for number, file in enumerate(files):
            copy = work / "in" / f"{number:06}"
            try:
                shutil.copyfile(file, copy)
            except FileNotFoundError:
                continue
            if 0 < copy.stat().st_size <= target.max_len:
                copies[copy] = file
            else:
                copy.unlink()
        for copy, file in self.suspects(target, list(copies.items())):
            failed, report = findings.run_once([self.binary(target), copy])
            if failed:
                self.take(target, result, copy, "hang" if report.endswith(findings.LATE) else "crash", report)
                copy.unlink()
                if file.parent == self.kept(target):
                    self.failing(target).mkdir(parents=True, exist_ok=True)
                    with contextlib.suppress(FileNotFoundError):  # another run has moved it
                        file.replace(self.failing(target) / file.name)
        if not any((work / "in").iterdir()):
            (work / "in" / "zero").write_bytes(b"\0")

    def suspects(self, target, copies):
        """Those of [(copy, file)] that fail together with others.  A command line and a run have room for so many only."""
        for first in range(0, len(copies), TOGETHER):
            some = copies[first:first + TOGETHER]
            if not self.stopping.is_set() and findings.run_once([self.binary(target), *(copy for copy, _file in some)])[0]:
                yield from some

    def take(self, target, result, path, kind, report):
        """Record a failing input; True if its summary is new."""
        plan = self.plan

        def make():
            return findings.keep(path, target.name, self.name, kind, report, plan.build_dir, plan.failures)

        return result.found.add(report, make) is not None

    def run(self, command, seconds, log, environment, poll):
        """Run a program; poll() is called twice a second to update the progress, and may return True to stop the program.

        Returns the exit status, or None if the program was stopped.  All processes that it started are killed.
        """
        run = f"{os.getpid()}-{threading.get_ident()}"
        try:
            return self.watch(self.start(command, log, {**environment, RUN: run}), seconds, poll)
        finally:
            kill_all_of(run)

    def start(self, command, log, environment):
        with open(log, "ab") as stream:
            self.process = subprocess.Popen(
                [str(word) for word in command],
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=subprocess.STDOUT,
                env={**os.environ, **environment},
                start_new_session=True,
            )
        return self.process

    def watch(self, process, seconds, poll):
        started = time.monotonic()
        before, enough = self.cpu_seconds, False
        while True:
            try:
                return process.wait(0.5)
            except subprocess.TimeoutExpired:
                self.cpu_seconds = before + cpu.of_tree(process.pid)
                enough = enough or bool(poll(time.monotonic() - started))
            if enough or self.stopping.is_set() or time.monotonic() - started > seconds + self.GRACE_S:
                self.stop()
                return None

    def stop(self):
        """Stop the engine and its children, which are a session of their own."""
        if self.process is None or self.process.poll() is not None:
            return
        os.killpg(self.process.pid, signal.SIGINT)
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
