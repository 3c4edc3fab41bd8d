/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/monotonic.h"
#include "cli/cli.h"
#include "cli/net/device.h"
#include "cli/net/judging.h"
#include "cli/net/lst_node.h"
#include "cli/net/network.h"
#include "cli/net/session.h"
#include "lnd/cm/loop.h"
#include "loopverbs/loopverbs.h"
#include "wire/nid.h"

/* A network in the process: our interface on one device of the process, and a serving peer on another. */

static_assert(O2_LOOP_GAP_ENTRIES == O2_MAX_FRAGS, "the device's regions hold what o2iblnd asks for");

#define OUR_DEVICE   "loop0"
#define THEIR_DEVICE "loop1"
#define OUR_ADDRESS  0x0a000001u /* 10.0.0.1, unless the peer wants it */

struct loop {
	struct o2_cm_loop *wire;
	struct o2_ni ni; /* the peer's, as are all members from here on */
	struct o2_cm *cm;
	struct o2_endpoint endpoint;
	struct o2_net_options options;
	struct o2_net_part asked; /* the part of its memory that is used */
	struct o2_net_memory memory[2];
	struct o2_net_lst_node lst;
};

/* The peer starts no operations except those of LNet selftest. */
static void note_done(void *context, const struct o2_lnet_result *result)
{
	struct loop *loop = context;

	o2_net_lst_done(&loop->lst, result);
}

static void note_event(void *context, const struct o2_lnet_event *event)
{
	struct loop *loop = context;

	o2_net_lst_event(&loop->lst, event);
}

static bool open_ni(uint64_t nid, const char *name, uint32_t arena_pages, struct o2_quirks *quirks,
		    const struct o2_watch *watch, struct o2_ni *ni)
{
	struct o2_net_device device;
	struct o2_ni_config config;
	struct o2_error error;

	if (!o2_net_device_find(name, 0, &device))
		return false;
	config = o2_net_ni_config(nid, device.name, device.gid_index, arena_pages);
	config.reg_gaps = o2_loop_reg_gaps;
	config.watch = watch;
	o2_quirks_bend_ni(quirks, &config);
	if (o2_ni_open(&config, ni, &error) == 0)
		return true;
	o2_cli_complain_error(name, &error);
	return false;
}

static bool attach(struct loop *loop, const struct o2_ni *ni, struct o2_cm **cm)
{
	struct o2_error error;

	if (o2_cm_loop_attach(loop->wire, ni, o2_nid_address(ni->config.nid), cm, &error) == 0)
		return true;
	o2_cli_complain_error("network in the process", &error);
	return false;
}

static struct o2_net_options peer_options(const struct o2_net_options *ours)
{
	struct o2_net_options options = *ours;

	options.command = O2_NET_SERVE;
	options.nid = ours->peer;
	options.seed = O2_NET_SEED;
	options.quirks = ours->loop_quirks;
	/* A test node that nobody asks for would take pages, and would look at each event. */
	options.reverse = false;
	options.lst = options.lst_quiet = ours->command == O2_NET_LST || ours->try_lst;
	o2_net_default_offers(&options);
	/* Each operation in flight has a place if the first one has. */
	options.offer[0].size_bytes += (uint32_t)(o2_net_offset(ours, ours->in_flight - 1) - ours->offset);
	return options;
}

/* Nobody else uses the peer.  A peer that has quirks, or is tried by conform, may show any of its bytes. */
static struct o2_net_part asked_for(const struct o2_net_options *ours)
{
	if (ours->command == O2_NET_CONFORM || ours->quirks.set != 0 || ours->loop_quirks.set != 0)
		return O2_NET_WHOLE;
	if (ours->command != O2_NET_PUT && ours->command != O2_NET_GET)
		return (struct o2_net_part){0, 0};
	return (struct o2_net_part){ours->offset,
				    o2_net_offset(ours, ours->in_flight - 1) + ours->size_bytes};
}

