# SPDX-License-Identifier: MIT
"""Steps with two processes in a guest, over the connection manager: on good and bad networks, or with a rule-breaking peer."""

from . import place
from .result import EXIT_CANNOT_RUN, Row

NETWORKS, HOSTILE = "tests/device/vm/networks.py", "tests/device/vm/hostile.py"
TIMEOUT_S = 1200


def execute(children, failures, seed, minutes=0):
    """Run the network tests.  minutes: duration of mixed traffic after the scripted networks; 0: none."""
    row = Row("property", "networks", "two processes, bad networks, kills", 0)
    return script(children, failures, row, [NETWORKS, "--seed", f"0x{seed:x}", "--minutes", str(minutes)], TIMEOUT_S + 90 * minutes)


def hostile(children, failures):
    """Run every misbehaviour against a victim in its own process, and against a peer that the test does not control."""
    return script(children, failures, Row("property", "rxe-hostile", "peers that break the rules", 0), [HOSTILE], TIMEOUT_S)


def script(children, failures, row, words, timeout_s):
    outcome = children.run(row.step, [place.ROOT / words[0], *words[1:]], cwd=place.ROOT, timeout=timeout_s)
    row.ran(outcome, " ".join(words))
    row.figures = {"summary": outcome.last_line()}
    if outcome.status == EXIT_CANNOT_RUN:
        row.reason = outcome.last_line()
    elif outcome.status != 0:
        title = f"{words[0]}: {outcome.last_line()} (status {outcome.status})"
        row.findings.append(failures.keep(row.step, "failed", title, row.again, outcome.tail(60)))
    return row
