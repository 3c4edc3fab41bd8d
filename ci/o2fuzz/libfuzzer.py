# SPDX-License-Identifier: MIT
"""libFuzzer: run it, restart it after a finding, read its statistics."""

import re
import time

from . import findings
from .engine import Engine, tail_of

TIMEOUT_S = 10  # for one input
RSS_LIMIT_MB = 2048
MAX_FINDINGS = 5  # different findings of a target; after so many, its remaining time is not used
MAX_RESTARTS = 40

STATUS = re.compile(r"^#(\d+)\s.*cov: (\d+) .*corp: (\d+)/.*exec/s: (\d+)", re.M)
DONE = re.compile(r"^Done \d+ runs in ", re.M)  # the last line of a run that used its time
EXECUTED = re.compile(r"^stat::number_of_executed_units:\s*(\d+)", re.M)
SANITIZERS = {
    "ASAN_OPTIONS": "abort_on_error=0:detect_leaks=1:allocator_may_return_null=1",
    "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
}


class LibFuzzer(Engine):
    name = "libfuzzer"

    def run_for_its_time(self, target, result, work, first_only):
        started = time.monotonic()
        for restart in range(MAX_RESTARTS):
            left = self.plan.seconds - (time.monotonic() - started)
            if (restart > 0 and left < 1) or self.stopping.is_set():
                break
            artifact = self.one_run(target, result, work, max(1, round(left)), restart)
            if artifact:
                self.file_artifact(target, result, artifact, work, restart)
            if not artifact or first_only or len(result.found.findings) >= MAX_FINDINGS:
                break

    def collect(self, target, result, _work):
        found = [file for folder in (self.merged(target), self.kept(target)) for file in folder.glob("*")]
        result.corpus = len(target.corpus_files()) + len(found)

    def log(self, work, restart):
        return work / f"run-{restart}.log"

    def one_run(self, target, result, work, seconds, restart):
        """Run one process.  Returns the path of the artifact that it wrote, or None."""
        artifacts = work / f"artifacts-{restart}"
        artifacts.mkdir()
        command = [
            self.binary(target),
            f"-max_len={target.max_len}",
            f"-max_total_time={seconds}",
            f"-seed={(self.plan.seed + restart) % 0xFFFFFFFF + 1}",
            f"-timeout={TIMEOUT_S}",
            f"-rss_limit_mb={RSS_LIMIT_MB}",
            f"-artifact_prefix={artifacts}/",
            "-print_final_stats=1",
            *([f"-dict={target.dictionary}"] if target.dictionary else []),
            self.kept(target),
            work / "in",
        ]
        log = self.log(work, restart)

        def poll(elapsed):
            status = STATUS.findall(tail_of(log))
            at = f"{status[-1][0]} execs, {status[-1][3]}/s, {status[-1][1]} edges" if status else "starts"
            self.progress = f"{target.name} {elapsed:.0f}/{seconds} s: {at}"

        status = self.run(command, seconds, log, SANITIZERS, poll)
        text = log.read_text(errors="replace")
        self.count(result, text)
        written = sorted(artifacts.iterdir())
        if not written and not self.stopping.is_set() and (status != 0 or not DONE.search(text)):
            early = " before its time" if status == 0 else ""
            result.error = f"ended with status {status}{early} and left no input; see {log}"
        return written[0] if written else None

    @staticmethod
    def count(result, text):
        progress = STATUS.findall(text)
        executed = EXECUTED.findall(text)
        result.execs += int(executed[-1] if executed else progress[-1][0] if progress else 0)
        result.edges = max([result.edges] + [int(line[1]) for line in progress])
        result.curves.append([(int(line[0]), int(line[1])) for line in progress])

    def file_artifact(self, target, result, artifact, work, restart):
        """Record the artifact of a run as a finding; True if its summary is new."""
        text = self.log(work, restart).read_text(errors="replace")
        return self.take(target, result, artifact, findings.kind_of(artifact.name), text[self.report_start(text):])

    @staticmethod
    def report_start(text):
        """The offset at which the status lines end and the report begins."""
        last = list(STATUS.finditer(text))
        return text.find("\n", last[-1].end()) + 1 if last else 0
