# SPDX-License-Identifier: MIT
"""The parts of ci/test: each part runs something and counts passed and failed checks."""

import os
import re
import time
import xml.etree.ElementTree as tree
from dataclasses import dataclass

from . import compilers, place
from .result import CANNOT_RUN, EXIT_CANNOT_RUN

CTEST_TIMEOUT_S = 3600
SOURCE_FOLDERS = ("ref", "props", "fuzz", "tests")

# The last line of a test script, which may end in a text in parentheses; and the summary lines of a cmocka test program.
SUMS = re.compile(r"(\d+) passed, (\d+) failed(?:, (\d+) skipped)?(?: \(.*\))?\s*$")
# After a script in a guest has ended, ci/vm/run may print some more lines.
LAST_LINES = 10
# A line by which a test script reports a failure begins like this; how many failures, lines and columns are shown.
FAILED = re.compile(r"^FAIL(ED)?\b")
SHOWN_FAILURES, SHOWN_LINES, SHOWN_COLUMNS = 3, 6, 300
CMOCKA_PASSED = re.compile(r"^\[  PASSED  \] (\d+) test\(s\)", re.M)
CMOCKA_FAILED = re.compile(r"^\[  FAILED  \] *(?:tests: )?(\d+) test\(s\)", re.M)


@dataclass
class Tally:
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    note: str = ""

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped

    def line(self):
        return f"{self.passed} passed, {self.failed} failed" + (f", {self.skipped} skipped" if self.skipped else "")


def failures(text):
    """The first failures of a script, each with the lines that follow it.  They are printed because the log may be deleted."""
    lines = text.splitlines()
    found = [number for number, line in enumerate(lines) if FAILED.match(line)][:SHOWN_FAILURES]
    return "".join(f"\n    {line[:SHOWN_COLUMNS]}" for number in found for line in lines[number:number + SHOWN_LINES])


def of_script(outcome, may_skip):
    """The tally of a test script: the sums in its last line, which its exit status must agree with."""
    if outcome.status == EXIT_CANNOT_RUN:
        note = next((line for line in outcome.text().splitlines() if "cannot run" in line), outcome.last_line())
        # may_skip is for reasons that lie in the machine: everything that can be installed was set up.
        return Tally(skipped=1, note=note) if may_skip else Tally(failed=1, note=note)
    match = next((found for found in map(SUMS.match, reversed(outcome.tail(LAST_LINES))) if found), None)
    if outcome.timed_out or not match:
        why = "no end in time" if outcome.timed_out else "no sum in its last line"
        return Tally(failed=1, note=f"status {outcome.status}, {why}: {outcome.last_line()}")
    tally = Tally(int(match[1]), int(match[2]), int(match[3] or 0))
    if (outcome.status == 0) != (tally.failed == 0):
        tally.failed += 1
        tally.note = f"status {outcome.status} after '{match[0]}'"
    elif tally.failed:
        tally.note = f"see {place.shown(outcome.log)}{failures(outcome.text())}"
    return tally


def script(children, tag, command, *, in_guest=False, may_skip=False, timeout=1800):
    """A program that prints `N passed, N failed` as its last line."""
    outcome = children.run(tag, command, cwd=place.ROOT, timeout=timeout)
    return of_script(outcome, in_guest or may_skip)


def inside_guest(log_dir, *command):
    return [place.ROOT / "ci" / "vm" / "run", "--timeout", "1200", "--log-dir", log_dir, "--", *command]


def of_rows(rows, in_guest=False):
    """The tally of campaign rows: each row is one check."""
    tally = Tally()
    for row in rows:
        if row.findings:
            tally.failed += 1
            tally.note = f"{row.findings[0].title}; replay: {row.findings[0].replay}"
        elif row.verdict == CANNOT_RUN:
            tally.add(Tally(skipped=1) if in_guest else Tally(failed=1))
            tally.note = tally.note or row.reason
        else:
            tally.passed += 1
    return tally


