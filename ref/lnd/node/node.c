/* SPDX-License-Identifier: MIT */
#include "lnd/node/node.h"

#include <errno.h>
#include <stdlib.h>

#include "lnd/node/node_internal.h"

uint32_t o2_node_connect_ms(const struct o2_node *node)
{
	uint32_t quarter_ms = node->config.conn.timeout_ms / 4;

	return quarter_ms > O2_CONNECT_MIN_MS ? quarter_ms : O2_CONNECT_MIN_MS;
}

uint64_t o2_node_waiting_ms(const struct o2_node *node)
{
	return (uint64_t)o2_node_connect_ms(node) + O2_WAITING_EXTRA_MS;
}

/* --- events of the connection manager --- */

/* The connection manager could not connect.  The fault's error holds the event's own errno. */
static void fail_attempt(struct o2_link *link, int code, const char *rule, const struct o2_cm_event *event)
{
	struct o2_transfer_fault fault = o2_fault_of(O2_FAULT_CONNECT, code, NULL);

	if (!o2_link_is_attempt(link))
		return;
	o2_fail(&fault.error, event->code, rule, "errno", (uint64_t)-event->code);
	o2_link_failed(link, &fault);
}

/*
 * The peer has ended the connection: with a DREQ, or with a reject because it gave up before it heard that we are
 * ready.  This is a failure of an attempt, but in order for an established connection.
 */
static void on_ended(struct o2_link *link, const struct o2_cm_event *event)
{
	const bool reject = event->type == O2_CM_REJECTED;
	struct o2_transfer_fault fault = o2_fault_of(reject ? O2_FAULT_REJECTED : O2_FAULT_PEER_CLOSED,
						     o2_link_is_attempt(link) ? -ECONNRESET : 0, NULL);

	fault.cm_reason = event->reason;
	if (o2_link_is_attempt(link)) {
		o2_fail(&fault.error, fault.code, reject ? "cm/rejected" : "cm/disconnected", "cm reason",
			event->reason);
		o2_link_failed(link, &fault);
		return;
	}
	if (link->state == O2_LINK_ESTABLISHED)
		o2_conn_end(link->conn, &fault);
	if (link->state == O2_LINK_CLOSING)
		o2_link_parted(link);
}

/* End everything at once: the device may wait for that before it goes away. */
static void on_device_lost(struct o2_node *node)
{
	struct o2_peer *peer;
	struct o2_link *link;
	struct o2_transfer_fault fault = o2_fault_of(O2_FAULT_DEVICE, -ENODEV, NULL);

	o2_fail(&fault.error, -ENODEV, "node/device-lost", "device", 0);
	node->lost = true;
	LIST_FOREACH(peer, &node->peers, entry) {
		peer->attempts_due = 0;
		LIST_FOREACH(link, &peer->links, entry)
			o2_link_lost(link, &fault);
		o2_peer_fail_waiting(peer, &fault);
	}
}

static void on_cm_event(void *context, const struct o2_cm_event *event)
{
	/* A request has no link yet (its context is NULL), and a device loss has no id. */
	struct o2_link *link = event->type == O2_CM_DEVICE_LOST ? NULL : event->id->context;

	switch (event->type) {
	case O2_CM_REQUEST:
		o2_node_on_request(context, event);
		break;
	case O2_CM_DEVICE_LOST:
		on_device_lost(context);
		break;
	case O2_CM_ESTABLISHED:
		if (link->state == O2_LINK_ACTIVE_CONNECT)
			o2_node_on_reply(link, event);
		else if (link->state == O2_LINK_PASSIVE_WAIT)
			o2_link_up(link);
		break;
	case O2_CM_REJECTED:
		if (link->state == O2_LINK_ACTIVE_CONNECT)
			o2_node_on_reject(link, event);
		else
			on_ended(link, event);
		break;
	case O2_CM_UNRESOLVED:
		fail_attempt(link, -EHOSTUNREACH, "cm/unresolved", event);
		break;
	case O2_CM_UNREACHABLE:
		fail_attempt(link, -ENETDOWN, "cm/unreachable", event);
		break;
	case O2_CM_CONNECT_ERROR:
		fail_attempt(link, -ENOTCONN, "cm/connect-error", event);
		break;
	case O2_CM_DISCONNECTED:
		if (link->state == O2_LINK_ESTABLISHED)
			o2_watch_tell_cm(link->node->ni->config.watch, link->conn, O2_WATCHED_DISCONNECT,
					 false, NULL, 0);
		on_ended(link, event);
		break;
	}
}

/* --- life --- */

