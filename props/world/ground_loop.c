/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "loopverbs/loopverbs.h"
#include "props/world/ground.h"
#include "props/world/witness.h"

/*
 * Nodes in this process, over loopverbs and a connection manager that loses, refuses and reorders as the
 * choices say.  The property sets the time.
 */

#define ADDRESS 0xc0a80a01u

static enum o2_cm_loop_fate draw_fate(void *arg, enum o2_cm_loop_message message, uint32_t from, uint32_t to)
{
	static const uint32_t weights[] = {40, 2, 2, 1, 1};
	struct o2_ground *ground = arg;
	/* Only requests can be answered by the network itself; a disconnect can only get lost. */
	size_t n = message == O2_CM_LOOP_REQUEST ? 5 : message == O2_CM_LOOP_DISCONNECT ? 2 : 3;
	enum o2_cm_loop_fate fate = O2_CM_LOOP_PASS;

	if (ground->faults)
		fate = (enum o2_cm_loop_fate)o2_draw_weighted(ground->choice, weights, n);
	if (fate != O2_CM_LOOP_PASS)
		ground->failed(ground->context, fate, from, to);
	return fate;
}

static int open_network(struct o2_ground *ground, struct o2_error *error)
{
	o2_loop_reset();
	ground->now_ms = O2_GROUND_START_MS;
	ground->loop = o2_cm_loop_create();
	if (ground->loop == NULL)
		return o2_refuse_value(error, -ENOMEM, "ground/memory", "network", 0, O2_NO_LIMIT);
	o2_cm_loop_set_fate(ground->loop, draw_fate, ground);
	ground->witness = o2_witness_open(ground->loop, &ground->now_ms, ground->report);
	if (ground->witness == NULL)
		return o2_refuse_value(error, -ENOMEM, "ground/memory", "witness", 0, O2_NO_LIMIT);
	return 0;
}

static int find_device(struct o2_ground *ground, uint32_t i, struct o2_ni_config *config, uint32_t *address,
		       struct o2_error *error)
{
	config->device = i % 2 == 0 ? "loop0" : "loop1";
	config->gid_index = O2_LOOP_GID_INDEX;
	*address = ADDRESS + i;
	return o2_ground_watch(ground, i, config, error);
}

static int attach(struct o2_ground *ground, struct o2_ni *ni, uint32_t address, struct o2_cm **cm,
		  struct o2_error *error)
{
	return o2_cm_loop_attach(ground->loop, ni, address, cm, error);
}

static void detach(struct o2_ground *ground, struct o2_cm *cm)
{
	(void)ground;
	o2_cm_loop_detach(cm);
}

static void deliver(struct o2_ground *ground)
{
	size_t choices = o2_cm_loop_choices(ground->loop);

	if (choices > 0)
		o2_cm_loop_deliver(ground->loop, o2_draw_pick(ground->choice, choices));
}

static int pump(struct o2_ground *ground)
{
	return o2_cm_loop_deliver(ground->loop, 0);
}

static void pass(struct o2_ground *ground, uint64_t ms)
{
	ground->now_ms += ms;
}

static void close_network(struct o2_ground *ground)
{
	while (ground->loop != NULL && o2_cm_loop_deliver(ground->loop, 0))
		;
	o2_ground_unwatch(ground);
	o2_witness_close(ground->witness);
	ground->witness = NULL;
	o2_cm_loop_destroy(ground->loop);
	ground->loop = NULL;
}

static int fail_call(void *arg, enum o2_loop_call call, uint32_t qp_num)
{
	bool *due = arg;
	const bool now = *due && call == O2_LOOP_CALL_POLL;

	(void)qp_num;
	*due &= !now;
	return now ? EIO : 0;
}

static void fail_poll(bool fail)
{
	static bool due;

	due = fail;
	o2_loop_set_fault(fail ? fail_call : NULL, &due);
}

static uint32_t live_cqs(void)
{
	struct o2_loop_counters now;

	o2_loop_get_counters(&now);
	return (uint32_t)now.live_cqs;
}

static bool left_behind(uint32_t interfaces, uint64_t regions)
{
	struct o2_loop_counters left;

	o2_loop_get_counters(&left);
	return left.live_qps + left.live_cqs > 0 || left.live_mrs != regions || left.live_pds != interfaces ||
	       left.live_contexts != interfaces || left.left > 0;
}

const struct o2_ground_ops o2_ground_on_loop = {
	.retry_count = 2,
	.ack_timeout = 14,
	.most_nodes = O2_GROUND_NODES,
	.may_fail = true,
	.fail_poll = fail_poll,
	O2_GROUND_OPS,
	.live_cqs = live_cqs,
	.left_behind = left_behind,
};
