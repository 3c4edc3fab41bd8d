# SPDX-License-Identifier: MIT
"""Run many simulated operations under the sanitizers, twice from one seed: both runs must hold and have the same trace."""

from . import transfer
from .result import Row, derived_seed

PRESET = "clang-asan"
STEP = "simulation"
OPERATIONS_PER_S = 500  # lower bound of the rate, for the time limit
SAME = ("cases", "operations", "events", "trace", "situations")


def run_of(seed, operations, mutant="", first=0):
    broken = {"program": "o2props-mutants", "mutant": mutant} if mutant else {}
    return transfer.Run("model", derived_seed(seed, STEP), prop="sim", preset=PRESET, moved=operations, first=first,
                        timeout_s=120 + operations // OPERATIONS_PER_S, **broken)


def execute(children, failures, seed, operations, work, mutant="", first=0):
    run = run_of(seed, operations, mutant, first)
    if not run.program_path().is_file():
        return row_of(run, [], reason=f"preset {PRESET} was not built")
    return judge(failures, run, [transfer.execute(children, failures, run, work / number) for number in ("1", "2")])


def row_of(run, rows, **words):
    return Row("simulation", STEP, "two or three ends, ASan and UBSan", sum(row.seconds for row in rows),
               runs=[program for row in rows for program in row.runs], again=run.whole(run.device_words), **words)


def judge(failures, run, rows):
    """The row of the two runs together."""
    first, second = ({key: row.figures.get(key) for key in SAME} for row in rows)
    figures = {**rows[0].figures, "runs": len(rows), "same": first == second}
    row = row_of(run, rows, figures=figures, findings=next((each.findings for each in rows if each.findings), []),
                 reason=next((each.reason for each in rows if each.reason), ""))
    if not row.findings and first != second:
        lines = [f"{key}: first {first[key]}, then {second[key]}" for key in SAME if first[key] != second[key]]
        title = f"{run.title}: the second run from the same seed is another"
        row.findings.append(failures.keep(STEP, "another", title, run.whole("model"), lines))
    return row
