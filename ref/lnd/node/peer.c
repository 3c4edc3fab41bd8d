/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lnd/node/node_internal.h"
#include "wire/checksum.h"
#include "wire/nid.h"

/* Peers: what we know about them, and the operations that wait for a connection to them. */

struct o2_peer *o2_peer_find(const struct o2_node *node, uint64_t nid)
{
	struct o2_peer *peer;

	LIST_FOREACH(peer, &node->peers, entry)
		if (peer->nid == nid)
			break;
	return peer;
}

int o2_peer_get(struct o2_node *node, uint64_t nid, struct o2_peer **out, struct o2_error *error)
{
	struct o2_peer *peer = o2_peer_find(node, nid);

	*out = peer;
	if (peer != NULL)
		return 0;
	if (node->npeers >= node->config.max_peers)
		return o2_refuse_value(error, -EBUSY, "node/max-peers", "peers", node->npeers + UINT64_C(1),
				       node->config.max_peers);
	peer = calloc(1, sizeof(*peer));
	if (peer == NULL)
		return o2_fail(error, -ENOMEM, "node/memory", "peer", sizeof(*peer));
	peer->node = node;
	peer->nid = nid;
	peer->queue_depth = node->self.queue_depth;
	peer->max_frags = node->self.max_frags;
	peer->cksum_flavour = node->self.cksum_flavour;
	STAILQ_INIT(&peer->waiting);
	LIST_INSERT_HEAD(&node->peers, peer, entry);
	node->npeers++;
	*out = peer;
	return 0;
}

void o2_peer_learn_checksum(struct o2_peer *peer, const uint8_t *message, size_t length_bytes)
{
	if (peer->node->config.conn.cksum_auto && peer->cksum_flavour == O2_CKSUM_NONE)
		peer->cksum_flavour = o2_msg_checksum_shown(message, length_bytes);
}

struct o2_connreq_self o2_peer_self(const struct o2_peer *peer)
{
	struct o2_connreq_self self = peer->node->self;

	self.cksum_flavour = peer->cksum_flavour;
	return self;
}

uint32_t o2_peer_established(const struct o2_peer *peer)
{
	const struct o2_link *link;
	uint32_t count = 0;

	LIST_FOREACH(link, &peer->links, entry)
		count += link->state == O2_LINK_ESTABLISHED;
	return count;
}

/* Our own attempts do not count: otherwise two nodes that connect to each other at once could both be refused. */
uint32_t o2_peer_nconns(const struct o2_peer *peer)
{
	const struct o2_link *link;
	uint32_t count = 0;

	LIST_FOREACH(link, &peer->links, entry)
		count += !link->asking && link->state != O2_LINK_DISCONNECTED;
	return count;
}

/* Does the link take operations?  Not while its connection closes: one started inside done goes to another link. */
static bool takes_operations(const struct o2_link *link)
{
	return link->state == O2_LINK_ESTABLISHED && o2_conn_get_state(link->conn) == O2_CONN_ESTABLISHED;
}

/* The link whose turn it is; NULL: no link is up. */
static struct o2_link *next_link(struct o2_peer *peer)
{
	struct o2_link *link;
	uint32_t count = 0, skip;

	LIST_FOREACH(link, &peer->links, entry)
		count += takes_operations(link);
	skip = count > 0 ? peer->turn++ % count : 0;
	LIST_FOREACH(link, &peer->links, entry)
		if (takes_operations(link) && skip-- == 0)
			break;
	return link;
}

/* Start an operation on a link that is up.  Returns 0, or -errno: we still own op, and it was not reported. */
static int op_submit(struct o2_node_op *op, struct o2_link *link, struct o2_error *error)
{
	/* When the application started the SEND, the limit of this connection may not have been known. */
	const bool too_long = op->op == O2_OP_SEND && !op->plain &&
			      op->memory.buffer.nob > o2_conn_immediate_max(link->conn);

	if (op->op == O2_OP_PUT || too_long)
		return o2_conn_put(link->conn, &op->hdr, &op->memory, NULL, error);
	if (op->op == O2_OP_GET)
		return o2_conn_get(link->conn, &op->hdr, &op->memory, NULL, error);
	if (op->plain)
		return o2_conn_send_bytes(link->conn, &op->hdr, op->payload, op->payload_bytes,
					  op->memory.tag, NULL, error);
	return o2_conn_send(link->conn, &op->hdr, &op->memory, NULL, error);
}

static enum o2_health health_of(int code)
{
	if (code == -EHOSTUNREACH || code == -ETIMEDOUT)
		return O2_HEALTH_NETWORK_TIMEOUT;
	return code == -ECONNREFUSED ? O2_HEALTH_REMOTE_DROPPED : O2_HEALTH_LOCAL_DROPPED;
}

/* Report an operation that never reached a connection, and free it. */
static void op_fail(struct o2_peer *peer, struct o2_node_op *op, const struct o2_transfer_fault *fault,
		    enum o2_health health)
{
	struct o2_node *node = peer->node;
	struct o2_transfer_result result = {
		.op = op->op,
		.initiator = true,
		.side = op->op == O2_OP_GET ? O2_SINK : O2_SOURCE,
		.tag = op->tag,
		.health = health,
		.status = fault->code,
		.fault = *fault,
	};

