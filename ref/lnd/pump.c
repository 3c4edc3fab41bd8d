/* SPDX-License-Identifier: MIT */
#include "lnd/conn_internal.h"

/* The send pump: what may be posted is posted, strictly in order (docs/transport.md, "The pump"). */

/* Requests whose answer has room go on to wait for a credit. */
static void move_reserved(struct o2_conn *conn)
{
	struct o2_tx *tx;

	while ((tx = conn->list[O2_LIST_RESERVED].first) != NULL && conn->credits.reserved > 0) {
		o2_credits_reserve(&conn->credits);
		o2_tx_move(conn, tx, O2_LIST_QUEUE);
	}
}

static void post_invalidates(struct o2_conn *conn)
{
	struct o2_tx *tx;

	while (conn->state == O2_CONN_ESTABLISHED && (tx = conn->list[O2_LIST_INVALIDATE].first) != NULL &&
	       conn->invalidates_in_flight < o2_full_transfers(&conn->flow))
		o2_tx_post_invalidate(conn, tx);
}

static struct o2_tx *next_of(const struct o2_conn *conn)
{
	static const enum o2_tx_list order[] = {O2_LIST_NOCRED, O2_LIST_NOOPS, O2_LIST_QUEUE};

	for (unsigned int i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		if (conn->list[order[i]].first != NULL)
			return conn->list[order[i]].first;
	return NULL;
}

/* A NOOP whose reason has gone since it was queued is not sent. */
static bool is_idle_noop(const struct o2_conn *conn, const struct o2_tx *tx)
{
	if (tx->type != O2_MSG_NOOP)
		return false;
	return !o2_noop_needed(conn) || (conn->credits.version != O2_MSG_VERSION_1 &&
					 conn->credits.noops_in_flight == O2_OOB_MESSAGES);
}

/* False: nothing waits, or what comes first cannot go, and then nothing behind it can. */
static bool post_next(struct o2_conn *conn)
{
	struct o2_tx *tx;

	o2_tx_map_waiting(conn);
	move_reserved(conn);
	tx = next_of(conn);
	if (conn->state != O2_CONN_ESTABLISHED || tx == NULL ||
	    !o2_credits_may_post(&conn->credits, tx->type))
		return false;
	o2_tx_move(conn, tx, O2_LIST_NONE);
	if (is_idle_noop(conn, tx))
		o2_tx_end(conn, tx);
	else
		o2_tx_post(conn, tx);
	return true;
}

void o2_pump(struct o2_conn *conn)
{
	/* What ops->done starts from inside is posted by the call that is under way. */
	if (conn->pumping || conn->state != O2_CONN_ESTABLISHED)
		return;
	conn->pumping = true;
	post_invalidates(conn);
	o2_tx_map_waiting(conn);
	move_reserved(conn);
	if (conn->state == O2_CONN_ESTABLISHED)
		o2_noop_queue(conn);
	while (conn->state == O2_CONN_ESTABLISHED && post_next(conn))
		;
	conn->pumping = false;
}
