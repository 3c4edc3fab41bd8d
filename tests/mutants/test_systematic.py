#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Tests of systematic mutants: the changes of each operator, the draw, the ids, and the report of survivors."""

import argparse
import contextlib
import io
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "ci"))
import operators  # noqa: E402
import systematic  # noqa: E402
from o2ci import mutant_runs, mutant_tree, systematic_score, transfer  # noqa: E402

FILE = "ref/x/sum.c"
# The check covers sum() except for its limit; nothing calls rare().
SOURCE = """#include "x/sum.h"

int sum(const int *value, int n)
{
	int total = 0;

	for (int i = 0; i < n; i++)
		total += value[i];
	if (total > LIMIT)
		return LIMIT;
	return total;
}

int rare(int x)
{
	return x + 1;
}
"""
HEADER = "#define LIMIT 1000\nint sum(const int *value, int n);\nint rare(int x);\n"
CHECK = """#include "x/sum.h"
int main(void)
{
	int three[] = {1, 2, 3};
	return sum(three, 3) == 6 ? 0 : 1;
}
"""
BUILD = """cmake_minimum_required(VERSION 3.25)
project(sample LANGUAGES C)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
include_directories(${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/ref)
add_subdirectory(ref)
add_executable(check check.c)
target_link_libraries(check sum)
"""
PRESETS = """{"version": 6, "configurePresets": [{"name": "gcc", "generator": "Ninja",
 "binaryDir": "${sourceDir}/build/${presetName}", "cacheVariables": {"CMAKE_C_COMPILER": "gcc"}}]}
"""


def offered(statements, head="static int f(int a, int b)", operator=None):
    """{(operator, text): replacement} in a function with these statements."""
    places = operators.places_of(f"{head}\n{{\n{statements}\n}}\n", FILE)
    return {(one.operator, one.text): one.broken for one in places if operator in (None, one.operator)}


class Operators(unittest.TestCase):
    def test_each_makes_what_it_says(self):
        for statement, operator, text, broken in (
                ("if (a < b + 1) g();", "< becomes <=", "a < b + 1", "a <= b + 1"),
                ("if (a >= b && c) g();", ">= becomes >", "a >= b", "a > b"),
                ("x = a - b + c;", "+ becomes -", "a - b + c", "a - b - c"),
                ("x = a - b + c;", "- becomes +", "a - b", "a + b"),
                ("x = a + b * c;", "* becomes +", "b * c", "b + c"),
                ("x = (a | b) & c;", "& becomes |", "( a | b ) & c", "( a | b ) | c"),
                ("x += a ? b : c;", "+= becomes -=", "x += a ? b : c", "x -= a ? b : c"),
                ("p->q[i].n++;", "++ becomes --", "p -> q [ i ] . n ++", "p -> q [ i ] . n --"),
                ("y = buffer[--n];", "-- becomes ++", "-- n", "++ n"),
                ("x = 7;", "one more", "7", "(7 + 1)"),
                ("x = LIMIT;", "one less", "LIMIT", "(LIMIT - 1)"),
                ("x = 0777;", "one less", "0777", "(0777 - 1)"),
                ("x = true;", "true becomes false", "true", "false"),
                ("while (a || b) g();", "negated", "a || b", "!(a || b)"),
                ("while (a || b) g();", "|| becomes &&", "a || b", "a && b"),
                ("x = a && b ? 1 : 2;", "negated", "a && b", "!(a && b)"),
                ("if (a == b) g();", "== becomes !=", "a == b", "a != b"),
                ("if (a) g(1);", "deleted", "g ( 1 ) ;", ""),
                ("while (a) { if (b) break; g(); }", "deleted", "break ;", ""),
                ("return fail(a, 3);", "0 instead", "fail ( a , 3 )", "((void)(fail ( a , 3 )), 0)"),
                ("x = a + sizeof(uint32_t) && b;", "+ becomes -", "a + sizeof ( uint32_t )", "a - sizeof ( uint32_t )"),
                ("uint32_t x = (uint32_t)a + b;", "+ becomes -", "( uint32_t ) a + b", "( uint32_t ) a - b")):
            with self.subTest(statement=statement, operator=operator):
                self.assertEqual(offered(statement).get((operator, text)), broken)

    def test_signs_stars_and_casts_are_no_operators_of_two(self):
        for statement in ("x = -a;", "x = *p;", "g((uint8_t *)p, &a);", "return (int)-a;", "x = (struct s *)p;"):
            kinds = {operator for operator, _ in offered(statement) if "becomes" in operator}
            self.assertEqual(kinds, set(), statement)

    def test_what_cannot_be_switched_is_not_offered(self):
        for statement in ("assert(a < 3);", "static_assert(N == 3, \"\");", "static const int x = 3;", "int v[3];",
                          "(void)a;", "x(sizeof(v[0]));", "switch (a) { case 3: default: break; }"):
            self.assertEqual([key for key in offered(statement) if key[0] != "deleted" or "sizeof" not in key[1]], [], statement)
        self.assertEqual([text for _, text in offered("g(\"3\"); /* 4 < 5 */", operator="one more")], [])

    def test_an_error_is_an_int(self):
        self.assertIn(("0 instead", "- 5"), offered("return -5;"))
        self.assertNotIn(("0 instead", "- 5"), offered("return -5;", head="static long f(void)"))
        self.assertEqual(offered("return 0;", operator="0 instead"), {})

    def test_a_comparison_is_negated_once(self):
        self.assertEqual(set(offered("if (a == 0) g();", operator="negated")), set())

    def test_the_least_of_two_has_no_boundary(self):
        for statement in ("x = a - 1 < b ? a - 1 : b;", "x = f(a > b ? b : a);", "if (a > b) a = b;"):
            self.assertEqual([key for key in offered(statement) if ">=" in key[0] or "<=" in key[0]], [], statement)
        for statement in ("x = a < b ? a : c;", "if (a > b) b = c;", "if (a > b) g(a = b);"):
            self.assertEqual(len([key for key in offered(statement) if "=" in key[0]]), 1, statement)

    def test_the_name_of_a_checks_rule_stays(self):
        self.assertEqual(set(offered("if (o2_wire_breaks(RULE_A, x > LIMIT)) g();", operator="one more")),
                         {("one more", "LIMIT")})


