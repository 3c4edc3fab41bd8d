# SPDX-License-Identifier: MIT
"""Folders and programs of this tree, and the versions of what is installed."""

import os
import shutil
import subprocess
from pathlib import Path

from . import compilers

ROOT = Path(__file__).resolve().parents[2]
# Has one folder per preset.  The environment variable O2REF_BUILD selects another build folder.
BUILD = Path(os.environ.get("O2REF_BUILD") or ROOT / "build").resolve()

PACKAGES = ("afl++", "cmake", "libibverbs1", "qemu-system-x86")


def program(name, preset="gcc"):
    return BUILD / preset / name


def shown(path):
    """A path as a user in the repository's root would type it."""
    path = Path(os.path.abspath(path))
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)


def output_of(*command):
    """The standard output of a short command, or "" if it fails."""
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""


def commit():
    """The commit that is checked out, with "+changes" where the files differ from it."""
    name = output_of("git", "rev-parse", "--short=12", "HEAD").strip()
    if not name:
        return "unknown"
    return name + ("+changes" if output_of("git", "status", "--porcelain").strip() else "")


def versions():
    """The versions that a report names: our commit, the kernel, and the Debian packages that build and run the tests."""
    found = {"o2ref": commit(), "host kernel": os.uname().release}
    for kind in ("gcc", "clang"):
        try:
            found[kind] = ".".join(map(str, compilers.version(compilers.find(kind))))
        except compilers.NotFound:
            pass
    if shutil.which("dpkg-query"):
        for name in PACKAGES:
            version = output_of("dpkg-query", "-W", "-f", "${Version}", name)
            if version:
                found[name] = version
    return found
