#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Test property transfer with each end in its own process, when one of the processes is killed.

Needs two RDMA devices: ci/vm/run -- sh -c 'tests/device/rung_processes.py --device "$O2REF_RXE_A,$O2REF_RXE_B"'.  The last line
is "N passed, N failed"; exit status 0, 1, or 77 (cannot run).
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("O2REF_BUILD") or ROOT / "build")

SEED = 3
# Leave out fastreg and fastreg_gaps: soft-RoCE waits 50 s for a process that is killed while a window is bound (docs/vm.md).
MODES = "global,fmr,user,phys"
BEFORE = 20  # number of cases before a process is killed
CASES = 120  # number of all cases of such a run
WAIT_S = 60
RUN_S = 600  # time limit, enough even in an emulator that shares its processor
CANNOT_RUN = 77


def runs(pid):
    """Whether the process exists and is not a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


class Run:
    """A run of so many cases without a time limit, and the processes of its two ends."""

    def __init__(self, options, folder):
        self.current, self.result = folder / "current-case", folder / "result.json"
        command = [options.program, "run", "transfer", "--device", options.device, "--connect", "processes", "--modes", MODES,
                   "--seed", str(SEED), "--cases", str(CASES), "--shrink-calls", "0", "--current-case", self.current,
                   "--json-file", self.result]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def ends(self):
        pid = self.process.pid
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]

    def wait_for_case(self, number):
        """Wait until so many cases have run; False if the run ends before."""
        deadline = time.monotonic() + RUN_S
        while time.monotonic() < deadline and self.process.poll() is None:
            words = self.current.read_text().split() if self.current.exists() else []
            if "--first" in words and int(words[words.index("--first") + 1]) >= number:
                return True
            time.sleep(0.02)
        return False

    def end(self):
        text, _ = self.process.communicate(timeout=RUN_S)
        result = json.loads(self.result.read_text(encoding="utf-8")) if self.result.exists() else {}
        return self.process.returncode, result, text


def end_killed(options, folder, which):
    """A finding says which process was killed by what, and the run continues with new processes."""
    run = Run(options, folder)
    if not run.wait_for_case(BEFORE):
        return f"no {BEFORE} cases: {run.end()[2]}"
    before = run.ends()
    if len(before) == 2:
        os.kill(before[which], signal.SIGKILL)
    status, result, text = run.end()
    side = ("source", "sink")[which]
    findings = result.get("findings", [])
    said = " ".join(line for found in findings for line in found.get("lines", []))
    if len(before) != 2 or status != 1 or len(findings) != 1:
        return f"status {status}, ends {before}, findings {findings}: {text}"
    if f"process/killed: signal of the {side}'s process is 9" not in said:
        return f"the finding does not say who was killed: {said}"
    # All other cases are counted, and some of them ran after the killed one.
    if (result["cases"] != CASES - 1 or findings[0]["case"] >= CASES - 1
            or result["held"]["after"] != result["held"]["before"]):
        return f"it did not go on, or left something: {result['cases']} cases, {result['held']}, {findings}"
    return None


def judge_killed(options, folder):
    """If the program that judges is killed, the processes of the two ends end too."""
    run = Run(options, folder)
    if not run.wait_for_case(BEFORE):
        return f"no {BEFORE} cases: {run.end()[2]}"
    ends = run.ends()
    run.process.kill()
    deadline = time.monotonic() + WAIT_S
    while time.monotonic() < deadline and any(map(runs, ends)):
        time.sleep(0.05)
    left = [pid for pid in ends if runs(pid)]
    run.process.wait()
    return f"processes {left} are still there" if left or len(ends) != 2 else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", required=True, help="two RDMA devices, as of o2props")
    parser.add_argument("--program", default=str(BUILD / "gcc" / "o2props"))
    options = parser.parse_args()
    if not os.access(options.program, os.X_OK):
        print(f"tests/device/rung_processes.py: cannot run here: no program {options.program}")
        return CANNOT_RUN
    checks = {"the source's process is killed": lambda folder: end_killed(options, folder, 0),
              "the sink's process is killed": lambda folder: end_killed(options, folder, 1),
              "the judging process is killed": lambda folder: judge_killed(options, folder)}
    failed = 0
    for name, check in checks.items():
        with tempfile.TemporaryDirectory(prefix="o2ref-processes-") as folder:
            problem = check(Path(folder))
        failed += problem is not None
        print(f"{'held' if problem is None else 'FAIL'} {name}" + (f": {problem}" if problem else ""), flush=True)
    print(f"{len(checks) - failed} passed, {failed} failed")
    return 0 if failed == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
