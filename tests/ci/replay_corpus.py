#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Replay every scenario of corpus/transfer on one device.  The last line is "N passed, N failed"."""

import argparse
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("O2REF_BUILD") or ROOT / "build")
TIMEOUT_S = 120
CANNOT_RUN = 77


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="loop", help="as for o2props")
    parser.add_argument("--connect", default="direct", help="as for o2props")
    parser.add_argument("--program", default=str(BUILD / "gcc" / "o2props"))
    options = parser.parse_args()
    passed = failed = 0
    for file in sorted((ROOT / "corpus" / "transfer" / "scenario").glob("*.json")):
        command = [options.program, "replay", file.relative_to(ROOT), "--device", options.device, "--connect",
                   options.connect]
        try:
            done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=TIMEOUT_S,
                                  check=False)
            status, lines = done.returncode, done.stdout.decode(errors="replace").splitlines()
        except subprocess.TimeoutExpired:
            status, lines = -1, [f"no end within {TIMEOUT_S} s"]
        if status == CANNOT_RUN:
            print(f"cannot run here: {' '.join(lines)}")
            return CANNOT_RUN
        # A case that holds prints "held: " in its last line; status 0 without that line is a failure.
        held = status == 0 and lines and lines[-1].startswith("held: ")
        passed, failed = passed + bool(held), failed + (not held)
        print(f"{'held' if held else 'FAIL'} {file.name}: {lines[-1] if lines else ''}", flush=True)
        if not held:
            print("\n".join(f"    {line}" for line in lines), flush=True)
    if passed + failed == 0:
        print("FAIL no scenario in corpus/transfer/scenario")
        failed = 1
    print(f"{passed} passed, {failed} failed")
    return 0 if failed == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
