#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Check that the simulation depends only on its seed: the same seed gives the same trace again, another seed another trace.

A case depends only on its number: run alone, it does the same as among the others.

    tests/system/test_sim.py O2PROPS
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

CASES = 200
ALONE = 60


def trace(program, seed, folder, cases=CASES, first=0):
    path = Path(folder) / "result.json"
    command = [program, "run", "sim", "--first", str(first), "--cases", str(cases), "--seed", str(seed),
               "--json-file", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    result = json.loads(path.read_text(encoding="utf-8"))
    return result["trace"], result["operations"], result["events"]


def main():
    program = sys.argv[1]
    failed = 0
    with tempfile.TemporaryDirectory(prefix="o2ref-sim-") as folder:
        seen = set()
        for seed in (1, 2, 3):
            first, second = trace(program, seed, folder), trace(program, seed, folder)
            print(f"seed {seed}: trace {first[0]}, {first[1]} operations, {first[2]} events")
            if first != second:
                print(f"  the second run has {second}; again: {program} run sim --cases {CASES} --seed {seed}")
                failed += 1
            seen.add(first[0])
        if len(seen) != 3:
            print("different seeds have equal traces")
            failed += 1
        together = int(trace(program, 4, folder, ALONE)[0], 16)
        alone = sum(int(trace(program, 4, folder, 1, first)[0], 16) for first in range(ALONE)) % 2**64
        if together != alone:
            print(f"{ALONE} cases one by one have another trace than together: {program} run sim --seed 4")
            failed += 1
    print(f"{5 - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
