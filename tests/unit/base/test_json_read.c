/* SPDX-License-Identifier: MIT */
/* JSON text is read completely or not at all, whichever allocation fails, alone or with all later ones. */
#include <stdbool.h>

#include "base/json_read.h"
#include "tests/lib/unit_test.h"

#define LONGEST 70u
#define MANY	50000u /* objects, which take more than the arena has */

static uint32_t countdown; /* allocations until one fails; 0: none fails */
static bool for_good;	   /* all later ones fail too */
static int64_t live;

static void *counted(size_t bytes)
{
	if (countdown > 0 && --countdown == 0) {
		countdown = for_good;
		return NULL;
	}
	live++;
	return malloc(bytes);
}

static void counted_free(void *piece)
{
	live -= piece != NULL;
	free(piece);
}

static json_t *read_with(const char *text, uint32_t refused, bool all, json_error_t *where)
{
	json_t *value;

	for_good = all;
	countdown = refused;
	value = o2_json_read(text, strlen(text), JSON_REJECT_DUPLICATES, where);
	countdown = 0;
	return value;
}

/* Returns one more than the number of allocations that reading the text takes. */
static uint32_t check_text(const char *text, bool all)
{
	json_error_t where = {0}, refused = {0};
	json_t *whole = read_with(text, 0, false, &where), *value = NULL;
	uint32_t nth = 1;

	for (;; nth++) {
		value = read_with(text, nth, all, &refused);
		if (value != NULL || strcmp(refused.text, "not enough memory") != 0)
			break;
		assert_int_equal(refused.line, 0);
	}
	assert_true(whole == NULL ? value == NULL : json_equal(whole, value));
	assert_string_equal(where.text, refused.text);
	assert_int_equal(where.line, refused.line);
	json_decref(value);
	json_decref(whole);
	return nth;
}

TEST(test_each_allocation_refused)
{
	static const char *const ends[] = {"\"",   "\\\"\"", "\\u00e9\"", "\xf0\x9f\x98\x80\"",
					   "\xff", "",	     "\n\""};
	char text[LONGEST + 32];

	json_set_alloc_funcs(counted, counted_free);
	for (uint32_t length = 0; length < LONGEST; length++) {
		for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
			snprintf(text, sizeof(text), "[\"%.*s%s, %.*s]", (int)length,
				 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
				 ends[i], (int)(length % 19), "1234567890123456789");
			assert_true(check_text(text, false) > 1);
			assert_true(check_text(text, true) > 1);
		}
	}
	assert_int_equal(live, 0);
	json_set_alloc_funcs(malloc, free);
}

/* In the arena, jansson allocates only what the arena has no room for, and all of that is freed at the end. */
TEST(test_arena)
{
	static char text[3 * MANY + 1];
	json_error_t where;
	json_t *value;

	json_set_alloc_funcs(counted, counted_free);
	for (uint32_t i = 0; i < 3; i++) {
		const uint32_t count = i == 1 ? MANY : 1;

		for (uint32_t k = 0; k < count; k++)
			memcpy(text + 3 * k, k == 0 ? "[{}" : ",{}", 3);
		text[3 * count] = ']';
		o2_json_arena_begin();
		value = o2_json_read(text, 3 * count + 1, 0, &where);
		assert_int_equal(json_array_size(value), count);
		assert_int_equal(live > 0, count == MANY);
		o2_json_arena_end(value);
		assert_int_equal(live, 0);
	}
	json_set_alloc_funcs(malloc, free);
}

TEST(test_files_and_what_is_wrong_with_them)
{
	static const struct {
		const char *path, *expected;
	} wrong[] = {{"/no/such/file", "No such file or directory"},
		     {"/", "Is a directory"},
		     {"/dev/null", "'[' or '{' expected near end of file (line 1)"}};
	json_error_t where;
	char text[128];

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_null(o2_json_read_file(wrong[i].path, 0, &where));
		assert_string_equal(o2_json_where(&where, text, sizeof(text)), wrong[i].expected);
	}
}