static bool open_peer(struct loop *loop)
{
	const struct o2_node_config node_config = o2_net_node_config(&loop->options);
	const struct o2_lnet_config lnet_config = o2_net_lnet_config(&loop->options);
	const struct o2_lnet_ops ops = {.done = note_done, .event = note_event};
	struct o2_error error;

	if (o2_endpoint_open(&loop->ni, loop->cm, &node_config, &lnet_config, &ops, loop, &loop->endpoint,
			     &error) != 0) {
		o2_cli_complain_error("peer in the process", &error);
		return false;
	}
	o2_endpoint_clock(&loop->endpoint, o2_monotonic_ns() / O2_NS_PER_MS);
	if (!o2_net_offer(&loop->options, &loop->asked, &loop->ni.arena, loop->endpoint.lnet, loop->memory)) {
		o2_cli_complain("not enough memory for the peer's buffer");
		return false;
	}
	if (o2_net_lst_open(&loop->options, &loop->ni, loop->endpoint.lnet,
			    O2_NET_LNET_PAGES + o2_net_offer_pages(&loop->options, loop->ni.arena.page_bytes),
			    &loop->lst, &error) == 0)
		return true;
	o2_cli_complain_error("test node in the process", &error);
	return false;
}

bool o2_net_network_open(struct o2_net_options *options, uint32_t arena_pages, struct o2_net_network *network)
{
	const uint32_t page_bytes = (uint32_t)sysconf(_SC_PAGESIZE);
	struct loop *loop;

	memset(network, 0, sizeof(*network));
	if (options->command == O2_NET_SERVE) {
		o2_cli_complain("device loop is a network inside the process: nobody could reach the server");
		return false;
	}
	loop = calloc(1, sizeof(*loop));
	network->more = loop;
	if (loop == NULL || (loop->wire = o2_cm_loop_create()) == NULL) {
		o2_cli_complain("not enough memory");
		free(loop);
		return false;
	}
	if (options->nid == 0)
		options->nid = o2_nid_make(O2_LND_O2IB, o2_nid_network(options->peer),
					   OUR_ADDRESS + (o2_nid_address(options->peer) == OUR_ADDRESS));
	loop->options = peer_options(options);
	loop->asked = asked_for(options);
	/* All memory is in mapped arenas: checking pages would only allocate those that nobody touches. */
	o2_loop_set_option(O2_LOOP_CHECK_PAGES, 0);
	if (open_ni(options->nid, OUR_DEVICE, arena_pages, &options->quirks,
		    o2_net_judging_watch(options->judging), &network->ni) &&
	    open_ni(options->peer, THEIR_DEVICE,
		    O2_NET_LNET_PAGES + o2_net_offer_pages(&loop->options, page_bytes) +
			    o2_net_lst_pages(&loop->options, page_bytes),
		    &loop->options.quirks, NULL, &loop->ni) &&
	    attach(loop, &network->ni, &network->cm) && attach(loop, &loop->ni, &loop->cm) && open_peer(loop))
		return true;
	o2_net_network_close(network);
	return false;
}

void o2_net_network_close(struct o2_net_network *network)
{
	struct loop *loop = network->more;

	o2_net_lst_stop(&loop->lst);
	if (loop->endpoint.node != NULL)
		o2_endpoint_close(&loop->endpoint);
	o2_net_lst_close(&loop->lst);
	if (loop->cm != NULL)
		o2_cm_loop_detach(loop->cm);
	if (network->cm != NULL)
		o2_cm_loop_detach(network->cm);
	if (loop->ni.context != NULL)
		o2_ni_close(&loop->ni);
	o2_quirks_end(&loop->options.quirks);
	if (network->ni.context != NULL)
		o2_ni_close(&network->ni);
	o2_cm_loop_destroy(loop->wire);
	for (unsigned int i = 0; i < 2; i++)
		o2_net_memory_free(&loop->memory[i]);
	free(loop);
}

int o2_net_network_progress(struct o2_net_network *network, uint64_t now_ms)
{
	struct loop *loop = network->more;
	int events = 0;

	while (o2_cm_loop_deliver(loop->wire, 0))
		events++;
	o2_endpoint_clock(&loop->endpoint, now_ms);
	o2_net_lst_round(&loop->lst);
	return events + o2_node_progress(loop->endpoint.node);
}

/* Both ends are in this process, and neither has anything to do: only time can change that. */
int o2_net_network_sleep(struct o2_net_network *network, struct o2_endpoint *endpoint, uint64_t sleep_ns)
{
	const struct timespec sleep = o2_net_timespec(sleep_ns);

	(void)network;
	(void)endpoint;
	nanosleep(&sleep, NULL);
	return 0;
}
