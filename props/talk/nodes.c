/* SPDX-License-Identifier: MIT */
#include "props/talk/nodes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "props/talk/nodes_internal.h"

#define LABEL_STEP   1u
#define MORE	     127u /* weight of another step */
#define ENOUGH_CASES 600u
#define ENOUGH_THERE 400u /* on real devices */

static const char *const situations[O2_NODES_SITUATIONS] = {O2_NODES_SITUATION_LIST(O2_SITUATION_NAME)};

/*
 * Situations not required on real devices: they need a network or device that fails by itself (such as ten failed
 * attempts in a row), three devices, or queues so deep that a kernel would have to provide room for all of them.
 */
static const enum o2_nodes_situation of_loop[] = {
	O2_NODES_SEEN_THREE,	 O2_NODES_SEEN_UNREACHABLE, O2_NODES_SEEN_LOST,
	O2_NODES_SEEN_DEEP,	 O2_NODES_SEEN_BURST,	    O2_NODES_SEEN_SLOW,
	O2_NODES_SEEN_WAITED,	 O2_NODES_SEEN_BROKEN,	    O2_NODES_SEEN_DEVICE_LOST,
	O2_NODES_SEEN_BAD_REPLY, O2_NODES_SEEN_UNCONFIRMED, O2_NODES_SEEN_LONG_SMALLER,
	O2_NODES_SEEN_INSIDE,	 O2_NODES_SEEN_NOT_MADE};

enum step {
	STEP_DELIVER,
	STEP_PROGRESS,
	STEP_START,
	STEP_CLOCK,
	STEP_CLOSE,
	STEP_RESTART,
	STEP_KILL,
	STEP_SET_UP,
	STEPS,
};

static bool run_step(void *context)
{
	static const uint32_t weights[STEPS] = {50, 50, 12, 8, 1, 1, 1, 1};
	struct o2_nodes *nodes = context;
	struct o2_choice *c = nodes->choice;
	enum step step = (enum step)o2_draw_weighted(c, weights, STEPS);
	struct o2_nodes_seat *seat = &nodes->seat[o2_draw_pick(c, nodes->nseats)];
	uint32_t to = (seat->index + 1 + (uint32_t)o2_draw_pick(c, nodes->nseats - 1)) % nodes->nseats;

	switch (step) {
	case STEP_DELIVER:
		nodes->ground.ops->deliver(&nodes->ground);
		break;
	case STEP_PROGRESS:
		o2_nodes_progress(seat);
		break;
	case STEP_START:
		for (uint32_t more = 1 + (uint32_t)o2_draw(c, 3); more > 0 && !nodes->report->failed; more--)
			o2_nodes_start(nodes, seat, to);
		break;
	case STEP_CLOCK:
		o2_nodes_clock(nodes, o2_draw(c, 250));
		break;
	case STEP_CLOSE:
		seat->starts_inside = o2_draw_bool(c, 1, 3);
		o2_nodes_close_peer(seat, to, o2_draw_bool(c, 1, 1) ? -ECONNRESET : 0);
		seat->starts_inside = false;
		break;
	case STEP_KILL:
		o2_nodes_kill(seat, to);
		break;
	case STEP_SET_UP:
		seat->early = !seat->early;
		o2_node_set_up(seat->node, !seat->early);
		break;
	default:
		o2_nodes_restart(seat);
		break;
	}
	if (!nodes->report->failed)
		o2_nodes_check_flow(nodes);
	return !nodes->report->failed;
}

static enum o2_status run_case(void *context, struct o2_choice *choice, struct o2_report *report)
{
	struct o2_nodes_run *run = context;

