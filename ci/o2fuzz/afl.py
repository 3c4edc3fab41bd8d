# SPDX-License-Identifier: MIT
"""AFL++: prepare its input folder, run it, read its statistics, and collect the inputs that it saved."""

import re
import shutil

from . import findings
from .engine import Engine, tail_of
from .minimise import store

MAX_FINDINGS = 5
MOST_DESCRIBED = 20  # crashes of one process that are run again, and hangs
FOLDERS = ("out", "out2")  # of the first process and the second
SYNC = "sync"  # folder in that of the corpora: AFL++'s instances, by target
# CMPLOG (-c 0) runs each input a second time and logs all comparisons.  For a target with a mutator that knows the format,
# CMPLOG halves the rate and finds nothing more, so it is on for this share of the time only.
CMPLOG_SHARE = 0.2
TIMEOUT_MS = 2000  # of one input; a hang also exceeds HANG_MS
HANG_MS = 10000

QUEUE = re.compile(r"\((\d+) total, (\d+) crashes saved")
ENVIRONMENT = {
    "AFL_NO_UI": "1",
    "AFL_QUIET": "1",
    "AFL_SKIP_CPUFREQ": "1",
    "AFL_NO_AFFINITY": "1",
    "AFL_NO_COLOR": "1",
    "AFL_SYNC_TIME": "1",  # interval in minutes at which inputs of other instances are read
    # A core_pattern that pipes to a program delays the report of a crash, but does not hide it.
    "AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES": "1",
    "AFL_HANG_TMOUT": str(HANG_MS),
    # AFL++ requires these settings in a sanitizer build.
    "ASAN_OPTIONS": "abort_on_error=1:symbolize=0:detect_leaks=0",
    "UBSAN_OPTIONS": "abort_on_error=1:symbolize=0:halt_on_error=1",
}


