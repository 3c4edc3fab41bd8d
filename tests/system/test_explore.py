#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Check that every order of events of a few operations holds, and that deliberate defects of the flow of credits are found.

Each row is searched twice, with the device's work requests executed at once and in any order: the states in which the
device is idle must be the same.  The rows of --full take 20 minutes of processor time, the others some seconds.

    tests/system/test_explore.py [--few | --full] [--jobs N] [--json FILE] FOLDER

FOLDER: the folder of o2props and o2props-mutants.  The last line is "N passed, N failed"; exit status 0 or 1.
"""

import argparse
import json
import re
import resource
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

LINE = re.compile(r": (\d+) states \((\d+) with the device at rest, sum (0x\w+)\), (\d+) edges, (\d+) finished, "
                  r"ways of at most (\d+) events, (\d+) verified; (.*); [\d.]+ s$")
TIMEOUT_S = 3600
FEW = 3

IMMEDIATES = "immediate,immediate,immediate,immediate"
# Two PUTs and a GET in each order, from one end and divided between both in each way; other mixtures; keys that live and die;
# an IMMEDIATE that is refused, because it is one byte longer than the longest.
ROWS = (
    "--version 2 --depth 2 --ops put,put,get --verify",
    "--version 1 --depth 3 --ops put,put,get --verify",
    "--version 2 --depth 2 --ops put,put,get --mode fastreg",
    "--version 2 --depth 2 --ops put,get,put",
    "--version 2 --depth 2 --ops get,put,put",
    "--version 2 --depth 2 --ops put,put/get",
    "--version 2 --depth 2 --ops put,get/put",
    "--version 2 --depth 2 --ops get,put/put",
    "--version 2 --depth 2 --ops put/get",
    "--version 1 --depth 3 --ops put/get",
    "--version 2 --depth 2 --ops put,immediate/get",
    "--version 2 --depth 2 --ops immediate,immediate --bytes 3976",
    "--version 2 --depth 2 --ops put,put/put,get --at-once",
    "--version 1 --depth 3 --ops put,put/put,get --at-once",
    f"--version 1 --depth 3 --ops {IMMEDIATES}/{IMMEDIATES} --at-once",
)
FULL_ROWS = (
    "--version 2 --depth 2 --ops put,put,get --mode fastreg --verify",
    "--version 1 --depth 3 --ops put,put,get --mode fastreg --verify",
    "--version 2 --depth 2 --ops put,put,get --peer-tx-credits 8 --verify",
    "--version 2 --depth 3 --ops put,put,get --verify",
    "--version 2 --depth 2 --ops put,put/get --verify",
    "--version 1 --depth 3 --ops put,put/get --verify",
    "--version 1 --depth 3 --ops put,get/put --verify",
    "--version 1 --depth 3 --ops get,put/put --verify",
    "--version 2 --depth 2 --ops put,put,get/immediate --verify",
    "--version 1 --depth 3 --ops put,put,get/immediate --verify",
    "--version 2 --depth 2 --ops put,get/put,get",
    "--version 1 --depth 3 --ops put,get/put,get",
    "--version 2 --depth 2 --ops put,put,get/put,put,get --at-once",
    "--version 1 --depth 3 --ops put,put,get/put,put,get --at-once",
    "--version 2 --depth 2 --ops put,get/put,get --mode fastreg --at-once",
    f"--version 1 --depth 3 --ops {IMMEDIATES}/{IMMEDIATES}",
    "--version 2 --depth 2 --ops put,put,get/put,get",
    "--version 1 --depth 3 --ops put,put,get/put,get",
    "--version 2 --depth 2 --ops put,put,get/put,put,get",
    "--version 1 --depth 3 --ops put,put,get/put,put,get",
)
FULL_STATES = 5_000_000  # of all rows together, with the device in any order
# Defects that sizes, the judge of messages and the account of credits reveal: name, row, first line of the finding.
DEFECTS = (
    ("high-water-unscaled", "--version 2 --depth 2 --ops put,put,get --peer-tx-credits 8", "sim/high-water"),
    ("last-credit-spent", f"--version 1 --depth 3 --ops {IMMEDIATES}/{IMMEDIATES} --at-once", "judge/credits/last"),
    ("noop-uncounted", "--version 1 --depth 3 --ops put,put,get", "sim/credits"),
    ("noops-pile-up", "--version 2 --depth 3 --ops immediate,immediate,immediate", "sim/noops-waiting"),
    ("reserved-lost", "--version 2 --depth 2 --ops put,put,get", "sim/reserved"),
)


def run(program, *arguments):
    return subprocess.run([program, "explore", *arguments], capture_output=True, text=True, timeout=TIMEOUT_S)


def search(program, row, device):
    """The output of one search, and its figures or None if it does not hold."""
    arguments = row.split() + (["--device"] if device else [])
    done = run(program, *arguments)
    lines = done.stdout.splitlines()
    found = LINE.search(lines[0]) if lines else None
    if done.returncode == 0 and found and found[8] == "all states, held":
        states, rest, total, edges, finished = int(found[1]), int(found[2]), found[3], int(found[4]), int(found[5])
        if states > 1 and edges >= states - 1 and finished > 0:
            return lines[0], {"states": states, "rest": rest, "sum": total, "edges": edges}
    return "\n".join([*lines, done.stderr, f"  again: {program} explore {' '.join(arguments)}"]), None


def check_row(program, row, searches, figures):
    """Check a row from its two searches, which may still run."""
    (words, merged), (free_words, free) = (search.result() for search in searches)
    print(words, free_words, sep="\n", flush=True)
    figures.append({"row": row, "merged": merged, "free": free})
    if merged is None or free is None:
        return False
    same = merged["states"] == merged["rest"] == free["rest"] and merged["sum"] == free["sum"]
    if same and free["states"] > merged["states"]:
        return True
    print(f"  the states at rest differ: {program} explore {row} [--device]")
    return False


def check_rows(program, rows, jobs, figures):
    with ThreadPoolExecutor(jobs) as pool:
        # Start the last rows first: they take longest.
        searches = {row: [pool.submit(search, program, row, device) for device in (False, True)] for row in reversed(rows)}
        return [check_row(program, row, searches[row], figures) for row in rows]


def check_sum(figures):
    states = sum(found[way]["states"] for found in figures for way in ("merged", "free") if found[way])
    print(f"{states:,} states in all, at least {FULL_STATES:,} are wanted")
    return states >= FULL_STATES


def check_defect(folder, name, row, signature):
    """The defect is found, the printed path reproduces it, and without the defect the row holds."""
    program = str(folder / "o2props-mutants")
    done = run(program, *row.split(), "--mutant", name)
    lines = done.stdout.splitlines()
    again = re.search(r"again: \S+ explore (.*) --path '(\w*)'", done.stdout)
    ok = done.returncode == 1 and len(lines) > 2 and lines[1] == signature and again is not None
    if ok:
        second = run(program, *again[1].split(), "--path", again[2])
        ok = second.returncode == 1 and signature in second.stdout
        ok = ok and run(program, *row.split()).returncode == 0
    print(f"defect {name}: {'found after ' + str(len(again[2])) + ' events' if ok else 'MISSED'}")
    if not ok:
        print(done.stdout, done.stderr, f"  again: {program} explore {row} --mutant {name}", sep="\n")
    return ok


def check_no_bytes(program):
    """A PUT or GET of 0 bytes is refused."""
    done = run(program, "--bytes", "0")
    ok = done.returncode == 2 and done.stderr.startswith("o2props: --bytes is '0', not a number of 1 to 4000 ")
    print(f"--bytes 0: {'refused' if ok else done.stdout + done.stderr}")
    return ok


def check_little_memory(program):
    """With more memory each time, from too little to be loaded on: it never stops without a word."""
    ended = []
    for mib in range(16, 1024, 2):
        done = subprocess.run([program, "explore", "--path", "s"], capture_output=True, text=True, timeout=TIMEOUT_S,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (mib << 20, mib << 20)))
        if ended or done.returncode in (0, 1):
            ended.append((mib, done.returncode, done.stdout[-200:] + done.stderr))
        if done.returncode == 0:
            break
    wrong = [end for end in ended if end[1] not in (0, 1) or not end[2]]
    ok = bool(ended) and not wrong and ended[-1][1] == 0 and any("explore: Cannot allocate memory" in text for _, _, text in ended)
    print(f"too little memory: {f'{len(ended) - 1} times said' if ok else wrong or ended}")
    return ok


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="the long rows as well")
    parser.add_argument("--few", action="store_true", help="the first rows only, for programs that are slow")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="searches at a time (default 1)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to FILE")
    parser.add_argument("folder", type=Path)
    options = parser.parse_args()
    program = str(options.folder / "o2props")
    rows = ROWS[:FEW] if options.few else ROWS + (FULL_ROWS if options.full else ())
    figures = []
    results = check_rows(program, rows, options.jobs, figures)
    if options.full:
        results.append(check_sum(figures))
    results += [check_defect(options.folder, *defect) for defect in DEFECTS]
    results.append(check_no_bytes(program))
    if not options.few:
        results.append(check_little_memory(program))
    if options.json:
        report = {"form": "o2ref/explore", "version": 1, "rows": figures,
                  "passed": sum(results), "failed": results.count(False)}
        options.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    print(f"{sum(results)} passed, {results.count(False)} failed")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
