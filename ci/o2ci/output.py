# SPDX-License-Identifier: MIT
"""The report's folder: it is prepared when a run starts and filled when the run ends."""

import json
import shutil
import sys
from pathlib import Path

from . import coverage_page, junit, page, table
from .result import EXIT_USAGE, FORM, VERSION

OURS = ("log", "work", "failures", "corpora", "shards", "report.json", "report.txt", "junit.xml", "index.html", coverage_page.NAME)


def is_report(path):
    """Whether the file is a report.json of ours: other programs have files of that name too."""
    try:
        return str(json.loads(path.read_text(encoding="utf-8"))["form"]).startswith("o2ref/")
    except (OSError, ValueError, TypeError, KeyError):
        return False


def usable(folder):
    """Whether the folder may be cleared and written to: it must be new, empty, or an earlier report."""
    folder = Path(folder)
    if not folder.exists():
        return True
    return folder.is_dir() and (is_report(folder / "report.json") or not any(folder.iterdir()))


def check(parser, folder):
    """Report an error of the command line if --report is not usable, or its files, which are UTF-8, cannot show the command."""
    try:
        " ".join(sys.argv).encode()
        if not usable(folder):
            parser.error(f"--report is {folder}, which is not empty and no report of a campaign")
    except UnicodeEncodeError as problem:
        parser.error(f"an argument is not UTF-8: {problem.object[problem.start:]!r}")
    except OSError as problem:
        parser.error(f"--report is {folder}: {problem.strerror}")


def prepare(folder, form=FORM):
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for name in OURS:
        path = folder / name
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    # Status null means that the run has not ended.  The file also marks the folder as a report.
    write_json({"form": form, "version": VERSION, "status": None}, folder)


def begin(program, folder, form=FORM):
    """Prepare the folder; if it cannot be made, print why and exit."""
    try:
        prepare(folder, form)
    except OSError as problem:
        leave(program, problem, folder)


def leave(program, problem, where):
    """Print that an output cannot be written, and exit.  A failed write does not name its file: `where`."""
    print(f"{program}: {problem.filename or where}: {problem.strerror}", file=sys.stderr)
    sys.exit(EXIT_USAGE)


def will_write(program, path):
    """Check before anything runs that this file, if one is asked for, can be written; else print why not, and exit."""
    try:
        if path:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.open("a", encoding="utf-8").close()
    except OSError as problem:
        leave(program, problem, path)


def write_text(program, path, text):
    """Write it; if that fails, print why and exit."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as problem:
        leave(program, problem, path)


def write_json(report, folder):
    (folder / "report.json").write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


def write(report, folder):
    folder = Path(folder)
    write_json(report.as_json(), folder)
    (folder / "report.txt").write_text(table.text(report) + "\n", encoding="utf-8")
    junit.write(report, folder / "junit.xml")
    (folder / "index.html").write_text(page.html(report, folder), encoding="utf-8")
