#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Check that fuzz targets of properties with counted situations have the seeds that o2props export writes.

    tests/system/fuzz/situation_seeds.py O2PROPS           compare
    tests/system/fuzz/situation_seeds.py O2PROPS --write   replace corpus/TARGET/seed
    tests/system/fuzz/situation_seeds.py O2PROPS --few     compare those of all but the two that take longest

Each file is the smallest case, from seed 1, that meets the situation it is named after (docs/fuzzing.md, "Corpora").
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
TARGETS = {"dma_map": "dma", "reg_plan": "reg_plan", "keys": "keys", "pools": "pools", "parts": "parts", "forms": "forms",
           "verdicts": "verdicts", "hostile": "hostile", "settings": "settings",
           "selftest": "lst"}
LONG = ("verdicts", "selftest")


def contents(folder):
    return {file.name: file.read_bytes() for file in folder.iterdir()} if folder.is_dir() else {}


def main():
    program, write, few = sys.argv[1], sys.argv[2:] == ["--write"], sys.argv[2:] == ["--few"]
    stale = 0
    for target, name in TARGETS.items():
        if few and target in LONG:
            continue
        seeds = ROOT / "corpus" / target / "seed"
        with tempfile.TemporaryDirectory(prefix="o2ref-seeds-") as scratch:
            folder = Path(scratch) / "seed"
            subprocess.run([program, "export", folder, "--property", name, "--seed", "1"], check=True)
            wanted, found = contents(folder), contents(seeds)
            if write:
                shutil.rmtree(seeds, ignore_errors=True)
                shutil.copytree(folder, seeds)
            elif wanted != found:
                differ = sorted(file for file in wanted.keys() | found.keys() if wanted.get(file) != found.get(file))
                print(f"corpus/{target}/seed: {', '.join(differ)} not as exported; see {Path(__file__).name} --write")
                stale += len(differ)
        print(f"{target}: {len(wanted)} seeds")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
