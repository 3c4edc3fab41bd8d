/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <inttypes.h>

#include "props/talk/sim_events.h"
#include "props/talk/sim_internal.h"

/* One step: the set of possible events, and the choice of one (docs/simulation.md, "Steps"). */

#define FLOOD_MORE 300u /* most operations after the first */

enum step {
	STEP_EXECUTE,
	STEP_COMPLETE,
	STEP_START,
	STEP_FLOOD,
	STEP_BURST,
	STEP_PROGRESS,
	STEP_CLOCK,
	STEP_TICK,
	STEP_SLEEP,
	STEP_ESTABLISH,
	STEP_FAULT,
	STEP_FORGE,
	STEP_PILE,
	STEPS,
};

void o2_sim_look_at_device(struct o2_sim *sim)
{
	sim->nrunnable = 0;
	sim->run_next = -1;
	o2_loop_progress();
}

void o2_sim_execute(struct o2_sim *sim, uint32_t index)
{
	struct o2_sim_end *end = o2_sim_end_of_qp(sim, sim->runnable[index]);
	struct o2_loop_counters before, after;

	o2_sim_log(sim, O2_SIM_EV_EXECUTE, end, 0, 0);
	o2_loop_get_counters(&before);
	sim->run_next = (int)index;
	o2_loop_progress();
	o2_loop_get_counters(&after);
	if (end == NULL)
		return;
	if (after.rnr_waits > before.rnr_waits)
		o2_sim_not_ready(sim, end);
	else
		end->rnr_waits = 0;
}

static int progress(struct o2_sim *sim, struct o2_sim_end *end)
{
	int rc;

	o2_sim_log(sim, O2_SIM_EV_PROGRESS, end, 0, 0);
	o2_sim_wire_handled(end, end->other->wire.count);
	sim->acting = end;
	end->in_progress = true;
	rc = o2_conn_progress(end->conn);
	end->in_progress = false;
	end->hearing = NULL;
	sim->acting = NULL;
	o2_sim_fault_after(sim, end);
	return rc;
}

/*
 * A real program polls every connection repeatedly.  Without a new completion this only matters for
 * connections that wait for a window of their interface, which another connection may have returned.  One that
 * closes returns its windows too.
 */
static bool wake(struct o2_sim *sim)
{
	for (uint32_t i = 0; i < sim->nends; i++) {
		struct o2_sim_end *end = &sim->end[i];
		bool open;
		int rc;

		if (end->conn == NULL || end->asleep || end->view.queued_window + end->view.parked == 0)
			continue;
		open = o2_conn_get_state(end->conn) != O2_CONN_DISCONNECTED;
		rc = progress(sim, end);
		if (rc > 0)
			o2_sim_seen(sim, O2_SIM_SEEN_WINDOW_WOKEN);
		if (rc > 0 || (rc < 0 && open))
			return true;
	}
	return false;
}

bool o2_sim_execute_of(struct o2_sim *sim, const struct o2_sim_end *end)
{
	o2_sim_look_at_device(sim);
	for (uint32_t i = 0; i < sim->nrunnable; i++)
		if (sim->runnable[i] == end->qp_num) {
			o2_sim_execute(sim, i);
			return true;
		}
	return false;
}

bool o2_sim_execute_one(struct o2_sim *sim, struct o2_sim_end *end)
{
	if (!o2_sim_execute_of(sim, end))
		return false;
	(void)progress(sim, end);
	return true;
}

bool o2_sim_fair(struct o2_sim *sim, uint32_t *turn)
{
	o2_sim_look_at_device(sim);
	for (uint32_t i = 0; i <= sim->nends; i++, ++*turn) {
		uint32_t who = *turn % (sim->nends + 1);

		if (who == sim->nends && sim->nrunnable > 0) {
			o2_sim_execute(sim, *turn / (sim->nends + 1) % sim->nrunnable);
			++*turn;
			return true;
		}
		if (who < sim->nends && !sim->end[who].asleep && o2_sim_has_completion(&sim->end[who])) {
			o2_sim_complete(sim, &sim->end[who]);
			++*turn;
			return true;
		}
	}
	return wake(sim);
}

