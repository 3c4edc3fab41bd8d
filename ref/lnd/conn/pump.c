/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stddef.h>

#include "lnd/conn/conn_internal.h"

/*
 * Operations that wait for a window of the interface's arena (docs/transport.md, "Windows").  A window comes
 * back when a binding is released, on whichever connection of the interface, so nobody is told: who waits
 * compares the domain's count of releases with the one that it last failed at: the one before the attempt, so
 * that what is released in between is not overlooked.
 */

bool o2_window_comes_back(const struct o2_conn *conn, int rc, uint64_t unbinds)
{
	const struct o2_reg_domain *domain = &conn->ni->domain;

	return rc == -ENOBUFS && (domain->nbound > 0 || domain->unbinds != unbinds);
}

/* What the message needs of the mapping. */
static void mapped(struct o2_tx *tx)
{
	const bool put = tx->op == O2_OP_PUT;

	tx->hdr.payload_length = put ? (uint32_t)tx->nob_mapped : 0;
	if (!put)
		tx->nfrags = tx->arrays->desc.rd_nfrags;
}

/*
 * Map a request of ours, and fill in what its message says of that.  If all that is missing is a window that
 * comes back, or if others wait for one: *waits, and tx has the memory.
 */
static int map_or_wait(struct o2_conn *conn, struct o2_tx *tx, const struct o2_transfer_memory *memory,
		       bool *waits, struct o2_error *error)
{
	const uint64_t unbinds = conn->ni->domain.unbinds;
	int rc;

	/* Those that came before go first, also if this one needs no window. */
	*waits = !TAILQ_EMPTY(&conn->list[O2_LIST_WINDOW]);
	if (*waits) {
		rc = o2_tx_plan(conn, tx, memory, error);
	} else {
		rc = o2_tx_map(conn, tx, memory, error);
		*waits = o2_window_comes_back(conn, rc, unbinds);
	}
	if (*waits && rc == -ENOBUFS) {
		o2_tx_unmap(conn, tx);
		conn->window_unbinds = unbinds;
		rc = 0;
	}
	if (rc == 0 && *waits)
		tx->memory = *memory;
	else if (rc == 0)
		mapped(tx);
	return rc;
}

/* False: it goes on waiting. */
static bool try_first(struct o2_conn *conn, struct o2_tx *tx)
{
	const uint64_t deadline_ms = tx->deadline_ms;
	const uint64_t unbinds = conn->ni->domain.unbinds;
	struct o2_error error;
	int rc = o2_tx_map(conn, tx, &tx->memory, &error);

	if (o2_window_comes_back(conn, rc, unbinds)) {
		o2_tx_unmap(conn, tx);
		conn->window_unbinds = unbinds;
		return false;
	}
	if (rc == 0) {
		mapped(tx);
		o2_tx_queue(conn, tx, tx->type);
		tx->deadline_ms = deadline_ms; /* it has run since the operation started */
	} else {
		o2_tx_fault_stage(tx, rc, &error);
		o2_tx_end(conn, tx);
	}
	return true;
}

/* Those on list WINDOW, in order, as far as there are windows now.  May call ops->done. */
static void map_waiting(struct o2_conn *conn)
{
	while (conn->state == O2_CONN_ESTABLISHED && !TAILQ_EMPTY(&conn->list[O2_LIST_WINDOW]) &&
	       conn->window_unbinds != conn->ni->domain.unbinds &&
	       try_first(conn, TAILQ_FIRST(&conn->list[O2_LIST_WINDOW])))
		;
}

/* NOOPs: credits that no other message takes along, and signs of life (docs/transport.md, "NOOP"). */

/* NOOPs that carry no credit say that their sender lives; more of them than this in a second say nothing. */
#define EMPTY_NOOPS_MAX 16u
#define EMPTY_NOOPS_MS	1000u

static bool keepalive_due(const struct o2_conn *conn)
{
	return conn->config.keepalive_ms != 0 &&
	       o2_clock_ms(&conn->ni->clock) - conn->last_post_ms > conn->config.keepalive_ms;
}

static bool noop_needed(const struct o2_conn *conn)
{
	struct o2_noop_question question = {
		.keepalive_due = keepalive_due(conn),
		.nocred_queued = conn->nlisted[O2_LIST_NOCRED] > 0,
		.noop_queued = conn->nlisted[O2_LIST_NOOPS] > 0,
		.queued = conn->nlisted[O2_LIST_QUEUE] > 0,
	};

	return o2_need_noop(&conn->credits, &question);
}

/* Without an idle transmit nothing is queued: the next event asks again. */
static void queue_noop(struct o2_conn *conn)
{
	struct o2_tx *tx;

	if (!noop_needed(conn))
		return;
	tx = o2_tx_start(conn, O2_TX_NOOPS, O2_OP_SEND, O2_SOURCE, NULL);
	if (tx != NULL)
		o2_tx_queue(conn, tx, O2_MSG_NOOP);
}

