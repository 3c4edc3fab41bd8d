# SPDX-License-Identifier: MIT
"""Of many inputs a small set with the same coverage, by libFuzzer's -merge=1."""

import shutil
import subprocess
import tempfile
from pathlib import Path


def alike(known, name):
    """The targets whose inputs are of one format with this one's, itself included: they learn from each other."""
    mutator = known[name].mutator
    return [other for other in known if other == name or (mutator and known[other].mutator == mutator)]


def minimal(target, binary, start, sources):
    """The contents, the shortest first, that the folders `sources` add to the files `start`."""
    with tempfile.TemporaryDirectory() as scratch:
        merged = Path(scratch) / "merged"
        merged.mkdir()
        # The first folder receives what the others add to it.
        own = set()
        for number, file in enumerate(start):
            own.add(f"start-{number:06}")
            shutil.copyfile(file, merged / f"start-{number:06}")
        command = [binary, "-merge=1", f"-max_len={target.max_len}", merged, *(source for source in sources if source.is_dir())]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        new = sorted((file for file in merged.iterdir() if file.name not in own), key=lambda file: (file.stat().st_size, file.name))
        return [file.read_bytes() for file in new]
