/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_REFUSALS_H
#define O2_PROPS_REFUSALS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "props/engine/report.h"

/*
 * What a stage may refuse an input for, worked out from the definitions: each rule that the input breaks,
 * with the whole error record that goes with it.  A stage may name any of them.
 */
#define O2_REFUSALS_MAX 16u

struct o2_refusals {
	uint32_t count;
	struct o2_error expected[O2_REFUSALS_MAX];
};

/* One more; of several with the same rule the first stays, as a walk meets it first. */
void o2_refusals_add(struct o2_refusals *refusals, int code, const char *rule, uint32_t index, uint64_t value,
		     uint64_t limit);

/*
 * Fail *report unless rc is 0 exactly when nothing is to be refused, and *error else one of the records:
 * code, rule, index, value and limit; nothing is to be in it, as before, when rc is 0.  Returns its number, or count when the input was accepted or on
 * failure.
 */
uint32_t o2_refusals_check(const struct o2_refusals *refusals, int rc, const struct o2_error *error,
			   const char *stage, struct o2_report *report);

/* Whether the value that it names is none that its own limit allows. */
bool o2_refusal_is_true(const struct o2_error *error);

#endif
