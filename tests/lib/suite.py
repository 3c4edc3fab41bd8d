# SPDX-License-Identifier: MIT
"""How a script runs its unit tests: the last line is "N passed, N failed", each skip says why."""

import os
import re
import shlex
import subprocess
import sys
import unittest
from pathlib import Path


def program():
    """The o2ref that a script tests: its first argument; else $O2REF_CLI, else that of build/gcc."""
    words = [word for word in sys.argv[1:] if not word.startswith("-")]
    built = Path(__file__).resolve().parents[2] / "build" / "gcc" / "o2ref"
    return words[0] if words else os.environ.get("O2REF_CLI") or str(built)


def build():
    """The build folder that a script tests: its first argument; else build/gcc."""
    words = [word for word in sys.argv[1:] if not word.startswith("-")]
    return Path(words[0] if words else Path(__file__).resolve().parents[2] / "build" / "gcc").resolve()


def ended(words, statuses, **options):
    """A program that was run, and both its outputs.  A crash, or a finding of a sanitizer, is never a way to end."""
    done = subprocess.run([*map(str, words)], capture_output=True, check=False, **options)
    if done.returncode not in statuses:
        raise AssertionError(f"{words}: status {done.returncode}: {done.stderr}")
    return done


def in_signal_set(pid, name, number):
    """Whether the signal is in a set of /proc: SigCgt, those with a handler; ShdPnd, those that were sent and have not come."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return int(status.partition(f"{name}:")[2].split()[0], 16) >> (number - 1) & 1 == 1


def waits_for_a_reader(pid):
    """Whether the process blocks in a call whose first argument is standard output."""
    return Path(f"/proc/{pid}/syscall").read_text(encoding="ascii").split()[1:2] == ["0x1"]


def of(source):
    """The tests of a module, or of a class."""
    loader = unittest.defaultTestLoader
    return loader.loadTestsFromTestCase(source) if isinstance(source, type) else loader.loadTestsFromModule(source)


def cases(tests):
    """All tests in a suite of suites."""
    return [tests] if isinstance(tests, unittest.TestCase) else [case for part in tests for case in cases(part)]


def chosen(tests):
    """Those that the command line names, as CLASS or CLASS.TEST, else all; of these with --part=I/N each N-th, from the I-th on."""
    found = [(case, {type(case).__name__, f"{type(case).__name__}.{case.id().rsplit('.', 1)[1]}"}) for case in cases(tests)]
    words = set(sys.argv[1:]) & set().union(*(names for _case, names in found))
    found = [case for case, names in found if names & words or not words]
    part = next(filter(None, (re.fullmatch(r"--part=(\d+)/(\d+)", word) for word in sys.argv[1:])), None)
    return unittest.TestSuite(found[int(part[1]) - 1::int(part[2])] if part else found)


def run(tests):
    """Run the chosen ones; the exit status of the script.  That there are none is a failure."""
    result = unittest.TextTestRunner(verbosity=1, stream=sys.stdout).run(chosen(tests))
    failed = len(result.failures) + len(result.errors)
    skipped = len(result.skipped)
    for test, reason in result.skipped:
        print(f"skipped: {test.id()}: {reason}")
    if failed:
        print(f"replay: {shlex.join(sys.argv)}")
    passed = max(result.testsRun - failed - skipped, 0)
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 0 if failed == 0 and result.testsRun else 1
