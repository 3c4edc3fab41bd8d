/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_SIM_H
#define O2_PROPS_SIM_H

#include "props/engine/property.h"
#include "props/engine/tally.h"

/*
 * The property: two or three ends over loopverbs keep their promises in whatever order things happen and
 * whatever fails (docs/simulation.md).  Every step is one choice among what can happen: a completion is
 * handled, the device executes one work request, time goes by, the application starts an operation, something
 * breaks.
 *
 *   - every operation ends exactly once; success means that every byte is in its place and no other byte has
 *     changed; an error is the one that is documented for what happened;
 *   - the credits of all connections add up, by a model of its own and by what was seen on the fabric;
 *   - no queue overflows; both sides come to rest within a bound; nothing is left when it is over.
 */

enum o2_sim_situation {
	O2_SIM_SEEN_PUT,
	O2_SIM_SEEN_GET,
	O2_SIM_SEEN_IMMEDIATE,
	O2_SIM_SEEN_SHORT,
	O2_SIM_SEEN_THREE_NODES,
	O2_SIM_SEEN_NO_CREDITS,
	O2_SIM_SEEN_NO_RESERVED,
	O2_SIM_SEEN_SENDS_LIMITED,
	O2_SIM_SEEN_QUEUED,
	O2_SIM_SEEN_PARKED,
	O2_SIM_SEEN_WINDOW_AWAITED,
	O2_SIM_SEEN_WINDOW_PARKED,
	O2_SIM_SEEN_WINDOW_WOKEN,
	O2_SIM_SEEN_NOOP_V1,
	O2_SIM_SEEN_NOOP_V2,
	O2_SIM_SEEN_KEEPALIVE,
	O2_SIM_SEEN_FROM_INSIDE,
	O2_SIM_SEEN_DEADLINE,
	O2_SIM_SEEN_RNR,
	O2_SIM_SEEN_CLOSED,
	O2_SIM_SEEN_NOT_CONNECTED,
	O2_SIM_SEEN_TOO_MANY,
	O2_SIM_SEEN_TOO_LONG,
	O2_SIM_SEEN_NO_MATCH_PUT,
	O2_SIM_SEEN_NO_MATCH_GET,
	O2_SIM_SEEN_REFUSED,
	O2_SIM_SEEN_MATCH_LONGER,
	O2_SIM_SEEN_HEADER_REFUSED,
	O2_SIM_SEEN_TOO_MANY_WRS,
	O2_SIM_SEEN_TOO_MANY_FRAGS,
	O2_SIM_SEEN_GAPS_REFUSED,
	O2_SIM_SEEN_LATE_WRITE_REFUSED,
	O2_SIM_SEEN_KEY_LEFT_ALIVE,
	O2_SIM_SEEN_POST_SEND_FAILED,
	O2_SIM_SEEN_POST_RECV_FAILED,
	O2_SIM_SEEN_EXECUTE_FAILED,
	O2_SIM_SEEN_REGISTER_FAILED,
	O2_SIM_SEEN_MAKE_FAILED,
	O2_SIM_SEEN_MODIFY_FAILED,
	O2_SIM_SEEN_POLL_FAILED,
	O2_SIM_SEEN_ALLOCATION_FAILED,
	O2_SIM_SEEN_PEER_GONE,
	O2_SIM_SEEN_QP_ERROR,
	O2_SIM_SEEN_FAILOVER,
	O2_SIM_SEEN_MAPPING_FAILED,
	O2_SIM_SEEN_FLUSHED,
	O2_SIM_SEEN_NEVER_READY,
	O2_SIM_SEEN_SLOW,
	O2_SIM_SEEN_CLOSED_BY_US,
	O2_SIM_SEEN_DESTROYED,
	O2_SIM_SEEN_CLOSED_INSIDE,
	O2_SIM_SEEN_CLOSED_BY_MATCH,
	O2_SIM_SEEN_ESTABLISHED_LATE,
	O2_SIM_SEEN_DEPTH_254,
	O2_SIM_SEEN_DEPTH_255,
	O2_SIM_SEEN_NO_ROOM,
	O2_SIM_SEEN_MANY_CREDITS,
	O2_SIM_SEEN_MANY_MESSAGES,
	O2_SIM_SEEN_MANY_IN_FLIGHT,
	O2_SIM_SEEN_FRAGS_255,
	O2_SIM_SEEN_FRAGS_256,
	O2_SIM_SEEN_FRAGS_257,
	/* Forged messages, in the order of enum o2_sim_lie. */
	O2_SIM_SEEN_FORGED,
	O2_SIM_SEEN_FORGED_LAST = O2_SIM_SEEN_FORGED + 11,
	O2_SIM_SITUATIONS,
};

struct o2_sim;

struct o2_sim_run {
	struct o2_tally tally; /* first: props/engine/tally.h */
	uint64_t operations;   /* started and ended, of all cases */
	uint64_t events;
	uint64_t trace;	    /* sum of those of the cases: equal for equal seeds */
	struct o2_sim *sim; /* last, what is before it is counted; the case at hand; NULL before the first */
};

/* *run: zeros at first, the caller's. */
struct o2_property o2_sim_property(struct o2_sim_run *run);

#endif
