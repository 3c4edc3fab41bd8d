# SPDX-License-Identifier: MIT
"""The report as one self-contained HTML page."""

import os
from html import escape
from pathlib import Path
from urllib.parse import quote

from . import baseline, cause, coverage_page, place, style, table, timeline, views
from .result import CANNOT_RUN, FINDING, HELD

CLASSES = {HELD: "held", FINDING: "finding", CANNOT_RUN: "cannot"}


TAIL_LINES = 12


class Links:
    """Links of the page, relative to its folder, so that a report can be moved as a whole."""

    def __init__(self, report, folder):
        self.folder = folder
        self.rows = report.in_order()
        self.numbers = {id(row): number for number, row in enumerate(self.rows)}
        self.causes = cause.grouped(report.findings())
        self.of_finding = {id(finding): number for number, found in enumerate(self.causes) for finding in found.all()}

    def file(self, name, text=None):
        """Link to a file, given by the path that findings and rows use."""
        target = quote(os.path.relpath(place.ROOT / name, self.folder))
        return f'<a href="{escape(target)}">{escape(text or name)}</a>'

    def of_row(self, row):
        return f"#row-{self.numbers[id(row)]}"

    def found(self, row):
        """The target of a link for the verdict of a row with findings."""
        return f"#cause-{self.of_finding[id(row.findings[0])]}"


def cell(tag, text, left):
    classes = " ".join(name for name in ("l" if left else "", CLASSES.get(text, "")) if name)
    return f"<{tag}{f' class={chr(34)}{classes}{chr(34)}' if classes else ''}>{escape(text)}</{tag}>"


def linked(row, text, links):
    """The verdict of a row, with links to its findings, its log, and the command that repeats it."""
    words = f'<a class="finding" href="{links.found(row)}">{escape(text)}</a>' if row.findings else escape(text)
    logs = "".join(f" {links.file(log, 'log')}" for log in row.logs())
    return f'<td class="l {CLASSES[row.verdict]}">{words}{logs} <a href="{links.of_row(row)}">replay</a></td>'


def section_html(section, links=None):
    last = len(section.headers) - 1

    def line(tag, row, source=None):
        cells = [cell(tag, text, i < section.left or i == last) for i, text in enumerate(row)]
        if source is not None:
            cells[0] = f'<td class="l {CLASSES[source.verdict]}">{escape(row[0])}</td>'  # the verdict may be off-screen
            cells[last] = linked(source, row[last], links)
        return "<tr>" + "".join(cells) + "</tr>"

    sources = section.sources if links else []
    sources = sources or [None] * len(section.rows)
    rows = "\n".join([line("th", section.headers), *(line("td", *pair) for pair in zip(section.rows, sources))])
    notes = "".join(f'<p class="note">{escape(note)}</p>\n' for note in section.notes)
    return f'<div class="wide"><table>\n{rows}\n</table></div>\n{notes}'


def finding_html(finding, links):
    files = "".join(f"<br>file: {links.file(name)}" for name in finding.files)
    size = f", {finding.bytes:,} bytes" if finding.bytes is not None else ""
    lines = escape("\n".join(finding.lines))
    return (f"<p>step {escape(finding.step)}{size}; replay: <code>{escape(finding.replay)}</code>{files}</p>\n"
            + (f"<pre>{lines}</pre>\n" if lines else ""))


def cause_html(number, found, links):
    """A cause's smallest case, followed by the other findings with the same cause."""
    others = "".join(f"<details><summary>{escape(other.title)}</summary>\n{finding_html(other, links)}</details>\n"
                     for other in found.others)
    count = f"found {len(found.all())} times with this cause; the smallest case stands first"
    return (f'<section id="cause-{number}"><h3 class="finding">{escape(found.first.title)}</h3>\n'
            f"{views.nothing(count) if others else ''}{finding_html(found.first, links)}{others}</section>\n")


def tail_of(log):
    try:
        lines = (place.ROOT / log).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
    return lines[-TAIL_LINES:]


def row_html(row, links):
    """The command that repeats a row, and the end of its log, so that the page is useful without the other files."""
    again = f"<p>replay: <code>{escape(row.again)}</code></p>\n" if row.again else views.nothing("no command repeats it alone")
    logs = "".join(f"<p>log: {links.file(log)}</p>\n" for log in row.logs())
    # Leave out the log of ci/fuzz: many rows share it, and the page would repeat it.
    tail = [line for log in row.logs() if row.group != "fuzz" for line in tail_of(log)]
    text = escape("\n".join(tail))
    shown = f"<details><summary>the end of the log</summary>\n<pre>{text}</pre></details>\n" if tail else ""
    begin = f", began {timeline.clock(row.runs[0]['begin'])} after the start" if row.runs else ""
    return (f'<section id="{links.of_row(row)[1:]}"><h3>{escape(row.title)}</h3>\n<p class="{CLASSES[row.verdict]}">'
            f"{row.verdict}, {row.seconds:.1f} s{begin}</p>\n{again}{logs}{shown}</section>\n")


def situations_section(rows):
    """Situations and how often each occurred, with a column for each device."""
    rows = [row for row in rows if row.figures.get("situations") and row.group == "property"]
    names = list(dict.fromkeys(name for row in rows for name in row.figures["situations"]))
    lines = [[name.replace("_", " "), *(f"{row.figures['situations'].get(name, 0):,}" for row in rows), ""]
             for name in names]
    return table.Section(["situation", *(row.name for row in rows), ""], lines)


