/* SPDX-License-Identifier: MIT */
#include "lnd/conn_internal.h"

static uint32_t count_waiting(const struct o2_conn *conn)
{
	uint32_t count = 0;

	for (const struct o2_tx *tx = conn->list[O2_LIST_QUEUE].first; tx != NULL; tx = tx->next)
		count += o2_takes_reserve(tx->type);
	for (const struct o2_tx *tx = conn->list[O2_LIST_ACTIVE].first; tx != NULL; tx = tx->next)
		count += tx->waiting && o2_takes_reserve(tx->type);
	return count;
}

void o2_conn_view(const struct o2_conn *conn, struct o2_conn_view *view)
{
	const struct o2_credits *credits = &conn->credits;

	*view = (struct o2_conn_view){
		.state = conn->state,
		.version = credits->version,
		.queue_depth = credits->queue_depth,
		.high_water = credits->high_water,
		.concurrent_sends = credits->concurrent_sends,
		.credits = credits->credits,
		.outstanding = credits->outstanding,
		.reserved = credits->reserved,
		.granted = credits->granted,
		.peer_requests = credits->peer_requests,
		.sends_in_flight = credits->in_flight,
		.noops_in_flight = credits->noops_in_flight,
		.queued_noops = conn->list[O2_LIST_NOOPS].count,
		.queued = conn->list[O2_LIST_QUEUE].count,
		.queued_reserved = conn->list[O2_LIST_RESERVED].count,
		.queued_window = conn->list[O2_LIST_WINDOW].count,
		.queued_nocred = conn->list[O2_LIST_NOCRED].count,
		.active = conn->list[O2_LIST_ACTIVE].count + conn->list[O2_LIST_INVALIDATE].count,
		.waiting = count_waiting(conn),
		.puts_accepted = conn->puts_accepted,
		.parked = conn->nparked,
		.parked_for_window = conn->parked_for_window,
		.open = conn->nopen,
		.send_wrs = conn->send_wrs,
		.send_wrs_max = conn->send_wrs_max,
		.recv_wrs = conn->recv_wrs,
		.recv_wrs_max = conn->nrecv,
		.cq_entries = conn->cq_entries,
		.credit_messages_sent = credits->messages_sent,
		.credit_messages_handled = credits->messages_handled,
		.credits_sent = credits->credits_sent,
		.credits_received = credits->credits_received,
		.noops_sent = credits->noops_sent,
		.noops_received = credits->noops_received,
	};
}
