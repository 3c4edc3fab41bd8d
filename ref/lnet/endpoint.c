/* SPDX-License-Identifier: MIT */
#include "lnet/endpoint.h"

#include <stddef.h>
#include <string.h>

/* Calls from LNet to the node. */

static uint32_t immediate_max(void *context, uint64_t nid)
{
	const struct o2_endpoint *endpoint = context;
	const struct o2_conn *conn = o2_node_conn(endpoint->node, nid, 0);

	return conn == NULL ? O2_IMMEDIATE_MAX : o2_conn_immediate_max(conn);
}

static int send_message(void *context, uint64_t nid, enum o2_lnd_form form, const struct o2_lnet_hdr *hdr,
			const struct o2_transfer_memory *memory, struct o2_error *error)
{
	const struct o2_endpoint *endpoint = context;

	if (form == O2_FORM_PUT_REQ)
		return o2_node_put(endpoint->node, nid, hdr, memory, error);
	if (form == O2_FORM_GET_REQ)
		return o2_node_get(endpoint->node, nid, hdr, memory, error);
	return o2_node_send(endpoint->node, nid, hdr, memory, error);
}

/* Calls from the node to LNet. */

static int match(void *context, uint64_t nid, const struct o2_msg *request, uint64_t sink_bytes,
		 struct o2_transfer_memory *memory)
{
	struct o2_endpoint *endpoint = context;

	(void)sink_bytes; /* the RDMA itself is checked against it */
	return o2_lnet_match(endpoint->lnet, nid, o2_msg_lnet_hdr(request), memory, &memory->tag,
			     &endpoint->refused);
}

static int receive(void *context, uint64_t nid, const struct o2_msg *msg)
{
	struct o2_endpoint *endpoint = context;

	return o2_lnet_receive(endpoint->lnet, nid, &msg->u.immediate.hdr, msg->u.immediate.payload,
			       &endpoint->refused);
}

/* The transport knows only that LNet has refused the header; what is wrong with it LNet's own rule says. */
static void explain(const struct o2_endpoint *endpoint, struct o2_transfer_fault *fault)
{
	if (fault->error.rule != NULL && strcmp(fault->error.rule, "conn/lnet-header") == 0)
		fault->error = endpoint->refused;
}

static void done(void *context, uint64_t nid, const struct o2_transfer_result *result)
{
	struct o2_endpoint *endpoint = context;
	struct o2_transfer_fault fault = result->fault;

	(void)nid;
	if (result->status != 0)
		explain(endpoint, &fault);
	/* A PUT that is too long for an IMMEDIATE was sent by RDMA from the start. */
	if (result->initiator && result->op == O2_OP_PUT && result->nob <= O2_IMMEDIATE_MAX)
		o2_lnet_went_by_rdma(endpoint->lnet, result->tag);
	o2_lnet_finished(endpoint->lnet, result->tag, result->status, result->nob, &fault);
}

static void down(void *context, uint64_t nid, const struct o2_transfer_fault *why)
{
	struct o2_endpoint *endpoint = context;
	struct o2_transfer_fault fault = *why;

	explain(endpoint, &fault);
	endpoint->fault = fault;
	if (endpoint->down != NULL)
		endpoint->down(endpoint->context, nid, &fault);
	if (o2_node_conn(endpoint->node, nid, 0) == NULL)
		o2_lnet_peer_down(endpoint->lnet, nid, &fault);
}

int o2_endpoint_open(struct o2_ni *ni, struct o2_cm *cm, const struct o2_node_config *node_config,
		     const struct o2_lnet_config *lnet_config, const struct o2_lnet_ops *ops, void *context,
		     struct o2_endpoint *endpoint, struct o2_error *error)
{
	const struct o2_lnet_transport transport = {endpoint, immediate_max, send_message};
	const struct o2_node_ops node_ops = {.match = match, .receive = receive, .done = done, .down = down};
	int rc;

	*endpoint = (struct o2_endpoint){.context = context};
	rc = o2_lnet_create(lnet_config, &transport, &ni->arena, &ni->clock, ops, context, &endpoint->lnet,
			    error);
	if (rc != 0)
		return rc;
	rc = o2_node_create(ni, cm, node_config, &node_ops, endpoint, &endpoint->node, error);
	if (rc != 0)
		o2_lnet_destroy(endpoint->lnet);
	return rc;
}

void o2_endpoint_close(struct o2_endpoint *endpoint)
{
	o2_node_destroy(endpoint->node);
	o2_lnet_destroy(endpoint->lnet);
	*endpoint = (struct o2_endpoint){0};
}

void o2_endpoint_clock(struct o2_endpoint *endpoint, uint64_t now_ms)
{
	o2_node_clock(endpoint->node, now_ms);
	o2_lnet_check_time(endpoint->lnet);
}
