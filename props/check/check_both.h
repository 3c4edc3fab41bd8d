/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_CHECK_BOTH_H
#define O2_PROPS_CHECK_BOTH_H

#include <jansson.h>
#include <stdbool.h>

#include "oracle/answer.h"

/* The question of a finding and both answers: the input of its pictures.  Large: allocate it on the heap. */
struct o2_check_both {
	struct o2_case asked;
	struct o2_answer expected; /* the reference's */
	struct o2_answer found;	   /* the implementation's */
};

/* Read both from the forms of a finding into *both, all zeros at first.  False: one of them cannot be read. */
bool o2_check_both_read(const json_t *question, const json_t *found, struct o2_check_both *both);

#endif
