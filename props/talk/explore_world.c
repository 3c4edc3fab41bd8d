/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include "props/talk/explore_internal.h"

/* The two ends of a search, and the events possible at each (docs/simulation.md, "Every order"). */

const char o2_explore_letters[O2_EXPLORE_EVENTS + 1] = "sSrRcCxX";

static void plan_op(struct o2_explore_world *world, uint32_t i)
{
	const struct o2_explore_config *config = world->config;
	struct o2_sim *sim = &world->sim;
	struct o2_sim_op *op = &sim->op[i];
	bool put = config->op[i].op == O2_OP_PUT;

	*op = (struct o2_sim_op){
		.id = i,
		.op = config->op[i].op,
		.lnet_type = config->op[i].op == O2_OP_GET ? O2_LNET_GET : O2_LNET_PUT,
		.end = &sim->end[config->op[i].end],
		.verdict = O2_SIM_ACCEPT,
		/* All sizes differ, so that operations cannot be confused. */
		.nob = config->nob + i,
		.wanted = config->nob + i,
		.since_ms = sim->now_ms,
	};
	if (!o2_sim_memory_make(sim, op->end->node, op->nob, config->mode, 8, &op->ours) ||
	    !o2_sim_memory_make(sim, op->end->other->node, op->wanted, config->mode, put ? 16 : 24,
				&op->theirs))
		o2_report_fail(sim->report, "explore/memory", "no memory for operation %" PRIu32, i);
	else
		o2_sim_memory_fill(op);
}

/* Index of the end's next operation at or after i, or nops. */
static uint32_t next_op(const struct o2_explore_config *config, uint32_t end, uint32_t i)
{
	while (i < config->nops && config->op[i].end != end)
		i++;
	return i;
}

void o2_explore_open(struct o2_explore_world *world, struct o2_report *report)
{
	struct o2_sim *sim = &world->sim;

	o2_explore_close(world);
	o2_choice_replay(&world->choice, NULL, 0);
	sim->run = &world->run;
	sim->choice = &world->choice;
	sim->report = report;
	o2_sim_world_make(sim, &world->config->conn);
	world->open = true;
	while (sim->nops < world->config->nops && o2_sim_ok(sim))
		plan_op(world, sim->nops++);
	for (uint32_t e = 0; e < 2; e++) {
		world->next_op[e] = next_op(world->config, e, 0);
		world->receives[e].count = 0;
		world->sends[e].count = 0;
	}
	if (o2_sim_ok(sim))
		o2_sim_check(sim);
	for (uint32_t e = 0; e < 2 && world->config->at_once; e++)
		while (world->next_op[e] < world->config->nops && o2_sim_ok(sim))
			o2_explore_happen(world, O2_EXPLORE_START * 2 + e);
}

void o2_explore_close(struct o2_explore_world *world)
{
	if (!world->open)
		return;
	world->open = false;
	o2_sim_world_close(&world->sim);
}

/* --- the device --- */

/* Index of the end in sim->runnable, or -1. */
static int runnable(const struct o2_sim *sim, uint32_t end)
{
	for (uint32_t i = 0; i < sim->nrunnable; i++)
		if (sim->runnable[i] == sim->end[end].qp_num)
			return (int)i;
	return -1;
}

/* Sort completions into two queues: those of requests and of receives have no order relative to each other. */
static void poll(struct o2_explore_world *world, uint32_t e)
{
	struct o2_sim *sim = &world->sim;
	struct ibv_cq *cq = o2_conn_cq(sim->end[e].conn);
	uint32_t most = sim->end[e].view.cq_entries;
	struct ibv_wc wc;

	while (o2_conn_get_state(sim->end[e].conn) == O2_CONN_ESTABLISHED && ibv_poll_cq(cq, 1, &wc) == 1) {
		struct o2_explore_queue *queue = wc.status == IBV_WC_SUCCESS && wc.opcode == IBV_WC_RECV
							 ? &world->receives[e]
							 : &world->sends[e];

		if (wc.status != IBV_WC_SUCCESS)
			o2_report_fail(sim->report, "explore/completion",
				       "end %" PRIu32 ": a work request fails with %s", e,
				       ibv_wc_status_str(wc.status));
		if (world->receives[e].count + world->sends[e].count == most ||
		    queue->count == O2_EXPLORE_HELD) {
			o2_report_fail(sim->report, "sim/completion-queue",
				       "end %" PRIu32 ": more than %" PRIu32 " completions", e, most);
			return;
		}
		queue->wc[queue->count++] = wc;
	}
}

