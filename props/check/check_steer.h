/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_CHECK_STEER_H
#define O2_PROPS_CHECK_STEER_H

#include <stdbool.h>
#include <stdint.h>

#include "oracle/case.h"

/*
 * Learn while drawing which questions an implementation cannot answer, because it lacks a feature or crashes.
 * After some such questions most similar ones are left out, to spend the time on questions that it can answer. A
 * few are still asked, in case that the reason was another one.
 */

#define O2_STEER_FEATURES 8u  /* features of a question */
#define O2_STEER_VALUES	  16u /* values of a feature */
#define O2_STEER_PAIRS	  (O2_STEER_FEATURES * (O2_STEER_FEATURES + 1) / 2)

struct o2_steer_count {
	uint32_t asked;
	uint32_t answered;
};

/* Counts by stage and by the values of each feature and each pair of features.  All zero at first. */
struct o2_steer {
	struct o2_steer_count count[O2_STAGES][O2_STEER_PAIRS][O2_STEER_VALUES][O2_STEER_VALUES];
};

/* The feature value of a size; its ranges end where limits lie: 0, 1, 2, few, up to 16, 64, 255, 256, more. */
uint8_t o2_steer_size(uint64_t n);

/* Features of the writes of a transfer. */
void o2_steer_of_rdma(const struct o2_rdma_input *asked, uint8_t *f);

/* Count a question.  answered: it got a result or a refusal. */
void o2_steer_note(struct o2_steer *steer, const struct o2_case *asked, bool answered);

/* Should question number `index` be left out? */
bool o2_steer_leaves_out(const struct o2_steer *steer, const struct o2_case *asked, uint64_t index);

#endif
