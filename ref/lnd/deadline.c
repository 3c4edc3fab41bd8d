/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "base/mutant.h"
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

static const struct o2_tx *find_expired(const struct o2_conn *conn)
{
	for (int list = O2_LIST_NOOPS; list < O2_TX_LISTS; list++)
		for (const struct o2_tx *tx = conn->list[list].first; tx != NULL; tx = tx->next)
			if (o2_mutate(DEADLINE_IGNORED, o2_conn_now_ms(conn) >= tx->deadline_ms, false))
				return tx;
	return NULL;
}

/* One operation that is late costs the whole connection: nobody knows what became of its memory. */
static void fail_expired(struct o2_conn *conn, const struct o2_tx *tx)
{
	struct o2_transfer_fault fault = {.side = O2_FAULT_DEADLINE, .code = -ETIMEDOUT};

	o2_refuse(&fault.error, -ETIMEDOUT, "conn/deadline", "age in ms", O2_NO_INDEX,
		  o2_conn_now_ms(conn) - tx->deadline_ms + conn->config.timeout_ms, conn->config.timeout_ms);
	o2_conn_fail(conn, &fault, NULL);
}

void o2_conn_clock(struct o2_conn *conn, uint64_t now_ms)
{
	o2_ni_clock(conn->ni, now_ms);
	o2_conn_check_time(conn);
}

void o2_conn_check_time(struct o2_conn *conn)
{
	const struct o2_tx *expired;

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
