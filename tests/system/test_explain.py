#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Test `o2ref explain`: every case of the corpus as text and as a picture, errors, and exit statuses.

usage: test_explain.py [DIRECTORY] [--update]
DIRECTORY: the folder of o2ref, o2props and o2props-mutants; default build/.  --update rewrites the expected texts
and pictures.  Last line "N passed, N failed".
"""

import json
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "mutants"), str(ROOT / "tests" / "lib")]
import suite  # noqa: E402
import table as mutant_table  # noqa: E402

CORPUS = ROOT / "corpus" / "transfer"
SCENARIOS = sorted((CORPUS / "scenario").glob("*.json"))
LU_9983 = CORPUS / "scenario" / "lu-9983-page-with-a-gap.json"
SOME_SCENARIOS = (LU_9983, *SCENARIOS[::5])
REFUSED = CORPUS / "scenario" / "interior-gap-on-fastreg-refused.json"
PICTURES = ROOT / "docs" / "pictures"
TEXTS = ROOT / "tests" / "system" / "explain"

HELD, FAILED, USAGE = 0, 1, 2
COLLAPSED = ("--mutant", "fmr-collapse-gapped")
EVERY = 12
SVG = "{http://www.w3.org/2000/svg}"
UPDATE = "--update" in sys.argv
BUILD = Path(next((a for a in sys.argv[1:] if not a.startswith("-")), ROOT / "build"))


def explain(*arguments, program="o2props"):
    return suite.ended([BUILD / program, "explain", *arguments], (HELD, FAILED, USAGE), timeout=60)


def cases():
    """All scenarios, and every EVERYth of the byte cases, of which there are hundreds."""
    return SCENARIOS + [p for d in ("seed", "found") for p in sorted((CORPUS / d).iterdir())[::EVERY]]


class Corpus(unittest.TestCase):
    def check_picture(self, document):
        self.assertEqual(ElementTree.fromstring(document).tag, SVG + "svg")
        for word in (b"<script", b"href", b"<image", b"@import", b"@font-face", b"nan", b"inf\""):
            self.assertNotIn(word, document)

    def test_every_case_in_words_and_as_a_picture(self):
        for path in cases():
            with self.subTest(path.name), tempfile.TemporaryDirectory() as directory:
                picture = Path(directory) / "picture.svg"
                done = explain(path, "--svg", picture)
                if done.returncode == USAGE and path.suffix != ".json":  # a fuzzer also keeps invalid cases
                    self.assertEqual(done.stderr.count(b"\n"), 1)
                    continue
                self.assertEqual((done.returncode, done.stderr), (HELD, b""))
                self.assertRegex(done.stdout.decode().splitlines()[-1], r"^held: ")
                self.check_picture(picture.read_bytes())

    def test_every_defect_still_draws(self):
        names = [mutant.name for mutant in mutant_table.read() if mutant.property == "transfer"]
        self.assertGreaterEqual(len(names), 7)
        failed = set()
        for name in names:
            for path in SOME_SCENARIOS:
                done = explain(path, "--mutant", name, "--svg", "-", program="o2props-mutants")
                if done.returncode < 0:  # a crashed program leaves nothing to draw
                    continue
                self.check_picture(done.stdout)
                self.assertEqual(done.returncode == FAILED, b"FAILED" in done.stdout)
                if done.returncode == FAILED:
                    failed.add(name)
        self.assertIn(COLLAPSED[1], failed)
        self.assertGreaterEqual(len(failed), 4)

    def test_long_lists_are_shortened_unless_all_is_asked_for(self):
        path = CORPUS / "scenario" / "257-fragments-global.json"
        short, everything = explain(path).stdout, explain(path, "--all").stdout
        self.assertIn(b"248 more fragments", short)
        self.assertNotIn(b"more fragments", everything)
        self.assertIn(b"[128]", everything)
        self.assertIn("… 241 more …".encode(), explain(path, "--svg", "-").stdout)

    def test_the_collapsed_fragment_shows_what_went_astray(self):
        done = explain(LU_9983, *COLLAPSED, program="o2props-mutants")
        self.assertEqual(done.returncode, FAILED)
        self.assertRegex(done.stdout.decode(), r"2560 bytes of sink page 301 at \+1536 hold source page 12 \+1536")
        self.assertRegex(done.stdout.decode(), r"2560 bytes of sink page 303 at \+1536 were never written")
        picture = explain(LU_9983, *COLLAPSED, "--svg", "-", program="o2props-mutants").stdout.decode()
        for word in ("takes in the gap", "left out", "overwritten", "never written", "marker-end"):
            self.assertIn(word, picture)

    def test_a_word_longer_than_a_line_is_not_one_letter_a_line(self):
        """The name of the rule is as wide as the box of the refusal, or wider."""
        side = {"mode": "global", "kind": "bus", "vector": "kiov", "offset_bytes": 0}
        for name, source, sink in (("reg/more-fragments-than-peer-accepts:", [750] * 4, [750] * 4),
                                   ("rdma/too-many-work-requests:", [1000] * 3, [500, 500, 2000])):
            scenario = json.loads(REFUSED.read_text())
            for end, lengths in (("source", source), ("sink", sink)):
                pieces = [{"page": 1 + 2 * i, "offset": 0, "len": length} for i, length in enumerate(lengths)]
                scenario[end] = {**side, "nob": sum(lengths), "pieces": pieces}
            scenario.update(max_frags=3, wrq_sge=1)
            with self.subTest(name), tempfile.TemporaryDirectory() as directory:
                path = Path(directory) / "refused.json"
                path.write_text(json.dumps(scenario))
                words = [each.text for each in ElementTree.fromstring(explain(path, "--svg", "-").stdout).iter(SVG + "text")
                         if each.get("class") == "mono"]
                self.assertIn(name, "".join(words))
                self.assertNotIn("r", words)

    def test_only_one_picture_on_standard_output(self):
        self.check_picture(explain(LU_9983, "--svg", "-").stdout)


class Kept(unittest.TestCase):
    def compare(self, path, made):
        if UPDATE:
            path.write_bytes(made)
        self.assertEqual(path.read_bytes(), made, f"{path} differs; if it should: tests/system/test_explain.py --update")

    def test_texts(self):
        self.compare(TEXTS / "lu-9983.txt", explain(LU_9983).stdout)
        self.compare(TEXTS / "interior-gap-on-fastreg-refused.txt", explain(REFUSED).stdout)

    def test_pictures_of_the_documents(self):
        self.compare(PICTURES / "lu-9983.svg", explain(LU_9983, "--svg", "-").stdout)
        collapsed = explain(LU_9983, *COLLAPSED, "--svg", "-", program="o2props-mutants").stdout
        self.compare(PICTURES / "lu-9983-collapsed.svg", collapsed)


class Refusals(unittest.TestCase):
    def refused(self, *arguments, words, program="o2props", name="o2props"):
        done = explain(*arguments, program=program)
        self.assertEqual((done.returncode, done.stdout), (USAGE, b""), arguments)
        line = done.stderr.decode()
        self.assertEqual(line.count("\n"), 1, line)
        self.assertTrue(line.startswith(name + ": "), line)
        self.assertTrue(line[:-1].isprintable(), line)
        self.assertIn(words, line)

    def test_usage(self):
        self.refused(words="no case given")
        self.refused(LU_9983, LU_9983, words="one case at a time")
        self.refused(LU_9983, "--colour", words="is no option")
        self.refused(LU_9983, "-xh", words="'-x' is no option")
        with tempfile.TemporaryDirectory() as directory:
            case = Path(directory) / "case.json"
            case.write_bytes(LU_9983.read_bytes())
            self.refused(case, "--svg", case, words="this is the case that is read")
            self.assertEqual(case.read_bytes(), LU_9983.read_bytes())
        self.refused(LU_9983, "--svg", words="--svg")
        self.refused(LU_9983, *COLLAPSED, words="there is no mutant")
        self.refused(LU_9983, "--mutant", "nosuch", words="'nosuch'", program="o2props-mutants", name="o2props-mutants")
        self.assertEqual(explain("--help").returncode, 0)

    def test_files(self):
        good = json.loads(LU_9983.read_text(encoding="utf-8"))
        short = json.loads(json.dumps(good))
        short["source"]["nob"] = 99999
        outside = json.loads(json.dumps(good))
        outside["sink"]["pieces"][0]["page"] = 1 << 30
        hostile = {
            "empty.json": b"",
            "control.json": b"{\x1b[31m\n",
            "array.json": b"[]",
            "deep.json": b"[" * 100000,
            "version.json": json.dumps({**good, "version": 2}).encode(),
            "mode.json": json.dumps({**good, "source": {**good["source"], "mode": "\x1b[31mfmr\n"}}).encode(),
            "short.json": json.dumps(short).encode(),
            "outside.json": json.dumps(outside).encode(),
            "twice.json": b'{"form": 1, "form": 1}',
            "large.json": b" " * (1 << 21),
            "large": bytes(1 << 22),
        }
        with tempfile.TemporaryDirectory() as directory:
            for name, data in hostile.items():
                with self.subTest(name):
                    path = Path(directory) / name
                    path.write_bytes(data)
                    self.refused(path, words=name)
            self.refused(directory, words=directory)
            self.refused(Path(directory) / "no\nsuch.json", words="No such file")

    def test_a_picture_that_cannot_be_written(self):
        done = explain(LU_9983, "--svg", "/nonexistent/picture.svg")
        self.assertEqual((done.returncode, done.stderr.count(b"\n")), (USAGE, 1))

    def test_the_picture_and_the_words_do_not_go_to_one_file(self):
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "both"
            with open(path, "wb") as standard:
                done = subprocess.run([BUILD / "o2props", "explain", "--svg", path, LU_9983], stdout=standard,
                                      stderr=subprocess.PIPE, timeout=60, check=False)
            self.assertEqual((done.returncode, done.stderr.decode(), path.read_bytes()), (
                USAGE, f"o2props: {path}: this is standard output, so --svg cannot write it\n", b""))

    def test_o2ref_is_the_same_under_its_own_name(self):
        for arguments in ((LU_9983,), (REFUSED, "--all"), (LU_9983, "--svg", "-")):
            self.assertEqual(explain(*arguments, program="o2ref").stdout, explain(*arguments).stdout)
        self.refused("/nonexistent.json", words="No such file", program="o2ref", name="o2ref")
        self.refused(*["--all"] * 100, words="too many", program="o2ref", name="o2ref")


if __name__ == "__main__":
    sys.exit(suite.run(suite.of(sys.modules[__name__])))
