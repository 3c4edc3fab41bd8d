# SPDX-License-Identifier: MIT
"""The report as one HTML page that needs nothing else."""

from html import escape

from . import table
from .result import CANNOT_RUN, FINDING, HELD

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 70em; margin: 2em auto; padding: 0 1em; color: #222 }
table { border-collapse: collapse; margin: 0.8em 0 }
th, td { padding: 0.15em 0.9em; text-align: right; border-bottom: 1px solid #ddd }
th { border-bottom: 2px solid #999 }
.l { text-align: left }
.held { color: #176b2c } .finding { color: #b00020; font-weight: bold } .cannot { color: #8a5a00 }
pre { background: #f4f4f4; padding: 0.6em; overflow-x: auto }
code { background: #f4f4f4; padding: 0.1em 0.3em }
.note { color: #555; margin: 0.2em 0 }
@media (prefers-color-scheme: dark) {
  body { background: #1b1b1b; color: #ddd } pre, code { background: #2a2a2a } th, td { border-color: #444 }
  .held { color: #6fcf87 } .finding { color: #ff7b8a } .cannot { color: #e0b060 } .note { color: #aaa }
}
"""

CLASSES = {HELD: "held", FINDING: "finding", CANNOT_RUN: "cannot"}


def cell(tag, text, left):
    classes = " ".join(name for name in ("l" if left else "", CLASSES.get(text, "")) if name)
    return f"<{tag}{f' class={chr(34)}{classes}{chr(34)}' if classes else ''}>{escape(text)}</{tag}>"


def section_html(section):
    last = len(section.headers) - 1

    def line(tag, row):
        return "<tr>" + "".join(cell(tag, text, i < section.left or i == last) for i, text in enumerate(row)) + "</tr>"

    rows = "\n".join([line("th", section.headers), *(line("td", row) for row in section.rows)])
    notes = "".join(f'<p class="note">{escape(note)}</p>\n' for note in section.notes)
    return f"<table>\n{rows}\n</table>\n{notes}"


def finding_html(finding):
    files = "".join(f"<br>file: <code>{escape(name)}</code>" for name in finding.files)
    lines = escape("\n".join(finding.lines))
    return (f'<h3 class="finding">{escape(finding.title)}</h3>\n<p>step {escape(finding.step)}; replay: '
            f"<code>{escape(finding.replay)}</code>{files}</p>\n<pre>{lines}</pre>\n")


def situations_section(rows):
    """What occurred how often, one column for each device."""
    rows = [row for row in rows if row.figures.get("situations") and row.group == "property"]
    names = list(dict.fromkeys(name for row in rows for name in row.figures["situations"]))
    lines = [[name.replace("_", " "), *(f"{row.figures['situations'].get(name, 0):,}" for row in rows), ""]
             for name in names]
    return table.Section(["situation", *(row.name for row in rows), ""], lines)


def model_situations_section(rows):
    """The same of the properties that have situations of their own."""
    lines = [[f"{row.name}: {name.replace('_', ' ')}", f"{number:,}", ""] for row in rows if row.group in ("model", "simulation")
             for name, number in row.figures.get("situations", {}).items()]
    return table.Section(["situation, by property", "", ""], lines)


def refusals_section(rows):
    """Which rule refused which side how often, one column for each device."""
    rows = [row for row in rows if row.figures.get("refusals")]
    names = list(dict.fromkeys((side, rule) for row in rows for side, rules in row.figures["refusals"].items()
                               for rule in rules))
    lines = [[f"{rule}, {side}", *(f"{row.figures['refusals'].get(side, {}).get(rule, 0):,}" for row in rows), ""]
             for side, rule in names]
    return table.Section(["refused, as foretold, by", *(row.name for row in rows), ""], lines)


def verdict_html(report):
    if report.findings():
        return f'<p class="finding">{len(report.findings())} finding{"s" if len(report.findings()) > 1 else ""}</p>\n'
    if report.cannot_run():
        return '<p class="cannot">nothing found in what could run</p>\n'
    return '<p class="held">nothing found</p>\n'


def html(report):
    parts = [f"<h1>o2ref campaign</h1>\n{verdict_html(report)}<p>{escape(table.heading(report))}<br>started "
             f"{escape(report.started)}<br>command <code>{escape(report.command)}</code></p>\n"]
    for row in report.cannot_run():
        parts.append(f'<p class="cannot">{CANNOT_RUN}: {escape(row.name)}: {escape(row.reason)}</p>\n')
    if report.findings():
        parts += ["<h2>Findings</h2>\n", *(finding_html(finding) for finding in report.findings())]
    parts.append("<h2>Results</h2>\n")
    parts += [section_html(section) for section in table.sections(report)]
    found = [part for part in (situations_section(report.rows), model_situations_section(report.rows)) if part.rows]
    if found:
        parts += ["<h2>Situations that occurred</h2>\n", *map(section_html, found)]
    refusals = refusals_section(report.rows)
    if refusals.rows:
        parts += ["<h2>Refusals that occurred</h2>\n", section_html(refusals)]
    crosses = [section_html(section(row)) for row in report.in_order() if row.figures.get("cross")
               for section in (table.cross_section, table.polarity_section)]
    if crosses:
        parts += ["<h2>The cross table</h2>\n", *crosses]
    versions = table.Section(["version of", ""], [[name, text] for name, text in report.versions.items()])
    parts += ["<h2>Versions</h2>\n", section_html(versions)]
    return ('<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>o2ref campaign</title>\n'
            f"<style>{STYLE}</style></head>\n<body>\n{''.join(parts)}</body></html>\n")
