/* SPDX-License-Identifier: MIT */
#include "props/talk/nodes_internal.h"

/*
 * One attempt per second (docs/connection.md, "Times"), to the millisecond.  A drawn network rarely fails ten in a
 * row.
 */

#define FAST	  10u	/* attempts in a row that do not wait */
#define SECOND_MS 1000u /* after these, from one to the next */

/* Reject all attempts as the connection manager would for a stale queue pair: a waiting node asks again. */
static void refuse_all(struct o2_nodes_seat *seat, uint32_t to)
{
	for (uint32_t n = 0; n < O2_NODES_ENDS && !seat->nodes->report->failed; n++) {
		const struct o2_nodes_end *end = &seat->end[n];
		const struct o2_cm_event event = {
			.type = O2_CM_REJECTED,
			.id = (struct o2_cm_id *)(uintptr_t)end->id,
			.reason = O2_CM_REJECT_STALE,
		};

		if (end->id != NULL && end->to == to && !end->up && !end->over)
			seat->cm->handler(seat->cm->context, &event);
	}
}

/* While every attempt is refused, what waits for one ends 10 s after the time of an attempt, to the millisecond. */
static void refuse_until_late(struct o2_nodes_seat *seat)
{
	struct o2_nodes *nodes = seat->nodes;
	const uint64_t due_ms =
		seat->op[seat->nops - 1].started_ms + o2_nodes_attempt_ms(seat) + O2_NODES_WAITING_EXTRA_MS;

	while (!nodes->report->failed && nodes->ground.now_ms < due_ms) {
		const uint64_t left_ms = due_ms - nodes->ground.now_ms;

		refuse_all(seat, 0);
		o2_nodes_progress(seat);
		o2_nodes_clock(nodes, left_ms < SECOND_MS ? left_ms : SECOND_MS);
	}
}

/* Node 1 is used, because it has sent the fewest operations; none of its requests is delivered. */
void o2_nodes_check_slow(struct o2_nodes *nodes)
{
	struct o2_nodes_seat *seat = &nodes->seat[1];
	uint64_t late_ms;

	if (!nodes->ground.ops->may_fail || !o2_draw_bool(nodes->choice, 7, 1))
		return;
	o2_nodes_close_peer(seat, 0, 0);
	o2_nodes_settle(nodes);
	if (nodes->report->failed || o2_nodes_count_ends(seat, 0, false) > 0)
		return;
	o2_nodes_start_plain(nodes, seat, 0, O2_REG_GLOBAL);
	o2_nodes_progress(seat);
	for (uint32_t n = 0; n < FAST && !nodes->report->failed && seat->pair[0].attempts < FAST; n++) {
		refuse_all(seat, 0);
		o2_nodes_progress(seat);
	}
	/* The time of the answer does not matter, only the time of the attempt. */
	late_ms = o2_draw_range(nodes->choice, 0, SECOND_MS - 1);
	o2_nodes_clock(nodes, late_ms);
	refuse_all(seat, 0);
	o2_nodes_clock(nodes, SECOND_MS - 1 - late_ms);
	o2_nodes_clock(nodes, 1);
	if (o2_draw_bool(nodes->choice, 1, 1))
		refuse_until_late(seat);
	if (!nodes->report->failed)
		o2_nodes_settle(nodes);
}
