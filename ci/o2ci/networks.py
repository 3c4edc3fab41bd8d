# SPDX-License-Identifier: MIT
"""Two processes over the connection manager in a guest, on good and bad networks (tests/vm/networks.py)."""

from . import place
from .result import EXIT_CANNOT_RUN, Row

SCRIPT = "tests/vm/networks.py"
TIMEOUT_S = 1200


def execute(children, failures, seed, minutes=0):
    """minutes: of mixed traffic after the scripted networks."""
    words = ["--seed", f"0x{seed:x}", "--minutes", str(minutes)]
    outcome = children.run("networks", [place.ROOT / SCRIPT, *words], cwd=place.ROOT, timeout=TIMEOUT_S + 90 * minutes)
    row = Row("property", "networks", "two processes, bad networks, kills", outcome.seconds)
    row.figures = {"summary": outcome.last_line()}
    if outcome.status == EXIT_CANNOT_RUN:
        row.reason = outcome.last_line()
    elif outcome.status != 0:
        title = f"{SCRIPT}: {outcome.last_line()} (status {outcome.status})"
        row.findings.append(failures.keep("networks", "failed", title, f"{SCRIPT} {' '.join(words)}", outcome.tail(60)))
    return row
