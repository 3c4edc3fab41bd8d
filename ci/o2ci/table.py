# SPDX-License-Identifier: MIT
"""The report as tables: sections of rows, which both the terminal and the page show."""

from dataclasses import dataclass, field

from . import baseline, cause
from .result import CANNOT_RUN
from .transfer import MTU_BYTES, WAYS

WIDTH = 100
MIB = 1 << 20


@dataclass
class Section:
    headers: list
    rows: list
    notes: list = field(default_factory=list)
    left: int = 1  # so many first columns, and the last one, are text and left-aligned
    sources: list = field(default_factory=list)  # for each line the Row that it shows, if any


def count(number):
    return f"{number:,}"


def sections(report):
    rows = report.in_order()
    found = [builds([row for row in rows if row.group == "build" and row.verdict != "held"])]
    properties = [row for row in rows if row.group == "property"]
    found.append(property_section(properties))
    found += [pair_section(row) for row in properties if row.step == "rxe" and row.figures.get("pairs")]
    found.append(model_section([row for row in rows if row.group == "model"]))
    found.append(simulation_section([row for row in rows if row.group == "simulation"]))
    found.append(orders_section([row for row in rows if row.group == "orders"]))
    found.append(harness_section([row for row in rows if row.group == "harness"]))
    found.append(fuzz_section([row for row in rows if row.group == "fuzz"]))
    return [section for section in found if section.rows]


def builds(rows):
    return Section(["build", "seconds", "verdict"], [[row.name, f"{row.seconds:.0f}", row.verdict] for row in rows],
                   sources=rows)


def property_section(rows):
    lines = []
    for row in rows:
        figures = row.figures
        if "cases" in figures:
            numbers = [count(figures["cases"]), count(figures["moved"]), f"{figures['bytes'] / MIB:,.1f}",
                       count(figures["refused"])]
        else:
            numbers = ["-"] * 4
        lines.append([row.name, *numbers, f"{row.seconds:.0f}", row.verdict])
    headers = ["transfer, byte-exact, on", "cases", "moved", "MiB", "refused as foretold", "seconds", "verdict"]
    return Section(headers, lines, [note for row in rows for note in device_notes(row)], sources=rows)


def model_section(rows):
    lines = []
    for row in rows:
        met = row.figures.get("situations", {}).values()
        numbers = [count(row.figures["cases"]), f"{sum(map(bool, met))} of {len(met)}"] if met else ["-"] * 2
        lines.append([row.name, *numbers, f"{row.seconds:.0f}", row.verdict])
    return Section(["property, against a model", "cases", "situations met", "seconds", "verdict"], lines, sources=rows)


def simulation_section(rows):
    lines, notes = [], []
    for row in rows:
        figures, met = row.figures, row.figures.get("situations", {}).values()
        numbers = [count(figures[key]) if key in figures else "-" for key in ("operations", "cases", "events")]
        lines.append([row.name, *numbers, f"{sum(map(bool, met))} of {len(met)}", f"{row.seconds:.0f}", row.verdict])
        if figures.get("same") and "trace" in figures:
            notes.append(f"run {figures['runs']} times from seed {figures['seed']}: each time trace {figures['trace']}")
    return Section(["simulation", "operations", "cases", "events", "situations met", "seconds", "verdict"], lines, notes, sources=rows)


def orders_section(rows):
    lines = []
    for row in rows:
        numbers = [count(row.figures[key]) if key in row.figures else "-" for key in ("searches", "states", "edges")]
        lines.append([row.name, *numbers, f"{row.seconds:.0f}", row.verdict])
    return Section(["all states", "searches", "states", "edges", "seconds", "verdict"], lines, sources=rows)


def packets(figures):
    """{device: packets sent} between the two readings of the hardware counters."""
    sent = {}
    for device, reading in figures.get("hw_counters", {}).items():
        before, after = (reading.get(when) or {} for when in ("before", "after"))
        if "sent_pkts" in before and "sent_pkts" in after:
            sent[device] = after["sent_pkts"] - before["sent_pkts"]
    return sent


def device_notes(row):
    notes = []
    guest = row.figures.get("guest")
    if guest:
        booted = f", answered after {guest['boot_seconds']:.1f} s" if guest["boot_seconds"] is not None else ""
        notes.append(f"{row.name}: Linux {guest['kernel']} ({guest['accel']}){booted}")
    sent = packets(row.figures)
    if sent:
        each = ", ".join(f"{device} {count(number)}" for device, number in sent.items())
        notes.append(f"{row.name}: packets sent, by hw_counters: {count(sum(sent.values()))} ({each}); "
                     f"bytes / MTU {MTU_BYTES}: {count(row.figures['bytes'] // MTU_BYTES)}")
    if "connections" in row.figures and row.figures.get("connect") in WAYS:
        notes.append(f"{row.name}: {count(row.figures['connections'])} connections made and closed")
    return notes + held_notes(row) + cross_notes(row)


def held_notes(row):
    """The objects of the device that were held, at most and at the end."""
    held = row.figures.get("held")
    notes = []
    if held and any(held["most"].values()):
        each = ", ".join(f"{kind.replace('_', ' ')} {count(held['most'][kind])} -> {count(number)}"
                         for kind, number in held["after"].items() if held["most"][kind])
        notes.append(f"{row.name}: held before everything was closed -> after: {each}")
    resources = row.figures.get("resources") or {}
    if resources.get("before") is not None and resources.get("after") is not None:
        each = "; ".join(f"{device} " + ", ".join(f"{kind} {number} -> {resources['after'].get(device, {}).get(kind)}"
                                                  for kind, number in kinds.items() if kind in ("mr", "qp", "cq", "pd"))
                         for device, kinds in resources["before"].items())
        notes.append(f"{row.name}: objects in the devices, before -> after, by rdma resource: {each}")
    return notes


