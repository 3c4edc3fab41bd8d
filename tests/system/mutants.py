#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Check that every wrong plan of tests/mutants/plans.toml is caught, and that reports begin with the fragment and the bytes.

This is the short form of ci/mutants, for any device.  It runs o2props-mutants once without a defect, which must hold, and
once with each defect.  Seeds are fixed: the same program gives the same result.  The last line is "N passed, N failed"; exit
status 0, 1, or 77 (cannot run).
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("O2REF_BUILD") or ROOT / "build")

SEED = 1
CASES_OF_NONE = 300  # without a defect
CASES_AT_MOST = 2000  # a defect that no case has met by then counts as missed
SHRINK_CALLS = 30
# A device opens anew for each call that leaks.  The devices of the process show that a case shrinks as far as it should.
SHRINK_CALLS_ON_DEVICE = 8
IN_PROCESS = ("loop", "model")
TIMEOUT_S = 300
CANNOT_RUN = 77

# A report must say which bytes are wrong, or which mappings in the ledger do not balance.
NAMES_THE_BYTES = re.compile(r"sink fragment \d+ of \d+, bytes \d+\.\.\d+|the ledger of mappings: \d+ mappings")
# Defects that make a wrong plan, so that bytes land in the wrong place; their reports must say where.
PLANS = ROOT / "tests" / "mutants" / "plans.toml"


@dataclass
class Outcome:
    mutant: str
    status: int
    seconds: float
    result: dict
    output: str

    def finding(self):
        found = self.result.get("findings", [])
        return found[0] if found else {}

    def telling_line(self):
        return next((line for line in self.finding().get("lines", []) if NAMES_THE_BYTES.search(line)), "")

    def caught(self):
        return self.status == 1 and self.telling_line() != ""

    def cases(self):
        return self.finding()["case"] + 1 if "case" in self.finding() else self.result.get("cases", 0)


def mutants_of(path):
    """{name: sentence that says what it breaks}, from the file of the table."""
    return {one["name"]: one["sentence"] for one in tomllib.loads(path.read_text(encoding="utf-8"))["mutant"]}


def run(options, mutant, cases):
    with tempfile.TemporaryDirectory(prefix="o2ref-mutants-") as folder:
        file = Path(folder) / "result.json"
        calls = SHRINK_CALLS if options.device in IN_PROCESS else SHRINK_CALLS_ON_DEVICE
        command = [options.program, "run", "transfer", "--device", options.device, "--cases", str(cases), "--seed",
                   str(SEED), "--connect", options.connect, "--mutant", mutant, "--findings", "1", "--shrink-calls", str(calls), "--json-file",
                   str(file)]
        started = time.monotonic()
        try:
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=TIMEOUT_S, check=False)
            status, output = done.returncode, done.stdout.decode(errors="replace")
        except subprocess.TimeoutExpired:
            status, output = -1, f"no end within {TIMEOUT_S} s"
        try:
            result = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            result = {}
        return Outcome(mutant, status, time.monotonic() - started, result, output)


def show(outcome, held, word):
    findings = outcome.finding().get("signature", "-")
    print(f"{outcome.mutant:22} {word:8} {findings:14} {outcome.cases():6} {outcome.seconds:8.1f}", flush=True)
    line = outcome.telling_line()
    if line:
        print(f"    {line}", flush=True)
    if not held:
        tail = "\n".join(f"    {line}" for line in outcome.output.splitlines()[-12:])
        print(f"FAIL {outcome.mutant}: status {outcome.status}\n{tail}", flush=True)


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="loop", help="as of o2props: loop (default), model, or DEV[,DEV2]")
    parser.add_argument("--connect", default="direct", help="as of o2props: direct (default), cm or processes")
    parser.add_argument("--only", metavar="NAME,...", help="these defects, not all")
    parser.add_argument("--program", default=str(BUILD / "gcc" / "o2props-mutants"))
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to FILE")
    options = parser.parse_args()
    if not os.access(options.program, os.X_OK):
        print(f"tests/system/mutants.py: cannot run here: no program {options.program}")
        sys.exit(CANNOT_RUN)
    return options


def write_report(path, device, held, outcomes):
    report = {"form": "o2ref/mutants", "version": 1, "device": device, "none_held": held,
              "caught": sum(outcome.caught() for outcome in outcomes), "of": len(outcomes),
              "mutants": [{"name": outcome.mutant, "caught": outcome.caught(), "cases": outcome.cases(),
                           "signature": outcome.finding().get("signature"), "line": outcome.telling_line(),
                           "seconds": round(outcome.seconds, 1)} for outcome in outcomes]}
    path.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


def main():
    options = parse()
    mutants = mutants_of(PLANS)
    if options.only:
        mutants = [name for name in mutants if name in options.only.split(",")]
    print(f"{'deliberate defect':22} {'':8} {'signature':14} {'cases':>6} {'seconds':>8}", flush=True)
    none = run(options, "none", CASES_OF_NONE)
    if none.status == CANNOT_RUN:
        print(f"tests/system/mutants.py: cannot run here: {none.output.strip()}")
        return CANNOT_RUN
    # With few cases a situation may not occur, which also gives status 1; here only findings count.
    held = none.status in (0, 1) and none.result.get("findings") == [] and none.result.get("cases") == CASES_OF_NONE
    show(none, held, "held" if held else "FAILED")
    outcomes = []
    for name in mutants:
        outcome = run(options, name, CASES_AT_MOST)
        outcomes.append(outcome)
        show(outcome, outcome.caught(), "caught" if outcome.caught() else "MISSED")
    if options.json:
        write_report(options.json, options.device, held, outcomes)
    # An unreadable list must not count as passed.
    results = [held, *(outcome.caught() for outcome in outcomes)] if mutants else [False]
    print(f"{results.count(True)} passed, {results.count(False)} failed")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
