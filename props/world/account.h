/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_ACCOUNT_H
#define O2_PROPS_ACCOUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "lnd/conn/conn.h"

/*
 * The account of credits, from what the ends of a connection say of themselves (docs/transport.md, "Flow
 * control").  It holds between any two events of ends that are ESTABLISHED and whose peer keeps to the
 * protocol; what happens to the device in between makes no difference.
 *
 * One end by itself has a part of the account, so that two processes can each look at theirs: the first
 * equation is the sum of what A knows of its credits and what B knows of those it owes.
 */

/* What does not hold; what is NULL when all does. */
struct o2_account {
	const char *what; /* one word or words joined by -: of a finding's signature */
	uint64_t is;
	uint64_t expected; /* or at most this */
};

/*
 * What a connection has room for and when it gives credits back, worked out from its configuration by the
 * formulas of docs/transport.md, "Sizes" and "Tunables".  The transport is not asked, so that a figure of its
 * own that is wrong is seen.
 */
struct o2_account_limits {
	uint32_t full;	/* the depth that the tunables are for */
	uint32_t made;	/* the depth that it was made for, as far as there was room */
	uint32_t depth; /* as agreed */
	uint32_t high_water;
	uint32_t concurrent_sends;
	uint32_t send_wrs, recv_wrs, cq_entries;
};

/* What its device has, and how often it had no memory for the queues. */
struct o2_account_room {
	uint32_t wrs, cqes;
	uint32_t refused;
};

/* config: what it was made with.  room: NULL, more than enough.  Nothing is agreed yet. */
void o2_account_limits(const struct o2_conn_config *config, const struct o2_account_room *room,
		       struct o2_account_limits *limits);
/* That depth, at most limits->made, is agreed. */
void o2_account_agree(const struct o2_conn_config *config, uint32_t depth, struct o2_account_limits *limits);

/* One end: what it says of its sizes is what they are to be. */
bool o2_account_sizes(const struct o2_conn_view *end, const struct o2_account_limits *limits,
		      struct o2_account *account);

/* One end: work requests, completions and messages in flight are no more than there is room for. */
bool o2_account_queues(const struct o2_conn_view *end, const struct o2_account_limits *limits,
		       struct o2_account *account);

/* One end: that, and its own part of both equations. */
bool o2_account_end(const struct o2_conn_view *end, const struct o2_account_limits *limits,
		    struct o2_account *account);

/*
 * Of a, sending to b, and the depth that they have agreed upon: both equations, and what is on its way is not
 * less than nothing.
 */
bool o2_account_pair(const struct o2_conn_view *a, const struct o2_conn_view *b, uint32_t depth,
		     struct o2_account *account);

/*
 * The same when nothing is open and nothing on its way: no queue holds anything, the device has acknowledged
 * all that was posted, and a has the credits back that b does not owe it, which are fewer than make a NOOP due,
 * or b has two NOOPs of credits to use before it gets another (docs/transport.md, "Flow control").  limits: of a.
 */
bool o2_account_rest(const struct o2_conn_view *a, const struct o2_conn_view *b,
		     const struct o2_account_limits *limits, struct o2_account *account);

#endif
