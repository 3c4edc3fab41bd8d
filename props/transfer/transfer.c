/* SPDX-License-Identifier: MIT */
#include "props/transfer/transfer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "props/transfer/transfer_internal.h"

#define IMAGES (2u * O2_DMA_KINDS)

static struct o2_image **image_at(struct o2_transfer_run *run, uint32_t i)
{
	return &run->image[i / O2_DMA_KINDS][i % O2_DMA_KINDS];
}

/* A rung may have one memory for all address kinds, which then have one image. */
static bool is_alias(struct o2_transfer_run *run, uint32_t i)
{
	return i < IMAGES && i % O2_DMA_KINDS != 0 && *image_at(run, i) == *image_at(run, i - 1);
}

static int make_image(struct o2_transfer_run *run, uint32_t i)
{
	const enum o2_side side = (enum o2_side)(i / O2_DMA_KINDS);
	const enum o2_dma_kind kind = (enum o2_dma_kind)(i % O2_DMA_KINDS);
	struct o2_arena *arena = run->rung->ops->arena(run->rung, side, kind);

	if (kind != 0 && arena == (*image_at(run, i - 1))->arena) {
		*image_at(run, i) = *image_at(run, i - 1);
		return 0;
	}
	*image_at(run, i) = calloc(1, sizeof(struct o2_image));
	if (*image_at(run, i) == NULL)
		return -ENOMEM;
	(*image_at(run, i))->arena = arena;
	/* fill_images fills it before the first case that uses it. */
	return 0;
}

/* Allocate the run's memory; the rung's arenas are those before the first case. */
static int make_memory(struct o2_transfer_run *run)
{
	run->ledger = (struct o2_dma_ledger){0};
	run->scratch = calloc(1, sizeof(*run->scratch));
	if (run->scratch == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < IMAGES; i++)
		if (make_image(run, i) != 0)
			return -ENOMEM;
	if (run->rung->ops->images != NULL)
		run->rung->ops->images(
			run->rung, (struct o2_image *[]){run->image[O2_SOURCE][0], run->image[O2_SINK][0]});
	return 0;
}

static void free_memory(struct o2_transfer_run *run)
{
	free(run->scratch);
	for (uint32_t i = IMAGES; i-- > 0;)
		if (!is_alias(run, i))
			free(*image_at(run, i));
	run->scratch = NULL;
	memset(run->image, 0, sizeof(run->image));
}

int o2_transfer_run_open(struct o2_rung *rung, struct o2_transfer_run *run)
{
	memset(run, 0, sizeof(*run));
	run->rung = rung;
	run->space = O2_SCENARIO_SPACE_ALL;
	if (make_memory(run) == 0)
		return 0;
	o2_transfer_run_close(run);
	return -ENOMEM;
}

void o2_transfer_run_close(struct o2_transfer_run *run)
{
	free_memory(run);
	memset(run, 0, sizeof(*run));
}

void o2_transfer_give_back(struct o2_transfer_run *run)
{
	struct o2_rung *rung = run->rung;

	if (run->source == NULL || o2_transfer_is_closed(run))
		return;
	free_memory(run);
	run->given_back = *rung;
	run->rung = &run->given_back;
	run->source->close(run->source, rung);
}

/* Open a rung to replace the one that was given back. */
static int take_again(struct o2_transfer_run *run, struct o2_error *error)
{
	int rc = run->source->open(run->source, &run->rung, error);

	if (rc != 0) {
		run->rung = &run->given_back;
		return rc;
	}
	run->rung->connections += run->given_back.connections;
	rc = make_memory(run);
	if (rc != 0)
		o2_transfer_give_back(run);
	return rc == 0 ? 0 : o2_refuse_value(error, rc, "transfer/memory", "images", IMAGES, O2_NO_LIMIT);
}

/* Report that the rung itself failed. */
static void report_rung(const struct o2_transfer_run *run, int code, const struct o2_error *error,
			struct o2_report *report)
{
	char text[200];

