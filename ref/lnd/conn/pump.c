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

/* Whether this failure ends by itself: something that is bound is released, or has been since the attempt. */
static bool passes(const struct o2_conn *conn, int rc, uint64_t unbinds)
{
	const struct o2_reg_domain *domain = &conn->ni->domain;
	const bool held = rc == -ENOBUFS && (domain->nbound > 0 || domain->unbinds != unbinds);

	return held;
}

/* What the message needs of the mapping. */
static void mapped(struct o2_tx *tx)
{
	const bool put = tx->op == O2_OP_PUT;

	tx->hdr.payload_length = put ? (uint32_t)tx->nob_mapped : 0;
	if (!put)
		tx->nfrags = tx->desc.rd_nfrags;
}

int o2_tx_map_or_wait(struct o2_conn *conn, struct o2_tx *tx, const struct o2_transfer_memory *memory,
		      bool *waits, struct o2_error *error)
{
	const uint64_t unbinds = conn->ni->domain.unbinds;
	int rc;

	/* Those that came before go first, also if this one needs no window. */
	*waits = conn->list[O2_LIST_WINDOW].first != NULL;
	if (*waits) {
		rc = o2_tx_plan(conn, tx, memory, error);
	} else {
		rc = o2_tx_map(conn, tx, memory, error);
		*waits = passes(conn, rc, unbinds);
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

	if (passes(conn, rc, unbinds)) {
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

static bool may_be_mapped(const struct o2_conn *conn)
{
	return conn->list[O2_LIST_WINDOW].first != NULL && conn->window_unbinds != conn->ni->domain.unbinds;
}

void o2_tx_map_waiting(struct o2_conn *conn)
{
	while (conn->state == O2_CONN_ESTABLISHED && may_be_mapped(conn) &&
	       try_first(conn, conn->list[O2_LIST_WINDOW].first))
		;
}

bool o2_request_has_window(struct o2_conn *conn)
{
	struct o2_reg_domain *domain = &conn->ni->domain;
	const uint64_t unbinds = domain->unbinds;
	const bool has = o2_reg_window_free(domain);

	conn->parked_for_window = !has && passes(conn, -ENOBUFS, unbinds);
	if (conn->parked_for_window)
		conn->parked_unbinds = unbinds;
	return !conn->parked_for_window;
}

bool o2_windows_came_back(const struct o2_conn *conn)
{
	const bool ours = may_be_mapped(conn);
	/* Without a transmit for it nothing can be done; the event that frees one looks again. */
	const bool theirs = conn->parked_for_window && conn->idle[O2_TX_PEERS].first != NULL &&
			    conn->parked_unbinds != conn->ni->domain.unbinds;

	return ours || theirs;
}

/* NOOPs: credits that no other message takes along, and signs of life (docs/transport.md, "NOOP"). */

/* NOOPs that carry no credit say that their sender lives; more of them than this in a second say nothing. */
#define EMPTY_NOOPS_MAX	     16u
#define EMPTY_NOOP_WINDOW_MS 1000u

static bool keepalive_due(const struct o2_conn *conn)
{
	return conn->config.keepalive_ms != 0 &&
	       o2_clock_ms(&conn->ni->clock) - conn->last_post_ms > conn->config.keepalive_ms;
}

static bool noop_needed(const struct o2_conn *conn)
{
	struct o2_noop_question question = {
		.keepalive_due = keepalive_due(conn),
		.nocred_queued = conn->list[O2_LIST_NOCRED].count > 0,
		.noop_queued = conn->list[O2_LIST_NOOPS].count > 0,
		.queued = conn->list[O2_LIST_QUEUE].count > 0,
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
	if (o2_clock_ms(&conn->ni->clock) - conn->noop_window_ms >= EMPTY_NOOP_WINDOW_MS) {
		conn->noop_window_ms = o2_clock_ms(&conn->ni->clock);
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
	return !noop_needed(conn) || (conn->credits.version != O2_MSG_VERSION_1 &&
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
		return o2_refuse(error, -EINVAL, "conn/lnet-type", "hdr.type", O2_NO_INDEX, hdr->type, types);
	*tx = o2_tx_start(conn, O2_TX_OURS, op, side, &ours);
	if (*tx == NULL) {
		if (error != NULL)
			*error = ours;
		return ours.code;
	}
	(*tx)->hdr = *hdr;
	return 0;
}

static void announce(struct o2_tx *tx, uint64_t *cookie_out)
{
	tx->silent = false;
	if (cookie_out != NULL)
		*cookie_out = tx->cookie;
}

void o2_submit(struct o2_conn *conn, struct o2_tx *tx, enum o2_msg_type type, uint64_t *cookie_out)
{
	announce(tx, cookie_out);
	o2_tx_queue(conn, tx, type);
	o2_pump(conn);
}

int o2_submit_request(struct o2_conn *conn, struct o2_tx *tx, enum o2_msg_type type,
		      const struct o2_transfer_memory *memory, uint64_t *cookie_out, struct o2_error *error)
{
	bool waits;
	int rc = o2_tx_map_or_wait(conn, tx, memory, &waits, error);

	if (rc != 0) {
		o2_tx_drop(conn, tx);
		return rc;
	}
	tx->tag = memory->tag;
	if (!waits) {
		o2_submit(conn, tx, type, cookie_out);
		return 0;
	}
	announce(tx, cookie_out);
	o2_tx_await_window(conn, tx, type);
	return 0;
}
