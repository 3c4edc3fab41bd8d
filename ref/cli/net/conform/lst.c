/* SPDX-License-Identifier: MIT */
#include "cli/net/conform/lst.h"

#include <errno.h>
#include <stdlib.h>

#include "base/monotonic.h"
#include "cli/net/lst_node.h"

/* An endpoint with RPCs of LNet selftest; each probe has its own. */

/* Room for many bulks of 64 KiB or some of 1 MiB, each of which may begin within a page. */
#define BULK_PAGES (O2_CONFORM_LST_MANY * 17u)

static struct o2_lst_rpc_config config_of(const struct o2_conform *conform)
{
	struct o2_lst_rpc_config config = O2_LST_RPC_DEFAULTS;
	const struct o2_net_options *options = conform->options;

	config.first_page = conform->lst_page;
	config.max_calls = O2_CONFORM_LST_MANY + 1;
	config.max_served = 1;
	config.timeout_ms = options->timeout_ms;
	config.mode = o2_net_lst_mode(options);
	config.first_id = o2_net_lst_first_id();
	return config;
}

uint32_t o2_conform_lst_pages(const struct o2_net_options *options, uint32_t page_bytes)
{
	const struct o2_conform conform = {.options = (struct o2_net_options *)options};
	const struct o2_lst_rpc_config config = config_of(&conform);

	return options->try_lst ? o2_lst_rpc_pages(&config, page_bytes) + BULK_PAGES : 0;
}

bool o2_conform_lst_done(struct o2_conform *conform, const struct o2_lnet_result *result)
{
	return conform->lst != NULL && o2_lst_rpc_done(conform->lst->rpc, result);
}

bool o2_conform_lst_event(struct o2_conform *conform, const struct o2_lnet_event *event)
{
	return conform->lst != NULL && o2_lst_rpc_event(conform->lst->rpc, event);
}

static void note_down(void *context, uint64_t nid, const struct o2_transfer_fault *fault)
{
	struct o2_conform *conform = context;

	if (conform->lst == NULL || nid != conform->options->peer)
		return;
	conform->lst->down = true;
	conform->lst->down_code = fault->code != 0 ? fault->code : -ECONNRESET;
}

static int open_parts(struct o2_conform *conform, struct o2_conform_lst *lst,
		      const struct o2_lst_rpc_config *config, struct o2_error *error)
{
	const struct o2_ni *ni = &conform->session.network.ni;
	const uint32_t first_page = config->first_page + o2_lst_rpc_pages(config, ni->arena.page_bytes);
	int rc = o2_lst_rpc_create(config, conform->session.endpoint.lnet, &ni->arena, &ni->clock, &lst->rpc,
				   error);

	if (rc == 0)
		rc = o2_lst_pages_create(&ni->arena, first_page, BULK_PAGES, config->mode, &lst->pages,
					 error);
	if (rc == 0)
		rc = o2_lst_tester_create(O2_CONFORM_LST_MANY, lst->rpc, lst->pages, &ni->clock, &lst->tester,
					  error);
	return rc;
}

/* lst may be NULL. */
static void free_parts(struct o2_conform_lst *lst)
{
	if (lst == NULL)
		return;
	o2_lst_bulk_put(&lst->bulk);
	o2_lst_tester_destroy(lst->tester);
	o2_lst_pages_destroy(lst->pages);
	o2_lst_rpc_destroy(lst->rpc);
	free(lst);
}

void o2_conform_lst_free(struct o2_conform *conform)
{
	free_parts(conform->lst);
	conform->lst = NULL;
}

static bool start_endpoint(struct o2_conform *conform, const struct o2_lst_rpc_config *config)
{
	struct o2_node_config node = o2_conform_node(conform);
	struct o2_lnet_config lnet = o2_net_lnet_config(conform->options);

	lnet.max_entries += o2_lst_rpc_entries(config);
	lnet.max_messages += o2_lst_rpc_messages(config);
	node.conn.max_transfers += o2_lst_rpc_messages(config);
	node.max_waiting += o2_lst_rpc_messages(config);
	return o2_conform_start_with(conform, &node, &lnet);
}

bool o2_conform_lst_start_in(struct o2_conform *conform, enum o2_byte_order order)
{
	struct o2_lst_rpc_config config = config_of(conform);
	struct o2_conform_lst *lst;
	struct o2_error error = {.code = 0};

	config.order = order;
	if (!start_endpoint(conform, &config))
		return false;
	lst = calloc(1, sizeof(*lst));
	if (lst == NULL || open_parts(conform, lst, &config, &error) != 0) {
		o2_conform_starve(conform, "not enough memory");
		free_parts(lst);
		return false;
	}
	conform->lst = lst;
	conform->lst_endpoints++;
	conform->session.endpoint.down = note_down;
	lst->order = order;
	lst->features = O2_LST_FEATS_MASK;
	lst->sid = (struct o2_lst_sid){conform->options->nid, conform->session.network.ni.config.incarnation +
								      conform->lst_endpoints};
	lst->steps = O2_CONFORM_LST_STAY;
	return true;
}

bool o2_conform_lst_start(struct o2_conform *conform)
{
	return o2_conform_lst_start_in(conform, O2_LITTLE_ENDIAN);
}

void o2_conform_lst_stop(struct o2_conform *conform)
{
	if (conform->lst != NULL)
		o2_lst_rpc_stop(conform->lst->rpc, -ECANCELED);
}

/* A peer without any connection to us will not answer any more. */
static void look_at_peer(struct o2_conform *conform)
{
	struct o2_conform_lst *lst = conform->lst;
	const uint64_t peer = conform->options->peer;

	if (!lst->down)
		return;
	lst->down = false;
	if (o2_node_conn(conform->session.endpoint.node, peer, 0) == NULL)
		o2_lst_rpc_peer_down(lst->rpc, peer, lst->down_code);
}

bool o2_conform_lst_step(struct o2_conform *conform)
{
	struct o2_conform_lst *lst = conform->lst;
	const uint64_t now_ms = o2_monotonic_ms();

	lst->left |= lst->steps == 0;
	if (lst->left || !o2_conform_step(conform))
		return false;
	if (lst->steps != O2_CONFORM_LST_STAY)
		lst->steps -= conform->session.idle == 0;
	look_at_peer(conform);
	if (now_ms != lst->told_ms)
		o2_lst_rpc_check_time(lst->rpc);
	lst->told_ms = now_ms;
	return true;
}
