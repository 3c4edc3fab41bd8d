/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "props/talk/sim_internal.h"

/* Draws the configuration of a case's connections, and checks the sizes that follow from it. */

#define FEW_CREDITS 16u

static uint32_t draw_least(struct o2_choice *c, uint32_t lo, uint32_t usual, uint32_t hi)
{
	return o2_draw_bool(c, 1, 1) ? (uint32_t)o2_draw_range(c, lo, hi) : usual;
}

static void draw_times(struct o2_choice *c, struct o2_conn_config *config)
{
	static const uint32_t timeouts[] = {50000, 4000, 0};
	static const uint32_t keepalives[] = {100000, 1000, 0};

	config->timeout_ms = timeouts[o2_draw_pick(c, 3)];
	config->keepalive_ms = keepalives[o2_draw_pick(c, 3)];
}

/* Deep: 255 and its neighbours, the largest signed byte and one more, or any other depth. */
static uint32_t draw_depth(struct o2_sim *sim, bool v1)
{
	static const uint32_t depths[] = {2, 3, 4, 8}, deep[] = {255, 254, 253, 128, 127};
	static const uint32_t weights[] = {6, 4, 1, 2, 2, 3};
	struct o2_choice *c = sim->choice;
	size_t pick;

	if (!sim->deep)
		return v1 ? draw_least(c, 3, 8, 8) : depths[o2_draw_pick(c, 4)];
	pick = o2_draw_weighted(c, weights, 6);
	return pick < 5 ? deep[pick] : (uint32_t)o2_draw_range(c, 9, 252);
}

/* A tunable: default, any value, or in a deep case the maximum. */
static uint32_t draw_tunable(struct o2_sim *sim, uint32_t most)
{
	if (sim->deep && o2_draw_bool(sim->choice, 1, 1))
		return most;
	return o2_draw_bool(sim->choice, 2, 1) ? (uint32_t)o2_draw_range(sim->choice, 1, most) : 0;
}

void o2_sim_draw_config(struct o2_sim *sim)
{
	const uint32_t most = sim->deep ? O2_MAX_QUEUE_DEPTH : FEW_CREDITS;
	struct o2_choice *c = sim->choice;
	struct o2_conn_config *config = &sim->config;
	bool v1 = o2_draw_bool(c, 3, 1);

	*config = O2_CONN_DEFAULTS;
	config->version = v1 ? O2_MSG_VERSION_1 : O2_MSG_VERSION_2;
	sim->depth = draw_depth(sim, v1);
	config->max_frags = sim->wide ? O2_MAX_FRAGS - (uint32_t)o2_draw_pick(c, 3) : draw_least(c, 2, 5, 8);
	config->wrq_sge = (uint32_t)o2_draw_range(c, 1, 3);
	config->peer_tx_credits = o2_draw_bool(c, 2, 1) ? (uint32_t)o2_draw_range(c, sim->depth, most) : 0;
	config->peercredits_hiw = draw_tunable(sim, most);
	config->concurrent_sends = draw_tunable(sim, sim->deep ? 2 * most : most);
	config->max_transfers = sim->deep ? O2_SIM_OPS : draw_least(c, 1, 24, 24);
	draw_times(c, config);
	config->immediate_gather = o2_draw_bool(c, 1, 1);
	config->order = o2_draw_bool(c, 3, 1) ? O2_BIG_ENDIAN : O2_LITTLE_ENDIAN;
	config->cksum_flavour = o2_draw_bool(c, 3, 1) ? O2_CKSUM_UNSIGNED : O2_CKSUM_NONE;
	/* Some cases have only one or two kinds of operation: they reach situations that a mixture does not. */
	for (uint32_t i = 0; i < 3; i++)
		sim->op_weight[i] = o2_draw_bool(c, 3, 1) ? 0 : 2 + (i > 0);
	/*
	 * Short timers and few retries, so that the device's own retries end soon.  With a keep-alive of one second
	 * a third NOOP is not rare: there the device gives up at once, else it would hardly ever do so.
	 */
	config->retry_count = 2;
	config->ack_timeout = 14;
	config->rnr_retry_count = config->keepalive_ms == 1000 ? 0 : 6;
}

/* True if the end created queues of the right size, at the first attempt, or at the second for want of memory. */
static bool is_sized(const struct o2_sim_end *end)
{
	const struct o2_account_limits *limits = &end->limits;
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	return ibv_query_qp(o2_conn_qp(end->conn), &attr, IBV_QP_CAP, &init) == 0 &&
	       init.cap.max_send_wr == limits->send_wrs && init.cap.max_recv_wr == limits->recv_wrs &&
	       init.cap.max_recv_sge == 1 && /* a message is received into one piece */
	       (uint32_t)o2_conn_cq(end->conn)->cqe >= limits->cq_entries;
}

void o2_sim_check_sizes(struct o2_sim *sim, struct o2_sim_end *end, const struct o2_conn_config *config)
{
	struct ibv_device_attr device;
	struct o2_account_room room;

	ibv_query_device(sim->node[end->node].place->ni.context, &device);
	room = (struct o2_account_room){.wrs = (uint32_t)device.max_qp_wr, .cqes = (uint32_t)device.max_cqe};
	o2_account_limits(config, &room, &end->limits);
	if (end->limits.made < config->queue_depth)
		o2_sim_seen(sim, O2_SIM_SEEN_NO_ROOM);
	room.refused = sim->faults;
	if (sim->faults && !is_sized(end))
		o2_account_limits(config, &room, &end->limits);
	if (!is_sized(end) || end->depth != end->limits.made)
		o2_report_fail(sim->report, "sim/sizes",
			       "end %" PRIu32 " is made for depth %" PRIu32 ", expected %" PRIu32
			       " and %" PRIu32 " work requests, %" PRIu32 " receives, %" PRIu32
			       " completions",
			       end->index, end->depth, end->limits.made, end->limits.send_wrs,
			       end->limits.recv_wrs, end->limits.cq_entries);
}

void o2_sim_agree(struct o2_sim_end *a, struct o2_sim_end *b)
{
	const uint32_t depth = a->limits.made < b->limits.made ? a->limits.made : b->limits.made;

	a->depth = b->depth = depth;
	o2_account_agree(&a->sim->config, depth, &a->limits);
	o2_account_agree(&b->sim->config, depth, &b->limits);
	if (depth == O2_MAX_QUEUE_DEPTH)
		o2_sim_seen(a->sim, O2_SIM_SEEN_DEPTH_255);
	else if (depth == O2_MAX_QUEUE_DEPTH - 1)
		o2_sim_seen(a->sim, O2_SIM_SEEN_DEPTH_254);
}
