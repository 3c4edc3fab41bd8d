/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_CHECK_STEER_H
#define O2_PROPS_CHECK_STEER_H

#include <stdbool.h>
#include <stdint.h>

#include "oracle/case.h"

/*
 * Drawing learns which questions an implementation has no answer to, because it does not have what they ask
 * for or because it dies of them: after some of those, most of their like are left out, so that the time goes
 * to what it can answer.  A few are asked all the same, in case that it was something else.
 */

#define O2_STEER_FEATURES 8u  /* of a question */
#define O2_STEER_VALUES	  16u /* of a feature */
#define O2_STEER_PAIRS	  (O2_STEER_FEATURES * (O2_STEER_FEATURES + 1) / 2)

struct o2_steer_count {
	uint32_t asked;
	uint32_t answered;
};

/* By stage, and by the values of each two features, and of each alone.  All zero at first. */
struct o2_steer {
	struct o2_steer_count count[O2_STAGES][O2_STEER_PAIRS][O2_STEER_VALUES][O2_STEER_VALUES];
};

/* A feature of sizes, by where limits lie: 0, 1, 2, few, up to 16, 64, 255, 256, more. */
uint8_t o2_steer_size(uint64_t n);

/* Was it answered, with a result or a refusal? */
void o2_steer_note(struct o2_steer *steer, const struct o2_case *asked, bool answered);

/* Should question number `index` be left out? */
bool o2_steer_leaves_out(const struct o2_steer *steer, const struct o2_case *asked, uint64_t index);

#endif
