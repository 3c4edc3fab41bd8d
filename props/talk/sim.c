/* SPDX-License-Identifier: MIT */
#include "props/talk/sim.h"

#include <inttypes.h>
#include <stdlib.h>

#include "props/engine/prng.h"
#include "props/talk/sim_internal.h"

#define LABEL_STEP 1u
#define MORE	   255u /* weight of another step */

static const char *const situations[O2_SIM_SITUATIONS] = {
	O2_SIM_SITUATION_LIST(O2_SITUATION_NAME)[O2_SIM_SEEN_FORGED + 0] = "forged_credits_over_depth",
	[O2_SIM_SEEN_FORGED + 1] = "forged_no_credit",
	[O2_SIM_SEEN_FORGED + 2] = "forged_too_many_requests",
	[O2_SIM_SEEN_FORGED + 3] = "forged_empty_noops",
	[O2_SIM_SEEN_FORGED + 4] = "forged_stale_sender",
	[O2_SIM_SEEN_FORGED + 5] = "forged_stale_receiver",
	[O2_SIM_SEEN_FORGED + 6] = "forged_answer_again",
	[O2_SIM_SEEN_FORGED + 7] = "forged_answer_of_another_type",
	[O2_SIM_SEEN_FORGED + 8] = "forged_unknown_cookie",
	[O2_SIM_SEEN_FORGED + 9] = "forged_nak_of_success",
	[O2_SIM_SEEN_FORGED + 10] = "forged_put_done_of_another_length",
	[O2_SIM_SEEN_FORGED + 11] = "forged_get_done_of_more",
};

static bool run_step(void *context)
{
	struct o2_sim *sim = context;

	if (sim->nops >= sim->most_ops)
		return false;
	o2_sim_step(sim);
	return o2_sim_ok(sim);
}

static enum o2_status run_case(void *context, struct o2_choice *choice, struct o2_report *report)
{
	struct o2_sim_run *run = context;

	run->sim = o2_tally_place(run->sim, sizeof(*run->sim), "sim/memory", report);
	if (run->sim == NULL)
		return O2_STATUS_INTERESTING;
	run->sim->run = run;
	run->sim->choice = choice;
	run->sim->report = report;
	o2_sim_world_open(run->sim);
	if (!report->failed)
		o2_draw_steps(choice, LABEL_STEP, O2_SIM_STEPS, MORE, run_step, run->sim);
	if (!report->failed)
		o2_sim_settle(run->sim);
	o2_sim_world_close(run->sim);
	run->events += run->sim->events;
	run->trace += o2_mix64(run->sim->trace);
	return o2_tally_case(&run->tally, choice, report);
}

static void give_back(void *context)
{
	const struct o2_sim_run *run = context;

	if (run->sim != NULL)
		o2_sim_world_free(run->sim);
}

static void print(const void *context, uint32_t pieces, FILE *out)
{
	const struct o2_sim_run *run = context;

	o2_sim_print(run->sim, pieces, out);
}

static void print_held(const void *context, FILE *out)
{
	const struct o2_sim *sim = ((const struct o2_sim_run *)context)->sim;

	fprintf(out, "held: %" PRIu32 " operations in %" PRIu64 " events, trace 0x%016" PRIx64 "\n",
		sim->nops, sim->events, sim->trace);
}

static bool enough(const void *context, const struct o2_run_options *options)
{
	const struct o2_sim_run *run = context;

	return options->moved > 0 && run->operations >= options->moved;
}

static void result(const void *context, const struct o2_run_options *options, json_t *object)
{
	const struct o2_sim_run *run = context;
	char trace[32];

	o2_tally_result(&run->tally, options, object);
	snprintf(trace, sizeof(trace), "0x%016" PRIx64, run->trace);
	json_object_set_new(object, "operations", json_integer((json_int_t)run->operations));
	json_object_set_new(object, "events", json_integer((json_int_t)run->events));
	json_object_set_new(object, "trace", json_string(trace));
}

static void line(const void *context, double seconds, char *text, size_t text_bytes)
{
	const struct o2_sim_run *run = context;

	snprintf(text, text_bytes,
		 "%" PRIu64 " cases, %" PRIu64 " operations, %" PRIu64 " events in %.1f s (%.0f operations a "
		 "second), trace 0x%016" PRIx64,
		 run->tally.cases, run->operations, run->events, seconds,
		 seconds > 0 ? (double)run->operations / seconds : 0, run->trace);
}

struct o2_property o2_sim_property(struct o2_sim_run *run)
{
	static const struct o2_property_ops ops = {
		O2_PROPERTY_OPS("sim", "operations, credits and connections hold in any order of events and "
				       "with any fault"),
		.give_back = give_back,
		.enough = enough,
		.result = result,
		.missing = o2_tally_missing,
		.line = line,
	};

	struct o2_property property = o2_tally_property(&ops, run, situations, O2_SIM_SITUATIONS, 15000);

	property.counters_bytes = offsetof(struct o2_sim_run, sim);
	property.gives_back_slowly = true;
	return property;
}
