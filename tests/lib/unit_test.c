/* SPDX-License-Identifier: MIT */
#include "tests/lib/unit_test.h"

#include <assert.h>
#include <malloc.h>

#define TESTS_MAX 192u /* in one program */

static struct CMUnitTest tests[TESTS_MAX];
static unsigned int places[TESTS_MAX];
static unsigned int ntests;
static CMFixtureFunction group_setup;

void test_register(const struct CMUnitTest *test, unsigned int place)
{
	unsigned int at = ntests++;

	assert(ntests <= TESTS_MAX);
	for (; at > 0 && places[at - 1] > place; at--) {
		tests[at] = tests[at - 1];
		places[at] = places[at - 1];
	}
	tests[at] = *test;
	places[at] = place;
}

void group_setup_register(CMFixtureFunction function)
{
	assert(group_setup == NULL);
	group_setup = function;
}

void tests_take_numbers(int argc, char **argv, uint64_t *first, uint64_t *second)
{
	if (argc > 1)
		*first = strtoull(argv[1], NULL, 0);
	if (argc > 2)
		*second = strtoull(argv[2], NULL, 0);
}

uint64_t tests_seed(uint64_t otherwise)
{
	const char *text = getenv("O2_TEST_SEED");

	return text != NULL ? strtoull(text, NULL, 0) : otherwise;
}

CMUnitTestFunction tests_find(const char *name)
{
	const struct CMUnitTest *found = NULL;

	for (unsigned int i = 0; i < ntests; i++)
		if (strcmp(tests[i].name, name) == 0) {
			assert(found == NULL && tests[i].setup_func == NULL);
			found = &tests[i];
		}
	if (found != NULL)
		return found->test_func;
	fprintf(stderr, "no test %s\n", name);
	abort();
}

int tests_run(void)
{
	assert(ntests > 0);
	/* Fill allocated memory with junk, so that reads of uninitialized memory do not find zeros. */
	mallopt(M_PERTURB, TEST_JUNK);
	return _cmocka_run_group_tests("tests", tests, ntests, group_setup, NULL);
}

size_t test_read(const char *path, void *bytes, size_t capacity_bytes)
{
	FILE *file = fopen(path, "rb");
	size_t length;

	if (file == NULL)
		fail_msg("cannot open %s", path);
	length = fread(bytes, 1, capacity_bytes, file);
	if (length == capacity_bytes)
		fail_msg("%s is longer than %zu bytes", path, capacity_bytes - 1);
	fclose(file);
	return length;
}

char *test_page(const char *name)
{
	static char text[1u << 18];
	char path[512];

	snprintf(path, sizeof(path), O2_DOCS_DIR "/%s", name);
	text[test_read(path, text, sizeof(text))] = '\0';
	return text;
}
