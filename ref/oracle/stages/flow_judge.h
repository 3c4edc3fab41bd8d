/* SPDX-License-Identifier: MIT */
#ifndef O2_ORACLE_STAGES_FLOW_JUDGE_H
#define O2_ORACLE_STAGES_FLOW_JUDGE_H

#include <stdint.h>

#include "oracle/answer.h"
#include "oracle/case.h"
#include "oracle/check.h"

/* Replay an answer of stage flow to the judge (judge/judge.h) as a connection, and collect its findings. */

#define O2_FLOW_SAID 8u

struct o2_flow_said {
	uint32_t count;
	struct {
		enum o2_check_id check; /* the broken rule of the judge, as a check of the oracle */
		uint32_t event;
		struct o2_error error;
	} item[O2_FLOW_SAID]; /* the first finding of each rule */
};

/*
 * Replay events 0 to count - 1, with the messages that the answer says the tested end sends.  *said: the
 * judge's findings about that end.  Returns 0 or -ENOMEM.
 */
int o2_flow_hear(const struct o2_case_flow *asked, const struct o2_answer_flow *answer, uint32_t count,
		 struct o2_flow_said *said);

#endif
