/* SPDX-License-Identifier: MIT */
#include "props/nodes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "props/nodes_internal.h"

#define LABEL_STEP 1u
#define MORE	   127u /* weight of another step */

static const struct o2_tally_row situations[O2_NODES_SITUATIONS] = {
	[O2_NODES_SEEN_PUT] = {"put", true},
	[O2_NODES_SEEN_GET] = {"get", true},
	[O2_NODES_SEEN_IMMEDIATE] = {"immediate", true},
	[O2_NODES_SEEN_THREE] = {"three_nodes", true},
	[O2_NODES_SEEN_RACE] = {"connection_race", true},
	[O2_NODES_SEEN_REJECT_DEPTH] = {"rejected_for_queue_depth", true},
	[O2_NODES_SEEN_REJECT_FRAGS] = {"rejected_for_fragments", true},
	[O2_NODES_SEEN_REJECT_VERSION] = {"rejected_for_version", true},
	[O2_NODES_SEEN_STALE] = {"rejected_as_stale", true},
	[O2_NODES_SEEN_NO_RESOURCES] = {"rejected_for_resources", true},
	[O2_NODES_SEEN_NO_LISTENER] = {"nobody_listens", true},
	[O2_NODES_SEEN_UNREACHABLE] = {"unreachable", true},
	[O2_NODES_SEEN_LOST] = {"message_lost", true},
	[O2_NODES_SEEN_REFUSED] = {"operation_refused", true},
	[O2_NODES_SEEN_BUSY] = {"start_refused_too_many_wait", true},
	[O2_NODES_SEEN_RECONNECT] = {"reconnected", true},
	[O2_NODES_SEEN_SEVERAL] = {"several_connections", true},
	[O2_NODES_SEEN_RESTART] = {"node_restarted", true},
	[O2_NODES_SEEN_CLOSE] = {"peer_closed", true},
	[O2_NODES_SEEN_HEADER_REFUSED] = {"lnet_header_refused", true},
};

enum step {
	STEP_DELIVER,
	STEP_PROGRESS,
	STEP_START,
	STEP_CLOCK,
	STEP_CLOSE,
	STEP_RESTART,
	STEPS,
};

static void run_step(struct o2_nodes *nodes)
{
	static const uint32_t weights[STEPS] = {50, 50, 24, 8, 1, 1};
	struct o2_choice *c = nodes->choice;
	enum step step = (enum step)o2_draw_weighted(c, weights, STEPS);
	struct o2_nodes_seat *seat = &nodes->seat[o2_draw_pick(c, nodes->nseats)];
	uint32_t to = (seat->index + 1 + (uint32_t)o2_draw_pick(c, nodes->nseats - 1)) % nodes->nseats;
	size_t choices = o2_cm_loop_choices(nodes->loop);

	switch (step) {
	case STEP_DELIVER:
		if (choices > 0)
			o2_cm_loop_deliver(nodes->loop, o2_draw_pick(c, choices));
		break;
	case STEP_PROGRESS:
		o2_node_progress(seat->node);
		break;
	case STEP_START:
		o2_nodes_start(nodes, seat, to);
		break;
	case STEP_CLOCK:
		o2_nodes_clock(nodes, o2_draw(c, 250));
		break;
	case STEP_CLOSE:
		o2_node_close_peer(seat->node, o2_nodes_nid(to), o2_draw_bool(c, 1, 1) ? -ECONNRESET : 0);
		o2_nodes_seen(nodes, O2_NODES_SEEN_CLOSE);
		break;
	default:
		o2_nodes_restart(seat);
		break;
	}
	if (!nodes->report->failed)
		o2_nodes_forget(nodes);
}

static void run_steps(struct o2_nodes *nodes)
{
	bool more = true;

	for (uint32_t step = 0; more && !nodes->report->failed; step++) {
		o2_span_begin(nodes->choice, LABEL_STEP);
		more = o2_draw_more(nodes->choice, step, 0, O2_NODES_STEPS, MORE);
		if (more)
			run_step(nodes);
		o2_span_end(nodes->choice);
	}
}

static enum o2_status run_case(void *context, struct o2_choice *choice, struct o2_report *report)
{
	struct o2_nodes_run *run = context;

	o2_report_clear(report);
	if (run->nodes == NULL)
		run->nodes = calloc(1, sizeof(*run->nodes));
	if (run->nodes == NULL) {
		o2_report_fail(report, "nodes/memory", "no memory for nodes");
		return O2_STATUS_INTERESTING;
	}
	run->nodes->run = run;
	run->nodes->choice = choice;
	run->nodes->report = report;
	o2_nodes_open(run->nodes);
	if (!report->failed)
		run_steps(run->nodes);
	if (!report->failed)
		o2_nodes_settle(run->nodes);
	o2_nodes_close(run->nodes);
	run->tally.cases += o2_choice_ok(choice);
	return o2_choice_status(choice, report->failed ? O2_STATUS_INTERESTING : O2_STATUS_VALID);
}

static void print(const void *context, uint32_t pieces, FILE *out)
{
	static const char *const kinds[O2_NODES_KINDS] = {"PUT", "GET", "IMMEDIATE",
							  "IMMEDIATE to be refused"};
	const struct o2_nodes *nodes = ((const struct o2_nodes_run *)context)->nodes;

	for (uint32_t i = 0; i < nodes->nseats; i++) {
		const struct o2_nodes_seat *seat = &nodes->seat[i];
		const struct o2_conn_config *conn = &seat->config.conn;

		fprintf(out,
			"  node %" PRIu32 ": version 0x%x, depth %" PRIu32 ", %" PRIu32 " fragments, %" PRIu32
			" connections with each other node, at most %" PRIu32 "\n",
			i, conn->version, conn->queue_depth, conn->max_frags, seat->config.conns_per_peer,
			seat->config.max_conns_per_peer);
		for (uint32_t k = 0; k < seat->nops && k < pieces; k++)
			fprintf(out,
				"    %s of %" PRIu32 " bytes to node %" PRIu32 "%s, ended %" PRIu32
				" times, status %d\n",
				kinds[seat->op[k].kind], seat->op[k].bytes, seat->op[k].to,
				seat->op[k].started ? "" : " not taken", seat->op[k].ended,
				seat->op[k].status);
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
		.print = print,
		.print_held = print_held,
		.result = o2_tally_result,
		.missing = o2_tally_missing,
		.line = o2_tally_line,
	};

	return o2_tally_property(&ops, run == NULL ? NULL : &run->tally, situations, O2_NODES_SITUATIONS,
				 200);
}
