/* SPDX-License-Identifier: MIT */
#include <limits.h>

#include "base/own_path.h"
#include "tests/lib/unit_test.h"

TEST(path_is_that_of_the_program)
{
	char path[PATH_MAX], real[PATH_MAX];

	assert_int_equal(o2_own_path(NULL, path, sizeof(path)), 0);
	assert_non_null(realpath("/proc/self/exe", real));
	assert_string_equal(path, real);
}

TEST(another_program_stands_beside_it)
{
	char path[PATH_MAX], own[PATH_MAX];

	assert_int_equal(o2_own_path(NULL, own, sizeof(own)), 0);
	assert_int_equal(o2_own_path("another", path, sizeof(path)), 0);
	strcpy(strrchr(own, '/') + 1, "another");
	assert_string_equal(path, own);
}

/* A path fits if there is room for its bytes and the terminating zero, and not with one byte less. */
TEST(path_that_does_not_fit_is_refused)
{
	const char *const names[] = {NULL, "a-name-that-is-longer-than-that-of-the-program-itself"};
	char path[PATH_MAX];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t length;

		assert_int_equal(o2_own_path(names[i], path, sizeof(path)), 0);
		length = strlen(path);
		assert_int_equal(o2_own_path(names[i], path, length + 1), 0);
		assert_int_equal(strlen(path), length);
		assert_int_equal(o2_own_path(names[i], path, length), -ENAMETOOLONG);
		assert_string_equal(path, "");
	}
}
