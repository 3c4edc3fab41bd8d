#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Bandwidth of our 1 MiB PUTs beside ib_write_bw, in turn, inside the soft-RoCE guest.

    ci/vm/run -- tests/bench/rxe_bandwidth.py BUILD_DIR ROUNDS PUTS

Writes one JSON object to standard output: {"ib_write_bw": [MiB/s ...], "global": [...], "fmr": [...], "fastreg": [...]}.
No verdict: ci/bench prints the ratios.
"""
import json
import os
import re
import subprocess
import sys
import time

MESSAGE_BYTES = 1 << 20


def write_bw(port, iterations):
    """One run of perftest between the two devices; MiB/s on average."""
    common = ["ib_write_bw", "-x", os.environ["O2REF_GID_INDEX"], "-s", str(MESSAGE_BYTES), "-n", str(iterations),
              "-p", str(port), "-F", "-t", "4"]
    server = subprocess.Popen(common + ["-d", os.environ["O2REF_RXE_B"]], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
    try:
        for _ in range(50):
            client = subprocess.run(common + ["-d", os.environ["O2REF_RXE_A"], os.environ["O2REF_IP_B"]],
                                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120)
            if client.returncode == 0:
                break
            if "Couldn't connect" not in client.stdout or server.poll() is not None:
                break
            time.sleep(0.1)  # the server is not listening yet
    finally:
        server.terminate()
        server.communicate()
    line = re.search(rf"^\s*{MESSAGE_BYTES}\s+\d+\s+([\d.]+)\s+([\d.]+)", client.stdout, re.M)
    if line is None:
        sys.exit(f"ib_write_bw failed:\n{client.stdout}")
    return float(line.group(2))


def put_bandwidth(build, puts):
    """One run of our program; MiB/s for each mode."""
    run = subprocess.run([f"{build}/put_bandwidth", os.environ["O2REF_RXE_A"], os.environ["O2REF_RXE_B"],
                          os.environ["O2REF_GID_INDEX"], str(puts)], stdout=subprocess.PIPE, text=True, check=True)
    return {mode: float(figure) for mode, figure in (line.split() for line in run.stdout.splitlines())}


def main():
    build, rounds, puts = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    figures = {"ib_write_bw": []}
    for turn in range(rounds):
        figures["ib_write_bw"].append(write_bw(18515 + turn, puts))
        for mode, figure in put_bandwidth(build, puts).items():
            figures.setdefault(mode, []).append(figure)
        print(f"bench: round {turn + 1} of {rounds}", file=sys.stderr, flush=True)
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
