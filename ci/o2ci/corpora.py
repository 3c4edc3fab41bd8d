# SPDX-License-Identifier: MIT
"""Minimise the corpora of the shards' fuzz engines, to one small set for each target."""

import shutil
import subprocess
import sys
import time

from . import cause, place
from .result import Finding, Row

sys.path.insert(0, str(place.ROOT / "ci"))
from o2fuzz import minimise, targets  # noqa: E402
from o2fuzz.afl import SYNC  # noqa: E402
from o2fuzz.engine import FAILING, MERGED  # noqa: E402


def sources_of(folder, names):
    """The folders of inputs for targets of these names.  AFL++'s queues in SYNC may be of shards that have not ended."""
    return minimise.inputs_in(folder, names) + [
        queue for name in names for queue in sorted((folder / SYNC / name).glob("*/queue"))]


def finding_of(found):
    """The report's finding, from one of o2fuzz."""
    file = place.ROOT / found.file
    lines, why = cause.of_input(file, found.target, found.summary)
    title = f"{found.kind} in {found.target} on an input of the corpora: {found.summary}"
    return Finding("corpora", title, found.replay, lines, [place.shown(file)] + [place.shown(file) + ".txt"] * bool(lines), why, file.stat().st_size)


def execute(folders, into, failures, say):
    """Minimise the inputs in the folders into into/merged/TARGET.  Returns the report's row, or None if there are no inputs.
    An input that fails is a finding: an engine without sanitizers keeps those that only they see."""
    known = targets.read_targets()
    started = time.monotonic()
    row = Row("harness", "corpora", "corpora, minimised")
    before = after = 0
    for name, target in known.items():
        sources = [source for folder in folders for source in sources_of(folder, minimise.alike(known, name))
                   if source.is_dir() and any(source.iterdir())]
        if name == targets.CANARY or not sources:
            continue
        program = place.program(f"fuzz_{name}", "libfuzzer")
        if not program.is_file():
            row.reason = f"no {place.shown(program)}: build it with cmake --build --preset libfuzzer --target fuzz_targets"
            return row
        count = sum(path.is_file() for source in sources for path in source.iterdir())
        try:
            contents, failed = minimise.minimal(target, program, target.corpus_files(), sources)
        except subprocess.CalledProcessError as problem:
            again = " ".join(map(str, [place.shown(program), "-merge=1", "/tmp/merged", *sources]))
            row.findings.append(Finding("corpora", f"{name}: -merge=1 ended with status {problem.returncode}", again))
            continue
        bad = minimise.keep_failing(failed, name, place.BUILD, into / FAILING / name, failures)
        row.findings += map(finding_of, bad)
        minimise.replace(into / MERGED / name, contents)
        before, after = before + count, after + len(contents)
        say(f"corpus {name}: {count} inputs, {len(contents)} of them add to the committed ones")
    row.seconds = time.monotonic() - started
    row.figures = {"what": f"{before:,} inputs, {after:,} kept"}
    return row if before or row.findings else None


def clear(folder):
    """Delete the engines' own folders, once all their inputs have been minimised into MERGED."""
    for kind in {*minimise.KINDS, SYNC} - {MERGED}:
        shutil.rmtree(folder / kind, ignore_errors=True)
