/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_REFUSALS_H
#define O2_PROPS_REFUSALS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "props/engine/report.h"

/*
 * The refusals that a stage may give for an input, derived from the definitions: one error record for each rule
 * that the input breaks.  The stage may report any of them.
 */
#define O2_REFUSALS_MAX 16u

struct o2_refusals {
	uint32_t count;
	struct o2_error expected[O2_REFUSALS_MAX];
};

/* Add a refusal.  Of several with the same rule the first is kept, because a stage meets it first. */
void o2_refusals_add(struct o2_refusals *refusals, int code, const char *rule, uint32_t index, uint64_t value,
		     uint64_t limit);

/*
 * Fail *report unless rc is 0 exactly when there is no refusal, and otherwise *error equals one of the records in
 * code, rule, index, value and limit.  When rc is 0, *error must be empty.  Returns the number of the record, or
 * count if the input was accepted or the check failed.
 */
uint32_t o2_refusals_check(const struct o2_refusals *refusals, int rc, const struct o2_error *error,
			   const char *stage, struct o2_report *report);

/* True if the reported value really violates the reported limit. */
bool o2_refusal_is_true(const struct o2_error *error);

#endif
