/* SPDX-License-Identifier: MIT */
/* docs/judge.md has a row for every rule, in the order of the rules, and each rule's source names a section. */
#include "judge/rules.h"
#include "tests/lib/unit_test.h"

TEST(test_rows)
{
	const char *at = test_page("judge.md");

	for (int i = 0; i < O2_JUDGE_RULES; i++) {
		const struct o2_judge_rule *rule = &o2_judge_rules[i];
		char row[512];

		assert_non_null(rule->id);
		snprintf(row, sizeof(row), "\n| `%s` | %s | %s |", rule->id,
			 o2_judge_severity_names[rule->severity], rule->sentence);
		at = strstr(at, row);
		if (at == NULL)
			fail_msg("docs/judge.md has no row%s (in this place)", row);
	}
}

/* Each source has the form: docs/PAGE, "SECTION". */
TEST(test_sources)
{
	for (int i = 0; i < O2_JUDGE_RULES; i++) {
		char page[64], section[128], heading[160];

		if (sscanf(o2_judge_rules[i].source, "docs/%63[^,], \"%127[^\"]\"", page, section) != 2)
			fail_msg("%s: source %s", o2_judge_rules[i].id, o2_judge_rules[i].source);
		snprintf(heading, sizeof(heading), "# %s\n", section);
		if (strstr(test_page(page), heading) == NULL)
			fail_msg("%s: docs/%s has no section \"%s\"", o2_judge_rules[i].id, page, section);
	}
}
