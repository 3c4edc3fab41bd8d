/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_CHECK_BOTH_H
#define O2_PROPS_CHECK_BOTH_H

#include <jansson.h>
#include <stdbool.h>

#include "oracle/answer.h"

/* The question of a finding with both answers to it: what its pictures are drawn from.  Large: on the heap. */
struct o2_check_both {
	struct o2_case asked;
	struct o2_answer expected; /* the reference's */
	struct o2_answer found;	   /* the implementation's */
};

/* Read them from the forms of a finding.  *both: zeros at first.  False: it has no answer, or no question. */
bool o2_check_both_read(const json_t *question, const json_t *found, struct o2_check_both *both);

#endif
