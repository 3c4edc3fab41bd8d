/* SPDX-License-Identifier: MIT */
#ifndef O2_ORACLE_STAGES_FLOW_FOLLOW_H
#define O2_ORACLE_STAGES_FLOW_FOLLOW_H

#include "oracle/answer.h"
#include "oracle/compare.h"

/*
 * An answer of stage flow is followed through its events, each judged by what was sent before, up to the first
 * fault: what comes after it would be its consequence.
 */

#define O2_FLOW_TEXT_BYTES 96u

struct o2_flow_fault {
	enum o2_check_id check; /* O2_CHECKS: there is none */
	uint32_t event;
	uint32_t message;   /* of the event, or O2_NO_INDEX */
	const char *field;  /* of the cause */
	const char *reason; /* of the cause, or "" */
	char expected[O2_FLOW_TEXT_BYTES], found[O2_FLOW_TEXT_BYTES];
};

/*
 * The first fault; waits: the first NOOP that follows two which the peer may still hold, which is none.  Their
 * check is O2_CHECKS where there is none.  Returns how many events come before the fault, or before one that
 * cannot happen to an end that has sent this.
 */
uint32_t o2_flow_follow(const struct o2_case_flow *asked, const struct o2_answer_flow *answer,
			struct o2_flow_fault *fault, struct o2_flow_fault *waits);

/* As struct o2_stage_ops has it.  What the judge says stands in front of what following shows. */
void o2_flow_compare(struct o2_comparison *comparison, const struct o2_case *asked,
		     const struct o2_answer *expected, const struct o2_answer *found);

#endif
