# SPDX-License-Identifier: MIT
"""The fuzz step: one run of ci/fuzz gives a row for each target and engine, and one for each canary."""

import json
import shlex
import sys
from pathlib import Path

from . import cause, place, process
from .result import EXIT_CANNOT_RUN, Row
from .shard import Shard

sys.path.insert(0, str(place.ROOT / "ci"))
from o2fuzz import targets as fuzz_list  # noqa: E402

MIN_SECONDS = 5  # least time for each target and engine, even if none is left
GRACE_S = 90  # for each target: time that an engine may need beyond its share
ENGINES = 2


def target_names():
    return [name for name in fuzz_list.read_targets() if name != fuzz_list.CANARY]


def share_of(seconds_left):
    """Seconds for each target: the engines run side by side, and the targets of one engine run in turn."""
    return max(MIN_SECONDS, int(seconds_left / len(target_names())))


def execute(children, failures, work, seconds, seed, shard=Shard(), corpora=None, lanes=1):
    """Run ci/fuzz without building; returns rows.  Corpora go into the folder `corpora`, by default that of ci/fuzz. lanes:
    targets of an engine at a time."""
    work.mkdir(parents=True, exist_ok=True)
    file = work / "fuzz.json"
    # Several shards may run on one machine at the same time, so each needs its own folder.
    out = place.BUILD / "fuzz" if shard.is_whole else work / "out"
    command = [place.ROOT / "ci" / "fuzz", "--build", place.BUILD, "--no-build", "--out", out,
               "--seconds", str(seconds), "--seed", str(seed), "--lanes", str(lanes), "--json", file]
    command += [] if shard.is_whole else ["--shard", str(shard)]
    command += ["--corpora", corpora] if corpora else []
    outcome = children.run("fuzz", command, cwd=place.ROOT, timeout=len(target_names()) * (seconds + GRACE_S) + 300)
    whole = f"ci/fuzz --seconds {seconds} --seed {seed}"
    try:
        report = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        report = None
    if outcome.status == EXIT_CANNOT_RUN:
        return [Row("fuzz", "fuzz", "all targets", outcome.seconds, reason=outcome.last_line())]
    if report is None or report.get("form") != "o2ref/fuzz/report" or report.get("version") != 1:
        title = f"ci/fuzz ended with status {outcome.status} and left no report"
        found = failures.keep("fuzz", "end", title, whole, outcome.tail(40))
        return [Row("fuzz", "fuzz", "all targets", outcome.seconds, [found])]
    return rows_of(failures, report, whole, outcome)


def rows_of(failures, report, whole, outcome):
    rows = [canary_row(failures, entry, outcome) for entry in report["canary"]]
    rows += [target_row(failures, result, report, outcome) for result in report["results"]]
    rows.sort(key=lambda row: (row.group != "harness", row.name))
    absent = set(report["not_built"])
    ran = [(result["target"], result["engine"]) for result in report["results"]]
    for name in target_names():
        count = sum(1 for target, _engine in ran if target == name)
        if name in absent or count < ENGINES:
            title = f"target {name} ran under {count} of {ENGINES} engines"
            found = failures.keep("fuzz", f"{name}-absent", title, whole)
            rows.append(Row("fuzz", "fuzz", name, 0.0, [found], figures={"target": name, "engine": "-"}))
    if outcome.status != 0 and not any(row.findings for row in rows):
        found = failures.keep("fuzz", "end", f"ci/fuzz ended with status {outcome.status}", whole, outcome.tail(40))
        rows.append(Row("fuzz", "fuzz", "all targets", outcome.seconds, [found]))
    return rows


def part_row(group, step, name, entry, outcome, again):
    """The row of one result or canary of ci/fuzz."""
    ran = process.Outcome(0, entry["seconds"], outcome.log, began=outcome.began + entry.get("began", 0))
    return Row(group, step, name).ran(ran, again)


def canary_row(failures, entry, outcome):
    """The row of a canary: if the engine did not find the planted defect, that is a finding."""
    name = f"planted defect (canary) under {entry['engine']}"
    row = part_row("harness", "canary", name, entry, outcome, "ci/fuzz --canary")
    row.figures = {key: value for key, value in entry.items() if key != "began"}
    if not entry["found"]:
        row.findings.append(failures.keep("canary", entry["engine"], f"{name}: not found", row.again))
    return row


def target_row(failures, result, report, outcome):
    seed, seconds = report["seed"], report["seconds_per_target"]
    again = f"ci/fuzz --target {result['target']} --engine {result['engine']} --seconds {seconds} --seed {seed}"
    row = part_row("fuzz", "fuzz", result["target"], result, outcome, again)
    row.figures = {key: value for key, value in result.items() if key not in ("findings", "error", "began", "curve")}
    row.figures["curves"] = [{"seed": seed, "points": result.get("curve", [])}]
    if result["error"]:
        title = f"{result['target']} under {result['engine']} could not be fuzzed: {result['error']}"
        row.findings.append(failures.keep("fuzz", f"{result['target']}-{result['engine']}", title, again))
    for found in result["findings"]:
        source = place.ROOT / found["file"]  # an absolute path stays unchanged
        copy = failures.copy("fuzz", source)
        lines, why = cause.of_input(source, row.name, found["summary"])
        words = [str(place.shown(copy)) if copy and word == found["file"] else word for word in shlex.split(found["replay"])]
        title = f"{found['kind']} in {result['target']} under {result['engine']}: {found['summary']}"
        row.findings.append(failures.keep("fuzz", Path(found["file"]).name, title, shlex.join(words), lines, [copy] if copy else [],
                                          cause=why))
    return row