	free(op);
	node->ops.done(node->context, peer->nid, &result);
}

static struct o2_node_op *take_first(struct o2_peer *peer)
{
	struct o2_node_op *op = STAILQ_FIRST(&peer->waiting);

	STAILQ_REMOVE_HEAD(&peer->waiting, entry);
	peer->nwaiting--;
	return op;
}

void o2_peer_flush(struct o2_peer *peer, struct o2_link *link)
{
	while (link != NULL && !STAILQ_EMPTY(&peer->waiting)) {
		struct o2_node_op *op = take_first(peer);
		struct o2_error error;
		int rc = takes_operations(link) ? op_submit(op, link, &error) : -ENOTCONN;

		if (rc == -ENOTCONN) {
			STAILQ_INSERT_HEAD(&peer->waiting, op, entry);
			peer->nwaiting++;
			link = next_link(peer);
		} else if (rc != 0) {
			const struct o2_transfer_fault fault = o2_fault_of(O2_FAULT_LOCAL_STAGE, rc, &error);

			op_fail(peer, op, &fault, O2_HEALTH_LOCAL_ERROR);
		}
	}
}

void o2_peer_fail_first(struct o2_peer *peer, const struct o2_transfer_fault *fault)
{
	op_fail(peer, take_first(peer), fault, health_of(fault->code));
}

void o2_peer_fail_waiting(struct o2_peer *peer, const struct o2_transfer_fault *fault)
{
	STAILQ_HEAD(, o2_node_op) ending = STAILQ_HEAD_INITIALIZER(ending);
	struct o2_node_op *op;

	/* Those that are started from inside done, also by a nested call, are not among these. */
	STAILQ_CONCAT(&ending, &peer->waiting);
	peer->nwaiting = 0;
	while ((op = STAILQ_FIRST(&ending)) != NULL) {
		STAILQ_REMOVE_HEAD(&ending, entry);
		op_fail(peer, op, fault, health_of(fault->code));
	}
}

static bool has_hope(const struct o2_peer *peer)
{
	return peer->connecting > 0 || peer->accepting > 0 || peer->attempts_due > 0;
}

/* Schedule attempts, unless one is open or due already.  o2_node_work starts them. */
static void want(struct o2_peer *peer)
{
	if (has_hope(peer) || peer->node->ending || peer->node->lost)
		return;
	peer->attempts_due = peer->node->config.conns_per_peer;
	peer->due_ms = o2_clock_ms(&peer->node->ni->clock);
}

void o2_peer_failed(struct o2_peer *peer, const struct o2_transfer_fault *fault)
{
	if (has_hope(peer))
		return;
	peer->attempts = 0;
	if (o2_peer_established(peer) == 0)
		o2_peer_fail_waiting(peer, fault);
	/* Operations that were started from inside done need a new attempt. */
	if (!STAILQ_EMPTY(&peer->waiting))
		want(peer);
}

static struct o2_link *find_stale(const struct o2_peer *peer, uint64_t incarnation, uint16_t version)
{
	struct o2_link *link;

	LIST_FOREACH(link, &peer->links, entry)
		if (link->state == O2_LINK_ESTABLISHED &&
		    (link->incarnation != incarnation || link->params.version != version))
			break;
	return link;
}

void o2_peer_close_stale(struct o2_peer *peer, uint64_t incarnation, uint16_t version)
{
	struct o2_link *link;

	/* The application's callback may change the list, so search it again each time. */
	while ((link = find_stale(peer, incarnation, version)) != NULL) {
		struct o2_transfer_fault fault = o2_fault_of(O2_FAULT_PEER_MESSAGE, -ESTALE, NULL);

		if (link->incarnation != incarnation)
			o2_refuse_other(&fault.error, -ESTALE, "node/stale-incarnation", "ibm_srcstamp",
					incarnation, link->incarnation);
		else
			o2_refuse_other(&fault.error, -ESTALE, "node/stale-version", "ibm_version", version,
					link->params.version);
		o2_link_close(link, &fault);
	}
}

/* Operations: from the application to a connection, and back.  Each ends exactly once. */

void o2_op_done(void *context, const struct o2_transfer_result *result)
{
	struct o2_link *link = context;
	struct o2_node *node = link->node;
	struct o2_transfer_result theirs = *result;

	if (result->initiator) {
		struct o2_node_op *op = (struct o2_node_op *)(uintptr_t)result->tag;

		theirs.tag = op->tag;
		free(op);
	}
	node->ops.done(node->context, link->peer->nid, &theirs);
}

