/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "lnd/conn_internal.h"
#include "props/nodes_internal.h"
#include "wire/reject.h"

/* What connections have agreed upon, and what becomes of what a reject tells. */

static uint32_t smaller(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* The most that both can do; in version 1 the depth is always the same. */
static void expect(struct o2_nodes *nodes, const struct o2_nodes_seat *a, const struct o2_nodes_seat *b,
		   const struct o2_conn *conn)
{
	const struct o2_conn_config *x = &a->config.conn, *y = &b->config.conn;
	uint32_t version = smaller(x->version, y->version);
	uint32_t depth =
		version == O2_MSG_VERSION_1 ? O2_QUEUE_DEPTH_V1 : smaller(x->queue_depth, y->queue_depth);
	uint32_t frags = smaller(x->max_frags, y->max_frags);
	struct o2_conn_view view;

	o2_conn_view(conn, &view);
	if (view.version != version || view.queue_depth != depth || conn->config.max_frags != frags)
		o2_report_fail(nodes->report, "nodes/terms",
			       "node %" PRIu32 " has agreed with node %" PRIu32
			       " upon version 0x%x, depth %" PRIu32 ", %" PRIu32
			       " fragments; both can do 0x%" PRIx32 ", %" PRIu32 ", %" PRIu32,
			       a->index, b->index, view.version, view.queue_depth, conn->config.max_frags,
			       version, depth, frags);
}

void o2_nodes_check_up(struct o2_nodes_seat *seat, uint64_t nid)
{
	struct o2_nodes *nodes = seat->nodes;
	uint32_t j = (uint32_t)(nid - o2_nodes_nid(0));
	struct o2_nodes_pair *pair = &seat->pair[j];
	struct o2_conn *conn;
	uint32_t n = 0;

	for (; (conn = o2_node_conn(seat->node, nid, n)) != NULL; n++)
		expect(nodes, seat, &nodes->seat[j], conn);
	if (n > 1)
		o2_nodes_seen(nodes, O2_NODES_SEEN_SEVERAL);
	else if (pair->was_up)
		o2_nodes_seen(nodes, O2_NODES_SEEN_RECONNECT);
	pair->was_up = true;
}

static uint32_t count_conns(const struct o2_nodes_seat *a, const struct o2_nodes_seat *b)
{
	uint32_t n = 0;

	while (o2_node_conn(a->node, o2_nodes_nid(b->index), n) != NULL)
		n++;
	return n;
}

/* At rest: each connection has another end, which has agreed upon the same (as expect has it). */
void o2_nodes_check_ends(struct o2_nodes *nodes)
{
	for (uint32_t i = 0; i < nodes->nseats; i++)
		for (uint32_t j = 0; j < nodes->nseats; j++) {
			const struct o2_nodes_seat *a = &nodes->seat[i], *b = &nodes->seat[j];

			if (i == j)
				continue;
			if (count_conns(a, b) != count_conns(b, a))
				o2_report_fail(nodes->report, "nodes/one-sided",
					       "node %" PRIu32 " has %" PRIu32
					       " connections with node %" PRIu32 ", which has %" PRIu32,
					       i, count_conns(a, b), j, count_conns(b, a));
			for (uint32_t n = 0; n < count_conns(a, b); n++)
				expect(nodes, a, b, o2_node_conn(a->node, o2_nodes_nid(j), n));
		}
}

/* A node that has forgotten another one may be told its limits again. */
void o2_nodes_forget(struct o2_nodes *nodes)
{
	for (uint32_t i = 0; i < nodes->nseats; i++)
		for (uint32_t j = 0; j < nodes->nseats; j++) {
			struct o2_peer_view view;

			o2_node_peer(nodes->seat[i].node, o2_nodes_nid(j), &view);
			if (!view.known)
				nodes->seat[i].pair[j].told = 0;
		}
}

static void count_reject(struct o2_nodes *nodes, const struct o2_reject *reject)
{
	if (reject->ibr_why == O2_REJECT_CONN_RACE)
		o2_nodes_seen(nodes, O2_NODES_SEEN_RACE);
	else if (reject->ibr_why == O2_REJECT_CONN_STALE)
		o2_nodes_seen(nodes, O2_NODES_SEEN_STALE);
	else if (reject->ibr_why == O2_REJECT_MSG_QUEUE_SIZE)
		o2_nodes_seen(nodes, O2_NODES_SEEN_REJECT_DEPTH);
	else if (reject->ibr_why == O2_REJECT_RDMA_FRAGS)
		o2_nodes_seen(nodes, O2_NODES_SEEN_REJECT_FRAGS);
	else if (reject->ibr_why == O2_REJECT_NO_RESOURCES)
		o2_nodes_seen(nodes, O2_NODES_SEEN_NO_RESOURCES);
	else if (reject->ibr_version == O2_MSG_VERSION_1)
		o2_nodes_seen(nodes, O2_NODES_SEEN_REJECT_VERSION);
}

/*
 * The event goes on to the node.  One that tells a limit may be followed by another attempt as often as
 * attempts were under way with the old figures, that is conns_per_peer times while the two know each other.
 */
static void on_event(void *context, const struct o2_cm_event *event)
{
	struct o2_nodes_seat *seat = context;
	struct o2_nodes *nodes = seat->nodes;
	struct o2_peer_view before[O2_NODES_MAX], after;
	struct o2_reject reject = {.ibr_why = 0};
	bool limit;

	if (event->type == O2_CM_REJECTED && event->reason == O2_CM_REJECT_NO_LISTENER)
		o2_nodes_seen(nodes, O2_NODES_SEEN_NO_LISTENER);
	if (event->type == O2_CM_UNREACHABLE)
		o2_nodes_seen(nodes, O2_NODES_SEEN_UNREACHABLE);
	if (event->type == O2_CM_REJECTED && event->reason == O2_CM_REJECT_CONSUMER &&
	    o2_reject_decode(event->private_data, event->private_bytes, &reject, NULL) == 0)
		count_reject(nodes, &reject);
	limit = reject.ibr_why == O2_REJECT_MSG_QUEUE_SIZE || reject.ibr_why == O2_REJECT_RDMA_FRAGS;
	for (uint32_t j = 0; j < nodes->nseats; j++)
		o2_node_peer(seat->node, o2_nodes_nid(j), &before[j]);
	seat->handler(seat->handler_context, event);
	for (uint32_t j = 0; limit && j < nodes->nseats; j++) {
		o2_node_peer(seat->node, o2_nodes_nid(j), &after);
		if (after.attempts_due > before[j].attempts_due &&
		    ++seat->pair[j].told > seat->config.conns_per_peer)
			o2_report_fail(nodes->report, "nodes/told-again",
				       "node %" PRIu32 " is told the limits of node %" PRIu32 " %" PRIu32
				       " times and asks again",
				       seat->index, j, seat->pair[j].told);
	}
}

void o2_nodes_watch(struct o2_nodes_seat *seat)
{
	seat->handler = seat->cm->handler;
	seat->handler_context = seat->cm->context;
	seat->cm->handler = on_event;
	seat->cm->context = seat;
}
