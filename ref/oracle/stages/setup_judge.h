/* SPDX-License-Identifier: MIT */
#ifndef O2_ORACLE_STAGES_SETUP_JUDGE_H
#define O2_ORACLE_STAGES_SETUP_JUDGE_H

#include "oracle/answer.h"
#include "oracle/case.h"
#include "oracle/check.h"

/*
 * What is wrong with what a set-up acquired and released.  It looks at the answer alone, since which things
 * are acquired, and in which order, is the implementation's.
 */

#define O2_SETUP_FAULTS 32u

struct o2_setup_fault {
	enum o2_check_id check;
	uint32_t event;	   /* index of the answer's */
	const char *field; /* "event[].handle" */
	const char *reason;
	char expected[64], found[64];
};

/* How many there are in *faults: the first ones, at most O2_SETUP_FAULTS. */
uint32_t o2_setup_judge(const struct o2_case_setup *asked, const struct o2_answer_setup *answer,
			struct o2_setup_fault *faults);

/* "memory", "mapping" and so on. */
extern const char *const o2_setup_kind_names[];
#define O2_SETUP_KINDS (O2_IMPL_SETUP_OTHER + 1u)

#endif
