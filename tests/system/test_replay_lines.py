#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The replay line of a finding, typed as it was printed, finds it again, whatever options the cases were drawn with.

    tests/system/test_replay_lines.py O2PROPS_MUTANTS   Last line "N passed, N failed".
"""

import shlex
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lib"))

import suite  # noqa: E402

PROGRAM = suite.program()
MUTANT = ["--mutant", "fmr-page-order"]
SHRINK = ["--shrink-calls", "20"]
RUN = ["run", "transfer", *MUTANT, *SHRINK, "--cases", "200", "--seed", "5", "--findings", "1", "--device", "loop"]


def started(words):
    done = subprocess.run([PROGRAM, *words], capture_output=True, text=True, timeout=120, check=False)
    return done.returncode, done.stdout + done.stderr


def replay_line(text):
    lines = [line.split("replay: o2props-mutants ", 1)[1] for line in text.splitlines() if "  replay: " in line]
    return lines[0]


class ReplayLines(unittest.TestCase):
    def repeats(self, *options):
        """Both forms of the line: the case's number, and the file of what it was shrunk to."""
        with tempfile.TemporaryDirectory(prefix="o2ref-replay-") as folder:
            for more in ([], ["--out", folder]):
                status, text = started([*RUN, *options, *more])
                self.assertEqual(status, 1, text)
                line = replay_line(text)
                for name, value in zip(options[::2], options[1::2]):
                    self.assertIn(f" {name} {value}", line)
                status, text = started([*shlex.split(line), *SHRINK])
                self.assertEqual(status, 1, f"{line}\n{text}")
                self.assertIn("wrong-bytes", text)
        return line

    def test_nothing_chosen(self):
        self.assertRegex(self.repeats(), r" --device loop --mutant fmr-page-order$")

    def test_modes(self):
        self.repeats("--modes", "global,fmr")

    def test_sizes_and_gid(self):
        self.repeats("--max-bytes", "4096", "--gid-index", "3")

    def test_connect(self):
        self.repeats("--connect", "cm")


if __name__ == "__main__":
    sys.exit(suite.run(suite.of(sys.modules[__name__])))
