/* SPDX-License-Identifier: MIT */
#include "props/stage/keys.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define LABEL_STEP 1u
#define QUEUE	   77u
#define MORE	   31u /* weight of another step */

#define GATHERED_LKEY 0x30000000u

#define SITUATION_LIST(ENTRY)                                       \
	ENTRY(ABANDONED, "mapped_again_under_an_unused_key")        \
	ENTRY(SECOND_POST, "second_post_of_a_transfer")             \
	ENTRY(REFUSED_AT_INVALIDATE, "post_that_accepted_nothing")  \
	ENTRY(SPENT_HALF, "post_that_accepted_the_invalidate_only") \
	ENTRY(SPENT_WHOLE, "post_that_failed_behind_the_chain")     \
	ENTRY(LEFT_ALIVE, "unmapped_with_its_key_alive")            \
	ENTRY(STILL_ALIVE, "unmap_refused_while_the_key_is_alive")  \
	ENTRY(INVALIDATED, "invalidated")                           \
	ENTRY(FLUSHED, "invalidate_flushed_or_not_posted")          \
	ENTRY(REPLACED, "region_replaced")                          \
	ENTRY(WRAPPED, "low_byte_wrapped")                          \
	ENTRY(SOURCES, "source_bound")                              \
	ENTRY(UNBOUND_SOURCES, "source_posted_without_a_chain")     \
	ENTRY(WRONG_STATE, "step_refused_in_this_state")            \
	ENTRY(WRONG_COUNT, "wrong_number_of_accepted_requests")     \
	ENTRY(WRONG_QUEUE, "invalidate_on_another_queue")

enum situation {
	SITUATION_LIST(O2_SITUATION_ID) SITUATIONS,
};

static const char *const situations[SITUATIONS] = {SITUATION_LIST(O2_SITUATION_NAME)};

static const char *const step_names[O2_KEY_STEPS] = {
	"map", "post", "unmap", "chain", "invalidate", "invalidate-posted", "invalidated", "replaced"};

static void draw_step(struct o2_choice *c, const struct o2_key_model *model, struct o2_key_step *step)
{
	static const uint32_t kinds[O2_KEY_STEPS] = {4, 5, 3, 1, 1, 2, 2, 1};
	static const uint32_t outcomes[] = {4, 1, 2, 1};

	memset(step, 0, sizeof(*step));
	step->kind = (enum o2_key_step_kind)o2_draw_weighted(c, kinds, O2_KEY_STEPS);
	step->ok = true;
	step->queue = QUEUE;
	switch (step->kind) {
	case O2_KEY_MAP:
		step->source = o2_draw_bool(c, 2, 1);
		break;
	case O2_KEY_POST:
		step->queue += o2_draw_bool(c, 7, 1);
		step->accepted = o2_key_model_requests(model);
		switch (o2_draw_weighted(c, outcomes, 4)) {
		case 1: /* the requests after the chain fail */
			step->ok = false;
			break;
		case 2:
			step->ok = false;
			step->accepted = (uint32_t)o2_draw(c, step->accepted);
			break;
		case 3: /* perhaps an impossible answer */
			step->ok = o2_draw_bool(c, 1, 1);
			step->accepted = (uint32_t)o2_draw(c, 3);
			break;
		default:
			break;
		}
		break;
	case O2_KEY_INVALIDATE:
		step->queue += o2_draw_bool(c, 1, 1);
		break;
	case O2_KEY_INVALIDATE_POSTED:
	case O2_KEY_INVALIDATED:
		step->ok = !o2_draw_bool(c, 3, 1);
		break;
	default:
		break;
	}
}

