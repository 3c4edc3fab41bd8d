#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Test the page of o2ref check --html: a section for each cause, an index with links, pictures of the implementation's answers.

A browser (chromium) renders it, at the width of a desktop and of a phone; without a browser that part is skipped.

usage: test_check_pages.py DIRECTORY   of o2ref and the implementations of tests/impl/reference.  Last line "N passed, N failed".
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
BUILD = Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 else Path("build").resolve()
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "impl"))
from broken.defects import DEFECTS as DEFECTS_OF_OTHERS  # noqa: E402
from builds import Broken  # noqa: E402
from test_judge_pages import NO_BROWSER, Document, suite  # noqa: E402

STAGES = ("msg_decode", "msg_encode", "sg_build", "dma_map", "reg_plan", "rdma_plan", "transfer", "device", "rdma_chain",
          "connect", "deliver", "keys", "send_plan", "setup", "flow")
# {defect: (check, mark in the picture of the answer)}: bytes that are wrong, or that are lost.
DEFECTS = {"fmr-collapse-gapped": ("reg/fmr/bytes", "wrong"), "open-work-request": ("rdma/sink-bytes", "lost"),
           "cut-offset-lost": ("sg/iov/bytes", "wrong"), "dma-offset-lost": ("dma/bus/bytes", "wrong")}


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        cls.path = Path(cls.directory.name)
        cls.made = {defect: cls.page(defect) for defect in DEFECTS}

    @classmethod
    def tearDownClass(cls):
        cls.directory.cleanup()

    @classmethod
    def page(cls, defect):
        """The result, the page, and the page as a tree without the pictures, which have self-closing tags."""
        names = [cls.path / f"{defect}.{kind}" for kind in ("json", "html")]
        subprocess.run([BUILD / "o2ref", "check", "--no-corpus", "--cases", "6000", "--shrink", "600", "--json", names[0],
                        "--html", names[1], "--label", "tree <7>", BUILD / "impl_mutants.so"], capture_output=True, timeout=240,
                       check=False, env={**os.environ, "O2_MUTANT": defect})
        text = names[1].read_text(encoding="utf-8")
        return json.loads(names[0].read_text())["implementations"][0], text, Document(
            re.sub(r"<svg.*?</svg>", "", text, flags=re.S).replace("<!DOCTYPE html>", "")).root

    def test_a_section_for_each_cause_and_an_index_by_stage_and_severity(self):
        for defect, (one, _, root) in self.made.items():
            with self.subTest(defect):
                causes = {f"i0-c{finding['cause']}" for finding in one["findings"]}
                self.assertEqual(len(causes), one["causes"])
                sections = root.find("section", "cause")
                self.assertEqual([each.attributes["id"] for each in sections], [f"i0-c{n + 1}" for n in range(len(causes))])
                index, = root.find("table", "index")
                rows = [[cell.text() for cell in row.find("td")] for row in index.find("tr")[1:]]
                self.assertEqual({a.attributes["href"] for a in index.find("a")}, {f"#{cause}" for cause in causes})
                order = [(STAGES.index(row[0]), row[1] != "must") for row in rows]
                self.assertEqual(order, sorted(order))
                self.assertIn("tree <7>", root.find("h2")[0].text())

    def test_what_the_answer_does_is_drawn(self):
        for defect, (check, fate) in DEFECTS.items():
            with self.subTest(defect):
                finding = next(each for each in self.made[defect][0]["findings"]
                               if each["check"] == check and each["stage"] in STAGES[:7])
                kinds = re.findall(r'<rect class="(\w+)"', finding["strip"])
                self.assertIn(fate, kinds)
                self.assertIn(finding["strip"], self.made[defect][1])
                count = {word: int(number) for number, word in re.findall(r"(\d+) (right|wrong|lost|too many)", finding["strip"])}
                self.assertGreater(count[fate], 0)

    def test_the_answer_is_drawn_in_a_transfer(self):
        """Bytes that go to a wrong place or get lost are red in the sink, or the next stage refuses the answer."""
        said = {"fmr-collapse-gapped": "wrong bytes in the sink&#39;s memory: 1;|wrong bytes in the sink's memory: 1;",
                "open-work-request": "were never written", "cut-offset-lost": "refused by dma_map",
                "dma-offset-lost": "which is outside the source's buffer"}
        for defect, (check, _) in DEFECTS.items():
            with self.subTest(defect):
                finding = next(each for each in self.made[defect][0]["findings"]
                               if each["check"] == check and each["stage"] in STAGES[:7])
                picture = finding["answer_picture"]
                self.assertRegex(picture, said[defect])
                self.assertEqual('fill="#d00000"/>' in picture.split("<text", 1)[1].rsplit("bytes of the transfer", 1)[0],
                                 defect != "cut-offset-lost")
                self.assertIn(picture, self.made[defect][1])

    def test_nothing_that_was_found_is_said_to_hold(self):
        for defect, (_, text, _) in self.made.items():
            self.assertNotIn("held:", text, defect)
            self.assertNotIn("outcome green", text, defect)

    def test_both_answers_lie_side_by_side(self):
        for defect, (_, _, root) in self.made.items():
            tables = root.find("table", "sides")
            self.assertTrue(tables, defect)
            for table in tables:
                rows = [row.find("td") for row in table.find("tr")[1:]]
                self.assertEqual({len(row) for row in rows}, {2})
                # Cells without a mark are equal on both sides.
                for left, right in rows:
                    marked = "mark" in left.classes or "mark" in right.classes
                    self.assertEqual(left.text() != right.text(), marked)

    @unittest.skipIf(NO_BROWSER, NO_BROWSER)
    def test_a_browser_draws_it_in_its_width(self):
        measure = """<!DOCTYPE html><meta charset=utf-8><iframe id=f style="width:WIDTHpx;height:900px;border:0" src="PAGE"></iframe>
<pre id=out></pre><script>onload = () => {
  const page = f.contentDocument;
  for (const details of page.querySelectorAll("details")) details.open = true;
  out.textContent = JSON.stringify({wide: page.documentElement.scrollWidth, sections: page.querySelectorAll("section").length,
    red: [...page.querySelectorAll(".strip .wrong")].map((each) => f.contentWindow.getComputedStyle(each).fill)});
}</script>"""
        for width in (1280, 390):
            page = self.path / "measure.html"
            page.write_text(measure.replace("WIDTH", str(width)).replace("PAGE", "fmr-collapse-gapped.html"), encoding="utf-8")
            done = subprocess.run(["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                                   "--allow-file-access-from-files", f"--user-data-dir={self.path}/profile",
                                   "--window-size=1400,1000", "--dump-dom", f"file://{page}"], capture_output=True, timeout=120,
                                  check=False)
            self.assertEqual(done.returncode, 0, done.stderr[-2000:])
            seen = json.loads(re.search(r"<pre id=\"?out\"?>(.*?)</pre>", done.stdout.decode(), re.S).group(1))
            self.assertLessEqual(seen["wide"], width)
            self.assertEqual(seen["sections"], self.made["fmr-collapse-gapped"][0]["causes"])
            self.assertEqual(set(seen["red"]), {"rgb(200, 16, 46)"})


