/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>

#include "lnd/node/node_internal.h"

/*
 * A link: one connection to a peer, and the connection manager's part of it.  Nothing is freed while events are
 * handled; o2_node_work frees links that are DISCONNECTED.
 */

static int on_match(void *context, const struct o2_msg *request, uint64_t sink_bytes,
		    struct o2_transfer_memory *memory)
{
	struct o2_link *link = context;

	return link->node->ops.match(link->node->context, link->peer->nid, request, sink_bytes, memory);
}

static int on_receive(void *context, const struct o2_msg *msg)
{
	struct o2_link *link = context;

	if (link->node->ops.receive == NULL)
		return 0;
	return link->node->ops.receive(link->node->context, link->peer->nid, msg);
}

static void on_checksum_shown(void *context, enum o2_cksum_flavour flavour)
{
	struct o2_link *link = context;

	link->peer->cksum_flavour = flavour;
}

static void tell_down(struct o2_link *link, const struct o2_transfer_fault *fault)
{
	if (link->node->ops.down != NULL)
		link->node->ops.down(link->node->context, link->peer->nid, fault);
}

bool o2_link_is_attempt(const struct o2_link *link)
{
	return link->state == O2_LINK_ACTIVE_CONNECT || link->state == O2_LINK_PASSIVE_WAIT;
}

/* The connection has ended, because of its own fault or because we closed it. */
static void on_closed(void *context, const struct o2_transfer_fault *fault)
{
	struct o2_link *link = context;
	struct o2_node *node = link->node;

	if (link->state == O2_LINK_ESTABLISHED) {
		link->state = O2_LINK_CLOSING;
		link->deadline_ms = o2_clock_ms(&node->ni->clock) + o2_node_connect_ms(node);
		o2_watch_tell_cm(node->ni->config.watch, link->conn, O2_WATCHED_DISCONNECT, true, NULL, 0);
		node->cm->ops->disconnect(link->id);
		tell_down(link, fault);
	} else if (o2_link_is_attempt(link)) {
		o2_link_failed(link, fault);
	}
}

struct o2_link *o2_link_new(struct o2_peer *peer, struct o2_conn_params *params, struct o2_error *error)
{
	static const struct o2_conn_ops ops = {
		.match = on_match,
		.receive = on_receive,
		.done = o2_op_done,
		.checksum_shown = on_checksum_shown,
		.closed = on_closed,
	};
	struct o2_node *node = peer->node;
	struct o2_conn_config config = node->config.conn;
	struct o2_link *link = calloc(1, sizeof(*link));
	struct o2_conn_address address;

	if (link == NULL) {
		o2_fail(error, -ENOMEM, "node/memory", "link", sizeof(*link));
		return NULL;
	}
	/* The tunables refer to the node's own depth, not to the negotiated one. */
	if (config.peer_tx_credits == 0)
		config.peer_tx_credits = config.queue_depth;
	config.version = params->version;
	config.queue_depth = params->queue_depth;
	config.max_frags = params->max_frags;
	if (o2_conn_create(node->ni, &config, &ops, link, &link->conn, error) != 0) {
		free(link);
		return NULL;
	}
	o2_conn_get_address(link->conn, &address);
	if (address.queue_depth < o2_connreq_queue_depth_min(params->version)) {
		o2_refuse_value(error, -ENOMEM, "node/device-depth", "queue_depth", address.queue_depth,
				o2_connreq_queue_depth_min(params->version));
		o2_link_free(link);
		return NULL;
	}
	/* The device supports less, and will not support more for the next attempt. */
	if (address.queue_depth < params->queue_depth && address.queue_depth < peer->queue_depth)
		peer->queue_depth = (uint16_t)address.queue_depth;
	params->queue_depth = (uint16_t)address.queue_depth;
	link->node = node;
	link->peer = peer;
	link->params = *params;
	link->deadline_ms = o2_clock_ms(&node->ni->clock) + o2_node_connect_ms(node);
	LIST_INSERT_HEAD(&peer->links, link, entry);
	return link;
}

struct o2_cm_param o2_link_param(const struct o2_link *link, const uint8_t *bytes, size_t length_bytes)
{
	const struct o2_conn_config *config = &link->node->config.conn;

	return (struct o2_cm_param){
		.qp = o2_conn_qp(link->conn),
		.retry_count = config->retry_count,
		.rnr_retry_count = config->rnr_retry_count,
		.ack_timeout = config->ack_timeout,
		.private_data = bytes,
		.private_bytes = length_bytes,
	};
}