/* Take the step with the code under test.  Steps that query a chain fill *chain. */
static int take_step(struct o2_keys_run *run, const struct o2_key_step *step, struct o2_frd_chain *chain,
		     uint32_t *rkey, struct o2_error *error)
{
	struct o2_frd_key *key = &run->key;
	const uint32_t region = run->device.region + 1;

	switch (step->kind) {
	case O2_KEY_MAP:
		return o2_frd_map(key, step->source ? O2_SOURCE : O2_SINK, error);
	case O2_KEY_POST:
		(void)o2_frd_chain(key, chain, NULL);
		return o2_frd_post_done(key, step->queue, step->accepted, step->ok, error);
	case O2_KEY_UNMAP:
		return o2_frd_unmap(key, error);
	case O2_KEY_CHAIN:
		return o2_frd_chain(key, chain, error);
	case O2_KEY_INVALIDATE:
		return o2_frd_invalidate(key, step->queue, rkey, error);
	case O2_KEY_INVALIDATE_POSTED:
		return o2_frd_invalidate_posted(key, step->ok, error);
	case O2_KEY_INVALIDATED:
		return o2_frd_invalidated(key, step->ok, error);
	default:
		return o2_frd_replaced(key, o2_key_first_lkey(region, (uint8_t)region),
				       o2_key_first_rkey(region, (uint8_t)region), error);
	}
}

/* The device executes `accepted` requests of a chain.  It is strict: each must be valid in its state. */
static void execute(struct o2_key_device *device, const struct o2_frd_chain *chain, uint32_t accepted,
		    struct o2_report *report)
{
	if (chain->invalidate && accepted > 0) {
		bool *again = &device->was_invalidated[chain->invalidate_rkey & 255];

		accepted--;
		if (*again)
			o2_report_fail(report, "keys/invalidated-twice",
				       "the device is told twice to invalidate 0x%08" PRIx32,
				       chain->invalidate_rkey);
		if (device->bound && (device->key & 255) != (chain->invalidate_rkey & 255))
			o2_report_fail(report, "keys/wrong-invalidate",
				       "0x%08" PRIx32 " is invalidated while 0x%08" PRIx32 " is bound",
				       chain->invalidate_rkey, device->key);
		*again = true;
		device->bound = false;
	}
	if (chain->bind && accepted > 0) {
		bool *again = &device->was_bound[chain->bind_key & 255];

		if (device->bound)
			o2_report_fail(report, "keys/bound-twice",
				       "0x%08" PRIx32 " is bound while 0x%08" PRIx32 " is", chain->bind_key,
				       device->key);
		if (*again)
			o2_report_fail(report, "keys/stale-key-alive-again",
				       "0x%08" PRIx32 " is bound a second time", chain->bind_key);
		*again = true;
		device->bound = true;
		device->key = chain->bind_key;
	}
}

/* Apply an accepted step to the device. */
static void follow(struct o2_keys_run *run, const struct o2_key_step *step, const struct o2_frd_chain *chain,
		   struct o2_report *report)
{
	struct o2_key_device *device = &run->device;

	if (step->kind == O2_KEY_POST) {
		execute(device, chain, step->accepted, report);
	} else if (step->kind == O2_KEY_INVALIDATED && step->ok) {
		device->bound = false;
	} else if (step->kind == O2_KEY_REPLACED) {
		*device = (struct o2_key_device){.region = device->region + 1};
	}
}

