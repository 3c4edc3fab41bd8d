#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Check that docs/lustre.md, docs/reading.md, the marks in the headers and the sources agree.

docs/lustre.md: each name of ours occurs in a file of its row; a driver's name is in only one row.
Headers: a comment line `o2iblnd: NAME, NAME` (`LNet:`, `kernel:`) must be in the page, for that header, in the row of our name;
and if the page names a header, the header must have the line.  Each header of mem, reg, rdma, lnd and wire has such a line, or
`o2iblnd: none, REASON`.
docs/reading.md: each step names a function that is defined in its file and a driver's name that is in docs/lustre.md.  The step
before it calls that function, directly or through static functions of its own file; or the step names what leads to it: "from
step N", "through `MEMBER`" (a table of functions), "event" or "wire".

usage: lustre.py [FOLDER OF THE PROJECT]
"""

import re
import sys
from pathlib import Path
from typing import NamedTuple

ROOMS = ("mem", "reg", "rdma", "lnd", "wire")
KINDS = "o2iblnd|LNet|kernel"
NAMES = r"[A-Za-z_]\w*(?:, [A-Za-z_]\w*)*"
LINE = re.compile(rf"^(.*?)(?:/\*|^\s*\*)\s*({KINDS}): (.*?)\s*(?:\*/.*)?$")
ROW = re.compile(r"^\| (?!-|Driver|LNet \|)(.+?) \| (.+?) \| (.*?) ?\| (.*?) ?\|$")
STEP = re.compile(r"^(\d+)\. `(\w+)`, `([\w./]+)`(?: \(([^)]*)\))?: (.*?) Driver: (.+?)\.$", re.S)
DEPTH = 4  # most static functions between two steps


class Row(NamedTuple):
    line: int
    driver: list
    ours: list
    files: list


class Mark(NamedTuple):
    line: int
    kind: str
    names: list  # empty: none
    around: str  # the paragraph in which the mark is


class Step(NamedTuple):
    number: int
    function: str
    file: str
    link: str
    driver: list


def ticked(cell):
    return re.findall(r"`([^`]+)`", cell)


def word(name, text):
    return re.search(rf"\b{re.escape(name)}\b", text) is not None


def kind_of(name):
    if re.match(r"(lnet_|LNET_|LNet[A-Z]|libcfs_|srpc_|SRPC_|sfw_|SFW_|lst_|LST_|lstcon_|brw_|BRW_|ping_(client|server)_|test_(bulk|ping)_req)", name):
        return "LNet"
    if re.match(r"(ib_(?!mtu$)|rdma_|IB_|kvec$|bio_vec$|scatterlist$|dma_data_direction$|kmap_local_page$|kunmap_local$|memcpy_(from|to)_page$)", name):
        return "kernel"
    return "o2iblnd"


# --- docs/lustre.md ---------------------------------------------------------------------------------------------------


def read_rows(text):
    rows = []
    for number, line in enumerate(text.splitlines(), 1):
        match = ROW.match(line)
        if match:
            rows.append(Row(number, ticked(match[1]), ticked(match[2]), ticked(match[3])))
    return rows


def check_row(row, root):
    texts = {name: (root / name).read_text() if (root / name).is_file() else None for name in row.files}
    for name, text in texts.items():
        if text is None:
            yield f"{name} does not exist"
        elif not any(word(ours, text) for ours in row.ours):
            yield f"{name} has none of {', '.join(row.ours)}"
    for ours in row.ours:
        if not any(text and word(ours, text) for text in texts.values()):
            yield f"{ours} is not in {', '.join(row.files) or 'any file'}"
    if not row.driver or bool(row.ours) != bool(row.files):
        yield "no driver's name, names of ours without a file, or a file without names of ours"


def check_page(rows, root):
    seen = {}
    for row in rows:
        yield from (f"docs/lustre.md:{row.line}: {problem}" for problem in check_row(row, root))
        for name in row.driver:
            if name in seen:
                yield f"docs/lustre.md:{row.line}: {name} has a row already, at line {seen[name]}"
            seen[name] = row.line


# --- headers ----------------------------------------------------------------------------------------------------------


def read_marks(text):
    """(the marks of a header, lines that look like a mark but are not valid)."""
    marks, wrong, lines = [], [], text.splitlines()
    for number, line in enumerate(lines):
        match = LINE.match(line)
        if not match:
            continue
        first = last = number
        while first > 0 and lines[first - 1].strip():
            first -= 1
        while last + 1 < len(lines) and lines[last + 1].strip():
            last += 1
        # A mark after code belongs to that line; a mark on a line of its own belongs to its paragraph.
        around = match[1] if match[1].strip() else "\n".join(lines[first:last + 1])
        names = re.match(rf"({NAMES})(?:\. .*)?$", match[3])
        if match[2] == "o2iblnd" and re.match(r"none, \w", match[3]):
            marks.append(Mark(number + 1, match[2], [], around))
        elif names:
            marks.append(Mark(number + 1, match[2], names[1].split(", "), around))
        else:
            wrong.append((number + 1, match[3]))
    return marks, wrong


def check_header(name, text, rows):
    marks, wrong = read_marks(text)
    here = {driver: row for row in rows if name in row.files for driver in row.driver}
    for number, said in wrong:
        yield f"{name}:{number}: neither names nor \"none, REASON\": {said}"
    for mark in marks:
        for driver in mark.names:
            if driver not in here:
                yield f"{name}:{mark.line}: {driver} is not in docs/lustre.md at this header"
            elif not any(word(ours, mark.around) for ours in here[driver].ours):
                yield f"{name}:{mark.line}: {driver} is not beside any of {', '.join(here[driver].ours)}"
            if kind_of(driver) != mark.kind:
                yield f"{name}:{mark.line}: {driver} is {kind_of(driver)}'s, not {mark.kind}'s"
    marked = {driver for mark in marks for driver in mark.names}
    for driver, row in here.items():
        if driver not in marked:
            yield f"{name}: no line for {driver} (docs/lustre.md:{row.line})"
    # In these rooms every header must have a mark.
    if name.split("/")[1] in ROOMS and not marks:
        yield f"{name}: no line that says what it is in o2iblnd"


def check_headers(rows, root):
    for path in sorted((root / "ref").rglob("*.h")):
        name = path.relative_to(root).as_posix()
        yield from check_header(name, path.read_text(), rows)


# --- docs/reading.md --------------------------------------------------------------------------------------------------


def read_steps(text):
    """(walks, each a list of steps; lines that look like a step but are not valid)."""
    walks, wrong = [], []
    for paragraph in re.split(r"\n(?=\d+\. )|\n\s*\n", text):
        if not re.match(r"\d+\. ", paragraph):
            continue
        match = STEP.match(" ".join(paragraph.split()))
        if not match:
            wrong.append(" ".join(paragraph.split())[:80])
            continue
        step = Step(int(match[1]), match[2], match[3], match[4] or "", ticked(match[6]))
        if step.number == 1:
            walks.append([])
        walks[-1].append(step)
    return walks, wrong


def functions(text):
    """{name: (static, body)} of the functions that a source file defines; their heads and braces must begin the lines."""
    found, head, body = {}, [], None
    for line in text.splitlines():
        if body is None and line == "{":
            body = []
        elif body is None:
            head = [*head, line] if line[:1] in " \t" else [line]
        elif line == "}":
            name = re.search(r"(\w+)\(", " ".join(head))
            if name:
                found[name[1]] = (head[0].startswith("static"), "\n".join(body))
            head, body = [], None
        else:
            body.append(line)
    return found


def reach(file_functions, start):
    """Bodies of a function and of the static functions of its file that it calls, up to a depth of DEPTH."""
    names, bodies = [start], []
    for _ in range(DEPTH + 1):
        found = [file_functions[name][1] for name in names]
        bodies += found
        names = [name for name, (static, _) in file_functions.items()
                 if static and any(re.search(rf"\b{name}\(", body) for body in found)]
    return "\n".join(bodies)


class Sources:
    def __init__(self, root):
        self.root, self.cache = root, {}

    def of(self, name):
        if name not in self.cache:
            path = self.root / name
            self.cache[name] = functions(path.read_text()) if path.is_file() else {}
        return self.cache[name]

    def handed_out(self, step):
        """Whether the function's address is taken in its file, or in a table of another file."""
        use = re.compile(rf"\b{step.function}\b(?!\()")
        return any(use.search(re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S))
                   for path in (self.root / "ref").rglob("*.c"))


