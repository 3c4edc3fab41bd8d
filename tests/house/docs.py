#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""README.md and docs/ hold together: every path that they name exists, every link leads somewhere, its section included,
and no line of text is longer than 100 columns (rows of tables and quoted output are as long as they are). README.md leads
to every page. docs/changes.md begins with the version that CMakeLists.txt has, and pages and manuals name no other.

The last line is "N passed, N failed", a page and rule each.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COLUMNS = 100
# A word in capitals stands for any name: `fuzz/NAME.c`.
NAMED = re.compile(r"`((?:ref|props|tests|ci|fuzz|corpus|docs)/[A-Za-z0-9_./*-]+)`")
STANDS_FOR_ANY = re.compile(r"[A-Z]{2,}")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
VERSION = re.search(r"^project\(o2ref VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"), re.M)[1]
# The file name of the package, the last line of a manual page, and an entry of Debian's changelog.
OURS = re.compile(r"(?:\bo2ref_|^\.Os o2ref ?|^o2ref \()([0-9.]*[0-9])?", re.M)


def sections(page):
    """The anchors of a page's headings, as GitHub makes them."""
    found = set()
    for line in page.read_text(encoding="utf-8").splitlines():
        if re.match(r"#+ ", line):
            words = re.sub(r"[`*]|\[|\]\([^)]*\)", "", line.lstrip("#").strip()).lower()
            found.add(re.sub(r"[^\w\- ]", "", words).replace(" ", "-"))
    return found


def missing_paths(page, text):
    return [name for name in NAMED.findall(text)
            if not STANDS_FOR_ANY.search(name) and not any(ROOT.glob(name.rstrip("/")))]


def dead_links(page, text):
    dead = []
    for target in LINK.findall(text):
        if re.match(r"\w+:", target):
            continue
        name, _, section = target.partition("#")
        file = page.parent / name if name else page
        if not file.exists() or (section and file.suffix == ".md" and section not in sections(file)):
            dead.append(target)
    return dead


def long_lines(page, text):
    return [f"line {number}: {len(line)} columns" for number, line in enumerate(text.splitlines(), 1)
            if len(line) > COLUMNS and not line.startswith(("|", "    ", "\t"))]


def wrong_versions(page, text):
    found = [version for version in OURS.findall(text) if version != VERSION and (version or page.suffix != ".md")]
    if page.name == "changes.md":
        found += [head for head in re.findall(r"^## (\S+)", text, re.M)[:1] if head != VERSION]
    return found


def pages_not_linked(page, text):
    linked = {target.partition("#")[0] for target in LINK.findall(text)}
    return [f"docs/{name.name}" for name in sorted((ROOT / "docs").glob("*.md"))
            if page.name == "README.md" and f"docs/{name.name}" not in linked]


def main():
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    manuals = [*sorted((ROOT / "docs" / "man").iterdir()), ROOT / "ci" / "changelog"]
    passed = failed = 0
    for page in pages + manuals:
        text = page.read_text(encoding="utf-8")
        for rule in (missing_paths, dead_links, long_lines, pages_not_linked, wrong_versions)[0 if page in pages else -1:]:
            wrong = rule(page, text)
            passed, failed = passed + (not wrong), failed + bool(wrong)
            for what in wrong:
                print(f"{page.relative_to(ROOT)}: {rule.__name__.replace('_', ' ')}: {what}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
