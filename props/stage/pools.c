/* SPDX-License-Identifier: MIT */
#include "props/stage/pools.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "props/stage/pools_internal.h"

#define LABEL_STEP 1u
#define MORE	   31u /* weight of another step */

static const char *const situations[O2_POOL_SITUATIONS] = {O2_POOL_SEEN(O2_SITUATION_NAME)};

/* --- steps that every kind has --- */

static void failover(struct o2_pools_run *run, struct o2_pool_subject *s, struct o2_pool_step *step,
		     struct o2_report *report)
{
	const uint64_t device = run->steps + 1;
	uint32_t waiting, want;

	o2_set_model_failover(&s->pools, device);
	want = s->pools.nfailed;
	waiting = o2_pool_set_fail(s->set, device);
	step->number = waiting;
	run->tally.seen[O2_POOL_SEEN_FAILED_WAITS] += want > 0;
	if (waiting != want)
		o2_report_fail(report, "pools/failover",
			       "%" PRIu32 " pools wait for their users, expected %" PRIu32, waiting, want);
}

static const struct o2_pool *pool_of(const struct o2_pool_subject *s, const void *object)
{
	if (s->kind == O2_POOLS_TX)
		return &((const struct o2_pool_tx *)object)->pool->base;
	if (s->kind == O2_POOLS_FRD)
		return &((const struct o2_frd *)object)->pool->base;
	return &((const struct o2_fmr *)object)->pool->base;
}

/* Check whether an element in use may be posted, to a connection on the current device or on another. */
static void check_post(struct o2_pools_run *run, struct o2_pool_subject *s, struct o2_choice *c,
		       struct o2_pool_step *step, struct o2_report *report)
{
	const bool other = o2_draw_bool(c, 3, 1);
	const struct o2_pool_held *held = &s->held[o2_draw_pick(c, s->nheld)];
	const uint64_t current = s->pools.device;
	const uint64_t device = other ? current + 1000 : current;
	struct o2_error error = {0};
	const char *rule = NULL;

	if (s->nheld == 0)
		return;
	if (o2_pools_fate(s, held->element) == O2_POOL_FAILED)
		rule = "pool/failed";
	else if (other)
		rule = "pool/other-device";
	step->number = held->element;
	step->how = other ? " on another device" : "";
	step->code = o2_pool_set_check(s->set, pool_of(s, held->object), device, &error);
	o2_pools_expect(s, "check", step->code, rule != NULL ? -ENETDOWN : 0, rule, &error, report);
	run->tally.seen[O2_POOL_SEEN_POST_REFUSED] += rule != NULL;
}

static void take(struct o2_pools_run *run, struct o2_pool_subject *s, struct o2_choice *c,
		 struct o2_pool_step *step, struct o2_report *report)
{
	const bool leaves = o2_draw_bool(c, 7, 1) &&
			    (run->faults.create_at == O2_POOL_NEVER || run->faults.create_at < s->pools.size);

	if (s->nheld == O2_POOL_HELD)
		return;
	/* Only creation of pools: descriptors are also created one by one. */
	s->device.leaves_for = s->pools.leaves_for = leaves ? run->steps + 1 : 0;
	s->device.set = s->set;
	if (s->kind == O2_POOLS_TX)
		o2_pools_take_tx(run, s, c, step, report);
	else if (s->kind == O2_POOLS_FRD)
		o2_pools_take_frd(run, s, c, step, report);
	else
		o2_pools_take_fmr(run, s, c, step, report);
	if (leaves && s->pools.leaves_for == 0) {
		run->tally.seen[O2_POOL_SEEN_FAILED_GROWING]++;
		step->how = ", and the device goes while a pool is made";
	}
	s->device.leaves_for = s->pools.leaves_for = 0;
}

static void put(struct o2_pools_run *run, struct o2_pool_subject *s, uint32_t at, struct o2_choice *c,
		struct o2_pool_step *step, struct o2_report *report)
{
	if (s->kind == O2_POOLS_TX)
		o2_pools_put_tx(run, s, at, c, step, report);
	else if (s->kind == O2_POOLS_FRD)
		o2_pools_put_frd(run, s, at, c, step, report);
	else
		o2_pools_put_fmr(run, s, at, c, step, report);
}

