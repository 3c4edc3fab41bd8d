/* SPDX-License-Identifier: MIT */
/* The process of conform: its network, and the peer. */
#include "props/command/wrong.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/monotonic.h"
#include "cli/net/judging.h"
#include "cli/net/lst_node.h"
#include "cli/net/session.h"
#include "lnd/cm/loop.h"
#include "loopverbs/loopverbs.h"
#include "props/command/net_process.h"
#include "props/world/device.h"
#include "wire/nid.h"

#define NO_PORTAL 63u
#define QUIET_MS  200u
#define HURRY_MS  500u /* time added per round */

static struct {
	struct o2_wrong *wrong;
	struct o2_cm_loop *wire;
	struct o2_ni ni;
	struct o2_cm *cm;
	struct o2_endpoint endpoint;
	struct o2_net_options options;
	struct o2_net_memory memory[2];
	struct o2_net_lst_node lst;
	const struct o2_cm_ops *our_true_ops;
	struct o2_cm_ops our_ops;
	/* Time of the last round, and of the last round with an event; time added to the peer's clock. */
	uint64_t now_ms, active_ms, ahead_ms;
	uint32_t turns; /* rounds of the peer's network, with those left out */
} peer;

/* Replaces our listen: the port is in use, or not permitted. */
static int listen_in_vain(struct o2_cm *cm, uint16_t port, struct o2_error *error)
{
	(void)cm;
	return o2_refuse_value(error, -peer.wrong->listen_errno, "cm/listen", "port", port, O2_NO_LIMIT);
}

/* Try one allocation, then let none fail: a request that cannot be written would look like a lost one. */
static int connect_surely(struct o2_cm *cm, const struct o2_cm_target *target,
			  const struct o2_cm_param *param, void *context, struct o2_cm_id **id,
			  struct o2_error *error)
{
	void *piece = malloc(1);
	uint32_t held;
	int rc;

	if (piece == NULL)
		return o2_refuse_value(error, -ENOMEM, "cm/memory", "id", 0, O2_NO_LIMIT);
	free(piece);
	held = o2_net_hold();
	rc = peer.our_true_ops->connect(cm, target, param, context, id, error);
	o2_net_go_on(held);
	return rc;
}

static void note_done(void *context, const struct o2_lnet_result *result)
{
	(void)context;
	o2_net_lst_done(&peer.lst, result);
}

static void note_event(void *context, const struct o2_lnet_event *event)
{
	(void)context;
	o2_net_lst_event(&peer.lst, event);
}

static bool open_ni(uint64_t nid, const char *device, uint32_t pages, const struct o2_watch *watch,
		    struct o2_ni *ni, struct o2_cm **cm)
{
	struct o2_ni_config config = o2_net_ni_config(nid, device, O2_LOOP_GID_INDEX, pages);

	config.reg_gaps = o2_device_reg_gaps();
	config.watch = watch;
	if (ni != &peer.ni)
		config.events = peer.wrong->events;
	return o2_ni_open(&config, ni, NULL) == 0 &&
	       o2_cm_loop_attach(peer.wire, ni, o2_nid_address(nid), cm, NULL) == 0;
}

/* Memory that is offered is readable too, so the place for PUTs only offers the same memory at another portal. */
static bool offer_places(void)
{
	const struct o2_wrong_place *puts = &peer.wrong->place[0];
	struct o2_lnet_entry entry = {.portal = puts->portal,
				      .match_bits = puts->bits,
				      O2_LNET_FOR_ANYBODY,
				      .options = O2_LNET_MD_OP_PUT | O2_LNET_MD_MANAGE_REMOTE,
				      .tag = 2};

	if (!o2_net_offer(&peer.options, &O2_NET_WHOLE, &peer.ni.arena, peer.endpoint.lnet, peer.memory))
		return false;
	entry.memory = peer.memory[0].memory;
	return !puts->puts_only || o2_lnet_attach(peer.endpoint.lnet, &entry, NULL) >= 0;
}

static bool open_peer(void)
{
	const struct o2_lnet_ops ops = {.done = note_done, .event = note_event};
	struct o2_node_config node_config = o2_net_node_config(&peer.options);
	struct o2_lnet_config lnet_config = o2_net_lnet_config(&peer.options);

	o2_wrong_say(peer.wrong, &peer.ni, peer.cm);
	if (o2_endpoint_open(&peer.ni, peer.cm, &node_config, &lnet_config, &ops, NULL, &peer.endpoint,
			     NULL) != 0)
		return false;
	o2_endpoint_clock(&peer.endpoint, o2_monotonic_ms());
	return offer_places() &&
	       o2_net_lst_open(&peer.options, &peer.ni, peer.endpoint.lnet,
			       O2_NET_LNET_PAGES +
				       o2_net_offer_pages(&peer.options, peer.ni.arena.page_bytes),
			       &peer.lst, NULL) == 0;
}

