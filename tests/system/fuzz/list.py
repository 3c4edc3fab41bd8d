#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Check that fuzz/targets.txt, the sources, the corpora and docs/fuzzing.md agree."""

import re
import sys
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "ci"))

from o2fuzz import targets  # noqa: E402

# Sources in fuzz/ that are no targets.
SHARED = {"common", "impl", "property", "replay_main", "bench_mutator", "empty", "wire_mutator", "wire_work",
          "wire_fields", "wire_mutator_libfuzzer", "wire_mutator_afl"}


def problems_of(target, documented):
    if not target.exists():
        yield f"fuzz/{target.name}.c does not exist"
    if target.dictionary and not target.dictionary.exists():
        yield f"{target.name}: no dictionary {target.dictionary}"
    if documented.get(target.name) != target.max_len:
        yield f"docs/fuzzing.md says max_len {documented.get(target.name)} for {target.name}, the list {target.max_len}"
    files = target.corpus_files()
    if not files:
        yield f"corpus/{target.name} has no file in seed/, found/ or regress/"
    for file in files:
        if file.stat().st_size > target.max_len:
            yield f"{targets.shown(file)} has {file.stat().st_size} bytes, max_len is {target.max_len}"


def main():
    known = targets.read_targets()
    rows = re.findall(r"^\| `(\w+)` \| ([0-9,]+) \|", (ROOT / "docs" / "fuzzing.md").read_text(), re.M)
    documented = {name: int(number.replace(",", "")) for name, number in rows}
    problems = [line for target in known.values() for line in problems_of(target, documented)]
    sources = {path.stem for path in (ROOT / "fuzz").glob("*.c")} - SHARED
    problems += [f"fuzz/{name}.c is not in fuzz/targets.txt" for name in sorted(sources - set(known))]
    problems += [f"docs/fuzzing.md names {name}, the list does not" for name in sorted(set(documented) - set(known))]
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"{len(known)} targets, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
