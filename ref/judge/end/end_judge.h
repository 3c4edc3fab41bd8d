/* SPDX-License-Identifier: MIT */
#ifndef O2_JUDGE_END_JUDGE_H
#define O2_JUDGE_END_JUDGE_H

#include "judge/judge.h"
#include "lnd/ni/watch.h"
#include "wire/msg.h"

/*
 * The judge at one end of a connection.  It hears every event that an interface reports to its watch, in the
 * order in which this end sends and handles messages.  Source: docs/judge.md, "At an end of ours".
 */

struct o2_end_judge;

struct o2_end_judge_options {
	struct o2_judge_options judge;
	struct o2_wire_options wire; /* how the judge decodes messages */
	const uint64_t *now_ms;	     /* outlives the judge; NULL: the machine's clock is used */
};

/* What the judge has heard so far.  writes: only those of this end; the peer's are not seen here. */
struct o2_end_heard {
	uint64_t number; /* of the last event, counted as in findings */
	uint64_t connections, messages, writes;
	bool failed; /* memory ran out: events were missed, and no finding is reported from then on */
};

/* Returns NULL if there is no memory.  The judge must outlive the interface that uses its watch. */
struct o2_end_judge *o2_end_judge_new(const struct o2_end_judge_options *options, o2_judge_sink sink,
				      void *context);
/* Calls o2_end_judge_forget() first.  end may be NULL. */
void o2_end_judge_free(struct o2_end_judge *end);

const struct o2_watch *o2_end_judge_watch(const struct o2_end_judge *end);
struct o2_end_heard o2_end_judge_heard(const struct o2_end_judge *end);

/* Tell the judge that no connection will have further events: it reports the findings that are still pending. */
void o2_end_judge_forget(struct o2_end_judge *end);

/* Valid only inside the sink: did this end break the rule, rather than the peer? */
bool o2_end_judge_is_ours(const struct o2_end_judge *end, const struct o2_judge_finding *finding);

#endif
