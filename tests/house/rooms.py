#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Each room includes what the tables in docs/architecture.md, "Rooms", allow it, and nothing else.

A row's first column names a room, its last one what the room may include besides itself: other rooms, or whole folders
(`ref`, `props`).  In rows of ref/ names stand without `ref/`.  Rooms that are named must stand above the row, so that there is no
circle.  Nothing of ref/ is declared weak: what a room does not know is handed in.

usage: rooms.py [FOLDER OF THE PROJECT]
"""

import re
import sys
from pathlib import Path

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)
WEAK = re.compile(r"^\s*#\s*pragma\s+weak\b", re.M)
TREES = ("ref", "props", "fuzz", "tests")
MADE = {"mutant_list.h"}  # by the build
# What implementations of the oracle's ABI include, and where its samples are: another project would have them.
PUBLIC, FOREIGN = "ref/oracle/include", "tests/impl/c/"


def read_tables(text):
    """Room -> what it may include, in the order of the tables; and what is wrong with them."""
    rooms, problems = {}, []
    for tree, name, cell in re.findall(r"^\| `(ref|props|fuzz|tests)/([\w/]*)` \|.*\| ([^|]*) \|$", text, re.M):
        room = f"{tree}/{name}".rstrip("/")
        allowed = {f"ref/{other}" if tree == "ref" else other for other in re.findall(r"`([\w/]+)`", cell)}
        problems += [f"docs/architecture.md: {room} may include {other}, which does not stand above it"
                     for other in sorted(allowed - set(rooms) - set(TREES[:2]))]
        rooms[room] = allowed
    return rooms, problems


def room_of(path, rooms):
    """The deepest room that a path is in; None: in no room."""
    return max((name for name in rooms if path.startswith(name + "/")), key=len, default=None)


def find(root, path, included):
    """The file that is meant, from the project's root; None: there is none."""
    for folder in (root, root / "ref", root / PUBLIC, path.parent):
        if (folder / included).is_file():
            return (folder / included).resolve().relative_to(root).as_posix()
    return None


def problems_of(root, path, rooms):
    name = path.relative_to(root).as_posix()
    own = room_of(name, rooms)
    if own is None:
        yield f"{name} is in no room of the tables"
        return
    text = path.read_text()
    if name.startswith("ref/") and WEAK.search(text):
        yield f"{name} declares something weak"
    for included in INCLUDE.findall(text):
        if included in MADE:
            continue
        file = find(root, path, included)
        if file is None:
            yield f"{name} includes {included}, which is no file of the project"
            continue
        other = room_of(file, rooms)
        if other != own and not {other, file.split("/", maxsplit=1)[0]} & rooms[own]:
            yield f"{name} includes {included}: {own} may not include {other}"


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[2]).resolve()
    rooms, problems = read_tables((root / "docs" / "architecture.md").read_text())
    sources = [path for tree in TREES for path in sorted((root / tree).rglob("*.[ch]"))]
    sources = [path for path in sources if not path.relative_to(root).as_posix().startswith((PUBLIC, FOREIGN))]
    for path in sources:
        problems += problems_of(root, path, rooms)
    problems += [f"{name}/ is in a table and does not exist" for name in rooms if not (root / name).is_dir()]
    for line in problems:
        print(line, file=sys.stderr)
    print(f"{len(rooms)} rooms, {len(sources)} files, {len(problems)} problems")
    return 1 if problems or not rooms or not sources else 0


if __name__ == "__main__":
    sys.exit(main())
