/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "base/mutant.h"
#include "lnd/conn_internal.h"

/* GET: the initiator is the sink (docs/transport.md, "GET"). */

/* The memory that a GET fills is the caller's; what a GET sends has none. */
static const struct o2_transfer_memory *sink_memory(const struct o2_transfer_memory *sink)
{
	static const struct o2_transfer_memory payload;

	return o2_mutate(GET_SINK_FROM_PAYLOAD, sink, &payload);
}

int o2_conn_get(struct o2_conn *conn, const struct o2_lnet_hdr *hdr, const struct o2_transfer_memory *sink,
		uint64_t *cookie_out, struct o2_error *error)
{
	struct o2_tx *tx;
	struct o2_msg *msg;
	int rc = o2_tx_initiate(conn, O2_OP_GET, O2_SINK, sink_memory(sink), &tx, error);

	if (rc != 0)
		return rc;
	msg = o2_msg_begin(conn, O2_MSG_GET_REQ);
	msg->u.get.hdr = *hdr;
	msg->u.get.hdr.payload_length = 0;
	msg->u.get.ibgm_cookie = tx->cookie;
	msg->u.get.ibgm_rd = tx->desc;
	tx->nfrags = tx->desc.rd_nfrags;
	return o2_tx_request(conn, tx, O2_TX_GET_WAIT_DONE, cookie_out, error);
}

static void complete(struct o2_conn *conn, struct o2_tx *tx, int64_t status, const struct o2_rdma_plan *plan)
{
	tx->state = O2_TX_FINISHING;
	o2_msg_complete(conn, tx, O2_MSG_GET_DONE, conn->rx_msg.u.get.ibgm_cookie, status, plan);
}

/* Map the source and plan the writes; 0 or the errno that the sink is told. */
static int prepare(struct o2_conn *conn, struct o2_tx *tx, const struct o2_transfer_memory *memory,
		   uint64_t sink_bytes, struct o2_error *error)
{
	struct o2_rdma_limits limits = {conn->config.max_frags, conn->config.wrq_sge};
	int rc;

	if (memory->buffer.nob > sink_bytes)
		return o2_refuse(error, -EINVAL, "conn/match-longer-than-sink", "buffer.nob", O2_NO_INDEX,
				 memory->buffer.nob, sink_bytes);
	rc = o2_tx_map(conn, tx, memory, error);
	if (rc != 0)
		return rc;
	return o2_rdma_plan(&tx->desc, &conn->rx_msg.u.get.ibgm_rd, tx->nob_mapped, &limits,
			    &conn->scratch.rdma, error);
}

/*
 * Source: a peer wants to GET.  Every request is answered; a failure of ours is the status of the GET_DONE.
 * The caller has seen to it that a transmit is free.
 */
void o2_get_handle_req(struct o2_conn *conn)
{
	const struct o2_msg *request = &conn->rx_msg;
	uint64_t sink_bytes = o2_desc_bytes(&request->u.get.ibgm_rd);
	struct o2_transfer_memory memory = {.mode = O2_REG_GLOBAL};
	struct o2_error error;
	struct o2_tx *tx;
	int rc = conn->ops.match(conn->context, request, sink_bytes, &memory);

	if (conn->state != O2_CONN_ESTABLISHED)
		return;
	tx = o2_tx_start(conn, O2_OP_GET, false, O2_SOURCE);
	if (rc != 0) {
		complete(conn, tx, rc, NULL);
		return;
	}
	tx->silent = false;
	tx->tag = memory.tag;
	tx->nfrags = request->u.get.ibgm_rd.rd_nfrags;
	if (memory.buffer.nob == 0) {
		complete(conn, tx, 0, NULL);
		return;
	}
	rc = prepare(conn, tx, &memory, sink_bytes, &error);
	if (rc != 0) {
		o2_tx_fault_stage(tx, rc, &error);
		complete(conn, tx, rc, NULL);
		return;
	}
	tx->nob = tx->nob_mapped;
	tx->nwr = conn->scratch.rdma.nwr;
	complete(conn, tx, (int64_t)tx->nob, &conn->scratch.rdma);
}

/* Sink: the source has written as many bytes as the status says, which may be fewer than we described. */
void o2_get_handle_done(struct o2_conn *conn)
{
	uint64_t cookie = conn->rx_msg.u.completion.ibcm_cookie;
	int32_t status = conn->rx_msg.u.completion.ibcm_status;
	struct o2_tx *tx = o2_tx_find(conn, cookie, O2_TX_GET_WAIT_DONE);

	if (tx == NULL) {
		o2_conn_refuse_message(conn, NULL, "conn/unknown-cookie", "ibcm_cookie", cookie, 0);
		return;
	}
	if (status >= 0 && (uint64_t)status > tx->nob_mapped) {
		o2_conn_refuse_message(conn, tx, "conn/get-done-status", "ibcm_status", (uint64_t)status,
				       tx->nob_mapped);
		return;
	}
	if (status < 0)
		o2_tx_fault_peer(tx, status);
	else
		tx->nob = (uint64_t)status;
	o2_tx_settle(conn, tx);
}
