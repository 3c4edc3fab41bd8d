/* SPDX-License-Identifier: MIT */
#ifndef O2_ORACLE_STAGES_FLOW_FOLLOW_H
#define O2_ORACLE_STAGES_FLOW_FOLLOW_H

#include "oracle/answer.h"
#include "oracle/compare.h"

/*
 * Follow an answer of stage flow event by event, and judge each step by what the end has sent before.  Stop
 * at the first fault, because later differences would be its consequences.
 */

#define O2_FLOW_TEXT_BYTES 96u

struct o2_flow_fault {
	enum o2_check_id check; /* O2_CHECKS: no fault */
	uint32_t event;
	uint32_t message;   /* index of the message in its step, or O2_NO_INDEX */
	const char *field;  /* part of the cause */
	const char *reason; /* part of the cause, or "" */
	char expected[O2_FLOW_TEXT_BYTES], found[O2_FLOW_TEXT_BYTES];
};

/*
 * fault: the first fault.  waits: the first NOOP sent while the peer may still hold two, which does not stop
 * the following.  Their check is O2_CHECKS if there is none.  Returns the number of events before the fault,
 * or before an event that cannot happen to an end that has sent these messages.
 */
uint32_t o2_flow_follow(const struct o2_case_flow *asked, const struct o2_answer_flow *answer,
			struct o2_flow_fault *fault, struct o2_flow_fault *waits);

/* The member `compare` of struct o2_stage_ops.  A finding of the judge replaces the fault from following. */
void o2_flow_compare(struct o2_comparison *comparison, const struct o2_case *asked,
		     const struct o2_answer *expected, const struct o2_answer *found);

#endif
