/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "props/scenario/scenario_io.h"
#include "props/transfer/transfer_internal.h"
#include "props/transfer/transfer_run.h"

/* The transfer property for the runner. */

static enum o2_status run_case(void *context, struct o2_choice *choice, struct o2_report *report)
{
	return o2_transfer_case(context, choice, report);
}

/*
 * What a case has not handed back would fail every case after it, so that the shrinker would end at an innocent
 * one: the next case gets another rung.  A far end takes too long to start for that.
 */
static bool give_back_leak(struct o2_transfer_run *run)
{
	struct o2_error error;

	if (run->source == NULL || run->rung->elsewhere || run->rung->ops->check_idle(run->rung, &error) == 0)
		return false;
	o2_transfer_give_back(run);
	return true;
}

static void reset(void *context)
{
	struct o2_transfer_run *run = context;

	if (!o2_transfer_is_closed(run) && !give_back_leak(run))
		o2_transfer_reset(run);
}

static void give_back(void *context)
{
	o2_transfer_give_back(context);
}

static bool sweep(void *context, struct o2_report *report)
{
	return o2_transfer_sweep(context, report);
}

static void sweep_always(void *context)
{
	((struct o2_transfer_run *)context)->sweep_always = true;
}

static void print(const void *context, uint32_t pieces, FILE *out)
{
	const struct o2_transfer_run *run = context;

	o2_scenario_print(&run->scenario, pieces < O2_SCENARIO_PIECES ? pieces : O2_SCENARIO_PIECES, out);
}

static void print_held(const void *context, FILE *out)
{
	const struct o2_transfer_run *run = context;

	if (run->prediction.verdict != O2_MOVES)
		fprintf(out, "held: refused as foretold: %s (%s)\n", run->prediction.reason,
			strerror(-run->prediction.code));
	else
		fprintf(out, "held: %llu bytes moved, %u fragments, %u work requests\n",
			(unsigned long long)o2_scenario_moved(&run->scenario), run->observed.nfrags,
			run->observed.nwr);
}

static json_t *to_json(const void *context)
{
	return o2_scenario_to_json(&((const struct o2_transfer_run *)context)->scenario);
}

static int run_json(void *context, const json_t *object, enum o2_status *status, struct o2_report *report,
		    struct o2_error *error)
{
	struct o2_transfer_run *run = context;
	int rc = o2_scenario_from_json(object, &run->scenario, error);

	if (rc == 0)
		*status = o2_transfer_scenario(run, report);
	return rc;
}

/* True when enough transfers moved bytes, in total and in every pair of modes; or the rung can run no more. */
static bool enough(const void *context, const struct o2_run_options *options)
{
	const struct o2_transfer_run *run = context;
	const struct o2_counters *c = &run->counters;

	if (run->rung->over)
		return true;
	if (options->moved == 0 || c->moved < options->moved)
		return false;
	for (uint32_t i = 0; i < O2_REG_MODES * O2_REG_MODES; i++) {
		if (run->space.mode_weight[i / O2_REG_MODES] > 0 &&
		    run->space.mode_weight[i % O2_REG_MODES] > 0 &&
		    c->pair[i / O2_REG_MODES][i % O2_REG_MODES] < options->min_per_pair)
			return false;
	}
	return true;
}

struct o2_property o2_transfer_property(struct o2_transfer_run *run)
{
	static const struct o2_property_ops ops = {
		O2_PROPERTY_OPS(
			"transfer",
			"moved buffers are byte-exact and nothing else changed, or refused as foretold"),
		.reset = reset,
		.give_back = give_back,
		.sweep = sweep,
		.sweep_always = sweep_always,
		.to_json = to_json,
		.run_json = run_json,
		.enough = enough,
		.result = o2_counters_to_json,
		.missing = o2_counters_missing,
		.line = o2_counters_line,
	};

	return (struct o2_property){
		.ops = &ops,
		.context = run,
		.counters = run == NULL ? NULL : &run->counters,
		.counters_bytes = sizeof(run->counters),
		.keeps = run == NULL || run->source == NULL || run->rung->elsewhere,
		.gives_back_slowly = true,
		.sweep_cases = O2_SWEEP_CASES,
	};
}