static void burst(struct o2_sim *sim)
{
	uint32_t count = 2 + (uint32_t)o2_draw(sim->choice, sim->deep ? 250 : 30);
	uint32_t turn = 0;

	while (count-- > 0 && o2_sim_ok(sim) && o2_sim_fair(sim, &turn))
		o2_sim_check(sim);
}

/* --- time --- */

/* True if something of this end is too old.  A NOOP, or the refusal of a request, may be as old as the last
 * time at which there was certainly none. */
static bool deadline_due(const struct o2_sim *sim, const struct o2_sim_end *end)
{
	if (sim->config.timeout_ms == 0)
		return false;
	if (end->silent_since_ms != 0 && o2_sim_late(sim, end->silent_since_ms))
		return true;
	if (o2_sim_late(sim, end->no_noops_ms))
		return true;
	for (uint32_t i = 0; i < sim->nops; i++) {
		const struct o2_sim_op *op = &sim->op[i];

		if (op->end == end && op->started && !op->ended && o2_sim_late(sim, op->since_ms))
			return true;
		if (op->end->other == end && op->matched && !op->ended_there &&
		    o2_sim_late(sim, op->since_there_ms))
			return true;
	}
	return false;
}

/* Fail if an operation of this end is too old though the connection has been told the time. */
static void check_deadlines(struct o2_sim *sim, const struct o2_sim_end *end)
{
	if (sim->config.timeout_ms == 0 || o2_conn_get_state(end->conn) != O2_CONN_ESTABLISHED)
		return;
	for (uint32_t i = 0; i < sim->nops; i++) {
		const struct o2_sim_op *op = &sim->op[i];

		if (op->end == end && op->started && !op->ended && o2_sim_late(sim, op->since_ms))
			o2_report_fail(sim->report, "sim/deadline-missed",
				       "operation %" PRIu32 " is %" PRIu64
				       " ms old, and its connection is up",
				       i, sim->now_ms - op->since_ms);
	}
}

void o2_sim_clock(struct o2_sim *sim, uint64_t ms)
{
	o2_sim_log(sim, O2_SIM_EV_CLOCK, NULL, (uint32_t)ms, 0);
	sim->now_ms += ms;
	for (uint32_t i = 0; i < sim->nends; i++)
		sim->end[i].deadline_due = deadline_due(sim, &sim->end[i]);
	for (uint32_t i = 0; i < sim->nends; i++) {
		struct o2_sim_end *end = &sim->end[i];
		uint64_t noops;

		if (end->conn == NULL)
			continue;
		noops = end->view.flow.noops_sent;
		sim->acting = end;
		o2_sim_tell_time(end);
		sim->acting = NULL;
		o2_sim_fault_after(sim, end);
		check_deadlines(sim, end);
		o2_conn_view(end->conn, &end->view);
		o2_sim_check_silence(end);
		if (end->view.flow.noops_sent > noops)
			o2_sim_seen(sim, O2_SIM_SEEN_KEEPALIVE);
		end->deadline_due = false;
	}
}

static void draw_clock(struct o2_sim *sim)
{
	uint64_t steps[] = {1,
			    250,
			    1001,
			    sim->config.timeout_ms / 4,
			    sim->config.timeout_ms / 2 + 1,
			    sim->config.keepalive_ms + 1,
			    sim->config.timeout_ms};
	static const uint32_t weights[] = {4, 4, 4, 3, 3, 2, 1};

	o2_sim_clock(sim,
		     steps[o2_draw_weighted(sim->choice, weights, sizeof(weights) / sizeof(weights[0]))]);
}

/* --- steps --- */

static void start(struct o2_sim *sim)
{
	struct o2_sim_end *end = &sim->end[o2_draw_pick(sim->choice, sim->nends)];
	uint32_t count = 1 + (uint32_t)o2_draw_weighted(sim->choice, (const uint32_t[]){8, 4, 2, 1, 1, 1}, 6);

	if (end->conn == NULL)
		return;
	sim->inside_left = (uint32_t)o2_draw_weighted(sim->choice, (const uint32_t[]){12, 2, 1}, 3);
	while (count-- > 0 && end->conn != NULL && o2_sim_op_start(sim, end))
		;
}

