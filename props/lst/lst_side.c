/* SPDX-License-Identifier: MIT */
#include "props/lst/lst_side.h"

#include <errno.h>
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

static void count_messages(struct o2_lst_side *side)
{
	const uint32_t messages = o2_lnet_messages(side->lnet->lnet);

	side->heard.most = messages > side->heard.most ? messages : side->heard.most;
}

static bool listen_done(void *listener, const struct o2_lnet_result *result)
{
	struct o2_lst_side *side = listener;

	count_messages(side);
	if (result->status == 0)
		*(result->is_get ? &side->heard.got_bytes : &side->heard.put_bytes) += result->length_bytes;
	side->heard.lnet_errors += result->status != 0;
	side->heard.errors += result->status != 0 && result->status != -ECANCELED;
	return o2_lst_node_done(side->node, result);
}

static bool listen_event(void *listener, const struct o2_lnet_event *event)
{
	struct o2_lst_side *side = listener;
	const bool dropped = event->kind == O2_LNET_EVENT_DROPPED;
	const uint32_t portal = event->hdr->msg.put.ptl_index;

	count_messages(side);
	side->heard.dropped += dropped;
	side->heard.errors += !dropped && event->status != 0;
	side->heard.lnet_errors += !dropped && event->status != 0;
	side->heard.requests += event->kind == O2_LNET_EVENT_PUT &&
				(portal == O2_LST_PORTAL_FRAMEWORK || portal == O2_LST_PORTAL_TEST);
	return o2_lst_node_event(side->node, event);
}

static void note_wrong(void *context, const struct o2_lst_node_wrong *wrong)
{
	struct o2_lst_side *side = context;

	side->nwrong++;
	side->wrong = *wrong;
}

static void note_unserved(void *context, uint64_t nid, int code)
{
	struct o2_lst_side *side = context;

	side->nunserved++;
	side->unserved_nid = nid;
	side->unserved_code = code;
}

int o2_lst_side_open(struct o2_lst_side *side, struct o2_lnet_side *lnet,
		     const struct o2_lst_node_config *config)
{
	const struct o2_lst_node_ops ops = {.wrong = note_wrong, .unserved = note_unserved};

	memset(side, 0, sizeof(*side));
	side->lnet = lnet;
	lnet->listener = side;
	lnet->listen_done = listen_done;
	lnet->listen_event = listen_event;
	return o2_lst_node_create(config, lnet->lnet, &lnet->arena, &lnet->clock, &ops, side, &side->node,
				  NULL);
}