static void draw_create_fault(struct o2_pools_run *run, struct o2_choice *c, struct o2_pool_step *step)
{
	run->faults.create_at =
		o2_draw_bool(c, 1, 1) ? (uint32_t)o2_draw(c, O2_POOL_SIZE - 1) : O2_POOL_NEVER;
	step->number = run->faults.create_at;
}

static void run_step(struct o2_pools_run *run, struct o2_pool_subject *s, struct o2_choice *c,
		     struct o2_pool_step *step, struct o2_report *report)
{
	static const uint32_t kinds[O2_POOL_STEP_KINDS] = {43, 37, 10, 6, 3, 3, 2, 3};
	static const uint32_t delays[] = {1, 999, 1000, 150000, 299999, 300000, 300001};
	const bool is_fmr = s->kind == O2_POOLS_FMR;

	step->kind = (enum o2_pool_step_kind)o2_draw_weighted(c, kinds, O2_POOL_STEP_KINDS);
	step->how = "";
	step->code = 0;
	step->number = 0;
	switch (step->kind) {
	case O2_POOL_DO_TAKE:
		take(run, s, c, step, report);
		break;
	case O2_POOL_DO_PUT:
		if (s->nheld > 0)
			put(run, s, (uint32_t)o2_draw_pick(c, s->nheld), c, step, report);
		break;
	case O2_POOL_DO_TIME:
		step->number = delays[o2_draw_pick(c, sizeof(delays) / sizeof(delays[0]))];
		run->faults.now_ms += step->number;
		o2_clock_tell(&run->clock, run->faults.now_ms);
		break;
	case O2_POOL_DO_FAIL_CREATE:
		draw_create_fault(run, c, step);
		break;
	case O2_POOL_DO_FAIL_UNMAP:
		run->faults.unmap_error = o2_draw_bool(c, 1, 1) ? -EIO : 0;
		step->code = run->faults.unmap_error;
		break;
	case O2_POOL_DO_FLUSH:
		step->how = is_fmr && o2_draw_bool(c, 1, 1) ? " of everything" : "";
		if (is_fmr) {
			o2_fmr_model_flush(&s->fmr_model, step->how[0] != '\0');
			o2_fmr_set_flush(&s->fmr, step->how[0] != '\0');
		}
		break;
	case O2_POOL_DO_FAILOVER:
		failover(run, s, step, report);
		break;
	default:
		check_post(run, s, c, step, report);
		break;
	}
}

/* --- a case --- */

/* Check the sizes derived from tunables, by the formulas of docs/pools.md in 64 bits. */
static void check_sizes(struct o2_pools_run *run, struct o2_choice *c, struct o2_report *report)
{
	static const uint32_t edges[] = {512, 0, 1, 254, 255, 256, 257, 258, 1024, 2048, UINT32_MAX};
	const size_t n = sizeof(edges) / sizeof(edges[0]);
	const struct o2_pool_tunables t = {edges[o2_draw_pick(c, n)], edges[o2_draw_pick(c, n)],
					   edges[o2_draw_pick(c, n)], (uint32_t)o2_draw(c, 5)};
	const bool refused = t.ncpts == 0 || (uint64_t)t.fmr_pool_size * 4 + 3 < t.ntx;
	const uint32_t cpts = t.ncpts == 0 ? 1 : t.ncpts;
	const uint32_t want[3] = {t.ntx / cpts < 256 ? 256 : t.ntx / cpts,
				  t.fmr_pool_size / cpts < 256 ? 256 : t.fmr_pool_size / cpts,
				  t.fmr_flush_trigger / cpts < 192 ? 192 : t.fmr_flush_trigger / cpts};
	struct o2_pool_sizes sizes = {0};
	struct o2_error error = {0};
	const int rc = o2_pool_sizes(&t, &sizes, &error);

	run->tally.seen[refused ? O2_POOL_SEEN_SIZES_REFUSED : O2_POOL_SEEN_SIZES]++;
	if (rc != (refused ? -EINVAL : 0) || (t.ncpts == 0 && (error.value != 0 || error.limit != 1)) ||
	    (rc == 0 &&
	     (sizes.tx_size != want[0] || sizes.reg_size != want[1] || sizes.flush_trigger != want[2])))
		o2_report_fail(report, "pools/sizes",
			       "ntx %" PRIu32 ", fmr_pool_size %" PRIu32 ", fmr_flush_trigger %" PRIu32
			       ", %" PRIu32 " partitions: %d, %" PRIu32 ", %" PRIu32 ", %" PRIu32,
			       t.ntx, t.fmr_pool_size, t.fmr_flush_trigger, t.ncpts, rc, sizes.tx_size,
			       sizes.reg_size, sizes.flush_trigger);
}

