/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "lnd/conn_internal.h"

/* PUT: the initiator is the source (docs/transport.md, "PUT"). */

uint64_t o2_desc_bytes(const struct o2_rdma_desc *desc)
{
	uint64_t total = 0;

	for (uint32_t i = 0; i < desc->rd_nfrags; i++)
		total += desc->rd_frags[i].rf_nob;
	return total;
}

int o2_conn_put(struct o2_conn *conn, const struct o2_lnet_hdr *hdr, const struct o2_transfer_memory *source,
		uint64_t *cookie_out, struct o2_error *error)
{
	struct o2_tx *tx;
	struct o2_msg *msg;
	int rc = o2_tx_initiate(conn, O2_OP_PUT, O2_SOURCE, source, &tx, error);

	if (rc != 0)
		return rc;
	msg = o2_msg_begin(conn, O2_MSG_PUT_REQ);
	msg->u.putreq.hdr = *hdr;
	msg->u.putreq.hdr.payload_length = (uint32_t)tx->nob_mapped;
	msg->u.putreq.ibprm_cookie = tx->cookie;
	return o2_tx_request(conn, tx, O2_TX_PUT_WAIT_ACK, cookie_out, error);
}

/* Answer a PUT_REQ with PUT_NAK: no transfer of bytes will follow. */
static void refuse(struct o2_conn *conn, struct o2_tx *tx, int status)
{
	tx->state = O2_TX_FINISHING;
	o2_msg_complete(conn, tx, O2_MSG_PUT_NAK, conn->rx_msg.u.putreq.ibprm_cookie, status, NULL);
}

static void acknowledge(struct o2_conn *conn, struct o2_tx *tx)
{
	struct o2_msg *msg = o2_msg_begin(conn, O2_MSG_PUT_ACK);

	msg->u.putack.ibpam_src_cookie = conn->rx_msg.u.putreq.ibprm_cookie;
	msg->u.putack.ibpam_dst_cookie = tx->cookie;
	msg->u.putack.ibpam_rd = tx->desc;
	tx->nfrags = tx->desc.rd_nfrags;
	tx->state = O2_TX_PUT_WAIT_DONE;
	o2_msg_answer(conn, tx, NULL);
}

/* Sink: a peer wants to PUT.  The caller has seen to it that a transmit is free. */
void o2_put_handle_req(struct o2_conn *conn)
{
	const struct o2_msg *request = &conn->rx_msg;
	uint64_t offered = request->u.putreq.hdr.payload_length;
	struct o2_transfer_memory memory = {.mode = O2_REG_GLOBAL};
	struct o2_error error;
	struct o2_tx *tx;
	int rc = conn->ops.match(conn->context, request, 0, &memory);

	if (conn->state != O2_CONN_ESTABLISHED)
		return;
	tx = o2_tx_start(conn, O2_OP_PUT, false, O2_SINK);
	if (rc != 0) {
		refuse(conn, tx, rc == -ENODATA ? 0 : rc);
		return;
	}
	tx->silent = false;
	tx->tag = memory.tag;
	if (memory.buffer.nob == 0) {
		refuse(conn, tx, 0);
		return;
	}
	if (memory.buffer.nob > offered)
		rc = o2_refuse(&error, -EINVAL, "conn/match-longer-than-offered", "buffer.nob", O2_NO_INDEX,
			       memory.buffer.nob, offered);
	else
		rc = o2_tx_map(conn, tx, &memory, &error);
	if (rc == 0) {
		acknowledge(conn, tx);
		return;
	}
	o2_tx_fault_stage(tx, rc, &error);
	refuse(conn, tx, rc);
}

/*
 * Source: the sink has described its memory.  Whatever it says gets an answer: when the plan is refused that
 * is a PUT_DONE with the errno, and the transfer fails on our side as well.
 */
void o2_put_handle_ack(struct o2_conn *conn)
{
	const struct o2_msg *ack = &conn->rx_msg;
	const struct o2_rdma_desc *sink = &ack->u.putack.ibpam_rd;
	struct o2_rdma_limits limits = {conn->config.max_frags, conn->config.wrq_sge};
	struct o2_rdma_plan *plan = &conn->scratch.rdma;
	uint64_t nob = o2_desc_bytes(sink);
	struct o2_tx *tx = o2_tx_find(conn, ack->u.putack.ibpam_src_cookie, O2_TX_PUT_WAIT_ACK);
	struct o2_error error;
	int rc;

	if (tx == NULL) {
		o2_conn_refuse_message(conn, NULL, "conn/unknown-cookie", "ibpam_src_cookie",
				       ack->u.putack.ibpam_src_cookie, 0);
		return;
	}
	tx->nfrags = sink->rd_nfrags;
	tx->state = O2_TX_FINISHING;
	rc = o2_rdma_plan(&tx->desc, sink, nob, &limits, plan, &error);
	if (rc != 0) {
		o2_tx_fault_stage(tx, rc, &error);
		o2_msg_complete(conn, tx, O2_MSG_PUT_DONE, ack->u.putack.ibpam_dst_cookie, rc, NULL);
		return;
	}
	tx->nob = nob;
	tx->nwr = plan->nwr;
	o2_msg_complete(conn, tx, O2_MSG_PUT_DONE, ack->u.putack.ibpam_dst_cookie, (int64_t)nob, plan);
}

/* Source: the sink takes nothing.  Status 0 is how it says that nothing matched, or that it wants no bytes.
 */
void o2_put_handle_nak(struct o2_conn *conn)
{
	uint64_t cookie = conn->rx_msg.u.completion.ibcm_cookie;
	int32_t status = conn->rx_msg.u.completion.ibcm_status;
	struct o2_tx *tx = o2_tx_find(conn, cookie, O2_TX_PUT_WAIT_ACK);

	if (tx == NULL) {
		o2_conn_refuse_message(conn, NULL, "conn/unknown-cookie", "ibcm_cookie", cookie, 0);
		return;
	}
	if (status > 0) {
		o2_conn_refuse_message(conn, tx, "conn/nak-status", "ibcm_status", (uint64_t)status, 0);
		return;
	}
	if (status < 0)
		o2_tx_fault_peer(tx, status);
	o2_tx_settle(conn, tx);
}

/* Sink: the bytes are there, all that were asked for, or the source says why they are not. */
void o2_put_handle_done(struct o2_conn *conn)
{
	uint64_t cookie = conn->rx_msg.u.completion.ibcm_cookie;
	int32_t status = conn->rx_msg.u.completion.ibcm_status;
	struct o2_tx *tx = o2_tx_find(conn, cookie, O2_TX_PUT_WAIT_DONE);

	if (tx == NULL) {
		o2_conn_refuse_message(conn, NULL, "conn/unknown-cookie", "ibcm_cookie", cookie, 0);
		return;
	}
	if (status >= 0 && (uint64_t)status != tx->nob_mapped) {
		o2_conn_refuse_message(conn, tx, "conn/put-done-status", "ibcm_status", (uint64_t)status,
				       tx->nob_mapped);
		return;
	}
	if (status < 0)
		o2_tx_fault_peer(tx, status);
	else
		tx->nob = (uint64_t)status;
	o2_tx_settle(conn, tx);
}
