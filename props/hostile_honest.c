/* SPDX-License-Identifier: MIT */
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/monotonic.h"
#include "props/hostile_net.h"

/*
 * After a liar an honest node of the same NID asks the same peer: pings it, and, where the peer serves
 * memory, PUTs bytes and GETs them back.
 */

#define PING_BYTES  4096u
#define PING_AT	    (2u * 4096u) /* behind LNet's own pages */
#define TIMEOUT_MS  20000u
#define FILL_MISSED 0xee

static void done(void *context, const struct o2_lnet_result *result)
{
	struct o2_net_liar *net = context;

	net->waiting = false;
	net->status = result->status;
	net->length_bytes = result->length_bytes;
}

static int open_endpoint(struct o2_net_liar *net)
{
	static const struct o2_lnet_ops ops = {.done = done};
	struct o2_node_config node = O2_NODE_DEFAULTS;
	struct o2_lnet_config lnet = O2_LNET_DEFAULTS;
	struct o2_ni *ni = &net->h.ni[O2_NI_FRIEND];

	node.port = net->options.port;
	node.listen = false;
	node.use_privileged_port = geteuid() == 0;
	node.conn.timeout_ms = TIMEOUT_MS;
	lnet.nid = ni->config.nid;
	lnet.interface_cookie = o2_monotonic_ms();
	lnet.response_timeout_ms = TIMEOUT_MS;
	return o2_endpoint_open(ni, net->cm[O2_NI_FRIEND], &node, &lnet, &ops, net, &net->endpoint, NULL);
}

/* An operation has started (0); true: it ends well. */
static bool ends(struct o2_net_liar *net, int started)
{
	uint64_t end_ms = o2_monotonic_ms() + 2 * TIMEOUT_MS;

	if (started != 0) {
		net->status = started;
		return false;
	}
	/* Its deadlines are by the clock, and one of them comes before ours. */
	while (net->waiting && o2_monotonic_ms() < end_ms) {
		o2_endpoint_clock(&net->endpoint, o2_monotonic_ms());
		if (o2_net_liar_pump(net) + o2_endpoint_progress(&net->endpoint) == 0)
			sched_yield();
	}
	return !net->waiting && net->status == 0;
}

static bool ping(struct o2_net_liar *net)
{
	struct o2_lnet_target target = {
		.nid = net->options.peer, .portal = O2_PING_PORTAL, .match_bits = O2_PING_MATCH_BITS};
	struct o2_transfer_memory sink =
		o2_hostile_memory(&net->h.friend.end, 0, PING_AT, PING_BYTES, O2_REG_FASTREG);
	const uint8_t *bytes = net->h.ni[O2_NI_FRIEND].arena.memory + PING_AT;
	struct o2_ping_info info;

	net->waiting = true; /* may be over as soon as it starts */
	return ends(net, o2_lnet_get(net->endpoint.lnet, &target, &sink, NULL, NULL)) &&
	       o2_ping_decode(bytes, net->length_bytes, &info, NULL) >= 0;
}

static bool moves_bytes(struct o2_net_liar *net)
{
	struct o2_lnet_target target = {.nid = net->options.peer,
					.portal = net->options.portal,
					.match_bits = net->options.match_bits,
					.ack = true};
	struct o2_hostile_end *end = &net->h.friend.end;
	struct o2_transfer_memory source =
		o2_hostile_memory(end, 1, O2_HONEST_AT, O2_HONEST_BYTES, O2_REG_FASTREG);
	struct o2_transfer_memory sink =
		o2_hostile_memory(end, 2, O2_GET_AT, O2_HONEST_BYTES, O2_REG_FASTREG);
	uint8_t *memory = net->h.ni[O2_NI_FRIEND].arena.memory;

	net->h.tries++;
	for (uint32_t i = 0; i < O2_HONEST_BYTES; i++)
		memory[O2_HONEST_AT + i] = o2_honest_byte(net->h.tries, i);
	memset(memory + O2_GET_AT, FILL_MISSED, O2_HONEST_BYTES);
	net->waiting = true;
	if (!ends(net, o2_lnet_put(net->endpoint.lnet, &target, &source, NULL, NULL)))
		return false;
	net->waiting = true;
	return ends(net, o2_lnet_get(net->endpoint.lnet, &target, &sink, NULL, NULL)) &&
	       memcmp(memory + O2_GET_AT, memory + O2_HONEST_AT, O2_HONEST_BYTES) == 0;
}

bool o2_honest_asks(struct o2_net_liar *net, char *why)
{
	bool held = false;

	snprintf(why, O2_VICTIM_WHY_BYTES, "no memory for an honest node");
	if (open_endpoint(net) != 0)
		return false;
	o2_endpoint_clock(&net->endpoint, o2_monotonic_ms());
	if (!ping(net))
		snprintf(why, O2_VICTIM_WHY_BYTES, "an honest node's ping ends with %s",
			 strerror(-net->status));
	else if (net->options.served && !moves_bytes(net))
		snprintf(why, O2_VICTIM_WHY_BYTES,
			 "an honest node's PUT and GET end with %s, or with wrong bytes",
			 strerror(-net->status));
	else
		held = true;
	o2_endpoint_close(&net->endpoint);
	return held;
}
