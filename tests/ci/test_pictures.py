#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Tests of the pictures of a campaign's page (docs/campaign.md, "The report").  The last line is "N passed, N failed"."""

import json
import re
import subprocess
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

import test_ci  # noqa: E402
sys.path.insert(0, str(test_ci.ROOT / "tests" / "lib"))
import pages  # noqa: E402
from o2ci import pictures, place, style, views  # noqa: E402
from o2ci.result import Row  # noqa: E402
from o2fuzz import curve  # noqa: E402


class Curves(unittest.TestCase):
    def test_processes_are_joined(self):
        self.assertEqual(curve.joined([[(10, 5), (20, 7)], [(10, 6), (30, 9)]]), [(10, 5), (20, 7), (30, 7), (50, 9)])
        self.assertEqual(curve.joined([]), [])

    def test_thinned_keeps_the_ends(self):
        points = [(number * number + 1, number // 2) for number in range(1000)]
        kept = curve.thinned(points)
        self.assertLessEqual(len(kept), curve.MOST)
        self.assertGreater(len(kept), curve.MOST // 2)
        self.assertEqual((kept[0], kept[-1]), (points[0], points[-1]))
        self.assertEqual(kept, sorted(set(kept)))
        self.assertEqual(curve.thinned([(1, 4), (2, 4), (3, 4)]), [(1, 4), (3, 4)])
        self.assertEqual(curve.thinned([(7, 4)]), [(7, 4)])
        self.assertEqual(curve.thinned([]), [])


def fuzz_row(target, engine, begin, **figures):
    curves = [{"seed": 1, "points": [[10, 5], [1000, 30]]}]
    counts = {"execs": 1000, "execs_per_sec": 200, "edges": 30, "curves": curves, **figures}
    return Row("fuzz", "fuzz", target, 5.0, figures={"target": target, "engine": engine, **counts},
               runs=[{"begin": begin, "seconds": 5.0, "log": ""}])


def transfer_figures():
    """Figures of a transfer row in which all numbers of `kinds` differ."""
    modes, kinds = ("global", "fmr", "user"), ("bus", "virtual", "iommu")
    numbers = iter(range(10 ** 6))
    pairs = {a: {b: {"cells": 72, "met": 9, "least": 0, "kinds": {c: {d: next(numbers) for d in kinds} for c in kinds}}
                 for b in modes} for a in modes}
    moved = {a: {b: sum(sum(row.values()) for row in pair["kinds"].values()) for b, pair in sinks.items()}
             for a, sinks in pairs.items()}
    steps = {"1": {"moved": 3, "refused": 0}, "1024": {"moved": 60, "refused": 20}, "1048576": {"moved": 0, "refused": 8}}
    cross = {"pairs": pairs, "polarity": {"<1,1>": {"cells": 9, "met": 1, "least": 0, "moved": 1}},
             "user_kiov_refused": {"cells": 12, "met": 11}}
    return {"cases": 91, "moved": 63, "refused": 28, "bytes": 1 << 20, "pairs": moved, "cross": cross,
            "drawn": {"bytes": steps, "fragments": {"source": steps, "sink": steps}}}


def numbers_of(nodes):
    return [int(node.text().replace(",", "")) for node in nodes]


class Pictures(unittest.TestCase):
    def row(self):
        return Row("property", "loop", "loopverbs", figures=transfer_figures())

    def test_heat_maps_print_every_number(self):
        root = pages.Document(views.pairs_html([self.row()])).root
        modes, kinds, both = [numbers_of(table.find("td")) for table in root.find("table", "heat")]
        figures = transfer_figures()
        self.assertEqual(modes, [number for row in figures["pairs"].values() for number in row.values()])
        self.assertEqual(len(kinds), 9)
        self.assertEqual(sorted(both), list(range(81)))
        self.assertEqual((sum(kinds), sum(both)), (sum(modes), sum(modes)))
        large = root.find("table", "heat")[2]
        self.assertEqual(len(large.find("td", "never")), 1)
        # From source fmr, iommu to sink global, virtual: pair 3 of modes, kinds 2 and 1.
        self.assertEqual(numbers_of(large.find("tr")[3 + 5].find("td"))[1], 3 * 9 + 2 * 3 + 1)
        self.assertEqual({len(row.find("td")) for row in large.find("tr")[3:]}, {9})

    def test_colours_are_those_of_the_scale(self):
        for low, high in ((1, 9), (1, 10), (3, 1000), (7, 7), (1, 2)):
            scale = pages.Document(pictures.scale_html(low, high)).root.find("span")[1:]
            for value in {low, high, (low + high) // 2, min(low + 1, high)}:
                colour = f"h{pictures.step_of(value, low, high)}"
                words = [span.text().replace(",", "").split(" to ") for span in scale if colour in span.classes]
                self.assertEqual(len(words), 1, (low, high, value))
                self.assertTrue(int(words[0][0]) <= value <= int(words[0][-1]), (low, high, value, words))

    def test_numbers_on_colours_can_be_read(self):
        """Contrast as the Web Content Accessibility Guidelines define it: 4.5 is what text needs."""
        def luminance(colour):
            digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
            parts = [int(digits[at:at + 2], 16) / 255 for at in (0, 2, 4)]
            linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
            return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

        pairs = list(style.STEPS)
        schemes = [dict(re.findall(r"--(\w+): (#\w+)", block)) for block in re.findall(r":root \{(.*?)\}", style.PAGE, re.S)]
        self.assertEqual(len(schemes), 2)
        for scheme in schemes:
            pairs += [(scheme["paper"], scheme[name]) for name in ("ink", "dim", "held", "bad", "cannot", "link")]
            pairs += [(scheme["soft"], scheme["ink"]), (scheme["soft"], scheme["dim"]), (scheme["never"], scheme["bad"])]
        for paper, ink in pairs:
            low, high = sorted(map(luminance, (paper, ink)))
            self.assertGreaterEqual((high + 0.05) / (low + 0.05), 4.5, (paper, ink))

    def test_histogram(self):
        figure = pages.Document(views.drawn_html([self.row()])).root.find("figure")[0]
        self.assertEqual([node.text() for node in figure.find("b")], ["1", "1-2 KiB", "1-2 MiB"])
        self.assertEqual([node.text() for node in figure.find("i")], ["3 + 0", "60 + 20", "0 + 8"])
        self.assertEqual([bar.attributes["style"] for bar in figure.find("u")],
                         ["width:3.75%", "width:75.00%", "width:25.00%", "width:10.00%"])

    def test_spread_over_seeds(self):
        curves = [[(10, 5), (1000, 30)], [(1, 7), (100, 20), (1000, 40)], [(10, 6), (500, 35)]]
        band = pictures.spread(curves)
        self.assertEqual((band[0], band[-1]), ((1, 7, 7, 7), (1000, 30, 35, 40)))
        for place, least, middle, most in band:
            self.assertTrue(least <= middle <= most)
        one = views.curve_html(fuzz_row("sg_iov", "afl", 0))
        seeds = [{"seed": seed, "points": points} for seed, points in enumerate(curves)]
        three = views.curve_html(fuzz_row("sg_iov", "afl", 0, curves=seeds))
        self.assertIn("sg_iov under afl: 5 to 30 edges, one seed", one)
        self.assertIn("5 to 40 edges, 3 seeds", three)
        self.assertEqual([len(pages.Document(text).root.find("path", "band")) for text in (one, three)], [0, 1])

    def test_axes(self):
        self.assertEqual(pictures.ticks_between(145, 146), [145, 146])
        self.assertEqual(pictures.ticks_between(261, 350), [250, 300, 350])
        self.assertEqual([pictures.short(number) for number in (70, 1000, 10 ** 5, 10 ** 7)], ["70", "1k", "100k", "10M"])
        self.assertEqual([pictures.short(number) for number in (999, 999499, 999500, 999999, 999999999)],
                         ["999", "999k", "1M", "1M", "1G"])
        for points in ([(7, 3)], [(0, 0)], [(0, 0), (1, 1)], [(5, 3), (6, 3)], [(1, 1), (10 ** 9, 10 ** 5)]):
            root = pages.Document(pictures.curve([points], "x")).root
            for text in root.find("text"):
                self.assertTrue(0 <= float(text.attributes["x"]) <= pictures.WIDTH)
                self.assertTrue(0 <= float(text.attributes["y"]) <= pictures.HEIGHT)
            self.assertNotIn("nan", str(root.find("path", "line")[0].attributes["d"]))

    def test_without_numbers(self):
        self.assertIn("no transfer property ran", views.pairs_html([Row("model", "sg", "sg")]))
        self.assertIn("no row of this run says which sizes", views.drawn_html([Row("property", "loop", "loopverbs")]))
        self.assertIn("no fuzz target ran", views.curves_html([]))
        self.assertIn("left a curve", views.curves_html([fuzz_row("x", "afl", 0, curves=[])]))
        older = self.row()
        for row in older.figures["cross"]["pairs"].values():
            for pair in row.values():
                del pair["kinds"]
        self.assertIn("does not say the kinds", views.pairs_html([older]))

    @unittest.skipUnless(place.program("o2props").exists(), "o2props is not built")
    def test_what_a_run_says_adds_up(self):
        done = subprocess.run([place.program("o2props"), "run", "--device", "model", "--cases", "200", "--seed", "3", "--json"],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
        found = json.loads(done.stdout)
        for verdict in ("moved", "refused"):
            self.assertEqual(sum(step[verdict] for step in found["drawn"]["bytes"].values()), found[verdict])
        for steps in found["drawn"]["fragments"].values():
            self.assertEqual(sum(step["moved"] for step in steps.values()), found["moved"])
        for source, row in found["cross"]["pairs"].items():
            for sink, pair in row.items():
                self.assertEqual(sum(sum(kinds.values()) for kinds in pair["kinds"].values()), found["pairs"][source][sink])


if __name__ == "__main__":
    sys.exit(test_ci.main(sys.modules[__name__]))