class Names(unittest.TestCase):
    def ids(self, text):
        return {systematic.id_of(place): place.line for place in operators.places_of(text, FILE)}

    def test_a_name_stays_where_lines_move_and_others_change(self):
        before = self.ids(SOURCE)
        after = self.ids("\n/* new */\nint one(void) { return 1 + 1; }\n" + SOURCE.replace("total += value[i];",
                                                                                       "total +=\n\t\t\tvalue[i];"))
        self.assertEqual(set(before) - set(after), set())
        self.assertTrue(all(after[name] > line for name, line in before.items()))

    def test_equal_texts_are_counted(self):
        places = operators.places_of("int f(int a)\n{\n\ta = 3;\n\ta = 3;\n\treturn a;\n}\n", FILE)
        self.assertEqual([one.occurrence for one in places if one.operator == "one more"], [1, 2])

    def test_names_are_different(self):
        places = operators.places_of(SOURCE, FILE)
        self.assertEqual(len({systematic.id_of(place) for place in places}), len(places))


class Draw(unittest.TestCase):
    places = {FILE: operators.places_of(SOURCE, FILE),
              "ref/y/sum.c": operators.places_of(SOURCE[:SOURCE.index("int rare")], "ref/y/sum.c")}

    def drawn(self, seed, count=6):
        return [place for number, order in systematic.draw(self.places, count, seed).values() for place in order[:number]]

    def test_the_same_seed_draws_the_same(self):
        self.assertEqual(self.drawn(1), self.drawn(1))
        self.assertNotEqual(self.drawn(1), self.drawn(2))

    def test_folders_get_their_share_and_all_is_given(self):
        for count in (1, 5, 6, 12):
            given = {name: number for name, (number, _) in systematic.draw(self.places, count, 1).items()}
            self.assertEqual(sum(given.values()), count)
            self.assertGreaterEqual(given["x"], given["y"])

    def test_one_folder_alone(self):
        self.assertEqual(set(systematic.draw(self.places, 3, 1, under=["y"])), {"y"})

    def test_a_folder_that_is_not_there(self):
        with self.assertRaisesRegex(systematic.DrawError, "^--under ref/y: no such folder of ref/; there are x, y$"):
            systematic.draw(self.places, 3, 1, under=["y", "ref/y"])

    def test_what_is_edited_elsewhere_changes_nothing(self):
        order = systematic.in_order(self.places[FILE], 5)
        moved = operators.places_of("\n\n" + SOURCE, FILE)
        self.assertEqual([one.key for one in systematic.in_order(moved, 5)], [one.key for one in order])


