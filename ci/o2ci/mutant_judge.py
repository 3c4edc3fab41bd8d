# SPDX-License-Identifier: MIT
"""Determine which deliberate defects the judge of the wire names, and by which rule (docs/judge.md, "Deliberate defects").

    ci/mutants --judge [--only NAME]... [--write] [--no-build]

Each mutant runs in the properties whose traffic the judge checks; only the judge's findings count.  A mutant that the judge
does not name must be listed in tests/judge/unheard.toml, with the reason; a listed mutant that the judge names fails.
"""

import argparse
import json
import os
import subprocess
import tempfile
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from . import place

PAGE = place.ROOT / "docs" / "judge.md"
UNHEARD = place.ROOT / "tests" / "judge" / "unheard.toml"
BEGIN, END = "<!-- table: ci/mutants --judge --write -->", "<!-- end of table -->"
# (property, cases, seed) of the judged properties.  A mutant listed as not named runs only FEW; all others run FEW, then MANY.
FEW = (("endpoint", 300, 1), ("sim", 1000, 1), ("transfer", 300, 1), ("nodes", 80, 1))
MANY = (("sim", 16000, 2), ("nodes", 800, 2), ("transfer", 1500, 2))
LONGEST_S = 90
KIND = "judge/"
PERCENT_NAMED = 95


@dataclass(frozen=True)
class Unheard:
    """The content of tests/judge/unheard.toml."""
    reasons: dict  # {name: (whether the defect shows on the wire, why it is not named)}
    noted: dict  # {name: the note that names it}; a note is checked only if asked for by name


def read_unheard(path=UNHEARD):
    with path.open("rb") as stream:
        content = tomllib.load(stream)
    reasons = {name: (group["on_the_wire"], group["reason"]) for group in content["group"] for name in group["mutants"]}
    noted = {name: group["rule"] for group in content["noted"] for name in group["mutants"]}
    count = sum(len(group["mutants"]) for kind in ("group", "noted") for group in content[kind])
    if count != len({**reasons, **noted}):
        raise ValueError(f"{path.name}: a defect stands there twice")
    return Unheard(reasons, noted)


def kinds_of(program, mutant, kind, prop, cases, seed):
    """The kinds of the findings of that kind; None if the program wrote no result, as after a crash."""
    with tempfile.TemporaryDirectory(prefix="o2ref-judge-") as folder:
        result = Path(folder) / "result.json"
        subprocess.run([program, "run", prop, "--mutant", mutant, "--only", kind, "--cases", str(cases), "--seed", str(seed),
                        "--seconds", str(LONGEST_S), "--findings", "1", "--shrink-calls", "0", "--json-file", result],
                       cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=3 * LONGEST_S, check=False)
        try:
            return [one["signature"] for one in json.loads(result.read_text(encoding="utf-8"))["findings"]]
        except (OSError, ValueError, KeyError):
            return None


def named_by(program, mutant, unheard):
    """(rule, property) by which the judge names the mutant, or None."""
    kind = KIND + unheard.noted.get(mutant, "")
    for prop, cases, seed in FEW if mutant in unheard.reasons else FEW + MANY:
        try:
            kinds = kinds_of(program, mutant, kind, prop, cases, seed) or []
        except subprocess.TimeoutExpired:
            kinds = []
        rules = [found.removeprefix(KIND) for found in kinds if found.startswith(KIND)]
        if rules:
            return rules[0], prop
    return None


def clean_is_silent(program, unheard):
    """Whether without a defect the judge finds nothing, including none of the notes that name defects."""
    kinds = {KIND, *(KIND + rule for rule in unheard.noted.values())}
    found = [(kind, prop) for kind in sorted(kinds) for prop, cases, seed in FEW + MANY
             if kinds_of(program, "none", kind, prop, cases, seed) != []]
    for kind, prop in found:
        print(f"FAIL without a defect: {kind} in {prop}, or no result")
    return not found


def table(named, unheard):
    rules = {}
    for name, (rule, _) in named.items():
        rules.setdefault(rule, []).append(name)
    lines = ["| Rule | Defects |", "|---|---|"]
    lines += [f"| `{rule}` | {' '.join(f'`{name}`' for name in names)} |" for rule, names in sorted(rules.items())]
    reasons = {}
    for name, (shows, reason) in unheard.items():
        reasons.setdefault((not shows, reason), []).append(name)
    lines += ["", "| Not named, because | Defects |", "|---|---|"]
    lines += [f"| {reason} | {' '.join(f'`{name}`' for name in names)} |" for (_, reason), names in sorted(reasons.items())]
    return "\n".join(lines)


def summary(named, unheard):
    shown = len(named) + sum(shows for shows, _ in unheard.values())
    return f"{len(named)} of the {shown} that show on the wire are named"


def write(named, unheard):
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n\n{summary(named, unheard)}.\n\n{table(named, unheard)}\n\n{END}{rest.split(END)[1]}",
                    encoding="utf-8")


def main(arguments, mutants, chosen, usable):
    """mutants: all of them; chosen: those of --only, by a function that refuses others; usable: makes the program, or ends."""
    parser = argparse.ArgumentParser(prog="ci/mutants --judge", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--judge", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="this mutant; may be repeated")
    parser.add_argument("--write", action="store_true", help="put the tables into docs/judge.md")
    parser.add_argument("--no-build", action="store_true")
    options = parser.parse_args(arguments)
    names = [mutant.name for mutant in chosen(mutants, options)]
    program = usable(options)
    unheard = read_unheard()
    unknown = sorted((set(unheard.reasons) | set(unheard.noted)) - {mutant.name for mutant in mutants})
    failed = len(unknown) + (not clean_is_silent(program, unheard))
    for name in unknown:
        print(f"FAIL there is no mutant {name}")
    named = {}
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        for name, by in zip(names, pool.map(lambda name: named_by(program, name, unheard), names)):
            if by is not None:
                named[name] = by
            wrong = (by is None) != (name in unheard.reasons)
            failed += wrong
            what = "-" if by is None else f"{by[0]} in {by[1]}"
            print(f"{'FAIL ' * wrong}{name}: {what}{'; tests/judge/unheard.toml says otherwise' * wrong}", flush=True)
    asked = {name: why for name, why in unheard.reasons.items() if name in names}
    print(summary(named, asked))
    if not options.only:
        failed += len(named) * 100 < PERCENT_NAMED * (len(named) + sum(shows for shows, _ in asked.values()))
    if options.write:
        write(named, unheard.reasons)
    print(f"{len(names) + 1 - min(failed, len(names))} passed, {failed} failed")
    return 1 if failed else 0
