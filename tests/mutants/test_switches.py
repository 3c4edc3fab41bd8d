#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Tests of the script that puts deliberate defects into copies of the sources: what it finds, refuses and writes."""

import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lib"))

import ctext  # noqa: E402
import suite  # noqa: E402
import switches  # noqa: E402
import table  # noqa: E402

SCRIPT = Path(switches.__file__)
SOURCE = """/* twice(1) in a comment is no call. */
#include <stdio.h>

static int twice(int x)
{
	return x *
	       2; /* not 3 */
}

#if defined(LONG)
static long half(long x) { return x / 2; }
#else
static int half(int x) { return x / 2; }
#endif

int o2_sum(const int *value, int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++)
		sum += value[i];
	if (sum > 100)
		return 100;
	printf("(%d)}\\n", sum);
	return sum;
}

int main(void)
{
	int v[] = {1, 2, 3};

	return o2_sum(v, 3) + twice(half(2));
}
"""
MUTANT = {"name": "a-defect", "area": "sg", "defect": "", "sentence": "it is wrong"}
PLACE = {"file": "ref/x/sum.c", "function": "o2_sum", "expression": "value[i]", "broken": "value[0]"}
# Each file of the table has a defect at its own place: further defects at one place double the compiled text.
FIRST = "\nint o2_first_of_{name}(int x)\n{{\n\treturn x;\n}}\n"


def toml(*entries, head=""):
    blocks = ["\n".join(["[[mutant]]", *(f"{key} = '''{value}'''" for key, value in entry.items())]) for entry in entries]
    return head + "\n\n".join(blocks) + "\n"


class Project(unittest.TestCase):
    """A project with one source, and the table that a test writes."""

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="o2ref-switches-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.source = SOURCE + "".join(FIRST.format(name=name) for name in table.FILES)
        self.write("ref/x/sum.c", self.source)
        for name in table.FILES:
            place = {"file": PLACE["file"], "function": f"o2_first_of_{name}", "expression": "x", "broken": "-x"}
            self.write(f"table/{name}.toml", toml({**MUTANT, "name": f"first-of-{name}", **place}))

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def run_script(self, *arguments):
        command = [sys.executable, SCRIPT, "--root", self.folder, "--table", self.folder / "table", *arguments]
        return subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)

    def check(self, *places, **keys):
        """The result of --check for one entry with those places, given as the keys that differ from PLACE."""
        self.write("table/keys.toml", toml(*({**MUTANT, "name": f"a-defect-{i}", **PLACE, **keys, **place}
                                             for i, place in enumerate(places or [{}]))))
        return self.run_script("--check")

    def assert_named(self, done, *words):
        """Assert that it failed, and that one line has the table's file, the entry, and the words."""
        self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        for word in ("keys.toml", "a-defect-0", *words):
            self.assertIn(word, done.stderr)


