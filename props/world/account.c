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

bool o2_account_at_most(struct o2_account *account, const char *what, uint64_t is, uint64_t most)
{
	if (is <= most)
		return true;
	*account = (struct o2_account){what, is, most};
	return false;
}

/* --- limits (docs/transport.md, "Sizes", "Tunables") --- */

#define WRS_AROUND_WRITES 3u /* bind, message, invalidate */
#define NOOPS_OUT_OF_BAND 2u /* version 2 */
#define MARK_OF_VERSION_1 7u

static uint32_t greater(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

uint32_t o2_smaller(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* Clamp value to low..high.  If low is above high: low for a value below low, else high. */
static uint32_t within(uint32_t value, uint32_t low, uint32_t high)
{
	return value < low ? low : o2_smaller(value, high);
}

static uint32_t concurrent_sends(const struct o2_conn_config *config, uint32_t full)
{
	uint32_t sends =
		within(config->concurrent_sends == 0 ? full : config->concurrent_sends, full / 2, 2 * full);

	if (config->version == O2_MSG_VERSION_1)
		sends = within(sends, 4, 16);
	return o2_smaller(sends, 2 * config->queue_depth);
}

static uint32_t high_water(const struct o2_conn_config *config, uint32_t full, uint32_t agreed)
{
	const uint32_t mark = within(config->peercredits_hiw, full / 2, full - 1);

	if (config->version == O2_MSG_VERSION_1)
		return within(MARK_OF_VERSION_1, 1, agreed - 1);
	return within(agreed * mark / full, 1, agreed);
}

/* Size the queues for that depth and that number of messages in flight. */
static void size_queues(struct o2_account_limits *limits, const struct o2_conn_config *config)
{
	const uint32_t apart = config->version == O2_MSG_VERSION_1 ? 0 : NOOPS_OUT_OF_BAND;

	limits->send_wrs =
		greater(limits->made, limits->concurrent_sends) * (config->max_frags + WRS_AROUND_WRITES);
	limits->recv_wrs = 2 * limits->made + apart;
	limits->cq_entries = limits->send_wrs + limits->recv_wrs;
}

static bool has_room(const struct o2_account_limits *limits, const struct o2_account_room *room)
{
	return limits->send_wrs <= room->wrs && limits->recv_wrs <= room->wrs &&
	       limits->cq_entries <= room->cqes;
}

void o2_account_agree(const struct o2_conn_config *config, uint32_t depth, struct o2_account_limits *limits)
{
	limits->depth = depth;
	limits->high_water = high_water(config, limits->full, depth);
}

void o2_account_limits(const struct o2_conn_config *config, const struct o2_account_room *room,
		       struct o2_account_limits *limits)
{
	const uint32_t full = config->peer_tx_credits != 0 ? config->peer_tx_credits : config->queue_depth;
	uint32_t refused = room == NULL ? 0 : room->refused;

	*limits = (struct o2_account_limits){
		.full = full,
		.made = config->queue_depth,
		.concurrent_sends = concurrent_sends(config, full),
	};
	size_queues(limits, config);
	while (room != NULL && limits->made > 0 && (!has_room(limits, room) || refused > 0)) {
		const uint32_t most = greater(limits->made, limits->concurrent_sends) - 1;

		refused -= has_room(limits, room);
		limits->made = o2_smaller(limits->made, most);
		limits->concurrent_sends = o2_smaller(limits->concurrent_sends, most);
		size_queues(limits, config);
	}
	o2_account_agree(config, limits->made, limits);
}

/* --- the account --- */

bool o2_account_sizes(const struct o2_conn_view *end, const struct o2_account_limits *limits,
		      struct o2_account *account)
{
	*account = (struct o2_account){.what = NULL};
	return equal(account, "depth", end->flow.queue_depth, limits->depth) &&
	       equal(account, "high-water", end->flow.high_water, limits->high_water) &&
	       equal(account, "sends-at-a-time", end->flow.concurrent_sends, limits->concurrent_sends) &&
	       equal(account, "send-queue-made", end->send_wrs_max, limits->send_wrs) &&
	       equal(account, "receive-queue-made", end->recv_wrs_max, limits->recv_wrs) &&
	       equal(account, "completion-queue-made", end->cq_entries, limits->cq_entries);
}

bool o2_account_queues(const struct o2_conn_view *end, const struct o2_account_limits *limits,
		       struct o2_account *account)
{
	*account = (struct o2_account){.what = NULL};
	return o2_account_at_most(account, "send-queue", end->send_wrs, limits->send_wrs) &&
	       o2_account_at_most(account, "receive-queue", end->recv_wrs, limits->recv_wrs) &&
	       o2_account_at_most(account, "completion-queue",
				  (uint64_t)end->send_wrs + end->recv_wrs + end->parked,
				  limits->cq_entries) &&
	       o2_account_at_most(account, "concurrent-sends", end->flow.in_flight,
				  limits->concurrent_sends) &&
	       o2_account_at_most(account, "unacknowledged", end->flow.in_flight, 2 * limits->depth + 2) &&
	       (end->flow.version != O2_MSG_VERSION_2 ||
		o2_account_at_most(account, "noops-in-flight", end->flow.noops_in_flight, 2));
}

bool o2_account_end(const struct o2_conn_view *end, const struct o2_account_limits *limits,
		    struct o2_account *account)
{
	const uint32_t depth = limits->depth;

	*account = (struct o2_account){.what = NULL};
	return equal(account, "credits-spent", end->flow.credits + end->flow.messages_sent,
		     depth + end->flow.credits_received) &&
	       equal(account, "credits-owed",
		     end->flow.credits_sent + end->flow.outstanding + end->puts_accepted,
		     end->flow.messages_handled) &&
	       equal(account, "reserved", (uint64_t)end->flow.reserved + end->waiting, depth) &&
	       /* A parked message was granted and is not yet handled. */
	       o2_account_at_most(account, "granted", end->flow.granted + end->flow.messages_handled,
				  depth + end->flow.credits_sent) &&
	       o2_account_at_most(account, "granted-and-parked", depth + end->flow.credits_sent,
				  end->flow.granted + end->flow.messages_handled + end->parked) &&
	       o2_account_at_most(account, "peer-requests", end->flow.peer_requests, depth) &&
	       o2_account_queues(end, limits, account);
}

bool o2_account_pair(const struct o2_conn_view *a, const struct o2_conn_view *b, uint32_t depth,
		     struct o2_account *account)
{
	*account = (struct o2_account){.what = NULL};
	return equal(account, "depth", a->flow.queue_depth, depth) &&
	       equal(account, "depth", b->flow.queue_depth, depth) &&
	       equal(account, "credits",
		     a->flow.credits + (a->flow.messages_sent - b->flow.messages_handled) + b->puts_accepted +
			     b->flow.outstanding + (b->flow.credits_sent - a->flow.credits_received),
		     depth) &&
	       equal(account, "reserved", (uint64_t)a->flow.reserved + a->waiting, depth) &&
	       o2_account_at_most(account, "handled-unsent", b->flow.messages_handled,
				  a->flow.messages_sent) &&
	       o2_account_at_most(account, "received-ungiven", a->flow.credits_received,
				  b->flow.credits_sent);
}

bool o2_account_rest(const struct o2_conn_view *a, const struct o2_conn_view *b,
		     const struct o2_account_limits *limits, struct o2_account *account)
{
	const uint32_t depth = limits->depth, mark = limits->high_water;

	*account = (struct o2_account){.what = NULL};
	return equal(account, "stuck",
		     (uint64_t)a->open + a->queued + a->queued_reserved + a->queued_nocred + a->queued_noops,
		     0) &&
	       equal(account, "unacknowledged", a->active, 0) &&
	       equal(account, "unhandled", b->flow.messages_handled, a->flow.messages_sent) &&
	       equal(account, "reserved-at-rest", a->flow.reserved, depth) &&
	       equal(account, "credits-at-rest", (uint64_t)a->flow.credits + b->flow.outstanding, depth) &&
	       /* A third NOOP waits until the peer has used a credit from the previous two NOOPs. */
	       (b->flow.credits >= 2 * mark ||
		o2_account_at_most(account, "owed-at-rest", (uint64_t)a->flow.outstanding + 1, mark));
}
