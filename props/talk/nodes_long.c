/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>

#include "props/talk/nodes_internal.h"

/* Messages as long as a connection takes them, and longer by a byte (docs/transport.md, "IMMEDIATE"). */

static void wrong(struct o2_nodes_seat *seat, const char *what, uint32_t bytes, int rc)
{
	o2_report_fail(seat->nodes->report, "nodes/long",
		       "a message of node %" PRIu32 " of %" PRIu32 " bytes, %s: %d", seat->index, bytes, what,
		       rc);
}

/* The only connection with that node; NULL: there is none, or several. */
static const struct o2_nodes_end *only_end(const struct o2_nodes_seat *seat, uint32_t to)
{
	const struct o2_conn *conn = o2_node_conn(seat->node, o2_nodes_nid(seat->nodes, to), 0);

	if (conn == NULL || o2_nodes_count_ends(seat, to, false) != 1)
		return NULL;
	return o2_nodes_end_of((struct o2_nodes_seat *)(uintptr_t)seat, to, o2_conn_qp(conn)->qp_num);
}

/* The connection with the shortest messages, of those that are the only one of two nodes. */
static const struct o2_nodes_end *choose(struct o2_nodes *nodes, struct o2_nodes_seat **seat)
{
	const struct o2_nodes_end *chosen = NULL;

	for (uint32_t i = 0; i < nodes->nseats; i++)
		for (uint32_t j = 0; j < nodes->nseats; j++) {
			const struct o2_nodes_end *end = i == j ? NULL : only_end(&nodes->seat[i], j);

			if (end == NULL ||
			    (chosen != NULL && end->terms.max_msg_size >= chosen->terms.max_msg_size))
				continue;
			chosen = end;
			*seat = &nodes->seat[i];
		}
	return chosen;
}

/* One byte too many is refused as plain bytes, and goes as a PUT from memory. */
static void check_limit(struct o2_nodes_seat *seat, const struct o2_nodes_end *end)
{
	const uint32_t most = end->terms.max_msg_size - O2_NODES_HEADERS, to = end->to;
	struct o2_nodes *nodes = seat->nodes;
	int rc = o2_nodes_start_long(nodes, seat, to, most, true);

	if (rc != 0)
		wrong(seat, "which fits", most, rc);
	rc = o2_nodes_start_long(nodes, seat, to, most + 1, true);
	if (rc != -EMSGSIZE)
		wrong(seat, "as plain bytes, which do not fit", most + 1, rc);
	rc = o2_nodes_start_long(nodes, seat, to, most + 1, false);
	if (rc != 0)
		wrong(seat, "from memory, which do not fit", most + 1, rc);
	o2_nodes_seen(nodes, most + O2_NODES_HEADERS < O2_NODES_MSG_BYTES ? O2_NODES_SEEN_LONG_SMALLER
									  : O2_NODES_SEEN_LONG);
	o2_nodes_settle(nodes);
}

/* The limit is found when there is a connection. */
static void check_waiting(struct o2_nodes *nodes, struct o2_nodes_seat *seat, uint32_t to)
{
	int rc;

	o2_nodes_close_peer(seat, to, 0);
	o2_nodes_settle(nodes);
	if (nodes->report->failed || o2_nodes_count_ends(seat, to, false) > 0)
		return;
	rc = o2_nodes_start_long(nodes, seat, to, O2_NODES_PAYLOAD + 1, true);
	if (rc != 0)
		wrong(seat, "which waits", O2_NODES_PAYLOAD + 1, rc);
	o2_nodes_settle(nodes);
	if (seat->op[seat->nops - 1].status == -EMSGSIZE)
		o2_nodes_seen(nodes, O2_NODES_SEEN_LONG_WAITED);
}

void o2_nodes_check_long(struct o2_nodes *nodes)
{
	struct o2_nodes_seat *seat = NULL;
	const struct o2_nodes_end *end;
	uint32_t to;

	end = choose(nodes, &seat);
	/* Few cases have a peer that takes only shorter messages. */
	if (end == NULL ||
	    !o2_draw_bool(nodes->choice, 3, end->terms.max_msg_size < O2_NODES_MSG_BYTES ? 6 : 1))
		return;
	to = end->to;
	check_limit(seat, end);
	if (!nodes->report->failed && o2_draw_bool(nodes->choice, 1, 1))
		check_waiting(nodes, seat, to);
}