def test_cases(output, passed):
    """(passed, failed) of one test program: its cmocka cases, its script's sums, or else the program as one test."""
    sums = [match for match in map(SUMS.match, output.splitlines()) if match]
    good = sum(int(count) for count in CMOCKA_PASSED.findall(output))
    bad = sum(int(count) for count in CMOCKA_FAILED.findall(output))
    if good + bad == 0 and sums:
        good, bad = int(sums[-1][1]), int(sums[-1][2])
    if passed:
        return max(good, 1), bad
    return good, max(bad, 1)


def of_ctest(junit):
    """The tally of the JUnit file that ctest wrote."""
    tally = Tally()
    names = []
    for case in tree.parse(junit).getroot().iter("testcase"):
        good, bad = test_cases(case.findtext("system-out") or "", case.get("status") == "run")
        tally.add(Tally(good, bad))
        if bad:
            names.append(case.get("name"))
    tally.note = "failed: " + ", ".join(names) if names else ""
    return tally


def ctest(children, preset, *only, but=None):
    """Run the unit tests of one build: all or those named, except those with the label `but`.  Two tests run on each core,
    because many wait for time-outs."""
    junit = children.log_dir / f"ctest-{preset}.xml"
    command = ["ctest", "--test-dir", place.BUILD / preset, "--output-on-failure", "-j", str(2 * (os.cpu_count() or 1)),
               "--output-junit", junit, "--test-output-size-passed", "1000000", "--test-output-size-failed", "1000000",
               *(["-R", f"^({'|'.join(only)})$"] if only else []), *(["-LE", f"^{but}$"] if but else [])]
    outcome = children.run(f"ctest {preset}", command, cwd=place.ROOT, timeout=CTEST_TIMEOUT_S, every=1)
    try:
        tally = of_ctest(junit)
    except (OSError, tree.ParseError) as problem:
        return Tally(failed=1, note=f"ctest ended with status {outcome.status} and left no result: {problem}")
    if tally.passed == 0 or (outcome.status == 0) != (tally.failed == 0):
        tally.failed += 1
        tally.note = tally.note or f"ctest ended with status {outcome.status}: {outcome.last_line()}"
    for line in outcome.text().splitlines() if tally.failed else ():
        if "[  ERROR   ]" in line or "[   LINE   ]" in line or "***" in line:
            children.say(f"ctest {preset}", line)
    return tally


def layout(children):
    """Check that every C source is formatted as .clang-format says."""
    program = compilers.formatter()
    if program is None:
        return Tally(skipped=1, note=f"no clang-format {compilers.FORMAT_VERSION}, for which .clang-format was written")
    files = [path for folder in SOURCE_FOLDERS for path in sorted((place.ROOT / folder).rglob("*.[ch]"))]
    outcome = children.run("layout", [program, "--dry-run", "-Werror", *(place.shown(path) for path in files)],
                           cwd=place.ROOT, timeout=300, every=0.5)
    if outcome.status != 0:
        bad = sorted({line.split(":")[0] for line in outcome.text().splitlines() if ": error:" in line})
        return Tally(failed=1, note=f"not laid out: {', '.join(bad)} (run {program} -i on them)")
    return Tally(passed=1, note=f"{len(files)} files")


@dataclass
class Part:
    name: str
    seconds: float
    cpu_seconds: float  # of all programs that ran for the part
    tally: Tally

    def as_json(self):
        return {"part": self.name, "seconds": round(self.seconds, 1), "cpu_seconds": round(self.cpu_seconds, 1), **vars(self.tally)}


def timed(children, name, function):
    """Run one part; prints its result and how long it took."""
    started, spent = time.monotonic(), children.spent.seconds
    tally = function()
    part = Part(name, time.monotonic() - started, children.spent.seconds - spent, tally)
    children.say("test", f"{name}: {tally.line()} in {part.seconds:.0f} s, {part.cpu_seconds:.0f} of a processor" + (f" ({tally.note})" if tally.note else ""))
    return part
