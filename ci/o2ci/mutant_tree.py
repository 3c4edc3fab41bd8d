# SPDX-License-Identifier: MIT
"""The copy of the project in which all drawn mutants are built at once, each behind a switch (docs/mutants.md)."""

import json
import os
import shlex
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import switches
import systematic

from .place import BUILD

PRESET = "gcc"
LEFT_OUT = {"build", "out", ".git", "__pycache__"}
AS_LINK = {"corpus", "docs"}  # linked, not copied: large and only read
HEADERS = "systematic"  # folder of all headers, mutated, for the library's own sources; tests use the original headers


class TreeError(Exception):
    """A step failed; the text says why."""


def files_of(root):
    """The files to copy, relative to the root; linked folders are left out."""
    for folder, folders, files in os.walk(root):
        at = Path(folder).relative_to(root)
        folders[:] = [name for name in folders if name not in LEFT_OUT and not (at == Path() and name in AS_LINK)]
        yield from (at / name for name in files)


def lay(root, tree):
    """Copy the project.  An unchanged file keeps its modification time, so that it is not built again."""
    wanted = {file for file in files_of(root) if (root / file).is_file()}
    for file in wanted - {Path("ref/CMakeLists.txt")}:
        if file.parts[0] != "ref" or file.suffix not in (".c", ".h"):
            put(tree / file, (root / file).read_bytes())
            shutil.copymode(root / file, tree / file)
    for name in AS_LINK:
        if (root / name).is_dir() and not (tree / name).exists():
            (tree / name).symlink_to(root / name)
    # Remove files from the copy that no longer exist in the project, so that they are not built.
    for file in list(files_of(tree)):
        made = file.parts[0] in (HEADERS, "build") or str(file) == systematic.HEADER
        if file not in wanted and file.suffix in (".c", ".h", ".toml") and not made:
            (tree / file).unlink()
    put(tree / systematic.HEADER, (systematic.ROOT / systematic.HEADER).read_bytes())
    lines = ["add_compile_options(-w)", f"include_directories(BEFORE ${{PROJECT_SOURCE_DIR}}/{HEADERS})"]
    text = (root / "ref" / "CMakeLists.txt").read_text(encoding="utf-8")
    put(tree / "ref" / "CMakeLists.txt", ("\n".join(lines) + "\n" + text).encode())


def put(path, content):
    if path.is_file() and path.read_bytes() == content:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def place_of_copy(tree, file):
    return tree / HEADERS / Path(file).relative_to("ref") if file.endswith(".h") else tree / file


def write_sources(root, tree, mutants):
    """Write all of ref/ into the copy, with its mutants behind switches.  mutants: {number: place}."""
    of_file, written = {}, set()
    for number, place in mutants.items():
        of_file.setdefault(place.file, []).append((number, place))
    for path in sorted((root / "ref").rglob("*.[ch]")):
        file = str(path.relative_to(root))
        text = path.read_text(encoding="utf-8")
        if file.endswith(".h"):
            put(tree / file, text.encode())
        # A header without mutants has its place there too: one that came later would not be known to what was built.
        copy = place_of_copy(tree, file)
        put(copy, (systematic.copy_of(file, text, of_file[file]) if file in of_file else text).encode())
        written.add(copy)
    for path in (tree / HEADERS).rglob("*.h"):
        if path not in written:
            path.unlink()


def run(command, cwd, what):
    done = subprocess.run(list(map(str, command)), cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", check=False)
    if done.returncode != 0:
        raise TreeError(f"{what}: {shlex.join(map(str, command))}\n{done.stdout[-4000:]}")
    return done.stdout


def configure(tree):
    run(["cmake", "--preset", PRESET], tree, "cannot configure")


def build(tree, targets, jobs):
    run(["cmake", "--build", tree / "build" / PRESET, "-j", jobs, "--target", *targets], tree, "cannot build")


def bring(root, tree, programs, jobs):
    """Build programs with deliberate defects from the project itself and copy them into the tree; some tests run them."""
    folder = BUILD / PRESET
    run(["cmake", "--preset", PRESET, "-B", folder], root, "cannot configure")
    run(["cmake", "--build", folder, "-j", jobs, "--target", *programs], root, "cannot build")
    for name in programs:
        shutil.copy2(folder / name, tree / "build" / PRESET / name)


class Compiler:
    """Checks whether a source with one mutant in it compiles."""

    def __init__(self, root, tree):
        self.root, self.tree = root, tree
        entries = json.loads((tree / "build" / PRESET / "compile_commands.json").read_text(encoding="utf-8"))
        self.commands = {}
        for entry in entries:
            words = shlex.split(entry["command"])
            words = words[1:] if Path(words[0]).name == "ccache" else words
            cut = words.index("-o")
            self.commands[os.path.relpath(entry["file"], tree)] = (words[:cut], entry["directory"])

    def message(self, place):
        """The compiler's first error for the mutant, or ""."""
        text = systematic.copy_of(place.file, (self.root / place.file).read_text(encoding="utf-8"), [(1, place)])
        known = self.commands.get(place.file)
        if known is None and place.file.endswith(".h"):  # compile a header as if a source of ref/ included it
            known = next(one for file, one in self.commands.items() if file.startswith("ref/"))
        if known is None:
            return "nothing compiles this file"
        words, folder = known
        words = [*words, "-I", self.tree / Path(place.file).parent, "-w", "-fsyntax-only", "-x", "c", "-"]
        done = subprocess.run(list(map(str, words)), cwd=folder, input=text, capture_output=True, text=True, check=False)
        errors = [line for line in done.stderr.splitlines() if "error:" in line]
        return "" if done.returncode == 0 else (errors or done.stderr.splitlines() or ["?"])[0]


def nests(places):
    """Whether these mutants of one file can be in one copy: none may overlap another partly."""
    try:
        numbered = [switches.Switch(one.start, one.end, switches.table.Mutant(one.operator, "", "", "", "", ""),
                                    switches.table.Place("", "", "", "", one.is_statement)) for one in places]
        switches.nest(numbered)
    except switches.TextError:
        return False
    return True


def choose(drawn, compiler, jobs, say):
    """For each folder, take as many mutants that compile as were asked for, in the order of the draw.  Returns their places."""
    chosen = []
    for folder, (count, order) in drawn.items():
        taken, rest = [], list(order)
        while len(taken) < count and rest:
            batch, rest = rest[:count - len(taken)], rest[count - len(taken):]
            with ThreadPoolExecutor(max_workers=jobs) as pool:
                messages = list(pool.map(compiler.message, batch))
            for place, message in zip(batch, messages):
                if not message and not nests([one for one in taken if one.file == place.file] + [place]):
                    message = "cuts through another"
                if message:
                    say(f"dropped {systematic.id_of(place)} {place.file}:{place.line}: {place.operator}: {message}")
                else:
                    taken.append(place)
        if len(taken) < count:
            say(f"ref/{folder}: {len(taken)} of {count} mutants, there are no more")
        chosen += taken
    return chosen
