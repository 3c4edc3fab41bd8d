/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_ACCOUNT_H
#define O2_PROPS_ACCOUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "lnd/conn/conn.h"

/*
 * The account of credits, computed from the views that the ends of a connection give of themselves
 * (docs/transport.md, "Flow control").  It holds between any two events of ends that are ESTABLISHED and
 * whose peer follows the protocol; the devices' progress in between makes no difference.
 *
 * One end alone has part of the account, so that two processes can each check theirs: the first equation is
 * the sum of A's own credits and the credits that B owes A.
 */

/* The equation that does not hold; what is NULL when all hold. */
struct o2_account {
	const char *what; /* one word, or words joined by "-": part of a finding's signature */
	uint64_t is;
	uint64_t expected; /* or the upper limit */
};

/* False, with *account filled, if more than that. */
bool o2_account_at_most(struct o2_account *account, const char *what, uint64_t is, uint64_t most);

/*
 * A connection's capacities and thresholds for returning credits, computed from its configuration by the
 * formulas of docs/transport.md, "Sizes" and "Tunables".  The transport is not asked, so that a wrong value
 * in it is detected.
 */
struct o2_account_limits {
	uint32_t full;	/* the queue depth to which the other tunables refer */
	uint32_t made;	/* the queue depth that it was created for, as far as the device had room */
	uint32_t depth; /* as agreed with the peer */
	uint32_t high_water;
	uint32_t concurrent_sends;
	uint32_t send_wrs, recv_wrs, cq_entries;
};

/* The smaller of two numbers: what two ends agree on. */
uint32_t o2_smaller(uint32_t a, uint32_t b);

/* The device's limits, and how often it had no memory for the queues. */
struct o2_account_room {
	uint32_t wrs, cqes;
	uint32_t refused;
};

/* The limits of a connection created with config, no depth agreed yet.  room: NULL: more than enough. */
void o2_account_limits(const struct o2_conn_config *config, const struct o2_account_room *room,
		       struct o2_account_limits *limits);
/* Set the agreed depth, at most limits->made. */
void o2_account_agree(const struct o2_conn_config *config, uint32_t depth, struct o2_account_limits *limits);

/* Check one end: the sizes in its view equal the limits. */
bool o2_account_sizes(const struct o2_conn_view *end, const struct o2_account_limits *limits,
		      struct o2_account *account);

/* Check one end: work requests, completions and messages in flight stay within the limits. */
bool o2_account_queues(const struct o2_conn_view *end, const struct o2_account_limits *limits,
		       struct o2_account *account);

/* Check one end: o2_account_queues, and its own part of both equations. */
bool o2_account_end(const struct o2_conn_view *end, const struct o2_account_limits *limits,
		    struct o2_account *account);

/*
 * Check the direction from a to b, with the agreed depth: both equations, and that nothing in flight is
 * negative.
 */
bool o2_account_pair(const struct o2_conn_view *a, const struct o2_conn_view *b, uint32_t depth,
		     struct o2_account *account);

/*
 * Check as well, when no transfer is open and nothing is in flight: all queues are empty, and the device has
 * completed everything posted.  a has all its credits except those that b owes it.  a owes b too few to make a NOOP
 * due, or b still has two NOOPs' worth of credits to use (docs/transport.md, "Flow control").  limits: of a.
 */
bool o2_account_rest(const struct o2_conn_view *a, const struct o2_conn_view *b,
		     const struct o2_account_limits *limits, struct o2_account *account);

#endif
