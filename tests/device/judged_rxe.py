#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Check that the judge at each end names deliberate defects in properties on soft-RoCE, by the rules that docs/judge.md lists.

    ci/vm/run -- tests/device/judged_rxe.py [NAME]...

The defects are those of `o2props-mutants`.  The judge does not listen on the interface: it gets what an end sends and receives,
also if the end has its own process.  The same cases without a defect break no rule.  Last line "N passed, N failed".  Devices:
those of tests/device/net_rxe.py.
"""

import re
import subprocess
import sys
from typing import NamedTuple

sys.dont_write_bytecode = True
from heard_rxe import DEVICES, PAGE, program, rows  # noqa: E402

LONGEST_S = 180  # who is not named may wait for what never comes; a busy host has needed 26 s for what is named
NO_END = f"no end within {LONGEST_S} s"
FOUND = re.compile(r"^FINDING \w+ on \S+: judge/(\S+) ", re.M)
COUNTED = re.compile(r"^  counted by rx[ab] since the run began: .*\bsent_pkts \d+", re.M)


class Cases(NamedTuple):
    prop: str
    first: int
    count: int
    connect: str = ""
    seed: int = 1


NODES, ENDPOINTS = Cases("nodes", 0, 24), Cases("endpoint", 158, 1, seed=2)
# Some memory, a key that is not there yet, and running out of credits in version 1, are rare; these cases have them.
GAPS, PIECES = Cases("nodes", 689, 1, seed=2), Cases("nodes", 1, 1, seed=2)
DENSE, ENTRIES = Cases("nodes", 18, 1), Cases("nodes", 569, 1, seed=3)
LAST_CREDIT, PUBLISHED = Cases("nodes", 39, 1), Cases("nodes", 111, 1)
# Defects that nearly every case shows are also tried with the ends in their own processes.
PROCESSES, MANAGER = Cases("transfer", 0, 20, "processes"), Cases("transfer", 0, 20, "cm")
WHERE = {
    NODES: ("fragments-by-page-size", "outstanding-kept", "acked-put-credited", "noop-credited", "grant-in-progress", "noop-unsummed",
            "completion-padded", "length-by-entries", "map-other-way", "count-in-units", "no-sync-for-device", "no-sync-for-cpu",
            "gather-unchecksummed", "forget-last-fragment", "open-work-request", "ack-cookies-swapped", "cookie-in-order",
            "advance-by-residue"),
    GAPS: ("fmr-collapse-gapped", "fmr-page-order"),
    PIECES: ("global-first-page", "swap-fragments"),
    DENSE: ("fastreg-dense-gapped",),
    ENTRIES: ("gaps-entry-order",),
    LAST_CREDIT: ("last-credit-spent", "version-1-forgotten"),
    PUBLISHED: ("published-unchecked",),
    ENDPOINTS: ("ack-of-all",),
    PROCESSES: ("completion-padded", "forget-last-fragment"),
    MANAGER: ("completion-padded", "forget-last-fragment"),
}


def named(cases, defect, kind):
    """(the rule of the first finding of that kind, None or NO_END; the output)."""
    words = ("run", cases.prop, "--device", DEVICES, *(("--connect", cases.connect) if cases.connect else ()), "--mutant", defect,
             "--only", f"judge/{kind}", "--first", cases.first, "--cases", cases.count, "--seed", cases.seed, "--findings", 1,
             "--shrink-calls", 0)
    try:
        done = subprocess.run([program("o2props-mutants"), *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, timeout=LONGEST_S, check=False)
    except subprocess.TimeoutExpired as expired:
        return NO_END, (expired.stdout or b"").decode()
    rule = FOUND.search(done.stdout)
    return rule and rule[1], done.stdout


def trials(chosen):
    """(cases, defect, the rule that names it, the kind to ask for); a note must be asked for by name."""
    rules = rows("Deliberate defects")
    notes = set(re.findall(r"^\| `([^`]+)` \| note \|", PAGE.read_text(encoding="utf-8"), re.M))
    for cases, defects in WHERE.items():
        some = [one for one in defects if not chosen or one in chosen]
        for kind in sorted({"".join(rules[one] & notes) for one in some}):
            yield cases, "none", None, kind
        for one in some:
            rule, = rules[one]
            yield cases, one, rule, rule


def main():
    passed = failed = 0
    for cases, defect, rule, kind in trials(set(sys.argv[1:])):
        found, said = named(cases, defect, kind)
        # The device's timing differs from run to run: a second run of the same cases, or more cases, may show the defect.
        for more in (cases, cases, cases._replace(first=cases.first + cases.count, count=3 * cases.count)):
            if found in (None, NO_END) and defect != "none":
                found, said = named(more, defect, kind)
        right = found == rule and (found in (None, NO_END) or COUNTED.search(said) is not None)
        passed, failed = passed + right, failed + (not right)
        where = " ".join(filter(None, (cases.prop, cases.connect)))
        print(f"{'ok  ' if right else 'FAIL'} {defect} in {where}: {found or '-'}{'' if right else chr(10) + said}", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
