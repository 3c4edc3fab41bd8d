/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>

#include "props/talk/nodes_internal.h"

/* The faults of operations that lost their connection or never got one, and checks for overdue operations. */

/* A connection's operations end first: the one that caused the fault with that fault, the others due to it. */
void o2_nodes_check_its_operations(struct o2_nodes_seat *seat, uint32_t with,
				   const struct o2_transfer_fault *fault)
{
	const struct o2_transfer_fault because = o2_nodes_because(fault);
	uint32_t culprits = 0;

	for (uint32_t n = 0; n < seat->now.nlost; n++) {
		const struct o2_transfer_fault *is = &seat->now.lost[n].fault;
		const uint64_t age_ms = seat->nodes->ground.now_ms - seat->now.lost[n].op->started_ms;

		if (seat->now.lost[n].with != with)
			continue;
		if (o2_nodes_same_fault(is, &because))
			continue;
		if (is->side == O2_FAULT_DEADLINE && fault->side == O2_FAULT_DEADLINE) {
			if (is->code == -ETIMEDOUT && o2_same_text(is->error.rule, "conn/deadline") &&
			    is->error.limit == fault->error.limit && is->error.value >= is->error.limit &&
			    is->error.value <= age_ms)
				continue;
		} else if (o2_nodes_same_fault(is, fault) && fault->side == O2_FAULT_LOCAL_COMPLETION &&
			   culprits++ == 0) {
			continue;
		}
		o2_nodes_fail_fault(seat, with, "an operation", is, &because);
	}
	seat->now.nlost = 0;
}

/* The operation waited too long for a connection. */
static bool is_late(const struct o2_nodes_seat *seat, const struct o2_nodes_op *op,
		    const struct o2_transfer_fault *fault)
{
	const uint64_t age_ms = seat->nodes->ground.now_ms - op->started_ms;
	const uint64_t limit_ms = o2_nodes_attempt_ms(seat) + O2_NODES_WAITING_EXTRA_MS;
	struct o2_transfer_fault foretold =
		o2_nodes_fault(O2_FAULT_DEADLINE, -ETIMEDOUT, "node/waiting", "age in ms", age_ms, limit_ms);

	foretold.wait = O2_WAIT_CONNECTION;
	if (seat->now.doing != O2_NODES_IS_TOLD_THE_TIME || age_ms < limit_ms ||
	    !o2_nodes_same_fault(&foretold, fault))
		return false;
	o2_nodes_seen(seat->nodes, O2_NODES_SEEN_WAITED);
	return true;
}

/* The operation waited, and the last attempt or connection that could have served it has ended. */
static bool has_lost_hope(const struct o2_nodes_seat *seat, uint32_t with,
			  const struct o2_transfer_fault *fault)
{
	const struct o2_nodes_moment *now = &seat->now;
	const bool ours =
		now->doing == O2_NODES_ENDS_ALL || (now->doing == O2_NODES_CLOSES && now->with == with);
	const struct o2_transfer_fault close =
		now->code != 0 ? o2_nodes_fault(O2_FAULT_CLOSED, now->code, "conn/closed", "errno",
						(uint64_t)-now->code, O2_NO_LIMIT)
			       : o2_nodes_fault(O2_FAULT_NONE, 0, NULL, NULL, 0, 0);
	struct o2_transfer_fault foretold, because;

	if (ours) {
		because = o2_nodes_because(&close);
		return o2_nodes_same_fault(&because, fault);
	}
	if (seat->lost && now->doing == O2_NODES_HEARS) {
		because = o2_nodes_device_lost();
		return o2_nodes_same_fault(&because, fault);
	}
	if (!now->is_down[with] || o2_nodes_count_ends(seat, with, false) > 0)
		return false;
	if (now->event != NULL && now->end != NULL && now->event->type == O2_CM_REJECTED && now->end->asked &&
	    !now->end->up && o2_nodes_rejected(seat, now->end, now->event, &foretold))
		return false; /* the attempt had to be repeated */
	because = o2_nodes_because(&now->down[with]);
	return o2_nodes_same_fault(&now->down[with], fault) ? fault->code != 0
							    : o2_nodes_same_fault(&because, fault);
}

void o2_nodes_check_lost(struct o2_nodes_seat *seat, uint32_t with, const struct o2_nodes_op *op,
			 bool initiator, const struct o2_transfer_fault *fault)
{
	struct o2_nodes_moment *now = &seat->now;

	if (initiator && (is_late(seat, op, fault) || has_lost_hope(seat, with, fault)))
		return;
	if (now->nlost == O2_NODES_LOST || now->doing == O2_NODES_NOTHING) {
		o2_nodes_fail_fault(seat, with, "an operation", fault, NULL);
		return;
	}
	now->lost[now->nlost].op = op;
	now->lost[now->nlost].with = with;
	now->lost[now->nlost++].fault = *fault;
}

