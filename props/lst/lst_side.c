/* SPDX-License-Identifier: MIT */
#include "props/lst/lst_side.h"

#include <string.h>

#define NODE_PAGE 300u

struct o2_lst_node_config o2_lst_side_config(void)
{
	struct o2_lst_node_config config = O2_LST_NODE_DEFAULTS;

	config.first_page = NODE_PAGE;
	config.server_pages = 258;
	config.client_pages = 258;
	config.max_calls = 8;
	config.max_served = 16;
	config.max_sessions = 3;
	config.max_batches = 4;
	config.max_tests = 4;
	config.max_units = 16;
	config.mode = O2_REG_GLOBAL;
	return config;
}

static bool listen_done(void *listener, const struct o2_lnet_result *result)
{
	const struct o2_lst_side *side = listener;

	return o2_lst_node_done(side->node, result);
}

static bool listen_event(void *listener, const struct o2_lnet_event *event)
{
	const struct o2_lst_side *side = listener;

	return o2_lst_node_event(side->node, event);
}

static void note_wrong(void *context, const struct o2_lst_node_wrong *wrong)
{
	struct o2_lst_side *side = context;

	side->nwrong++;
	side->wrong = *wrong;
}

int o2_lst_side_open(struct o2_lst_side *side, struct o2_lnet_side *lnet,
		     const struct o2_lst_node_config *config)
{
	const struct o2_lst_node_ops ops = {.wrong = note_wrong};

	memset(side, 0, sizeof(*side));
	side->lnet = lnet;
	lnet->listener = side;
	lnet->listen_done = listen_done;
	lnet->listen_event = listen_event;
	return o2_lst_node_create(config, lnet->lnet, &lnet->arena, &lnet->clock, &ops, side, &side->node,
				  NULL);
}