static void execute(struct o2_explore_world *world, int index)
{
	struct o2_sim *sim = &world->sim;

	o2_sim_log(sim, O2_SIM_EV_EXECUTE, o2_sim_end_of_qp(sim, sim->runnable[index]), 0, 0);
	sim->run_next = index;
	o2_loop_progress();
	for (uint32_t e = 0; e < 2; e++)
		poll(world, e);
	o2_sim_check(sim);
	if (world->run.tally.seen[O2_SIM_SEEN_RNR] > 0)
		o2_report_fail(sim->report, "explore/rnr", "a message finds no receive");
}

/* --- events --- */

uint32_t o2_explore_enabled(struct o2_explore_world *world)
{
	uint32_t set = 0;

	o2_sim_look_at_device(&world->sim);
	for (uint32_t e = 0; e < 2; e++) {
		if (world->next_op[e] < world->config->nops)
			set |= 1u << (O2_EXPLORE_START * 2 + e);
		if (world->receives[e].count > 0)
			set |= 1u << (O2_EXPLORE_RECEIVE * 2 + e);
		if (world->sends[e].count > 0)
			set |= 1u << (O2_EXPLORE_COMPLETE * 2 + e);
		if (runnable(&world->sim, e) >= 0)
			set |= 1u << (O2_EXPLORE_EXECUTE * 2 + e);
	}
	return set;
}

static void handle(struct o2_explore_world *world, uint32_t e, struct o2_explore_queue *queue)
{
	struct o2_sim *sim = &world->sim;
	struct o2_sim_end *end = &sim->end[e];
	struct ibv_wc wc = queue->wc[0];

	queue->count--;
	memmove(queue->wc, queue->wc + 1, queue->count * sizeof(queue->wc[0]));
	o2_sim_log(sim, O2_SIM_EV_COMPLETION, end, wc.opcode, (int32_t)wc.status);
	if (queue == &world->receives[e])
		o2_sim_wire_handled(end, 1);
	o2_sim_stand_completed(end, &wc);
	sim->acting = end;
	o2_conn_complete(end->conn, &wc);
	sim->acting = NULL;
}

static void start(struct o2_explore_world *world, uint32_t e)
{
	struct o2_sim_op *op = &world->sim.op[world->next_op[e]];

	world->next_op[e] = next_op(world->config, e, world->next_op[e] + 1);
	o2_sim_op_launch(&world->sim, op);
}

void o2_explore_happen(struct o2_explore_world *world, uint32_t event)
{
	struct o2_sim *sim = &world->sim;
	uint32_t e = event % 2;

	o2_sim_look_at_device(sim);
	switch (event / 2) {
	case O2_EXPLORE_START:
		start(world, e);
		break;
	case O2_EXPLORE_RECEIVE:
		handle(world, e, &world->receives[e]);
		break;
	case O2_EXPLORE_COMPLETE:
		handle(world, e, &world->sends[e]);
		break;
	default:
		execute(world, runnable(sim, e));
		break;
	}
	o2_sim_check(sim);
	o2_sim_look_at_device(sim);
	while (!world->config->device && sim->nrunnable > 0 && o2_sim_ok(sim)) {
		execute(world, 0);
		o2_sim_look_at_device(sim);
	}
}

void o2_explore_check_finished(struct o2_explore_world *world)
{
	struct o2_sim *sim = &world->sim;

	/* An operation that had to be refused at its start never ends. */
	for (uint32_t i = 0; i < sim->nops; i++)
		if (sim->op[i].start_code == 0 && (!sim->op[i].started || !sim->op[i].ended))
			o2_report_fail(sim->report, "explore/deadlock",
				       "nothing can happen any more, and operation %" PRIu32 " has not ended",
				       i);
	if (o2_sim_ok(sim))
		o2_sim_check_rest(sim);
	if (o2_sim_ok(sim))
		o2_sim_memory_check_all(sim);
}