class Conversations(unittest.TestCase):
    def finding(self, stage, mutant, check):
        """(check that fails in a stage with that defect, its events, the texts of its picture)"""
        with tempfile.TemporaryDirectory() as directory:
            page = Path(directory) / "page.html"
            done = subprocess.run([BUILD / "o2ref", "check", "--stage", stage, "--cases", "2000", "--json", "-", "--html", page,
                                   BUILD / "impl_mutants.so"], capture_output=True, timeout=240, check=False,
                                  env={**os.environ, "O2_MUTANT": mutant})
            text = page.read_text(encoding="utf-8")
        finding = next(each for each in json.loads(done.stdout)["implementations"][0]["findings"] if each["check"] == check)
        self.assertIn(finding["life"], text)
        return finding, finding["question"]["events"], re.findall(r"<text([^>]*)>([^<]*)</text>", finding["life"])

    def test_the_life_of_a_key(self):
        """Both answers, event by event, with as few events as show the difference; the implementation's deviation is red."""
        finding, events, words = self.finding("keys", "key-counted-unused", "keys/published")
        self.assertEqual([event["event"] for event in events], ["map", "unmap", "map"])
        self.assertEqual([word for _, word in words if re.match(r"\d+: ", word)],
                         [f"{i}: {event['event']}" + (f" {event.get('side', 'source')}" if event["event"] == "map" else "")
                          for i, event in enumerate(events)])
        steps = [finding[each]["steps"] for each in ("reference", "implementation")]
        self.assertEqual([word for place, word in words if "#c8102e" in place], [steps[1][2]["published"]])
        self.assertNotEqual(steps[0][2]["published"], steps[1][2]["published"])

    def test_the_flow_of_a_connection(self):
        """A ladder diagram for each answer; the implementation's first fault is red, and nothing of the reference is."""
        finding, events, words = self.finding("flow", "outstanding-kept", "credits/over-owed")
        self.assertEqual([word.split(":")[0] for _, word in words if re.match(r"\d+: ", word)],
                         [str(i) for i in range(len(events))])
        sent = [sum(len(step["messages"]) for step in finding[each]["steps"]) for each in ("reference", "implementation")]
        arrived = sum(event["event"] == "receive" for event in events)
        self.assertEqual(len(re.findall(r'stroke-width="1.5"/>', finding["life"])), sum(sent) + 2 * arrived)
        red = [word for place, word in words if "#c8102e" in place]
        self.assertEqual(len(red), 1)
        self.assertRegex(red[0], r"credits [1-9]")


