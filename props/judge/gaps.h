/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_GAPS_H
#define O2_PROPS_GAPS_H

#include "props/judge/hearing.h"

/*
 * The same conversation as it is recorded by who misses some of it: requests, messages and WRITEs that are gone,
 * which the next event of their side shows.  An honest one has nothing but notes then.
 */
struct o2_gaps {
	struct o2_hearing *h;
	uint32_t every; /* one event in so many is missing, on average */
	uint32_t
		unheard; /* so many events of the start were not recorded; 0: it is seen from the request on */
	struct o2_judge *judge;
	struct o2_judge_conn *conn;
	uint64_t number;
	bool missing[O2_JUDGE_SIDES];
	bool found; /* something that is no note, */
	struct o2_judge_finding first;
};

/* Draws how much is missing.  gaps->h is set, and the rest zero. */
void o2_gaps_draw(struct o2_gaps *gaps);
/* The tap of a hearing; context: struct o2_gaps. */
void o2_gaps_hear(void *context, const struct o2_judge_event *event);
void o2_gaps_close(struct o2_gaps *gaps);

#endif
