/* SPDX-License-Identifier: MIT */
#include "tests/lib/net_lst_peer.h"

struct o2_lst_node_config net_lst_config(void)
{
	struct o2_lst_node_config config = O2_LST_NODE_DEFAULTS;

	config.first_page = NET_LST_NODE_PAGE;
	config.mode = O2_REG_GLOBAL;
	return config;
}

struct o2_lst_node *net_lst_open(const struct o2_lst_node_config *config)
{
	const struct o2_lst_node_ops ops = {.wrong = NULL};
	struct o2_lst_node *node;

	assert_int_equal(o2_lst_node_create(config, world.endpoint.lnet, &world.ni.arena, &world.ni.clock,
					    &ops, NULL, &node, NULL),
			 0);
	world.rpc = node->rpc;
	return node;
}

void net_lst_occupy(struct o2_lst_node *node)
{
	struct o2_lst_node_session *session = calloc(1, sizeof(*session));

	assert_non_null(session);
	*session = (struct o2_lst_node_session){.node = node,
						.sid = {UINT64_C(0x000500000a4d0009), 1},
						.name = {"theirs"},
						.features = 1,
						.made = 1};
	LIST_INIT(&session->batches);
	LIST_INSERT_HEAD(&node->sessions, session, link);
	node->session = session;
	node->nsessions = 1;
}

int net_lst_run(const char *line, void (*start)(void), void (*round)(void), void (*stop)(void),
		struct o2_lst_node **node)
{
	int status;

	world.start = start;
	world.round = round;
	world.leave = stop;
	status = world_run(line);
	o2_lst_node_destroy(*node);
	*node = NULL;
	return status;
}
