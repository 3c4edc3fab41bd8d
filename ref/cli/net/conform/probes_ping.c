/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "base/monotonic.h"
#include "cli/net/conform/conform.h"
#include "cli/net/conform/listen.h"
#include "wire/nid.h"

/* Probes that any node answers, whatever its application. */

#define PINGS "peer.md#ping"

static void ping_once(struct o2_conform *conform, const struct o2_conform_probe *probe)
{
	(void)probe;
	if (o2_conform_start(conform, NULL))
		o2_conform_ping(conform, NULL);
}

/* 0@lo must come first; the NID that was asked must be among the others, and up. */
static void ping_info(struct o2_conform *conform, const struct o2_conform_probe *probe)
{
	const struct o2_ping_info *info = &conform->info;
	uint32_t at = 0;

	(void)probe;
	if (!o2_conform_start(conform, NULL) || !o2_conform_ping(conform, &conform->info))
		return;
	while (at < info->nnis && at < O2_PING_MAX_NIS && info->ni[at].nid != conform->options->peer)
		at++;
	if (info->nnis == 0 || o2_nid_lnd(info->ni[0].nid) != O2_LND_LO)
		o2_conform_find(conform, "ns_nid of the first of %" PRIu32 " is not 0@lo", info->nnis);
	else if (at == info->nnis || at == O2_PING_MAX_NIS)
		o2_conform_find(conform, "the NID that was asked is not among its %" PRIu32, info->nnis);
	else if (info->ni[at].status != O2_PING_NI_UP)
		o2_conform_find(conform,
				"ns_status of the NID that was asked is 0x%" PRIx32 ", expected 0x%" PRIx32,
				info->ni[at].status, O2_PING_NI_UP);
}

static void ping_many(struct o2_conform *conform, const struct o2_conform_probe *probe)
{
	if (!o2_conform_start(conform, NULL))
		return;
	for (uint32_t i = 0; i < probe->value && o2_conform_ping(conform, NULL); i++)
		o2_conform_forget(conform);
}

/* `count` pings at once, until all have ended. */
static bool ping_at_once(struct o2_conform *conform, uint32_t count)
{
	struct o2_conform_move move = o2_conform_move(conform, O2_PING_SINK_BYTES);

	move.ping = true;
	for (uint32_t i = 0; i < count; i++)
		if (o2_conform_begin(conform, true, &move) == NULL)
			return false;
	return o2_conform_wait(conform);
}

static bool were_answered(struct o2_conform *conform, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (conform->op[i].status != 0)
			return o2_conform_moved(conform, &conform->op[i]);
	return true;
}

static bool pings_at_once(struct o2_conform *conform, uint32_t count)
{
	return ping_at_once(conform, count) && were_answered(conform, count);
}

/* `count` pings, as many at once as can be in flight. */
static bool pings(struct o2_conform *conform, uint32_t count)
{
	bool ok = true;

	while (ok && count > 0) {
		const uint32_t some = count < O2_NET_MAX_IN_FLIGHT ? count : O2_NET_MAX_IN_FLIGHT;

		ok = pings_at_once(conform, some);
		if (ok)
			o2_conform_forget(conform);
		count -= some;
	}
	return ok;
}

static void ping_together(struct o2_conform *conform, const struct o2_conform_probe *probe)
{
	if (o2_conform_start(conform, NULL))
		pings_at_once(conform, probe->value);
}

/* Push our ping info, as nodes with discovery do.  A peer that takes no part in discovery may be silent. */
static void push(struct o2_conform *conform, const struct o2_conform_probe *probe)
{
	struct o2_conform_move move = o2_conform_move(conform, O2_PING_INFO_BYTES);
	const struct o2_ping_info own = o2_ping_info_make(conform->options->nid, O2_LNET_PID_KERNEL,
							  O2_PING_NO_DISCOVERY_FEATURES, 1);
	uint8_t bytes[O2_PING_INFO_BYTES];
	const struct o2_conform_op *op;

	(void)probe;
	(void)o2_ping_encode(&own, bytes, sizeof(bytes));
	move.ping = true;
	move.bytes = bytes;
	if (!o2_conform_start(conform, NULL))
		return;
	op = o2_conform_begin(conform, false, &move);
	if (op == NULL)
		return;
	if (o2_conform_answered(conform, op))
		o2_conform_moved(conform, op);
	else if ((conform->info.features & O2_PING_DISCOVERY) != 0)
		o2_conform_find(conform, "it offers discovery, and a push of %u bytes is not acknowledged",
				O2_PING_INFO_BYTES);
	else
		o2_conform_skip(conform, "it does not offer discovery, and is silent");
}

static void checksum(struct o2_conform *conform, const struct o2_conform_probe *probe)
{
	struct o2_node_config node = o2_conform_node(conform);

	node.conn.cksum_auto = false;
	node.conn.cksum_flavour = (enum o2_cksum_flavour)probe->value;
	if (o2_conform_start(conform, &node))
		o2_conform_ping(conform, NULL);
}

/* Check the sums that the peer sends, also over the payload of its answer. */
static void checksum_of_payload(struct o2_conform *conform, const struct o2_conform_probe *probe)
{
	struct o2_node_config node = o2_conform_node(conform);

	(void)probe;
	node.conn.wire.tolerate_immediate_checksum = false;
	if (o2_conform_start(conform, &node) && o2_conform_ping(conform, NULL) &&
	    !o2_conform_listener_summed(conform->listener))
		o2_conform_skip(conform, "it sends no checksums");
}

