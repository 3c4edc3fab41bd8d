/* SPDX-License-Identifier: MIT */
#include "props/world/account.h"

#include "wire/msg.h"

static bool equal(struct o2_account *account, const char *what, uint64_t is, uint64_t expected)
{
	if (is == expected)
		return true;
	*account = (struct o2_account){what, is, expected};
	return false;
}

static bool at_most(struct o2_account *account, const char *what, uint64_t is, uint64_t most)
{
	if (is <= most)
		return true;
	*account = (struct o2_account){what, is, most};
	return false;
}

bool o2_account_queues(const struct o2_conn_view *end, struct o2_account *account)
{
	const uint32_t messages = 2 * end->queue_depth + 2;

	*account = (struct o2_account){.what = NULL};
	return at_most(account, "send-queue", end->send_wrs, end->send_wrs_max) &&
	       at_most(account, "receive-queue", end->recv_wrs, end->recv_wrs_max) &&
	       at_most(account, "completion-queue", (uint64_t)end->send_wrs + end->recv_wrs + end->parked,
		       end->cq_entries) &&
	       at_most(account, "concurrent-sends", end->sends_in_flight, end->concurrent_sends) &&
	       at_most(account, "unacknowledged", end->sends_in_flight, messages) &&
	       (end->version != O2_MSG_VERSION_2 ||
		at_most(account, "noops-in-flight", end->noops_in_flight, 2));
}

bool o2_account_end(const struct o2_conn_view *end, struct o2_account *account)
{
	const uint32_t depth = end->queue_depth;

	*account = (struct o2_account){.what = NULL};
	return equal(account, "credits-spent", end->credits + end->credit_messages_sent,
		     depth + end->credits_received) &&
	       equal(account, "credits-owed", end->credits_sent + end->outstanding + end->puts_accepted,
		     end->credit_messages_handled) &&
	       equal(account, "reserved", (uint64_t)end->reserved + end->waiting, depth) &&
	       /* What has arrived and waits in its receive was granted, and is not handled. */
	       at_most(account, "granted", end->granted + end->credit_messages_handled,
		       depth + end->credits_sent) &&
	       at_most(account, "granted-and-parked", depth + end->credits_sent,
		       end->granted + end->credit_messages_handled + end->parked) &&
	       at_most(account, "peer-requests", end->peer_requests, depth) &&
	       o2_account_queues(end, account);
}

bool o2_account_pair(const struct o2_conn_view *a, const struct o2_conn_view *b, struct o2_account *account)
{
	const uint32_t depth = a->queue_depth;

	*account = (struct o2_account){.what = NULL};
	return equal(account, "depth", b->queue_depth, depth) &&
	       equal(account, "credits",
		     a->credits + (a->credit_messages_sent - b->credit_messages_handled) + b->puts_accepted +
			     b->outstanding + (b->credits_sent - a->credits_received),
		     depth) &&
	       equal(account, "reserved", (uint64_t)a->reserved + a->waiting, depth) &&
	       at_most(account, "handled-unsent", b->credit_messages_handled, a->credit_messages_sent) &&
	       at_most(account, "received-ungiven", a->credits_received, b->credits_sent);
}

bool o2_account_rest(const struct o2_conn_view *a, const struct o2_conn_view *b, struct o2_account *account)
{
	const uint32_t depth = a->queue_depth;

	*account = (struct o2_account){.what = NULL};
	return equal(account, "stuck",
		     (uint64_t)a->open + a->queued + a->queued_reserved + a->queued_nocred + a->queued_noops,
		     0) &&
	       equal(account, "unhandled", b->credit_messages_handled, a->credit_messages_sent) &&
	       equal(account, "reserved-at-rest", a->reserved, depth) &&
	       equal(account, "credits-at-rest", (uint64_t)a->credits + b->outstanding, depth) &&
	       /*
	        * A third NOOP waits until the peer has used a credit of the two before; it has these to use.
	        */
	       (b->credits >= 2 * a->high_water ||
		at_most(account, "owed-at-rest", (uint64_t)a->outstanding + 1, a->high_water));
}
