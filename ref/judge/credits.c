/* SPDX-License-Identifier: MIT */
/*
 * The account of credits of each side: exact if the connection is seen from its first message on, else bounds.
 * A side has as many credits as the agreed depth, plus those given to it, less those it has taken.
 */
#include "judge/internal.h"

#include "base/monotonic.h"

#define EMPTY_NOOPS_MAX 16u /* per second; docs/transport.md, "NOOP" */

void o2_judge_credits_start(struct o2_judge_conn *conn)
{
	for (int side = O2_JUDGE_A; side < O2_JUDGE_SIDES; side++) {
		struct o2_judge_end *end = &conn->end[side];

		end->taken = end->given = 0;
		end->least = end->most = 0;
		end->accepted = end->unanswered = 0;
		end->empty = false;
		end->withheld_said = false;
	}
}

void o2_judge_credits_unknown(struct o2_judge_conn *conn)
{
	conn->exact = false;
	o2_judge_credits_start(conn);
}

/* Does a message of this type take a credit of its sender?  docs/transport.md, "Flow control". */
static bool takes_credit(uint16_t version, uint8_t type)
{
	return type == O2_MSG_IMMEDIATE || type == O2_MSG_PUT_REQ || type == O2_MSG_GET_REQ ||
	       (type == O2_MSG_NOOP && version == O2_MSG_VERSION_1);
}

static uint32_t depth_of(const struct o2_judge_conn *conn)
{
	return conn->queue_depth != 0 ? conn->queue_depth : O2_MAX_QUEUE_DEPTH;
}

/* Credits given to `end` less those taken.  Exact account: `end` now has this plus the depth. */
static int64_t balance(const struct o2_judge_end *end)
{
	return (int64_t)end->given - (int64_t)end->taken;
}

/* The sender's message takes a credit: it must have one. */
static void take(const struct o2_judging *at)
{
	struct o2_judge_conn *conn = at->conn;
	struct o2_judge_end *from = &conn->end[at->from];
	const int64_t depth = depth_of(conn);
	const int64_t had = conn->exact ? depth + balance(from) : depth + balance(from) - from->most;

	/* Not exact: at its highest balance the sender had at most the depth. */
	if (had <= 0) {
		o2_judge_over(at, O2_JUDGE_CREDITS_NONE, 0, "credits", 0, 1);
		o2_judge_credits_unknown(conn);
	} else if (had == 1 && conn->version == O2_MSG_VERSION_1 && at->event->msg->ibm_type != O2_MSG_NOOP) {
		o2_judge_over(at, O2_JUDGE_CREDITS_LAST, 0, "credits", 1, 2);
	}
	from->taken++;
	if (balance(from) < from->least)
		from->least = balance(from);
}

/* The sender gives `count` credits back: it must owe them. */
static void give(const struct o2_judging *at, uint32_t count)
{
	struct o2_judge_conn *conn = at->conn;
	struct o2_judge_end *to = &conn->end[at->to];
	int64_t owed;

	if (count == 0)
		return;
	/* Exact: the credit of an acknowledged PUT_REQ is owed after its PUT_DONE.  Else: at its lowest balance
	 * the peer had 0 credits or more. */
	if (conn->exact)
		owed = -balance(to) - to->accepted;
	else
		owed = (int64_t)depth_of(conn) - (balance(to) - to->least);
	if (count > owed) {
		o2_judge_over(at, O2_JUDGE_CREDITS_OVER_OWED, 0, "ibm_credits", count,
			      owed < 0 ? 0 : (uint64_t)owed);
		o2_judge_credits_unknown(conn);
		return;
	}
	to->given += count;
	if (balance(to) > to->most)
		to->most = balance(to);
}

/*
 * Must the peer give `end` credits?  Only if `end` has none and the peer owes it all.  The peer owes that of a
 * PUT from PUT_NAK or PUT_DONE on, and if it owes fewer, it may keep those below its high-water mark.
 */
static void note_empty(const struct o2_judging *at, struct o2_judge_end *end)
{
	struct o2_judge_conn *conn = at->conn;
	const bool empty =
		conn->exact && depth_of(conn) + balance(end) == 0 && end->accepted == 0 && end->nasked == 0;

	if (empty && !end->empty) {
		end->empty_since_ns = conn->now_ns;
		end->empty_undated = at->event->timeless;
		conn->undated = conn->undated || end->empty_undated;
	}
	end->withheld_said = end->withheld_said && empty;
	end->empty = empty;
}

/* The fewest credits for which any setting lets a side send a NOOP (docs/transport.md, "Tunables"). */
static uint32_t least_mark(const struct o2_judge_conn *conn)
{
	const uint32_t mark = (conn->queue_depth - 1) / 2;

	return mark == 0 ? 1 : mark;
}