static void count_pools(struct o2_pools_run *run)
{
	uint64_t *seen = run->tally.seen;

	for (uint32_t i = 0; i < run->sets; i++) {
		const struct o2_pool_subject *s = &run->subject[i];
		const bool fmr = s->kind == O2_POOLS_FMR;

		seen[O2_POOL_SEEN_GROWN] += s->pools.created - 1;
		seen[O2_POOL_SEEN_GROWTH_FAILED] += s->pools.failures;
		seen[O2_POOL_SEEN_REAPED] += s->pools.reaped;
		seen[O2_POOL_SEEN_FLUSHED] += fmr ? s->fmr_model.flushes : 0;
		seen[O2_POOL_SEEN_FLUSH_FAILED] += fmr ? s->fmr_model.failed_flushes : 0;
	}
	seen[O2_POOL_SEEN_PARTITIONS] += run->sets > 1 && run->subject[0].kind == run->subject[1].kind;
}

/* Put back all elements still in use, in the plainest way, and close. */
static void finish(struct o2_pools_run *run, struct o2_report *report)
{
	static struct o2_choice plain;
	struct o2_pool_step step = {.how = ""};

	o2_choice_replay(&plain, NULL, 0);
	for (uint32_t i = 0; i < run->sets && !report->failed; i++) {
		struct o2_pool_subject *s = &run->subject[i];

		if (s->nheld > 0) {
			o2_pools_close(s, report);
			run->tally.seen[O2_POOL_SEEN_CLOSE_REFUSED]++;
		}
		while (s->nheld > 0 && !report->failed) {
			const bool failed = o2_pools_fate(s, s->held[s->nheld - 1].element) == O2_POOL_FAILED;

			s->device.creates = 0;
			put(run, s, s->nheld - 1, &plain, &step, report);
			o2_pools_compare(s, report);
			run->tally.seen[O2_POOL_SEEN_FAILED_GONE] += failed && s->nheld == 0;
		}
		if (!report->failed)
			o2_pools_close(s, report);
	}
}

/*
 * After a failure the state of a set is unreliable, so it is not closed, and the memory of its pools is leaked.
 */
static enum o2_status run_case(void *context, struct o2_choice *choice, struct o2_report *report)
{
	struct o2_pools_run *run = context;
	bool more = true;

	o2_report_clear(report);
	run->faults = (struct o2_pool_faults){.create_at = O2_POOL_NEVER};
	run->clock = (struct o2_clock){.running = false};
	o2_clock_tell(&run->clock, run->faults.now_ms);
	run->steps = 0;
	run->sets = (uint32_t)o2_draw_range(choice, 1, O2_POOL_SETS);
	for (uint32_t i = 0; i < run->sets && !report->failed; i++)
		o2_pools_open(run, choice, i, report);
	if (o2_draw_bool(choice, 7, 1))
		check_sizes(run, choice, report);
	while (more && !report->failed) {
		struct o2_pool_step *step = &run->step[run->steps];

		o2_span_begin(choice, LABEL_STEP);
		more = o2_draw_more(choice, run->steps, 0, O2_POOL_STEPS, MORE);
		if (more) {
			step->set = (uint32_t)o2_draw(choice, run->sets - 1);
			run->subject[step->set].device.creates = 0;
			run_step(run, &run->subject[step->set], choice, step, report);
			run->steps++;
		}
		o2_span_end(choice);
		for (uint32_t i = 0; i < run->sets && !report->failed; i++)
			o2_pools_compare(&run->subject[i], report);
		if (report->failed)
			o2_report_add(report, "this was step %" PRIu32, run->steps - 1);
	}
	if (!report->failed)
		finish(run, report);
	count_pools(run);
	return o2_tally_case(&run->tally, choice, report);
}

