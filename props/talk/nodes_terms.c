/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "lnd/conn/conn_internal.h"
#include "props/talk/nodes_internal.h"

/* Checks of the parameters that connections have agreed on. */

static void check_said(struct o2_nodes *nodes, const struct o2_nodes_end *end, const struct o2_conn *conn,
		       const struct o2_conn_view *view, uint32_t index)
{
	const struct o2_account said[] = {
		{"version", view->flow.version, end->terms.version},
		{"depth", view->flow.queue_depth, end->terms.queue_depth},
		{"fragments", conn->config.max_frags, end->terms.max_frags},
		{"longest message", conn->peer.max_msg_bytes, end->terms.max_msg_size},
		{"incarnation", conn->peer.incarnation, end->incarnation},
		{"checksum flavour", conn->config.cksum_flavour, end->flavour},
	};

	for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++)
		if (said[i].is != said[i].expected)
			o2_report_fail(nodes->report, "nodes/terms",
				       "node %" PRIu32 " is connected with node %" PRIu32 ": %s %" PRIu64
				       ", said was %" PRIu64,
				       index, end->to, said[i].what, said[i].is, said[i].expected);
}

/*
 * A connection must use the parameters stated when it was made, and both nodes must support these.  The statements
 * themselves have been checked before (nodes_said.c).
 */
static void expect(struct o2_nodes *nodes, const struct o2_nodes_seat *a, const struct o2_nodes_seat *b,
		   const struct o2_conn *conn)
{
	const struct o2_conn_config *x = &a->config.conn, *y = &b->config.conn;
	const struct o2_nodes_end *end =
		o2_nodes_end_of(&nodes->seat[a->index], b->index, o2_conn_qp(conn)->qp_num);
	const bool same_life = end != NULL && end->incarnation == b->place.ni.config.incarnation;
	struct o2_conn_view view;

	o2_conn_view(conn, &view);
	if (view.flow.queue_depth > 32)
		o2_nodes_seen(nodes, O2_NODES_SEEN_DEEP);
	if (end == NULL || !end->up) {
		o2_report_fail(nodes->report, "nodes/terms",
			       "node %" PRIu32 " has a connection with node %" PRIu32 " that was not made",
			       a->index, b->index);
		return;
	}
	o2_nodes_sync_flavours(&nodes->seat[a->index], b->index);
	check_said(nodes, end, conn, &view, a->index);
	if (same_life && (end->terms.version > o2_smaller(x->version, y->version) ||
			  end->terms.max_frags > o2_smaller(x->max_frags, y->max_frags) ||
			  (end->terms.version != O2_MSG_VERSION_1 &&
			   end->terms.queue_depth > o2_smaller(x->queue_depth, y->queue_depth))))
		o2_report_fail(nodes->report, "nodes/terms",
			       "node %" PRIu32 " has agreed with node %" PRIu32
			       " upon version 0x%x, depth %u, %u fragments; both can do 0x%" PRIx32
			       ", %" PRIu32 ", %" PRIu32,
			       a->index, b->index, end->terms.version, end->terms.queue_depth,
			       end->terms.max_frags, o2_smaller(x->version, y->version),
			       o2_smaller(x->queue_depth, y->queue_depth),
			       o2_smaller(x->max_frags, y->max_frags));
}

void o2_nodes_check_up(struct o2_nodes_seat *seat, uint32_t j)
{
	struct o2_nodes *nodes = seat->nodes;
	struct o2_nodes_pair *pair = &seat->pair[j];
	struct o2_conn *conn;
	uint32_t n = 0;

	for (; (conn = o2_node_conn(seat->node, o2_nodes_nid(nodes, j), n)) != NULL; n++)
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

	while (o2_node_conn(a->node, o2_nodes_nid(a->nodes, b->index), n) != NULL)
		n++;
	return n;
}

/* At rest: each connection has another end with the same parameters, those that expect() requires. */
void o2_nodes_check_ends(struct o2_nodes *nodes)
{
	for (uint32_t i = 0; i < nodes->nseats; i++)
		for (uint32_t j = 0; j < nodes->nseats; j++) {
			const struct o2_nodes_seat *a = &nodes->seat[i], *b = &nodes->seat[j];

			if (i == j)
				continue;
			if (count_conns(a, b) != o2_nodes_count_ends(a, j, true) ||
			    count_conns(a, b) != count_conns(b, a))
				o2_report_fail(nodes->report, "nodes/one-sided",
					       "node %" PRIu32 " has %" PRIu32
					       " connections with node %" PRIu32 ", which has %" PRIu32
					       "; %" PRIu32 " were made",
					       i, count_conns(a, b), j, count_conns(b, a),
					       o2_nodes_count_ends(a, j, true));
			for (uint32_t n = 0; n < count_conns(a, b); n++)
				expect(nodes, a, b, o2_node_conn(a->node, o2_nodes_nid(nodes, j), n));
		}
}

bool o2_nodes_can_connect(const struct o2_nodes_seat *seat, const struct o2_nodes_seat *other)
{
	const struct o2_conn_config *x = &seat->config.conn, *y = &other->config.conn;
	const bool first = o2_smaller(x->version, y->version) == O2_MSG_VERSION_1;

	/* A reject of version 0x11 cannot say that there are too many fragments. */
	return other->config.listen && (!first || x->max_frags <= y->max_frags);
}
