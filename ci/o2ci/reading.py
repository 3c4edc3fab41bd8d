# SPDX-License-Identifier: MIT
"""Read a report that an earlier run or another process wrote."""

import json
from pathlib import Path

from .result import FORM, VERSION, Finding, Report, Row
from .shard import Shard


class Unreadable(Exception):
    """A folder has no usable report; the text says why."""


def document(folder):
    """The content of report.json of a campaign that has ended."""
    path = Path(folder) / "report.json"
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except OSError as problem:
        raise Unreadable(f"report.json cannot be read: {problem.strerror}") from problem
    except ValueError as problem:
        raise Unreadable(f"report.json is no JSON: {problem}") from problem
    if not isinstance(found, dict) or found.get("form") != FORM:
        raise Unreadable(f"report.json is not of form {FORM}")
    if found.get("version") != VERSION:
        raise Unreadable(f"report.json is of version {found.get('version')}, this reads {VERSION}")
    if found.get("status") is None:
        raise Unreadable("its campaign has not ended")
    return found


def row_of(row):
    """A row from its JSON.  Older reports have rows without runs and findings without a cause."""
    findings = [Finding(**{key: found[key] for key in ("step", "title", "replay", "lines", "files")}, cause=found.get("cause", ""),
                        bytes=found.get("bytes")) for found in row["findings"]]
    return Row(row["group"], row["step"], row["name"], row["seconds"], findings, row["reason"] or "", row["figures"],
               row.get("runs", []), row.get("again") or "")


def read(folder):
    """The Report in a folder.  A report that names no shard is of a whole campaign."""
    found = document(folder)
    try:
        shard = Shard(**found.get("shard", {}))
        return Report(int(found["seed"], 0), found["profile"], found["minutes"], found["started"], found["command"],
                      found["versions"], found["seconds"], [row_of(row) for row in found["rows"]], shard)
    except (KeyError, TypeError, ValueError) as problem:
        raise Unreadable(f"report.json is incomplete: {type(problem).__name__} {problem}") from problem
