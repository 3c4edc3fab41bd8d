/* SPDX-License-Identifier: MIT */
#include "tests/lib/refused.h"

#include <inttypes.h>

bool assert_refused_row(size_t row, int rc, const struct o2_error *error, const char *rule, int code,
			uint64_t value, uint64_t limit, uint32_t index)
{
	if (rule == NULL && rc != 0)
		fail_msg("row %zu: refused by %s", row, error->rule);
	if (rule == NULL)
		return false;
	if (rc != code)
		fail_msg("row %zu (%s): rc %d", row, rule, rc);
	if (error->code != code || strcmp(error->rule, rule) != 0 || error->value != value ||
	    error->limit != limit || error->index != index)
		fail_msg("row %zu (%s): code %d, %s, value %" PRIu64 ", limit %" PRIu64 ", index %" PRIu32,
			 row, rule, error->code, error->rule, error->value, error->limit, error->index);
	return true;
}
