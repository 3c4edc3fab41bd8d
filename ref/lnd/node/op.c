/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lnd/node/node_internal.h"
#include "wire/nid.h"

/* Operations: from the application to a connection, and back.  Each ends exactly once. */

int o2_op_submit(struct o2_node_op *op, struct o2_link *link, struct o2_error *error)
{
	switch (op->kind) {
	case O2_NODE_PUT:
		return o2_conn_put(link->conn, &op->hdr, &op->memory, NULL, error);
	case O2_NODE_GET:
		return o2_conn_get(link->conn, &op->hdr, &op->memory, NULL, error);
	case O2_NODE_SEND:
		return o2_conn_send(link->conn, &op->hdr, &op->memory, NULL, error);
	case O2_NODE_SEND_BYTES:
		return o2_conn_send_bytes(link->conn, &op->hdr, op->payload, op->payload_bytes,
					  op->memory.tag, NULL, error);
	}
	return -EINVAL;
}

static enum o2_health health_of(int code)
{
	switch (code) {
	case -EHOSTUNREACH:
	case -ETIMEDOUT:
		return O2_HEALTH_NETWORK_TIMEOUT;
	case -ECONNREFUSED:
		return O2_HEALTH_REMOTE_DROPPED;
	default:
		return O2_HEALTH_LOCAL_DROPPED;
	}
}

void o2_op_fail(struct o2_peer *peer, struct o2_node_op *op, const struct o2_transfer_fault *fault)
{
	static const enum o2_transfer_op ops[] = {
		[O2_NODE_PUT] = O2_OP_PUT,
		[O2_NODE_GET] = O2_OP_GET,
		[O2_NODE_SEND] = O2_OP_SEND,
		[O2_NODE_SEND_BYTES] = O2_OP_SEND,
	};
	struct o2_node *node = peer->node;
	struct o2_transfer_result result = {
		.op = ops[op->kind],
		.initiator = true,
		.side = op->kind == O2_NODE_GET ? O2_SINK : O2_SOURCE,
		.tag = op->tag,
		.health = health_of(fault->code),
		.status = fault->code,
		.fault = *fault,
	};

	free(op);
	node->ops.done(node->context, peer->nid, &result);
}

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

/* Give it to a link that is up, or let it wait for one. */
static int start(struct o2_node *node, uint64_t nid, struct o2_node_op *op, struct o2_error *error)
{
	struct o2_peer *peer;
	struct o2_link *link;
	int rc = o2_peer_get(node, nid, &peer, error);

	if (rc != 0)
		return rc;
	/* A link may break under the call: what was not taken then goes to the next. */
	while ((link = o2_peer_next_link(peer)) != NULL) {
		rc = o2_op_submit(op, link, error);
		if (rc != -ENOTCONN)
			return rc;
	}
	if (peer->nwaiting >= node->config.max_waiting)
		return o2_refuse_value(error, -EBUSY, "node/max-waiting", "waiting", peer->nwaiting,
				       node->config.max_waiting);
	o2_peer_wait(peer, op);
	o2_peer_want(peer);
	return 0;
}

static int check(const struct o2_node *node, uint64_t nid, struct o2_error *error)
{
	if (node->ending)
		return o2_refuse_value(error, -ESHUTDOWN, "node/ending", "node", 0, O2_NO_LIMIT);
	if (node->lost)
		return o2_refuse_value(error, -ENODEV, "node/device-lost", "device", 0, O2_NO_LIMIT);
	if (nid == node->self.nid)
		return o2_refuse_value(error, -EINVAL, "node/own-nid", "nid", nid, O2_NO_LIMIT);
	if (o2_nid_check(nid, node->self.any_lnd) != O2_NID_GOOD)
		return o2_refuse_value(error, -EINVAL, "node/nid", "nid", nid, O2_NO_LIMIT);
	return 0;
}

static int submit(struct o2_node *node, uint64_t nid, enum o2_node_op_kind kind,
		  const struct o2_lnet_hdr *hdr, const struct o2_transfer_memory *memory, const void *payload,
		  uint32_t payload_bytes, uint64_t tag, struct o2_error *error)
{
	struct o2_node_op *op;
	int rc = check(node, nid, error);

	if (rc != 0)
		return rc;
	op = calloc(1, sizeof(*op) + payload_bytes);
	if (op == NULL)
		return o2_refuse_value(error, -ENOMEM, "node/memory", "operation",
				       sizeof(*op) + payload_bytes, O2_NO_LIMIT);
	op->kind = kind;
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
	return submit(node, nid, O2_NODE_PUT, hdr, source, NULL, 0, source->tag, error);
}

int o2_node_get(struct o2_node *node, uint64_t nid, const struct o2_lnet_hdr *hdr,
		const struct o2_transfer_memory *sink, struct o2_error *error)
{
	return submit(node, nid, O2_NODE_GET, hdr, sink, NULL, 0, sink->tag, error);
}

int o2_node_send(struct o2_node *node, uint64_t nid, const struct o2_lnet_hdr *hdr,
		 const struct o2_transfer_memory *memory, struct o2_error *error)
{
	if (memory == NULL)
		return submit(node, nid, O2_NODE_SEND_BYTES, hdr, NULL, NULL, 0, 0, error);
	return submit(node, nid, O2_NODE_SEND, hdr, memory, NULL, 0, memory->tag, error);
}

int o2_node_send_bytes(struct o2_node *node, uint64_t nid, const struct o2_lnet_hdr *hdr, const void *payload,
		       uint32_t payload_bytes, uint64_t tag, struct o2_error *error)
{
	if (payload_bytes > O2_MSG_BYTES)
		return o2_refuse_value(error, -EMSGSIZE, "node/payload", "payload_bytes", payload_bytes,
				       O2_MSG_BYTES);
	return submit(node, nid, O2_NODE_SEND_BYTES, hdr, NULL, payload, payload_bytes, tag, error);
}
