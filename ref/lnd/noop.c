/* SPDX-License-Identifier: MIT */
#include <stddef.h>

#include "lnd/conn_internal.h"

/* NOOPs: credits that no other message takes along, and signs of life (docs/transport.md, "NOOP"). */

/* NOOPs that carry no credit say that their sender lives; more of them than this in a second say nothing. */
#define EMPTY_NOOPS_MAX	     16u
#define EMPTY_NOOP_WINDOW_MS 1000u

static bool keepalive_due(const struct o2_conn *conn)
{
	return conn->config.keepalive_ms != 0 &&
	       o2_conn_now_ms(conn) - conn->last_post_ms > conn->config.keepalive_ms;
}

bool o2_noop_needed(const struct o2_conn *conn)
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
void o2_noop_queue(struct o2_conn *conn)
{
	struct o2_tx *tx;

	if (!o2_noop_needed(conn))
		return;
	tx = o2_tx_start(conn, O2_TX_NOOPS, O2_OP_SEND, O2_SOURCE, NULL);
	if (tx != NULL)
		o2_tx_queue(conn, tx, O2_MSG_NOOP);
}

void o2_noop_handle(struct o2_conn *conn)
{
	if (conn->rx_msg.ibm_credits != 0)
		return;
	if (o2_conn_now_ms(conn) - conn->noop_window_ms >= EMPTY_NOOP_WINDOW_MS) {
		conn->noop_window_ms = o2_conn_now_ms(conn);
		conn->empty_noops = 0;
	}
	if (++conn->empty_noops > EMPTY_NOOPS_MAX)
		o2_conn_refuse_message(conn, NULL, "conn/noop-storm", "empty NOOPs in a second",
				       conn->empty_noops, EMPTY_NOOPS_MAX);
}
