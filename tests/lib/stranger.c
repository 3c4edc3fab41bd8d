/* SPDX-License-Identifier: MIT */
#include "tests/lib/stranger.h"

#include "base/monotonic.h"
#include "lnet/endpoint.h"
#include "quirk/quirk.h"
#include "wire/nid.h"

#define PEER_PAGES 16u
#define SERVED_AT  (2u * 4096u + 99u) /* behind LNet's pages; not page-aligned */

struct stranger_peer {
	struct o2_network network; /* must be first: the judge gets a pointer to it */
	struct o2_network *below;
	struct o2_ni ni;
	struct o2_cm *cm;
	struct o2_endpoint endpoint;
	struct o2_kiov kiov[2][PEER_PAGES];
};

struct stranger stranger;

static struct o2_quirks quirks;

static void note_done(void *context, const struct o2_lnet_result *result)
{
}

static void note_event(void *context, const struct o2_lnet_event *event)
{
	if (event->kind != O2_LNET_EVENT_GET || event->hdr->msg.get.ptl_index != O2_PING_PORTAL)
		return;
	stranger.pings++;
	stranger.ping_sink_bytes = event->hdr->msg.get.sink_length;
}

/* Attach an entry of `bytes` bytes for GETs or for PUTs; both entries use the same memory. */
static int offer_to(struct stranger_peer *peer, uint32_t operation, uint32_t bytes)
{
	struct o2_kiov *kiov = peer->kiov[operation == O2_LNET_MD_OP_PUT];
	struct o2_lnet_entry entry = {
		.portal = PORTAL,
		.match_bits = MATCH_BITS,
		O2_LNET_FOR_ANYBODY,
		.options = operation | O2_LNET_MD_MANAGE_REMOTE | O2_LNET_MD_TRUNCATE,
	};
	uint32_t count = 0;
	int rc;

	for (uint32_t at = SERVED_AT, left = bytes; left > 0; count++) {
		uint32_t room = 4096 - at % 4096, length = left < room ? left : room;

		kiov[count] = (struct o2_kiov){at / 4096, at % 4096, length};
		at += length;
		left -= length;
	}
	entry.memory = (struct o2_transfer_memory){
		.buffer = {.kind = O2_KIOV, .count = count, .nob = bytes, .kiov = kiov}, .mode = O2_REG_FMR};
	rc = o2_lnet_attach(peer->endpoint.lnet, &entry, NULL);
	return rc < 0 ? rc : 0;
}

static int offer(struct stranger_peer *peer)
{
	int rc = offer_to(peer, O2_LNET_MD_OP_GET, stranger.serves_bytes);

	if (rc == 0)
		rc = offer_to(peer, O2_LNET_MD_OP_PUT, stranger.takes_bytes);
	if (rc == 0 && stranger.garbles_pings)
		memset(peer->ni.arena.memory, 0x55, 48);
	return rc;
}

static int open_peer(struct stranger_peer *peer, struct o2_error *error)
{
	static const struct o2_lnet_ops ops = {.done = note_done, .event = note_event};
	struct o2_node_config node = O2_NODE_DEFAULTS;
	struct o2_lnet_config lnet = O2_LNET_DEFAULTS;
	uint32_t address = 0;
	struct o2_ni_config config = {.device = "loop0",
				      .port = 1,
				      .gid_index = 1,
				      .incarnation = o2_monotonic_ns(),
				      .dma_kind = O2_DMA_BUS,
				      .arena_pages = PEER_PAGES};
	int rc = o2_network_address("loop0", 1, &address, error);

	config.nid = o2_nid_make(O2_LND_O2IB, 0, address);
	quirks = (struct o2_quirks){.set = 0};
	if (stranger.quirk != NULL)
		assert_int_equal(o2_quirks_add(&quirks, stranger.quirk, NULL, 0), 0);
	o2_quirks_bend_ni(&quirks, &config);
	o2_quirks_bend_conn(&quirks, &node.conn);
	if (rc == 0)
		rc = o2_ni_open(&config, &peer->ni, error);
	if (rc == 0)
		rc = peer->below->ops->attach(peer->below, &peer->ni, address, &peer->cm, error);
	node.conn.timeout_ms = STRANGER_TIMEOUT_MS;
	lnet.nid = config.nid;
	lnet.interface_cookie = 77;
	if (rc == 0)
		rc = o2_endpoint_open(&peer->ni, peer->cm, &node, &lnet, &ops, peer, &peer->endpoint, error);
	if (rc == 0)
		o2_endpoint_clock(&peer->endpoint, o2_monotonic_ms());
	return rc == 0 ? offer(peer) : rc;
}

static int attach(struct o2_network *network, const struct o2_ni *ni, uint32_t address, struct o2_cm **cm,
		  struct o2_error *error)
{
	struct stranger_peer *peer = (struct stranger_peer *)network;

	return peer->below->ops->attach(peer->below, ni, address, cm, error);
}

static void detach(struct o2_network *network, struct o2_cm *cm)
{
	struct stranger_peer *peer = (struct stranger_peer *)network;

	peer->below->ops->detach(peer->below, cm);
}

static int progress(struct o2_network *network)
{
	struct stranger_peer *peer = (struct stranger_peer *)network;
	int busy = peer->below->ops->progress(peer->below);

	o2_endpoint_clock(&peer->endpoint, o2_monotonic_ms());
	return busy + o2_node_progress(peer->endpoint.node);
}

static void close_network(struct o2_network *network)
{
	struct stranger_peer *peer = (struct stranger_peer *)network;

	o2_endpoint_close(&peer->endpoint);
	if (peer->cm != NULL)
		peer->below->ops->detach(peer->below, peer->cm);
	o2_ni_close(&peer->ni);
	o2_quirks_end(&quirks);
	peer->below->ops->close(peer->below);
	test_free(peer);
}

static int open_network(struct o2_network **network, struct o2_error *error)
{
	static const struct o2_network_ops ops = {
		.attach = attach, .detach = detach, .progress = progress, .close = close_network};
	struct stranger_peer *peer = test_calloc(1, sizeof(*peer));
	int rc = o2_network_open_loop(&peer->below, error);

	peer->network.ops = &ops;
	if (rc == 0)
		rc = open_peer(peer, error);
	assert_int_equal(rc, 0);
	*network = &peer->network;
	return 0;
}

struct o2_net_liar_options stranger_options(void)
{
	uint32_t peer = 0, liar = 0;

	assert_int_equal(o2_network_address("loop0", 1, &peer, NULL), 0);
	assert_int_equal(o2_network_address("loop1", 1, &liar, NULL), 0);
	return (struct o2_net_liar_options){
		.device = "loop1",
		.gid_index = 1,
		.peer = o2_nid_make(O2_LND_O2IB, 0, peer),
		.port = O2_SERVICE_PORT,
		.served = true,
		.portal = PORTAL,
		.match_bits = MATCH_BITS,
		.patience_ms = 3 * STRANGER_TIMEOUT_MS,
		.closing_ms = STRANGER_CLOSING_MS,
		.open_network = open_network,
		.honest_address = liar + 100,
	};
}
