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

/* A call that fails with that code, and says by which rule. */
#define assert_error(call, code, error, rule_)             \
	do {                                               \
		assert_int_equal(call, code);              \
		assert_string_equal((error)->rule, rule_); \
	} while (0)

#endif
