/* SPDX-License-Identifier: MIT */
#ifndef O2_ORACLE_STAGES_SETUP_JUDGE_H
#define O2_ORACLE_STAGES_SETUP_JUDGE_H

#include "oracle/answer.h"
#include "oracle/case.h"
#include "oracle/check.h"

/*
 * Judge the acquisitions and releases of a set-up.  The judge looks at the answer alone, without the
 * reference's answer, since an implementation may choose what it acquires, and in which order.
 */

#define O2_SETUP_FAULTS 32u

struct o2_setup_fault {
	enum o2_check_id check;
	uint32_t event;	   /* index of the event in the answer */
	const char *field; /* e.g. "event[].handle" */
	const char *reason;
	char expected[64], found[64];
};

/* Store the first faults, at most O2_SETUP_FAULTS, and return their number. */
uint32_t o2_setup_judge(const struct o2_case_setup *asked, const struct o2_answer_setup *answer,
			struct o2_setup_fault *faults);

/* Names by enum o2_impl_setup_kind: "memory", "mapping" and so on. */
extern const char *const o2_setup_kind_names[];
#define O2_SETUP_KINDS (O2_IMPL_SETUP_OTHER + 1u)

#endif
