/* SPDX-License-Identifier: MIT */

#include "judge/rules.h"
#include "props/hostile/hostile.h"
#include "tests/lib/judge_page.h"
#include "tests/lib/unit_test.h"

/*
 * The judge of the wire names each misbehaviour of docs/hostile.md by the rules that docs/judge.md,
 * "Misbehaviours", lists, and accuses no honest side.
 *
 *   test_hostile_heard [NAME]     prints the judge's findings for that one
 */

#define PERCENT_NAMED 95u

static const char *only;

static size_t names_in(const char *text)
{
	size_t count = 0;

	for (const char *row = strstr(text, "\n| "); row != NULL; row = strstr(row + 1, "\n| ")) {
		const char *cell = strchr(row + 3, '|');

		for (; cell != NULL && *cell != '\0' && *cell != '\n'; cell++)
			count += *cell == '`';
	}
	return count / 2;
}

/* Returns whether the page lists a rule that the judge found broken. */
static bool is_said(const char *text, const struct o2_misbehaviour *what, enum o2_judge_rule_id id,
		    bool by_liar)
{
	const struct o2_judge_rule *rule = &o2_judge_rules[id];
	char first[64];

	snprintf(first, sizeof(first), "`%s`", rule->id);
	if (by_liar && judge_page_has(text, first, what->name))
		return true;
	if (!by_liar && rule->severity == O2_JUDGE_NOTE)
		return true;
	print_message("%s: %s %s\n", what->name, rule->id,
		      by_liar ? "is not in its row of docs/judge.md" : "is held against an honest side");
	return false;
}

/* Returns the number of rules that name the misbehaviour; *wrong counts those that the page does not list. */
static size_t names(const char *text, const struct o2_misbehaviour *what, size_t *wrong)
{
	struct o2_hostile_heard heard = {0};
	size_t named = 0;
	char why[200];

	if (!o2_hostile_try(what, &heard, why))
		fail_msg("%s: %s", what->name, why);
	for (uint32_t i = 0; i < heard.count; i++) {
		*wrong += !is_said(text, what, heard.broken[i].rule, heard.broken[i].by_liar);
		named += heard.broken[i].by_liar;
		if (only != NULL)
			print_message("%s, by %s\n", o2_judge_rules[heard.broken[i].rule].id,
				      heard.broken[i].by_liar ? "the liar" : "an honest side");
	}
	if (named == 0 && !judge_page_has(text, "none", what->name)) {
		print_message("%s: no rule names it, and docs/judge.md does not say why\n", what->name);
		*wrong += 1;
	}
	return named;
}

TEST(names_each)
{
	const char *text = judge_misbehaviours();
	const struct o2_misbehaviour *list;
	size_t count = o2_misbehaviours(&list), named = 0, unnamed = 0, said = 0, wrong = 0;

	for (size_t i = 0; i < count; i++) {
		size_t rules;

		if (only != NULL && strcmp(only, list[i].name) != 0)
			continue;
		rules = names(text, &list[i], &wrong);
		said += rules == 0 ? 1 : rules;
		named += rules != 0;
		unnamed += rules == 0;
	}
	print_message("%zu named, %zu not\n", named, unnamed);
	assert_int_equal(wrong, 0);
	assert_true(said > 0);
	if (only != NULL)
		return;
	assert_true(named * 100 >= count * PERCENT_NAMED);
	/* The page lists no other rules. */
	assert_int_equal(names_in(text), said);
}

int main(int argc, char **argv)
{
	only = argc > 1 ? argv[1] : NULL;
	return tests_run();
}
