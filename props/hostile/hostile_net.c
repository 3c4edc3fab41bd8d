/* SPDX-License-Identifier: MIT */
#include "props/hostile/hostile_net.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "props/hostile/hostile_quirk.h"
#include "wire/nid.h"

/* The liar's process: two interfaces on one device, the liar's and the honest peer's. */

static int open_place(struct o2_net_liar *net, enum o2_hostile_ni which, struct o2_ni_config *config,
		      uint32_t network, uint32_t address, struct o2_error *error)
{
	config->nid = o2_nid_make(O2_LND_O2IB, network, address);
	config->arena_pages = which == O2_NI_LIAR ? 1 : O2_HOSTILE_PAGES;
	config->watch = net->options.watch[which];
	if (which != O2_NI_LIAR)
		o2_hostile_bend_ni(config);
	return o2_place_open(&net->h.place[which], config, net->network, error);
}

int o2_net_liar_attach(struct o2_net_liar *net, uint32_t honest_network, struct o2_error *error)
{
	const struct o2_net_liar_options *options = &net->options;
	struct o2_liar *liar = &net->h.liar;
	struct o2_ni_config config = {
		.device = options->device,
		.gid_index = options->gid_index,
		.incarnation = o2_place_incarnation(),
		.dma_kind = O2_DMA_BUS,
	};
	uint32_t address = 0;
	int rc = o2_network_address(options->device, options->gid_index, &address, error);

	if (rc == 0)
		rc = options->open_network(&net->network, error);
	if (rc == 0)
		rc = open_place(net, O2_NI_LIAR, &config, o2_nid_network(options->peer), address, error);
	if (rc != 0)
		return rc;
	liar->nid = config.nid;
	liar->stamp = config.incarnation;
	liar->portal = options->portal;
	liar->match_bits = options->match_bits;
	if (options->honest_address != 0)
		address = options->honest_address;
	return open_place(net, O2_NI_FRIEND, &config, honest_network, address, error);
}

void o2_net_liar_refused(const struct o2_net_liar *net, const struct o2_error *error, char *why)
{
	const int used = snprintf(why, O2_VICTIM_WHY_BYTES, "cannot use %.40s: ", net->options.device);

	o2_error_text(error, why + used, O2_VICTIM_WHY_BYTES - (size_t)used);
}

void o2_net_liar_detach(struct o2_net_liar *net)
{
	o2_net_liar_end(net);
	for (int i = O2_NI_LIAR; i <= O2_NI_FRIEND; i++)
		o2_place_close(&net->h.place[i]);
	if (net->network != NULL)
		net->network->ops->close(net->network);
	net->network = NULL;
}

static bool open_liar(struct o2_net_liar *net, char *why)
{
	if (o2_liar_open(&net->h.liar, &net->h.place[O2_NI_LIAR].ni) == 0)
		return true;
	snprintf(why, O2_VICTIM_WHY_BYTES, "no queue pair for the liar");
	return false;
}

bool o2_net_liar_begin(struct o2_net_liar *net, const struct o2_misbehaviour *what, char *why)
{
	const struct o2_liar_spoil nothing = {.width = 0};

	net->h.endless = false;
	net->h.untold = NULL;
	if (what->reaction != O2_REACT_REJECT && what->reaction != O2_REACT_FAIL)
		return o2_net_liar_connect(net, &nothing, why);
	return open_liar(net, why);
}

bool o2_net_liar_connect(struct o2_net_liar *net, const struct o2_liar_spoil *spoil, char *why)
{
	struct o2_liar *liar = &net->h.liar;

	if (!open_liar(net, why))
		return false;
	liar->spoil = *spoil;
	if (o2_liar_request(liar) == 0)
		o2_hostile_settle(&net->h);
	if (liar->rejected)
		snprintf(why, O2_VICTIM_WHY_BYTES,
			 "no connection: rejected, reason %u of the manager, %u in the record", liar->reason,
			 liar->reject.ibr_why);
	else
		snprintf(why, O2_VICTIM_WHY_BYTES, "no connection: %s",
			 liar->failed != 0 ? strerror(-liar->failed) : "no answer");
	return liar->established;
}

void o2_net_liar_end(struct o2_net_liar *net)
{
	o2_liar_part(&net->h.liar);
	o2_liar_close(&net->h.liar);
}

int o2_net_liar_pump(struct o2_net_liar *net)
{
	int events = net->network->ops->progress(net->network);

	return (events > 0 ? events : 0) + o2_liar_progress(&net->h.liar);
}

bool o2_net_liar_quiet(const struct o2_net_liar *net)
{
	return net->h.liar.sends_open == 0 && !net->h.liar.waits;
}
