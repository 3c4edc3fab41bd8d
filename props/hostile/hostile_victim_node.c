/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "props/hostile/hostile_quirk.h"
#include "props/hostile/hostile_victim.h"

/* A victim that is a node: callbacks go to the end of the NID that they are about. */

static struct o2_hostile_end *end_of(struct o2_victim *victim, uint64_t nid)
{
	return nid == victim->liar_nid ? &victim->liar : &victim->honest;
}

static int match(void *context, uint64_t nid, const struct o2_msg *request, uint64_t sink_bytes,
		 struct o2_transfer_memory *memory)
{
	return o2_hostile_end_ops.match(end_of(context, nid), request, sink_bytes, memory);
}

static int receive(void *context, uint64_t nid, const struct o2_msg *msg)
{
	return o2_hostile_end_ops.receive(end_of(context, nid), msg);
}

static void done(void *context, uint64_t nid, const struct o2_transfer_result *result)
{
	o2_hostile_end_ops.done(end_of(context, nid), result);
}

static void up(void *context, uint64_t nid)
{
	struct o2_victim *victim = context;

	end_of(victim, nid)->conn = o2_node_conn(victim->node, nid, 0);
}

static void down(void *context, uint64_t nid, const struct o2_transfer_fault *fault)
{
	struct o2_hostile_end *end = end_of(context, nid);

	end->conn = NULL;
	o2_hostile_end_ops.closed(end, fault);
}

int o2_victim_start_node(struct o2_victim *victim, struct o2_cm *cm, uint64_t liar_nid,
			 struct o2_error *error)
{
	static const struct o2_node_ops ops = {
		.match = match, .receive = receive, .done = done, .up = up, .down = down};
	struct o2_node_config config = O2_NODE_DEFAULTS;

	victim->liar_nid = liar_nid;
	config.conn.max_transfers = 32;
	config.conn.ack_timeout = O2_HOSTILE_ACK_TIMEOUT;
	o2_hostile_bend_conn(&config.conn);
	return o2_node_create(victim->ni, cm, &config, &ops, victim, &victim->node, error);
}