int o2_link_set_peer(struct o2_link *link, const struct o2_conn_params *agreed, uint64_t incarnation,
		     struct o2_error *error)
{
	const struct o2_conn_peer peer = {
		.nid = link->peer->nid,
		.incarnation = incarnation,
		.version = agreed->version,
		.queue_depth = agreed->queue_depth,
		.max_frags = agreed->max_frags,
		.max_msg_bytes = agreed->max_msg_size,
		.cksum_flavour = link->peer->cksum_flavour,
	};

	link->params = *agreed;
	link->incarnation = incarnation;
	return o2_conn_set_peer(link->conn, &peer, error);
}

/* The link stops being an attempt. */
static void leave_attempt(struct o2_link *link)
{
	if (link->state == O2_LINK_ACTIVE_CONNECT)
		link->peer->connecting--;
	else if (link->state == O2_LINK_PASSIVE_WAIT)
		link->peer->accepting--;
}

/*
 * A connection came up but is closing already.  Operations must not be left waiting: o2_peer_failed keeps them for
 * another attempt, or ends them.
 */
static void lost_at_once(struct o2_peer *peer, const struct o2_transfer_fault *why)
{
	const struct o2_transfer_fault fault = o2_fault_closed(why);

	o2_peer_failed(peer, &fault);
}

void o2_link_up(struct o2_link *link)
{
	struct o2_peer *peer = link->peer;
	struct o2_node *node = link->node;

	peer->version = link->params.version;
	peer->incarnation = link->incarnation;
	peer->attempts = 0;
	peer->races = 0;
	o2_peer_close_stale(peer, link->incarnation, link->params.version);
	/* The application was told of the stale links, and may have closed the peer in that call. */
	if (link->state == O2_LINK_DISCONNECTED)
		return;
	leave_attempt(link);
	link->asking = false;
	link->state = O2_LINK_ESTABLISHED;
	o2_conn_establish(link->conn);
	if (link->state == O2_LINK_ESTABLISHED && node->ops.up != NULL)
		node->ops.up(node->context, peer->nid);
	if (link->state == O2_LINK_ESTABLISHED)
		o2_peer_flush(peer, link);
	if (!STAILQ_EMPTY(&peer->waiting))
		lost_at_once(peer, o2_conn_get_fault(link->conn));
}

void o2_link_abort(struct o2_link *link, const struct o2_error *error)
{
	const struct o2_transfer_fault fault = o2_fault_of(O2_FAULT_PEER_MESSAGE, error->code, error);
	struct o2_node *node = link->node;

	leave_attempt(link);
	link->state = O2_LINK_CLOSING;
	link->deadline_ms = o2_clock_ms(&node->ni->clock) + o2_node_connect_ms(node);
	node->cm->ops->disconnect(link->id);
	o2_conn_end(link->conn, &fault);
	tell_down(link, &fault);
	lost_at_once(link->peer, &fault);
}

void o2_link_drop(struct o2_link *link, int code)
{
	leave_attempt(link);
	o2_link_parted(link);
	o2_conn_close(link->conn, code);
}

void o2_link_failed(struct o2_link *link, const struct o2_transfer_fault *why)
{
	/* Copy: *why may be part of the connection.  code must not be 0: an attempt never ends in good order. */
	const struct o2_transfer_fault fault = why->code != 0 ? *why : o2_fault_closed(why);

	o2_link_drop(link, fault.code);
	tell_down(link, &fault);
	o2_peer_failed(link->peer, &fault);
}

void o2_link_close(struct o2_link *link, const struct o2_transfer_fault *fault)
{
	if (link->state < O2_LINK_ESTABLISHED)
		o2_link_failed(link, fault);
	else if (link->state == O2_LINK_ESTABLISHED)
		o2_conn_end(link->conn, fault);
}

void o2_link_lost(struct o2_link *link, const struct o2_transfer_fault *fault)
{
	o2_link_close(link, fault);
	/* Without a device nobody can confirm the disconnect, so do not wait for that. */
	if (link->state == O2_LINK_CLOSING)
		o2_link_parted(link);
}

void o2_link_parted(struct o2_link *link)
{
	if (link->id != NULL)
		link->node->cm->ops->destroy(link->id);
	link->id = NULL;
	link->state = O2_LINK_DISCONNECTED;
}

void o2_link_free(struct o2_link *link)
{
	o2_conn_destroy(link->conn);
	free(link);
}
