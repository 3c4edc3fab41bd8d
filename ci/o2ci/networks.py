# SPDX-License-Identifier: MIT
"""Two processes over the connection manager in a guest: on good and bad networks, and where one of them breaks the rules."""

from . import place
from .result import EXIT_CANNOT_RUN, Row

NETWORKS, HOSTILE = "tests/device/vm/networks.py", "tests/device/vm/hostile.py"
TIMEOUT_S = 1200


def execute(children, failures, seed, minutes=0):
    """minutes: of mixed traffic after the scripted networks."""
    row = Row("property", "networks", "two processes, bad networks, kills", 0)
    return script(children, failures, row, [NETWORKS, "--seed", f"0x{seed:x}", "--minutes", str(minutes)], TIMEOUT_S + 90 * minutes)


def hostile(children, failures):
    """Every misbehaviour there is, at a victim in a process of its own and at a peer that takes no orders."""
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
