/* SPDX-License-Identifier: MIT */
#ifndef O2_ORACLE_STAGES_FLOW_JUDGE_H
#define O2_ORACLE_STAGES_FLOW_JUDGE_H

#include <stdint.h>

#include "oracle/answer.h"
#include "oracle/case.h"
#include "oracle/check.h"

/* What the judge (judge/judge.h) says of an answer of stage flow, replayed to it as two ends of a connection. */

#define O2_FLOW_SAID 8u

struct o2_flow_said {
	uint32_t count;
	struct {
		enum o2_check_id check; /* its rule, as a check of the oracle */
		uint32_t event;
		struct o2_error error;
	} item[O2_FLOW_SAID]; /* one for each rule, the first time that it is broken */
};

/*
 * Events 0 to count - 1 happen, and the end that is asked does what the answer says.  What it breaks is said.
 * Returns 0 or -ENOMEM.
 */
int o2_flow_hear(const struct o2_case_flow *asked, const struct o2_answer_flow *answer, uint32_t count,
		 struct o2_flow_said *said);

#endif
