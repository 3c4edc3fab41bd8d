# SPDX-License-Identifier: MIT
"""The result of a run: rows, each with a verdict, and findings, each with the command that reproduces it."""

import argparse
import hashlib
from dataclasses import asdict, dataclass, field

from . import place
from .shard import Shard

HELD = "held"
FINDING = "FINDING"
CANNOT_RUN = "cannot run"

EXIT_HELD, EXIT_FINDING, EXIT_USAGE, EXIT_CANNOT_RUN = 0, 1, 2, 77

GROUPS = ("build", "property", "model", "simulation", "orders", "harness", "fuzz")
STEPS = ("properties", "model", "loop", "loop-cm", "simulation", "explore", "rxe", "rxe-cm", "rxe-processes", "rxe-nodes",
         "rxe-endpoint", "rxe-newer", "rxe-hostile", "networks", "mutants", "fuzz", "coverage")
SEED_BITS = 64
FORM = "o2ref/campaign_report"
VERSION = 1


@dataclass
class Finding:
    step: str
    title: str
    replay: str
    lines: list = field(default_factory=list)
    files: list = field(default_factory=list)  # paths in failures/; the last one is the .txt
    cause: str = ""  # findings with the same cause are shown as one (cause.py); "": the title is the cause
    bytes: int | None = None  # size of the case, if there is a file of it


@dataclass
class Row:
    group: str
    step: str
    name: str
    seconds: float = 0.0
    findings: list = field(default_factory=list)
    reason: str = ""  # why it could not run
    figures: dict = field(default_factory=dict)
    runs: list = field(default_factory=list)  # of each program: {"begin", "seconds", "log"}, after merging also "shard"
    again: str = ""  # the command that repeats it

    @property
    def verdict(self):
        if self.findings:
            return FINDING
        return CANNOT_RUN if self.reason else HELD

    def ran(self, outcome, again=""):
        """Add a program (process.Outcome) that ran for this row; a row may have several."""
        self.seconds += outcome.seconds
        self.runs.append({"begin": round(outcome.began, 1), "seconds": round(outcome.seconds, 1), "log": place.shown(outcome.log)})
        self.again = self.again or again
        return self

    @property
    def key(self):
        """Identifies the same row in another report."""
        return self.group, self.step, self.name, self.figures.get("engine")

    @property
    def title(self):
        """The row's name, for a fuzz target with the engine."""
        engine = self.figures.get("engine")
        return f"{self.name} under {engine}" if self.group == "fuzz" and engine else self.name

    def logs(self):
        """Paths of the logs as a user in the repository's root would type them."""
        return list(dict.fromkeys(run["log"] for run in self.runs if run["log"]))

    def as_json(self):
        return {"group": self.group, "step": self.step, "name": self.name, "verdict": self.verdict,
                "seconds": round(self.seconds, 1), "reason": self.reason or None, "runs": self.runs, "again": self.again or None,
                "figures": self.figures, "findings": [asdict(finding) for finding in self.findings]}


@dataclass
class Report:
    seed: int
    profile: str
    minutes: float
    started: str  # UTC, ISO 8601
    command: str
    versions: dict
    seconds: float = 0.0
    rows: list = field(default_factory=list)
    shard: Shard = Shard()
    against: object = None  # baseline.Comparison with an earlier report

    def findings(self):
        return [finding for row in self.rows for finding in row.findings]

    def cannot_run(self):
        return [row for row in self.rows if row.verdict == CANNOT_RUN]

    def status(self):
        if self.findings():
            return EXIT_FINDING
        return EXIT_CANNOT_RUN if self.cannot_run() or not self.rows else EXIT_HELD

    def in_order(self):
        """The rows in the order of a report; self.rows is in the order in which they ended."""
        order = {name: number for number, name in enumerate(STEPS)}
        return sorted(self.rows, key=lambda row: (GROUPS.index(row.group), order.get(row.step, len(order))))

    def as_json(self):
        return {"form": FORM, "version": VERSION, "command": self.command, "started": self.started,
                "seed": f"0x{self.seed:x}", "profile": self.profile, "minutes": self.minutes,
                "shard": self.shard.as_json(), "seconds": round(self.seconds, 1), "versions": self.versions, "status": self.status(),
                "against": self.against and self.against.as_json(), "rows": [row.as_json() for row in self.in_order()]}


def seed(text):
    """Parse a seed of the command line: decimal, or hexadecimal with 0x in front."""
    try:
        value = int(text, 0)
    except ValueError:
        value = -1
    if not 0 <= value < 1 << SEED_BITS:
        raise argparse.ArgumentTypeError(f"is '{text}', not a number of 0 to 2^{SEED_BITS} - 1")
    return value


def derived_seed(seed, step, bits=64):
    """The seed of one step, derived from the campaign's seed: different for every step."""
    digest = hashlib.sha256(f"{seed:#x} {step}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> (64 - bits)