static void count(struct o2_keys_run *run, const struct o2_key_step *step, const struct o2_key_model *before,
		  const struct o2_key_answer *want)
{
	const uint32_t requests = o2_key_model_requests(before);
	uint64_t *seen = run->tally.seen;

	if (want->code != 0) {
		seen[STILL_ALIVE] += want->code == -EBUSY;
		seen[WRONG_COUNT] += strcmp(want->rule, "frd/post/accepted") == 0;
		seen[WRONG_QUEUE] += strcmp(want->rule, "frd/invalidate/queue") == 0;
		seen[WRONG_STATE] += strstr(want->rule, "/state") != NULL;
		return;
	}
	switch (step->kind) {
	case O2_KEY_MAP:
		seen[ABANDONED] += run->model.abandoned != before->abandoned;
		seen[WRAPPED] += (run->model.rkey & 255) < (before->rkey & 255);
		break;
	case O2_KEY_POST:
		seen[SECOND_POST] += before->posted;
		seen[UNBOUND_SOURCES] += before->source && before->invalidate_last;
		seen[REFUSED_AT_INVALIDATE] += requests > 0 && step->accepted == 0;
		seen[SPENT_HALF] += requests == 2 && step->accepted == 1;
		seen[SPENT_WHOLE] += requests > 0 && step->accepted == requests && !step->ok;
		seen[SOURCES] += before->source && requests > 0 && run->model.alive;
		break;
	case O2_KEY_UNMAP:
		seen[LEFT_ALIVE] += run->model.alive;
		break;
	case O2_KEY_INVALIDATE_POSTED:
		seen[FLUSHED] += !step->ok;
		break;
	case O2_KEY_INVALIDATED:
		seen[FLUSHED] += !step->ok;
		seen[INVALIDATED] += step->ok;
		break;
	case O2_KEY_REPLACED:
		seen[REPLACED]++;
		break;
	default:
		break;
	}
}

/* The state that the model's flags stand for. */
static enum o2_frd_state state_of(const struct o2_key_model *m)
{
	if (!m->mapped)
		return m->valid ? O2_FRD_IDLE_PREPARED : O2_FRD_FRESH;
	if (m->valid)
		return O2_FRD_PREPARED;
	if (m->invalidating || m->given_up)
		return m->given_up ? O2_FRD_DOOMED : O2_FRD_INVALIDATING;
	if (m->posted)
		return O2_FRD_LIVE;
	return m->invalidate_last && !m->alive ? O2_FRD_DEAD : O2_FRD_SPENT;
}

/* Field, value and limit of a refusal (docs/pools.md, "Refusals"). */
static void check_refusal(const struct o2_key_step *step, const struct o2_key_model *before,
			  const struct o2_error *error, struct o2_report *report)
{
	const bool count = strcmp(error->rule, "frd/post/accepted") == 0;
	const char *field = count ? "accepted" : "state";
	const uint64_t value = count ? step->accepted : state_of(before);
	uint64_t limit = O2_NO_LIMIT;

	if (strcmp(error->rule, "frd/invalidate/order") == 0 ||
	    strcmp(error->rule, "frd/invalidate/queue") == 0)
		return;
	if (count)
		limit = o2_key_model_requests(before);
	else if (strcmp(error->rule, "frd/invalidated/state") == 0)
		limit = O2_FRD_INVALIDATING;
	else if (strcmp(error->rule, "frd/unmap/key-alive") == 0)
		limit = O2_FRD_DEAD;
	if (strcmp(error->field, field) != 0 || error->value != value || error->limit != limit)
		o2_report_fail(report, "keys/refusal",
			       "%s: %s is %" PRIu64 ", limit %" PRIu64 "; expected %s, %" PRIu64 ", %" PRIu64,
			       error->rule, error->field, error->value, error->limit, field, value, limit);
}

static void check_answer(const struct o2_key_step *step, int rc, const struct o2_error *error,
			 const struct o2_key_answer *want, const struct o2_frd_chain *chain, uint32_t rkey,
			 struct o2_report *report)
{
	const char *rule = error->rule != NULL ? error->rule : "none";
	char signature[64];

	snprintf(signature, sizeof(signature), "keys/%s/answer", step_names[step->kind]);
	if (rc != want->code || error->code != rc || strcmp(rule, want->code != 0 ? want->rule : "none") != 0)
		o2_report_fail(report, signature, "%s answers %d, rule %s; expected %d, rule %s",
			       step_names[step->kind], rc, rule, want->code,
			       want->rule != NULL ? want->rule : "none");
	if (rc != 0 || report->failed)
		return;
	if (step->kind == O2_KEY_CHAIN &&
	    (chain->count != want->requests || chain->bind != (want->bind != 0) ||
	     chain->invalidate != (want->invalidate != 0) || (chain->bind && chain->bind_key != want->bind) ||
	     (chain->invalidate && chain->invalidate_rkey != want->invalidate)))
		o2_report_fail(report, signature,
			       "chain of %" PRIu32 ": invalidate 0x%08" PRIx32 ", bind 0x%08" PRIx32
			       "; expected %" PRIu32 ": 0x%08" PRIx32 ", 0x%08" PRIx32,
			       chain->count, chain->invalidate ? chain->invalidate_rkey : 0,
			       chain->bind ? chain->bind_key : 0, want->requests, want->invalidate,
			       want->bind);
	if (step->kind == O2_KEY_INVALIDATE && rkey != want->invalidate)
		o2_report_fail(report, signature, "0x%08" PRIx32 " is to be invalidated, not 0x%08" PRIx32,
			       rkey, want->invalidate);
}