static int check_config(const struct o2_node_config *config, struct o2_error *error)
{
	const struct {
		const char *field;
		uint32_t value, low, high;
	} ranges[] = {
		{"queue_depth", config->conn.queue_depth, O2_QUEUE_DEPTH_MIN, O2_MAX_QUEUE_DEPTH},
		{"max_frags", config->conn.max_frags, 1, O2_MAX_FRAGS},
		{"version", config->conn.version, O2_MSG_VERSION_1, O2_MSG_VERSION_2},
		{"conns_per_peer", config->conns_per_peer, 1, O2_MAX_CONNS_PER_PEER},
		{"max_conns_per_peer", config->max_conns_per_peer, config->conns_per_peer, UINT32_MAX},
		{"max_peers", config->max_peers, 1, UINT32_MAX},
		{"max_waiting", config->max_waiting, 1, UINT32_MAX},
		{"port", config->port, 1, UINT16_MAX},
	};
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < sizeof(ranges) / sizeof(ranges[0]); i++)
		rc = o2_refuse_range(error, -EINVAL, "node/config", ranges[i].field, ranges[i].value,
				     ranges[i].low, ranges[i].high);
	return rc;
}

int o2_node_create(struct o2_ni *ni, struct o2_cm *cm, const struct o2_node_config *config,
		   const struct o2_node_ops *ops, void *context, struct o2_node **node_out,
		   struct o2_error *error)
{
	struct o2_node *node;
	int rc = check_config(config, error);

	if (rc != 0)
		return rc;
	node = calloc(1, sizeof(*node));
	if (node == NULL)
		return o2_fail(error, -ENOMEM, "node/memory", "node", sizeof(*node));
	node->ni = ni;
	node->cm = cm;
	node->config = *config;
	node->ops = *ops;
	node->context = context;
	node->self = (struct o2_connreq_self){
		.nid = ni->config.nid,
		.incarnation = ni->config.incarnation,
		.order = config->conn.order,
		.cksum_flavour = config->conn.cksum_flavour,
		.version = config->conn.version,
		.queue_depth = (uint16_t)config->conn.queue_depth,
		.max_frags = (uint16_t)config->conn.max_frags,
		.registers = config->registers,
		.up = config->listen,
		.require_privileged_port = config->require_privileged_port,
		.require_checksum = config->conn.wire.require_checksum,
		.only_flavour = config->conn.wire.only_flavour,
		.any_lnd = config->conn.wire.any_lnd,
		.bind_nid_to_address = config->bind_nid_to_address,
		.ranking = config->ranking,
		.max_peers = config->max_peers,
		.max_conns_per_peer = config->max_conns_per_peer,
	};
	if (config->listen)
		rc = cm->ops->listen(cm, config->port, error);
	if (rc != 0) {
		free(node);
		return rc;
	}
	cm->handler = on_cm_event;
	cm->context = node;
	*node_out = node;
	return 0;
}

void o2_node_set_up(struct o2_node *node, bool up)
{
	node->self.up = up && node->config.listen;
}

/* --- time and work --- */

static void expire_attempt(struct o2_link *link, uint64_t now_ms)
{
	const uint64_t limit_ms = o2_node_connect_ms(link->node);
	const struct o2_transfer_fault fault =
		o2_fault_late(O2_WAIT_CONNECTION, -ENETDOWN, "node/connect-timeout",
			      now_ms - link->deadline_ms + limit_ms, limit_ms);

	o2_link_failed(link, &fault);
}

static void check_link(struct o2_link *link)
{
	const uint64_t now_ms = o2_clock_ms(&link->node->ni->clock);
	const bool late = link->deadline_ms <= now_ms;

	if (link->state == O2_LINK_ESTABLISHED)
		o2_conn_check_time(link->conn);
	else if (late && o2_link_is_attempt(link))
		expire_attempt(link, now_ms);
	else if (late && link->state == O2_LINK_CLOSING)
		o2_link_parted(link);
}

/* End operations that have waited too long for a connection to the peer. */
static void expire_waiting(struct o2_peer *peer)
{
	const uint64_t now_ms = o2_clock_ms(&peer->node->ni->clock);
	const struct o2_node_op *op;

	while ((op = STAILQ_FIRST(&peer->waiting)) != NULL && op->deadline_ms <= now_ms) {
		const uint64_t limit_ms = o2_node_waiting_ms(peer->node);
		const struct o2_transfer_fault fault =
			o2_fault_late(O2_WAIT_CONNECTION, -ETIMEDOUT, "node/waiting",
				      now_ms - op->deadline_ms + limit_ms, limit_ms);

		o2_peer_fail_first(peer, &fault);
	}
}

