#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Tests of the campaign's report as something to look at (docs/campaign.md, "The report").  A browser (chromium) draws the page
at the width of a desk and of a phone; without one that part is skipped.  The last line is "N passed, N failed".
"""

import json
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "ci"))
sys.path.insert(0, str(ROOT / "tests" / "lib"))

import pages  # noqa: E402
from o2ci import cause, output, process, reading, table, timeline  # noqa: E402
from o2ci.failures import Failures  # noqa: E402
from o2ci.result import Finding, Report, Row  # noqa: E402
from o2fuzz import curve  # noqa: E402

ASAN = """==7==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x602000000018 at pc 0x4c
READ of size 8 at 0x602000000018 thread T0
    #0 0x49a in __asan_memcpy (/b/fuzz_sg_iov+0x49a)
    #1 0x4cb in o2_sg_build /src/ref/mem/sg.c:41:3
    #2 0x4cc in LLVMFuzzerTestOneInput /src/fuzz/sg_iov.c:9:2
SUMMARY: AddressSanitizer: heap-buffer-overflow (/b/fuzz_sg_iov+0x49a) in __asan_memcpy
"""


class Causes(unittest.TestCase):
    def test_a_property_and_an_engine_say_the_same(self):
        self.assertEqual(cause.of_signature("keys", "keys/flags"), cause.of_report("x\no2ref fuzz: keys: keys/flags\nABRT"))
        self.assertEqual(cause.of_signature("sg", "gap at 17"), cause.of_signature("sg", "gap at 0x9"))
        self.assertNotEqual(cause.of_signature("sg", "gap"), cause.of_signature("dma", "gap"))

    def test_a_crash_is_named_by_the_top_of_its_stack(self):
        self.assertEqual(cause.of_report(ASAN), "crash: heap-buffer-overflow in o2_sg_build")
        undefined = "/src/ref/mem/sg.c:41:3: runtime error: shift exponent 64 is too large\n    #0 0x1 in o2_sg_cut /src/sg.c:41:3\n"
        self.assertEqual(cause.of_report(undefined), "crash: shift exponent N is too large in o2_sg_cut")
        for program in ("o2props: /a/ref/mem/sg.c:41: o2_sg_build: Assertion `count > 0' failed.",
                        "fuzz_sg: /b/c/sg.c:99: int o2_sg_build(struct o2_sg *): Assertion `count > 0' failed."):
            self.assertEqual(cause.of_report(f"some\n{program}\nAborted\n" + ASAN), "crash: assertion count > 0 in o2_sg_build")
        self.assertEqual(cause.of_report("ended with status 3"), "")

    def test_the_smallest_case_stands_first(self):
        found = [Finding("loop", f"{title}", "again", cause=name, bytes=size)
                 for title, name, size in (("a", "x", None), ("b", "y", 9), ("c", "x", 40), ("d", "x", 12), ("e", "", 1), ("f", "", 1))]
        groups = [(group.name, [finding.title for finding in group.all()]) for group in cause.grouped(found)]
        self.assertEqual(groups, [("x", ["d", "c", "a"]), ("y", ["b"]), ("e", ["e"]), ("f", ["f"])])


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
    counts = {"execs": 1000, "execs_per_sec": 200, "edges": 30, "curves": [{"seed": 1, "points": [[10, 5], [1000, 30]]}], **figures}
    return Row("fuzz", "fuzz", target, 5.0, figures={"target": target, "engine": engine, **counts},
               runs=[{"begin": begin, "seconds": 5.0, "log": ""}])


class OnDisk(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="o2ref-test-report-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name) / "report"
        output.prepare(self.folder)
        self.failures = Failures(self.folder / "failures")
        (self.folder / "log").mkdir()

    def found(self, step, name, size, **words):
        case = self.folder / name
        case.write_bytes(bytes(size))
        copy = self.failures.copy(step, case)
        return self.failures.keep(step, name, f"transfer on {step}: wrong <bytes>", f"o2props replay {copy}", ["byte 7 is 8"], [copy],
                                  **words)

    def ran(self, row, began, seconds):
        log = self.folder / "log" / f"{row.step}.log"
        log.write_text(f"the first\nthe last <line> of {row.step}\n")
        return row.ran(process.Outcome(0, seconds, log, began=began), f"o2props run {row.step}")

    def report(self):
        rows = [self.ran(Row("property", "loop", "loopverbs"), 3.0, 60.0), self.ran(Row("property", "model", "memory model"), 0.0, 3.0)]
        rows[0].findings = [self.found("loop", "big", 90, cause="transfer: wrong-bytes")]
        rows[1].findings = [self.found("model", "small", 20, cause="transfer: wrong-bytes")]
        rows += [fuzz_row(target, engine, 63.0 + 5 * number) for number, target in enumerate(("sg_iov", "dump"))
                 for engine in ("libfuzzer", "afl")]
        return Report(7, "quick", 1, "2026-01-01T00:00:00+00:00", "ci/campaign", {"o2ref": "abc"}, 80.0, rows)

    def write(self, report):
        output.write(report, self.folder)
        text = (self.folder / "index.html").read_text(encoding="utf-8")
        return text, pages.Document(text).root


class Links(OnDisk):
    def test_all_lead_somewhere(self):
        text, root = self.write(self.report())
        ids = [node.attributes["id"] for node in root.all() if "id" in node.attributes]
        self.assertEqual(len(ids), len(set(ids)))
        files = set()
        for link in root.find("a"):
            target = link.attributes["href"]
            if target.startswith("#"):
                self.assertIn(target[1:], ids)
            else:
                self.assertTrue((self.folder / target).is_file(), target)
                files.add(target)
        self.assertLessEqual({"log/loop.log", "log/model.log", "failures/loop-big", "failures/model-small.txt"}, files)
        self.assertNotIn("<script", text)
        self.assertIn("the last &lt;line&gt; of loop", text)
        for row in [node for node in root.find("section") if node.attributes["id"].startswith("row-")][:2]:
            self.assertIn("replay: o2props run ", row.text())

    def test_one_cause_is_one_finding(self):
        report = self.report()
        _, root = self.write(report)
        self.assertIn("2 findings of 1 cause", root.text())
        section, = [node for node in root.find("section") if node.attributes["id"].startswith("cause-")]
        self.assertEqual([node.text() for node in section.find("h3") + section.find("summary")],
                         ["transfer on model: wrong <bytes>", "transfer on loop: wrong <bytes>"])
        self.assertIn("step model, 20 bytes", section.text())
        text = table.text(report)
        self.assertEqual(text.count("FINDING transfer"), 1)
        self.assertIn("the same cause: transfer on loop: wrong <bytes>", text)

    def test_rows_are_read_back(self):
        report = self.report()
        output.write(report, self.folder)
        self.assertEqual(reading.read(self.folder).as_json(), report.as_json())


class TimeLine(OnDisk):
    def test_bars_are_where_the_rows_ran(self):
        _, root = self.write(self.report())
        line, = root.find("div", "time")
        tracks = [[bar.attributes["style"] for bar in track.find("a")] for track in line.find("div", "track")]
        self.assertEqual(len(tracks), 4)  # two steps, two engines
        end = 73.0
        self.assertEqual(tracks[1], [f"left:{300 / end:.2f}%;width:{6000 / end:.2f}%"])
        self.assertEqual([len(track) for track in tracks], [1, 1, 2, 2])
        labels = [node.text() for node in line.inside if isinstance(node, pages.Node) and node.tag == "a"]
        self.assertEqual(labels, ["memory model", "loopverbs", "fuzz, libfuzzer", "fuzz, afl"])
        self.assertEqual([node.text() for node in line.find(css="ticks")[0].find("span")], ["0:00", "0:20", "0:40", "1:00", "1:13"])

    def test_without_times(self):
        self.assertIn("no row of this report says when", timeline.html([Row("fuzz", "fuzz", "x")]))
        self.assertEqual([timeline.clock(seconds) for seconds in (0, 59.6, 3725)], ["0:00", "1:00", "1:02:05"])


@unittest.skipIf(pages.NO_BROWSER, pages.NO_BROWSER)
class Browser(OnDisk):
    """One start of the browser for all widths and both schemes costs least: frames, in a page that measures them."""

    MEASURE = """<!DOCTYPE html><meta charset=utf-8>
