# SPDX-License-Identifier: MIT
"""The processor time of a program and of all that it started: what does not depend on what else the machine does."""

import os
import subprocess
import tempfile
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")


def stat_of(folder):
    """(parent, ticks with those of children that have ended) of a process, or None when it is gone."""
    try:
        fields = (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()
        return int(fields[1]), sum(map(int, fields[11:15]))
    except (OSError, ValueError, IndexError):
        return None


def of_tree(pid):
    """Seconds of a process and of all that descend from it, as far as they are still there or were waited for."""
    found = {int(folder.name): stat for folder in Path("/proc").iterdir() if folder.name.isdigit() and (stat := stat_of(folder))}
    children = {}
    for number, (parent, _ticks) in found.items():
        children.setdefault(parent, []).append(number)
    waiting, ticks = [pid], 0
    while waiting:
        number = waiting.pop()
        if number in found:
            ticks += found[number][1]
            waiting += children.get(number, [])
    return ticks / TICKS


def of_ended(pid):
    """Seconds of a child that has ended, or ends now, and that nobody has waited for; None where somebody has."""
    try:
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    except ChildProcessError:
        return None
    stat = stat_of(Path("/proc") / str(pid))
    return stat and stat[1] / TICKS


class Failed(Exception):
    """A command whose use was asked for has not succeeded; text: all that it said."""

    def __init__(self, command, status, text):
        super().__init__(f"{' '.join(map(str, command))}: status {status}\n{text[-2000:]}")
        self.text = text


def used(command, said=True, **options):
    """(processor seconds, KiB that were resident at most, what it said) of a command that succeeds; said: "" if not wanted."""
    with tempfile.TemporaryFile() if said else open(os.devnull, "r+b") as output:
        with subprocess.Popen([str(word) for word in command], stdout=output, stderr=subprocess.STDOUT, **options) as child:
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read().decode(errors="replace")
    if child.returncode != 0:
        raise Failed(command, child.returncode, text)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss, text
