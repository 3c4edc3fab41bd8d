#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Test ci/compiler: which compiler it chooses, and what it refuses; and ci/suites: which command lines it refuses, and
what it prints about the tests of a suite.

The last line is "N passed, N failed".
"""

import contextlib
import importlib.machinery
import io
import os
import subprocess
import sys
import unittest
import xml.etree.ElementTree as tree
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "lib"))

import suite  # noqa: E402


def run(script, *words, **environment):
    known = {name: value for name, value in os.environ.items() if not name.startswith("O2REF_") and name != "CC"}
    return subprocess.run([ROOT / "ci" / script, *words], capture_output=True, text=True, timeout=300, check=False,
                          env={**known, **environment})


class Compiler(unittest.TestCase):
    def test_one_that_is_named_has_to_do(self):
        done = run("compiler", "clang", O2REF_CLANG="gcc")
        self.assertEqual((done.returncode, done.stdout), (77, ""))
        self.assertIn("$O2REF_CLANG is 'gcc'", done.stderr)

    def test_cc_is_taken_where_it_is_of_the_kind(self):
        clang = run("compiler", "clang").stdout.strip()
        self.assertEqual(run("compiler", "gcc", CC="gcc").stdout, "gcc\n")
        if clang:
            self.assertEqual(run("compiler", "clang", CC=clang).stdout, f"{clang}\n")
            self.assertNotIn("clang", run("compiler", "gcc", CC=clang).stdout)

    def test_none_is_said(self):
        done = run("compiler", "afl", PATH="/nowhere")
        self.assertEqual((done.returncode, done.stdout), (77, ""))
        self.assertIn("afl++", done.stderr)

    def test_wrong_usage(self):
        self.assertEqual(run("compiler", "tcc").returncode, 2)
        for words in (["--compilers", "tcc"], ["a b"], ["--tests", "("]):
            self.assertEqual(run("suites", *words).returncode, 2, words)


RESULTS = """<testsuite>
<testcase name="test_a" time="1.5" status="run"><system-out>skipped: Page.test_drawn: no chromium
2 passed, 0 failed, 1 skipped</system-out></testcase>
<testcase name="test_b" time="2.4" status="fail"><failure message="Failed"/><system-out>3 is not 4
replay: test_b 7</system-out></testcase>
</testsuite>"""


class Suites(unittest.TestCase):
    def test_failures_and_skips_are_said(self):
        script = importlib.machinery.SourceFileLoader("suites", str(ROOT / "ci" / "suites")).load_module()
        sums, said = script.Tally(), io.StringIO()
        with contextlib.redirect_stdout(said):
            for case in tree.fromstring(RESULTS).iter("testcase"):
                script.Suite("sid", None).add_case(sums, "gcc", case)
        self.assertEqual((sums.passed, sums.failed, sums.skipped), (1, 1, 1))
        self.assertEqual(said.getvalue().splitlines(), [
            "sid: gcc: test_a: skipped: Page.test_drawn: no chromium",
            "sid: gcc: test_b: FAILED, 2 s", "3 is not 4", "replay: test_b 7"])


if __name__ == "__main__":
    sys.exit(suite.run(suite.of(sys.modules[__name__])))