def check_link(step, walk, sources):
    """Why an earlier step does not lead to this one; None if it does."""
    link = re.fullmatch(r"(event|wire)|(?:from step (\d+))?(?:, )?(?:through `(\w+)`)?", step.link)
    if not link:
        return f"unknown link \"{step.link}\""
    if link[1] or step.number == 1:
        return None
    number = int(link[2]) if link[2] else step.number - 1
    if not 1 <= number < step.number:
        return f"there is no step {number} before it"
    caller = walk[number - 1]
    body = reach(sources.of(caller.file), caller.function) if caller.function in sources.of(caller.file) else ""
    if not link[3]:
        return None if re.search(rf"\b{step.function}\(", body) else f"{caller.function} does not call {step.function}"
    if not re.search(rf"\b{link[3]}(?:\[[^\]]*(?:\][^\]\n]*)?\])?\(", body):
        return f"{caller.function} does not call through {link[3]}"
    return None if sources.handed_out(step) else f"no source takes the address of {step.function}"


def check_step(step, walk, sources, known):
    if step.function not in sources.of(step.file):
        yield f"{step.function} is not defined in {step.file}"
    for name in step.driver:
        if name != "none" and name not in known:
            yield f"{name} is not in docs/lustre.md"
    problem = check_link(step, walk, sources)
    if problem:
        yield problem


def check_reading(text, rows, root):
    walks, wrong = read_steps(text)
    known = {driver for row in rows for driver in row.driver}
    sources = Sources(root)
    yield from (f"docs/reading.md: not of the form of a step: {line}" for line in wrong)
    for walk in walks:
        if [step.number for step in walk] != list(range(1, len(walk) + 1)):
            yield "docs/reading.md: steps are not numbered 1, 2, 3 .."
            continue
        for step in walk:
            for problem in check_step(step, walk, sources, known):
                yield f"docs/reading.md, step {step.number} ({step.function}): {problem}"


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parents[2])
    rows = read_rows((root / "docs" / "lustre.md").read_text())
    reading = (root / "docs" / "reading.md").read_text()
    problems = [*check_page(rows, root), *check_headers(rows, root), *check_reading(reading, rows, root)]
    for line in problems:
        print(line, file=sys.stderr)
    walks = [len(walk) for walk in read_steps(reading)[0]]
    drivers = sum(len(row.driver) for row in rows)
    print(f"{len(rows)} rows, {drivers} names of the driver; walks of {walks} steps; {len(problems)} problems")
    return 1 if problems or len(rows) < 100 or len(walks) < 2 else 0


if __name__ == "__main__":
    sys.exit(main())
