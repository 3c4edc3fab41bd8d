# SPDX-License-Identifier: MIT
"""Reduce many inputs to a small set with the same coverage, by libFuzzer's -merge=1."""

import shutil
import subprocess
import tempfile
from pathlib import Path


def alike(known, name):
    """The targets whose inputs have the same format as this one's, including itself: they use each other's inputs."""
    mutator = known[name].mutator
    return [other for other in known if other == name or (mutator and known[other].mutator == mutator)]


def minimal(target, binary, start, sources):
    """The contents of files in the folders `sources` that add coverage to the files `start`, the shortest first."""
    with tempfile.TemporaryDirectory() as scratch:
        merged = Path(scratch) / "merged"
        merged.mkdir()
        # -merge=1 adds the new inputs to the first folder.
        own = set()
        for number, file in enumerate(start):
            own.add(f"start-{number:06}")
            shutil.copyfile(file, merged / f"start-{number:06}")
        command = [binary, "-merge=1", f"-max_len={target.max_len}", merged, *(source for source in sources if source.is_dir())]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        new = sorted((file for file in merged.iterdir() if file.name not in own), key=lambda file: (file.stat().st_size, file.name))
        return [file.read_bytes() for file in new]
