# SPDX-License-Identifier: MIT
"""Steps that test the harness itself: it must detect deliberate defects (tests/system/mutants.py, ci/mutants)."""

import json

from . import place
from .result import EXIT_CANNOT_RUN, Row

TIMEOUT_S = 600
ALL_TIMEOUT_S = 1800


def read_json(path, form):
    try:
        report = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return report if isinstance(report, dict) and report.get("form") == form else None


def mutants(children, failures, work):
    """Check that every deliberate defect is detected on loopverbs."""
    work.mkdir(parents=True, exist_ok=True)
    file = work / "mutants.json"
    program = place.program("o2props-mutants")
    command = [place.ROOT / "tests" / "system" / "mutants.py", "--device", "loop", "--program", program, "--json", file]
    outcome = children.run("mutants", command, cwd=place.ROOT, timeout=TIMEOUT_S, needs=[program])
    row = Row("harness", "mutants", "deliberate defects on loopverbs").ran(outcome, "tests/system/mutants.py --device loop")
    report = read_json(file, "o2ref/mutants")
    if report is not None:
        row.figures = {"caught": report["caught"], "of": report["of"], "mutants": report["mutants"]}
    if outcome.status == EXIT_CANNOT_RUN:
        row.reason = outcome.last_line()
    elif outcome.status != 0 or report is None:
        title = f"tests/system/mutants.py: {outcome.last_line()} (status {outcome.status})"
        row.findings.append(failures.keep("mutants", "missed", title, row.again, outcome.tail(40)))
    return row


def coverage(children, failures, page):
    """Measure which code of the library corpora and properties reach, and write the measured source as a page (ci/coverage)."""
    outcome = children.run("coverage", [place.ROOT / "ci" / "coverage", "--html", page], cwd=place.ROOT, timeout=ALL_TIMEOUT_S)
    row = Row("harness", "coverage", "what corpora and properties reach").ran(outcome, "ci/coverage")
    row.figures = {"what": outcome.last_line()}
    if outcome.status == EXIT_CANNOT_RUN:
        row.reason = outcome.last_line()
    elif outcome.status != 0:
        title = f"ci/coverage: {outcome.last_line()} (status {outcome.status})"
        row.findings.append(failures.keep("coverage", "lists", title, row.again, outcome.tail(60)))
    return row


def all_mutants(children, failures, work):
    """Check that a property kills every deliberate defect from each of the fixed seeds, without a corpus (ci/mutants)."""
    work.mkdir(parents=True, exist_ok=True)
    file = work / "all-mutants.json"
    program = place.program("o2props-mutants")
    command = [place.ROOT / "ci" / "mutants", "--no-build", "--program", program, "--json", file]
    outcome = children.run("mutants", command, cwd=place.ROOT, timeout=ALL_TIMEOUT_S, needs=[program])
    row = Row("harness", "mutants", "all deliberate defects, each from three seeds").ran(outcome, "ci/mutants")
    report = read_json(file, "o2ref/mutant_table")
    if report is not None:
        killed = [mutant for mutant in report["mutants"] if all(run["how"] not in ("missed", "failed") for run in mutant["runs"])]
        row.figures = {"caught": len(killed), "of": len(report["mutants"]), "summary": report["summary"]}
    if outcome.status == EXIT_CANNOT_RUN:
        row.reason = outcome.last_line()
    elif outcome.status != 0 or report is None:
        title = f"ci/mutants: {outcome.last_line()} (status {outcome.status})"
        row.findings.append(failures.keep("mutants", "all-missed", title, row.again, outcome.tail(80)))
    return row