	o2_error_text(error, text, sizeof(text));
	o2_report_kind(report, "rung/%d", code);
	o2_report_add(report, "%s could not run the case: %s (%s)", run->rung->ops->name, strerror(-code),
		      text);
}

bool o2_transfer_sweep(struct o2_transfer_run *run, struct o2_report *report)
{
	static const char *const kinds[] = {
		[O2_DMA_BUS] = "bus", [O2_DMA_VIRTUAL] = "virtual", [O2_DMA_IOMMU] = "remapped"};
	uint32_t page;

	if (o2_transfer_is_closed(run))
		return true;
	if (run->rung->ops->fetch != NULL) {
		struct o2_error error = {0};
		const int rc = run->rung->ops->fetch(run->rung, &error);

		if (rc != 0) {
			report_rung(run, rc, &error, report);
			return false;
		}
	}
	run->counters.sweeps++;
	for (uint32_t i = 0; i < IMAGES; i++) {
		if (is_alias(run, i) || (*image_at(run, i))->inits == 0 ||
		    o2_image_sweep(*image_at(run, i), &page))
			continue;
		o2_report_kind(report, "sweep");
		o2_report_add(report,
			      "page %u of the %s's memory (%s addresses) changed although no transfer names "
			      "it; the cause is one of the last %u cases",
			      page, i / O2_DMA_KINDS == O2_SOURCE ? "source" : "sink",
			      is_alias(run, i + 1) ? "all" : kinds[i % O2_DMA_KINDS],
			      run->sweep_always ? 1 : O2_SWEEP_CASES);
		return false;
	}
	return true;
}

void o2_transfer_reset(struct o2_transfer_run *run)
{
	for (uint32_t i = 0; i < IMAGES; i++)
		if (!is_alias(run, i) && (*image_at(run, i))->inits > 0)
			o2_image_init(*image_at(run, i), (*image_at(run, i))->arena, O2_TRANSFER_RED_SEED);
}

/* Describe in one line what an end observed. */
static void describe_end(const struct o2_observed_end *end, const char *name, struct o2_report *report)
{
	char why[512] = "";

	if (!end->involved) {
		o2_report_add(report, "%s: took no part", name);
		return;
	}
	if (end->fault.side != O2_FAULT_NONE)
		o2_fault_text(&end->fault, why, sizeof(why));
	o2_report_add(report, "%s: status %d (%s)%s%s, %llu bytes", name, end->status,
		      end->status == 0 ? "success" : strerror(-end->status), why[0] != '\0' ? ", " : "", why,
		      (unsigned long long)end->nob);
}

/* Did the end refuse with the predicted errno and rule? */
static bool refused_as_told(const struct o2_observed_end *end, const struct o2_prediction *told)
{
	return end->status == told->code && end->fault.side == O2_FAULT_LOCAL_STAGE &&
	       end->fault.error.rule != NULL &&
	       strcmp(end->fault.error.rule, o2_predict_rule_name(told->rule)) == 0;
}

/* Do the two ends' results agree with the prediction? */
static bool as_foretold(const struct o2_transfer_run *run)
{
	const struct o2_observed *seen = &run->observed;
	const struct o2_prediction *told = &run->prediction;
	uint64_t moved = o2_scenario_moved(&run->scenario);
	int code = told->code;

	switch (told->verdict) {
	case O2_MOVES:
		return !seen->local && seen->initiator.status == 0 && seen->initiator.nob == moved &&
		       seen->responder.involved && seen->responder.status == 0 &&
		       seen->responder.nob == moved;
	case O2_REFUSED_LOCAL:
		return seen->local && refused_as_told(&seen->initiator, told) && !seen->responder.involved;
	case O2_REFUSED_PEER:
		return !seen->local && seen->initiator.status == code &&
		       seen->initiator.fault.side == O2_FAULT_PEER_STATUS &&
		       refused_as_told(&seen->responder, told);
	case O2_REFUSED_WRITER:
		return !seen->local && refused_as_told(&seen->initiator, told) && seen->responder.involved &&
		       seen->responder.status == code;
	}
	return false;
}

