# SPDX-License-Identifier: MIT
"""The step that explores every order of events of a few operations (tests/system/test_explore.py)."""

from . import harness, place
from .result import EXIT_CANNOT_RUN, Row

TIMEOUT_S = 3600


def execute(children, failures, work, full):
    work.mkdir(parents=True, exist_ok=True)
    file = work / "explore.json"
    command = [place.ROOT / "tests" / "system" / "test_explore.py", *(["--full", "--jobs", 2] if full else []), "--json", file,
               place.program("o2props").parent]
    outcome = children.run("explore", command, cwd=place.ROOT, timeout=TIMEOUT_S,
                           needs=[place.program("o2props")])
    again = "tests/system/test_explore.py" + (" --full" if full else "") + " build/gcc"
    row = Row("orders", "explore", "two ends, every order of events").ran(outcome, again)
    report = harness.read_json(file, "o2ref/explore")
    if report is not None:
        searches = [found[way] for found in report["rows"] for way in ("merged", "free") if found[way]]
        row.figures = {"searches": len(searches), "states": sum(search["states"] for search in searches),
                       "edges": sum(search["edges"] for search in searches), "rows": report["rows"]}
    if outcome.status == EXIT_CANNOT_RUN:
        row.reason = outcome.last_line()
    elif outcome.status != 0 or report is None:
        title = f"tests/system/test_explore.py: {outcome.last_line()} (status {outcome.status})"
        row.findings.append(failures.keep("explore", "order", title, again, outcome.tail(40)))
    return row