class Afl(Engine):
    name = "afl"

    def run_for_its_time(self, target, result, work, first_only):
        """Run once, or twice if CMPLOG is on for only a part of the time: the second run starts from the queue of the first."""
        self.mutator = self.plan.build_dir / self.name / f"fuzz_mutator_{target.mutator}.so" if target.mutator else None
        seconds = self.plan.seconds
        self.folders = []
        with_cmplog = max(1, round(seconds * CMPLOG_SHARE)) if target.mutator else seconds
        self.one_process(target, result, work, first_only, work / "in", FOLDERS[0], with_cmplog, ["-c", "0"])
        if with_cmplog < seconds and result.error is None and not self.stopping.is_set():
            queue = self.folders[0] / "queue"
            self.one_process(target, result, work, first_only, queue, FOLDERS[1], seconds - with_cmplog, [])

    def instance(self, target, work, out):
        """(afl-fuzz's options for its output folder, that folder).  Runs that share corpora read each other's queues."""
        shard = self.plan.shard
        if shard.is_whole:
            return ["-o", work / out], work / out / "default"
        folder = self.shared(target, out)
        folder.parent.mkdir(parents=True, exist_ok=True)
        main = shard.index == 1 and out == FOLDERS[0]
        return ["-o", folder.parent, "-M" if main else "-S", folder.name], folder

    def shared(self, target, out):
        """This run's folder among those of the runs that share corpora."""
        return self.plan.corpora / SYNC / target.name / f"{out}-{self.plan.shard.index}-of-{self.plan.shard.of}"

    def prepare(self, target, result, work):
        if not self.plan.shard.is_whole:
            self.salvage(target)
        super().prepare(target, result, work)

    def salvage(self, target):
        """Keep the inputs of an earlier run of this shard that was interrupted, also those that failed."""
        for folder in [self.shared(target, out) for out in FOLDERS]:
            self.keep_queue(target, folder)
            for file in (*folder.glob("crashes/id:*"), *folder.glob("hangs/id:*")):
                store(self.failing(target), file.read_bytes())
            shutil.rmtree(folder, ignore_errors=True)

    def one_process(self, target, result, work, first_only, start, out, seconds, extra):
        where, folder = self.instance(target, work, out)
        self.folders.append(folder)
        command = [
            "afl-fuzz", "-i", start, *where, "-m", "none", "-t", str(TIMEOUT_MS),
            "-V", str(seconds), "-s", str(self.plan.seed), "-G", str(target.max_len), *extra,
            *(["-x", target.dictionary] if target.dictionary else []),
            "--", self.binary(target),
        ]
        log = work / f"{out}.log"

        def poll(elapsed):
            # AFL++ writes its statistics only once a minute, so the progress is read from its log.
            queue = QUEUE.findall(tail_of(log))
            at = f"{queue[-1][0]} inputs, {queue[-1][1]} crashes" if queue else "starts"
            self.progress = f"{target.name} {elapsed:.0f}/{seconds} s: {at}"

        environment = dict(ENVIRONMENT, **({"AFL_BENCH_UNTIL_CRASH": "1"} if first_only else {}))
        if self.mutator:
            environment["AFL_CUSTOM_MUTATOR_LIBRARY"] = str(self.mutator)
        status = self.run(command, seconds, log, environment, poll)
        if status not in (0, None):
            tail = " / ".join(self.text(log).split("\n")[-4:])
            result.error = f"afl-fuzz ended with status {status}: {tail}"

    @staticmethod
    def text(path):
        return path.read_text(errors="replace") if path.exists() else ""

    def collect(self, target, result, work):
        """Collect statistics, new inputs and failing inputs from AFL++'s folders."""
        folders = [folder for folder in self.folders if folder.is_dir()]
        for folder in folders:
            self.collect_one(target, result, folder)
        if not folders and result.error is None and not self.stopping.is_set():
            result.error = f"afl-fuzz left nothing; see {work}"

    def curve(self, folder, stats):
        """[(executions, edges)] from plot_data, whose first line names the columns; the last point is from the statistics."""
        header, *lines = self.text(folder / "plot_data").splitlines() or [""]
        names = [name.strip() for name in header.lstrip("# ").split(",")]
        rows = [dict(zip(names, line.split(","))) for line in lines]
        if stats:
            rows.append({"total_execs": stats.get("execs_done", ""), "edges_found": stats.get("edges_found", "")})
        found = [(row.get("total_execs", "").strip(), row.get("edges_found", "").strip()) for row in rows]
        return [(int(execs), int(edges)) for execs, edges in found if execs.isdigit() and edges.isdigit()]

    def collect_one(self, target, result, folder):
        pairs = (line.split(":", 1) for line in self.text(folder / "fuzzer_stats").splitlines() if ":" in line)
        stats = {key.strip(): value.strip() for key, value in pairs}
        result.execs += int(stats.get("execs_done", 0))
        result.curves.append(self.curve(folder, stats))
        result.edges = max(result.edges, int(stats.get("edges_found", 0)))
        result.corpus = max(result.corpus, int(stats.get("corpus_count", 0)))
        result.imported += int(stats.get("corpus_imported", 0))
        if not stats and result.error is None and not self.stopping.is_set():
            result.error = f"afl-fuzz left no statistics in {folder}"
        self.keep_queue(target, folder)
        for kind, name in (("crash", "crashes"), ("hang", "hangs")):
            for number, file in enumerate(sorted((folder / name).glob("id:*"))):
                if number < MOST_DESCRIBED and len(result.found.findings) < MAX_FINDINGS:
                    report = findings.describe(file, target.name, self.plan.build_dir)
                    self.take(target, result, file, kind, report)
                else:
                    store(self.failing(target), file.read_bytes())  # for the next run

    def keep_queue(self, target, folder):
        for file in (folder / "queue").glob("id:*"):
            if ",orig:" not in file.name:
                store(self.kept(target), file.read_bytes())