class Matching(Project):
    def test_what_fits(self):
        self.assertEqual(self.check().stderr, "")
        self.assertEqual(self.check(expression="value [ i ]").stderr, "")
        self.assertEqual(self.check(function="twice", expression="x * 2", broken="x * 3").stderr, "")

    def test_an_expression_that_is_nowhere(self):
        self.assert_named(self.check(expression="value[j]"), "'value[j]' is nowhere in o2_sum of ref/x/sum.c")

    def test_in_a_comment_or_a_directive_it_is_nowhere(self):
        self.assert_named(self.check(function="twice", expression="3"), "'3' is nowhere")
        self.assert_named(self.check(function="half", expression="defined(LONG)"), "is nowhere")

    def test_an_expression_that_is_there_twice(self):
        self.assert_named(self.check(expression="100"), "'100' is 2 times in o2_sum")

    def test_a_name_that_is_defined_twice(self):
        self.assert_named(self.check(function="half", expression="x / 2"), "'x / 2' is 2 times in half")

    def test_a_piece_around_it_tells_them_apart(self):
        self.assertEqual(self.check(within="return 100;", expression="100").stderr, "")
        self.assert_named(self.check(within="return 100", expression="sum"), "'sum' is nowhere in 'return 100'")
        self.assert_named(self.check(within="return", expression="sum"), "'return' is 2 times")

    def test_a_function_that_is_not_there(self):
        self.assert_named(self.check(function="o2_max"), "no function o2_max in ref/x/sum.c")
        self.assert_named(self.check(function="printf"), "no function printf")

    def test_a_file_that_is_not_there(self):
        self.assert_named(self.check(file="ref/x/gone.c"), "ref/x/gone.c")
        self.assertIn("a-defect-0: there is no file ref/x/gone.c", self.run_script("--list").stderr)

    def test_pieces_that_cut_through_each_other(self):
        done = self.check({"within": "sum += value[i]; if (sum > 100)", "statement": "sum += value[i];", "expression": ""})
        self.assert_named(done, "either 'expression' or 'statement'")
        self.write("table/keys.toml", toml({**MUTANT, "name": "a-defect-0", "file": PLACE["file"], "function": "o2_sum",
                                            "statement": "sum += value[i]; if (sum > 100) return 100;", "broken": ""},
                                           {**MUTANT, "name": "a-defect-1", "file": PLACE["file"], "function": "o2_sum",
                                            "statement": "return 100; printf(\"(%d)}\\n\", sum);", "broken": ""}))
        self.assertIn("a-defect-1: its piece of text cuts through that of a-defect-0", self.run_script("--check").stderr)


