# SPDX-License-Identifier: MIT
"""The folder failures/: the files of each finding, and a .txt with the command that replays it."""

import re
import shutil
from pathlib import Path

from . import place
from .result import Finding


class Failures:
    def __init__(self, folder):
        self.folder = Path(folder)

    def path(self, step, name):
        return self.folder / re.sub(r"[^\w.-]+", "-", f"{step}-{name}")

    def copy(self, step, source, suffix=""):
        """Copy a finding's file; returns the copy, or None if the file does not exist."""
        source = Path(source)
        if not source.is_file():
            return None
        self.folder.mkdir(parents=True, exist_ok=True)
        target = self.path(step, source.name + suffix)
        shutil.copyfile(source, target)
        return target

    def keep(self, step, name, title, replay, lines=(), files=(), cause=""):
        """Write the .txt and return the Finding.  The first of the files is the case."""
        self.folder.mkdir(parents=True, exist_ok=True)
        text = self.path(step, name + ".txt")
        number = 1
        while text.exists():
            number += 1
            text = self.path(step, f"{name}-{number}.txt")
        body = [f"step:    {step}", f"found:   {title}", f"replay:  {replay}"]
        body += [f"file:    {place.shown(file)}" for file in files]
        text.write_text("\n".join([*body, "", *lines]) + "\n", encoding="utf-8")
        size = Path(files[0]).stat().st_size if files else None
        return Finding(step, title, replay, list(lines), [place.shown(file) for file in [*files, text]], cause, size)
