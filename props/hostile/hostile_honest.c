/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/monotonic.h"
#include "lnet/ping.h"
#include "props/hostile/hostile_net.h"
#include "props/hostile/hostile_quirk.h"

/*
 * After each lie, an honest node with the liar's NID, or honest_address, pings the same peer and, if the peer
 * serves memory, PUTs bytes and GETs them back.  Before the first lie it also GETs what is there, and moves
 * bytes in IMMEDIATEs, so that the peer's own defects are reported first.
 */

#define PING_AT	     (2u * 4096u) /* after LNet's own pages */
#define TIMEOUT_MS   20000u
#define HONEST_BYTES 9000u
#define SMALL_BYTES  3000u /* fits into an IMMEDIATE in both directions */
#define SMALL_FIRST  3000u
#define SMALL_OTHER  5000u
#define FAULT_CHARS  140

static void done(void *context, const struct o2_lnet_result *result)
{
	struct o2_net_liar *net = context;

	net->waiting = false;
	net->status = result->status;
	net->length_bytes = result->length_bytes;
	net->fault = result->fault != NULL ? *result->fault : o2_fault_of(O2_FAULT_NONE, 0, NULL);
}

static int open_endpoint(struct o2_net_liar *net)
{
	static const struct o2_lnet_ops ops = {.done = done};
	struct o2_node_config node = O2_NODE_DEFAULTS;
	struct o2_lnet_config lnet = O2_LNET_DEFAULTS;
	struct o2_ni *ni = &net->h.place[O2_NI_FRIEND].ni;

	node.port = net->options.port;
	node.listen = false;
	node.use_privileged_port = geteuid() == 0;
	node.conn.timeout_ms = TIMEOUT_MS;
	o2_hostile_bend_conn(&node.conn);
	lnet.nid = ni->config.nid;
	lnet.interface_cookie = o2_monotonic_ms();
	lnet.response_timeout_ms = TIMEOUT_MS;
	return o2_endpoint_open(ni, net->h.place[O2_NI_FRIEND].cm, &node, &lnet, &ops, net, &net->endpoint,
				NULL);
}

/* Write to why the operation, its result, and who ended it and how.  Returns false. */
static bool ended_badly(const struct o2_net_liar *net, const char *what, char *why)
{
	char fault[2 * O2_VICTIM_WHY_BYTES] = "";

	if (net->fault.code != 0)
		o2_fault_text(&net->fault, fault, sizeof(fault));
	snprintf(why, O2_VICTIM_WHY_BYTES, "an honest node's %s ends with %s%s%.*s", what,
		 strerror(-net->status), fault[0] != '\0' ? ": " : "", FAULT_CHARS, fault);
	return false;
}

static bool fell_short(const struct o2_net_liar *net, const char *what, uint32_t asked_bytes, char *why)
{
	snprintf(why, O2_VICTIM_WHY_BYTES,
		 "an honest node's %s of %" PRIu32 " bytes: the peer answers with success, and %" PRIu64
		 " bytes",
		 what, asked_bytes, net->length_bytes);
	return false;
}

/* Wait for the operation that expect() announced; started: the result of its start.  True: it succeeded. */
static bool ends(struct o2_net_liar *net, int started, const char *what, char *why)
{
	uint64_t end_ms = o2_monotonic_ms() + 2 * TIMEOUT_MS;

	if (started != 0) {
		net->status = started;
		return ended_badly(net, what, why);
	}
	/* The operation's own deadlines come before this one. */
	while (net->waiting && o2_monotonic_ms() < end_ms) {
		o2_endpoint_clock(&net->endpoint, o2_monotonic_ms());
		if (o2_net_liar_pump(net) + o2_node_progress(net->endpoint.node) == 0)
			sched_yield();
	}
	if (net->waiting)
		net->status = -ETIMEDOUT;
	return net->status == 0 || ended_badly(net, what, why);
}

static void expect(struct o2_net_liar *net)
{
	/* The operation may end during its start. */
	net->waiting = true;
	net->length_bytes = 0;
	net->fault = o2_fault_of(O2_FAULT_NONE, 0, NULL);
}

/* Ping as LNet does: with a size that fits into one IMMEDIATE, so that ping and answer are IMMEDIATEs. */
static bool ping(struct o2_net_liar *net, char *why)
{
	struct o2_lnet_target target = {
		.nid = net->options.peer, .portal = O2_PING_PORTAL, .match_bits = O2_PING_MATCH_BITS};
	struct o2_transfer_memory sink =
		o2_hostile_memory(&net->h.friend.end, 0, PING_AT, O2_PING_SINK_BYTES, O2_REG_FASTREG);
	const uint8_t *bytes = net->h.place[O2_NI_FRIEND].ni.arena.memory + PING_AT;
	struct o2_ping_info info;
	struct o2_error error;
	char text[O2_VICTIM_WHY_BYTES];

	expect(net);
	if (!ends(net, o2_lnet_get(net->endpoint.lnet, &target, &sink, NULL, NULL), "ping", why))
		return false;
	if (o2_ping_decode(bytes, net->length_bytes, &info, &error) >= 0)
		return true;
	o2_error_text(&error, text, sizeof(text));
	snprintf(why, O2_VICTIM_WHY_BYTES,
		 "an honest node's ping, which asks for %u bytes at most, is answered with %" PRIu64
		 " that are no ping info: %.90s",
		 O2_PING_SINK_BYTES, net->length_bytes, text);
	return false;
}