class Posted(unittest.TestCase):
    def test_what_is_posted_is_drawn(self):
        """tests/impl/c with one defect: the bytes that its gather entries yield, and where its writes go."""
        with tempfile.TemporaryDirectory() as directory:
            broken = Broken(Path(directory))
            for name, stage, check, red in (("first-fragment-gathered", "send_plan", "send/length", '<rect class="lost"'),
                                            ("slot-at-zero", "send_plan", "send/key", '<rect class="wrong"'),
                                            ("entries-shared", "rdma_chain", "rdma/sge-index", "wrong bytes in the sink")):
                with self.subTest(name):
                    page = Path(directory) / "page.html"
                    defect = next(each for each in DEFECTS_OF_OTHERS if each.name == name)
                    done = subprocess.run([BUILD / "o2ref", "check", "--no-corpus", "--stage", stage, "--cases", "3000", "--json",
                                           "-", "--html", page, broken.build(defect)], capture_output=True, timeout=240,
                                          check=False)
                    findings = json.loads(done.stdout)["implementations"][0]["findings"]
                    finding = next(each for each in findings if each["check"] == check)
                    drawn = finding["strip" if stage == "send_plan" else "answer_picture"]
                    self.assertIn(red, drawn)
                    self.assertIn(drawn, page.read_text(encoding="utf-8"))


