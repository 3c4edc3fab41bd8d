/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "props/talk/nodes_internal.h"

/*
 * A burst: as many messages as a connection can have in flight, and one more, to a node that handles none of them
 * meanwhile.  As many are sent as there are credits; all arrive in order; all credits return.  The match bits hold
 * the number of each message.
 */

#define NUMBER_AT 16u  /* position in the match bits, above the node and the burst mark */
#define MOST	  256u /* operations that a connection accepts at a time */
#define WAITING	  4u   /* fewest messages whose order can go wrong after the refused one */

bool o2_nodes_is_burst(uint64_t match_bits)
{
	return (match_bits & 0xff) == O2_NODES_BURST;
}

void o2_nodes_burst_arrives(struct o2_nodes_seat *seat, const struct o2_lnet_hdr *hdr)
{
	const uint64_t number = hdr->msg.put.match_bits >> NUMBER_AT;

	if ((seat->nodes->broken ? number < seat->burst_arrived : number != seat->burst_arrived) ||
	    hdr->payload_length != 0)
		o2_report_fail(seat->nodes->report, "nodes/burst",
			       "message %" PRIu64 " of a burst has come to node %" PRIu32 " with %" PRIu32
			       " bytes, expected message %" PRIu32 " with none",
			       number, seat->index, hdr->payload_length, seat->burst_arrived);
	seat->burst_arrived = (uint32_t)number + 1;
}

void o2_nodes_burst_ends(struct o2_nodes_seat *seat, const struct o2_transfer_result *result)
{
	/* The refused message itself; those after it end because the connection, or a later attempt, did. */
	seat->burst_culprits += result->fault.side == O2_FAULT_LOCAL_STAGE;
	if ((result->status != 0 && (!seat->nodes->broken || seat->burst_culprits > 1)) || !result->initiator)
		o2_report_fail(seat->nodes->report, "nodes/burst", "a message of a burst has ended with %d",
			       result->status);
	seat->burst_ended++;
}

static void send(struct o2_nodes_seat *seat, uint32_t to, uint32_t number)
{
	const struct o2_lnet_hdr hdr = {
		.dest_nid = o2_nodes_nid(seat->nodes, to),
		.src_nid = o2_nodes_nid(seat->nodes, seat->index),
		.type = O2_LNET_PUT,
		.msg.put = {.ack_wmd = {UINT64_MAX, UINT64_MAX},
			    .match_bits = (uint64_t)number << NUMBER_AT | (uint64_t)seat->index << 8 |
					  O2_NODES_BURST},
	};
	int rc;

	o2_nodes_begin(seat, O2_NODES_STARTS, to, 0);
	rc = o2_node_send_bytes(seat->node, hdr.dest_nid, &hdr, NULL, 0, O2_NODES_SLOTS, NULL);
	o2_nodes_finish(seat);
	if (rc != 0)
		o2_report_fail(seat->nodes->report, "nodes/burst", "message %" PRIu32 " of a burst: %d",
			       number, rc);
}

/* Check that the messages sent are those that credits allowed; the other node owed fewer credits than it may. */
static void check_sent(struct o2_nodes_seat *seat, const struct o2_nodes_end *end, uint64_t before)
{
	const uint32_t depth = end->terms.queue_depth;
	const bool first = end->terms.version == O2_MSG_VERSION_1;
	struct o2_conn_view view;
	uint64_t sent;

	o2_conn_view(o2_node_conn(seat->node, o2_nodes_nid(seat->nodes, end->to), 0), &view);
	sent = view.flow.messages_sent - before;
	/* Version 1 reserves the last credit for a NOOP. */
	if (sent > depth - first || view.flow.credits > first)
		o2_report_fail(seat->nodes->report, "nodes/burst",
			       "%" PRIu64 " messages have gone out at depth %" PRIu32 ", %" PRIu32
			       " credits are left",
			       sent, depth, view.flow.credits);
	if (sent > 32)
		o2_nodes_seen(seat->nodes, O2_NODES_SEEN_BURST);
}

void o2_nodes_check_burst(struct o2_nodes *nodes)
{
	struct o2_nodes_seat *seat = &nodes->seat[0], *there = &nodes->seat[1];
	const struct o2_conn *conn = o2_node_conn(seat->node, o2_nodes_nid(nodes, 1), 0);
	const struct o2_nodes_end *end =
		conn != NULL ? o2_nodes_end_of(seat, 1, o2_conn_qp(conn)->qp_num) : NULL;
	struct o2_conn_view view;
	uint32_t count;

	if (!nodes->deep || end == NULL || o2_nodes_count_ends(seat, 1, true) != 1)
		return;
	o2_conn_view(conn, &view);
	count = end->terms.queue_depth + 1u < MOST ? end->terms.queue_depth + 1u : MOST;
	seat->burst_ended = there->burst_arrived = 0;
	for (uint32_t n = 0; n < count && !nodes->report->failed; n++) {
		send(seat, 1, n);
		while (!nodes->report->failed && o2_nodes_progress(seat) > 0)
			;
	}
	if (!nodes->report->failed)
		check_sent(seat, end, view.flow.messages_sent);
	if (!nodes->report->failed)
		o2_nodes_settle(nodes);
	if (!nodes->report->failed && (seat->burst_ended != count || there->burst_arrived != count))
		o2_report_fail(nodes->report, "nodes/burst",
			       "of %" PRIu32 " messages of a burst %" PRIu32 " have arrived and %" PRIu32
			       " have ended",
			       count, there->burst_arrived, seat->burst_ended);
}

/*
 * All messages wait for a connection.  The device refuses the first one as the connection comes up; those after it
 * wait for the next connection, if there is to be one; else they end.
 */
void o2_nodes_check_order(struct o2_nodes *nodes)
{
	struct o2_nodes_seat *seat = &nodes->seat[0], *there = &nodes->seat[1];

	if (!nodes->ground.ops->may_fail || seat->config.max_waiting < WAITING ||
	    !o2_nodes_can_connect(seat, there) || !o2_draw_bool(nodes->choice, 3, 1))
		return;
	o2_nodes_close_peer(seat, 1, 0);
	o2_nodes_settle(nodes);
	if (nodes->report->failed || o2_nodes_count_ends(seat, 1, false) > 0)
		return;
	seat->burst_ended = there->burst_arrived = 0;
	seat->burst_culprits = 0;
	nodes->broken = seat->refuses_a_send = true;
	for (uint32_t n = 0; n < WAITING && !nodes->report->failed; n++)
		send(seat, 1, n);
	if (!nodes->report->failed)
		o2_nodes_settle(nodes);
	if (!nodes->report->failed && seat->burst_ended != WAITING)
		o2_report_fail(nodes->report, "nodes/burst",
			       "of %u messages that have waited for a connection %" PRIu32 " have ended",
			       WAITING, seat->burst_ended);
	if (there->burst_arrived == WAITING)
		o2_nodes_seen(nodes, O2_NODES_SEEN_BROKEN);
	nodes->broken = seat->refuses_a_send = false;
}