def cross_notes(row):
    """How many cells of the cross table were covered."""
    cross = row.figures.get("cross")
    if not cross:
        return []
    pairs = [pair for sinks in cross["pairs"].values() for pair in sinks.values()]
    met, cells = (sum(pair[key] for pair in pairs) for key in ("met", "cells"))
    refused = cross["user_kiov_refused"]
    polarity = ", ".join(f"{name} {count(pair['moved'])}" for name, pair in cross["polarity"].items())
    return [f"{row.name}: cells of the cross table that moved: {count(met)} of {count(cells)}, the least "
            f"{min(pair['least'] for pair in pairs)} times; a KIOV for mode user refused in {refused['met']} of "
            f"{refused['cells']}",
            f"{row.name}: moved by polarity <source,sink>, 1 for addresses of a mapping, 0 for those of the CPU: {polarity}"]


def cross_section(row):
    """For each pair of modes: cells covered of all cells, and the smallest count of a cell."""
    pairs = row.figures["cross"]["pairs"]
    modes = list(pairs)
    lines = [[source, *(f"{pair['met']}/{pair['cells']} ({pair['least']})" for pair in pairs[source].values()), ""]
             for source in modes]
    return Section([f"{row.name}, cells met (least count): from mode (down) to (across)", *modes, ""], lines)


def polarity_section(row):
    """Transfers moved between devices that use addresses of a mapping (1) and devices that need the CPU's addresses (0)."""
    lines = [[name, count(pair["moved"]), f"{pair['met']}/{pair['cells']} ({pair['least']})", ""]
             for name, pair in row.figures["cross"]["polarity"].items()]
    return Section([f"{row.name}, by polarity <source,sink>", "moved", "cells met (least count)", ""], lines)


def pair_section(row):
    pairs = row.figures["pairs"]
    modes = list(pairs)
    lines = [[source, *(count(pairs[source].get(sink, 0)) for sink in modes), ""] for source in modes]
    return Section([f"{row.name}, moved: from mode (down) to (across)", *modes, ""], lines)


def harness_section(rows):
    lines = []
    for row in rows:
        figures = row.figures
        if "of" in figures:
            what = f"{figures['caught']} of {figures['of']} caught"
        elif "found" in figures:
            what = f"found after {count(figures['execs'])} executions" if figures["found"] else "not found"
        else:
            what = figures.get("what", "-")
        lines.append([row.name, what, f"{row.seconds:.0f}", row.verdict])
    return Section(["the harness itself", "", "seconds", "verdict"], lines, left=2, sources=rows)


def fuzz_section(rows):
    lines = []
    for row in rows:
        figures = row.figures
        numbers = [count(figures[key]) if key in figures else "-" for key in ("execs", "execs_per_sec", "edges")]
        lines.append([row.name, figures.get("engine", "-"), *numbers, f"{row.seconds:.0f}", row.verdict])
    headers = ["fuzz target", "engine", "executions", "per second", "edges", "seconds", "verdict"]
    return Section(headers, lines, left=2, sources=rows)


def render(section):
    """A section as lines of text with aligned columns."""
    table = [section.headers, *section.rows]
    widths = [max(len(row[i]) for row in table) for i in range(len(section.headers))]
    lines = []
    for number, row in enumerate(table):
        cells = [cell.ljust(width) if i < section.left or i == len(row) - 1 else cell.rjust(width)
                 for i, (cell, width) in enumerate(zip(row, widths))]
        lines.append("  ".join(cells).rstrip())
        if number == 0:
            lines.append("-" * min(WIDTH, sum(widths) + 2 * (len(widths) - 1)))
    return lines + [f"  {note}" for note in section.notes]


def heading(report):
    part = "" if report.shard.is_whole else f"shard {report.shard}, "
    return f"o2ref campaign: {part}profile {report.profile}, seed 0x{report.seed:x}, commit {report.versions.get('o2ref', 'unknown')}, {report.seconds:.0f} s"


def ending(report):
    """The last lines: findings, and rows that could not run."""
    lines = []
    for row in report.cannot_run():
        lines.append(f"{CANNOT_RUN}: {row.name}: {row.reason}")
    for found in cause.grouped(report.findings()):
        first = found.first
        lines += [f"FINDING {first.title}", *(f"  {line.strip()}" for line in first.lines[:3])]
        for other in found.others:
            lines += [f"  the same cause: {other.title}", f"    replay: {other.replay}"]
        lines.append(f"  replay: {first.replay}")
    if not report.findings():
        lines.append("nothing found" + (" in what could run" if report.cannot_run() else ""))
    return lines


def baseline_section(found):
    """The rows that differ from the earlier report."""
    rows = [[what, *line, ""] for what, line in baseline.lines(found)]
    return Section(["what", "of", "unit", "before", "now", "change", ""], rows, left=3)


def text(report):
    lines = [heading(report), ""]
    for section in sections(report):
        lines += [*render(section), ""]
    if report.against:
        differ = baseline_section(report.against)
        lines += [*(render(differ) + [""] if differ.rows else []), *baseline.summary(report.against)]
        lines += [f"  new: {group.first.title}" for group in report.against.new]
        lines += [*(f"  gone: {group.first.title}" for group in report.against.gone), ""]
    return "\n".join(lines + ending(report))
