# SPDX-License-Identifier: MIT
"""A finding: the input, a description of the failure, and the command that replays it."""

import hashlib
import re
import shlex
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from . import targets

# Lines of a report that describe the failure; the first pattern that matches gives the summary.
SUMMARY_LINES = (
    re.compile(r"^o2ref fuzz: (.*)", re.M),
    re.compile(r"^.*(runtime error: .*)", re.M),
    re.compile(r"^SUMMARY: (.*)", re.M),
    re.compile(r"^==\d+==\s*ERROR: (.*)", re.M),
    re.compile(r"^FAILED: .*", re.M),
    re.compile(r"^no end within .*", re.M),
)
REPORT_LINES = 40
REPLAY_TIMEOUT_S = 60
SAME_TIMEOUT = ("-timeout=10",)  # the limit of one input under both engines
LATE = f"\nno end within {REPLAY_TIMEOUT_S} s\n"  # ends the output of a replay that was stopped


@dataclass
class Finding:
    target: str
    engine: str
    kind: str  # crash, hang or oom
    file: str
    replay: str
    summary: str
    reproduced: bool | None  # by the plain replayer; None if that is not built
    duplicates: int = 0  # further inputs with the same summary, not kept
    report: str = field(default="", repr=False)

    def as_json(self):
        return {key: value for key, value in vars(self).items() if key not in ("target", "engine", "report")}


def summary_of(report):
    for pattern in SUMMARY_LINES:
        match = pattern.search(report)
        if match:
            return match.group(match.lastindex or 0).strip()
    return "no message"


def kind_of(artifact):
    """The kind of a finding, from the name of the file that libFuzzer wrote for it."""
    return {"timeout": "hang", "slow": "hang", "oom": "oom"}.get(artifact.split("-")[0], "crash")


def run_once(command):
    """(failed, output) of a replay; a hang counts as a failure."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=REPLAY_TIMEOUT_S)
    except subprocess.TimeoutExpired as late:
        return True, (late.stdout or b"").decode(errors="replace") + LATE
    return done.returncode != 0, done.stdout.decode(errors="replace")


def describe(path, target, build_dir):
    """The report of an input from the sanitizer build, or if it does not fail there, from the AFL++ build."""
    sanitized = build_dir / "libfuzzer" / f"fuzz_{target}"
    persistent = build_dir / "afl" / f"fuzz_{target}"
    if sanitized.exists():
        failed, report = run_once([sanitized, *SAME_TIMEOUT, path])
        if failed:
            return report
    if persistent.exists():
        failed, report = run_once([persistent, path])
        if failed:
            return report
    return "did not fail when it was run again alone\n"


def how_to_replay(path, target, build_dir):
    """(whether the plain replayer fails, None if it is not built; the first command that fails on the input)."""
    replayer, sanitized = build_dir / "gcc" / f"fuzz_{target}_replay", build_dir / "libfuzzer" / f"fuzz_{target}"
    commands = [[replayer, path], [sanitized, *SAME_TIMEOUT, path], [build_dir / "afl" / f"fuzz_{target}", path]]
    plain = run_once(commands[0])[0] if replayer.exists() else None
    others = (command for command in commands[1:] if command[0].exists() and run_once(command)[0])
    chosen = commands[0] if plain else next(others, commands[0])
    return plain, shlex.join([str(targets.shown(word)) if isinstance(word, Path) else word for word in chosen])


def keep(source, target, engine, kind, report, build_dir, failures):
    """Copy an input to failures/, write the .txt beside it, and return the Finding."""
    data = Path(source).read_bytes()
    failures.mkdir(parents=True, exist_ok=True)
    path = failures / f"{target}-{hashlib.sha1(data).hexdigest()[:12]}"
    path.write_bytes(data)
    reproduced, replay = how_to_replay(path, target, build_dir)
    finding = Finding(target, engine, kind, targets.shown(path), replay, summary_of(report), reproduced)
    lines = [
        f"target:  {target}",
        f"engine:  {engine}",
        f"kind:    {kind}",
        f"replay:  {replay}",
        f"sanitizers: {targets.shown(build_dir / 'libfuzzer' / f'fuzz_{target}')} {targets.shown(path)}",
        f"plain build fails as well: {reproduced}",
        f"summary: {finding.summary}",
        "",
        *report.splitlines()[:REPORT_LINES],
    ]
    path.with_name(path.name + ".txt").write_text("\n".join(lines) + "\n")
    return finding


class Collection:
    """The findings of one target under one engine, one for each summary."""

    def __init__(self):
        self.findings = {}

    def add(self, report, make):
        """Add a finding; make() creates it if its summary is new.  Returns the Finding, or None for a duplicate.

        The comparison ignores numbers: the same defect occurs with many values.
        """
        key = re.sub(r"0x[0-9a-f]+|\d+", "N", summary_of(report))
        if key in self.findings:
            self.findings[key].duplicates += 1
            return None
        self.findings[key] = make()
        return self.findings[key]

    def list(self):
        return list(self.findings.values())