class Refusing(unittest.TestCase):
    """An implementation that crashes in sg_build and refuses every transfer."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.page, self.library, source = (Path(folder.name) / name for name in ("page.html", "none.so", "none.c"))
        source.write_text("#include <errno.h>\n#include <stdlib.h>\n#include <o2ref/impl.h>\n"
                          "static int32_t crash(const struct o2_impl_sg_in *in, struct o2_impl_sg_list *out,\n"
                          "struct o2_impl_refusal *r)\n{\n(void)in, (void)out, (void)r; abort();\n}\n"
                          "static int32_t refuse(const struct o2_impl_transfer_in *in, struct o2_impl_transfer_out *out,\n"
                          "struct o2_impl_refusal *r)\n{\n(void)in, (void)out; r->error = EIO; return O2_IMPL_REFUSED;\n}\n"
                          'static const struct o2_impl impl = {O2_IMPL_HEAD("none"), .sg_build = crash, .transfer = refuse};\n'
                          "const struct o2_impl *o2_impl_v1(void) { return &impl; }\n")
        include = Path(__file__).resolve().parents[2] / "ref" / "oracle" / "include"
        subprocess.run(["cc", "-shared", "-fPIC", f"-I{include}", "-o", self.library, source], check=True, timeout=60)

    def check(self, *options):
        """(the text, the page)"""
        done = subprocess.run([BUILD / "o2ref", "check", *options, "--shrink", "100", "--html", self.page, self.library],
                              capture_output=True, timeout=240, check=False)
        return done.stdout.decode(), self.page.read_text(encoding="utf-8")

    def test_what_a_picture_names_is_not_first_defined_where_it_is_folded(self):
        """A browser takes the first definition of an id, and draws nothing with it while a <details> around it is closed."""
        _, page = self.check("--no-corpus", "--stage", "transfer", "--cases", "300")
        self.assertGreater(page.count("<details>"), 0)
        for name in set(re.findall(r"url\(#(\w+)\)", page)) | {"hatch", "redhatch", "tip"}:
            before = page[:page.index(f'id="{name}"')]
            self.assertEqual(before.count("<details"), before.count("</details>"), name)

    def test_the_table_of_the_page_is_that_of_the_text(self):
        question = {"form": "o2ref/sg_build/input", "version": 1, "max_entries": 257,
                    "space": {"page_bytes": 4096, "npages": 1, "ranges": []},
                    "buffer": {"kind": "kiov", "offset": 0, "nob": 1, "pieces": [{"page": 0, "offset": 0, "len": 1}]}}
        for options, said in ((("--no-corpus", "--cases", "400"), " left out"), (("--case", json.dumps(question)), "not asked")):
            text, page = self.check(*options)
            rows = [(stage, re.search(rf"^{stage} +(.*?) *$", text, re.M).group(1)) for stage in STAGES]
            self.assertEqual(re.findall(r"<tr><td>(\w+)</td><td class=\"\w+\">([^<]*)</td></tr>", page), rows)
            self.assertIn(said, " ".join(cell for _, cell in rows))

    def test_a_name_does_not_turn_the_verdict_around(self):
        """What follows U+202E is shown from right to left, up to the end of the element around it."""
        _, page = self.check("--no-corpus", "--cases", "100", "--stage", "sg_build", "--label", "tree\u202e")
        self.assertRegex(page, "<h2><bdi>[^<]*, tree\u202e</bdi>: differs</h2>")

    def test_junit_tells_what_was_not_asked_from_what_is_not_implemented(self):
        path = self.page.with_name("junit.xml")
        self.check("--no-corpus", "--cases", "100", "--stage", "dma_map,sg_build", "--junit", path)
        skipped = {case.get("name"): case.find("skipped") for case in ElementTree.parse(path).getroot().iter("testcase")}
        self.assertEqual([skipped[name].get("message") for name in ("dma/bus/bytes", "reg/fmr/bytes")],
                         ["the stage is not implemented", "the stage was not asked"])


class Messages(unittest.TestCase):
    def test_bytes_by_field(self):
        """A question of bytes has a row for each of its fields; if a program refuses all, the refusal is the difference."""
        talker = Path(__file__).resolve().parents[1] / "impl" / "reference" / "misbehave.c"
        self.assertTrue(talker.exists())
        with tempfile.TemporaryDirectory() as directory:
            page = Path(directory) / "page.html"
            library = Path(directory) / "none.so"
            source = Path(directory) / "none.c"
            source.write_text('#include <errno.h>\n#include <o2ref/impl.h>\n'
                              "static int32_t decode(const struct o2_impl_msg_decode_in *in, struct o2_impl_msg *out,\n"
                              "struct o2_impl_refusal *r)\n{\n(void)in, (void)out; r->error = EIO; return O2_IMPL_REFUSED;\n}\n"
                              'static const struct o2_impl impl = {O2_IMPL_HEAD("none"), .msg_decode = decode};\n'
                              "const struct o2_impl *o2_impl_v1(void) { return &impl; }\n")
            include = Path(__file__).resolve().parents[2] / "ref" / "oracle" / "include"
            subprocess.run(["cc", "-shared", "-fPIC", f"-I{include}", "-o", library, source], check=True, timeout=60)
            subprocess.run([BUILD / "o2ref", "check", "--no-corpus", "--cases", "2000", "--shrink", "100", "--html", page, library],
                           capture_output=True, timeout=240, check=False)
            root = Document(re.sub(r"<svg.*?</svg>", "", page.read_text(encoding="utf-8"), flags=re.S)
                            .replace("<!DOCTYPE html>", "")).root
        tables = root.find("table", "bytes")
        self.assertGreater(len(tables), 5)
        names = {row.find("td")[1].text() for table in tables for row in table.find("tr")[1:]}
        self.assertLessEqual({"ibm_magic", "ibm_cksum", "ibm_nob", "ibm_srcnid", "hdr.dest_nid", "ibcm_cookie"}, names)
        for table in tables:
            rows = [[cell.text() for cell in row.find("td")] for row in table.find("tr")[1:]]
            for row, below in zip(rows, rows[1:]):
                self.assertEqual(int(row[0]) + len(row[2].split()), int(below[0]), rows)


if __name__ == "__main__":
    if NO_BROWSER:
        print(f"skipped: what a browser draws: {NO_BROWSER}")
    sys.exit(suite.run(suite.of(sys.modules[__name__])))
