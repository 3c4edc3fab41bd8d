/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stddef.h>

#include "lnd/conn_internal.h"

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
		rc = o2_tx_check(conn, tx, memory, error);
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
