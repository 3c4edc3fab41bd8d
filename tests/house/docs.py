#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Check README.md and docs/: every path that they name exists; every link leads to an existing page and section; no line of
text is longer than 100 columns (rows of tables and quoted output are exempt); README.md links to every page.  A section that
a page or a source's comment names, as in (docs/lst.md, "Services"), must exist.  docs/changes.md begins with the version in
CMakeLists.txt, and pages and manuals name no other version.

Every rule id of an error that ref/ can report stands on a page of docs/, and docs/errors.md has rows for no other ids.  Errors
are made by functions that have a parameter `const char *rule`: o2_refuse(), o2_fail() and all others through which an id goes to
them.  So an id is a literal `"room/what"` in a call of such a function, or in the initializer of a name that stands in the call
(a variable or a table of the same file, a macro).  The ids of the codecs and of the judge, which macros compose, are compared
with their pages by test_wire_docs, test_lst_codec and test_judge_docs.

The last line is "N passed, N failed"; each rule of a page counts once, and so does each source and each rule id.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ("ref", "props", "fuzz", "tests")
COLUMNS = 100
# A word in capitals stands for any name: `fuzz/NAME.c`.
NAMED = re.compile(r"`((?:ref|props|tests|ci|fuzz|corpus|docs)/[A-Za-z0-9_./*-]+)`")
STANDS_FOR_ANY = re.compile(r"[A-Z]{2,}")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
VERSION = re.search(r"^project\(o2ref VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"), re.M)[1]
# Section names in quotes that follow the name of a page: in pages they follow a link, in sources a path.
NAMES = r',? ((?:"[^"]+"(?:,| and|;)? ?)+)'
SECTIONS_OF_PAGE = re.compile(r"\]\(([a-z_]+\.md)(?:#[^)\s]*)?\)" + NAMES)
SECTIONS_OF_SOURCE = re.compile(r"docs/([a-z_]+\.md)" + NAMES)
COMMENT = re.compile(r"/\*.*?\*/", re.S)
# Versions in the package's file name, the last line of a manual page, and an entry of Debian's changelog.
OURS = re.compile(r"(?:\bo2ref_|^\.Os o2ref ?|^o2ref \()([0-9.]*[0-9])?", re.M)

# Functions that make an error, or pass an id on: `static`, the name, the parameters.
MAKER = re.compile(r"^(static )?(?:\w+ \**)+(\w+)\([^()]*\bconst char \*\w*rule\b[^()]*\)", re.M)
ARGUMENTS = r"(\((?:[^()]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))*\))"
RULE_ID = re.compile(r'"([a-z]\w*(?:/[a-z0-9_-]+)+)"')
INITIALIZED = re.compile(r"\b(\w+)(?:\[\w*\])? = ([^;]*);")
CHECK = re.compile(r'\bo2_breaks\("[^"]*"')  # the name of a check, which reports nothing itself
DEFINED = re.compile(r"^#define (\w+)[ \t]+(\".*)$", re.M)


def sections(page):
    """The anchors of a page's headings, as GitHub generates them."""
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


def names(page):
    """The names by which a section can be quoted: the page's headings, and its phrases in bold or italics."""
    text = page.read_text(encoding="utf-8")
    found = re.findall(r"^#+ (.*)$", text, re.M) + re.findall(r"\*{1,2}([^*\n]+)\*{1,2}", text)
    return {re.sub(r"[`*]", "", name).strip(" .:") for name in found}


def not_there(quoted):
    """quoted: (page, '"Name" and "Name"').  Returns the names that the page does not have."""
    return [f'{page}, "{name}"' for page, several in quoted if (ROOT / "docs" / page).exists()
            for name in re.findall(r'"([^"]+)"', several) if name.strip(" .,") not in names(ROOT / "docs" / page)]


def missing_sections(_, text):
    return not_there(SECTIONS_OF_PAGE.findall(" ".join(text.split())))


def wrong_comments(path):
    comments = COMMENT.findall(path.read_text(encoding="utf-8"))
    lines = (" ".join(re.sub(r"^\s*\* ?", "", comment, flags=re.M).split()) for comment in comments)
    return [what for line in lines for what in not_there(SECTIONS_OF_SOURCE.findall(line))]


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


def rule_ids():
    """{rule id of an error: a source that reports it}"""
    sources = {path: CHECK.sub("", COMMENT.sub("", path.read_text(encoding="utf-8")))
               for path in sorted((ROOT / "ref").rglob("*.[ch]"))}
    makers = {path: MAKER.findall(text) for path, text in sources.items()}
    shared = {name for found in makers.values() for static, name in found if not static}
    macros = {name: value for text in sources.values() for name, value in DEFINED.findall(text)}
    ids = {}
    for path, text in sources.items():
        names = "|".join(shared | {name for _, name in makers[path]})
        calls = re.findall(rf"\b(?:{names}){ARGUMENTS}", text)
        called = set(re.findall(r"\w+", " ".join(calls)))
        values = [value for name, value in [*macros.items(), *INITIALIZED.findall(text)] if name in called]
        ids.update((found, path) for found in RULE_ID.findall(" ".join(calls + values)))
    return ids


def wrong_rule_ids(ids):
    """(ids that are on no page, rows of docs/errors.md for what is no id)"""
    on_pages = {word for page in (ROOT / "docs").glob("*.md")
                for word in re.findall(r"[\w/-]+", page.read_text(encoding="utf-8"))}
    errors = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`[^|]*`) \| .* \| .* \|$", errors, re.M)
    listed = [name for cell in rows for name in re.findall(r"`([^`]+)`", cell)]
    return sorted(set(ids) - on_pages), [name for name in listed if name not in ids]


def main():
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    manuals = [*sorted((ROOT / "docs" / "man").iterdir()), ROOT / "ci" / "changelog"]
    passed = failed = 0
    for page in pages + manuals:
        text = page.read_text(encoding="utf-8")
        for rule in (missing_paths, dead_links, missing_sections, long_lines, pages_not_linked,
                     wrong_versions)[0 if page in pages else -1:]:
            wrong = rule(page, text)
            passed, failed = passed + (not wrong), failed + bool(wrong)
            for what in wrong:
                print(f"{page.relative_to(ROOT)}: {rule.__name__.replace('_', ' ')}: {what}")
    for path in sorted(path for folder in SOURCES for path in (ROOT / folder).rglob("*.[ch]")):
        wrong = wrong_comments(path)
        passed, failed = passed + (not wrong), failed + bool(wrong)
        for what in wrong:
            print(f"{path.relative_to(ROOT)}: no such section: {what}")
    ids = rule_ids()
    unexplained, unknown = wrong_rule_ids(ids)
    passed, failed = passed + len(ids) - len(unexplained), failed + len(unexplained) + len(unknown)
    for name in unexplained:
        print(f"{ids[name].relative_to(ROOT)}: rule id on no page: {name}")
    for name in unknown:
        print(f"docs/errors.md: no such rule id: {name}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
