/* SPDX-License-Identifier: MIT */
#include "props/hostile/hostile_net.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "props/hostile/hostile_quirk.h"
#include "props/world/device.h"
#include "wire/nid.h"

/* The liar's process: two interfaces on one device, the liar's and the honest peer's. */

static int attach(struct o2_net_liar *net, enum o2_hostile_ni which, struct o2_ni_config *config,
		  uint32_t address, struct o2_error *error)
{
	struct o2_ni *ni = &net->h.ni[which];
	int rc;

	config->arena_pages = which == O2_NI_LIAR ? 1 : O2_HOSTILE_PAGES;
	if (which != O2_NI_LIAR)
		o2_hostile_bend_ni(config);
	rc = o2_ni_open(config, ni, error);
	return rc == 0 ? net->network->ops->attach(net->network, ni, address, &net->cm[which], error) : rc;
}

int o2_net_liar_attach(struct o2_net_liar *net, uint32_t honest_network, struct o2_error *error)
{
	const struct o2_net_liar_options *options = &net->options;
	uint32_t network = o2_nid_network(options->peer), address = 0;
	struct o2_ni_config config = {
		.device = options->device,
		.port = 1,
		.reg_gaps = o2_device_reg_gaps(),
		.gid_index = options->gid_index,
		.dma_kind = O2_DMA_BUS,
	};
	struct timespec now;
	int rc = o2_network_address(options->device, options->gid_index, &address, error);

	clock_gettime(CLOCK_REALTIME, &now);
	config.incarnation = (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
	config.nid = o2_nid_make(O2_LND_O2IB, network, address);
	if (rc == 0)
		rc = options->open_network(&net->network, error);
	if (rc == 0)
		rc = attach(net, O2_NI_LIAR, &config, address, error);
	net->h.liar.nid = config.nid;
	net->h.liar.stamp = config.incarnation;
	net->h.liar.portal = options->portal;
	net->h.liar.match_bits = options->match_bits;
	if (options->honest_address != 0)
		address = options->honest_address;
	config.nid = o2_nid_make(O2_LND_O2IB, honest_network, address);
	if (rc == 0)
		rc = attach(net, O2_NI_FRIEND, &config, address, error);
	return rc;
}

void o2_net_liar_detach(struct o2_net_liar *net)
{
	o2_net_liar_end(net);
	for (int i = O2_NI_LIAR; i <= O2_NI_FRIEND; i++) {
		if (net->cm[i] != NULL)
			net->network->ops->detach(net->network, net->cm[i]);
		net->cm[i] = NULL;
		o2_ni_close(&net->h.ni[i]);
	}
	if (net->network != NULL)
		net->network->ops->close(net->network);
	net->network = NULL;
}

static bool open_liar(struct o2_net_liar *net, char *why)
{
	if (o2_liar_open(&net->h.liar, &net->h.ni[O2_NI_LIAR]) == 0)
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
