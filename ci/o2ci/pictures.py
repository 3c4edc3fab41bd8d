# SPDX-License-Identifier: MIT
"""Render the report's pictures: heat maps, histograms and curves, as HTML and SVG without scripts.

The functions do not depend on campaigns: they turn numbers and labels into text.  views.py chooses these, style.py the colours.
"""

import math
from html import escape

from .style import STEPS

# --- heat maps ---


def step_of(value, low, high):
    """The index of a value's colour: the smallest value above zero has the first colour, the largest the last."""
    if high == low:
        return len(STEPS) // 2
    return min(len(STEPS) - 1, (value - low) * len(STEPS) // (high - low))


def heat_cell(value, low, high):
    if value is None:
        return '<td class="none">-</td>'
    if value == 0:
        return '<td class="never">0</td>'
    return f'<td class="h{step_of(value, low, high)}">{value:,}</td>'


def head(text):
    """A table header; a long name may be broken after a _."""
    return escape(text).replace("_", "_<wbr>")


def spans_of(labels, place):
    """[(text, columns or rows that it spans)] of one position of the labels."""
    spans = []
    for number, label in enumerate(labels):
        if number and label[:place + 1] == labels[number - 1][:place + 1]:
            spans[-1][1] += 1
        else:
            spans.append([label[place], 1])
    return spans


def scale_html(low, high):
    """The legend: each colour with the range of numbers that it stands for."""
    if high == low:
        return f'<p class="scale"><span class="never">0</span><span class="h{len(STEPS) // 2}">{low:,}</span></p>\n'
    count = len(STEPS)
    least = [low + -(-(high - low) * number // count) for number in range(count)] + [high + 1]
    shown = [(number, least[number], least[number + 1] - 1) for number in range(count) if least[number] < least[number + 1]]
    spans = "".join(f'<span class="h{number}">{first:,}{f" to {last:,}" if last > first else ""}</span>'
                    for number, first, last in shown)
    return f'<p class="scale"><span class="never">0</span>{spans}</p>\n'


def heat(down, across, values, caption, axes):
    """A heat map of whole numbers.

    down, across: labels of the rows and columns, tuples of one or two words; the first of two is the group.  values[i][j]: None
    for an impossible cell.  axes: the names of the vertical and the horizontal axis.
    """
    present = [value for row in values for value in row if value]
    low, high = (min(present), max(present)) if present else (0, 0)
    levels = len(across[0])
    side = len(down[0])
    lines = [f'<tr><th colspan="{side}"></th><th class="axis" colspan="{len(across)}">{escape(axes[1])}</th></tr>']
    for level in range(levels):
        corner = f'<th class="axis side" colspan="{side}">{escape(axes[0]) if level == levels - 1 else ""}</th>'
        heads = "".join(f'<th colspan="{count}">{head(text)}</th>' for text, count in spans_of(across, level))
        lines.append(f"<tr>{corner}{heads}</tr>")
    starts = {}
    at = 0
    for text, count in spans_of(down, 0) if side == 2 else []:
        starts[at] = f'<th class="side" rowspan="{count}">{head(text)}</th>'
        at += count
    for number, (label, row) in enumerate(zip(down, values)):
        cells = "".join(heat_cell(value, low, high) for value in row)
        lines.append(f'<tr>{starts.get(number, "")}<th class="side">{head(label[-1])}</th>{cells}</tr>')
    table = "\n".join(lines)
    return (f"<figure><figcaption>{escape(caption)}</figcaption>\n"
            f'<div class="wide"><table class="heat">\n{table}\n</table></div>\n'
            f"{scale_html(low, high) if present else ''}</figure>\n")


# --- histograms ---


def histogram(bars, caption, unit, names):
    """A stacked histogram.  bars: [(label, first number, second number)]; names: of the two numbers, which are stacked."""
    most = max((first + second for _label, first, second in bars), default=0) or 1
    lines = []
    for label, *numbers in bars:
        parts = "".join(f'<u{" class=b" if place else ""} style="width:{number * 100 / most:.2f}%"></u>'
                        for place, number in enumerate(numbers) if number)
        lines.append(f'<b>{escape(label)}</b><span>{parts}</span><i>{" + ".join(f"{number:,}" for number in numbers)}</i>')
    key = "".join(f'<span class="key{" b" if place else ""}">{escape(name)}</span>' for place, name in enumerate(names))
    body = "\n".join(lines)
    return (f"<figure><figcaption>{escape(caption)}</figcaption>\n"
            f'<p class="note">{escape(unit)}; number of transfers:{key}</p>\n'
            f'<div class="bars">\n{body}\n</div></figure>\n')


# --- curves ---

WIDTH, HEIGHT = 340, 200
LEFT, RIGHT, TOP, BOTTOM = 46, 12, 12, 40
SAMPLES = 60
MOST_TICKS = 4


def short(number):
    """A number in short form: 1, 10, 1k, 10k, 2M."""
    for size, letter in ((10 ** 9, "G"), (10 ** 6, "M"), (10 ** 3, "k")):
        if float(f"{number / size:.3g}") >= 1:  # so 999,999 is 1M, not 1e+03k
            return f"{number / size:.3g}{letter}"
    return f"{number:g}"


def ticks_between(low, high):
    """Round numbers for an axis; the first is at most low, the last at least high."""
    raw = max((high - low) / MOST_TICKS, 1)
    size = 10 ** math.floor(math.log10(raw))
    step = next(size * part for part in (1, 2, 5, 10) if size * part >= raw)
    first = math.floor(low / step) * step
    return [first + step * number for number in range(math.ceil((high - first) / step) + 1)]


def at(points, place):
    """The value of a step curve at a place; None before the curve begins."""
    reached = [value for where, value in points if where <= place]
    return reached[-1] if reached else None


def spread(curves, samples=SAMPLES):
    """[(place, smallest, median, largest value)] of several curves, at places evenly spaced on a logarithmic axis."""
    first = max(min(points[0][0] for points in curves), 1)
    last = max(first, *(points[-1][0] for points in curves))
    places = sorted({round(first * (last / first) ** (number / (samples - 1))) for number in range(samples)} | {last})
    found = []
    for place in places:
        values = sorted(value for value in (at(points, place) for points in curves) if value is not None)
        if values:
            found.append((place, values[0], values[len(values) // 2], values[-1]))
    return found


class Axes:
    """The coordinate system of a curve: executions on a logarithmic axis, edges on a linear one."""

    def __init__(self, band):
        self.first, last = band[0][0], band[-1][0]
        self.last = last if last > self.first else 2 * self.first
        low, high = min(entry[1] for entry in band), max(entry[3] for entry in band)
        self.ticks = ticks_between(low, max(high, low + 1))

    def x(self, place):
        share = math.log(place / self.first) / math.log(self.last / self.first)
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def y(self, value):
        share = (value - self.ticks[0]) / (self.ticks[-1] - self.ticks[0])
        return HEIGHT - BOTTOM - share * (HEIGHT - BOTTOM - TOP)

    def across(self):
        """Labels of the horizontal axis: powers of ten, and the two ends unless they are close to one."""
        powers = [10 ** number for number in range(math.ceil(math.log10(self.first)), math.floor(math.log10(self.last)) + 1)]
        return powers if len(powers) > 1 else [self.first, self.last]

    def svg(self):
        lines = []
        for tick in self.ticks:
            y = self.y(tick)
            lines.append(f'<path class="grid" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>'
                         f'<text x="{LEFT - 5}" y="{y + 4:.1f}" text-anchor="end">{tick:,.0f}</text>')
        for tick in self.across():
            x = self.x(tick)
            anchor = "end" if x > WIDTH - 2 * RIGHT else "middle"
            lines.append(f'<path class="axis" d="M{x:.1f} {HEIGHT - BOTTOM}v4"/>'
                         f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 19}" text-anchor="{anchor}">{short(tick)}</text>')
        lines.append(f'<path class="axis" d="M{LEFT} {TOP}V{HEIGHT - BOTTOM}H{WIDTH - RIGHT}"/>'
                     f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 4}" text-anchor="middle">executions</text>')
        return "".join(lines)


def curve(curves, caption, second=False):
    """curves: lists of (executions, edges), one for each seed; the band reaches from the smallest to the largest of them."""
    band = spread(curves)
    axes = Axes(band)
    kind = " b" if second else ""

    def path(points):
        return "M" + "L".join(f"{axes.x(place):.1f} {axes.y(value):.1f}" for place, value in points)

    area = ""
    if len(curves) > 1:
        around = [(place, most) for place, _, _, most in band] + [(place, least) for place, least, _, _ in reversed(band)]
        area = f'<path class="band{kind}" d="{path(around)}Z"/>'
    middle = [(place, middle) for place, _, middle, _ in band]
    x, y = axes.x(middle[-1][0]), axes.y(middle[-1][1])
    end = f'<circle class="dot{kind}" cx="{x:.1f}" cy="{y:.1f}" r="3"/>'
    return (f'<figure><figcaption>{escape(caption)}</figcaption>\n<svg class="curve" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
            f'aria-label="{escape(caption)}">{axes.svg()}{area}'
            f'<path class="line{kind}" d="{path(middle)}"/>{end}</svg></figure>\n')