/* Start an operation on a link that is up, or let it wait for a link. */
static int start(struct o2_node *node, uint64_t nid, struct o2_node_op *op, struct o2_error *error)
{
	struct o2_peer *peer;
	struct o2_link *link;
	int rc = o2_peer_get(node, nid, &peer, error);

	if (rc != 0)
		return rc;
	/* A link may break during the call.  Then try the next link with the operation that was not accepted. */
	while ((link = next_link(peer)) != NULL) {
		rc = op_submit(op, link, error);
		if (rc != -ENOTCONN)
			return rc;
	}
	if (peer->nwaiting >= node->config.max_waiting)
		return o2_refuse_value(error, -EBUSY, "node/max-waiting", "waiting",
				       peer->nwaiting + UINT64_C(1), node->config.max_waiting);
	op->deadline_ms = o2_clock_ms(&node->ni->clock) + o2_node_waiting_ms(node);
	STAILQ_INSERT_TAIL(&peer->waiting, op, entry);
	peer->nwaiting++;
	want(peer);
	return 0;
}

/* memory NULL: a SEND of plain bytes. */
static int submit(struct o2_node *node, uint64_t nid, enum o2_transfer_op kind, const struct o2_lnet_hdr *hdr,
		  const struct o2_transfer_memory *memory, const void *payload, uint32_t payload_bytes,
		  uint64_t tag, struct o2_error *error)
{
	struct o2_node_op *op;
	int rc;

	if (node->ending)
		return o2_fail(error, -ESHUTDOWN, "node/ending", "node", 0);
	if (node->lost)
		return o2_fail(error, -ENODEV, "node/device-lost", "device", 0);
	if (nid == node->self.nid)
		return o2_fail(error, -EINVAL, "node/own-nid", "nid", nid);
	if (o2_nid_check(nid, node->self.any_lnd) != O2_NID_GOOD)
		return o2_fail(error, -EINVAL, "node/nid", "nid", nid);
	op = calloc(1, sizeof(*op) + payload_bytes);
	if (op == NULL)
		return o2_fail(error, -ENOMEM, "node/memory", "operation", sizeof(*op) + payload_bytes);
	op->op = kind;
	op->plain = memory == NULL;
	op->hdr = *hdr;
	if (memory != NULL)
		op->memory = *memory;
	op->memory.tag = (uintptr_t)op;
	op->tag = tag;
	op->payload_bytes = payload_bytes;
	if (payload_bytes > 0)
		memcpy(op->payload, payload, payload_bytes);
	rc = start(node, nid, op, error);
	if (rc != 0)
		free(op);
	return rc;
}

int o2_node_put(struct o2_node *node, uint64_t nid, const struct o2_lnet_hdr *hdr,
		const struct o2_transfer_memory *source, struct o2_error *error)
{
	return submit(node, nid, O2_OP_PUT, hdr, source, NULL, 0, source->tag, error);
}

int o2_node_get(struct o2_node *node, uint64_t nid, const struct o2_lnet_hdr *hdr,
		const struct o2_transfer_memory *sink, struct o2_error *error)
{
	return submit(node, nid, O2_OP_GET, hdr, sink, NULL, 0, sink->tag, error);
}

int o2_node_send(struct o2_node *node, uint64_t nid, const struct o2_lnet_hdr *hdr,
		 const struct o2_transfer_memory *memory, struct o2_error *error)
{
	return submit(node, nid, O2_OP_SEND, hdr, memory, NULL, 0, memory != NULL ? memory->tag : 0, error);
}

int o2_node_send_bytes(struct o2_node *node, uint64_t nid, const struct o2_lnet_hdr *hdr, const void *payload,
		       uint32_t payload_bytes, uint64_t tag, struct o2_error *error)
{
	if (payload_bytes > O2_MSG_BYTES)
		return o2_refuse_value(error, -EMSGSIZE, "node/payload", "payload_bytes", payload_bytes,
				       O2_MSG_BYTES);
	return submit(node, nid, O2_OP_SEND, hdr, NULL, payload, payload_bytes, tag, error);
}

/* Snapshots of a node, for observers. */

void o2_node_peer(const struct o2_node *node, uint64_t nid, struct o2_peer_view *view)
{
	const struct o2_peer *peer = o2_peer_find(node, nid);
	const struct o2_link *link;

	*view = (struct o2_peer_view){.known = peer != NULL};
	if (peer == NULL)
		return;
	view->version = peer->version;
	view->incarnation = peer->incarnation;
	view->queue_depth = peer->queue_depth;
	view->max_frags = peer->max_frags;
	view->connecting = peer->connecting;
	view->accepting = peer->accepting;
	view->attempts_due = peer->attempts_due;
	view->attempts = peer->attempts;
	view->races = peer->races;
	view->waiting = peer->nwaiting;
	view->established = o2_peer_established(peer);
	LIST_FOREACH(link, &peer->links, entry)
		view->links++;
}

uint32_t o2_node_npeers(const struct o2_node *node)
{
	return node->npeers;
}

struct o2_conn *o2_node_conn(const struct o2_node *node, uint64_t nid, uint32_t index)
{
	const struct o2_peer *peer = o2_peer_find(node, nid);
	const struct o2_link *link;

	if (peer == NULL)
		return NULL;
	LIST_FOREACH(link, &peer->links, entry)
		if (link->state == O2_LINK_ESTABLISHED && index-- == 0)
			return link->conn;
	return NULL;
}
