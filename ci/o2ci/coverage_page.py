# SPDX-License-Identifier: MIT
"""The measured source as one self-contained page: each line with the number of times it ran, and the places not reached with
the reasons from the lists (docs/coverage.md)."""

from dataclasses import dataclass
from html import escape

from . import style

NAME = "coverage.html"  # name of the page in a report's folder
TAB = 8

SHEET = """
.source { font: 13px/1.35 monospace; white-space: pre; overflow-x: auto; background: var(--soft); padding: 0.4em 0 }
.source div { padding: 0 0.6em; width: max-content; min-width: 100%; box-sizing: border-box }
.source i { font-style: normal; color: var(--dim); display: inline-block; width: 9em; user-select: none }
.missed { background: var(--never) } .part { background: var(--part) }
.source em { color: var(--bad); white-space: normal; margin-left: 2em } .source em.listed { color: var(--dim) }
:root { --part: #fdf0d5 } @media (prefers-color-scheme: dark) { :root { --part: #453817 } }
"""


@dataclass
class File:
    area: str
    name: str  # path from the repository's root
    text: list  # the source's lines
    counts: dict  # {line: how often it ran}; lines without code are missing
    missed: list  # [(line, kind, code)] as in the lists; kind: line, function, true or false
    reasons: dict  # {(kind, code): reason}

    def reached(self):
        return sum(count > 0 for count in self.counts.values())


def short(count):
    for size, letter in ((10 ** 9, "G"), (10 ** 6, "M"), (10 ** 3, "k")):
        if count >= 10 * size:
            return f"{count // size}{letter}"
    return str(count)


def anchor(file):
    return file.name.replace("/", "-")


def note(file, kind, code):
    words = {"line": "not reached", "function": "never called"}.get(kind, f"never {kind}: {code}")
    reason = file.reasons.get((kind, code))
    if reason:
        return f'<em class="listed">{escape(words)}. {escape(reason)}</em>'
    return f"<em>{escape(words)}; no reason is listed</em>"


def line_html(file, number, text, missed):
    count = file.counts.get(number)
    kind = ' class="missed"' if count == 0 else ' class="part"' if missed else ""
    ran = "" if count is None else short(count)
    notes = "".join(note(file, *place) for place in missed)
    return f"<div{kind}><i>{number:5} {ran:>7} </i>{escape(text.expandtabs(TAB))}{notes}</div>"


def file_html(file):
    at = {}
    for line, kind, code in file.missed:
        at.setdefault(line, []).append((kind, code))
    lines = "".join(line_html(file, number, text, at.get(number, [])) for number, text in enumerate(file.text, 1)
                    if number < len(file.text) or text)
    opened = " open" if file.missed else ""
    return (f'<details id="{anchor(file)}"{opened}><summary>{escape(file.name)}: {file.reached():,} of '
            f'{len(file.counts):,} lines</summary>\n<div class="source">{lines}</div></details>\n')


def row_html(file):
    share = f"{file.reached() / len(file.counts):.1%}" if file.counts else "-"
    without = sum((kind, code) not in file.reasons for _line, kind, code in file.missed)
    return (f'<tr><td class="l"><a href="#{anchor(file)}">{escape(file.name)}</a></td><td class="l">{escape(file.area)}</td>'
            f"<td>{len(file.counts):,}</td><td>{share}</td><td>{len(file.missed) or ''}</td>"
            f'<td class="{"finding" if without else ""}">{without or ""}</td></tr>\n')


def html(files, heading):
    """The page.  files: in the order in which they are shown; heading: a text that says what was measured."""
    lines, reached = sum(len(file.counts) for file in files), sum(file.reached() for file in files)
    heads = "".join(f"<th{' class=l' if number < 2 else ''}>{word}</th>" for number, word in
                    enumerate(("file", "area", "lines", "reached", "places not reached", "without a reason")))
    rows = "".join(map(row_html, files))
    body = "".join(map(file_html, files))
    page = ("<h1>What corpora and properties reach</h1>\n"
            f"<p>{reached:,} of {lines:,} lines in {len(files)} files<br>{escape(heading)}</p>\n"
            '<p class="note">In front of each line how often it ran. <span class="missed">A line that never ran</span>, '
            '<span class="part">one of which a condition went one way only</span>; behind it the reason in the list of its '
            'area.</p>\n'
            f'<div class="wide"><table>\n<tr>{heads}</tr>\n{rows}</table></div>\n{body}')
    return style.document("o2ref coverage", style.PAGE + SHEET, page)
