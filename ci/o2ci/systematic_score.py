# SPDX-License-Identifier: MIT
"""ci/mutants --systematic: draw mutants at random and find out whether properties or tests detect them (docs/mutants.md)."""

import argparse
import json
import os
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import systematic
from operators import CLASSES

from . import mutant_runs, mutant_tree, output
from .mutant_runs import PROPERTY, TEST
from .place import BUILD, ROOT

KILLED = {PROPERTY: "killed by a property", TEST: "killed by a test"}
SURVIVED, NOT_REACHED, EQUIVALENT = "survived", "not reached", "equivalent"
HEAD = ("folder", "drawn", "equivalent", "by properties", "by tests", "survivors", "killed", "by properties alone")


@dataclass
class Result:
    number: int
    place: systematic.table.Place
    how: str  # PROPERTY, TEST, SURVIVED, NOT_REACHED or EQUIVALENT
    by: str = ""  # the run that detected it, and how; for a survivor the runs that reached it
    seconds: float = 0.0
    judgement: systematic.Judgement | None = None

    @property
    def survives(self):
        return self.how in (SURVIVED, NOT_REACHED)

    @property
    def fails(self):
        """Whether this is a failure: a survivor without a judgement, or a detected mutant that was judged equivalent."""
        noticed = self.how in (PROPERTY, TEST) and self.judgement and self.judgement.verdict == EQUIVALENT
        return bool(noticed) or self.survives and self.judgement is None


class Score:
    """Runs all programs and records for each mutant what detects it."""

    def __init__(self, runs, jobs, say=print):
        self.runs, self.jobs, self.say = runs, jobs, say
        self.lock = threading.Lock()
        self.failed = 0  # number of runs that failed without a mutant

    def clean(self, kind):
        """Execute every run without a mutant: records which mutants it reaches, and drops runs that fail or take too long."""
        runs = [run for run in self.runs if run.kind == kind]
        with ThreadPoolExecutor(max_workers=self.jobs) as pool:
            outcomes = list(pool.map(lambda run: mutant_runs.execute(run, 0), runs))
        failed = self.failed
        for run, outcome in zip(runs, outcomes):
            run.seconds, run.reached = outcome.seconds, outcome.reached
            if outcome.held and outcome.seconds <= mutant_runs.LONGEST_S:
                continue
            self.runs.remove(run)
            if outcome.held or outcome.status == mutant_runs.CANNOT_RUN:
                self.say(f"left out: {run.name}: {outcome.words}, {outcome.seconds:.0f} s")
            else:
                self.failed += 1
                self.say(f"FAIL without a mutant: {run.name}: {outcome.words}\n{outcome.tail}")
        whole = sum(run.seconds for run in runs)
        self.say(f"without a mutant: {len(runs)} runs of kind {kind}, {whole:.0f} s one after the other, "
                 f"{self.failed - failed} failed")

    def reaching(self, kind, number):
        """The runs that reach the mutant, fastest first."""
        return sorted((run for run in self.runs if run.kind == kind and run.reached[number]), key=lambda run: run.seconds)

    def judge(self, result, kind):
        """Try one mutant with all runs of a kind that reach it, until one detects it."""
        started = time.monotonic()
        for run in self.reaching(kind, result.number):
            outcome = mutant_runs.execute(run, result.number, run.seconds)
            if not outcome.held and kind == TEST and not mutant_runs.execute(run, 0, run.seconds).held:
                self.unsteady(run)
            elif not outcome.held:
                result.how, result.by = kind, f"{run.name} ({outcome.words})"
                break
            result.how = SURVIVED
        result.seconds += time.monotonic() - started
        if result.how == SURVIVED and kind == TEST:
            result.by = ", ".join(run.name for one in (PROPERTY, TEST) for run in self.reaching(one, result.number))

    def unsteady(self, run):
        """Drop a run that now fails without a mutant, under its limits or beside other runs: its failures prove nothing."""
        with self.lock:
            self.failed += run in self.runs
            self.say(f"FAIL without a mutant, later: {run.name}")
            self.runs = [one for one in self.runs if one is not run]

    def all_by(self, results, kind):
        """Try all mutants that nothing has detected yet."""
        waiting = [result for result in results if result.survives]
        done = 0

        def one(result):
            nonlocal done
            self.judge(result, kind)
            with self.lock:
                done += 1
                self.say(f"[{kind} {done}/{len(waiting)}] {KILLED.get(result.how, result.how)}"
                         f"{': ' + result.by if result.how == kind else ''}, {result.seconds:.1f} s: {line_of(result)}")

        with ThreadPoolExecutor(max_workers=self.jobs) as pool:
            list(pool.map(one, waiting))