static void check_verdict(struct o2_transfer_run *run, struct o2_report *report)
{
	static const char *const verdicts[] = {
		[O2_MOVES] = "moves its bytes",
		[O2_REFUSED_LOCAL] = "refused by the initiator",
		[O2_REFUSED_PEER] = "refused by the other side",
		[O2_REFUSED_WRITER] = "refused by the side that writes",
	};
	const struct o2_observed *seen = &run->observed;

	if (!seen->stuck && as_foretold(run))
		return;
	o2_report_kind(report, "verdict/%d/%d/%d%s", run->prediction.verdict, run->prediction.code,
		       seen->initiator.status, seen->stuck ? "/stuck" : "");
	if (run->prediction.verdict == O2_MOVES)
		o2_report_add(report, "foretold: %s", verdicts[O2_MOVES]);
	else
		o2_report_add(report, "foretold: %s: %s, code %d, rule %s", verdicts[run->prediction.verdict],
			      run->prediction.reason, run->prediction.code,
			      o2_predict_rule_name(run->prediction.rule));
	if (seen->stuck)
		o2_report_add(report, "stuck: no result, and no completion at either end");
	describe_end(&seen->initiator, run->scenario.op == O2_OP_PUT ? "source" : "sink", report);
	describe_end(&seen->responder, run->scenario.op == O2_OP_PUT ? "sink" : "source", report);
}

static void set_unmapped(struct o2_transfer_run *run, bool mapped)
{
	const struct o2_scenario *scenario = &run->scenario;

	if (scenario->source.has_unmapped)
		o2_arena_set_mapped(run->image[O2_SOURCE][scenario->source.kind]->arena,
				    scenario->source.unmapped_page, mapped);
	if (scenario->sink.has_unmapped)
		o2_arena_set_mapped(run->image[O2_SINK][scenario->sink.kind]->arena,
				    scenario->sink.unmapped_page, mapped);
}

/*
 * Check that everything mapped was unmapped once.  The ledger never forgets a wrong unmap, so only new ones
 * are reported.
 */
static void check_ledger(struct o2_transfer_run *run, struct o2_report *report)
{
	struct o2_dma_ledger now;

	run->rung->ops->ledger(run->rung, &now);
	if (now.live != run->ledger.live || now.live_entries != run->ledger.live_entries ||
	    now.wrong_unmaps != run->ledger.wrong_unmaps) {
		o2_report_kind(report, "ledger");
		o2_report_add(report,
			      "the ledger of mappings: %u mappings of %llu entries were left, %u unmapped "
			      "that were not mapped",
			      now.live - run->ledger.live,
			      (unsigned long long)(now.live_entries - run->ledger.live_entries),
			      now.wrong_unmaps - run->ledger.wrong_unmaps);
	}
	run->ledger = now;
}

/* The results agree, but the messages on the wire are wrong: for the judge, or for the scenario alone. */
static void fail_judged(const struct o2_observed *seen, struct o2_report *report)
{
	char what[O2_ERROR_WHAT_BYTES] = "";

	if (seen->judged.field != NULL)
		o2_error_what(&seen->judged, what, sizeof(what));
	if (strncmp(seen->broken, "scenario/", strlen("scenario/")) == 0)
		o2_report_fail(report, seen->broken, "%s", what);
	else
		o2_report_fail_in(report, "judge", seen->broken, "%s", what);
}

static enum o2_status run_once(struct o2_transfer_run *run, struct o2_report *report)
{
	struct o2_error error = {0};
	char text[200];
	int rc;

