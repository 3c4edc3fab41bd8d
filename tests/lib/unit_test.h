/* SPDX-License-Identifier: MIT */
#ifndef O2_TESTS_UNIT_TEST_H
#define O2_TESTS_UNIT_TEST_H

/* cmocka.h, behind what it needs, and what most tests use.  A test does not have to use its state
 * (tests/lib/CMakeLists.txt). */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* cmocka 2 says which numbers are meant; the older name is of unsigned ones. */
#ifndef assert_uint_in_range
#define assert_uint_in_range assert_in_range
#endif

/*
 * A test is run because it stands in the file, in the order of the file:
 *
 *	TEST(one_holds)
 *	{
 *		assert_int_equal(1, 1);
 *	}
 *
 * TEST_WITH: with a set-up and a tear-down of its own, either of which may be NULL.
 * TEST_OF: the same, of whose state the body has a name and a type.
 * TEST_ON: of what open returns, which is closed behind the body when that has gone well.
 * ALSO_TEST: a function that stands elsewhere, because others call it too.
 * GROUP_SETUP: what is called once, before the first test.
 *
 * The program has the main of tests/lib/unit_main.c, or one of its own that ends in tests_run().
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

#define ALSO_TEST(name) REGISTER_TEST_(name, NULL, NULL)

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

/* Compilers put constructors in an order of their own: the tests run in that of place. */
void test_register(const struct CMUnitTest *test, unsigned int place);
void group_setup_register(CMFixtureFunction function);
/* Returns how many failed. */
int tests_run(void);
/* The arguments of a test that draws: which seed or case it begins with, and how many; what is left out stays. */
void tests_take_numbers(int argc, char **argv, uint64_t *first, uint64_t *second);
/* What a test without arguments draws from: $O2_TEST_SEED, or what it has where that is not set. */
uint64_t tests_seed(uint64_t otherwise);

/* Read a file of less than capacity_bytes; fails the test when it cannot. */
size_t test_read(const char *path, void *bytes, size_t capacity_bytes);
/* The text of docs/NAME, until another is asked for. */
char *test_page(const char *name);

/* A call that fails with that code, and says by which rule, or what of. */
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