/* Start operations of one kind, up to more than a queue holds; all may arrive before any is handled. */
static void flood(struct o2_sim *sim)
{
	struct o2_sim_end *end = &sim->end[o2_draw_pick(sim->choice, sim->nends)];
	uint32_t most = o2_draw_bool(sim->choice, 1, 2) ? 2 * FLOOD_MORE : 0;

	if (end->conn == NULL)
		return;
	o2_sim_op_flood(sim, end, (uint32_t)o2_draw_few(sim->choice, FLOOD_MORE));
	while (most-- > 0 && o2_sim_ok(sim) && o2_sim_execute_of(sim, end))
		o2_sim_check(sim);
}

static struct o2_sim_end *pick_ready(struct o2_sim *sim)
{
	struct o2_sim_end *ready[O2_SIM_ENDS];
	size_t count = 0;

	for (uint32_t i = 0; i < sim->nends; i++)
		if (o2_sim_has_completion(&sim->end[i]))
			ready[count++] = &sim->end[i];
	assert(count > 0); /* else its steps have no weight */
	return ready[o2_draw_pick(sim->choice, count)];
}

static void fall_asleep(struct o2_sim *sim)
{
	struct o2_sim_end *end = &sim->end[o2_draw_pick(sim->choice, sim->nends)];

	if (end->asleep && o2_sim_has_completion(end))
		o2_sim_seen(sim, O2_SIM_SEEN_SLOW);
	end->asleep = !end->asleep;
	o2_sim_log(sim, O2_SIM_EV_SLEEP, end, end->asleep, 0);
}

static struct o2_sim_end *not_established(struct o2_sim *sim)
{
	for (uint32_t i = 0; i < sim->nends; i++)
		if (sim->end[i].conn != NULL && o2_conn_get_state(sim->end[i].conn) == O2_CONN_INIT)
			return &sim->end[i];
	return NULL;
}

static void establish(struct o2_sim *sim)
{
	struct o2_sim_end *end = not_established(sim);

	if (end->view.parked > 0)
		o2_sim_seen(sim, O2_SIM_SEEN_ESTABLISHED_LATE);
	o2_sim_establish(sim, end);
}

static void take_step(struct o2_sim *sim, enum step step)
{
	switch (step) {
	case STEP_EXECUTE:
		o2_sim_execute(sim, (uint32_t)o2_draw_pick(sim->choice, sim->nrunnable));
		break;
	case STEP_COMPLETE:
		o2_sim_complete(sim, pick_ready(sim));
		break;
	case STEP_START:
		start(sim);
		break;
	case STEP_FLOOD:
		flood(sim);
		break;
	case STEP_BURST:
		burst(sim);
		break;
	case STEP_PROGRESS:
		(void)progress(sim, pick_ready(sim));
		break;
	case STEP_CLOCK:
		draw_clock(sim);
		break;
	case STEP_TICK:
		o2_sim_log(sim, O2_SIM_EV_TICK, NULL, 0, o2_loop_tick());
		break;
	case STEP_SLEEP:
		fall_asleep(sim);
		break;
	case STEP_ESTABLISH:
		establish(sim);
		break;
	case STEP_FAULT:
		o2_sim_fault_draw(sim);
		break;
	case STEP_FORGE:
		o2_sim_forge(sim);
		break;
	case STEP_PILE:
		o2_sim_pile(sim);
		break;
	default:
		break;
	}
}

void o2_sim_step(struct o2_sim *sim)
{
	uint32_t weights[STEPS] = {24, 24, 14, sim->deep ? 4 : 0, 14, 3, 2, 1, 1, 0, 0, 0, sim->deep ? 0 : 1};
	bool ready = false;

	if (sim->kmaps_taken && o2_draw_bool(sim->choice, 7, 1))
		o2_sim_fault_kmaps(sim);
	o2_sim_look_at_device(sim);
	for (uint32_t i = 0; i < sim->nends; i++)
		ready |= o2_sim_has_completion(&sim->end[i]);
	if (sim->nrunnable == 0)
		weights[STEP_EXECUTE] = 0;
	if (!ready)
		weights[STEP_COMPLETE] = weights[STEP_PROGRESS] = 0;
	if (not_established(sim) != NULL)
		weights[STEP_ESTABLISH] = 6;
	if (sim->faults)
		weights[STEP_FAULT] = weights[STEP_FORGE] = 1;
	take_step(sim, (enum step)o2_draw_weighted(sim->choice, weights, STEPS));
	o2_sim_check(sim);
}