/* The node was told the time: check that nothing is left that it should have ended. */
void o2_nodes_check_overdue(struct o2_nodes_seat *seat)
{
	const uint64_t now_ms = seat->nodes->ground.now_ms;

	for (uint32_t n = 0; n < O2_NODES_ENDS; n++) {
		const struct o2_nodes_end *end = &seat->end[n];

		if (end->id != NULL && !end->up && !end->over &&
		    now_ms - end->since_ms >= o2_nodes_attempt_ms(seat))
			o2_report_fail(seat->nodes->report, "nodes/overdue",
				       "an attempt of node %" PRIu32 " to connect with node %" PRIu32
				       " is %" PRIu64 " ms old",
				       seat->index, end->to, now_ms - end->since_ms);
		/* The connection manager has as long as for an attempt to end its part. */
		if (end->id != NULL && end->over && !end->gone &&
		    now_ms - end->over_ms >= o2_nodes_attempt_ms(seat))
			o2_report_fail(seat->nodes->report, "nodes/overdue",
				       "a connection of node %" PRIu32 " with node %" PRIu32
				       " is closing since %" PRIu64 " ms",
				       seat->index, end->to, now_ms - end->over_ms);
	}
	for (uint32_t k = 0; k < seat->nops; k++) {
		const struct o2_nodes_op *op = &seat->op[k];

		if (op->started && op->ended == 0 && o2_nodes_count_ends(seat, op->to, true) == 0 &&
		    now_ms - op->started_ms >= o2_nodes_attempt_ms(seat) + O2_NODES_WAITING_EXTRA_MS)
			o2_report_fail(seat->nodes->report, "nodes/overdue",
				       "operation %" PRIu32 " of node %" PRIu32
				       " waits for a connection since %" PRIu64 " ms",
				       k, seat->index, now_ms - op->started_ms);
	}
}

/* --- the device is lost --- */

struct o2_transfer_fault o2_nodes_device_lost(void)
{
	return o2_nodes_fault(O2_FAULT_DEVICE, -ENODEV, "node/device-lost", "device", 0, O2_NO_LIMIT);
}

static void check_nothing_left(struct o2_nodes_seat *seat)
{
	const struct o2_nodes_op *op = &seat->op[seat->nops - 1];
	struct o2_peer_view view;

	for (uint32_t j = 0; j < seat->nodes->nseats; j++) {
		o2_node_peer(seat->node, o2_nodes_nid(seat->nodes, j), &view);
		if (view.known || o2_nodes_count_ends(seat, j, false) > 0)
			o2_report_fail(seat->nodes->report, "nodes/device-lost",
				       "node %" PRIu32 " has lost its device, and has %" PRIu32
				       " attempts due with node %" PRIu32 ", %" PRIu32 " ends of connections",
				       seat->index, view.attempts_due, j,
				       o2_nodes_count_ends(seat, j, false));
	}
	if (op->started && op->ended != 1)
		o2_report_fail(seat->nodes->report, "nodes/device-lost",
			       "an operation of node %" PRIu32 ", which has lost its device, has ended "
			       "%" PRIu32 " times",
			       seat->index, op->ended);
}

/* A later operation is refused. */
static void check_refuses(struct o2_nodes_seat *seat)
{
	const int rc = o2_nodes_start_plain(seat->nodes, seat, 0, O2_REG_GLOBAL);

	if (rc != -ENODEV || seat->op[seat->nops - 1].ended > 0)
		o2_report_fail(seat->nodes->report, "nodes/device-lost",
			       "node %" PRIu32
			       " has lost its device, and answers the start of an operation with %d",
			       seat->index, rc);
}

/*
 * Node 1 is used: it has sent the fewest operations.  It has a connection or none, and attempts due or made.
 */
void o2_nodes_check_device_lost(struct o2_nodes *nodes)
{
	const struct o2_cm_event event = {.type = O2_CM_DEVICE_LOST, .code = -ENODEV};
	struct o2_nodes_seat *seat = &nodes->seat[1];

	if (!nodes->ground.ops->may_fail || !o2_draw_bool(nodes->choice, 7, 1))
		return;
	if (o2_draw_bool(nodes->choice, 1, 3)) {
		o2_nodes_close_peer(seat, 0, 0);
		o2_nodes_settle(nodes);
	}
	if (!nodes->report->failed)
		o2_nodes_start_plain(nodes, seat, 0, O2_REG_GLOBAL);
	if (!nodes->report->failed && o2_draw_bool(nodes->choice, 1, 1))
		o2_nodes_progress(seat);
	seat->lost = true;
	if (!nodes->report->failed)
		seat->cm->handler(seat->cm->context, &event);
	if (!nodes->report->failed)
		o2_nodes_progress(seat);
	if (!nodes->report->failed)
		check_nothing_left(seat);
	if (!nodes->report->failed)
		check_refuses(seat);
	o2_nodes_seen(nodes, O2_NODES_SEEN_DEVICE_LOST);
}
