/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stddef.h>

#include "lnd/conn/conn_internal.h"

/* How a connection ends (docs/transport.md, "Closing"). */

/*
 * Destroy the queue pair.  Devices need this order: a bound memory window must be released before its queue pair.
 * The completions of the flushed work requests are not awaited.
 */
static void destroy_qp(struct o2_conn *conn)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
	struct o2_tx *tx;
	struct ibv_wc wc;

	if (conn->qp == NULL)
		return;
	/* Flush all posted work requests.  A failure does not matter: the queue pair is destroyed next. */
	ibv_modify_qp(conn->qp, &attr, IBV_QP_STATE);
	for (int list = O2_LIST_NOOPS; list < O2_TX_LISTS; list++)
		TAILQ_FOREACH(tx, &conn->list[list], link)
			(void)o2_reg_unbind(&conn->ni->domain, &tx->binding, true, NULL);
	ibv_destroy_qp(conn->qp);
	conn->qp = NULL;
	while (ibv_poll_cq(conn->cq, 1, &wc) > 0)
		;
}

/* The health of a transmit whose connection is torn down, by its list and age (docs/transport.md, "Health"). */
static enum o2_health deadline_health(const struct o2_tx *tx, bool timed_out)
{
	bool queued = tx->list != O2_LIST_ACTIVE && tx->list != O2_LIST_INVALIDATE;

	if (!timed_out)
		return queued ? O2_HEALTH_LOCAL_ERROR : O2_HEALTH_OK;
	if (queued)
		return O2_HEALTH_LOCAL_TIMEOUT;
	if (tx->nsends > 0)
		return O2_HEALTH_NETWORK_TIMEOUT;
	return tx->waiting ? O2_HEALTH_REMOTE_TIMEOUT : O2_HEALTH_OK;
}

/* End a transmit of which nothing is in flight any more, because the queue pair is gone. */
static void abort_tx(struct o2_conn *conn, struct o2_tx *tx)
{
	if (tx->fault.side == O2_FAULT_NONE) {
		if (tx->health == O2_HEALTH_OK)
			tx->health = deadline_health(tx, conn->fault.code == -ETIMEDOUT);
		tx->fault = o2_fault_closed(&conn->fault);
	}
	o2_tx_end(conn, tx);
}

void o2_match_ended(struct o2_conn *conn, struct o2_tx *tx, int rc, const struct o2_transfer_memory *memory,
		    uint32_t lnet_type)
{
	if (rc != 0) {
		o2_tx_end(conn, tx);
		if (rc == -EPROTO)
			o2_conn_refuse_message(conn, "conn/lnet-header", "hdr.type", lnet_type, O2_NO_LIMIT);
		return;
	}
	/* The transmit was on no list when the connection was torn down, so abort_all did not find it. */
	tx->silent = false;
	tx->tag = memory->tag;
	abort_tx(conn, tx);
}

/* Abort the transmits in the order of the lists, as o2iblnd does. */
static void abort_all(struct o2_conn *conn)
{
	struct o2_tx *tx;

	for (int list = O2_LIST_NOOPS; list < O2_TX_LISTS; list++)
		while ((tx = TAILQ_FIRST(&conn->list[list])) != NULL)
			abort_tx(conn, tx);
}

void o2_conn_fail(struct o2_conn *conn, const struct o2_transfer_fault *fault, struct o2_tx *culprit)
{
	if (conn->state == O2_CONN_CLOSING || conn->state == O2_CONN_DISCONNECTED)
		return;
	conn->state = O2_CONN_CLOSING;
	conn->fault = *fault;
	if (culprit != NULL && culprit->fault.side == O2_FAULT_NONE)
		culprit->fault = *fault;
	if (fault->side == O2_FAULT_PEER_CLOSED)
		o2_conn_settle(conn);
	destroy_qp(conn);
	abort_all(conn);
	conn->state = O2_CONN_DISCONNECTED;
	if (conn->ops.closed != NULL)
		conn->ops.closed(conn->context, &conn->fault);
}

void o2_conn_fail_by(struct o2_conn *conn, enum o2_fault_side side, const struct o2_error *error,
		     struct o2_tx *culprit)
{
	const struct o2_transfer_fault fault = o2_fault_of(side, error->code, error);

	o2_conn_fail(conn, &fault, culprit);
}