class Judged(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="o2ref-judged-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def write(self, text="total > LIMIT", reason="no sum is so large", more=""):
        (self.folder / "x.toml").write_text(f'[[accepted]]\nfile = "{FILE}"\nfunction = "sum"\noperator = "> becomes >="\n'
                                            f'text = "{text}"\nreason = "{reason}"\n{more}')
        return systematic.read_judged(self.folder)

    def test_an_entry_is_found_by_its_text(self):
        judged = self.write(text="total  >LIMIT")
        self.assertEqual(systematic.stale(judged, Draw.places), [])

    def test_one_that_is_nowhere_is_named(self):
        judged = self.write(text="total > OTHER")
        self.assertIn("total > OTHER", systematic.stale(judged, Draw.places)[0].text)
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            status = systematic_score.check_list(judged, Draw.places)
        self.assertEqual((status, output.getvalue().splitlines()[-1]), (1, "0 passed, 1 failed"))

    def test_a_reason_is_wanted(self):
        for arguments in ({"reason": " "}, {"more": "why = 'so'\n"}, {"more": "[[other]]\n"}):
            with self.assertRaises(systematic.JudgedError):
                self.write(**arguments)

    def test_what_is_not_a_list_of_judgements(self):
        for text, word in (("[[accepted]\n", "x.toml"), ("accepted = 3\n", "'accepted' is not a list of tables")):
            (self.folder / "x.toml").write_text(text)
            with self.assertRaisesRegex(systematic.table.TableError, word):
                systematic.read_judged(self.folder)
        with self.assertRaisesRegex(systematic.JudgedError, "occurrence, a number"):
            self.write(more="occurrence = 'two'\n")

    def test_the_projects_list_fits_its_sources(self):
        self.assertEqual(systematic.stale(systematic.read_judged(), systematic.all_places(systematic.ROOT)), [])


class Runs(unittest.TestCase):
    def test_every_property_is_run(self):
        self.assertEqual({name for name, *_ in mutant_runs.OF_O2PROPS}, {transfer.TRANSFER, *transfer.DEVICE_FREE})


class Sample(unittest.TestCase):
    """The whole procedure, on a project with one source."""

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="o2ref-systematic-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.root, self.tree = self.folder / "root", self.folder / "tree"
        for name, text in ((FILE, SOURCE), ("ref/x/sum.h", HEADER), ("check.c", CHECK), ("CMakeLists.txt", BUILD),
                           ("CMakePresets.json", PRESETS), ("ref/CMakeLists.txt", "add_library(sum STATIC x/sum.c)\n")):
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def place(self, operator, text):
        return next(one for one in operators.places_of(SOURCE, FILE) if (one.operator, one.text) == (operator, text))

    def score(self, places, judged=None, kind=mutant_runs.PROPERTY):
        mutant_tree.lay(self.root, self.tree)
        mutant_tree.write_sources(self.root, self.tree, {})
        mutant_tree.configure(self.tree)
        said = []
        compiler = mutant_tree.Compiler(self.root, self.tree)
        chosen = mutant_tree.choose({"x": (len(places), places)}, compiler, 2, said.append)
        mutants = dict(enumerate(chosen, 1))
        mutant_tree.write_sources(self.root, self.tree, mutants)
        programs = self.tree / "build" / "gcc"
        runs = [mutant_runs.Run("check", kind, [programs / "check"])]
        mutant_tree.build(self.tree, ["check"], 2)
        output = io.StringIO()
        options = argparse.Namespace(jobs=2, judged=False, json=None, seed=1)
        with contextlib.redirect_stdout(output):
            results, failed = systematic_score.score(mutants, runs, judged or {}, options)
            systematic_score.report(results, options)
        self.assertEqual(failed, 0)
        return {one.place.operator + ": " + one.place.text: one for one in results}, said, output.getvalue()

    def test_killed_survived_and_not_reached(self):
        places = [self.place("< becomes <=", "i < n"), self.place("+= becomes -=", "total += value [ i ]"),
                  self.place("> becomes >=", "total > LIMIT"), self.place("+ becomes -", "x + 1")]
        results, said, output = self.score(places)
        self.assertEqual(said, [])
        self.assertEqual(results["+= becomes -=: total += value [ i ]"].how, mutant_runs.PROPERTY)
        self.assertEqual(results["> becomes >=: total > LIMIT"].how, systematic_score.SURVIVED)
        self.assertTrue(results["> becomes >=: total > LIMIT"].fails)
        self.assertEqual(results["+ becomes -: x + 1"].how, systematic_score.NOT_REACHED)
        survivors = output[output.index("Survivors:"):]
        self.assertIn("ref/x/sum.c:9 sum: > becomes >=", survivors)
        self.assertIn("is:  total >= LIMIT", survivors)
        self.assertIn("ref/x/sum.c:16 rare: + becomes -", survivors)
        self.assertNotIn("total += value", survivors)

    def test_a_header_gets_its_first_mutant_where_all_is_built(self):
        source = SOURCE.replace("int total = 0", "int total = start()")
        header = HEADER + "static inline int start(void)\n{\n\treturn 7 - 7;\n}\n"
        (self.root / FILE).write_text(source, encoding="utf-8")
        (self.root / "ref/x/sum.h").write_text(header, encoding="utf-8")
        self.score([])
        place = next(one for one in operators.places_of(header, "ref/x/sum.h") if one.operator == "- becomes +")
        results, _, _ = self.score([place])
        self.assertEqual([one.how for one in results.values()], [mutant_runs.PROPERTY])

    def test_tests_count_apart(self):
        results, _, output = self.score([self.place("+= becomes -=", "total += value [ i ]")], kind=mutant_runs.TEST)
        self.assertEqual(results["+= becomes -=: total += value [ i ]"].how, mutant_runs.TEST)
        self.assertEqual(output.splitlines()[-1].split(), "all 1 0 0 1 0 100 % 0 %".split())

    def test_one_that_is_no_c_is_dropped_and_named(self):
        broken = self.place("> becomes >=", "total > LIMIT")
        broken = operators.Place(**{**broken.__dict__, "broken": "total > > LIMIT"})
        results, said, _ = self.score([broken, self.place("+ becomes -", "x + 1")])
        self.assertEqual(list(results), ["+ becomes -: x + 1"])
        self.assertIn("expected expression", said[0])

    def test_what_is_judged_equivalent_is_not_run(self):
        place = self.place("> becomes >=", "total > LIMIT")
        judged = {place.key: systematic.Judgement(place.key, "equivalent", "the same value", "x.toml")}
        results, _, _ = self.score([place], judged)
        one = results["> becomes >=: total > LIMIT"]
        self.assertEqual((one.how, one.fails), (systematic_score.EQUIVALENT, False))

    def test_a_run_that_does_not_hold_by_itself_fails(self):
        one = systematic_score.Score([mutant_runs.Run("no", mutant_runs.TEST, ["false"])], 1, lambda text: None)
        one.clean(mutant_runs.TEST)
        self.assertEqual((one.failed, one.runs), (1, []))

    def test_where_no_mutant_is_left_nothing_runs(self):
        runs = [mutant_runs.Run("no", mutant_runs.TEST, ["false"])]
        self.assertEqual(systematic_score.score({}, runs, {}, argparse.Namespace(jobs=1, judged=False)), ([], 0))

    def test_a_test_that_fails_later_without_a_mutant_kills_nothing(self):
        mark = self.folder / "mark"
        once = mutant_runs.Run("once", mutant_runs.TEST, ["sh", "-c", f"test ! -e {mark} && touch {mark}"])
        one = systematic_score.Score([once], 1, lambda text: None)
        one.clean(mutant_runs.TEST)
        once.reached = bytes([1, 1])
        result = systematic_score.Result(1, self.place("+ becomes -", "x + 1"), systematic_score.NOT_REACHED)
        one.judge(result, mutant_runs.TEST)
        self.assertEqual((result.how, one.failed, one.runs), (systematic_score.SURVIVED, 1, []))


if __name__ == "__main__":
    unittest.main()
