# SPDX-License-Identifier: MIT
"""Measure the processor time of a program and of all its descendants, which does not depend on the load of the machine."""

import os
import subprocess
import tempfile
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")


def stat_of(folder):
    """(parent's process id, clock ticks including children that have ended) of a process, or None if it has ended."""
    try:
        fields = (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()
        return int(fields[1]), sum(map(int, fields[11:15]))
    except (OSError, ValueError, IndexError):
        return None


def of_tree(pid):
    """Processor seconds of a process and its descendants, as far as these still run or their parents have waited for them."""
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
    """Wait until a child has ended, without reaping it.  Returns its processor seconds; None if it has been reaped already."""
    try:
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    except ChildProcessError:
        return None
    stat = stat_of(Path("/proc") / str(pid))
    return stat and stat[1] / TICKS


class Failed(Exception):
    """A measured command failed; text: its whole output."""

    def __init__(self, command, status, text):
        super().__init__(f"{' '.join(map(str, command))}: status {status}\n{text[-2000:]}")
        self.text = text


def used(command, said=True, **options):
    """Run a command that must succeed.  Returns (processor seconds, peak resident KiB, output or "" if not `said`)."""
    with tempfile.TemporaryFile() if said else open(os.devnull, "r+b") as output:
        with subprocess.Popen([str(word) for word in command], stdout=output, stderr=subprocess.STDOUT, **options) as child:
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read().decode(errors="replace")
    if child.returncode != 0:
        raise Failed(command, child.returncode, text)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss, text
