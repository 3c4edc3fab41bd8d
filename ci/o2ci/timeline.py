# SPDX-License-Identifier: MIT
"""The time line of the run: when each row's programs ran.  Each row has a line, and so has each fuzz engine."""

from html import escape

from .result import CANNOT_RUN, FINDING

CLASSES = {FINDING: "finding", CANNOT_RUN: "cannot"}
MOST_TICKS = 5
STEPS_S = (1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400, 28800, 86400)


def clock(seconds):
    """A time as 1:02:03, or 2:03."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def ticks_of(end):
    """The times in seconds to label, from 0 to the end."""
    step = next((step for step in STEPS_S if end / step <= MOST_TICKS), STEPS_S[-1])
    ticks = [step * number for number in range(int(end // step) + 1)]
    if len(ticks) > 1 and end - ticks[-1] < step / 2:
        ticks.pop()
    return [*ticks, end]


def lanes_of(rows):
    """[(label, [(number of the row, row, run)])]; all targets of a fuzz engine share a line."""
    lanes = {}
    for number, row in enumerate(rows):
        engine = row.figures.get("engine")
        label = f"fuzz, {engine}" if row.group == "fuzz" and engine else row.name
        for run in row.runs:
            shard = run.get("shard", "")
            lanes.setdefault((row.step, label, shard), []).append((number, row, run))
    found = sorted(lanes.items(), key=lambda lane: min(run["begin"] for _number, _row, run in lane[1]))
    return [(f"{shard} {label}" if shard else label, runs) for (_step, label, shard), runs in found]


def bar(number, row, run, end):
    begin, seconds = run["begin"], run["seconds"]
    words = f"{row.title}: {clock(begin)} to {clock(begin + seconds)}, {seconds:.1f} s, {row.verdict}"
    kind = CLASSES.get(row.verdict)
    return (f'<a href="#row-{number}"{f" class={chr(34)}{kind}{chr(34)}" if kind else ""} title="{escape(words)}" '
            f'aria-label="{escape(words)}" style="left:{begin * 100 / end:.2f}%;width:{seconds * 100 / end:.2f}%"></a>')


def html(rows):
    """The time line.  rows: in the order in which the page numbers them."""
    runs = [run for row in rows for run in row.runs]
    if not runs:
        return '<p class="note">no row of this report says when it ran</p>\n'
    end = max(max(run["begin"] + run["seconds"] for run in runs), 1)
    lines = "".join(f'<a href="#row-{lane[0][0]}">{escape(label)}</a><div class="track">'
                    f'{"".join(bar(*of, end) for of in lane)}</div>\n' for label, lane in lanes_of(rows))
    ticks = "".join(f'<span style="left:{at * 100 / end:.2f}%">{clock(at)}</span>' for at in ticks_of(end))
    shards = " Each shard counts from its own start" if any("shard" in run for run in runs) else ""
    return (f'<div class="time">\n{lines}<span>min:s</span><div class="ticks">{ticks}</div>\n</div>\n'
            '<p class="note">each bar leads to its row; red: a finding. Targets of one engine share a line.'
            f"{shards}</p>\n")
