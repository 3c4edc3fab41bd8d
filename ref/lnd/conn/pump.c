/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stddef.h>

#include "lnd/conn/conn_internal.h"

/*
 * Operations that wait for a window of the interface's arena (docs/transport.md, "Windows").  A window becomes
 * free when any connection of the interface releases a binding, and no event reports that.  So whoever waits
 * compares the domain's count of releases with the count before its last failed attempt.  The count is taken
 * before the attempt, so that a release during the attempt is not missed.
 */

bool o2_window_comes_back(const struct o2_conn *conn, int rc, uint64_t unbinds)
{
	const struct o2_reg_domain *domain = &conn->ni->domain;

	return rc == -ENOBUFS && (domain->nbound > 0 || domain->unbinds != unbinds);
}

int o2_tx_map_request(struct o2_conn *conn, struct o2_tx *tx, const struct o2_transfer_memory *memory,
		      bool *waits, struct o2_error *error)
{
	const uint64_t unbinds = conn->ni->domain.unbinds;
	int rc = o2_tx_map(conn, tx, memory, error);

	*waits = o2_window_comes_back(conn, rc, unbinds);
	if (*waits) {
		o2_tx_unmap(conn, tx);
		conn->window_unbinds = unbinds;
		return 0;
	}
	if (rc == 0 && tx->op == O2_OP_PUT)
		tx->hdr.payload_length = (uint32_t)tx->nob_mapped;
	if (rc == 0 && tx->op == O2_OP_GET) {
		tx->hdr.payload_length = 0;
		tx->nfrags = tx->arrays->desc.rd_nfrags;
	}
	return rc;
}

/* Try the first transmit on list WINDOW.  False: it must wait further. */
static bool try_window(struct o2_conn *conn, struct o2_tx *tx)
{
	const uint64_t deadline_ms = tx->deadline_ms;
	struct o2_error error;
	bool waits;
	int rc = o2_tx_map_request(conn, tx, &tx->memory, &waits, &error);

	if (rc != 0) {
		o2_tx_fault_stage(tx, rc, &error);
		o2_tx_end(conn, tx);
	} else if (!waits) {
		o2_tx_queue(conn, tx, tx->type);
		tx->deadline_ms = deadline_ms; /* keep it: it has run since the operation started */
	}
	return !waits;
}

/*
 * Advance our requests, in order, as far as windows for their memory and receives for their answers are free.  May
 * call ops->done.
 */
static void advance_requests(struct o2_conn *conn)
{
	struct o2_tx *tx;

	while (conn->state == O2_CONN_ESTABLISHED && conn->window_unbinds != conn->ni->domain.unbinds &&
	       (tx = TAILQ_FIRST(&conn->list[O2_LIST_WINDOW])) != NULL && try_window(conn, tx))
		;
	while ((tx = TAILQ_FIRST(&conn->list[O2_LIST_RESERVED])) != NULL && conn->credits.reserved > 0) {
		conn->credits.reserved--;
		o2_tx_move(conn, tx, O2_LIST_QUEUE);
	}
}

/* Is a NOOP due, for credits that no other message will carry, or as keep-alive (docs/transport.md, "NOOP")? */
static bool noop_needed(const struct o2_conn *conn)
{
	const uint64_t silent_ms = o2_clock_ms(&conn->ni->clock) - conn->last_post_ms;
	const struct o2_noop_question question = {
		.keepalive_due = conn->config.keepalive_ms != 0 && silent_ms > conn->config.keepalive_ms,
		.nocred_queued = conn->nlisted[O2_LIST_NOCRED] > 0,
		.noop_queued = conn->nlisted[O2_LIST_NOOPS] > 0,
		.queued = conn->nlisted[O2_LIST_QUEUE] > 0,
	};

	return o2_need_noop(&conn->credits, &question);
}

/* The send pump: post what may be posted, strictly in order (docs/transport.md, "The pump"). */

/* Post the next transmit.  False: none waits, or the first must wait, and then so must all behind it. */
static bool post_next(struct o2_conn *conn)
{
	static const enum o2_tx_place order[] = {O2_LIST_NOCRED, O2_LIST_NOOPS, O2_LIST_QUEUE};
	struct o2_tx *tx = NULL;

	advance_requests(conn);
	for (unsigned int i = 0; tx == NULL && i < sizeof(order) / sizeof(order[0]); i++)
		tx = TAILQ_FIRST(&conn->list[order[i]]);
	if (conn->state != O2_CONN_ESTABLISHED || tx == NULL ||
	    !o2_credits_may_post(&conn->credits, tx->type))
		return false;
	if (tx->type == O2_MSG_NOOP) {
		o2_tx_move(conn, tx, O2_LIST_NONE);
		/* Do not send a NOOP that is no longer needed. */
		if (!noop_needed(conn) || o2_credits_noops_out(&conn->credits)) {
			o2_tx_end(conn, tx);
			return true;
		}
	}
	o2_tx_post(conn, tx);
	return true;
}

void o2_pump(struct o2_conn *conn)
{
	struct o2_tx *tx;

	/* Operations that ops->done starts are posted by the o2_pump call that is already running. */
	if (conn->pumping || conn->state != O2_CONN_ESTABLISHED)
		return;
	conn->pumping = true;
	while (conn->state == O2_CONN_ESTABLISHED &&
	       (tx = TAILQ_FIRST(&conn->list[O2_LIST_INVALIDATE])) != NULL &&
	       conn->invalidates_in_flight < o2_full_transfers(&conn->flow))
		o2_tx_post_invalidate(conn, tx);
	advance_requests(conn);
	/* If no transmit is free, no NOOP is queued; the next event tries again. */
	if (conn->state == O2_CONN_ESTABLISHED && noop_needed(conn) &&
	    o2_tx_start(conn, O2_TX_NOOPS, O2_OP_SEND, &tx, NULL) == 0)
		o2_tx_queue(conn, tx, O2_MSG_NOOP);
	while (conn->state == O2_CONN_ESTABLISHED && post_next(conn))
		;
	conn->pumping = false;
}

void o2_conn_resume(struct o2_conn *conn)
{
	if (conn->nparked > 0)
		o2_receive_parked(conn);
	o2_pump(conn);
}
