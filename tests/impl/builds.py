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

    def objects(self):
        """The object files of the correct implementation."""
        return [self.folder / (source.stem + ".o") for source in self.sources]

    def build(self, defect):
        """The shared object with this defect."""
        return self.build_with(defect.name, [(defect.file, defect.right, defect.wrong)])

    def build_with(self, name, changes):
        """The shared object with several changes. Each change names a file, the right text in it and the wrong text."""
        texts = {}
        for file, right, wrong in changes:
            text = texts.get(file) or (HERE / "c" / file).read_text(encoding="utf-8")
            if text.count(right) != 1:
                raise RuntimeError(f"{name}: {right!r} is {text.count(right)} times in {file}")
            texts[file] = text.replace(right, wrong)
        for file, text in texts.items():
            (self.folder / f"{name}-{file}").write_text(text, encoding="utf-8")
        objects = [self.folder / (source.stem + ".o") for source in self.sources if source.name not in texts]
        library = self.folder / f"{name}.so"
        # No warnings (-w), since a defect may leave code unused. No optimization (-O0), since the object is used once.
        run(*COMPILE, "-O0", "-g", "-w", f"-I{HERE / 'c'}", "-shared", *(self.folder / f"{name}-{file}" for file in texts), *objects,
            "-o", library)
        return library


def go(folder):
    """Build the program in Go. Returns None if there is no compiler."""
    if shutil.which("go") is None:
        return None
    program = folder / "second-go"
    run("go", "build", "-o", program, ".", cwd=HERE / "go",
        env=dict(os.environ, GOFLAGS="-mod=mod", GOCACHE=str(folder / "cache"), GOTOOLCHAIN="local", GO111MODULE="on"))
    return program
