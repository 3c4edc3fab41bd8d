#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Each room of ref/ includes what the table in docs/architecture.md, "Rooms", allows it, and nothing else.

The table's first column names a room, its last one the rooms of ref/ that it may include besides itself. Those must stand above
it, so that there is no circle. Nothing of ref/ includes from outside ref/, and nothing is declared weak: what a room does not know
is handed in.

usage: rooms.py [FOLDER OF THE PROJECT]
"""

import re
import sys
from pathlib import Path

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)
WEAK = re.compile(r"^\s*#\s*pragma\s+weak\b", re.M)
PUBLIC = "o2ref/"  # ref/oracle/include/o2ref/: what an implementation includes


def read_table(text):
    """Room -> the set of rooms that it may include, in the order of the table; and what is wrong with the table."""
    rooms, problems = {}, []
    for name, cell in re.findall(r"^\| `ref/([\w/]+)/` \|.*\| ([^|]*) \|$", text, re.M):
        allowed = set(re.findall(r"`([\w/]+)`", cell))
        problems += [f"docs/architecture.md: {name} may include {other}, which does not stand above it"
                     for other in sorted(allowed - set(rooms))]
        rooms[name] = allowed
    return rooms, problems


def room_of(path, rooms):
    """The deepest room that a path under ref/ is in; None: in no room."""
    return max((name for name in rooms if path.startswith(name + "/")), key=len, default=None)


def problems_of(path, ref, rooms):
    name = path.relative_to(ref).as_posix()
    own = room_of(name, rooms)
    if own is None:
        yield f"ref/{name} is in no room of the table"
        return
    text = path.read_text()
    if WEAK.search(text):
        yield f"ref/{name} declares something weak"
    for included in INCLUDE.findall(text):
        if included.startswith(PUBLIC) and own == "oracle":
            continue
        other = room_of(included, rooms) if (ref / included).exists() else None
        if other is None:
            yield f"ref/{name} includes {included}, which is no file of ref/"
        elif other != own and other not in rooms[own]:
            yield f"ref/{name} includes {included}: {own} may not include {other}"


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parents[2])
    rooms, problems = read_table((root / "docs" / "architecture.md").read_text())
    ref = root / "ref"
    sources = sorted(path for path in ref.rglob("*.[ch]") if path.relative_to(ref).parts[:2] != ("oracle", "include"))
    for path in sources:
        problems += problems_of(path, ref, rooms)
    problems += [f"ref/{name}/ is in the table and does not exist" for name in rooms if not (ref / name).is_dir()]
    for line in problems:
        print(line, file=sys.stderr)
    print(f"{len(rooms)} rooms, {len(sources)} files, {len(problems)} problems")
    return 1 if problems or not rooms or not sources else 0


if __name__ == "__main__":
    sys.exit(main())
