# SPDX-License-Identifier: MIT
"""Build the implementations of tests/impl as their authors would: with a compiler and the public header alone."""

import os
import shutil
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
HEADER_ROOT = HERE.parents[1] / "ref" / "oracle" / "include"
COMPILE = ("cc", "-std=c11", "-O1", "-fPIC", "-Wall", "-Wextra", "-Werror", f"-I{HEADER_ROOT}")


def run(*command, **options):
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=300, check=False, **options)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: status {done.returncode}\n{done.stdout}")


class Broken:
    """Copies of tests/impl/c with one change each. Only the file that changes is compiled again."""

    def __init__(self, folder):
        self.folder = folder
        self.sources = sorted((HERE / "c").glob("*.c"))
        for source in self.sources:
            run(*COMPILE, "-c", source, "-o", folder / (source.stem + ".o"))

    def build(self, defect):
        """The shared object with this defect."""
        text = (HERE / "c" / defect.file).read_text(encoding="utf-8")
        if text.count(defect.right) != 1:
            raise RuntimeError(f"{defect.name}: {defect.right!r} is {text.count(defect.right)} times in {defect.file}")
        changed = self.folder / f"{defect.name}.c"
        changed.write_text(text.replace(defect.right, defect.wrong), encoding="utf-8")
        objects = [self.folder / (source.stem + ".o") for source in self.sources if source.name != defect.file]
        library = self.folder / f"{defect.name}.so"
        # What a defect leaves unused is no error.
        run(*COMPILE, "-w", f"-I{HERE / 'c'}", "-shared", changed, *objects, "-o", library)
        return library


def go(folder):
    """The program in Go; None where there is no compiler."""
    if shutil.which("go") is None:
        return None
    program = folder / "second-go"
    run("go", "build", "-o", program, ".", cwd=HERE / "go",
        env=dict(os.environ, GOFLAGS="-mod=mod", GOCACHE=str(folder / "cache"), GOTOOLCHAIN="local", GO111MODULE="on"))
    return program