static struct o2_lnet_target place(const struct o2_net_liar *net, uint32_t offset)
{
	return (struct o2_lnet_target){.nid = net->options.peer,
				       .portal = net->options.portal,
				       .match_bits = net->options.match_bits,
				       .offset = offset,
				       .ack = true};
}

/* PUT from the honest bytes, or GET into the sink; all nob bytes must move. */
static bool move(struct o2_net_liar *net, bool puts, uint32_t offset, uint32_t nob, char *why)
{
	const char *what = puts ? "PUT" : "GET";
	struct o2_lnet_target target = place(net, offset);
	struct o2_transfer_memory memory = o2_hostile_memory(
		&net->h.friend.end, puts ? 1 : 2, puts ? O2_HONEST_AT : O2_GET_AT, nob, O2_REG_FASTREG);
	int rc;

	expect(net);
	rc = puts ? o2_lnet_put(net->endpoint.lnet, &target, &memory, NULL, NULL)
		  : o2_lnet_get(net->endpoint.lnet, &target, &memory, NULL, NULL);
	return ends(net, rc, what, why) && (net->length_bytes == nob || fell_short(net, what, nob, why));
}

/* Report how many bytes of a successful GET were never written; true: none. */
static bool wrote_all(uint32_t nob, uint32_t missed, char *why)
{
	snprintf(why, O2_VICTIM_WHY_BYTES,
		 "an honest node's GET of %" PRIu32 " bytes: the peer reports %" PRIu32
		 " bytes and wrote %" PRIu32 " of them",
		 nob, nob, nob - missed);
	return missed == 0;
}

/* The contents are unknown before the first PUT: GET twice, and a byte that kept both fills was not written. */
static bool gets_all(struct o2_net_liar *net, char *why)
{
	uint8_t *got = net->h.place[O2_NI_FRIEND].ni.arena.memory + O2_GET_AT;
	uint8_t *first = net->h.place[O2_NI_FRIEND].ni.arena.memory + O2_HONEST_AT;
	uint32_t missed = 0;

	memset(got, 0, HONEST_BYTES);
	if (!move(net, false, 0, HONEST_BYTES, why))
		return false;
	memcpy(first, got, HONEST_BYTES);
	memset(got, 0xff, HONEST_BYTES);
	if (!move(net, false, 0, HONEST_BYTES, why))
		return false;
	for (uint32_t i = 0; i < HONEST_BYTES; i++)
		missed += first[i] == 0 && got[i] == 0xff;
	return wrote_all(HONEST_BYTES, missed, why);
}

/* The initial value of a sink byte where `byte` is expected. */
static uint8_t other(uint8_t byte)
{
	return (uint8_t)(0xffu - byte);
}

static bool came_back(const uint8_t *got, const uint8_t *bytes, uint32_t nob, char *why)
{
	uint32_t missed = 0, at = 0;

	while (at < nob && got[at] == bytes[at])
		at++;
	if (at == nob)
		return true;
	for (uint32_t i = at; i < nob; i++)
		missed += got[i] == other(bytes[i]);
	if (got[at] == other(bytes[at]))
		return wrote_all(nob, missed, why);
	snprintf(why, O2_VICTIM_WHY_BYTES,
		 "an honest node's GET of the %" PRIu32 " bytes that it has PUT: byte %" PRIu32
		 " is 0x%02x, not 0x%02x",
		 nob, at, got[at], bytes[at]);
	return false;
}

/* PUT bytes and GET them back. */
static bool moves_bytes(struct o2_net_liar *net, uint32_t offset, uint32_t nob, char *why)
{
	uint8_t *got = net->h.place[O2_NI_FRIEND].ni.arena.memory + O2_GET_AT;
	uint8_t *bytes = net->h.place[O2_NI_FRIEND].ni.arena.memory + O2_HONEST_AT;

	net->h.tries++;
	o2_honest_fill(bytes, nob, net->h.tries);
	for (uint32_t i = 0; i < nob; i++)
		got[i] = other(bytes[i]);
	return move(net, true, offset, nob, why) && move(net, false, offset, nob, why) &&
	       came_back(got, bytes, nob, why);
}

/* Wherever the peer's memory begins in a page, one of the two small transfers crosses a page boundary. */
static bool begins(struct o2_net_liar *net, char *why)
{
	return gets_all(net, why) && moves_bytes(net, SMALL_FIRST, SMALL_BYTES, why) &&
	       moves_bytes(net, SMALL_OTHER, SMALL_BYTES, why);
}

/* The liar may request as many fragments as the honest node was granted: the peer must not reject that. */
static void learn(struct o2_net_liar *net)
{
	struct o2_peer_view view;

	o2_node_peer(net->endpoint.node, net->options.peer, &view);
	net->h.liar.max_frags = (uint16_t)view.max_frags;
}

bool o2_honest_asks(struct o2_net_liar *net, bool first, char *why)
{
	bool held;

	snprintf(why, O2_VICTIM_WHY_BYTES, "no memory for an honest node");
	if (open_endpoint(net) != 0)
		return false;
	o2_endpoint_clock(&net->endpoint, o2_monotonic_ms());
	held = ping(net, why);
	if (held && first)
		learn(net);
	if (held && net->options.served)
		held = (!first || begins(net, why)) && moves_bytes(net, 0, HONEST_BYTES, why);
	o2_endpoint_close(&net->endpoint);
	return held;
}