	run->epoch++;
	if (o2_transfer_prepare(run) != 0)
		return O2_STATUS_INVALID;
	set_unmapped(run, false);
	rc = run->rung->ops->transfer(run->rung, &run->scenario, &run->observed, &error);
	set_unmapped(run, true);
	if (rc != 0) {
		/* The judge's finding shows why the connection ended. */
		if (run->observed.broken != NULL)
			fail_judged(&run->observed, report);
		if (!report->failed)
			report_rung(run, rc, &error, report);
		o2_transfer_clean(run);
		return O2_STATUS_INTERESTING;
	}
	check_verdict(run, report);
	/*
	 * The signature of wrong bytes comes last and wins, because wrong bytes are the worse finding.  After
	 * an unpredicted error the bytes of a sink's descriptor are undefined, and are not checked.
	 */
	if (!report->failed || run->observed.initiator.status == 0)
		o2_transfer_check_bytes(
			run, run->observed.initiator.status == 0 ? o2_scenario_moved(&run->scenario) : 0,
			report);
	if (run->observed.initiator.mapped || run->observed.responder.mapped) {
		o2_report_kind(report, "told-while-mapped");
		o2_report_add(report,
			      "the %s was told that the transfer is over before its memory was unmapped",
			      run->observed.initiator.mapped ? "initiator" : "other side");
	}
	/* Report the judge's finding after these, which say more about the cause. */
	if (run->observed.broken != NULL && !report->failed)
		fail_judged(&run->observed, report);
	if (run->observed.stale_admitted) {
		o2_report_kind(report, "stale-key");
		o2_report_add(report, "a write with the sink's key was admitted when the transfer was over");
	}
	if (run->rung->ops->check_idle(run->rung, &error) != 0) {
		o2_report_kind(report, "outstanding");
		o2_error_text(&error, text, sizeof(text));
		o2_report_add(report, "not everything was handed back: %s", text);
	}
	check_ledger(run, report);
	o2_transfer_clean(run);
	if (run->sweep_always || run->counters.cases % O2_SWEEP_CASES == O2_SWEEP_CASES - 1)
		o2_transfer_sweep(run, report);
	return report->failed ? O2_STATUS_INTERESTING : O2_STATUS_VALID;
}

/* Fill the images of this case; those of unused address kinds are neither filled nor swept. */
static void fill_images(struct o2_transfer_run *run)
{
	struct o2_image *const used[] = {run->image[O2_SOURCE][run->scenario.source.kind],
					 run->image[O2_SINK][run->scenario.sink.kind]};

	for (uint32_t i = 0; i < sizeof(used) / sizeof(used[0]); i++)
		if (used[i]->inits == 0)
			o2_image_init(used[i], used[i]->arena, O2_TRANSFER_RED_SEED);
}

enum o2_status o2_transfer_scenario(struct o2_transfer_run *run, struct o2_report *report)
{
	/* Lazy mappings: the first run keeps them, the second run finds them. */
	const int times = run->scenario.source.lazy || run->scenario.sink.lazy ? 2 : 1;

	o2_report_clear(report);
	if (run->rung->over)
		return O2_STATUS_INVALID;
	if (o2_transfer_is_closed(run)) {
		struct o2_error error = {0};
		const int rc = take_again(run, &error);

		if (rc != 0) {
			report_rung(run, rc, &error, report);
			return O2_STATUS_INTERESTING;
		}
	}
	run->epoch = 0;
	fill_images(run);
	o2_predict(&run->scenario, o2_transfer_view_page(run, O2_SOURCE), o2_transfer_view_page(run, O2_SINK),
		   o2_arena_iommu(run->image[O2_SOURCE][O2_DMA_IOMMU]->arena), &run->prediction);
	for (int i = 0; i < times; i++) {
		enum o2_status status = run_once(run, report);

		if (status != O2_STATUS_VALID)
			return status;
	}
	o2_transfer_count(run);
	return O2_STATUS_VALID;
}

enum o2_status o2_transfer_case(struct o2_transfer_run *run, struct o2_choice *choice,
				struct o2_report *report)
{
	report->failed = false;
	report->lines = 0;
	o2_scenario_draw(choice, &run->space, &run->scenario);
	if (!o2_choice_ok(choice))
		return o2_choice_status(choice, O2_STATUS_VALID);
	return o2_choice_status(choice, o2_transfer_scenario(run, report));
}