class Table(Project):
    def test_keys_that_are_missing_or_unknown(self):
        self.assert_named(self.check(brokn="1"), "'brokn'")
        entry = {key: value for key, value in {**MUTANT, "name": "a-defect-0", **PLACE}.items() if key != "broken"}
        self.write("table/keys.toml", toml(entry))
        self.assert_named(self.run_script("--check"), "no 'broken'")
        self.assert_named(self.check(when="i"), "'when' belongs to a 'statement'")

    def test_names(self):
        self.write("table/keys.toml", toml({**MUTANT, "name": "A_defect", **PLACE}))
        self.assertIn("'A_defect'", self.run_script("--list").stderr)
        self.write("table/keys.toml", toml({**MUTANT, "name": "first-of-pools", **PLACE}))
        self.assertIn("two of the name first-of-pools", self.run_script("--list").stderr)

    def test_a_file_that_nobody_reads(self):
        self.write("table/more.toml", toml({**MUTANT, **PLACE}))
        self.assertIn("more", self.run_script("--list").stderr)

    def test_bad_toml_is_named(self):
        self.write("table/keys.toml", "[[mutant]\n")
        self.assertIn("keys.toml", self.run_script("--list").stderr)
        entry = toml({**MUTANT, "name": "a-defect-0", **PLACE})
        for text, word in (("mutant = 3\n", "'mutant' is not a list of tables"), ("mutant = [3]\n", "'mutant' is not"),
                           (f"property = 3\n{entry}", "'property' is not a string"),
                           (f"{entry}place = 3\n", "a-defect-0: 'place' is not a list of tables")):
            self.write("table/keys.toml", text)
            self.assertRegex(self.run_script("--list").stderr, rf"^tests/mutants: keys\.toml.*{word}")

    def test_property(self):
        self.write("table/keys.toml", toml({**MUTANT, **PLACE}, head='property = "sim"\n'))
        found = {one.name: one.property for one in table.read(self.folder / "table")}
        self.assertEqual((found["a-defect"], found["first-of-codec"]), ("sim", "transfer"))

    def test_that_of_the_project(self):
        mutants = table.read()
        self.assertGreater(len(mutants), 100)
        done = subprocess.run([sys.executable, SCRIPT, "--check"], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for mutant in mutants:
            for place in mutant.places:
                self.assertNotIn("o2_mut", place.clean)

    def test_each_has_a_verdict_of_the_judge(self):
        """docs/judge.md has a rule for each, or the reason for none: ci/mutants --judge --write, tests/judge/unheard.toml."""
        page = (SCRIPT.parents[2] / "docs" / "judge.md").read_text(encoding="utf-8")
        section = page.split("<!-- table: ci/mutants --judge --write -->")[1].split("<!-- end of table -->")[0]
        self.assertEqual(sorted(re.findall(r"`([a-z0-9-]+)`", re.sub(r"(?m)^\| [^|]* \|", "|", section))),
                         sorted(mutant.name for mutant in table.read()))


class Copies(Project):
    """Copies are compiled with gcc, or else cc, and run with each defect."""

    def build(self, *entries):
        self.write("table/keys.toml", toml(*entries))
        self.write("mutant_list.h", "")
        for arguments in (["--copies", self.folder], ["--ids", self.folder]):
            target = self.folder / "out" if arguments[0] == "--copies" else self.folder
            done = self.run_script(*arguments[:-1], target)
            self.assertEqual(done.stderr, "")
        root = SCRIPT.parents[2]
        self.write("start.c", """#include "tests/mutants/mutant.h"
#include <stdio.h>
#include "props/engine/mutant.h"
static struct { const char *name; } names[] = {
#define NAME(id, name, group) {name},
	O2_MUTANTS(NAME)
};
int copied(void);
int main(void)
{
	for (unsigned int i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		*o2_mutant_counts = (struct o2_mutant_counts){0, 0};
		if (o2_mutant_select(names[i].name) != 0)
			return 1;
		int was = copied();
		fprintf(stderr, "%s %d %d %d\\n", names[i].name, was, (int)o2_mutant_counts->reached,
			(int)o2_mutant_counts->triggered);
	}
	return 0;
}
""")
        # The main of copied.c is compiled here as a function of another name.
        text = (self.folder / "out" / PLACE["file"]).read_text(encoding="utf-8")
        self.write("copied.c", "int copied(void);\nint o2_sum(const int *value, int n);\n" +
                   text.replace("int main(void)", "int copied(void)"))
        folders = [self.folder, root, root / "ref", root / "tests" / "mutants" / "include"]
        command = ["cc", "-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-g", *(f"-I{one}" for one in folders),
                   "copied.c", "start.c", root / "tests" / "mutants" / "mutant.c", "-o", "program"]
        return subprocess.run(list(map(str, command)), cwd=self.folder, capture_output=True, text=True, check=False)

    def answers(self, *entries):
        """{name: [result, reached, triggered]}."""
        done = self.build(*entries)
        self.assertEqual(done.returncode, 0, done.stderr)
        ran = subprocess.run([self.folder / "program"], capture_output=True, text=True, check=True)
        return {line.split()[0]: [int(word) for word in line.split()[1:]] for line in ran.stderr.splitlines()}

    def test_expressions_and_their_counts(self):
        found = self.answers({**MUTANT, **PLACE})
        # Without a defect the result is 1 + 2 + 3 + 2 * 1.
        self.assertEqual(found["a-defect"], [5, 3, 2])

    def test_statements_and_their_counts(self):
        place = {"file": PLACE["file"], "function": "o2_sum", "statement": "sum += value[i];"}
        found = self.answers({**MUTANT, "name": "skip", **place, "broken": ""},
                             {**MUTANT, "name": "skip-some", **place, "when": "i > 0", "differs": "value[i] == 3",
                              "broken": "if (value[i] != 3)\n\tsum += value[i];"},
                             {**MUTANT, "name": "inside", **PLACE, "broken": "7"},
                             {**MUTANT, "name": "early", "file": PLACE["file"], "function": "o2_sum",
                              "statement": "if (sum > 100) return 100;", "broken": "return other(sum);",
                              "helper": "static int other(int x)\n{\n\treturn -x;\n}\n"})
        self.assertEqual(found["skip"], [2, 3, 3])
        self.assertEqual(found["skip-some"], [5, 2, 1])
        self.assertEqual(found["inside"], [23, 3, 3])
        self.assertEqual(found["early"], [-4, 1, 1])

    def test_lines_are_those_of_the_source(self):
        done = self.build({**MUTANT, **PLACE, "broken": "walue[i]"})
        line = SOURCE[:SOURCE.index("value[i]")].count("\n") + 1
        self.assertIn(f"{self.folder}/{PLACE['file']}:{line}:", done.stderr)
        done = self.build({**MUTANT, **PLACE, "helper": "static int bad(void) { return y; }\n"})
        self.assertIn("tests/mutants/keys.toml, a-defect:1:", done.stderr)

    def test_what_stays_keeps_its_time(self):
        self.run_script("--copies", self.folder / "out")
        path = self.folder / "out" / PLACE["file"]
        before = path.stat().st_mtime_ns
        time.sleep(0.01)
        self.run_script("--copies", self.folder / "out")
        self.assertEqual(path.stat().st_mtime_ns, before)
        self.write(PLACE["file"], self.source + "\n")
        self.run_script("--copies", self.folder / "out")
        self.assertNotEqual(path.stat().st_mtime_ns, before)

    def test_an_entry_that_does_not_fit_writes_nothing(self):
        self.write("table/keys.toml", toml({**MUTANT, **PLACE, "expression": "value[j]"}))
        done = self.run_script("--copies", self.folder / "out")
        self.assertEqual(done.returncode, 1)
        self.assertFalse((self.folder / "out" / PLACE["file"]).exists())


class Own(Project):
    def test_what_sees_a_check_or_has_a_defect_and_no_more(self):
        self.write("ref/base/breaks.h", "")
        self.write("ref/x/rules.h", '#include "base/breaks.h"\n')
        for name, included in (("far", '# include "rules.h"'), ("near", '#include "ref/base/breaks.h"'), ("none", '#include <base/breaks.h>')):
            self.write(f"ref/x/{name}.c", included + "\n")
        self.assertEqual(self.run_script("--own").stdout, "ref/x/far.c;ref/x/near.c;ref/x/sum.c\n")


# A program that holds without a mutant and ends as the last word of its name says with one; *-reached counts that it was reached.
PROGRAM = """#!/bin/sh
while [ $# -gt 0 ]; do
	case $1 in
	--mutant) mutant=$2 ;;
	--mutant-counts) counts=$2 ;;
	esac
	shift
done
[ "$mutant" != none ] || exit 0
case $0 in *-reached) printf '\\1\\0\\0\\0\\0\\0\\0\\0\\1\\0\\0\\0\\0\\0\\0\\0' > "$counts" ;; esac
kill -"$(basename "${0%-reached}")" $$
"""


class Runs(unittest.TestCase):
    """ci/mutants: which ends of a program count as a kill."""

    def test_only_its_own_crash_kills_a_mutant(self):
        for name, killed in (("SEGV-reached", True), ("ABRT-reached", True), ("SEGV", False), ("KILL-reached", False),
                             ("TERM-reached", False)):
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                program = Path(folder) / name
                program.write_text(PROGRAM, encoding="utf-8")
                program.chmod(0o755)
                done = subprocess.run([SCRIPT.parents[2] / "ci" / "mutants", "--program", program, "--no-build", "--only",
                                       "gap-never-seen", "--seeds", "1"], capture_output=True, text=True, check=False)
                last = done.stdout.splitlines()[-1]
                self.assertEqual((done.returncode, last), (0, "2 passed, 0 failed") if killed else (1, "1 passed, 1 failed"), done.stdout)


class Text(unittest.TestCase):
    def test_functions(self):
        self.assertEqual([one.name for one in ctext.functions_of(SOURCE)], ["twice", "half", "half", "o2_sum", "main"])

    def test_brackets_that_do_not_match(self):
        for text in ("int f(void) { return 1; ", "int f(void) { g(]; }"):
            self.assertRaises(ctext.TextError, ctext.functions_of, text)


if __name__ == "__main__":
    sys.exit(suite.run(suite.of(sys.modules[__name__])))
