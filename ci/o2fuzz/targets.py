# SPDX-License-Identifier: MIT
"""The list of fuzz targets, and the build of their programs."""

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from o2ci import compilers

ROOT = Path(__file__).resolve().parents[2]

# The target with a planted defect, which must fail (docs/fuzzing.md, "The canary").
CANARY = "canary"


@dataclass(frozen=True)
class Target:
    name: str
    max_len: int
    dictionary: Path | None
    mutator: str | None
    reason: str

    def exists(self):
        return (ROOT / "fuzz" / f"{self.name}.c").exists()

    def corpus_dirs(self):
        folders = [ROOT / "corpus" / self.name / kind for kind in ("seed", "found", "regress")]
        return [folder for folder in folders if folder.is_dir()]

    def corpus_files(self):
        files = [file for folder in self.corpus_dirs() for file in sorted(folder.rglob("*"))]
        return [file for file in files if file.is_file() and not file.name.startswith(".")]


def read_targets(path=ROOT / "fuzz" / "targets.txt"):
    """{name: target} of fuzz/targets.txt, in the order of the file."""
    targets = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        fields = [field.strip() for field in line.split("|")]
        if len(fields) != 6:
            raise ValueError(f"{path}:{number}: {len(fields)} fields, expected 6")
        name, max_len, dictionary, mutator, _libraries, reason = fields
        found = None if dictionary == "-" else ROOT / "fuzz" / dictionary
        targets[name] = Target(name, int(max_len), found, None if mutator == "-" else mutator, reason)
    return targets


def missing_programs(engine):
    """The programs that an engine needs and that are not installed, as text for the user."""
    lacks = compilers.missing(engine)
    return lacks + ["afl-fuzz (package afl++)"] if engine == "afl" and not shutil.which("afl-fuzz") else lacks


def build(preset, build_dir, log, cmake_target="fuzz_targets"):
    """Configure and build one preset into build_dir/preset; raises RuntimeError with the failure from the log."""
    folder = build_dir / preset
    environment = dict(os.environ, AFL_QUIET="1")
    commands = [
        ["cmake", "--preset", preset, "-B", str(folder)],
        ["cmake", "--build", str(folder), "--target", cmake_target],
    ]
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("w") as stream:
        for command in commands:
            done = subprocess.run(command, cwd=ROOT, env=environment, stdout=stream, stderr=subprocess.STDOUT)
            if done.returncode != 0:
                raise RuntimeError(f"{' '.join(command)} failed:\n{failure_in(log.read_text(errors='replace'))}")
    return folder


def failure_in(log):
    """The part of a build log that explains a failure: from the first failure on, else the end."""
    lines = log.splitlines()
    first = next((i for i, line in enumerate(lines) if line.startswith(("FAILED:", "CMake Error"))), -40)
    return "\n".join(lines[first:][:40])


def shown(path):
    """A path as a user in the repository's root would type it."""
    path = Path(path).resolve()
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)
