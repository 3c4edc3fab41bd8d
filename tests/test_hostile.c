/* SPDX-License-Identifier: MIT */
/* cmocka.h wants the others before it. */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include <string.h>

#include "props/hostile.h"

/* Every misbehaviour of docs/hostile.md meets the reaction that it must.
 *
 *   test_hostile [NAME]
 */

static const char *only;

static void meets_each(void **state)
{
	const struct o2_misbehaviour *list;
	size_t count = o2_misbehaviours(&list), failed = 0;
	char why[200];

	(void)state;
	for (size_t i = 0; i < count; i++) {
		if (only != NULL && strcmp(only, list[i].name) != 0)
			continue;
		if (!o2_hostile_try(&list[i], why)) {
			print_message("%s: %s\n  again: test_hostile %s\n", list[i].name, why, list[i].name);
			failed++;
		}
	}
	print_message("%zu misbehaviours, %zu not met\n", count, failed);
	assert_int_equal(failed, 0);
}

static void has_names_of_its_own(void **state)
{
	const struct o2_misbehaviour *list;
	size_t count = o2_misbehaviours(&list);

	(void)state;
	assert_true(count >= 60);
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(list[i].name, list[j].name);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(meets_each),
		cmocka_unit_test(has_names_of_its_own),
	};

	only = argc > 1 ? argv[1] : NULL;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