/* Compare driver, device and model after a step. */
static void check_state(const struct o2_keys_run *run, struct o2_report *report)
{
	const struct o2_key_model *m = &run->model;
	const struct o2_key_device *device = &run->device;
	const struct o2_frd_key *key = &run->key;

	if (key->lkey != m->lkey || key->rkey != m->rkey)
		o2_report_fail(report, "keys/driver-key",
			       "the driver's keys are 0x%08" PRIx32 ", 0x%08" PRIx32 "; expected 0x%08" PRIx32
			       ", 0x%08" PRIx32,
			       key->lkey, key->rkey, m->lkey, m->rkey);
	if (m->mapped && o2_frd_published(key) != o2_key_model_published(m))
		o2_report_fail(report, "keys/published", "0x%08" PRIx32 " is published, not 0x%08" PRIx32,
			       o2_frd_published(key), o2_key_model_published(m));
	if (o2_frd_valid(key) != m->valid || o2_frd_posted(key) != (m->posted && m->mapped))
		o2_report_fail(report, "keys/flags", "valid %d, posted %d; expected %d, %d",
			       o2_frd_valid(key), o2_frd_posted(key), m->valid, m->posted && m->mapped);
	if (device->bound != m->alive || (device->bound && device->key != m->device_key) ||
	    key->registered != m->alive || (m->alive && key->registered_key != m->device_key))
		o2_report_fail(report, "keys/device-key",
			       "alive: device %d 0x%08" PRIx32 ", driver thinks %d 0x%08" PRIx32
			       ", expected %d 0x%08" PRIx32,
			       device->bound, device->key, key->registered, key->registered_key, m->alive,
			       m->device_key);
	if (m->invalidate_last && !m->mapped && device->bound)
		o2_report_fail(report, "keys/alive-when-done",
			       "0x%08" PRIx32 " is alive although the mapping was given up", device->key);
}

static bool same_key(const struct o2_frd_key *a, const struct o2_frd_key *b)
{
	return a->order == b->order && a->state == b->state && a->side == b->side && a->lkey == b->lkey &&
	       a->rkey == b->rkey && a->old_rkey == b->old_rkey && a->registered == b->registered &&
	       a->registered_key == b->registered_key && a->queue == b->queue;
}

static void run_step(struct o2_keys_run *run, const struct o2_key_step *step, struct o2_report *report)
{
	const struct o2_key_model model_before = run->model;
	const struct o2_frd_key key_before = run->key;
	struct o2_frd_chain chain = {0};
	struct o2_error error = {0};
	struct o2_key_answer want;
	uint32_t rkey = 0;
	int rc;

	o2_key_model_step(&run->model, step, &want);
	rc = take_step(run, step, &chain, &rkey, &error);
	if (rc == 0 && want.code == 0 && step->kind == O2_KEY_MAP && step->source &&
	    run->model.invalidate_last) {
		/* A source gets a region of its own, made for this mapping. */
		o2_frd_gather(&run->key, GATHERED_LKEY + run->steps * 0x100);
		o2_key_model_gather(&run->model, GATHERED_LKEY + run->steps * 0x100);
	}
	run->code[run->steps++] = rc;
	check_answer(step, rc, &error, &want, &chain, rkey, report);
	if (rc != 0 && !report->failed)
		check_refusal(step, &model_before, &error, report);
	if (rc != 0 && !same_key(&run->key, &key_before))
		o2_report_fail(report, "keys/refused-and-changed", "%s was refused and changed the key",
			       step_names[step->kind]);
	if (rc == 0)
		follow(run, step, &chain, report);
	if (!report->failed)
		check_state(run, report);
	if (report->failed)
		o2_report_add(report, "this was step %" PRIu32, run->steps - 1);
	else
		count(run, step, &model_before, &want);
}