def model_situations_section(rows):
    """The same table for properties that have their own situations."""
    lines = [[f"{row.name}: {name.replace('_', ' ')}", f"{number:,}", ""] for row in rows if row.group in ("model", "simulation")
             for name, number in row.figures.get("situations", {}).items()]
    return table.Section(["situation, by property", "", ""], lines)


def refusals_section(rows):
    """How often each rule refused each side, with a column for each device."""
    rows = [row for row in rows if row.figures.get("refusals")]
    names = list(dict.fromkeys((side, rule) for row in rows for side, rules in row.figures["refusals"].items()
                               for rule in rules))
    lines = [[f"{rule}, {side}", *(f"{row.figures['refusals'].get(side, {}).get(rule, 0):,}" for row in rows), ""]
             for side, rule in names]
    return table.Section(["refused, as foretold, by", *(row.name for row in rows), ""], lines)


def verdict_html(report, links):
    found, causes = len(report.findings()), len(links.causes)
    if found:
        together = f" of {causes} cause{'s' if causes > 1 else ''}" if causes < found else ""
        return f'<p class="finding">{found} finding{"s" if found > 1 else ""}{together}</p>\n'
    if report.cannot_run():
        return '<p class="cannot">nothing found in what could run</p>\n'
    return '<p class="held">nothing found</p>\n'


def situations_html(report):
    found = [part for part in (situations_section(report.rows), model_situations_section(report.rows)) if part.rows]
    return "".join(map(section_html, found))


def refusals_html(report):
    section = refusals_section(report.rows)
    return section_html(section) if section.rows else ""


def crosses_html(report):
    return "".join(section_html(section(row)) for row in report.in_order() if row.figures.get("cross")
                   for section in (table.cross_section, table.polarity_section))


def baseline_html(found, links):
    """The differences from the earlier report; "" without --baseline."""
    if found is None:
        return ""
    parts = [f'<p>{"<br>".join(escape(line) for line in baseline.summary(found))}</p>\n']
    numbers = {group.name: number for number, group in enumerate(links.causes)}
    parts += [f'<p class="finding">new: <a href="#cause-{numbers[group.name]}">{escape(group.first.title)}</a></p>\n'
              for group in found.new]
    parts += [f'<p class="held">gone: {escape(group.first.title)}</p>\n' for group in found.gone]
    differ = table.baseline_section(found)
    parts += [section_html(differ)] if differ.rows else []
    if found.absent:
        parts.append(f'<details><summary>{len(found.absent)} rows cannot be compared</summary>'
                     f'<p class="note">{"<br>".join(map(escape, found.absent))}</p></details>\n')
    return "".join(parts)


def coverage_html(folder):
    """Link to the page of the measured source, or the reason why there is none."""
    if (Path(folder) / coverage_page.NAME).is_file():
        return f'<p><a href="{coverage_page.NAME}">The measured source</a>: each line with how often it ran</p>\n'
    return '<p class="note">not measured: that is what ci/campaign --coverage does, or ci/coverage --html FILE alone</p>\n'


def versions_html(report):
    return section_html(table.Section(["version of", ""], [[name, text] for name, text in report.versions.items()]))


def parts(report, links):
    """[(anchor, title, content)] of all parts that are not empty."""
    return [("findings", "Findings", "".join(cause_html(number, found, links) for number, found in enumerate(links.causes))),
            ("baseline", "Against an earlier report", baseline_html(report.against, links)),
            ("results", "Results", "".join(section_html(section, links) for section in table.sections(report))),
            ("time", "Time line", timeline.html(links.rows)),
            ("pairs", "Modes and address kinds", views.pairs_html(links.rows)),
            ("drawn", "Sizes and fragments drawn", views.drawn_html(links.rows)),
            ("curves", "Coverage over executions", views.curves_html(links.rows)),
            ("source", "Coverage of the source", coverage_html(links.folder)),
            ("situations", "Situations that occurred", situations_html(report)),
            ("refusals", "Refusals that occurred", refusals_html(report)),
            ("cross", "The cross table", crosses_html(report)),
            ("rows", "Replays and logs", "".join(row_html(row, links) for row in links.rows)),
            ("versions", "Versions", versions_html(report))]


def head_html(report, links):
    cannot = "".join(f'<p class="cannot">{CANNOT_RUN}: {escape(row.name)}: {escape(row.reason)}</p>\n'
                     for row in report.cannot_run())
    return (f"<h1>o2ref campaign</h1>\n{verdict_html(report, links)}<p>{escape(table.heading(report))}<br>started "
            f"{escape(report.started)}<br>command <code>{escape(report.command)}</code></p>\n{cannot}")


def html(report, folder=place.BUILD / "report"):
    """The page.  folder: where the page will be written."""
    links = Links(report, folder)
    shown = [part for part in parts(report, links) if part[2]]
    contents = "".join(f'<a href="#{anchor}">{title}</a> ' for anchor, title, _ in shown)
    body = "".join(f'<h2 id="{anchor}">{title}</h2>\n{inside}' for anchor, title, inside in shown)
    return style.document("o2ref campaign", style.sheet(), f"{head_html(report, links)}<nav>{contents}</nav>\n{body}")
