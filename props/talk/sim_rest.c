/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "props/talk/sim_events.h"

/* Coming to rest: all that can happen happens, in fair order (docs/simulation.md, "Steps"). */

#define POOL_RETRY_MS 1000u

/* A number of steps that suffices for all open operations, their writes, and the NOOPs that go with them. */
static uint64_t bound(const struct o2_sim *sim)
{
	uint64_t steps = 400;

	for (uint32_t i = 0; i < sim->nops; i++)
		steps += sim->op[i].started && !sim->op[i].ended ? 60 + sim->config.max_frags : 0;
	return steps;
}

static void run_to_rest(struct o2_sim *sim)
{
	const uint64_t most = bound(sim);
	uint64_t left = most;
	uint32_t turn = 0;

	while (o2_sim_ok(sim)) {
		if (!o2_sim_fair(sim, &turn) && !o2_loop_tick())
			break;
		o2_sim_check(sim);
		if (left-- == 0)
			o2_report_fail(sim->report, "sim/restless", "no rest after %" PRIu64 " steps", most);
	}
}

/* A silent connection sends a keep-alive, a few NOOPs at most, and is then at rest again. */
static void check_keepalive(struct o2_sim *sim)
{
	uint64_t noops[O2_SIM_ENDS];

	for (uint32_t i = 0; i < sim->nends; i++)
		noops[i] = sim->end[i].view.flow.noops_sent;
	o2_sim_clock(sim, sim->config.keepalive_ms + 1);
	run_to_rest(sim);
	o2_sim_check_rest(sim);
	for (uint32_t i = 0; i < sim->nends && o2_sim_ok(sim); i++) {
		const struct o2_sim_end *end = &sim->end[i];

		if (end->conn == NULL || end->view.state != O2_CONN_ESTABLISHED || end->broken ||
		    end->other->broken)
			continue;
		if (end->view.flow.noops_sent == noops[i])
			o2_report_fail(sim->report, "sim/no-keepalive", "end %" PRIu32 " stays silent",
				       end->index);
		else if (end->view.flow.noops_sent > noops[i] + 4)
			o2_report_fail(sim->report, "sim/noops", "end %" PRIu32 " sends %" PRIu64 " NOOPs",
				       end->index, end->view.flow.noops_sent - noops[i]);
	}
}

/* Close ends whose peer is gone: they hold resources until then, and others wait for their windows. */
static void close_widowed(struct o2_sim *sim)
{
	for (uint32_t i = 0; i < sim->nends; i++) {
		struct o2_sim_end *end = &sim->end[i];

		if (end->conn == NULL || !end->other->closed)
			continue;
		o2_sim_is_closed(end, 0);
		o2_sim_log(sim, O2_SIM_EV_CLOSE, end, 0, 0);
		sim->acting = end;
		o2_conn_close(end->conn, 0);
		sim->acting = NULL;
	}
}

/* Whatever waits for a window was woken when another connection of the interface gave one back; no time has passed. */
static void check_woken(struct o2_sim *sim)
{
	for (uint32_t i = 0; i < sim->nends && o2_sim_ok(sim); i++) {
		const struct o2_sim_end *end = &sim->end[i];
		const struct o2_reg_domain *domain = &sim->node[end->node].place->ni.domain;
		struct o2_conn_view view;

		if (end->conn == NULL || domain->nbound > 0)
			continue;
		o2_conn_view(end->conn, &view);
		if (view.state == O2_CONN_ESTABLISHED && (view.queued_window > 0 || view.parked_for_window))
			o2_report_fail(sim->report, "sim/stuck",
				       "end %" PRIu32 " waits for a window, and nothing is bound any more",
				       i);
	}
}

void o2_sim_settle(struct o2_sim *sim)
{
	o2_sim_fault_disarm(sim);
	sim->inside_left = 0;
	for (uint32_t i = 0; i < sim->nends; i++)
		sim->end[i].asleep = false;
	for (uint32_t i = 0; i < sim->nends; i++)
		o2_sim_establish(sim, &sim->end[i]);
	run_to_rest(sim);
	check_woken(sim);
	/* A pool that failed to grow retries after one second; then whatever waits for it continues. */
	if (sim->faults || sim->small) {
		o2_sim_clock(sim, POOL_RETRY_MS);
		run_to_rest(sim);
	}
	if (sim->small) {
		close_widowed(sim);
		run_to_rest(sim);
	}
	o2_sim_check_rest(sim);
	if (o2_sim_ok(sim) && sim->config.keepalive_ms > 0 &&
	    (sim->config.timeout_ms == 0 || sim->config.keepalive_ms < sim->config.timeout_ms))
		check_keepalive(sim);
}
