#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""In the soft-RoCE guest: property nodes by two programs in turn (ci/bench --against).

    tests/bench/rxe_cases.py OLD NEW ROUNDS CASES

Prints one JSON object: the seconds of each round by the clock on the wall, {"old": [...], "new": [...]}.
"""
import json
import os
import subprocess
import sys
import time

SEED = 7


def main():
    programs = dict(zip(("old", "new"), sys.argv[1:3]))
    rounds, cases = (int(word) for word in sys.argv[3:5])
    devices = f"{os.environ['O2REF_RXE_A']},{os.environ['O2REF_RXE_B']}"
    seconds = {side: [] for side in programs}
    for _ in range(rounds):
        for side, program in programs.items():
            started = time.monotonic()
            subprocess.run([program, "run", "nodes", "--device", devices, "--cases", str(cases), "--seed", str(SEED)], check=True,
                           stdout=sys.stderr)
            seconds[side].append(round(time.monotonic() - started, 3))
    print(json.dumps(seconds))


if __name__ == "__main__":
    main()
