#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Check that the judge names misbehaviours and deliberate defects in soft-RoCE traffic, by the rules that docs/judge.md lists.

    ci/vm/run -- tests/device/heard_rxe.py [--all] [--seed S] [NAME]...

`o2props hostile` misbehaves to a victim in its own process, or to `o2ref serve` if real time must pass; the defects are those
of `o2props-mutants`, in properties over RDMA CM.  `o2ref judge --live` listens on the interface, independent of both.  Without
--all and NAMEs: one misbehaviour for each rule, chosen by the seed, and the defects of SAMPLE.  Last line "N passed, N failed".
The devices are those of tests/device/net_rxe.py.
"""

import argparse
import random
import re
import secrets
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

sys.dont_write_bytecode = True
import net_rxe  # noqa: E402
from judge_rxe import Judge  # noqa: E402
from net_rxe import DEVICE_A, DEVICE_B, PEER, ROOT, SECONDS, Server  # noqa: E402

PAGE = ROOT / "docs" / "judge.md"
DEVICES = f"{DEVICE_A},{DEVICE_B}"
NOT_HEARD = "none"
# {deliberate defect: property over RDMA CM, a few cases of which show it on the wire}.
DEFECTS = {
    "forget-last-fragment": "transfer", "length-by-entries": "transfer", "acked-put-credited": "endpoint",
    "advance-by-residue": "endpoint", "completion-padded": "endpoint", "outstanding-kept": "endpoint",
    "noop-credited": "endpoint", "grant-in-progress": "endpoint",
}
SAMPLE = ("forget-last-fragment", "length-by-entries", "acked-put-credited")
CASES, SEED = {"transfer": 60, "endpoint": 8}, {"transfer": 1, "endpoint": 6}
# Rules that need a real clock.  A victim's clock moves only by orders, so these misbehaviours are run against `o2ref serve`.
TIMED = {"transfer/unanswered", "credits/withheld"}
SERVE_TIMEOUT_S = 2
JUDGE_TIMEOUT_MS = 1500
PATIENCE_S = 10
# A victim in its own process may have ended the PUT before the second answer is sent; then it does not react.
MAY_BE_LATE = {"acks-twice": "transfer/unasked", "nak-after-ack": "transfer/unasked"}
CANNOT_TELL = ("silent-to-get",)  # `o2ref serve` takes no orders, so nothing makes it send that request


@dataclass
class Tried:
    name: str
    rules: set  # one of these rules must name it
    began_ns: int
    ended_ns: int
    status: int
    text: str

    def findings(self, heard):
        return [row for row in heard if self.began_ns <= row["time_ns"] <= self.ended_ns]


def rows(heading):
    """{name: the rules that name it}, from the first table under that heading."""
    section = PAGE.read_text(encoding="utf-8").split(f"\n## {heading}\n")[1].split("\n## ")[0]
    table = section[section.index("| Rule |"):].split("\n\n")[0]
    found = {}
    for rule, names in re.findall(r"^\| `?([^`|]+?)`? \| (.*) \|$", table, re.M):
        for name in re.findall(r"`(\S+?)`", names):
            found.setdefault(name, set()).add(rule)
    return found


def program(name):
    return Path(net_rxe.PROGRAM).with_name(name)


def run(name, rules, command):
    began = time.time_ns()
    done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=SECONDS, check=False)
    ended = time.time_ns()
    print(f"{name}: {(ended - began) / 1e9:.1f} s", flush=True)
    return Tried(name, rules, began, ended, done.returncode, done.stdout)


def lie(name, rules):
    return run(name, rules, (program("o2props"), "hostile", "--device", DEVICES, name))


def timed_lie(name, rules):
    return run(name, rules, (program("o2props"), "hostile", "--device", DEVICE_A, "--peer", PEER, "--portal", 60, "--match-bits",
                             "0x1234", "--patience", PATIENCE_S, name))


def defect(name, rules, prop):
    return run(name, rules, (program("o2props-mutants"), "run", prop, "--device", DEVICES,
                             *(("--connect", "cm") if prop == "transfer" else ()), "--mutant", name, "--only", "judge/", "--cases",
                             CASES[prop], "--seed", SEED[prop], "--findings", 1, "--shrink-calls", 0))


def sample(lies, seed):
    """One misbehaviour for each rule."""
    draw = random.Random(seed)
    by_rule = {}
    for name, rules in lies.items():
        for rule in rules if name not in CANNOT_TELL else ():
            by_rule.setdefault(rule, []).append(name)
    return {draw.choice(names) for names in by_rule.values()}


class Verdicts:
    def __init__(self):
        self.passed = self.failed = 0

    def check(self, name, named, problem):
        self.passed += not problem
        self.failed += bool(problem)
        print(f"{'FAIL' if problem else 'ok  '} {name}: {' '.join(sorted(named)) or '-'}{problem and ': ' + problem}", flush=True)

    def lies(self, tried, heard):
        """The judge names the misbehaving node by the expected rule, and finds nothing against the other side."""
        for one in tried:
            mine = one.findings(heard)
            named = {row["rule"] for row in mine if row["who"] != PEER}
            held = [row for row in mine if row["who"] == PEER and row["severity"] != "note"]
            problem = ""
            if one.status != 0:
                problem = f"status {one.status}\n{one.text}"
            elif held:
                problem = f"an honest side is named: {held}"
            elif one.rules != {NOT_HEARD} and not one.rules & named:
                problem = f"none of {sorted(one.rules)} names it"
            self.check(one.name, named, problem)

    def defects(self, tried, none, heard):
        """A rule names the defect, and the same cases without the defect do not break that rule."""
        for one in tried:
            named = {row["rule"] for row in one.findings(heard)} - {row["rule"] for row in none[DEFECTS[one.name]].findings(heard)}
            problem = "" if one.rules & named else f"none of {sorted(one.rules)} names it, status {one.status}\n{one.text}"
            self.check(one.name, named, problem)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--seed", type=lambda text: int(text, 0), default=secrets.randbits(32), metavar="S")
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args()
    lies, defects = rows("Misbehaviours"), rows("Deliberate defects")
    names = set(options.names) or ({*lies, *DEFECTS} if options.all else {*sample(lies, options.seed), *SAMPLE})
    for name in names - {*lies, *DEFECTS}:
        parser.error(f"there is no misbehaviour or defect '{name}'")
    for name, rule in MAY_BE_LATE.items():
        lies[name].add(rule)
    timed = [name for name in lies if name in names and lies[name] <= TIMED and name not in CANNOT_TELL]
    told = [name for name in lies if name in names and not lies[name] <= TIMED]
    built = [name for name in DEFECTS if name in names]
    print(f"seed {options.seed}")
    verdicts = Verdicts()
    with Judge() as judge:
        tried = [lie(name, lies[name]) for name in told]
        none = {prop: defect("none", set(), prop) for prop in sorted({DEFECTS[name] for name in built})}
        wrong = [defect(name, defects[name], DEFECTS[name]) for name in built]
        heard, report = judge.end()
    verdicts.lies(tried, heard)
    verdicts.defects(wrong, none, heard)
    print(report["seen"])
    with Judge("--timeout", JUDGE_TIMEOUT_MS) as judge, Server("--timeout", SERVE_TIMEOUT_S):
        tried = [timed_lie(name, lies[name]) for name in timed]
        heard, report = judge.end()
    verdicts.lies(tried, heard)
    print(report["seen"])
    print(f"{verdicts.passed} passed, {verdicts.failed} failed")
    return 1 if verdicts.failed or not verdicts.passed else 0


if __name__ == "__main__":
    sys.exit(main())
