/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "lnd/conn_internal.h"

/* Completions taken from the queue at a time. */
#define POLL_BATCH 16

static void fail_stale(struct o2_conn *conn, const char *rule, const char *field, uint64_t value,
		       uint64_t expected)
{
	struct o2_error error;

	o2_refuse(&error, -ESTALE, rule, field, O2_NO_INDEX, value, expected);
	error.class = O2_CLASS_CONNECTION;
	o2_conn_refuse_peer(conn, NULL, &error);
}

/* A message that names another node, or another life of this one, ends the connection. */
static bool check_endpoints(struct o2_conn *conn)
{
	const struct o2_msg *msg = &conn->rx_msg;

	if (msg->ibm_srcnid != conn->peer.nid)
		fail_stale(conn, "conn/srcnid", "ibm_srcnid", msg->ibm_srcnid, conn->peer.nid);
	else if (msg->ibm_dstnid != conn->self.nid)
		fail_stale(conn, "conn/dstnid", "ibm_dstnid", msg->ibm_dstnid, conn->self.nid);
	else if (msg->ibm_srcstamp != conn->peer.incarnation)
		fail_stale(conn, "conn/srcstamp", "ibm_srcstamp", msg->ibm_srcstamp, conn->peer.incarnation);
	else if (msg->ibm_dststamp != conn->self.incarnation)
		fail_stale(conn, "conn/dststamp", "ibm_dststamp", msg->ibm_dststamp, conn->self.incarnation);
	return conn->state == O2_CONN_ESTABLISHED;
}

static void dispatch(struct o2_conn *conn)
{
	switch (conn->rx_msg.ibm_type) {
	case O2_MSG_PUT_REQ:
		o2_put_handle_req(conn);
		break;
	case O2_MSG_PUT_ACK:
		o2_put_handle_ack(conn);
		break;
	case O2_MSG_PUT_NAK:
		o2_put_handle_nak(conn);
		break;
	case O2_MSG_PUT_DONE:
		o2_put_handle_done(conn);
		break;
	case O2_MSG_GET_REQ:
		o2_get_handle_req(conn);
		break;
	case O2_MSG_GET_DONE:
		o2_get_handle_done(conn);
		break;
	case O2_MSG_NOOP: /* carries credits only */
		break;
	default:
		o2_conn_refuse_message(conn, NULL, "conn/unexpected-type", "ibm_type", conn->rx_msg.ibm_type,
				       O2_MSG_GET_DONE);
	}
}

/* The message is in conn->rx_msg: its slot goes back to the queue pair before it is acted upon. */
static void accept_message(struct o2_conn *conn, uint32_t slot)
{
	struct o2_transfer_fault fault = {.side = O2_FAULT_LOCAL_STAGE};

	fault.code = o2_recv_post(conn, slot, &fault.error);
	if (fault.code != 0)
		o2_conn_fail(conn, &fault, NULL);
	else
		dispatch(conn);
}

/* Decode into conn->rx_msg.  False: nothing is left to do for this message. */
static bool decode(struct o2_conn *conn, uint32_t slot, uint32_t length)
{
	struct o2_wire_options options = O2_WIRE_DEFAULTS;
	struct o2_transfer_fault fault = {.side = O2_FAULT_LOCAL_STAGE};
	struct o2_error error;

	o2_error_clear(&error);
	if (o2_msg_decode(o2_recv_slot(conn, slot), length, &options, &conn->rx_msg, &error) == 0)
		return check_endpoints(conn);
	if (error.class != O2_CLASS_MESSAGE) {
		o2_conn_refuse_peer(conn, NULL, &error);
		return false;
	}
	fault.code = o2_recv_post(conn, slot, &fault.error);
	if (fault.code != 0)
		o2_conn_fail(conn, &fault, NULL);
	return false;
}

static bool is_request(const struct o2_msg *msg)
{
	return msg->ibm_type == O2_MSG_PUT_REQ || msg->ibm_type == O2_MSG_GET_REQ;
}

/*
 * A peer may start a transfer before we have seen the last completion of the one before it.  Such a request
 * waits in its receive slot, in order, until a transmit is free; the slot is not reposted meanwhile, so a
 * peer that starts more than it may is slowed down by the queue pair (docs/transport.md, "Flow control").
 */
static void receive(struct o2_conn *conn, uint32_t slot, uint32_t length)
{
	if (!decode(conn, slot, length))
		return;
	if (is_request(&conn->rx_msg) && !o2_tx_available(conn, false)) {
		uint32_t last = (conn->parked_first + conn->nparked) % conn->nrecv;

		conn->parked[last] = (struct o2_parked){slot, length};
		conn->nparked++;
		return;
	}
	accept_message(conn, slot);
}

