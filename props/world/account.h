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

/* One end: work requests, completions and messages in flight are no more than there is room for. */
bool o2_account_queues(const struct o2_conn_view *end, struct o2_account *account);

/* One end: that, and its own part of both equations. */
bool o2_account_end(const struct o2_conn_view *end, struct o2_account *account);

/* Of a, sending to b: both equations, and what is on its way is not less than nothing. */
bool o2_account_pair(const struct o2_conn_view *a, const struct o2_conn_view *b, struct o2_account *account);

/* The same when nothing is open and nothing on its way: no queue holds anything, and a has the credits back
 * that b does not owe it, which are fewer than make a NOOP due, or b has two NOOPs of credits to use before
 * it gets another (docs/transport.md, "Flow control"). */
bool o2_account_rest(const struct o2_conn_view *a, const struct o2_conn_view *b, struct o2_account *account);

#endif