# --- what is printed --------------------------------------------------------------------------------------------------

def line_of(result):
    place = result.place
    return f"{systematic.id_of(place)} {place.file}:{place.line} {place.function}: {place.operator}: {short(place.text)}"


def short(text, most=90):
    return text if len(text) <= most else text[:most - 4] + " ..."


def share(part, whole):
    return f"{100 * part / whole:.0f} %" if whole else "-"


def row(name, results):
    count = {how: sum(result.how == how for result in results) for how in (EQUIVALENT, PROPERTY, TEST)}
    rest = len(results) - count[EQUIVALENT]
    survivors = sum(result.survives for result in results)
    return (name, len(results), count[EQUIVALENT], count[PROPERTY], count[TEST], survivors,
            share(rest - survivors, rest), share(count[PROPERTY], rest))


def table(results):
    folders = sorted({systematic.folder_of(result.place.file) for result in results})
    lines = [HEAD]
    lines += [row(f"ref/{name}", [one for one in results if systematic.folder_of(one.place.file) == name])
              for name in folders]
    lines += [row(name, [one for one in results if one.place.kind == name]) for name in CLASSES]
    lines.append(row("all", results))
    widths = [max(len(str(line[i])) for line in lines) for i in range(len(HEAD))]
    return "\n".join("  ".join(str(cell).ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines)


def survivor_text(result):
    place = result.place
    reached = f"reached by {short(result.by, 200)}" if result.how == SURVIVED else "not reached"
    judged = f"\n    {result.judgement.verdict}: {result.judgement.reason}" if result.judgement else ""
    return (f"{line_of(result)}\n    was: {place.text}\n    is:  {place.broken or '(nothing)'}\n    {reached}{judged}")


def report(results, options):
    survivors = [result for result in results if result.survives]
    print("\nProperties: what o2props runs, checks of implementations, the corpora of the fuzz targets. Tests: ctest.")
    print(table(results))
    for title, some in (("Survivors", [one for one in survivors if not one.judgement]),
                        ("Survivors that were judged", [one for one in survivors if one.judgement]),
                        ("Judged equivalent, and noticed", [one for one in results if one.fails and not one.survives])):
        if some:
            print(f"\n{title}:")
            print("\n".join(survivor_text(one) for one in some))
    if options.json:
        content = {"form": "o2ref/systematic_mutants", "version": 1, "seed": options.seed,
                   "mutants": [entry(result) for result in results]}
        output.write_text("ci/mutants", options.json, json.dumps(content, indent=1) + "\n")


def entry(result):
    place = result.place
    return {"id": systematic.id_of(place), "file": place.file, "line": place.line, "function": place.function,
            "operator": place.operator, "class": place.kind, "text": place.text, "occurrence": place.occurrence,
            "broken": place.broken, "how": result.how, "by": result.by, "seconds": round(result.seconds, 2),
            "judged": result.judgement.verdict if result.judgement else ""}


# --- the command ------------------------------------------------------------------------------------------------------

def parse(arguments):
    parser = argparse.ArgumentParser(prog="ci/mutants", description=__doc__)
    parser.add_argument("--systematic", type=int, nargs="?", metavar="N", const=60, default=0,
                        help="number of mutants to draw (default %(const)s)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the draw (default %(default)s)")
    parser.add_argument("--under", action="append", default=[], metavar="FOLDER",
                        help="draw only from this folder of ref/ (wire, lnd/conn, ...); may be repeated")
    parser.add_argument("--only", action="append", default=[], metavar="ID", help="run only this mutant; may be repeated")
    parser.add_argument("--properties", action="store_true", help="run only properties, no unit tests")
    parser.add_argument("--judged", action="store_true", help="also run mutants that were judged equivalent")
    parser.add_argument("--check-list", action="store_true", help="only check that all judged mutants still exist in ref/")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="runs at a time (default: one for each processor)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the result of each mutant to FILE")
    return parser.parse_args(arguments)


