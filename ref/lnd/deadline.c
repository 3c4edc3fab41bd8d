/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "lnd/conn_internal.h"

/* Deadlines and what they say about the path (docs/transport.md, "Time" and "Health"). */

uint64_t o2_deadline(const struct o2_conn *conn)
{
	return conn->config.timeout_ms == 0 ? UINT64_MAX : o2_conn_now_ms(conn) + conn->config.timeout_ms;
}

enum o2_health o2_deadline_health(const struct o2_tx *tx, bool timed_out)
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

/* An answer cannot be missed before the send that asks for it is known to have arrived. */
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

enum o2_wait o2_deadline_wait(const struct o2_conn *conn, const struct o2_tx *tx)
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

static bool is_late(const struct o2_conn *conn, const struct o2_tx *tx)
{
	return o2_conn_now_ms(conn) >= tx->deadline_ms;
}

/* The oldest; among equals one that was sent: what waits in a queue waits because of it. */
static struct o2_tx *find_expired(const struct o2_conn *conn)
{
	struct o2_tx *oldest = NULL;

	for (int list = O2_TX_LISTS - 1; list >= O2_LIST_NOOPS; list--)
		for (struct o2_tx *tx = conn->list[list].first; tx != NULL; tx = tx->next)
			if (is_late(conn, tx) && (oldest == NULL || tx->deadline_ms < oldest->deadline_ms))
				oldest = tx;
	return oldest;
}

static struct o2_transfer_fault lateness(const struct o2_conn *conn, const struct o2_tx *tx)
{
	return o2_fault_late(o2_deadline_wait(conn, tx), -ETIMEDOUT, "conn/deadline",
			     o2_conn_now_ms(conn) - tx->deadline_ms + conn->config.timeout_ms,
			     conn->config.timeout_ms);
}

/* Whatever is late says so itself, and what it waited for; the rest only loses its connection. */
static void blame_late(struct o2_conn *conn)
{
	for (int list = O2_LIST_NOOPS; list < O2_TX_LISTS; list++)
		for (struct o2_tx *tx = conn->list[list].first; tx != NULL; tx = tx->next) {
			if (!is_late(conn, tx) || tx->fault.side != O2_FAULT_NONE)
				continue;
			tx->health = o2_deadline_health(tx, true);
			tx->fault = lateness(conn, tx);
		}
}

/* One operation that is late costs the whole connection: nobody knows what became of its memory. */
static void fail_expired(struct o2_conn *conn, struct o2_tx *tx)
{
	struct o2_transfer_fault fault = lateness(conn, tx);

	blame_late(conn);
	o2_conn_fail(conn, &fault, tx);
}

void o2_conn_clock(struct o2_conn *conn, uint64_t now_ms)
{
	o2_ni_clock(conn->ni, now_ms);
	o2_conn_check_time(conn);
}

void o2_conn_check_time(struct o2_conn *conn)
{
	struct o2_tx *expired;

	if (conn->state != O2_CONN_ESTABLISHED)
		return;
	expired = find_expired(conn);
	if (expired != NULL) {
		fail_expired(conn, expired);
		return;
	}
	o2_receive_parked(conn);
	o2_pump(conn);
}
