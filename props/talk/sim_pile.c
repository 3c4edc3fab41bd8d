/* SPDX-License-Identifier: MIT */
#include "props/talk/sim_events.h"

#define MOST_EVENTS 2000u
#define PILE_NOB    8u

static bool up(const struct o2_sim_end *end)
{
	return end->conn != NULL && !end->asleep && o2_conn_get_state(end->conn) == O2_CONN_ESTABLISHED;
}

/* Start an operation whose sink is an end's memory in mode fastreg; it is accepted in full. */
static bool start(struct o2_sim *sim, struct o2_sim_end *end, enum o2_transfer_op kind)
{
	struct o2_sim_op *op = &sim->op[sim->nops];
	const bool get = kind == O2_OP_GET;

	if (sim->nops == sim->most_ops || !o2_sim_ok(sim) || !up(end))
		return false;
	*op = (struct o2_sim_op){
		.id = sim->nops,
		.op = kind,
		.lnet_type = get ? O2_LNET_GET : O2_LNET_PUT,
		.end = end,
		.verdict = O2_SIM_ACCEPT,
		.nob = PILE_NOB,
		.wanted = PILE_NOB,
		.since_ms = sim->now_ms,
	};
	if (!o2_sim_memory_make(sim, end->node, PILE_NOB, get ? O2_REG_FASTREG : O2_REG_GLOBAL, 0,
				&op->ours) ||
	    !o2_sim_memory_make(sim, end->other->node, PILE_NOB, get ? O2_REG_GLOBAL : O2_REG_FASTREG, 0,
				&op->theirs))
		return false;
	o2_sim_op_add(sim, op);
	return true;
}

/* Execute all work requests of an end; returns their number. */
static uint32_t execute_all(struct o2_sim *sim, const struct o2_sim_end *end)
{
	uint32_t count = 0;

	while (count < MOST_EVENTS && o2_sim_ok(sim) && end->conn != NULL && o2_sim_execute_of(sim, end)) {
		o2_sim_check(sim);
		count++;
	}
	return count;
}

static uint32_t handle_all(struct o2_sim *sim, struct o2_sim_end *end)
{
	uint32_t count = 0;

	for (; count < MOST_EVENTS && o2_sim_ok(sim) && up(end) && o2_sim_has_completion(end); count++) {
		o2_sim_complete(sim, end);
		o2_sim_check(sim);
	}
	return count;
}

void o2_sim_pile(struct o2_sim *sim)
{
	struct o2_sim_end *end = &sim->end[o2_draw_pick(sim->choice, sim->nends)], *other = end->other;
	uint32_t events = 1;

	for (uint32_t i = 0; i < end->depth; i++)
		if (!start(sim, end, O2_OP_GET) || !start(sim, other, O2_OP_PUT))
			return;
	/* All requests and PUT_ACKs, but no answer of the other end. */
	for (uint32_t sum = 0; events > 0 && sum < MOST_EVENTS; sum += events) {
		events = execute_all(sim, end);
		events += execute_all(sim, other);
		events += handle_all(sim, end);
	}
	/* All answers of the other end. */
	events = 1;
	for (uint32_t sum = 0; events > 0 && sum < MOST_EVENTS; sum += events) {
		events = handle_all(sim, other);
		events += execute_all(sim, other);
	}
	handle_all(sim, end);
}