def drawn_of(options, places):
    """{folder: (number of mutants, places in the order of the draw)}."""
    if not options.only:
        return systematic.draw(places, options.systematic, options.seed, options.under)
    found = [place for of_file in places.values() for place in of_file if systematic.id_of(place) in options.only]
    missing = set(options.only) - {systematic.id_of(place) for place in found}
    if missing:
        raise systematic.DrawError(f"no mutant {', '.join(sorted(missing))} in ref/")
    return {"": (len(found), found)}


def check_list(judged, places):
    old = systematic.stale(judged, places)
    for one in old:
        print(f"FAIL no such place in ref/ any more: {one.text}")
    print(f"{len(judged) - len(old)} passed, {len(old)} failed")
    return 1 if old else 0


def project_runs(programs, options):
    corpus = programs.parents[1] / "corpus"
    runs = (mutant_runs.property_runs(programs, corpus) + mutant_runs.misdeed_runs(programs)
            + mutant_runs.corpus_runs(programs, corpus))
    return runs if options.properties else runs + mutant_runs.test_runs(programs)


def score(mutants, runs, judged, options):
    """(results of all mutants, number of runs that fail without a mutant).  mutants: {number: place}."""
    results = [Result(number, place, NOT_REACHED, judgement=judged.get(place.key)) for number, place in mutants.items()]
    for result in results:
        if result.judgement and result.judgement.verdict == EQUIVALENT and not options.judged:
            result.how = EQUIVALENT
    one = Score(runs, options.jobs, lambda text: print(text, flush=True))
    for kind in (PROPERTY, TEST):
        if any(result.survives for result in results):  # else its runs have nothing to show
            one.clean(kind)
            one.all_by(results, kind)
    return results, one.failed


def main(arguments):
    options = parse(arguments)
    output.will_write("ci/mutants", options.json)
    try:
        judged, places = systematic.read_judged(), systematic.all_places(ROOT)
        if options.check_list:
            return check_list(judged, places)
        drawn = drawn_of(options, places)
        tree = BUILD / "systematic"
        programs = tree / "build" / mutant_tree.PRESET
        mutant_tree.lay(ROOT, tree)
        mutant_tree.write_sources(ROOT, tree, {})
        mutant_tree.configure(tree)
        chosen = mutant_tree.choose(drawn, mutant_tree.Compiler(ROOT, tree), options.jobs, print)
        mutants = dict(enumerate(chosen, 1))
        mutant_tree.write_sources(ROOT, tree, mutants)
        runs = project_runs(programs, options)
        started = time.monotonic()
        mutant_tree.build(tree, mutant_runs.targets_of(programs, runs), options.jobs)
        if not options.properties:
            mutant_tree.bring(ROOT, tree, mutant_runs.WITH_DEFECTS, options.jobs)
        print(f"{len(mutants)} mutants of seed {options.seed}, built in {time.monotonic() - started:.0f} s", flush=True)
        results, failed = score(mutants, runs, judged, options)
    except systematic.DrawError as error:
        print(f"ci/mutants: {error}", file=sys.stderr)
        return 2
    except (mutant_tree.TreeError, systematic.table.TableError, systematic.switches.TextError) as error:
        print(f"ci/mutants: {error}")
        return 1
    report(results, options)
    failed += sum(result.fails for result in results)
    print(f"{len(results) - sum(result.fails for result in results)} passed, {failed} failed")
    return 1 if failed else 0
