#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Tests of what a campaign shows while it runs (docs/campaign.md), on a terminal and elsewhere.  The last line is "N passed,
N failed".
"""

import fcntl
import io
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

import test_ci  # noqa: E402
from o2ci import live  # noqa: E402
from test_ci import ROOT  # noqa: E402


class Screen:
    """What a terminal shows; it knows only the control sequences that the live table uses."""

    def __init__(self, columns):
        self.lines, self.at, self.columns = [""], 0, columns

    def write(self, data):
        for part in re.findall(r"\x1b\[[0-9;?]*[A-Za-z]|[^\x1b]", data):
            if part == "\r":
                self.column = 0
            elif part == "\n":
                self.at += 1
                self.lines += [""] * (self.at + 1 - len(self.lines))
            elif part == "\x1b[K":
                self.lines[self.at] = self.lines[self.at][:self.column]
            elif part == "\x1b[J":
                self.lines[self.at:] = [""]
            elif part.startswith("\x1b") and part.endswith("A"):
                self.at -= int(part[2:-1])
            elif not part.startswith("\x1b"):
                line = self.lines[self.at]
                self.lines[self.at] = line[:self.column].ljust(self.column) + part + line[self.column + 1:]
                self.column += 1
                assert self.column < self.columns, self.lines[self.at]


class Live(unittest.TestCase):
    PROGRAM = """
import sys, time
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from o2ci import live, process
from o2ci.result import Finding, Row
children = process.Children(Path(sys.argv[2]), live.shown_on(sys.stdout))
children.say("campaign", "seed 7", lasting=True)
for number in range(int(sys.argv[3])):
    tag = f"step-{number}"
    outcome = children.run(tag, ["sh", "-c", "echo first; printf '\\033[31mlast %0200d\\n' 7"])
    row = Row("property", tag, tag).ran(outcome)
    row.findings = [Finding(tag, "x", "y")] if number == 1 else []
    children.judged(row)
children.screen.close()
print("the end")
"""

    def on_terminal(self, steps, lines, columns, **environment):
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-c", self.PROGRAM, ROOT / "ci", folder, str(steps)]
            kept = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "COLUMNS", "LINES")}
            with subprocess.Popen(command, stdout=theirs, env={**kept, "TERM": "xterm", **environment}) as running:
                os.close(theirs)
                data = b""
                while True:
                    try:
                        more = os.read(ours, 65536)
                    except OSError:  # the other end is closed
                        break
                    data += more
                    if not more:
                        break
                self.assertEqual(running.wait(), 0)
            os.close(ours)
        return data.decode()

    def test_one_table_drawn_in_place(self):
        data = self.on_terminal(3, 24, 80)
        screen = Screen(80)
        screen.write(data)
        lines = [line.rstrip() for line in screen.lines if line.strip()]
        self.assertEqual((lines[0], lines[-1], len(lines)), ("[campaign] seed 7", "the end", 6), lines)
        self.assertRegex(lines[1], r"^3 of 3 steps ended, \d+ s$")
        for number, state in enumerate(("held", "FINDING", "held")):
            self.assertRegex(lines[2 + number], rf"^step-{number} +\d+ s  {state} +last 0+$")
        self.assertIn("\x1b[31;1mFINDING", data)

    def test_a_small_one(self):
        for lines, columns in ((6, 40), (3, 12)):
            screen = Screen(columns)
            screen.write(self.on_terminal(9, lines, columns).replace("[campaign] seed 7", ""))
            shown = [line for line in screen.lines if line.strip()]
            self.assertLessEqual(len(shown), lines)
            self.assertTrue(any(line.startswith("step-8") for line in shown), shown)

    def test_a_terminal_that_gets_narrow(self):
        columns, stream = [80], io.StringIO()
        table = live.Table(stream, False, size=lambda: (columns[0], 24), clock=lambda: 0)
        self.addCleanup(table.closed.set)
        table.line("step", "a\tb\x1b]0;title\x07c\x9b" + "z" * 200)
        table.started("step")
        columns[0] = 40
        table.ended("step", "held")
        wide, narrow = stream.getvalue().replace("\n", "\r\n").split("\x1b[H\x1b[2J")
        for drawn, width, state in ((wide, 80, "runs"), (narrow, 40, "held")):
            screen = Screen(width)
            screen.write(drawn)
            self.assertRegex(screen.lines[1], rf"^step +0 s  {state} +a b\]")

    def test_without_colour(self):
        data = self.on_terminal(2, 24, 80, NO_COLOR="1")
        self.assertIn("\x1b[J", data)
        self.assertNotRegex(data, r"\x1b\[[0-9;]*m")

    def test_lines_where_it_cannot_be_drawn(self):
        for data in (self.on_terminal(2, 24, 80, TERM="dumb"), self.piped()):
            self.assertNotIn("\x1b[J", data)
            lines = data.replace("\r", "").splitlines()
            self.assertEqual(lines[:2], ["[campaign] seed 7", "[step-0] first"])
            self.assertTrue(lines[2].startswith("[step-0] ") and lines[2].endswith("07"), lines)

    def piped(self):
        with tempfile.TemporaryDirectory() as folder:
            return subprocess.run([sys.executable, "-c", self.PROGRAM, ROOT / "ci", folder, "2"], capture_output=True, text=True,
                                  env={**os.environ, "TERM": "xterm"}, check=True).stdout


if __name__ == "__main__":
    sys.exit(test_ci.main(sys.modules[__name__]))
