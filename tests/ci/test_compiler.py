#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Test ci/compiler: which compiler it chooses, and what it refuses; and ci/suites: which command lines it refuses, and
what it prints about the tests of a suite; and what ci/release publishes.

The last line is "N passed, N failed".
"""

import contextlib
import hashlib
import importlib.machinery
import io
import os
import re
import subprocess
import sys
import tempfile
import types
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

    def test_a_part_without_results_fails(self):
        """ctest runs unit tests and properties apart: the results of one do not stand for both."""
        script = importlib.machinery.SourceFileLoader("suites", str(ROOT / "ci" / "suites")).load_module()
        one = tree.fromstring('<testcase name="test_a" time="1" status="run"/>')
        for runs, expected in ((([one], None), (1, 1)), (([one], []), (1, 0)), (([], []), (0, 1)), ((None, None), (0, 2))):
            of, left = script.Suite("sid", types.SimpleNamespace(tests=None, whole=False)), list(runs)
            of.ctest = lambda where, names, left=left: left.pop(0)
            with contextlib.redirect_stdout(io.StringIO()):
                of.test("gcc", "build")
            self.assertEqual((of.tally.passed, of.tally.failed), expected)


class Release(unittest.TestCase):
    def test_sources_and_package_are_of_one_commit(self):
        with tempfile.TemporaryDirectory() as name:
            tree = Path(name) / "tree"
            (tree / "ci").mkdir(parents=True)
            (tree / "ci" / "release").write_bytes((ROOT / "ci" / "release").read_bytes())
            (tree / "CMakeLists.txt").write_text("project(o2ref VERSION 1.2 LANGUAGES C)\n")
            (Path(name) / "cmake").write_text("#!/bin/sh\nexit 9\n")
            (Path(name) / "cmake").chmod(0o755)
            for words in (["init", "-q"], ["add", "-A"], ["-c", "user.name=a", "-c", "user.email=a", "commit", "-q", "-m", "a"]):
                subprocess.run(["git", "-C", tree, *words], check=True)
            environment = {**os.environ, "O2REF_BUILD": f"{name}/build", "PATH": f"{name}:{os.environ['PATH']}"}
            for file, status in ((None, 9), ("new.c", 1)):
                if file:
                    (tree / file).write_text("")
                done = subprocess.run(["bash", tree / "ci" / "release", "v1.2"], env=environment, capture_output=True, text=True,
                                      check=False)
                self.assertEqual(done.returncode, status, done.stderr)
            self.assertEqual(done.stderr, "ci/release: files differ from the commit, whose sources would be packed: ?? new.c\n")

    def test_only_files_of_that_version_are_published(self):
        version = re.search(r"^project\(o2ref VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text(), re.M)[1]
        with tempfile.TemporaryDirectory() as name:
            (Path(name) / "gh").write_text('#!/bin/sh\necho "gh $*"\n')
            (Path(name) / "gh").chmod(0o755)
            (Path(name) / "release").mkdir()
            environment = {**os.environ, "O2REF_BUILD": name, "PATH": f"{name}:{os.environ['PATH']}"}
            for of, status in (("0.0.1", 1), (version, 0)):
                (Path(name) / "release" / f"o2ref-{of}.tar.gz").write_text(of)
                sums = f"{hashlib.sha256(of.encode()).hexdigest()}  o2ref-{of}.tar.gz\n"
                (Path(name) / "release" / "SHA256SUMS").write_text(sums)
                done = subprocess.run([ROOT / "ci" / "release", "--publish", f"v{version}"], env=environment, capture_output=True,
                                      text=True, check=False)
                self.assertEqual((done.returncode, done.stdout.startswith("gh release create")), (status, status == 0), done.stderr)
            self.assertTrue(done.stdout.endswith(f"/release/o2ref-{version}.tar.gz {name}/release/SHA256SUMS\n"), done.stdout)
            self.assertNotIn("0.0.1", done.stdout)


if __name__ == "__main__":
    sys.exit(suite.run(suite.of(sys.modules[__name__])))
