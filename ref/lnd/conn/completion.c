/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdbool.h>

#include "lnd/conn/conn_internal.h"

/* Completions, and the polling loop that fetches them (docs/transport.md, "Events"). */

#define POLL_BATCH 16 /* the most completions taken from the queue in one call */

static int poll_cq(struct o2_conn *conn, int count, struct ibv_wc *wc)
{
	const struct o2_work_ops *ops = conn->ni->config.work_ops;

	if (ops == NULL || ops->poll_cq == NULL)
		return ibv_poll_cq(conn->cq, count, wc);
	return ops->poll_cq(ops->context, conn->cq, count, wc, o2_clock_ms(&conn->ni->clock));
}

/* The transmit that a work request belongs to.  NULL: it is a receive, or its transmit has ended. */
static struct o2_tx *owner_of(const struct o2_conn *conn, uint64_t wr_id)
{
	struct o2_tx *tx;

	for (int list = 0; list < O2_TX_LISTS && O2_WR_ID_WORK(wr_id) != O2_WORK_RECV; list++)
		TAILQ_FOREACH(tx, &conn->list[list], link)
			if (tx == O2_TX_OF(wr_id))
				return tx;
	return NULL;
}

/*
 * A failed completion closes the connection.  A flushed work request is only a consequence of an error: so look
 * for the cause among the remaining completions, and report that.
 */
static void fail_completion(struct o2_conn *conn, const struct ibv_wc *first)
{
	struct o2_transfer_fault fault = {.side = O2_FAULT_LOCAL_COMPLETION, .code = -EIO};
	struct ibv_wc cause = *first;
	struct o2_tx *culprit;
	struct ibv_wc wc;

	while (cause.status == IBV_WC_WR_FLUSH_ERR && poll_cq(conn, 1, &wc) > 0)
		if (wc.status != IBV_WC_SUCCESS && wc.status != IBV_WC_WR_FLUSH_ERR)
			cause = wc;
	fault.wc_status = cause.status;
	fault.wc_opcode = cause.opcode;
	o2_fail(&fault.error, -EIO, "conn/completion", "wc.status", cause.status);
	culprit = owner_of(conn, cause.wr_id);
	if (culprit != NULL)
		culprit->health = O2_HEALTH_REMOTE_DROPPED;
	o2_conn_fail(conn, &fault, culprit);
}

static void succeeded(struct o2_conn *conn, const struct ibv_wc *wc)
{
	struct o2_tx *tx = O2_TX_OF(wc->wr_id);

	switch (O2_WR_ID_WORK(wc->wr_id)) {
	case O2_WORK_RECV:
		o2_receive_completed(conn, O2_RX_OF(wc->wr_id), wc->byte_len);
		break;
	case O2_WORK_MESSAGE: /* also completes the unsignalled requests ahead of it */
		/* The type may be PUT_DONE already when its PUT_REQ completes; neither counts as a NOOP. */
		o2_credits_sent(&conn->credits, tx->type);
		conn->send_wrs -= tx->posted_wrs[0];
		tx->posted_wrs[0] = tx->posted_wrs[1];
		tx->nsends--;
		o2_tx_check_done(conn, tx);
		break;
	case O2_WORK_INV:
		conn->send_wrs--;
		conn->invalidates_in_flight--;
		tx->invalidating = false;
		o2_binding_invalidated(&tx->binding);
		o2_tx_check_done(conn, tx);
		break;
	case O2_WORK_SILENT: /* unsignalled: a success needs no action */
		break;
	}
}

void o2_conn_complete(struct o2_conn *conn, const struct ibv_wc *wc)
{
	if (conn->state == O2_CONN_DISCONNECTED)
		return;
	if (wc->status != IBV_WC_SUCCESS) {
		fail_completion(conn, wc);
		return;
	}
	succeeded(conn, wc);
	o2_conn_resume(conn);
}

void o2_conn_settle(struct o2_conn *conn)
{
	struct ibv_wc wc;

	/* Stop at a failure: it follows from the disconnect.  Messages that arrive here are never handled. */
	while (poll_cq(conn, 1, &wc) > 0 && wc.status == IBV_WC_SUCCESS)
		succeeded(conn, &wc);
}

static int closed_code(const struct o2_conn *conn)
{
	return conn->fault.code != 0 ? conn->fault.code : -ENOTCONN;
}

/* The completion of this batch, which begins with a flushed one, that tells most about the failure. */
static const struct ibv_wc *telling(const struct ibv_wc *batch, int count)
{
	for (int i = 0; i < count; i++)
		if (batch[i].status != IBV_WC_SUCCESS && batch[i].status != IBV_WC_WR_FLUSH_ERR)
			return &batch[i];
	return batch;
}

/* Resume operations that wait for a window, if any connection of the interface has released one. */
static int go_on(struct o2_conn *conn, int handled)
{
	const uint64_t unbinds = conn->ni->domain.unbinds;
	const bool ours = !TAILQ_EMPTY(&conn->list[O2_LIST_WINDOW]) && conn->window_unbinds != unbinds;
	/* A parked request also needs a transmit; the event that frees one resumes it. */
	const bool theirs =
		conn->parked_for_window && o2_tx_left(conn, O2_TX_PEERS) && conn->parked_unbinds != unbinds;

	if (!ours && !theirs)
		return handled;
	o2_conn_resume(conn);
	return conn->state == O2_CONN_DISCONNECTED ? closed_code(conn) : handled + 1;
}

int o2_conn_progress(struct o2_conn *conn)
{
	struct ibv_wc batch[POLL_BATCH];
	struct o2_error error;
	int handled = 0;
	int count;

	if (conn->state == O2_CONN_DISCONNECTED)
		return closed_code(conn);
	while ((count = poll_cq(conn, POLL_BATCH, batch)) > 0) {
		for (int i = 0; i < count && conn->state != O2_CONN_DISCONNECTED; i++)
			o2_conn_complete(conn, batch[i].status == IBV_WC_WR_FLUSH_ERR
						       ? telling(&batch[i], count - i)
						       : &batch[i]);
		handled += count;
		if (conn->state == O2_CONN_DISCONNECTED)
			return closed_code(conn);
	}
	if (count == 0)
		return go_on(conn, handled);
	o2_fail(&error, -EIO, "conn/poll", "ibv_poll_cq", (uint64_t) - (int64_t)count);
	o2_conn_fail_by(conn, O2_FAULT_DEVICE, &error, NULL);
	return closed_code(conn);
}
