/* SPDX-License-Identifier: MIT */
#include "tests/lib/judge_page.h"

#include "tests/lib/unit_test.h"

const char *judge_misbehaviours(void)
{
	char *start = strstr(test_page("judge.md"), "\n## Misbehaviours");
	char *end;

	assert_non_null(start);
	end = strstr(start + 1, "\n## ");
	if (end != NULL)
		*end = '\0';
	return start;
}

bool judge_page_has(const char *text, const char *first, const char *name)
{
	char begins[80], word[80];
	const char *row, *found;

	snprintf(begins, sizeof(begins), "\n| %s |", first);
	snprintf(word, sizeof(word), "`%s`", name);
	row = strstr(text, begins);
	found = row == NULL ? NULL : strstr(row + strlen(begins), word);
	return found != NULL && found < row + 1 + strcspn(row + 1, "\n");
}
