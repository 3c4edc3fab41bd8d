#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Tests of the page of the campaign's report (docs/campaign.md, "The report").  A browser (chromium) renders the page
at the width of a desktop and of a phone; without one that part is skipped.  The last line is "N passed, N failed".
"""

import json
import subprocess
import sys
import tempfile
import types
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(ROOT / "tests" / "lib"))

import pages  # noqa: E402
import test_ci  # noqa: E402
from o2ci import baseline, cause, coverage_page, cpu, harness, output, process, reading, table, timeline  # noqa: E402
from o2ci.failures import Failures  # noqa: E402
from o2ci.result import CANNOT_RUN, FINDING, HELD, Finding, Report, Row  # noqa: E402
from test_pictures import fuzz_row, transfer_figures  # noqa: E402

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
        undefined = "/src/sg.c:41:3: runtime error: shift exponent 64 is too large\n    #0 0x1 in o2_sg_cut /src/sg.c:41:3\n"
        self.assertEqual(cause.of_report(undefined), "crash: shift exponent N is too large in o2_sg_cut")
        for program in ("o2props: /a/ref/mem/sg.c:41: o2_sg_build: Assertion `count > 0' failed.",
                        "fuzz_sg: /b/c/sg.c:99: int o2_sg_build(struct o2_sg *): Assertion `count > 0' failed."):
            self.assertEqual(cause.of_report(f"some\n{program}\nAborted\n" + ASAN), "crash: assertion count > 0 in o2_sg_build")
        self.assertEqual(cause.of_report("ended with status 3"), "")

    def test_what_fuzzing_says_of_an_input_is_beside_it(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "crash-1.bin"
            self.assertEqual(cause.of_input(file, "sg", "gap at 17"), ([], "sg: gap at N"))
            file.with_name("crash-1.bin.txt").write_text(ASAN, encoding="utf-8")
            self.assertEqual(cause.of_input(file, "sg", "gap at 17"),
                             (ASAN.splitlines(), "crash: heap-buffer-overflow in o2_sg_build"))

    def test_the_smallest_case_stands_first(self):
        found = [Finding("loop", f"{title}", "again", cause=name, bytes=size)
                 for title, name, size in (("a", "x", None), ("b", "y", 9), ("c", "x", 40), ("d", "x", 12), ("e", "", 1), ("f", "", 1))]
        groups = [(group.name, [finding.title for finding in group.all()]) for group in cause.grouped(found)]
        self.assertEqual(groups, [("x", ["d", "c", "a"]), ("y", ["b"]), ("e", ["e"]), ("f", ["f"])])


class OnDisk(test_ci.TemporaryFolder):
    def setUp(self):
        super().setUp()
        self.folder = self.folder / "report"
        output.prepare(self.folder)
        self.failures = Failures(self.folder / "failures")
        (self.folder / "log").mkdir()

    def found(self, step, name, size, **words):
        case = self.folder / name
        case.write_bytes(bytes(size))
        copy = self.failures.copy(step, case)
        return self.failures.keep(step, name, f"transfer on {step}: wrong <bytes>", f"o2props replay {copy}", ["byte 7 is 8"],
                                  [copy], **words)

    def ran(self, row, began, seconds):
        log = self.folder / "log" / f"{row.step}.log"
        log.write_text(f"the first\nthe last <line> of {row.step}\n")
        return row.ran(process.Outcome(0, seconds, log, began=began), f"o2props run {row.step}")

    def report(self):
        rows = [self.ran(Row("property", "loop", "loopverbs"), 3.0, 60.0),
                self.ran(Row("property", "model", "memory model"), 0.0, 3.0)]
        rows[0].figures = rows[1].figures = transfer_figures()
        rows[0].findings = [self.found("loop", "big", 90, cause="transfer: wrong-bytes")]
        rows[1].findings = [self.found("model", "small", 20, cause="transfer: wrong-bytes")]
        rows += [fuzz_row(target, engine, 63.0 + 5 * number) for number, target in enumerate(("sg_iov", "dump"))
                 for engine in ("libfuzzer", "afl")]
        return Report(7, "quick", 1, "2026-01-01T00:00:00+00:00", "ci/campaign", {"o2ref": "abc"}, 80.0, rows)

    def write(self, report):
        output.write(report, self.folder)
        text = (self.folder / "index.html").read_text(encoding="utf-8")
        return text, pages.Document(text).root


class ProcessorTime(OnDisk):
    BUSY = "import time\nwhile time.process_time() < 0.5: pass"

    def test_of_what_a_program_started(self):
        """The processor time of a child that was waited for counts; time spent asleep does not."""
        children = process.Children(self.folder / "log")
        children.say = lambda *_words: None
        outcome = children.run("busy", ["sh", "-c", f"{sys.executable} -c '{self.BUSY}'; sleep 0.2"])
        self.assertTrue(0.4 < outcome.cpu_seconds < 5, outcome)
        self.assertLess(children.run("idle", ["sleep", "0.3"]).cpu_seconds, 0.2)

    def test_of_a_tree_that_runs(self):
        """Processes in a session of their own count as well: AFL++ starts what it fuzzes in one."""
        program = f"setsid -w {sys.executable} -c '{self.BUSY}\nprint(1, flush=True)\ninput()'; true"
        with subprocess.Popen(["sh", "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as running:
            running.stdout.readline()
            self.assertTrue(0.4 < cpu.of_tree(running.pid) < 5)
            running.communicate(b"\n")
        self.assertEqual(cpu.of_tree(running.pid), 0)
        self.assertIsNone(cpu.of_ended(running.pid))


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


class Baseline(OnDisk):
    def rows(self, speeds, edges):
        long, short = ({**transfer_figures(), "cases": speed * seconds, "seconds": 99.0, "cpu_seconds": float(seconds)}
                       for speed, seconds in zip(speeds, (8, 1)))
        return [Row("property", "loop", "loopverbs", 9.0, figures=long), Row("property", "model", "memory model", 2.0, figures=short),
                *(fuzz_row(name, "afl", 0, edges=count, execs=speeds[2] * 6, cpu_seconds=6.0) for name, count in edges.items())]

    def compared(self):
        before, now = self.report(), self.report()
        before.rows = self.rows((1000, 1000, 200), {"sg_iov": 30, "dump": 50, "json": 9})
        now.rows = self.rows((700, 100, 310), {"sg_iov": 33, "dump": 49, "keys": 9})
        before.rows[0].findings = [self.found("loop", name, 9, cause=name) for name in ("old", "both")]
        now.rows[0].findings = [self.found("loop", name, 9, cause=name) for name in ("both", "new")]
        return before, now, baseline.compare(before, now, "build/last")

    def test_what_differs(self):
        _, _, found = self.compared()
        self.assertEqual([entry[0].name for entry in found.slower], ["loopverbs"])  # the model ran a second: noise
        self.assertEqual([entry[0].name for entry in found.faster], ["sg_iov", "dump"])
        edges = [(entry[0].name, *entry[1:]) for entry in found.gained + found.lost]
        self.assertEqual(edges, [("sg_iov", 30, 33), ("dump", 50, 49)])
        self.assertEqual([group.name for group in found.new + found.gone], ["new", "old"])
        self.assertEqual(found.still, 1)
        self.assertEqual(found.absent, ["only now: keys under afl", "only before: json under afl"])

    def test_what_did_not_run_is_not_gone(self):
        before, now, _ = self.compared()
        now.rows[0].findings, now.rows[0].reason = [], "no guest"
        self.assertEqual(baseline.compare(before, now, "x").gone, [])
        del now.rows[0]
        self.assertEqual(baseline.compare(before, now, "x").gone, [])

    def test_noise(self):
        before, now, _ = self.compared()
        for speed, faster, slower in ((1249, 0, 0), (1251, 1, 0), (801, 0, 0), (799, 0, 1)):
            now.rows[0].figures["cases"] = speed * 8
            found = baseline.compare(before, now, "x")
            self.assertEqual((len(found.faster) - 2, len(found.slower)), (faster, slower), speed)
        for execs, faster in ((299, 0), (301, 1)):
            now.rows[2].figures["execs"] = execs * 6
            self.assertEqual(len(baseline.compare(before, now, "x").faster) - 1, faster)

    def test_clock_and_processor_are_not_compared(self):
        before, now, _ = self.compared()
        del now.rows[0].figures["cpu_seconds"]
        self.assertEqual(baseline.compare(before, now, "x").rates, 2)
        del before.rows[0].figures["cpu_seconds"]
        found = baseline.compare(before, now, "x")
        self.assertEqual([(unit, now) for _row, unit, _before, now in found.slower], [("cases/s", 700 * 8 / 99)])

    def test_it_is_shown(self):
        _, now, now.against = self.compared()
        _, root = self.write(now)
        text = table.text(now)
        for words in ("2 faster, 1 slower of 3 rates; less than 25% (50% of a fuzz target)",
                      "1 targets with new edges, 1 with fewer, of 2", "1 new findings, 1 as before, 1 gone"):
            self.assertIn(words, text)
            self.assertIn(words, root.text())
        self.assertRegex(text, r"(?m)^slower +loopverbs +cases/CPU s +1,000 +700 +-30%$")
        self.assertRegex(text, r"(?m)^new edges +sg_iov under afl +edges +30 +33 +\+3$")
        read = json.loads((self.folder / "report.json").read_text())["against"]
        self.assertEqual((len(read["faster"]), read["gained"][0]["now"]), (2, 33))

    def test_a_broken_one_is_a_usage_error(self):
        self.write(self.compared()[0])
        broken = json.loads((self.folder / "report.json").read_text())
        broken["rows"][0]["figures"]["cpu_seconds"] = "long"
        texts = {"no JSON": "", "not of form": "[]", "of version 9": json.dumps({**broken, "version": 9}),
                 "has not ended": json.dumps({**broken, "status": None}), "figures that are none": json.dumps(broken),
                 "cannot be read": None}
        for words, text in texts.items():
            (self.folder / "report.json").unlink()
            if text is not None:
                (self.folder / "report.json").write_text(text)
            for command in (["ci/campaign"], ["ci/merge", self.folder]):
                done = subprocess.run([ROOT / command[0], *command[1:], "--baseline", self.folder], capture_output=True, text=True,
                                      check=False)
                self.assertEqual(done.returncode, 2, (command, words))
                self.assertIn(f"--baseline is {self.folder}, which cannot be compared with: ", done.stderr)
                self.assertIn(words, done.stderr)


class Coverage(OnDisk):
    def test_a_page_of_the_source(self):
        text = ["int f(int a)", "{", "\tif (a < 1 && a > <b>)", "\t\treturn 1;", "}", ""]
        missed = [(3, "true", "a < 1"), (4, "line", "return 1;")]
        reasons = {("line", "return 1;"): "nobody <asks>"}
        file = coverage_page.File("wire", "ref/x/f.c", text, {1: 20000, 3: 7, 4: 0}, missed, reasons)
        other = coverage_page.File("wire", "ref/x/f.h", ["#define X 1", ""], {}, [], {})
        root = pages.Document(coverage_page.html([file, other], "commit abc")).root
        self.assertIn("2 of 3 lines in 2 files", root.text())
        lines = [line.text() for line in root.find("div", "source")[0].find("div")]
        self.assertEqual(lines[0], "    1     20k int f(int a)")
        self.assertEqual(lines[2], "    3       7         if (a < 1 && a > <b>)never true: a < 1; no reason is listed")
        self.assertEqual(lines[3], "    4       0                 return 1;not reached. nobody <asks>")
        self.assertEqual([line.attributes.get("class") for line in root.find("div", "source")[0].find("div")],
                         [None, None, "part", "missed", None])
        self.assertEqual([[cell.text() for cell in row.find("td")] for row in root.find("tr")[1:]],
                         [["ref/x/f.c", "wire", "3", "66.7%", "2", "1"], ["ref/x/f.h", "wire", "0", "-", "", ""]])
        ids = [node.attributes.get("id") for node in root.find("details")]
        self.assertEqual(["#" + name for name in ids], [link.attributes["href"] for link in root.find("table")[0].find("a")])

    def test_what_its_end_means(self):
        for status, words, verdict in ((0, "57 passed, 0 failed", HELD), (1, "56 passed, 1 failed", FINDING),
                                       (77, "cannot run: missing: llvm-cov", CANNOT_RUN)):
            outcome = self.outcome(status, f"wire: 1 file\n{words}\n")
            children = types.SimpleNamespace(run=lambda *_words, **_options: outcome)
            row = harness.coverage(children, self.failures, self.folder / coverage_page.NAME)
            self.assertEqual((row.verdict, row.figures["what"], row.again), (verdict, words, "ci/coverage"))

    def test_the_report_says_where_it_is(self):
        _, root = self.write(self.report())
        self.assertIn("not measured: that is what ci/campaign --coverage does", root.text())
        (self.folder / coverage_page.NAME).write_text("x")
        _, root = self.write(self.report())
        self.assertIn(coverage_page.NAME, [link.attributes["href"] for link in root.find("a")])


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
        ticks = [node.text() for node in line.find(css="ticks")[0].find("span")]
        self.assertEqual(ticks, ["0:00", "0:20", "0:40", "1:00", "1:13"])

    def test_without_times(self):
        self.assertIn("no row of this report says when", timeline.html([Row("fuzz", "fuzz", "x")]))
        self.assertEqual([timeline.clock(seconds) for seconds in (0, 59.6, 3725)], ["0:00", "1:00", "1:02:05"])


@unittest.skipIf(pages.NO_BROWSER, pages.NO_BROWSER)
class Browser(OnDisk):
    """For each colour scheme, a page is rendered that has a frame for each page and width, and measures them."""

    MEASURE = """<!DOCTYPE html><meta charset=utf-8>
