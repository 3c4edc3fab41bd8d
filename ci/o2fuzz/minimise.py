# SPDX-License-Identifier: MIT
"""Reduce many inputs to a small set with the same coverage, by libFuzzer's -merge=1."""

import functools
import hashlib
import shutil
import subprocess
import tempfile
from pathlib import Path

from . import findings
from .engine import FAILING, MERGED

# The folders of a campaign's inputs, which hold one folder for each target; AFL++ has more in its own (o2fuzz/afl.py, SYNC).
KINDS = ("libfuzzer", "afl", MERGED, FAILING)


def alike(known, name):
    """The targets whose inputs have the same format as this one's, including itself: they use each other's inputs."""
    mutator = known[name].mutator
    return [other for other in known if other == name or (mutator and known[other].mutator == mutator)]


def inputs_in(corpora, names):
    """The folders below `corpora` that may hold inputs for targets of these names."""
    return [corpora / kind / name for kind in KINDS for name in names]


def minimal(target, binary, start, sources):
    """The contents of files in the folders `sources` that add coverage to the files `start`, the shortest first; and of files
    that fail: [(kind, content)].  libFuzzer leaves those out without a word."""
    with tempfile.TemporaryDirectory() as scratch:
        merged = Path(scratch) / "merged"
        failing = Path(scratch) / "failing"
        merged.mkdir()
        failing.mkdir()
        # -merge=1 adds the new inputs to the first folder.
        own = set()
        for number, file in enumerate(start):
            own.add(f"start-{number:06}")
            shutil.copyfile(file, merged / f"start-{number:06}")
        command = [binary, "-merge=1", f"-max_len={target.max_len}", f"-timeout={findings.REPLAY_TIMEOUT_S}",
                   f"-artifact_prefix={failing}/", merged, *(source for source in sources if source.is_dir())]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        new = sorted((file for file in merged.iterdir() if file.name not in own), key=lambda file: (file.stat().st_size, file.name))
        failed = {file.read_bytes(): findings.kind_of(file.name) for file in sorted(failing.iterdir())}
        return [file.read_bytes() for file in new], [(kind, content) for content, kind in failed.items()]


def store(folder, content):
    """Write an input to a folder of such, where its name is its SHA-1.  Returns its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / hashlib.sha1(content).hexdigest()
    path.write_bytes(content)
    return path


def replace(folder, contents):
    """Replace all files of a folder by these contents."""
    fresh = folder.with_name(folder.name + ".new")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    for content in contents:
        store(fresh, content)
    shutil.rmtree(folder, ignore_errors=True)
    fresh.rename(folder)


def keep_failing(failed, name, build_dir, folder, failures):
    """Write what failed to the folder.  Returns the findings, one for each summary, with their files in `failures`."""
    found = findings.Collection()
    for kind, content in failed:
        path = store(folder, content)
        report = findings.describe(path, name, build_dir)
        found.add(report, functools.partial(findings.keep, path, name, "libfuzzer", kind, report, build_dir, failures))
    return found.list()
