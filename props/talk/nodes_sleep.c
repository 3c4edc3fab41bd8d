/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <poll.h>

#include "props/talk/nodes_internal.h"

/* A node handles its completions, and at times prepares to sleep before (docs/transport.md, "Sleeping"). */

static uint32_t count_ended(const struct o2_nodes_seat *seat)
{
	uint32_t count = 0;

	for (uint32_t k = 0; k < seat->nops; k++)
		count += seat->op[k].ended;
	return count;
}

/* The first attempts to connect are made at once. */
static bool has_attempt_due(const struct o2_nodes_seat *seat)
{
	struct o2_peer_view view;
	bool due = false;

	for (uint32_t j = 0; j < seat->nodes->nseats; j++) {
		o2_node_peer(seat->node, o2_nodes_nid(seat->nodes, j), &view);
		due |= view.attempts_due > 0 && seat->pair[j].attempt == 0;
	}
	return due;
}

/* On a kernel's device this may change at any time. */
static bool is_exact(const struct o2_nodes_seat *seat)
{
	return seat->nodes->ground.ops->may_fail;
}

static bool is_woken(const struct o2_nodes_seat *seat)
{
	struct pollfd event = {.fd = o2_ni_fd(&seat->place.ni), .events = POLLIN};

	return poll(&event, 1, 0) > 0;
}

/* As a loop before it sleeps.  Returns true if the node may sleep. */
static bool arm(struct o2_nodes_seat *seat)
{
	const uint32_t ended = count_ended(seat);
	const int found = o2_node_arm(seat->node);

	if (found < 0 && !seat->lost)
		o2_report_fail(seat->nodes->report, "nodes/arm", "node %" PRIu32 " cannot sleep: %d",
			       seat->index, found);
	if (found == 0 &&
	    (count_ended(seat) != ended || has_attempt_due(seat) || (is_exact(seat) && is_woken(seat))))
		o2_report_fail(seat->nodes->report, "nodes/arm",
			       "node %" PRIu32
			       " may sleep, and has ended an operation just now, has an attempt due, or is "
			       "woken at once",
			       seat->index);
	return found == 0;
}

int o2_nodes_progress(struct o2_nodes_seat *seat)
{
	const bool sleeps = is_exact(seat) && seat->asleep && !is_woken(seat);
	const bool arms = o2_draw_bool(seat->nodes->choice, 7, 1);
	bool rests = false;
	int handled;

	o2_nodes_begin(seat, O2_NODES_PROGRESSES, O2_NODES_MAX, 0);
	seat->now.no_receives = seat->nodes->ground.faults && o2_draw_bool(seat->nodes->choice, 15, 1);
	if (arms)
		rests = arm(seat);
	handled = o2_node_progress(seat->node);
	if (handled > 0 && (sleeps || (is_exact(seat) && rests)))
		o2_report_fail(seat->nodes->report, "nodes/arm",
			       "%d completions of node %" PRIu32
			       " were there as it fell asleep, or do not wake it",
			       handled, seat->index);
	o2_nodes_finish(seat);
	seat->asleep = rests;
	if (rests)
		o2_nodes_seen(seat->nodes, O2_NODES_SEEN_ASLEEP);
	return handled + (arms && !rests);
}
