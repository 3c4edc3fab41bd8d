/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include "props/engine/prng.h"
#include "props/talk/sim_internal.h"

/* The trace of events, and its printed form. */

void o2_sim_log(struct o2_sim *sim, enum o2_sim_event_kind kind, const struct o2_sim_end *end, uint32_t n,
		int32_t code)
{
	uint32_t who = end == NULL ? O2_SIM_ENDS : end->index;

	sim->log[sim->events++ % O2_SIM_LOG] = (struct o2_sim_event){kind, who, n, code};
	sim->trace = o2_mix64(sim->trace ^ ((uint64_t)kind << 56 | (uint64_t)who << 48 | n)) + (uint32_t)code;
}

static const char *const kind_names[O2_SIM_EV_KINDS] = {
	[O2_SIM_EV_START] = "starts operation",
	[O2_SIM_EV_ENDED] = "is told the end of its operation",
	[O2_SIM_EV_ENDED_THERE] = "is told the end of the other end's operation",
	[O2_SIM_EV_MATCHED] = "is asked to match operation",
	[O2_SIM_EV_RECEIVED] = "receives operation",
	[O2_SIM_EV_COMPLETION] = "handles a completion of kind",
	[O2_SIM_EV_EXECUTE] = "the device executes one of its work requests",
	[O2_SIM_EV_MESSAGE] = "its message arrives:",
	[O2_SIM_EV_PROGRESS] = "handles all its completions",
	[O2_SIM_EV_CLOCK] = "milliseconds go by:",
	[O2_SIM_EV_TICK] = "a timer of the device fires",
	[O2_SIM_EV_ARM] = "a fault is armed, kind",
	[O2_SIM_EV_FAULT] = "a fault, kind",
	[O2_SIM_EV_CLOSE] = "is closed by its application",
	[O2_SIM_EV_CLOSED] = "says that it is closed",
	[O2_SIM_EV_ESTABLISH] = "learns that its peer is ready",
	[O2_SIM_EV_FORGE] = "is sent a forged message, kind",
	[O2_SIM_EV_SLEEP] = "falls asleep or wakes up:",
};

static void print_event(const struct o2_sim_event *event, uint64_t number, FILE *out)
{
	fprintf(out, "  [%" PRIu64 "] ", number);
	if (event->a < O2_SIM_ENDS)
		fprintf(out, "end %" PRIu32 " ", event->a);
	if (event->kind == O2_SIM_EV_MESSAGE) {
		const char *name = o2_msg_type_name((uint8_t)event->n);

		fprintf(out, "%s %s, %" PRId32 " credits\n", kind_names[event->kind],
			name == NULL ? "?" : name, event->code);
		return;
	}
	fprintf(out, "%s", kind_names[event->kind]);
	if (event->kind != O2_SIM_EV_EXECUTE && event->kind != O2_SIM_EV_PROGRESS)
		fprintf(out, " %" PRIu32, event->n);
	if (event->code < 0)
		fprintf(out, ": %s", strerror(-event->code));
	else if (event->code > 0)
		fprintf(out, ": %" PRId32, event->code);
	fprintf(out, "\n");
}

static void print_op(const struct o2_sim_op *op, FILE *out)
{
	static const char *const names[] = {"PUT", "GET", "IMMEDIATE"};

	fprintf(out,
		"  operation %" PRIu32 ": %s of end %" PRIu32 ", %" PRIu64 " bytes (%" PRIu64
		" wanted), %s%s to %s%s%s\n",
		op->id, names[op->op], op->end->index, op->nob, op->wanted,
		o2_reg_mode_name(op->ours.memory.mode), op->ours.gapped ? " with gaps" : "",
		o2_reg_mode_name(op->theirs.memory.mode), op->theirs.gapped ? " with gaps" : "",
		!op->started ? ", refused"
		: op->ended  ? ", ended"
			     : ", open");
}

void o2_sim_print(const struct o2_sim *sim, uint32_t pieces, FILE *out)
{
	const struct o2_conn_config *config = &sim->config;
	uint64_t most = pieces < O2_SIM_LOG / 4 ? pieces * 4 : O2_SIM_LOG;
	uint64_t first = sim->events > most ? sim->events - most : 0;
	uint32_t op = sim->nops > pieces ? sim->nops - pieces : 0;

	fprintf(out,
		"%" PRIu32 " nodes, version 0x%x, queue depth %" PRIu32 ", peer_tx_credits %" PRIu32
		", peercredits_hiw %" PRIu32 ", concurrent_sends %" PRIu32 ", max_frags %" PRIu32
		", wrq_sge %" PRIu32 ", timeout %" PRIu32 " ms, keepalive %" PRIu32 " ms\n",
		sim->nnodes, config->version, sim->depth, config->peer_tx_credits, config->peercredits_hiw,
		config->concurrent_sends, config->max_frags, config->wrq_sge, config->timeout_ms,
		config->keepalive_ms);
	for (; op < sim->nops; op++)
		print_op(&sim->op[op], out);
	if (first > 0)
		fprintf(out, "  ... %" PRIu64 " events before\n", first);
	for (uint64_t i = first; i < sim->events; i++)
		print_event(&sim->log[i % O2_SIM_LOG], i, out);
}
