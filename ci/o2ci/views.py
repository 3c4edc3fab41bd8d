# SPDX-License-Identifier: MIT
"""Choose which numbers of a report's rows are shown as which picture (pictures.py), and the text shown if there are none."""

from html import escape

from . import pictures

KIB, MIB = 1 << 10, 1 << 20


def folded(parts, opened=True):
    """Foldable parts [(title, content)]; the first is open."""
    return "".join(f'<details{" open" if number == 0 and opened else ""}><summary>{escape(title)}</summary>\n'
                   f"{inside}</details>\n" for number, (title, inside) in enumerate(parts))


def nothing(words):
    return f'<p class="note">{escape(words)}</p>\n'


# --- pairs of modes and of address kinds ---


def mode_map(row):
    pairs = row.figures["pairs"]
    modes = list(pairs)
    values = [[pairs[source].get(sink) for sink in modes] for source in modes]
    labels = [(mode,) for mode in modes]
    return pictures.heat(labels, labels, values, "transfers moved, by mode", ("source", "sink mode"))


def kinds_of(row):
    """{source mode: {sink mode: {source kind: {sink kind: moved}}}}; None if the row does not have all of them."""
    pairs = (row.figures.get("cross") or {}).get("pairs") or {}
    kinds = {source: {sink: pair.get("kinds") for sink, pair in sinks.items()} for source, sinks in pairs.items()}
    complete = kinds and all(found for sinks in kinds.values() for found in sinks.values())
    return kinds if complete else None


def kind_maps(kinds):
    modes = list(kinds)
    names = list(next(iter(kinds[modes[0]].values())))
    sums = [[sum(kinds[a][b][source][sink] for a in modes for b in modes) for sink in names] for source in names]
    labels = [(name,) for name in names]
    both = [(mode, name) for mode in modes for name in names]
    cells = [[kinds[a][b][source][sink] for b, sink in both] for a, source in both]
    return (pictures.heat(labels, labels, sums, "transfers moved, by address kind", ("source", "sink kind")),
            pictures.heat(both, both, cells, "transfers moved, by mode and address kind", ("source", "sink mode and kind")))


def pairs_html(rows):
    parts = []
    for row in rows:
        if row.figures.get("pairs"):
            kinds = kinds_of(row)
            small, large = kind_maps(kinds) if kinds else (nothing("this row does not say the kinds of addresses"), "")
            parts.append((row.name, f'<div class="side-by-side">\n{mode_map(row)}{small}</div>\n{large}'))
    return folded(parts) or nothing("no transfer property ran: there are no pairs of modes to show")


# --- sizes and fragments ---


def range_words(least):
    """A range as 1, 2-3, 512-1,023, 1-2 KiB, 512-1,024 KiB, 1-2 MiB; with a unit, the upper bound is exclusive."""
    for size, word in ((MIB, "MiB"), (KIB, "KiB")):
        if least >= size:
            return f"{least // size:,}-{2 * least // size:,} {word}"
    return f"{least}-{2 * least - 1:,}" if least > 1 else str(least)


def bars_of(steps):
    """The bars of {least value: {moved, refused}}; each bar ends below the next power of two."""
    return [(range_words(least), step["moved"], step["refused"])
            for least, step in sorted((int(least), step) for least, step in steps.items())]


def drawn_html(rows):
    parts = []
    for row in rows:
        drawn = row.figures.get("drawn")
        if drawn:
            shown = [("bytes to move", "bytes, the upper KiB or MiB left out", drawn["bytes"])]
            shown += [(f"fragments of the {side}", "fragments", steps)
                      for side, steps in drawn["fragments"].items()]
            figures = "".join(pictures.histogram(bars_of(steps), caption, unit, ("moved", "refused"))
                              for caption, unit, steps in shown)
            parts.append((row.name, f'<div class="pictures">\n{figures}</div>\n'))
    return folded(parts) or nothing("no row of this run says which sizes were drawn")


# --- coverage over executions ---


def curves_of(row):
    return [found["points"] for found in row.figures.get("curves", []) if found["points"]]


def is_flat(curves):
    return len({edges for points in curves for _execs, edges in points}) == 1


def curve_html(row):
    curves = curves_of(row)
    first, last = min(points[0][1] for points in curves), max(points[-1][1] for points in curves)
    seeds = f"{len(curves)} seeds" if len(curves) > 1 else "one seed"
    caption = f"{row.title}: {first:,} to {last:,} edges, {seeds}"
    return pictures.curve(curves, caption, second=row.figures.get("engine") == "afl")


def curves_html(rows):
    rows = [row for row in rows if row.group == "fuzz"]
    with_curve = [row for row in rows if curves_of(row)]
    if not with_curve:
        return nothing("no fuzz target of this run left a curve") if rows else nothing("no fuzz target ran")
    absent = [row.title for row in rows if not curves_of(row)]
    note = nothing(f"without a curve: {', '.join(absent)}") if absent else ""
    flat = [row for row in with_curve if is_flat(curves_of(row))]
    grown = "".join(curve_html(row) for row in with_curve if not is_flat(curves_of(row)))
    inside = f'<div class="pictures">\n{"".join(map(curve_html, flat))}</div>\n'
    rest = folded([(f"{len(flat)} without an edge beyond those of the corpus", inside)], opened=not grown) if flat else ""
    words = nothing("edges over executions, on a logarithmic axis. With several seeds (merged shards) the line is the middle one "
                    "and the band goes from the least to the most; a seed that ended earlier keeps its last number. "
                    "Each engine counts edges in its own way.")
    return f'{words}{note}<div class="pictures">\n{grown}</div>\n{rest}'