static enum o2_status run_case(void *context, struct o2_choice *choice, struct o2_report *report)
{
	struct o2_keys_run *run = context;
	const bool last = o2_draw_bool(choice, 1, 1);
	bool more = true;

	o2_report_clear(report);
	run->low = o2_draw_bool(choice, 1, 1) ? (uint8_t)(255 - o2_draw(choice, 3)) : 0;
	o2_key_model_init(&run->model, last, 0, run->low);
	run->device = (struct o2_key_device){0};
	run->steps = 0;
	memset(&run->key, 0, sizeof(run->key)); /* because its padding is compared as well */
	o2_frd_init(&run->key, last ? O2_FRD_INVALIDATE_LAST : O2_FRD_INVALIDATE_FIRST, run->model.lkey,
		    run->model.rkey);
	while (more && !report->failed) {
		o2_span_begin(choice, LABEL_STEP);
		more = o2_draw_more(choice, run->steps, 0, O2_KEYS_STEPS, MORE);
		if (more) {
			draw_step(choice, &run->model, &run->step[run->steps]);
			run_step(run, &run->step[run->steps], report);
		}
		o2_span_end(choice);
	}
	return o2_tally_case(&run->tally, choice, report);
}

static void print(const void *context, uint32_t pieces, FILE *out)
{
	const struct o2_keys_run *run = context;
	const uint32_t first = run->steps > pieces ? run->steps - pieces : 0;

	fprintf(out, "invalidate %s, lkey 0x%08" PRIx32 ", rkey 0x%08" PRIx32 ", %" PRIu32 " steps\n",
		run->model.invalidate_last ? "last" : "first", o2_key_first_lkey(0, run->low),
		o2_key_first_rkey(0, run->low), run->steps);
	if (first > 0)
		fprintf(out, "  ... %" PRIu32 " steps before\n", first);
	for (uint32_t i = first; i < run->steps; i++) {
		const struct o2_key_step *step = &run->step[i];

		fprintf(out, "  [%" PRIu32 "] %s", i, step_names[step->kind]);
		if (step->kind == O2_KEY_MAP)
			fprintf(out, " a %s", step->source ? "source" : "sink");
		if (step->kind == O2_KEY_POST)
			fprintf(out, ", %" PRIu32 " of the chain accepted, the rest %s", step->accepted,
				step->ok ? "too" : "not");
		if (step->kind == O2_KEY_INVALIDATE || step->kind == O2_KEY_POST)
			fprintf(out, ", queue %" PRIu64, step->queue);
		if (step->kind == O2_KEY_INVALIDATE_POSTED || step->kind == O2_KEY_INVALIDATED)
			fprintf(out, ", %s", step->ok ? "well" : "failed");
		fprintf(out, ": %s\n", run->code[i] == 0 ? "done" : strerror(-run->code[i]));
	}
}

static void print_held(const void *context, FILE *out)
{
	const struct o2_keys_run *run = context;

	fprintf(out, "held: %" PRIu32 " chains of %" PRIu32 " regions; driver, device and model agree\n",
		run->model.chains, run->model.region + 1);
}

struct o2_property o2_keys_property(struct o2_keys_run *run)
{
	static const struct o2_property_ops ops = {O2_TALLY_PROPERTY(
		"keys", "the life of a fast-registration key is what a model and a strict device say")};

	return o2_tally_property(&ops, run, situations, SITUATIONS, 10000);
}
