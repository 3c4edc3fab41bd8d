/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_GAPS_H
#define O2_PROPS_GAPS_H

#include "props/judge/hearing.h"

/*
 * The conversation of a hearing as recorded with gaps: requests, messages and WRITEs are missing, and the next
 * event of the same side reveals each loss.  For an honest conversation the judge must then find only notes.
 */
struct o2_gaps {
	struct o2_hearing *h;
	uint32_t every;	  /* on average, one event in this many is missing */
	uint32_t unheard; /* events at the start that were not recorded; 0: none */
	struct o2_judge *judge;
	struct o2_judge_conn *conn;
	uint64_t number;
	bool missing[O2_JUDGE_SIDES];
	bool found; /* the judge found something other than a note: first */
	struct o2_judge_finding first;
};

/* Draw how much is missing.  gaps->h must be set, all other members zero. */
void o2_gaps_draw(struct o2_gaps *gaps);
/* The tap of a hearing; context: struct o2_gaps. */
void o2_gaps_hear(void *context, const struct o2_judge_event *event);
void o2_gaps_close(struct o2_gaps *gaps);

#endif