static void judge_noop(const struct o2_judging *at)
{
	struct o2_judge_conn *conn = at->conn;
	struct o2_judge_end *from = &conn->end[at->from];
	const uint8_t credits = at->event->msg->ibm_credits;
	const uint64_t quiet_ns = conn->now_ns - from->last_message_ns;
	/* If not all was heard, a second may have begun with a NOOP that was missed, and these be of two. */
	const uint32_t most = conn->whole ? EMPTY_NOOPS_MAX : 2 * EMPTY_NOOPS_MAX;

	/* Without a time, neither the sender's quiet time nor the NOOPs per second can be known. */
	if (at->event->timeless)
		return;
	if (conn->queue_depth != 0 && credits < least_mark(conn) && from->last_message_ns != 0 &&
	    quiet_ns < at->judge->options.keepalive_ms * O2_NS_PER_MS)
		o2_judge_over(at, O2_JUDGE_CREDITS_NOOP_UNCALLED, 0, "ibm_credits", credits,
			      least_mark(conn));
	if (credits != 0)
		return;
	if (from->empty_noops == 0 || conn->now_ns - from->empty_noops_ns >= O2_NS_PER_S) {
		from->empty_noops = 0;
		from->empty_noops_ns = conn->now_ns;
	}
	from->empty_noops++;
	if (from->empty_noops == most + 1)
		o2_judge_over(at, O2_JUDGE_CREDITS_NOOP_STORM, 0, "NOOPs", from->empty_noops, most);
}

/* A request reserves room for its answer: no more requests than the queue depth may be unanswered. */
static void count_requests(const struct o2_judging *at)
{
	struct o2_judge_end *from = &at->conn->end[at->from], *to = &at->conn->end[at->to];

	switch (at->event->msg->ibm_type) {
	case O2_MSG_PUT_REQ:
	case O2_MSG_GET_REQ:
		from->unanswered++;
		if (at->conn->exact && from->unanswered > depth_of(at->conn))
			o2_judge_over(at, O2_JUDGE_CREDITS_REQUESTS, 0, "requests", from->unanswered,
				      depth_of(at->conn));
		break;
	case O2_MSG_PUT_ACK:
		/* A PUT_ACK that answers no PUT_REQ is reported elsewhere, and no PUT_DONE will follow it. */
		to->accepted += o2_judge_put_number(at) != 0;
		to->unanswered -= to->unanswered != 0;
		break;
	case O2_MSG_PUT_NAK:
	case O2_MSG_GET_DONE:
		to->unanswered -= to->unanswered != 0;
		break;
	case O2_MSG_PUT_DONE:
		from->accepted -= from->accepted != 0;
		break;
	default:
		break;
	}
}

void o2_judge_credits(const struct o2_judging *at)
{
	const struct o2_msg *msg = at->event->msg;

	if (msg->ibm_type == O2_MSG_NOOP)
		judge_noop(at);
	if (at->conn->one_way)
		return;
	count_requests(at);
	/* A sender gives credits back before it takes one, so judge in this order. */
	give(at, msg->ibm_credits);
	if (takes_credit(at->conn->version, msg->ibm_type))
		take(at);
}

void o2_judge_credits_due(const struct o2_judging *at)
{
	note_empty(at, &at->conn->end[at->from]);
	note_empty(at, &at->conn->end[at->to]);
}

void o2_judge_credits_date(struct o2_judge_conn *conn)
{
	for (int side = O2_JUDGE_A; side < O2_JUDGE_SIDES; side++) {
		struct o2_judge_end *end = &conn->end[side];

		if (end->empty_undated)
			end->empty_since_ns = conn->now_ns;
		end->empty_undated = false;
	}
}

void o2_judge_credits_time(const struct o2_judging *at)
{
	const uint64_t now_ns = at->conn->now_ns;
	const uint64_t limit_ms = at->judge->options.timeout_ms;

	for (int side = O2_JUDGE_A; side < O2_JUDGE_SIDES; side++) {
		struct o2_judge_end *end = &at->conn->end[side];

		if (!end->empty || end->withheld_said ||
		    now_ns - end->empty_since_ns <= limit_ms * O2_NS_PER_MS)
			continue;
		end->withheld_said = true;
		o2_judge_broken(at, O2_JUDGE_CREDITS_WITHHELD, o2_judge_other((enum o2_judge_side)side), 0,
				"milliseconds", (now_ns - end->empty_since_ns) / O2_NS_PER_MS, limit_ms,
				O2_LIMIT_BOUND);
	}
}

static uint32_t credits_of(int64_t credits)
{
	return credits < 0 ? 0 : (uint32_t)credits;
}

void o2_judge_credits_view(const struct o2_judge_conn *conn, struct o2_judge_view *view)
{
	for (int side = O2_JUDGE_A; side < O2_JUDGE_SIDES; side++) {
		const struct o2_judge_end *end = &conn->end[side];
		const int64_t depth = conn->queue_depth;

		view->least_credits[side] = view->most_credits[side] = O2_JUDGE_CREDITS_UNKNOWN;
		/* Not exact: bounds are 0 credits at the lowest balance, and the depth at the highest. */
		if (!conn->one_way && !(conn->exact && depth == 0))
			view->least_credits[side] =
				credits_of(balance(end) + (conn->exact ? depth : -end->least));
		if (!conn->one_way && depth != 0)
			view->most_credits[side] =
				credits_of(depth + balance(end) - (conn->exact ? 0 : end->most));
	}
}