void o2_noop_handle(struct o2_conn *conn)
{
	if (conn->rx_msg.ibm_credits != 0)
		return;
	if (o2_clock_ms(&conn->ni->clock) - conn->empty_noops_since_ms >= EMPTY_NOOPS_MS) {
		conn->empty_noops_since_ms = o2_clock_ms(&conn->ni->clock);
		conn->empty_noops = 0;
	}
	if (++conn->empty_noops > EMPTY_NOOPS_MAX)
		o2_conn_refuse_message(conn, NULL, "conn/noop-storm", "empty NOOPs in a second",
				       conn->empty_noops, EMPTY_NOOPS_MAX);
}

/* The send pump: what may be posted is posted, strictly in order (docs/transport.md, "The pump"). */

/* Requests whose answer has room go on to wait for a credit. */
static void move_reserved(struct o2_conn *conn)
{
	struct o2_tx *tx;

	while ((tx = TAILQ_FIRST(&conn->list[O2_LIST_RESERVED])) != NULL && conn->credits.reserved > 0) {
		o2_credits_reserve(&conn->credits);
		o2_tx_move(conn, tx, O2_LIST_QUEUE);
	}
}

static void post_invalidates(struct o2_conn *conn)
{
	struct o2_tx *tx;

	while (conn->state == O2_CONN_ESTABLISHED &&
	       (tx = TAILQ_FIRST(&conn->list[O2_LIST_INVALIDATE])) != NULL &&
	       conn->invalidates_in_flight < o2_full_transfers(&conn->flow))
		o2_tx_post_invalidate(conn, tx);
}

static struct o2_tx *next_of(const struct o2_conn *conn)
{
	static const enum o2_tx_place order[] = {O2_LIST_NOCRED, O2_LIST_NOOPS, O2_LIST_QUEUE};

	struct o2_tx *tx = NULL;

	for (unsigned int i = 0; tx == NULL && i < sizeof(order) / sizeof(order[0]); i++)
		tx = TAILQ_FIRST(&conn->list[order[i]]);
	return tx;
}

/* A NOOP whose reason has gone since it was queued is not sent. */
static bool is_idle_noop(const struct o2_conn *conn, const struct o2_tx *tx)
{
	if (tx->type != O2_MSG_NOOP)
		return false;
	return !noop_needed(conn) || o2_credits_noops_out(&conn->credits);
}

/* False: nothing waits, or what comes first cannot go, and then nothing behind it can. */
static bool post_next(struct o2_conn *conn)
{
	struct o2_tx *tx;

	map_waiting(conn);
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
	map_waiting(conn);
	move_reserved(conn);
	if (conn->state == O2_CONN_ESTABLISHED)
		queue_noop(conn);
	while (conn->state == O2_CONN_ESTABLISHED && post_next(conn))
		;
	conn->pumping = false;
}

/* How operations of our own begin (docs/transport.md, "Operations"). */

static int check_state(const struct o2_conn *conn, struct o2_error *error)
{
	if (conn->state == O2_CONN_ESTABLISHED)
		return 0;
	return o2_refuse_other(error, -ENOTCONN, "conn/not-established", "state", conn->state,
			       O2_CONN_ESTABLISHED);
}

int o2_submit_start(struct o2_conn *conn, enum o2_transfer_op op, enum o2_side side,
		    const struct o2_lnet_hdr *hdr, uint32_t types, struct o2_tx **tx, struct o2_error *error)
{
	struct o2_error ours;
	int rc = check_state(conn, error);

	if (rc != 0)
		return rc;
	if (hdr->type > O2_LNET_REPLY || (types >> hdr->type & 1) == 0)
		return o2_refuse_value(error, -EINVAL, "conn/lnet-type", "hdr.type", hdr->type, types);
	*tx = o2_tx_start(conn, O2_TX_OURS, op, side, &ours);
	if (*tx == NULL) {
		if (error != NULL)
			*error = ours;
		return ours.code;
	}
	(*tx)->hdr = *hdr;
	return 0;
}

void o2_submit(struct o2_conn *conn, struct o2_tx *tx, enum o2_msg_type type, uint64_t *cookie_out)
{
	tx->silent = false;
	if (cookie_out != NULL)
		*cookie_out = tx->base.cookie;
	o2_tx_queue(conn, tx, type);
	o2_pump(conn);
}

int o2_submit_request(struct o2_conn *conn, struct o2_tx *tx, enum o2_msg_type type,
		      const struct o2_transfer_memory *memory, uint64_t *cookie_out, struct o2_error *error)
{
	bool waits;
	int rc = map_or_wait(conn, tx, memory, &waits, error);

	if (rc != 0) {
		o2_tx_drop(conn, tx);
		return rc;
	}
	tx->tag = memory->tag;
	if (!waits) {
		o2_submit(conn, tx, type, cookie_out);
		return 0;
	}
	tx->silent = false;
	if (cookie_out != NULL)
		*cookie_out = tx->base.cookie;
	o2_tx_await_window(conn, tx, type);
	return 0;
}
