/* SPDX-License-Identifier: MIT */

#include "props/cmd/hostile_command.h"
#include "props/hostile/hostile.h"
#include "tests/lib/unit_test.h"

/*
 * Every misbehaviour of docs/hostile.md gets the required reaction.
 *
 *   test_hostile [NAME]
 */

static const char *only;

TEST(meets_each)
{
	const struct o2_misbehaviour *list;
	size_t count = o2_misbehaviours(&list), tried = 0, failed = 0;
	char why[200];

	for (size_t i = 0; i < count; i++) {
		if (only != NULL && strcmp(only, list[i].name) != 0)
			continue;
		tried++;
		if (!o2_hostile_try(&list[i], NULL, why)) {
			print_message("%s: %s\n  again: test_hostile %s\n", list[i].name, why, list[i].name);
			failed++;
		}
	}
	print_message("%zu misbehaviours, %zu not met\n", tried, failed);
	assert_int_equal(failed, 0);
	assert_true(tried > 0);
}

TEST(has_names_of_its_own)
{
	const struct o2_misbehaviour *list;
	size_t count = o2_misbehaviours(&list);

	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(list[i].name, list[j].name);
}

/* Misbehaviours that break the same rule in different ways count as one rule. */
TEST(breaks_many_rules)
{
	const struct o2_misbehaviour *list;
	size_t count = o2_misbehaviours(&list), rules = 0;

	for (size_t i = 0; i < count; i++) {
		size_t j = 0;

		while (strcmp(list[i].rule, list[j].rule) != 0)
			j++;
		rules += i == j;
	}
	print_message("%zu misbehaviours break %zu rules\n", count, rules);
	assert_true(rules >= 60);
}

TEST(stands_in_the_table)
{
	const char *text = test_page("hostile.md");
	const struct o2_misbehaviour *list;
	size_t count = o2_misbehaviours(&list), rows = 0;

	for (size_t i = 0; i < count; i++) {
		char row[O2_MISBEHAVIOUR_ROW_BYTES];

		o2_misbehaviour_row(&list[i], row);
		if (strstr(text, row) == NULL) {
			print_message("not in docs/hostile.md (o2props hostile --list):\n%s\n", row);
			fail();
		}
	}
	/* Other tables precede this one in the document. */
	for (const char *at = strstr(text, "\n## The table");
	     at != NULL && (at = strstr(at, "\n| `")) != NULL; at++)
		rows++;
	assert_int_equal(rows, count);
}

/* A misbehaviour's page must name its wire rule; connection.md, for requests and replies, is exempt. */
TEST(names_the_page_of_its_rule)
{
	const struct o2_misbehaviour *list;
	const size_t count = o2_misbehaviours(&list);

	for (size_t i = 0; i < count; i++)
		if (strncmp(list[i].rule, "wire/", 5) == 0 && strcmp(list[i].doc, "connection.md") != 0 &&
		    strstr(test_page(list[i].doc), list[i].rule) == NULL)
			fail_msg("%s: %s is not in docs/%s", list[i].name, list[i].rule, list[i].doc);
}

/* "Profiles" names exactly the marked misbehaviours. */
TEST(profiles_are_documented)
{
	const char *section = strstr(test_page("hostile.md"), "\n| What kernels are known to tolerate");
	const char *end = section == NULL ? NULL : strstr(section, "\n\n");
	size_t count, marked = 0, named = 0;
	const struct o2_misbehaviour *list;

	assert_non_null(end);
	count = o2_misbehaviours(&list);
	for (size_t i = 0; i < count; i++)
		marked += list[i].kernel_tolerates;
	for (const char *at = strchr(section, '`'); at != NULL && at < end; at = strchr(at, '`')) {
		const struct o2_misbehaviour *what;
		char name[40];

		snprintf(name, sizeof(name), "%.*s", (int)strcspn(at + 1, "`"), at + 1);
		at += strlen(name) + 2;
		what = o2_misbehaviour_find(name);
		if (what == NULL || !what->kernel_tolerates)
			fail_msg("%s is not marked as what kernels tolerate", name);
		named++;
	}
	print_message("%zu that kernels are known to tolerate\n", marked);
	assert_int_equal(named, marked);
}

/* Returns the profile for --profile NAME; -2: unknown name. */
static int64_t profile_of(const char *name)
{
	char device[] = "--device=a", peer[] = "--peer=10.0.0.1@o2ib", profile[32], all[] = "--all";
	char command[] = "hostile", *argv[] = {command, device, peer, profile, all, NULL};
	struct o2_hostile_words words;

	snprintf(profile, sizeof(profile), "--profile=%s", name);
	return o2_hostile_read("test", 5, argv, &words) > 0 ? words.profile : -2;
}

TEST(profiles_have_names)
{
	assert_int_equal(profile_of("strict"), O2_HOSTILE_STRICT);
	assert_int_equal(profile_of("kernel"), O2_HOSTILE_KERNEL);
	assert_int_equal(profile_of(""), -2);
	assert_int_equal(profile_of("kernels"), -2);
}

int main(int argc, char **argv)
{
	only = argc > 1 ? argv[1] : NULL;
	return tests_run();
}
