/* SPDX-License-Identifier: MIT */
#include "tests/lib/net_lst_peer.h"

struct o2_lst_node *net_lst_node;
uint64_t net_lst_sessions;

struct o2_lst_node_config net_lst_config(void)
{
	struct o2_lst_node_config config = O2_LST_NODE_DEFAULTS;

	config.first_page = NET_LST_NODE_PAGE;
	config.mode = O2_REG_GLOBAL;
	return config;
}

void net_lst_open(const struct o2_lst_node_config *config)
{
	const struct o2_lst_node_ops ops = {.wrong = NULL};

	assert_int_equal(o2_lst_node_create(config, world.endpoint.lnet, &world.ni.arena, &world.ni.clock,
					    &ops, NULL, &net_lst_node, NULL),
			 0);
	world.rpc = net_lst_node->rpc;
}

void net_lst_occupy(void)
{
	struct o2_lst_node *node = net_lst_node;
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

static void leave(void)
{
	if (net_lst_node == NULL)
		return;
	net_lst_sessions = o2_lst_node_report(net_lst_node)->sessions;
	o2_lst_node_stop(net_lst_node, -ESHUTDOWN);
}

int net_lst_run(const char *line, void (*start)(void), void (*round)(void))
{
	int status;

	net_lst_sessions = 0;
	world.start = start;
	world.round = round;
	world.leave = leave;
	status = world_run(line);
	o2_lst_node_destroy(net_lst_node);
	net_lst_node = NULL;
	return status;
}
