/* SPDX-License-Identifier: MIT */
#ifndef O2_TESTS_UNIT_TEST_H
#define O2_TESTS_UNIT_TEST_H

/* Includes cmocka.h after the headers that it needs, and headers that most tests use.  A test may leave its
 * argument `state` unused (tests/lib/CMakeLists.txt sets the compiler option). */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define TEST_JUNK 0xa5 /* what allocated and freed memory is filled with (mallopt, M_PERTURB) */

/* cmocka 2 has a name for each signedness; before that, assert_in_range compared unsigned numbers. */
#ifndef assert_uint_in_range
#define assert_uint_in_range assert_in_range
#endif

/*
 * Each test registers itself.  Tests run in the order in which they are defined in the file:
 *
 *	TEST(one_holds)
 *	{
 *		assert_int_equal(1, 1);
 *	}
 *
 * TEST_WITH: a test with its own set-up and tear-down functions, either of which may be NULL.
 * TEST_OF: the same, with the state passed to the body as a typed variable.
 * TEST_ON: the body gets the result of `open`, which is passed to `close` after the body unless the body fails.
 * GROUP_SETUP: registers a function that is called once, before the first test.
 *
 * The program uses the main() of tests/lib/unit_main.c, or has its own, which ends with tests_run().
 */
#define TEST(name) TEST_WITH(name, NULL, NULL)

#define TEST_WITH(name, set_up, tear_down)      \
	static void name(void **state);         \
	REGISTER_TEST_(name, set_up, tear_down) \
	static void name(void **state)

#define TEST_OF(name, set_up, tear_down, type, var) \
	static void name##_of(type *var);           \
	TEST_WITH(name, set_up, tear_down)          \
	{                                           \
		name##_of(*state);                  \
	}                                           \
	static void name##_of(type *var)

#define TEST_ON(name, type, var, open, close) \
	static void name##_on(type *var);     \
	TEST(name)                            \
	{                                     \
		type *opened_ = open;         \
		name##_on(opened_);           \
		close(opened_);               \
	}                                     \
	static void name##_on(type *var)

#define GROUP_SETUP(function)                                                \
	__attribute__((constructor)) static void register_group_setup_(void) \
	{                                                                    \
		group_setup_register(function);                              \
	}

#define REGISTER_TEST_(name, set_up, tear_down)                                                          \
	__attribute__((constructor)) static void register_##name(void)                                   \
	{                                                                                                \
		const struct CMUnitTest test = cmocka_unit_test_setup_teardown(name, set_up, tear_down); \
		test_register(&test, __COUNTER__);                                                       \
	}

/* `place` orders the tests, because the order in which constructors run depends on the compiler. */
void test_register(const struct CMUnitTest *test, unsigned int place);
void group_setup_register(CMFixtureFunction function);
/* Run all registered tests.  Returns the number that failed. */
int tests_run(void);
/* The function of the registered test with this name, which must have no set-up function. */
CMUnitTestFunction tests_find(const char *name);
/* Parse the arguments of a randomized test: first seed or case, and count.  A missing argument leaves its value. */
void tests_take_numbers(int argc, char **argv, uint64_t *first, uint64_t *second);
/* The seed of a randomized test without arguments: $O2_TEST_SEED, or `otherwise` if that is not set. */
uint64_t tests_seed(uint64_t otherwise);

/* Read a file of less than capacity_bytes.  Returns its length; fails the test on error. */
size_t test_read(const char *path, void *bytes, size_t capacity_bytes);
/* The text of docs/NAME, which is valid until the next call. */
char *test_page(const char *name);

/* Assert that the call returns this code and sets this rule or this field in *error. */
#define assert_error(call, code, error, rule_)             \
	do {                                               \
		assert_int_equal(call, code);              \
		assert_string_equal((error)->rule, rule_); \
	} while (0)
#define assert_error_field(call, code, error, field_)        \
	do {                                                 \
		assert_int_equal(call, code);                \
		assert_string_equal((error)->field, field_); \
	} while (0)

#endif
