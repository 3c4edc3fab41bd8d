/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "lnd/cm/loop.h"
#include "loopverbs/loopverbs.h"
#include "props/talk/nodes_backend.h"

/*
 * Nodes in this process: over loopverbs, and a connection manager that loses, refuses and reorders what the
 * choices say.  Time is what the property says it is.
 */

#define ADDRESS 0xc0a80a01u

static enum o2_cm_loop_fate draw_fate(void *arg, enum o2_cm_loop_message message, uint32_t from, uint32_t to)
{
	static const uint32_t weights[] = {40, 2, 2, 1, 1};
	struct o2_nodes *nodes = arg;
	/* Only requests can be answered by the network itself; the news of an end just gets lost. */
	size_t n = message == O2_CM_LOOP_REQUEST ? 5 : message == O2_CM_LOOP_DISCONNECT ? 2 : 3;
	enum o2_cm_loop_fate fate = O2_CM_LOOP_PASS;

	(void)from;
	(void)to;
	if (nodes->faults)
		fate = (enum o2_cm_loop_fate)o2_draw_weighted(nodes->choice, weights, n);
	if (fate == O2_CM_LOOP_LOSE)
		o2_nodes_seen(nodes, O2_NODES_SEEN_LOST);
	return fate;
}

static int open_network(struct o2_nodes *nodes, struct o2_error *error)
{
	o2_loop_reset();
	nodes->loop = o2_cm_loop_create();
	if (nodes->loop == NULL)
		return o2_refuse(error, -ENOMEM, "nodes/memory", "network", O2_NO_INDEX, 0, O2_NO_LIMIT);
	o2_cm_loop_set_fate(nodes->loop, draw_fate, nodes);
	nodes->faults = o2_draw_bool(nodes->choice, 1, 1);
	nodes->nseats = o2_draw_bool(nodes->choice, 2, 1) ? 3 : 2;
	return 0;
}

static int find_device(struct o2_nodes *nodes, uint32_t i, struct o2_ni_config *config, uint32_t *address,
		       struct o2_error *error)
{
	static const char *const devices[] = {"loop0", "loop1", "loop0"};

	(void)nodes;
	(void)error;
	config->device = devices[i];
	config->gid_index = O2_LOOP_GID_INDEX;
	*address = ADDRESS + i;
	return 0;
}

static int attach(struct o2_nodes_seat *seat, struct o2_error *error)
{
	return o2_cm_loop_attach(seat->nodes->loop, &seat->place.ni, seat->address, &seat->cm, error);
}

static void detach(struct o2_nodes_seat *seat)
{
	o2_cm_loop_detach(seat->cm);
}

static void deliver(struct o2_nodes *nodes)
{
	size_t choices = o2_cm_loop_choices(nodes->loop);

	if (choices > 0)
		o2_cm_loop_deliver(nodes->loop, o2_draw_pick(nodes->choice, choices));
}

static int pump(struct o2_nodes *nodes)
{
	return o2_cm_loop_deliver(nodes->loop, 0);
}

static void pass(struct o2_nodes *nodes, uint64_t ms)
{
	nodes->now_ms += ms;
}

static void close_network(struct o2_nodes *nodes)
{
	while (nodes->loop != NULL && o2_cm_loop_deliver(nodes->loop, 0))
		;
	o2_cm_loop_destroy(nodes->loop);
	nodes->loop = NULL;
}

static uint32_t live_cqs(void)
{
	struct o2_loop_counters now;

	o2_loop_get_counters(&now);
	return (uint32_t)now.live_cqs;
}

static bool left_behind(void)
{
	struct o2_loop_counters left;

	o2_loop_get_counters(&left);
	return left.live_qps + left.live_cqs + left.live_mrs + left.live_pds + left.live_contexts > 0;
}

const struct o2_nodes_backend o2_nodes_on_loop = {
	.retry_count = 2,
	.ack_timeout = 14,
	.open = open_network,
	.device = find_device,
	.attach = attach,
	.detach = detach,
	.deliver = deliver,
	.pump = pump,
	.pass = pass,
	.close = close_network,
	.live_cqs = live_cqs,
	.left_behind = left_behind,
};
