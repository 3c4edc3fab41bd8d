/* SPDX-License-Identifier: MIT */
#ifndef O2_JUDGE_END_JUDGE_H
#define O2_JUDGE_END_JUDGE_H

#include "judge/judge.h"
#include "lnd/ni/watch.h"
#include "wire/msg.h"

/*
 * The judge at one end: it hears what an interface tells its watch, in the order in which this end sends and
 * looks at what came.  Source: docs/judge.md, "At an end of ours".
 */

struct o2_end_judge;

struct o2_end_judge_options {
	struct o2_judge_options judge;
	struct o2_wire_options wire; /* how messages are read */
	const uint64_t *now_ms;	     /* outlives it; NULL: the machine's clock */
};

/* What it has heard.  writes: of this end, those of the peer are not heard. */
struct o2_end_heard {
	uint64_t number; /* of the last event, as in findings */
	uint64_t connections, messages, writes;
	bool failed; /* memory ran out: there was more, and nothing is found from there on */
};

/* NULL: no memory.  Outlives the interface that has its watch. */
struct o2_end_judge *o2_end_judge_new(const struct o2_end_judge_options *options, o2_judge_sink sink,
				      void *context);
/* Forgets what is left; may be NULL. */
void o2_end_judge_free(struct o2_end_judge *end);

const struct o2_watch *o2_end_judge_watch(const struct o2_end_judge *end);
struct o2_end_heard o2_end_judge_heard(const struct o2_end_judge *end);

/* Nothing more will be heard of any connection: what is found by that is told now. */
void o2_end_judge_forget(struct o2_end_judge *end);

/* While a finding is told: whether this end has broken the rule. */
bool o2_end_judge_is_ours(const struct o2_end_judge *end, const struct o2_judge_finding *finding);

#endif