void o2_node_clock(struct o2_node *node, uint64_t now_ms)
{
	struct o2_peer *peer;
	struct o2_link *link;

	o2_clock_tell(&node->ni->clock, now_ms);
	LIST_FOREACH(peer, &node->peers, entry) {
		LIST_FOREACH(link, &peer->links, entry)
			check_link(link);
		expire_waiting(peer);
	}
	o2_node_work(node);
}

int o2_node_progress(struct o2_node *node)
{
	struct o2_peer *peer;
	struct o2_link *link;
	int handled = 0;

	LIST_FOREACH(peer, &node->peers, entry) {
		LIST_FOREACH(link, &peer->links, entry) {
			int rc = link->state < O2_LINK_CLOSING ? o2_conn_progress(link->conn) : 0;

			handled += rc > 0 ? rc : 0;
		}
	}
	o2_node_work(node);
	return handled;
}

int o2_node_arm(struct o2_node *node)
{
	int rc = o2_ni_take_events(node->ni);
	struct o2_peer *peer;
	struct o2_link *link;
	int found = 0;

	if (rc < 0)
		return rc;
	LIST_FOREACH(peer, &node->peers, entry) {
		LIST_FOREACH(link, &peer->links, entry)
			if (link->state < O2_LINK_CLOSING)
				found += o2_conn_arm(link->conn) != 0;
		found += peer->attempts_due > 0 && peer->due_ms <= o2_clock_ms(&node->ni->clock);
	}
	return found;
}

static void free_idle_peers(struct o2_node *node)
{
	struct o2_peer *peer = LIST_FIRST(&node->peers), *next_peer;
	struct o2_link *link, *next;

	for (; peer != NULL; peer = next_peer) {
		next_peer = LIST_NEXT(peer, entry);
		for (link = LIST_FIRST(&peer->links); link != NULL; link = next) {
			next = LIST_NEXT(link, entry);
			if (link->state != O2_LINK_DISCONNECTED)
				continue;
			LIST_REMOVE(link, entry);
			o2_link_free(link);
		}
		if (!LIST_EMPTY(&peer->links) || !STAILQ_EMPTY(&peer->waiting) || peer->attempts_due > 0)
			continue;
		LIST_REMOVE(peer, entry);
		node->npeers--;
		free(peer);
	}
}

void o2_node_work(struct o2_node *node)
{
	uint32_t left = O2_RECONNECTS_AT_A_TIME;
	struct o2_peer *peer;

	LIST_FOREACH(peer, &node->peers, entry) {
		/* Attempts that become due while this loop runs are left to the next call. */
		uint32_t due = peer->due_ms <= o2_clock_ms(&node->ni->clock) ? peer->attempts_due : 0;

		for (; due > 0 && peer->attempts_due > 0 && left > 0; due--, left--) {
			peer->attempts_due--;
			o2_link_attempt(peer);
		}
	}
	free_idle_peers(node);
}

/* --- the end --- */

static void close_peer(struct o2_peer *peer, const struct o2_transfer_fault *fault)
{
	const struct o2_transfer_fault aborted = o2_fault_closed(fault);
	struct o2_link *link;

	/* Start afresh: later operations treat the peer as one that was never tried. */
	peer->attempts = 0;
	/* Until the links have ended an attempt counts as due: no waiting operation ends, and none asks for one. */
	peer->attempts_due = 1;
	/* An abandoned attempt ends as the operations that wait for it: aborted, whatever *fault is. */
	LIST_FOREACH(link, &peer->links, entry)
		o2_link_close(link, link->state == O2_LINK_ESTABLISHED ? fault : &aborted);
	peer->attempts_due = 0;
	o2_peer_fail_waiting(peer, &aborted);
}

void o2_node_close_peer(struct o2_node *node, uint64_t nid, int code)
{
	struct o2_peer *peer = o2_peer_find(node, nid);
	const struct o2_transfer_fault fault = o2_fault_local_close(code);

	if (peer != NULL)
		close_peer(peer, &fault);
}

void o2_node_destroy(struct o2_node *node)
{
	const struct o2_transfer_fault orderly = o2_fault_local_close(0);
	struct o2_peer *peer;
	struct o2_link *link;

	if (node == NULL)
		return;
	node->ending = true;
	LIST_FOREACH(peer, &node->peers, entry) {
		close_peer(peer, &orderly);
		LIST_FOREACH(link, &peer->links, entry)
			if (link->state == O2_LINK_CLOSING)
				o2_link_parted(link);
	}
	free_idle_peers(node);
	node->cm->handler = NULL;
	free(node);
}
