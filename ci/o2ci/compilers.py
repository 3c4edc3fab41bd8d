# SPDX-License-Identifier: MIT
"""Find the C compilers and LLVM tools of this machine.  All code finds them here, by what they can do and not by the version
number in their names.  CMake calls ci/compiler, which uses this module; scripts import it.

A kind is looked for in this order: the compiler that the environment names (O2REF_GCC, O2REF_CLANG, O2REF_AFL), $CC if it is of
that kind, then PATH.  If the environment names an unsuitable compiler for a kind, that is an error: no other one is tried.
"""

import functools
import json
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROBE_S = 60
# The version for which .clang-format was written: other versions format the same sources differently.
FORMAT_VERSION = 14
PACKAGE = {"gcc": "gcc", "clang": "clang, libclang-rt-dev", "afl": "afl++"}
VARIABLE = {"gcc": "O2REF_GCC", "clang": "O2REF_CLANG", "afl": "O2REF_AFL"}
PLAIN = "int main(void) { return 0; }\n"
TARGET = "#include <stddef.h>\n#include <stdint.h>\nint LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);\n" \
         "int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { return size > 9 && data[0] == 7; }\n"


class NotFound(Exception):
    """No suitable compiler of a kind was found; the text says why."""


def text_of(*command):
    """The output of a short command, or "" if it cannot be run."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PROBE_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""


@functools.cache
def version(program):
    """The version of a compiler or tool, such as (14, 0, 6); () if it prints none."""
    found = re.search(r"(?:version |\) |^)(\d+(?:\.\d+)+)", text_of(*shlex.split(program), "--version"), re.M)
    return tuple(map(int, found[1].split("."))) if found else ()


def builds(program, source, *flags):
    """Whether the compiler can compile and link this source."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "probe.c"
        file.write_text(source, encoding="ascii")
        try:
            done = subprocess.run([*shlex.split(program), *flags, "-o", f"{folder}/probe", str(file)], capture_output=True,
                                  timeout=PROBE_S, check=False, env={**os.environ, "AFL_QUIET": "1"})
        except (OSError, subprocess.TimeoutExpired):
            return False
    return done.returncode == 0


def macros(program):
    """The compiler's predefined macros, as text."""
    return text_of(*shlex.split(program), "-dM", "-E", "-x", "c", os.devnull)


def is_gcc(program):
    known = macros(program)
    return "__GNUC__" in known and "__clang__" not in known and builds(program, PLAIN)


def is_clang(program):
    """Whether it is a clang with libFuzzer and the sanitizers, which distributions package separately."""
    return "__clang__" in macros(program) and builds(program, TARGET, "-fsanitize=fuzzer,address,undefined")


def is_afl(program):
    """Whether it has the driver for libFuzzer's targets: afl-clang-fast has it, afl-gcc does not."""
    return Path(shlex.split(program)[0]).name.startswith("afl-") and builds(program, TARGET, "-fsanitize=fuzzer")


DOES = {"gcc": is_gcc, "clang": is_clang, "afl": is_afl}


def numbered(name):
    """The programs NAME-N of every N in PATH, and NAME itself; the newest first."""
    found = {}
    for folder in os.get_exec_path():
        for path in Path(folder).glob(f"{name}*") if folder else ():
            if re.fullmatch(rf"{name}(-\d+)?", path.name) and os.access(path, os.X_OK):
                found.setdefault(path.name, str(path))
    return sorted(found.values(), key=lambda path: (version(path), path), reverse=True)


def candidates(kind):
    if kind == "clang":
        return numbered("clang")
    # The plain name gcc is the distribution's default version, so it is tried first.
    names = ["gcc", "cc"] if kind == "gcc" else ["afl-clang-fast", "afl-cc"]
    return [path for path in map(shutil.which, names) if path] + (numbered("gcc") if kind == "gcc" else [])


@functools.cache
def find(kind):
    """The compiler of a kind, as the words of a command line; raises NotFound."""
    named = os.environ.get(VARIABLE[kind])
    if named:
        if not DOES[kind](named):
            raise NotFound(f"${VARIABLE[kind]} is '{named}', which is no {kind} that builds what o2ref needs")
        return named
    for program in (*filter(None, [os.environ.get("CC")]), *candidates(kind)):
        if DOES[kind](program):
            return program
    raise NotFound(f"no {kind} that builds what o2ref needs (packages {PACKAGE[kind]}; or name one in ${VARIABLE[kind]})")


def tool(name):
    """A program of LLVM of the same version as the clang found (llvm-cov, llvm-profdata, clang-tidy); None if not installed."""
    try:
        clang = find("clang")
    except NotFound:
        return None
    folder = Path(shutil.which(shlex.split(clang)[-1]) or clang).resolve().parent
    plain = shutil.which(name)
    return shutil.which(str(folder / name)) or shutil.which(f"{name}-{version(clang)[0]}") or (
        plain if plain and version(plain)[:1] == version(clang)[:1] else None)


def formatter():
    """The clang-format of FORMAT_VERSION, or None."""
    return next((path for path in numbered("clang-format") if version(path)[:1] == (FORMAT_VERSION,)), None)


@functools.cache
def kind_of(preset):
    """The kind of compiler that a preset of CMakePresets.json requires."""
    presets = json.loads((ROOT / "CMakePresets.json").read_text(encoding="utf-8"))["configurePresets"]
    return next(entry["cacheVariables"]["O2_COMPILER"] for entry in presets if entry["name"] == preset)


def missing(preset):
    """The programs that a preset needs and this machine lacks, as text for the user; [] if nothing is missing."""
    lacks = [f"{name} (package {package})" for name, package in (("cmake", "cmake"), ("ninja", "ninja-build"))
             if not shutil.which(name)]
    try:
        find(kind_of(preset))
    except NotFound as reason:
        lacks.append(str(reason))
    return lacks
