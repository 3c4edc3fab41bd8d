/* SPDX-License-Identifier: MIT */
#ifndef O2_TESTS_REFUSED_H
#define O2_TESTS_REFUSED_H

#include <stdbool.h>

#include "base/error.h"
#include "tests/lib/unit_test.h"

/*
 * A row of a table of refusals: it was refused with that code by that rule, which says those figures; rule
 * NULL: it was not.  Returns whether it was.
 */
bool assert_refused_row(size_t row, int rc, const struct o2_error *error, const char *rule, int code,
			uint64_t value, uint64_t limit, uint32_t index);

#endif