static void choose_places(const struct o2_net_options *options)
{
	o2_net_default_offers(&peer.options);
	for (uint32_t i = 0; i < peer.options.noffers && options->command == O2_NET_CONFORM; i++) {
		const struct o2_wrong_place *place = &peer.wrong->place[i];
		struct o2_net_offer *offer = &peer.options.offer[i];

		offer->size_bytes = options->place_bytes;
		if (!peer.wrong->places)
			continue;
		offer->portal = place->puts_only ? NO_PORTAL : place->portal;
		offer->match_bits = place->bits;
		offer->size_bytes = place->bytes;
		peer.options.truncate = peer.wrong->truncates;
	}
}

static bool open_network(struct o2_net_options *options, uint32_t arena_pages, struct o2_net_network *network)
{
	const uint32_t page_bytes = (uint32_t)sysconf(_SC_PAGESIZE);

	if (peer.wrong->alone)
		signal(SIGCHLD, SIG_IGN);
	peer.options = *options;
	peer.options.command = O2_NET_SERVE;
	peer.options.nid = options->peer;
	peer.options.seed = O2_NET_SEED;
	peer.options.lst = peer.options.lst_quiet = options->try_lst || options->command == O2_NET_LST;
	choose_places(options);
	peer.wire = o2_cm_loop_create();
	if (peer.wire == NULL || !open_ni(options->nid, "loop0", arena_pages,
					  o2_net_judging_watch(options->judging), &network->ni, &network->cm))
		return false;
	peer.our_true_ops = network->cm->ops;
	peer.our_ops = *network->cm->ops;
	peer.our_ops.connect = connect_surely;
	if (peer.wrong->listen_errno != 0)
		peer.our_ops.listen = listen_in_vain;
	network->cm->ops = &peer.our_ops;
	if (peer.wrong->absent)
		return true;
	return open_ni(options->peer, "loop1",
		       O2_NET_LNET_PAGES + o2_net_offer_pages(&peer.options, page_bytes) +
			       o2_net_lst_pages(&peer.options, page_bytes),
		       NULL, &peer.ni, &peer.cm) &&
	       open_peer();
}

static void close_peer(void)
{
	if (peer.wrong->absent)
		return;
	o2_net_lst_stop(&peer.lst);
	o2_endpoint_close(&peer.endpoint);
	o2_net_lst_close(&peer.lst);
	o2_cm_loop_detach(peer.cm);
	o2_ni_close(&peer.ni);
	for (unsigned int i = 0; i < 2; i++)
		o2_net_memory_free(&peer.memory[i]);
}

static void close_network(struct o2_net_network *network)
{
	close_peer();
	o2_cm_loop_detach(network->cm);
	o2_ni_close(&network->ni);
	o2_cm_loop_destroy(peer.wire);
}

/* A client of a test may wait a minute for an answer; let the peer's time pass faster while nothing happens. */
static uint64_t time_of_peer(uint64_t now_ms)
{
	if (peer.now_ms == 0)
		peer.active_ms = peer.now_ms = now_ms;
	if (peer.options.reverse && now_ms - peer.active_ms > QUIET_MS)
		peer.ahead_ms += now_ms > peer.now_ms ? HURRY_MS : 0;
	peer.now_ms = now_ms;
	return now_ms + peer.ahead_ms;
}

static int progress(struct o2_net_network *network, uint64_t now_ms)
{
	int events = 0;

	(void)network;
	if (peer.wrong->lost_after != 0 && ++peer.wrong->rounds >= peer.wrong->lost_after)
		return -ENODEV;
	if (peer.wrong->late > 0 && ++peer.turns % peer.wrong->late != 0)
		return 1;
	while (o2_cm_loop_deliver(peer.wire, 0))
		events++;
	if (peer.wrong->absent || (peer.wrong->mute && peer.wrong->answered > 0))
		return events;
	o2_endpoint_clock(&peer.endpoint, time_of_peer(now_ms));
	o2_net_lst_round(&peer.lst);
	events += o2_node_progress(peer.endpoint.node);
	if (events > 0)
		peer.active_ms = now_ms;
	return events;
}

void o2_wrong_execute(struct o2_command_run *run, struct o2_wrong *wrong)
{
	static const struct o2_net_inside inside = {
		.open = open_network, .close = close_network, .progress = progress, .sleeps = true};

	run->status = -1;
	peer.wrong = o2_net_share(wrong, sizeof(*wrong));
	if (peer.wrong == NULL)
		return;
	o2_net_process(run, &inside);
	o2_net_unshare(peer.wrong, wrong, sizeof(*wrong));
}
