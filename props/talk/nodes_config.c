/* SPDX-License-Identifier: MIT */
#include "props/talk/nodes_internal.h"

/* Settings of a node, as an administrator could have chosen them. */

static void draw_conn(struct o2_choice *c, struct o2_conn_config *conn)
{
	static const uint32_t depths[] = {8, 2, 3, 16};
	static const uint32_t frags[] = {O2_MAX_FRAGS, O2_MAX_FRAGS_LEGACY, 1, 2, 3};
	static const uint32_t frags_weights[] = {6, 2, 1, 1, 1};

	conn->queue_depth = depths[o2_draw_pick(c, 4)];
	conn->max_frags = frags[o2_draw_weighted(c, frags_weights, 5)];
	conn->wrq_sge = o2_draw_bool(c, 2, 1) ? (uint32_t)o2_draw_range(c, 1, 4) : O2_DEFAULT_WRQ_SGE;
	conn->version = o2_draw_bool(c, 5, 1) ? O2_MSG_VERSION_1 : O2_MSG_VERSION_2;
	conn->order = o2_draw_bool(c, 3, 1) ? O2_BIG_ENDIAN : O2_LITTLE_ENDIAN;
	conn->cksum_flavour = o2_draw_bool(c, 3, 1) ? O2_CKSUM_UNSIGNED : O2_CKSUM_NONE;
	conn->concurrent_sends = o2_draw_bool(c, 2, 1) ? (uint32_t)o2_draw_range(c, 1, 16) : 0;
	conn->peercredits_hiw = o2_draw_bool(c, 2, 1) ? (uint32_t)o2_draw_range(c, 1, 16) : 0;
	conn->immediate_gather = o2_draw_bool(c, 1, 1);
}

void o2_nodes_draw_config(const struct o2_nodes *nodes, struct o2_node_config *config)
{
	struct o2_choice *c = nodes->choice;

	*config = O2_NODE_DEFAULTS;
	draw_conn(c, &config->conn);
	config->conn.retry_count = nodes->ground.ops->retry_count;
	config->conn.ack_timeout = nodes->ground.ops->ack_timeout;
	config->listen = !o2_draw_bool(c, 15, 1);
	config->ranking = o2_draw_bool(c, 3, 1) ? O2_RACE_BY_NID : O2_RACE_BY_WORDS;
	config->conns_per_peer = (uint32_t)o2_draw_range(c, 1, 3);
	config->max_conns_per_peer = (uint32_t)o2_draw_range(c, config->conns_per_peer, 6);
	config->max_waiting = 1 + (uint32_t)o2_draw(c, 15);
}