	run->nodes = o2_tally_place(run->nodes, sizeof(*run->nodes), "nodes/memory", report);
	if (run->nodes == NULL)
		return O2_STATUS_INTERESTING;
	run->nodes->run = run;
	run->nodes->choice = choice;
	run->nodes->report = report;
	o2_nodes_open(run->nodes);
	if (!report->failed)
		o2_draw_steps(choice, LABEL_STEP, O2_NODES_STEPS, MORE, run_step, run->nodes);
	if (!report->failed)
		o2_nodes_settle(run->nodes);
	if (!report->failed && o2_draw_bool(choice, 7, 1))
		o2_nodes_check_refused(run->nodes);
	if (!report->failed)
		o2_nodes_check_idle_pools(run->nodes);
	if (!report->failed)
		o2_nodes_check_growth(run->nodes);
	if (!report->failed)
		o2_nodes_check_burst(run->nodes);
	if (!report->failed)
		o2_nodes_check_long(run->nodes);
	if (!report->failed)
		o2_nodes_check_order(run->nodes);
	if (!report->failed)
		o2_nodes_check_slow(run->nodes);
	if (!report->failed)
		o2_nodes_check_device_lost(run->nodes);
	o2_nodes_close(run->nodes);
	return o2_tally_case(&run->tally, choice, report);
}

static void give_back(void *context)
{
	const struct o2_nodes_run *run = context;

	if (run->nodes != NULL)
		o2_arenas_end(&run->nodes->arenas);
}

static void print_op(const struct o2_nodes_op *op, FILE *out)
{
	static const char *const kinds[O2_NODES_KINDS] = {"PUT", "GET", "IMMEDIATE",
							  "IMMEDIATE to be refused"};
	static const char *const verdicts[O2_NODES_VERDICTS] = {"takes it", "takes less", "has no match",
								"answers with an errno"};

	fprintf(out,
		"    %s of %" PRIu32 " bytes to node %" PRIu32 ", which %s, %s to %s%s, ended %" PRIu32
		" times, status %d\n",
		kinds[op->kind], op->bytes, op->to, verdicts[op->verdict],
		o2_reg_mode_name(op->ours.memory.mode), o2_reg_mode_name(op->theirs.memory.mode),
		op->started ? "" : " not taken", op->ended, op->status);
}

static void print(const void *context, uint32_t pieces, FILE *out)
{
	const struct o2_nodes *nodes = ((const struct o2_nodes_run *)context)->nodes;

	for (uint32_t i = 0; i < nodes->nseats; i++) {
		const struct o2_nodes_seat *seat = &nodes->seat[i];
		const struct o2_conn_config *conn = &seat->config.conn;
		char text[512];

		fprintf(out,
			"  node %" PRIu32 ": version 0x%x, depth %" PRIu32 ", %" PRIu32 " fragments, %" PRIu32
			" connections with each other node, at most %" PRIu32 "\n",
			i, conn->version, conn->queue_depth, conn->max_frags, seat->config.conns_per_peer,
			seat->config.max_conns_per_peer);
		for (uint32_t k = 0; k < seat->nops && k < pieces; k++)
			print_op(&seat->op[k], out);
		if (seat->fault.side == O2_FAULT_NONE)
			continue;
		o2_fault_text(&seat->fault, text, sizeof(text));
		fprintf(out, "    last end of a connection: %s\n", text);
	}
}

static void print_held(const void *context, FILE *out)
{
	const struct o2_nodes *nodes = ((const struct o2_nodes_run *)context)->nodes;

	fprintf(out, "held: %" PRIu32 " nodes at rest\n", nodes->nseats);
}

struct o2_property o2_nodes_property(struct o2_nodes_run *run)
{
	static const struct o2_property_ops ops = {
		.name = "nodes",
		.summary =
			"nodes come to terms and serve each other in any order of events and on any network",
		.run_case = run_case,
		.give_back = give_back,
		.print = print,
		.print_held = print_held,
		O2_TALLY_OPS,
	};
	const bool here = run == NULL || run->ground->may_fail;
	struct o2_property property = o2_tally_property(&ops, run, situations, O2_NODES_SITUATIONS,
							here ? ENOUGH_CASES : ENOUGH_THERE);

	for (size_t i = 0; i < sizeof(of_loop) / sizeof(of_loop[0]) && !here; i++)
		run->tally.excused[of_loop[i]] = true;
	property.gives_back_slowly = true;
	return property;
}