/* After every completion, so that whoever finds a free transmit overtakes nobody. */
static void serve_parked(struct o2_conn *conn)
{
	while (conn->state == O2_CONN_ESTABLISHED && conn->nparked > 0 && o2_tx_available(conn, false)) {
		struct o2_parked next = conn->parked[conn->parked_first];

		conn->parked_first = (conn->parked_first + 1) % conn->nrecv;
		conn->nparked--;
		if (decode(conn, next.slot, next.length))
			accept_message(conn, next.slot);
	}
}

static void succeed(struct o2_conn *conn, const struct ibv_wc *wc)
{
	uint32_t index = o2_wr_id_index(wc->wr_id);
	struct o2_tx *tx;

	switch (o2_wr_id_work(wc->wr_id)) {
	case O2_WORK_RECV:
		receive(conn, index, wc->byte_len);
		break;
	case O2_WORK_MESSAGE:
		tx = &conn->tx[index];
		tx->nsends--;
		if (tx->state == O2_TX_FINISHING)
			o2_tx_settle(conn, tx);
		break;
	case O2_WORK_INV:
		tx = &conn->tx[index];
		o2_binding_invalidated(&tx->binding);
		o2_tx_settle(conn, tx);
		break;
	case O2_WORK_SILENT: /* unsignalled: success says nothing */
		break;
	}
}

/*
 * A failed completion closes the connection.  What is flushed is a consequence: the rest of the queue is
 * searched for the cause, and that is what gets reported.
 */
static void fail_completion(struct o2_conn *conn, const struct ibv_wc *first)
{
	struct o2_transfer_fault fault = {.side = O2_FAULT_LOCAL_COMPLETION, .code = -EIO};
	struct o2_tx *culprit = NULL;
	struct ibv_wc cause = *first;
	struct ibv_wc wc;

	while (cause.status == IBV_WC_WR_FLUSH_ERR && ibv_poll_cq(conn->cq, 1, &wc) > 0)
		if (wc.status != IBV_WC_SUCCESS && wc.status != IBV_WC_WR_FLUSH_ERR)
			cause = wc;
	fault.wc_status = cause.status;
	fault.wc_opcode = cause.opcode;
	o2_refuse(&fault.error, -EIO, "conn/completion", "wc.status", O2_NO_INDEX, cause.status,
		  IBV_WC_SUCCESS);
	if (o2_wr_id_work(cause.wr_id) != O2_WORK_RECV)
		culprit = &conn->tx[o2_wr_id_index(cause.wr_id)];
	o2_conn_fail(conn, &fault, culprit);
}

static int closed_code(const struct o2_conn *conn)
{
	return conn->fault.code != 0 ? conn->fault.code : -ENOTCONN;
}

void o2_conn_complete(struct o2_conn *conn, const struct ibv_wc *wc)
{
	if (conn->state == O2_CONN_DISCONNECTED)
		return;
	if (wc->status == IBV_WC_SUCCESS)
		succeed(conn, wc);
	else
		fail_completion(conn, wc);
	serve_parked(conn);
}

/* Of the completions that were taken from the queue together, the one that tells most about a failure. */
static const struct ibv_wc *telling(const struct ibv_wc *batch, int count)
{
	for (int i = 0; i < count && batch[0].status == IBV_WC_WR_FLUSH_ERR; i++)
		if (batch[i].status != IBV_WC_SUCCESS && batch[i].status != IBV_WC_WR_FLUSH_ERR)
			return &batch[i];
	return batch;
}

int o2_conn_progress(struct o2_conn *conn)
{
	struct ibv_wc batch[POLL_BATCH];
	int handled = 0;
	int count;

	if (conn->state == O2_CONN_DISCONNECTED)
		return closed_code(conn);
	while ((count = ibv_poll_cq(conn->cq, POLL_BATCH, batch)) > 0) {
		for (int i = 0; i < count && conn->state != O2_CONN_DISCONNECTED; i++)
			o2_conn_complete(conn, telling(&batch[i], count - i));
		handled += count;
		if (conn->state == O2_CONN_DISCONNECTED)
			return closed_code(conn);
	}
	if (count < 0) {
		struct o2_transfer_fault fault = {.side = O2_FAULT_LOCAL_STAGE, .code = -EIO};

		o2_refuse(&fault.error, -EIO, "conn/poll", "ibv_poll_cq", O2_NO_INDEX, (uint64_t)-count, 0);
		o2_conn_fail(conn, &fault, NULL);
		return closed_code(conn);
	}
	return handled;
}
