/* SPDX-License-Identifier: MIT */
#include "props/verbs/verbs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "props/verbs/verbs_internal.h"

#define LABEL_STEP   1u
#define MORE	     60u /* weight of another step */
#define MAX_STEPS    200u
#define FIRST	     10u /* regions and windows made at the start */
#define ENOUGH_CASES 3000u

static const char *const situations[O2_VERBS_SITUATIONS] = {
#define ROW(id, name) [O2_VERBS_SEEN_##id] = name,
	O2_VERBS_SITUATION_LIST(ROW)
#undef ROW
};

static const struct {
	void (*take)(struct o2_verbs_world *world);
	uint32_t weight;
} steps[] = {
	{o2_verbs_step_send, 30},  {o2_verbs_step_recv, 24},  {o2_verbs_step_poll, 16},
	{o2_verbs_step_region, 8}, {o2_verbs_step_map, 4},    {o2_verbs_step_window, 2},
	{o2_verbs_step_bind, 3},   {o2_verbs_step_pair, 12},  {o2_verbs_step_modify, 3},
	{o2_verbs_step_notify, 4}, {o2_verbs_step_event, 3},  {o2_verbs_step_async, 3},
	{o2_verbs_step_queue, 1},  {o2_verbs_step_shared, 2}, {o2_verbs_step_domain, 1},
	{o2_verbs_step_hook, 2},   {o2_verbs_step_beyond, 5}, {o2_verbs_step_limits, 1},
	{o2_verbs_step_short, 1},  {o2_verbs_step_sleep, 1},
};
#define STEPS (sizeof(steps) / sizeof(steps[0]))

static void take_steps(struct o2_verbs_world *world)
{
	struct o2_choice *c = world->choice;
	uint32_t weights[STEPS];
	bool more = true;

	for (size_t i = 0; i < STEPS; i++)
		weights[i] = steps[i].weight;
	for (uint32_t i = 0; i < FIRST && !world->report->failed; i++) {
		o2_verbs_step_region(world);
		o2_verbs_step_window(world);
		o2_verbs_check(world);
	}
	for (world->step = 0; more && !world->report->failed && o2_choice_ok(c); world->step++) {
		o2_span_begin(c, LABEL_STEP);
		more = o2_draw_more(c, world->step, 0, MAX_STEPS, MORE);
		if (more) {
			if (o2_draw_bool(c, 2, 1))
				o2_verbs_mend(world);
			steps[o2_draw_weighted(c, weights, STEPS)].take(world);
			o2_verbs_check(world);
		}
		o2_span_end(c);
	}
}

/* At the end: query every queue pair, and poll everything that has completed. */
static void look_at_all(struct o2_verbs_world *world)
{
	o2_loop_set_fault(NULL, NULL);
	o2_loop_set_pick(NULL, NULL);
	memset(&world->hook, 0, sizeof(world->hook));
	memset(&world->device_hook, 0, sizeof(world->device_hook));
	for (uint32_t i = 0; i < O2_VERBS_SIDES * O2_VERBS_PAIRS; i++) {
		struct o2_verbs_qp *qp = &world->side[i % O2_VERBS_SIDES].qp[i / O2_VERBS_SIDES];

		snprintf(world->text, sizeof(world->text), "at the end, %u.%u", qp->side, qp->index);
		if (qp->qp != NULL)
			o2_verbs_query(world, qp);
	}
	for (uint32_t i = 0; i < O2_VERBS_SIDES * O2_VERBS_QUEUES; i++) {
		struct o2_verbs_cq *cq = &world->side[i % O2_VERBS_SIDES].cq[i / O2_VERBS_SIDES];
		struct ibv_wc wc[O2_VERBS_ENTRIES];
		const uint32_t count = cq->count;

		if (cq->cq == NULL || count == 0 || world->report->failed)
			continue;
		o2_verbs_expect(world, "ibv_poll_cq", ibv_poll_cq(cq->cq, (int)count, wc), count);
		for (uint32_t k = 0; k < count; k++)
			o2_verbs_check_wc(world, &wc[k], &cq->wc[k]);
		cq->count = 0;
	}
	for (uint32_t i = 0; i < O2_VERBS_SIDES; i++)
		o2_verbs_readable(world, &world->side[i]);
	if (!world->report->failed)
		o2_verbs_check(world);
}

static enum o2_status run_case(void *context, struct o2_choice *choice, struct o2_report *report)
{
	struct o2_verbs_run *run = context;
	struct o2_verbs_world *world;

	o2_report_clear(report);
	o2_loop_reset();
	if (run->world == NULL) {
		run->world = malloc(sizeof(*run->world));
		o2_verbs_warm_up();
	}
	if (run->world == NULL)
		return O2_STATUS_INVALID;
	world = run->world;
	memset(world, 0, offsetof(struct o2_verbs_world, source));
	world->choice = choice;
	world->report = report;
	world->seen = run->tally.seen;
	world->run = run;
	o2_verbs_open(world);
	if (o2_choice_ok(choice)) {
		take_steps(world);
		if (!report->failed && o2_choice_ok(choice))
			look_at_all(world);
	}
	o2_loop_set_fault(NULL, NULL);
	o2_loop_set_tap(NULL, NULL);
	o2_loop_set_pick(NULL, NULL);
	o2_verbs_close(world);
	run->tally.cases++;
	return o2_choice_status(choice, report->failed ? O2_STATUS_INTERESTING : O2_STATUS_VALID);
}

static void give_back(void *context)
{
	struct o2_verbs_run *run = context;

	free(run->world);
	run->world = NULL;
}

static void print(const void *context, uint32_t pieces, FILE *out)
{
	const struct o2_verbs_world *world = ((const struct o2_verbs_run *)context)->world;

	(void)pieces;
	if (world != NULL)
		fprintf(out, "%" PRIu32 " steps, the last: %s\n", world->step, world->text);
}

struct o2_property o2_verbs_property(struct o2_verbs_run *run)
{
	static const struct o2_property_ops ops = {
		.give_back = give_back,
		O2_TALLY_HELD("verbs",
			      "the in-process devices answer, complete, write and count as a model "
			      "of verbs foretells",
			      NULL),
	};

	return o2_tally_property(&ops, run, situations, O2_VERBS_SITUATIONS, ENOUGH_CASES);
}
