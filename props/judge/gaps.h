/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_GAPS_H
#define O2_PROPS_GAPS_H

#include "props/judge/hearing.h"

/*
 * The conversation of a hearing as recorded with gaps: requests, messages and WRITEs are missing, and the next
 * event of the same side reveals each loss.  A message that nothing of its side has followed may come again instead,
 * when the other side has gone on, and looks new then.  For an honest conversation the judge must find only notes.
 */

/* A message that is missing, and what the other side has sent since. */
struct o2_gap_again {
	bool comes;    /* it will come again, unless its side sends something else first */
	bool answered; /* an answer to it, or a WRITE for it, was heard */
	struct o2_judge_event event;
	struct o2_msg msg;
};

struct o2_gaps {
	struct o2_hearing *h;
	/* On average, one event in this many is missing; 0: only those that come again. */
	uint32_t every;
	/* On average, one request or PUT_ACK in this many is missing, and may come again. */
	uint32_t repeats;
	uint32_t unheard; /* events at the start that were not recorded; 0: none */
	struct o2_judge *judge;
	struct o2_judge_conn *conn;
	uint64_t number;
	bool missing[O2_JUDGE_SIDES];
	bool lost; /* the judge knows that it has not heard all */
	struct o2_gap_again again[O2_JUDGE_SIDES];
	bool came; /* a message has come again */
	/* One has come again in the conversation itself.  What showed that it does may be missing: docs/judge.md says so. */
	bool unknowable;
	/* How many came after their answer: while the judge could believe to have heard all, and later. */
	uint32_t came_whole, came_in_gaps;
	bool found; /* the judge found something other than a note: first */
	struct o2_judge_finding first;
};

/* Draw how much is missing.  gaps->h must be set, all other members zero. */
void o2_gaps_draw(struct o2_gaps *gaps);
/* The tap of a hearing; context: struct o2_gaps. */
void o2_gaps_hear(void *context, const struct o2_judge_event *event);
void o2_gaps_close(struct o2_gaps *gaps);

#endif
