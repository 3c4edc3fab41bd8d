#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Our transfers over soft-RoCE beside what bounds them, in turn, inside the guest.

    ci/vm/run -- tests/bench/rxe_speed.py BUILD_DIR ROUNDS PUTS TRIPS

Writes one JSON object to standard output: {"mib_per_s": {"ib_write_bw": [...], "global": [...], ...},
"trips_per_s": {"global": {"ours": [...], "bare": [...], "registering": [...], "writes": N}, ...}}.  No verdict:
ci/bench prints the ratios.
"""
import json
import os
import re
import subprocess
import sys
import time

MIB = 1 << 20
PAGE = 4096
# Writes in flight, and their size: as ours are, perftest's default, and what mode global posts where no two pages are neighbours.
WRITE_BW = {"ib_write_bw": (8, MIB), "ib_write_bw -t 128": (128, MIB), "ib_write_bw -s 4096": (2048, PAGE)}
FIRST_PORT = 18515


def write_bw(port, depth, size, iterations):
    """One run of perftest between the two devices; MiB/s on average."""
    common = ["ib_write_bw", "-x", os.environ["O2REF_GID_INDEX"], "-s", str(size), "-n", str(iterations), "-p", str(port),
              "-F", "-t", str(depth)]
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
    line = re.search(rf"^\s*{size}\s+\d+\s+([\d.]+)\s+([\d.]+)", client.stdout, re.M)
    if line is None:
        sys.exit(f"ib_write_bw failed:\n{client.stdout}")
    return float(line.group(2))


def ours(program, count):
    """One run of a program of ours: a list of words for each line, the first is the mode."""
    run = subprocess.run([program, os.environ["O2REF_RXE_A"], os.environ["O2REF_RXE_B"], os.environ["O2REF_GID_INDEX"],
                          str(count)], stdout=subprocess.PIPE, text=True, check=True)
    return [line.split() for line in run.stdout.splitlines()]


def main():
    build, rounds, puts, trips = sys.argv[1], *map(int, sys.argv[2:5])
    bandwidth, round_trips, port = {}, {}, FIRST_PORT
    for turn in range(rounds):
        for name, (depth, size) in WRITE_BW.items():
            bandwidth.setdefault(name, []).append(write_bw(port, depth, size, puts * MIB // size))
            port += 1
        for mode, figure in ours(f"{build}/put_bandwidth", puts):
            bandwidth.setdefault(mode, []).append(float(figure))
        for mode, here, bare, registering, writes in ours(f"{build}/round_trips", trips):
            row = round_trips.setdefault(mode, {"ours": [], "bare": [], "registering": [], "writes": int(writes)})
            row["ours"].append(float(here))
            row["bare"].append(float(bare))
            row["registering"].append(float(registering))
        print(f"bench: round {turn + 1} of {rounds}", file=sys.stderr, flush=True)
    print(json.dumps({"mib_per_s": bandwidth, "trips_per_s": round_trips}))


if __name__ == "__main__":
    main()
