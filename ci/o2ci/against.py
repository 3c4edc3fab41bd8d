# SPDX-License-Identifier: MIT
"""Measure properties and fuzz targets of this tree and of an earlier commit alternately (ci/bench --against)."""
import json
import re
import statistics
import subprocess
import tempfile

from . import cpu
from .place import ROOT

SEED = 7
# Name: (cases of a round, goal).  A round takes some seconds, so that start-up hardly counts.  Goal: how many times faster the
# new tree is to be.
PROPERTIES = {"sim": (12000, 10), "nodes": (3000, 10), "hostile": (40000, 10)}
TARGETS = {"transfer": (10000, 5), "pcap": (20000, 5)}
EDGES = ("transfer", "sim", "nodes", "hostile", "pcap")
RXE_CASES, RXE_GOAL = 150, 5
RXE_ROUND_S = 300  # time limit, far more than a round takes
SIDES = ("old", "new")


class AgainstError(Exception):
    """A measurement is not possible; the text says why."""


class NoSuchCommit(Exception):
    """The commit to measure against does not exist."""


def check_out(commit):
    """Unpack the commit into build/against; returns the folder."""
    name = subprocess.run(["git", "rev-parse", "--verify", "--quiet", f"{commit}^{{commit}}"], cwd=ROOT, capture_output=True,
                          text=True, check=False).stdout.strip()
    if not name:
        raise NoSuchCommit(f"--against {commit}: no such commit")
    tree = ROOT / "build" / "against" / name[:12]
    if not tree.is_dir():
        tree.mkdir(parents=True)
        archive = subprocess.Popen(["git", "archive", name], cwd=ROOT, stdout=subprocess.PIPE)
        subprocess.run(["tar", "-x", "-C", tree], stdin=archive.stdout, check=True)
        if archive.wait() != 0:
            raise AgainstError(f"--against {commit}: git archive failed")
    return tree


def build(tree, preset, *targets):
    for step in (["cmake", "--preset", preset], ["cmake", "--build", "--preset", preset, "--target", *targets]):
        done = subprocess.run(step, cwd=tree, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise AgainstError(f"{tree}: {' '.join(step)}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")


def fuzz(trees, side, target, *bound):
    """Run a side's libFuzzer target; both sides get the old tree's corpus."""
    corpus = [folder for folder in (trees["old"] / "corpus" / target / kind for kind in ("seed", "found", "regress"))
              if folder.is_dir()]
    with tempfile.TemporaryDirectory(prefix="o2ref-against-") as scratch:
        return cpu.used([trees[side] / "build" / "libfuzzer" / f"fuzz_{target}", f"-seed={SEED}", "-max_len=4096",
                     "-detect_leaks=0", f"-artifact_prefix={scratch}/", *bound, scratch, *corpus], cwd=scratch)


def measure(rounds, run):
    """Run old and new alternately.  Returns {side: [(processor seconds, KiB)]}."""
    figures = {side: [] for side in SIDES}
    for _ in range(rounds):
        for side in SIDES:
            figures[side].append(run(side)[:2])
    return figures


def summary(name, figures, goal):
    """The report's entry of one measurement; ratios: how many times faster the new tree is, for each round."""
    ratios = [old[0] / new[0] for old, new in zip(figures["old"], figures["new"])]
    return {"name": name, "goal": goal, "ratio": round(statistics.median(ratios), 3), "ratios": [round(r, 3) for r in ratios],
            "seconds": {side: [round(value[0], 3) for value in figures[side]] for side in SIDES},
            "resident_kib": {side: max(value[1] for value in figures[side]) for side in SIDES}}


def print_row(row):
    old, new = (statistics.median(row["seconds"][side]) for side in SIDES)
    kib = row["resident_kib"]
    memory = "" if kib["old"] == 0 else f"   MiB {kib['old'] / 1024:.0f} -> {kib['new'] / 1024:.0f}"
    print(f"  {row['name']:18} {old:8.2f} {new:8.2f}   {row['ratio']:5.2f} {row['goal']:5}   "
          f"{' '.join(f'{ratio:.2f}' for ratio in row['ratios'])}{memory}", flush=True)


def reach(trees, side, target, seconds):
    """The edges that a target reaches in so many seconds, and whether a finding ended the run early (old trees may fail)."""
    try:
        said, found = fuzz(trees, side, target, f"-max_total_time={seconds}")[2], False
    except cpu.Failed as failed:
        said, found = failed.text, True
    counts = re.findall(r"\bcov: (\d+)", said)
    return int(counts[-1]) if counts else 0, found


def edges(trees, seconds):
    """The edges that each target reaches, old and new.  The two numbers count edges of different programs."""
    reached = {}
    for target in EDGES:
        figures = {side: reach(trees, side, target, seconds) for side in SIDES}
        reached[target] = {side: count for side, (count, _found) in figures.items()}
        early = [side for side, (_count, found) in figures.items() if found]
        note = f"   ended by what it found: {', '.join(early)}" if early else ""
        print(f"  {target:18} {reached[target]['old']:8} {reached[target]['new']:8}{note}", flush=True)
    return reached


def on_rxe(trees, rounds):
    """Measure property nodes on soft-RoCE in one guest, in elapsed time: waiting for the device counts there."""
    guest = subprocess.run(["ci/vm/run", "--timeout", str(RXE_ROUND_S * rounds), "--", "tests/bench/rxe_cases.py",
                            *(str(trees[side] / "build" / "gcc" / "o2props") for side in SIDES), str(rounds), str(RXE_CASES)],
                           cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    if guest.returncode != 0:
        raise AgainstError(f"the guest ends with status {guest.returncode}")
    seconds = json.loads(guest.stdout)
    return {side: [(value, 0) for value in seconds[side]] for side in SIDES}


def bench(commit, rounds, with_fuzz, with_rxe, edge_seconds):
    """Build and measure both trees, and print the figures.  Returns the entries for the report."""
    trees = {"old": check_out(commit), "new": ROOT}
    for tree in trees.values():
        build(tree, "gcc", "o2props", *(["o2props-verbs"] if with_rxe else []))
        if with_fuzz:
            build(tree, "libfuzzer", *(f"fuzz_{target}" for target in EDGES))
    print(f"\nthe same cases by {commit} and by this tree, in turn; seconds of processor, and how many times faster\n"
          f"  {'':18} {'old':>8} {'new':>8}   ratio  goal   all {rounds}", flush=True)
    rows = []

    def add(name, goal, figures):
        rows.append(summary(name, figures, goal))
        print_row(rows[-1])

    for name, (cases, goal) in PROPERTIES.items():
        add(name, goal, measure(rounds, lambda side: cpu.used([trees[side] / "build" / "gcc" / "o2props", "run", name, "--device", "loop",
                                                           "--cases", cases, "--seed", SEED])))
    for name, (runs, goal) in TARGETS.items() if with_fuzz else ():
        add(f"fuzz {name}", goal, measure(rounds, lambda side: fuzz(trees, side, name, f"-runs={runs}")))
    if with_rxe:
        add("nodes, soft-RoCE", RXE_GOAL, on_rxe(trees, rounds))
    result = {"commit": commit, "rows": rows}
    if with_fuzz and edge_seconds > 0:
        print(f"\nedges reached in {edge_seconds} s by libFuzzer", flush=True)
        result["edges"] = edges(trees, edge_seconds)
    return result