<iframe style="width:1280px;height:800px" frameborder=0 src=index.html></iframe>
<iframe style="width:390px;height:800px" frameborder=0 src=index.html></iframe><pre id=out></pre><script>onload = () => {
  out.textContent = JSON.stringify([...document.querySelectorAll("iframe")].map((frame) => {
    const page = frame.contentDocument;
    for (const details of page.querySelectorAll("details")) details.open = true;
    const style = frame.contentWindow.getComputedStyle(page.body);
    const inside = (node) => node.closest(".wide, pre, svg") !== null;
    return {wide: page.documentElement.scrollWidth, paper: style.backgroundColor, ink: style.color,
      over: [...page.querySelectorAll("body *")].filter((node) => !inside(node)
        && node.getBoundingClientRect().right > frame.clientWidth + 1).map((node) => node.outerHTML.slice(0, 99))};
  }));
}</script>"""

    def test_it_fits_a_desk_and_a_phone(self):
        self.write(self.report())
        (self.folder / "measure.html").write_text(self.MEASURE, encoding="utf-8")
        for dark in (False, True):
            dom = pages.chromium(self.folder.parent / "profile", f"--blink-settings=preferredColorScheme={int(not dark)}",
                                 "--window-size=1400,900", "--dump-dom", f"file://{self.folder}/measure.html")
            for width, seen in zip((1280, 390), json.loads(pages.Document(dom).root.find("pre")[0].text())):
                with self.subTest(f"{width} pixels, dark {dark}"):
                    self.assertLessEqual(seen["wide"], width)
                    self.assertEqual(seen["over"], [])
                    bright = [int(seen[name].split("(")[1].split(",")[0]) for name in ("paper", "ink")]
                    self.assertEqual(bright[0] < 64, dark)
                    self.assertGreater(abs(bright[0] - bright[1]), 128)


def main():
    result = unittest.TextTestRunner(verbosity=1, stream=sys.stdout).run(
        unittest.defaultTestLoader.loadTestsFromModule(sys.modules[__name__]))
    failed = len(result.failures) + len(result.errors)
    skipped = len(result.skipped)
    for _test, reason in result.skipped:
        print(f"skipped: {reason}")
    print(f"{result.testsRun - failed - skipped} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 0 if failed == 0 and result.testsRun else 1


if __name__ == "__main__":
    sys.exit(main())