static void print_step(const struct o2_pools_run *run, uint32_t i, FILE *out)
{
	static const char *const names[O2_POOL_STEP_KINDS] = {"take",
							      "put",
							      "milliseconds go by:",
							      "making pools fails from now on at element",
							      "unmapping from now on",
							      "flush",
							      "failover; pools that wait:",
							      "may it be posted,"};
	const struct o2_pool_step *step = &run->step[i];
	const bool of_set = step->kind != O2_POOL_DO_TIME && step->kind != O2_POOL_DO_FAIL_CREATE &&
			    step->kind != O2_POOL_DO_FAIL_UNMAP;

	fprintf(out, "  [%" PRIu32 "] ", i);
	if (of_set)
		fprintf(out, "set %" PRIu32 ": ", step->set);
	fprintf(out, "%s", names[step->kind]);
	if (step->kind == O2_POOL_DO_TAKE || step->kind == O2_POOL_DO_PUT || step->kind == O2_POOL_DO_CHECK)
		fprintf(out, " element");
	if (step->kind == O2_POOL_DO_FAIL_CREATE && step->number == O2_POOL_NEVER)
		fprintf(out, " none");
	else if (step->kind != O2_POOL_DO_FLUSH && step->kind != O2_POOL_DO_FAIL_UNMAP &&
		 (step->kind != O2_POOL_DO_TAKE || step->code == 0))
		fprintf(out, " %" PRIu64, step->number);
	fprintf(out, "%s: %s\n", step->how, step->code == 0 ? "well" : strerror(-step->code));
}

static void print(const void *context, uint32_t pieces, FILE *out)
{
	const struct o2_pools_run *run = context;
	const uint32_t first = run->steps > pieces ? run->steps - pieces : 0;

	for (uint32_t i = 0; i < run->sets; i++) {
		const struct o2_pool_subject *s = &run->subject[i];

		fprintf(out, "set %" PRIu32 ": pools of %" PRIu32 " %ss", i, s->pools.size,
			o2_pool_kind_names[s->kind]);
		if (s->pools.cap > 0)
			fprintf(out, ", at most %" PRIu32, s->pools.cap);
		if (s->kind == O2_POOLS_FRD)
			fprintf(out, ", invalidate %s%s", s->model.invalidate_last ? "last" : "first",
				s->frd.config.gaps ? ", for lists with gaps" : "");
		if (s->kind == O2_POOLS_FMR)
			fprintf(out, ", %s cache, watermark %" PRIu32 ", %" PRIu32 " remaps, flushed %s",
				s->fmr_model.cache ? "with" : "no", s->fmr_model.watermark,
				s->fmr_model.max_remaps,
				s->fmr_model.flush_on_demand ? "on demand" : "by put");
		fprintf(out, "\n");
	}
	if (first > 0)
		fprintf(out, "  ... %" PRIu32 " steps before\n", first);
	for (uint32_t i = first; i < run->steps; i++)
		print_step(run, i, out);
}

static void print_held(const void *context, FILE *out)
{
	const struct o2_pools_run *run = context;

	fprintf(out, "held: %" PRIu32 " sets after %" PRIu32 " steps, and nothing is left\n", run->sets,
		run->steps);
}

struct o2_property o2_pools_property(struct o2_pools_run *run)
{
	static const struct o2_property_ops ops = {O2_TALLY_PROPERTY(
		"pools", "pool sets do what models foretell, with time, failing devices and failover")};

	return o2_tally_property(&ops, run, situations, O2_POOL_SITUATIONS, 5000);
}
