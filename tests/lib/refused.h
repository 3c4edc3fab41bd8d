/* SPDX-License-Identifier: MIT */
#ifndef O2_TESTS_REFUSED_H
#define O2_TESTS_REFUSED_H

#include <stdbool.h>

#include "base/error.h"
#include "tests/lib/unit_test.h"

/*
 * Check one row of a table of refusals: assert that rc and *error have this code, rule and these figures.
 * rule NULL: assert that nothing was refused.  Returns true if the row expects a refusal.
 */
bool assert_refused_row(size_t row, int rc, const struct o2_error *error, const char *rule, int code,
			uint64_t value, uint64_t limit, uint32_t index);

#endif
