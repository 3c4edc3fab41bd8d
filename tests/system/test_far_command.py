#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Test o2props run --far: a command that is not a far end is refused in one line and leaves no process.  Needs no device.

usage: test_far_command.py O2PROPS   (with o2props-verbs in the same folder).  Last line "N passed, N failed".

Transfers between two machines: tests/device/vm/pair.py.  Later messages of a far end: tests/unit/props/test_far.c.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lib"))

import suite  # noqa: E402

PROGRAM = ""
USAGE, CANNOT = 2, 77
DEVICE = ["--device", "no-such-device"]


def far(*words, program=None):
    done = subprocess.run([program or PROGRAM, "run", "transfer", *words], capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout, done.stderr


def group_is_there(leader):
    """Whether a process of the group is still running; zombies do not count."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if fields[0] != "Z" and int(fields[2]) == leader:
            return True
    return False


class Far(unittest.TestCase):
    def refused(self, words, said, *options, lines=1):
        status, out, err = far(*DEVICE, "--far", words, *options)
        self.assertEqual((status, out), (CANNOT, ""), err)
        self.assertRegex(err, said)
        self.assertEqual(len(err.splitlines()), lines, err)
        self.assertIn("o2props: cannot open no-such-device and the far end '", err)

    def test_does_not_start(self):
        self.refused("no-such-program-here", r"far/exited: exit status of the far end is 127", lines=2)  # one is the shell's
        self.refused("exit 3;", "far/exited: exit status of the far end is 3")
        self.refused("true", "far/exited: exit status of the far end is 0")
        self.refused("kill -9 $$;", "far/killed: signal of the far end's process is 9")

    def test_says_something_else(self):
        self.refused("echo Welcome to node2;", "far/garbage: .* 'Welcome to node2")
        self.refused("exec cat /dev/zero; #", "far/garbage")
        self.refused("printf ab; sleep 60;", "far/garbage: .* 'ab' is 2", "--far-timeout", "1")

    def test_says_nothing(self):
        with tempfile.TemporaryDirectory(prefix="o2ref-far-") as folder:
            leader = Path(folder) / "leader"
            began = time.monotonic()
            self.refused(f"echo $$ > {leader}; sleep 1000 & sleep 1000;", "far/silent: .* is 1000, limit 1000", "--far-timeout", "1")
            self.assertLess(time.monotonic() - began, 20)
            self.assertFalse(group_is_there(int(leader.read_text(encoding="ascii"))))

    def test_another_program(self):
        with tempfile.TemporaryDirectory(prefix="o2ref-far-") as folder:
            other = Path(folder) / "o2props-verbs"
            shutil.copy(PROGRAM + "-verbs", other)
            self.refused("env", r"no-such-device", "--far-program", str(other))
            with open(other, "ab") as file:
                file.write(b"built elsewhere")
            self.refused("env", r"far/another-program: version '[^']+' of the far end, ours '[^']+': digest is \d+, expected \d+",
                         "--far-program", str(other))

    def test_usage(self):
        for words in (["--device", "loop", "--far", "env"], ["--device", "model", "--far", "env"],
                      [*DEVICE, "--far", "env", "--connect", "processes"], [*DEVICE, "--far", "x" * 300],
                      [*DEVICE, "--far", "env", "--far-program", "/tmp/a b"], [*DEVICE, "--far", "env", "--far-side", "middle"],
                      ["--device", "a;b", "--far", "env"], [*DEVICE, "--far", "env", "--far-timeout", "0"]):
            with self.subTest(words=words):
                status, out, err = far(*words)
                self.assertEqual((status, out), (USAGE, ""), err)
                self.assertTrue(err.startswith("o2props: "), err)

    def test_the_far_end_itself(self):
        """The far end sends its name, then that there is no such device, and ends; its standard output has nothing else."""
        done = subprocess.run([PROGRAM, "far", *DEVICE], input=b"", capture_output=True, timeout=60, check=False)
        frames, rest = [], done.stdout
        while rest:
            length = int.from_bytes(rest[:4], "little")
            frames.append(json.loads(rest[4:4 + length]))
            self.assertEqual(rest[4 + length:5 + length], b"\n", "a message ends with its line")
            rest = rest[5 + length:]
        self.assertEqual((done.returncode, done.stderr, len(frames)), (0, b"", 2))
        self.assertEqual((frames[0]["form"], frames[0]["version"]), ("o2ref/far", 1))
        self.assertRegex(frames[0]["digest"], "^0x[0-9a-f]+$")
        self.assertEqual(frames[1]["answer"]["error"]["rule"], "network/no-such-device")

    def test_help(self):
        text = subprocess.run([PROGRAM, "--help"], capture_output=True, text=True, timeout=60, check=True).stdout
        for option in ("--far WORDS", "--far-side SIDE", "--far-program PATH", "--far-timeout SECONDS"):
            self.assertTrue(re.search(re.escape(option), text), option)


def main():
    global PROGRAM
    PROGRAM = os.path.abspath(sys.argv[1])
    if not os.access(PROGRAM + "-verbs", os.X_OK):
        print(f"test_far_command.py: cannot run here: no program {PROGRAM}-verbs")
        return CANNOT
    return suite.run(suite.of(Far))


if __name__ == "__main__":
    sys.exit(main())
