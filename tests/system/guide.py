# SPDX-License-Identifier: MIT
"""Run the commands of a guide in a document and compare their output with the output that the guide shows.

In the indented blocks of the section, a line that begins with "$ " is a command for a user; the lines after it, if any, are
its output. "..." stands for any text, and alone on a line for any lines. Lines that begin with "# " are commands for root
that set up the machine; they are not run here.
"""

import re
import subprocess
from typing import NamedTuple

HEADING = "From nothing to a report"
PROMPT, ROOT_PROMPT = "    $ ", "    # "


class Step(NamedTuple):
    command: str
    shown: str


def steps(document, heading):
    """The commands of the section with this heading, up to the next one of the same level; None: of the whole document."""
    whole = rf"^## {re.escape(heading)}$(.*?)(?=^## |\Z)" if heading is not None else r"\A(.*)\Z"
    section = re.search(whole, document, re.M | re.S)
    if section is None:
        raise ValueError(f"no section {heading!r}")
    found, inside = [], False
    for line in section[1].splitlines():
        if line.startswith(PROMPT):
            found.append(Step(line[len(PROMPT):], ""))
            inside = True
        elif line.startswith(ROOT_PROMPT) or not line.startswith("    "):
            inside = inside and line == ""
        elif inside and found[-1].command.endswith("\\"):
            found[-1] = Step(found[-1].command[:-1] + line.strip(), "")
        elif inside:
            found[-1] = Step(found[-1].command, found[-1].shown + line[4:] + "\n")
    return found


def pattern(shown):
    """A regular expression that matches the output as a guide shows it."""
    parts = []
    for line in shown.splitlines():
        if line.strip() == "...":
            parts.append(r"(?:.*\n)*?")
        else:
            parts.append(r".*?".join(re.escape(part) for part in line.rstrip().split("...")) + r"[ \t]*\n")
    return re.compile("".join(parts))


def run(found, folder, prefix=(), **options):
    """Run the steps in order in folder; yields (step, its output, whether the output is as shown).

    A step for which the guide shows no output must succeed.
    """
    for step in found:
        done = subprocess.run([*prefix, "bash", "-c", step.command], cwd=folder, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace", timeout=300, check=False,
                              **options)
        as_shown = pattern(step.shown).fullmatch(done.stdout) is not None if step.shown else done.returncode == 0
        yield step, done.stdout, as_shown