void o2_conn_refuse_message(struct o2_conn *conn, const char *rule, const char *field, uint64_t value,
			    uint64_t limit)
{
	struct o2_error error;

	o2_refuse_peer(&error, -EPROTO, rule, field, value, limit);
	o2_conn_fail_by(conn, O2_FAULT_PEER_MESSAGE, &error, NULL);
}

void o2_conn_end(struct o2_conn *conn, const struct o2_transfer_fault *fault)
{
	o2_conn_fail(conn, fault, NULL);
}

void o2_conn_close(struct o2_conn *conn, int code)
{
	const struct o2_transfer_fault fault = o2_fault_local_close(code);

	o2_conn_fail(conn, &fault, NULL);
}

/* Deadlines, and what a late transmit was waiting for (docs/transport.md, "Time"). */

/* The peer cannot be late with an answer before our send is known to have arrived. */
static enum o2_wait wait_of_active(const struct o2_tx *tx)
{
	if (tx->nsends > 0)
		return O2_WAIT_SEND;
	if (tx->invalidating)
		return O2_WAIT_INVALIDATE;
	switch (tx->type) {
	case O2_MSG_PUT_REQ:
		return O2_WAIT_PUT_ACK;
	case O2_MSG_PUT_ACK:
		return O2_WAIT_PUT_DONE;
	case O2_MSG_GET_REQ:
		return O2_WAIT_GET_DONE;
	default:
		return O2_WAIT_NONE;
	}
}

static enum o2_wait deadline_wait(const struct o2_conn *conn, const struct o2_tx *tx)
{
	switch (tx->list) {
	case O2_LIST_RESERVED:
		return O2_WAIT_RESERVATION;
	case O2_LIST_WINDOW:
		return O2_WAIT_WINDOW;
	case O2_LIST_INVALIDATE:
		return O2_WAIT_INVALIDATE;
	case O2_LIST_ACTIVE:
		return wait_of_active(tx);
	case O2_LIST_NOOPS:
	case O2_LIST_QUEUE:
		if (conn->credits.in_flight < conn->credits.concurrent_sends)
			return O2_WAIT_CREDIT;
		return O2_WAIT_SEND_ROOM;
	default:
		return O2_WAIT_SEND_ROOM;
	}
}

/* The transmit whose deadline passed first.  Of equals, one that was sent: queued ones wait because of it. */
static struct o2_tx *find_expired(const struct o2_conn *conn)
{
	const uint64_t now_ms = o2_clock_ms(&conn->ni->clock);
	struct o2_tx *oldest = NULL, *tx;

	for (int list = O2_TX_LISTS - 1; list >= O2_LIST_NOOPS; list--)
		TAILQ_FOREACH(tx, &conn->list[list], link)
			if (tx->deadline_ms <= now_ms &&
			    (oldest == NULL || tx->deadline_ms < oldest->deadline_ms))
				oldest = tx;
	return oldest;
}

static struct o2_transfer_fault lateness(const struct o2_conn *conn, const struct o2_tx *tx)
{
	return o2_fault_late(deadline_wait(conn, tx), -ETIMEDOUT, "conn/deadline",
			     o2_clock_ms(&conn->ni->clock) - tx->deadline_ms + conn->config.timeout_ms,
			     conn->config.timeout_ms);
}

/* Late transmits report their own deadline and what they waited for; others report the connection's end. */
static void blame_late(struct o2_conn *conn)
{
	const uint64_t now_ms = o2_clock_ms(&conn->ni->clock);
	struct o2_tx *tx;

	for (int list = O2_LIST_NOOPS; list < O2_TX_LISTS; list++)
		TAILQ_FOREACH(tx, &conn->list[list], link) {
			if (tx->deadline_ms > now_ms || tx->fault.side != O2_FAULT_NONE)
				continue;
			tx->health = deadline_health(tx, true);
			tx->fault = lateness(conn, tx);
		}
}

void o2_conn_clock(struct o2_conn *conn, uint64_t now_ms)
{
	o2_clock_tell(&conn->ni->clock, now_ms);
	o2_conn_check_time(conn);
}

void o2_conn_check_time(struct o2_conn *conn)
{
	struct o2_transfer_fault fault;
	struct o2_tx *expired;

	if (conn->state != O2_CONN_ESTABLISHED)
		return;
	expired = find_expired(conn);
	/* One late operation ends the connection: the peer might still access the operation's memory. */
	if (expired != NULL) {
		fault = lateness(conn, expired);
		blame_late(conn);
		o2_conn_fail(conn, &fault, expired);
		return;
	}
	o2_conn_resume(conn);
}