<iframe style="width:1280px;height:800px" frameborder=0 src=index.html></iframe>
<iframe style="width:390px;height:800px" frameborder=0 src=index.html></iframe>
<iframe style="width:1280px;height:800px" frameborder=0 src=coverage.html></iframe>
<iframe style="width:390px;height:800px" frameborder=0 src=coverage.html></iframe><pre id=out></pre><script>onload = () => {
  out.textContent = JSON.stringify([...document.querySelectorAll("iframe")].map((frame) => {
    const page = frame.contentDocument;
    for (const details of page.querySelectorAll("details")) details.open = true;
    const style = frame.contentWindow.getComputedStyle(page.body);
    const inside = (node) => node.closest(".wide, pre, svg, .source") !== null;
    const words = (box) => [...box.querySelectorAll("text, span")].map((node) => node.getBoundingClientRect());
    const meet = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1;
    const outside = (box, of) => box.left < of.left - 1 || box.right > of.right + 1 || box.top < of.top - 1
      || box.bottom > of.bottom + 1;
    const pictures = [...page.querySelectorAll("svg, .ticks")];
    return {pictures: pictures.length, together: pictures.filter((box) => words(box).some((a, i) =>
        words(box).some((b, j) => i < j && meet(a, b)) || outside(a, box.getBoundingClientRect())))
          .map((box) => box.outerHTML.slice(0, 999)),
      wide: page.documentElement.scrollWidth, paper: style.backgroundColor, ink: style.color,
      over: [...page.querySelectorAll("body *")].filter((node) => !inside(node)
        && node.getBoundingClientRect().right > frame.clientWidth + 1).map((node) => node.outerHTML.slice(0, 99))};
  }));
}</script>"""

    def test_it_fits_a_desk_and_a_phone(self):
        report = self.report()
        long = [("int a_long_line; " * 20).strip(), "}"]
        file = coverage_page.File("wire", "ref/x/f.c", long, {1: 0}, [(1, "line", long[0])], {})
        (self.folder / coverage_page.NAME).write_text(coverage_page.html([file], "commit abc"), encoding="utf-8")
        report.against = baseline.compare(self.report(), report, "build/last")
        self.write(report)
        (self.folder / "measure.html").write_text(self.MEASURE, encoding="utf-8")
        browser = pages.Browser()
        self.addCleanup(browser.close)
        for dark in (False, True):
            dom = browser.dom(self.folder / "measure.html", "dark" if dark else "light")
            for width, seen in zip((1280, 390) * 2, json.loads(pages.Document(dom).root.find("pre")[0].text())):
                with self.subTest(f"{width} pixels, dark {dark}"):
                    self.assertLessEqual(seen["wide"], width)
                    self.assertEqual((seen["over"], seen["together"]), ([], []))
                    self.assertIn(seen["pictures"], (5, 0))  # four curves and the ticks; coverage.html: none
                    bright = [int(seen[name].split("(")[1].split(",")[0]) for name in ("paper", "ink")]
                    self.assertEqual(bright[0] < 64, dark)
                    self.assertGreater(abs(bright[0] - bright[1]), 128)


if __name__ == "__main__":
    sys.exit(test_ci.main(sys.modules[__name__]))
