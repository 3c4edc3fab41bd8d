# SPDX-License-Identifier: MIT
"""Compare a report with an earlier one: rows that are faster or slower, edges gained or lost, findings that are new or gone."""

from dataclasses import dataclass, field

from . import cause, reading
from .result import CANNOT_RUN

# A rate that changes by less than NOISE is not reported, nor is that of a row that ran less than LEAST_SECONDS in either
# report. Fuzz engines draw other inputs each time, which take more or less time, so their limit is larger.
NOISE, FUZZ_NOISE = 0.25, 0.5
LEAST_SECONDS = 2.0
LIMITS = (f"less than {NOISE:.0%} ({FUZZ_NOISE:.0%} of a fuzz target), or of rows of less than {LEAST_SECONDS:g} s, is taken for "
          "noise")


@dataclass
class Comparison:
    name: str  # the earlier report's folder, as the user gave it
    commit: str
    started: str
    faster: list = field(default_factory=list)  # (row, unit, rate before, rate now)
    slower: list = field(default_factory=list)
    rates: int = 0  # number of rates compared
    gained: list = field(default_factory=list)  # (row, edges before, edges now)
    lost: list = field(default_factory=list)
    edges: int = 0  # number of rows whose edges were compared
    new: list = field(default_factory=list)  # causes (cause.Cause) that only this report has
    gone: list = field(default_factory=list)  # causes that only the earlier report has, of steps that ran in both
    still: int = 0
    absent: list = field(default_factory=list)  # texts that name rows found in only one of the two

    def as_json(self):
        def rates(entries):
            return [{"row": row.title, "unit": unit, "before": round(before, 1), "now": round(now, 1)}
                    for row, unit, before, now in entries]

        def edges(entries):
            return [{"row": row.title, "before": before, "now": now} for row, before, now in entries]

        def titles(groups):
            return [group.first.title for group in groups]

        return {"name": self.name, "commit": self.commit, "started": self.started, "noise": NOISE,
                "fuzz_noise": FUZZ_NOISE, "least_seconds": LEAST_SECONDS, "faster": rates(self.faster), "slower": rates(self.slower),
                "gained": edges(self.gained), "lost": edges(self.lost), "new": titles(self.new), "gone": titles(self.gone),
                "still": self.still, "absent": self.absent}


def rate_of(row):
    """(number per second, unit, seconds), or None if the row counts nothing that takes time.

    The seconds are processor time, which does not depend on other load; for a run in a guest they are elapsed time.
    """
    figures = row.figures
    cpu, clock = figures.get("cpu_seconds"), figures.get("seconds")
    if row.group == "fuzz":
        return (figures["execs"] / cpu, "executions/CPU s", cpu) if cpu and figures.get("execs") else None
    if not figures.get("cases"):
        return None
    if cpu:
        return figures["cases"] / cpu, "cases/CPU s", cpu
    return (figures["cases"] / clock, "cases/s", clock) if clock else None


def compare_rate(found, before, now):
    first, second = rate_of(before), rate_of(now)
    if first is None or second is None or min(first[2], second[2]) < LEAST_SECONDS or first[1] != second[1]:
        return
    found.rates += 1
    noise = FUZZ_NOISE if now.group == "fuzz" else NOISE
    if second[0] > first[0] * (1 + noise):
        found.faster.append((now, first[1], first[0], second[0]))
    elif first[0] > second[0] * (1 + noise):
        found.slower.append((now, first[1], first[0], second[0]))


def compare_edges(found, before, now):
    first, second = before.figures.get("edges"), now.figures.get("edges")
    if now.group != "fuzz" or not first or not second:
        return
    found.edges += 1
    if first != second:
        (found.gained if second > first else found.lost).append((now, first, second))


def compare_findings(found, before, now):
    old, new = ({group.name: group for group in cause.grouped(report.findings())} for report in (before, now))
    found.new = [group for name, group in new.items() if name not in old]
    ran = {row.key for row in now.rows if row.verdict != CANNOT_RUN}
    tried = {cause.name_of(finding) for row in before.rows if row.key in ran for finding in row.findings}
    found.gone = [group for name, group in old.items() if name not in new and name in tried]
    found.still = len(new) - len(found.new)


def compare(before, now, name):
    """Compare two Reports; returns the Comparison."""
    found = Comparison(name, before.versions.get("o2ref", "unknown"), before.started)
    old = {row.key: row for row in before.rows}
    rows = {row.key: row for row in now.in_order()}
    for key, row in rows.items():
        if key in old:
            compare_rate(found, old[key], row)
            compare_edges(found, old[key], row)
        elif row.group != "build":
            found.absent.append(f"only now: {row.title}")
    found.absent += [f"only before: {row.title}" for key, row in old.items() if key not in rows and row.group != "build"]
    compare_findings(found, before, now)
    return found


def read(folder):
    """Read the Report to compare with.  Raises reading.Unreadable, also if its figures are of another version than ours."""
    report = reading.read(folder)
    try:
        compare(report, report, "")
    except (AttributeError, KeyError, TypeError, ValueError, ZeroDivisionError) as problem:
        raise reading.Unreadable(f"report.json has figures that are none: {problem}") from problem
    return report


def asked(parser, folder):
    """The Report that --baseline names, or None without --baseline; a bad folder is an error of the command line."""
    try:
        return folder and read(folder)
    except reading.Unreadable as problem:
        return parser.error(f"--baseline is {folder}, which cannot be compared with: {problem}")


def rate_line(row, unit, before, now):
    return [row.title, unit, f"{before:,.0f}", f"{now:,.0f}", f"{now / before - 1:+.0%}"]


def edge_line(row, before, now):
    return [row.title, "edges", f"{before:,}", f"{now:,}", f"{now - before:+,}"]


def summary(found):
    """One line for each kind of difference."""
    return [f"against {found.name} (commit {found.commit}, started {found.started}):",
            f"  {len(found.faster)} faster, {len(found.slower)} slower of {found.rates} rates; {LIMITS}",
            f"  {len(found.gained)} targets with new edges, {len(found.lost)} with fewer, of {found.edges}",
            f"  {len(found.new)} new findings, {found.still} as before, {len(found.gone)} gone"]


def lines(found):
    """[(kind of difference, [name, unit, before, now, change])] of all rows that differ."""
    parts = (("faster", rate_line, found.faster), ("slower", rate_line, found.slower), ("new edges", edge_line, found.gained),
             ("fewer edges", edge_line, found.lost))
    return [(what, line(*entry)) for what, line, entries in parts for entry in entries]
