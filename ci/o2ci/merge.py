# SPDX-License-Identifier: MIT
"""Merge the reports of several shards: add up the figures of rows, collect all findings, and name missing shards."""

import argparse
import shlex
import shutil
from dataclasses import replace
from pathlib import Path

from . import place, reading
from .result import Finding, Report, Row
from .shard import Shard

# Figures of which the largest is taken: they are equal in all shards, or a sum would be wrong, as for cells met, where two
# shards may have met the same ones.  All other numbers are counts, which are added.
LARGEST = ("edges", "corpus", "cells", "met", "version", "runs", "boot_seconds", "most")

# The beginnings by which ci/campaign also knows two of its options.
REPORT = tuple("--report"[:length] for length in range(len("--r"), len("--report") + 1))
SHARD = tuple("--shard"[:length] for length in range(len("--sh"), len("--shard") + 1))


class Mixed(Exception):
    """The reports are not shards of one campaign."""


def combined(values, key=""):
    """Combine the shards' values of one key."""
    values = [value for value in values if value is not None]
    if not values:
        return None
    first = values[0]
    if all(value == first for value in values) and not isinstance(first, (int, float, dict)):
        return first
    if isinstance(first, bool):
        return all(values)
    if isinstance(first, (int, float)):
        return max(values) if key in LARGEST else sum(values)
    if isinstance(first, dict):
        names = dict.fromkeys(name for value in values for name in value)
        return {name: combined([value.get(name) for value in values], key if key == "most" else name) for name in names}
    if isinstance(first, list):
        every = sum(values, [])
        return [item for number, item in enumerate(every) if item not in every[:number]]
    return ", ".join(dict.fromkeys(map(str, values)))


def figures_of(rows):
    figures = combined([row.figures for row in rows]) or {}
    if figures.get("seconds") and "execs_per_sec" in figures:
        figures["execs_per_sec"] = round(figures["execs"] / figures["seconds"])
    if len({row.figures.get("trace") for row in rows}) > 1:
        figures.pop("trace")  # each shard has its own trace
    return figures


def taken(folder, shard, finding, failures):
    """Copy the finding's files out of its shard's report.  Returns the finding with all names of the files replaced."""
    names = {}
    for name in finding.files:
        source = Path(folder) / "failures" / Path(name).name
        if source.is_file():
            failures.mkdir(parents=True, exist_ok=True)
            copy = failures / f"shard{shard.index}-{source.name}"
            shutil.copyfile(source, copy)
            names[name] = place.shown(copy)
    # Replace longer names first: one name may be the beginning of another.
    order = sorted(names, key=len, reverse=True)

    def renamed(line, shown=str):
        shown = shlex.quote if line.startswith("replay:") else shown
        for name in order:
            line = line.replace(shown(name), shown(names[name]))
        return line

    for name in names.values():
        if name.endswith(".txt"):
            path = place.ROOT / name
            lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
            path.write_text("\n".join(map(renamed, lines)), encoding="utf-8")
    lines = [*map(renamed, finding.lines), f"found in shard {shard}"]
    return replace(finding, replay=renamed(finding.replay, shlex.quote), lines=lines,
                   files=[names.get(name, name) for name in finding.files])


def run_of(folder, shard, run):
    """The run with its shard added, and the path of its log in the shard's report."""
    log = Path(folder).resolve() / "log" / Path(run["log"]).name
    return {**run, "log": place.shown(log) if log.is_file() else "", "shard": str(shard)}


def merged_rows(parts, failures):
    """Rows of the merged report.  parts: {shard: (folder, report)}, in order of shard number."""
    rows = {}
    for shard, (folder, report) in parts.items():
        for row in report.rows:
            rows.setdefault(row.key, []).append((shard, folder, row))
    merged = []
    for (group, step, name, _engine), of in rows.items():
        found = [taken(folder, shard, finding, failures) for shard, folder, row in of for finding in row.findings]
        reasons = [f"shard {shard}: {row.reason}" for shard, _folder, row in of if row.reason]
        merged.append(Row(group, step, name, sum(row.seconds for _shard, _folder, row in of), found,
                          "; ".join(reasons), figures_of([row for _shard, _folder, row in of]),
                          [run_of(folder, shard, run) for shard, folder, row in of for run in row.runs], of[0][2].again))
    return merged


def again(report, shard):
    """The command that runs `shard` (a missing one), made from the command of another shard's report."""
    words, kept = iter(shlex.split(report.command)), []
    for word in words:
        name, equals, _value = word.partition("=")
        if name not in REPORT + SHARD:
            kept.append(word)
            continue
        if not equals:
            next(words, None)
        kept += ["--shard", str(shard)] if name in SHARD else []
    return shlex.join(kept)


def read_all(folders):
    """({shard: (folder, report)}, {folder: why its report cannot be used})."""
    parts, wrong = {}, {}
    for folder in folders:
        try:
            report = reading.read(folder)
        except reading.Unreadable as problem:
            wrong[folder] = f"{folder}: {problem}"
            continue
        if report.shard in parts:
            wrong[folder] = f"{folder}: shard {report.shard} is in {parts[report.shard][0]} already"
        else:
            parts[report.shard] = (folder, report)
    return dict(sorted(parts.items(), key=lambda item: item[0].index)), wrong


def work_of(command):
    """The options that say what a campaign does, besides those that its report has; abbreviated as ci/campaign takes them."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--only", type=lambda names: ",".join(sorted(names.split(","))))
    for name in ("--sim-operations", "--mixed-minutes", "--mutant"):
        parser.add_argument(name)
    for name in ("--host", "--coverage"):
        parser.add_argument(name, action="store_true")
    found, _others = parser.parse_known_args(shlex.split(command)[1:])
    return {f"--{name.replace('_', '-')}": value for name, value in vars(found).items()}


def same_campaign(parts):
    """Raise Mixed unless the reports are shards of one campaign."""
    def identity(report):
        return {"number of shards": report.shard.of, "seed": f"0x{report.seed:x}", "profile": report.profile,
                "minutes": report.minutes, "commit": report.versions.get("o2ref"), **work_of(report.command)}

    folders = list(parts.values())
    first_folder, first = folders[0]
    for folder, report in folders[1:]:
        for name, value in identity(report).items():
            expected = identity(first)[name]
            if value != expected:
                raise Mixed(f"{name} is {value} in {folder}, {expected} in {first_folder}: not of one campaign")


def shards_row(parts, wrong):
    """The row that says which shards are present."""
    first = next(iter(parts.values()))[1]
    row = Row("harness", "shards", "shards of the campaign", figures={"what": f"{len(parts)} of {first.shard.of}"})
    absent = [shard for index in range(1, first.shard.of + 1) if (shard := Shard(index, first.shard.of)) not in parts]
    row.findings = [Finding("shards", f"shard {shard} is missing", again(first, shard), list(wrong.values())) for shard in absent]
    row.findings += [Finding("shards", problem, f"ci/merge --no-minimise {shlex.quote(str(folder))}")
                     for folder, problem in wrong.items()]
    return row


def merge(folders, failures, command):
    """The merged Report of all folders; raises Mixed, or Unreadable if no report can be read."""
    parts, wrong = read_all(folders)
    if not parts:
        raise reading.Unreadable("; ".join(wrong.values()))
    same_campaign(parts)
    reports = [report for _folder, report in parts.values()]
    first = reports[0]
    rows = [shards_row(parts, wrong), *merged_rows(parts, failures)]
    return Report(first.seed, first.profile, first.minutes, min(report.started for report in reports), command,
                  combined([report.versions for report in reports]), max(report.seconds for report in reports), rows)