/* A connection with another queue depth: twice as many pings. */
static void flow(struct o2_conform *conform, const struct o2_conform_probe *probe)
{
	struct o2_node_config node = o2_conform_node(conform);

	node.conn.queue_depth = probe->value;
	if (o2_conform_start(conform, &node))
		pings(conform, 2 * probe->value);
}

static void version_1(struct o2_conform *conform, const struct o2_conform_probe *probe)
{
	struct o2_node_config node = o2_conform_node(conform);
	const struct o2_transfer_fault *fault = &conform->op[0].fault;
	const struct o2_conn *conn;
	struct o2_conn_view view;

	node.conn.version = (uint16_t)probe->value;
	if (!o2_conform_start(conform, &node) || !ping_at_once(conform, 2 * O2_QUEUE_DEPTH_V1))
		return;
	/* As connect/version-1. */
	if (fault->side == O2_FAULT_REJECTED &&
	    (fault->reject_why == O2_REJECT_CONN_UNCOMPAT || fault->reject_why == O2_REJECT_FATAL)) {
		o2_conform_skip(conform, "it does not speak it: rejected: %s (reason %u)",
				o2_reject_why_name(fault->reject_why), fault->reject_why);
		return;
	}
	if (!were_answered(conform, 2 * O2_QUEUE_DEPTH_V1))
		return;
	conn = o2_node_conn(conform->session.endpoint.node, conform->options->peer, 0);
	if (conn != NULL)
		o2_conn_view(conn, &view);
	if (conn == NULL || view.flow.version != probe->value)
		o2_conform_skip(conform, "it did not come to a connection in that version");
}

static void big_endian(struct o2_conform *conform, const struct o2_conform_probe *probe)
{
	struct o2_node_config node = o2_conform_node(conform);

	(void)probe;
	node.conn.order = O2_BIG_ENDIAN;
	if (o2_conform_start(conform, &node))
		pings(conform, 2 * node.conn.queue_depth);
}

static void two_connections(struct o2_conform *conform, const struct o2_conform_probe *probe)
{
	struct o2_node_config node = o2_conform_node(conform);
	struct o2_peer_view view;
	uint64_t end_ms;

	node.conns_per_peer = probe->value;
	if (!o2_conform_start(conform, &node) || !pings_at_once(conform, 4 * probe->value))
		return;
	end_ms = o2_monotonic_ms() + conform->options->timeout_ms;
	/* All pings may be answered on the first connection, before the others are established. */
	do
		o2_node_peer(conform->session.endpoint.node, conform->options->peer, &view);
	while (view.established < probe->value && view.connecting + view.attempts_due > 0 &&
	       o2_monotonic_ms() < end_ms && o2_conform_step(conform));
	if (view.established < probe->value)
		o2_conform_skip(conform, "it has %" PRIu32 " connections by the end", view.established);
}

static void reconnect(struct o2_conform *conform, const struct o2_conform_probe *probe)
{
	for (uint32_t i = 0; i < probe->value && !o2_conform_said(conform); i++) {
		if (o2_conform_start(conform, NULL))
			o2_conform_ping(conform, NULL);
		o2_conform_stop(conform);
	}
}

#define FLOW(depth)                                                                                 \
	{                                                                                           \
		"flow/depth-" #depth, "twice as many messages as credits, with a depth of " #depth, \
			"transport.md#flow-control", .run = flow, .value = depth                    \
	}

const struct o2_conform_probe o2_conform_ping_probes[] = {
	{"ping/one", "a ping is answered with ping info", PINGS, .run = ping_once},
	{"ping/info", "it names 0@lo first, and the NID that was asked, which is up", PINGS,
	 .run = ping_info},
	{"ping/twenty", "pings one after another are answered", PINGS, .run = ping_many, .value = 20},
	{"ping/many", "pings at once are all answered", "transport.md#flow-control", .run = ping_together,
	 .value = 64},
	{"ping/push", "ping info that is PUT to it is acknowledged, if it offers discovery", PINGS,
	 .run = push},
	{"connect/again", "a connection that has ended can be made again", "connection.md#ending",
	 .run = reconnect, .value = 20},
	{"connect/two", "a node may have two connections", "connection.md#caps", .run = two_connections,
	 .value = 2},
	{"checksum/payload", "the checksum of an IMMEDIATE is that of the bytes that arrive",
	 "wire.md#checksum", .kernel_otherwise = true, .run = checksum_of_payload},
	{"checksum/unsigned", "messages with sums of unsigned chars are taken", "wire.md#checksum",
	 .kernel_otherwise = true, .run = checksum, .value = O2_CKSUM_UNSIGNED},
	{"checksum/signed", "messages with sums of signed chars are taken", "wire.md#checksum",
	 .kernel_otherwise = true, .run = checksum, .value = O2_CKSUM_SIGNED},
	{"flow/version-1", "a connection in version 0x11 keeps its last credit for a NOOP",
	 "transport.md#flow-control", .run = version_1, .value = O2_MSG_VERSION_1},
	{"flow/big-endian", "messages in the other byte order are understood", "wire.md#byte-order",
	 .run = big_endian},
	FLOW(2),
	FLOW(3),
	FLOW(4),
	FLOW(8),
	FLOW(16),
	FLOW(255),
	{0},
};
