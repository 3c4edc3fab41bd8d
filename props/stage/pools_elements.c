/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/limits.h"
#include "props/stage/pools_internal.h"

/* Steps of the pools property: transmits and descriptors. */

#define QUEUE 7u

static const char *const exhausted_rules[] = {"pool/cap", "pool/exhausted"};

static void count_refused_take(struct o2_pools_run *run, int want)
{
	run->tally.seen[O2_POOL_SEEN_CAP] += want == -EBUSY;
	run->tally.seen[O2_POOL_SEEN_TOO_SOON] += want == -EAGAIN || want == -ENOMEM;
}

/* The holder's bytes, after the pool's part of a transmit. */
static uint8_t *own_bytes(struct o2_pool_tx *tx)
{
	return (uint8_t *)tx + sizeof(*tx);
}

void o2_pools_take_tx(struct o2_pools_run *run, struct o2_pool_subject *s, struct o2_choice *c,
		      struct o2_pool_step *step, struct o2_report *report)
{
	struct o2_error error = {0};
	struct o2_pool_tx *tx = NULL;
	uint32_t element = 0;
	const int want = o2_pool_model_take(&s->model, &element);
	const int rc = o2_tx_take(&s->tx, &tx, &error);

	(void)c;
	step->code = rc;
	step->number = element;
	count_refused_take(run, want);
	if (!o2_pools_expect(s, "take", rc, want, exhausted_rules[want != -EBUSY], &error, report) || rc != 0)
		return;
	if (tx->message_addr != element)
		o2_report_fail(report, "pools/transmit/which",
			       "transmit %" PRIu64 " was given, expected %" PRIu32, tx->message_addr,
			       element);
	else if (tx->message != s->device.element[element].place)
		o2_report_fail(report, "pools/transmit/slot", "transmit %" PRIu32 " has another one's slot",
			       element);
	if (tx->cookie != s->model.cookie++)
		o2_report_fail(report, "pools/transmit/cookie", "cookie %" PRIu64 ", expected %" PRIu64,
			       tx->cookie, s->model.cookie - 1);
	if (tx->held != 0)
		o2_report_fail(report, "pools/transmit/not-cleared",
			       "transmit %" PRIu32 " comes with something of its last use", element);
	memset(own_bytes(tx), (int)element, s->tx.config.tx_bytes - sizeof(*tx));
	o2_pools_hold(s, element, tx);
}

/* Put back a transmit that still holds something: it must be refused, with what it holds. */
static void put_busy(struct o2_pools_run *run, struct o2_pool_subject *s, struct o2_pool_tx *tx,
		     uint32_t held, struct o2_report *report)
{
	struct o2_error error = {0};
	int rc;

	tx->held = held;
	rc = o2_tx_put(&s->tx, tx, &error);
	if (o2_pools_expect(s, "put", rc, -EINVAL, "tx/idle", &error, report) &&
	    (error.value != held || error.limit != 0))
		o2_report_fail(report, "pools/transmit/idle",
			       "of what is held, 0x%" PRIx32 ", the refusal names 0x%" PRIx64, held,
			       error.value);
	tx->held = 0;
	run->tally.seen[O2_POOL_SEEN_NOT_IDLE]++;
}

/* The bytes after the pool's part belong to the holder and must be unchanged. */
static void check_own_bytes(const struct o2_pool_subject *s, struct o2_pool_tx *tx, uint32_t element,
			    struct o2_report *report)
{
	const uint8_t *bytes = own_bytes(tx);

	for (size_t i = 0; i < s->tx.config.tx_bytes - sizeof(*tx); i++)
		if (bytes[i] != (uint8_t)element) {
			o2_report_fail(report, "pools/transmit/own-bytes",
				       "byte %zu of the holder's part of transmit %" PRIu32 " has changed", i,
				       element);
			return;
		}
}

void o2_pools_put_tx(struct o2_pools_run *run, struct o2_pool_subject *s, uint32_t at, struct o2_choice *c,
		     struct o2_pool_step *step, struct o2_report *report)
{
	static const uint32_t ways[] = {6, 1, 1}; /* plain, not idle, twice */
	const size_t way = o2_draw_weighted(c, ways, 3);
	const uint32_t element = s->held[at].element;
	struct o2_pool_tx *tx = s->held[at].object;
	struct o2_error error = {0};

	step->number = element;
	check_own_bytes(s, tx, element, report);
	if (way == 1) {
		step->how = " while it is not idle";
		step->code = -EINVAL;
		put_busy(run, s, tx, (uint32_t)o2_draw_range(c, 1, O2_TX_HELD_ALL), report);
		return;
	}
	o2_pools_let_go(s, at);
	o2_pool_model_put(&s->model, element, true);
	step->code = o2_tx_put(&s->tx, tx, &error);
	if (!o2_pools_expect(s, "put", step->code, 0, NULL, &error, report))
		return;
	if (way == 2 && o2_pools_fate(s, element) != O2_POOL_GONE) {
		step->how = " twice";
		o2_pools_expect(s, "put", o2_tx_put(&s->tx, tx, &error), -EINVAL, "pool/put/not-in-use",
				&error, report);
		run->tally.seen[O2_POOL_SEEN_PUT_TWICE]++;
	}
}

/* --- descriptors --- */

/* Draw a request.  Returns the rule that refuses it before any pool is used, or NULL. */
static const char *draw_request(const struct o2_pool_subject *s, struct o2_choice *c,
				struct o2_frd_request *request)
{
	static const uint32_t sides[] = {12, 4, 1};
	static const uint32_t counts[] = {14, 1, 1};
	static const uint32_t entries[] = {2, 0, O2_MAX_FRAGS + 1};
	static const enum o2_side side[] = {O2_SINK, O2_SOURCE, (enum o2_side)2};

	*request = (struct o2_frd_request){.gaps = o2_draw_bool(c, 7, 1)};
	request->side = side[o2_draw_weighted(c, sides, 3)];
	request->entries = entries[o2_draw_weighted(c, counts, 3)];
	if (request->gaps && !s->frd.config.gaps)
		return "pool/frd/gaps";
	if (request->side != O2_SINK && request->side != O2_SOURCE)
		return "pool/frd/side";
	return request->entries == 2 ? NULL : "pool/frd/entries";
}

/* Check the figures of a refused request: its value and the limit. */
static void check_refused(const struct o2_pool_subject *s, const struct o2_frd_request *request,
			  const struct o2_error *error, struct o2_report *report)
{
	const bool gaps = request->gaps && !s->frd.config.gaps;
	const bool side = request->side != O2_SINK && request->side != O2_SOURCE;
	const uint64_t value = gaps ? 1 : side ? (uint64_t)request->side : request->entries;
	const uint64_t limit = gaps ? 0 : side ? O2_SINK : O2_MAX_FRAGS;

	if (error->value != value || error->limit != limit)
		o2_report_fail(report, "pools/descriptor/refused",
			       "refused by %s with %" PRIu64 " and the limit %" PRIu64 ", expected %" PRIu64
			       " and %" PRIu64,
			       error->rule, error->value, error->limit, value, limit);
}

/* Post, with all, no or some requests accepted.  The key's model takes the same step. */
static void post(struct o2_pools_run *run, struct o2_pool_subject *s, uint32_t element, struct o2_frd *frd,
		 struct o2_choice *c, struct o2_report *report)
{
	static const uint32_t outcomes[] = {4, 2, 1};
	struct o2_key_model *key = &s->model.key[element];
	const uint32_t requests = o2_key_model_requests(key);
	const size_t outcome = o2_draw_weighted(c, outcomes, 3);
	const struct o2_key_step step = {.kind = O2_KEY_POST,
					 .queue = QUEUE,
					 .ok = outcome == 0,
					 .accepted = outcome == 0 ? requests : outcome == 2};
	struct o2_key_answer want;
	struct o2_error error = {0};
	int rc;

	o2_key_model_step(key, &step, &want);
	rc = o2_frd_post_done(&frd->key, QUEUE, step.accepted, step.ok, &error);
	o2_pools_expect(s, "post", rc, want.code, want.rule, &error, report);
	run->tally.seen[O2_POOL_SEEN_ABANDONED] += outcome == 1;
}

/* Draw the device's answer to the map that follows a take: entries, or an error. */
static int draw_map(struct o2_pools_run *run, struct o2_choice *c)
{
	static const uint32_t outcomes[] = {10, 1, 1};
	static const int entries[] = {0, 1, -EIO};

	run->faults.entries = entries[o2_draw_weighted(c, outcomes, 3)];
	return run->faults.entries == 0 ? 0 : run->faults.entries < 0 ? run->faults.entries : -EINVAL;
}

static void check_taken(const struct o2_pool_subject *s, const struct o2_frd *frd, uint32_t element,
			struct o2_report *report)
{
	const struct o2_key_model *key = &s->model.key[element];

	if (frd->handle != &s->device.element[element])
		o2_report_fail(report, "pools/descriptor/which",
			       "descriptor %td was given, expected %" PRIu32,
			       (const struct o2_pool_element *)frd->handle - s->device.element, element);
	else if (frd->key.rkey != key->rkey || frd->key.lkey != key->lkey || !o2_frd_valid(&frd->key))
		o2_report_fail(report, "pools/descriptor/key",
			       "descriptor %" PRIu32 " has rkey 0x%08" PRIx32
			       ", valid %d; expected 0x%08" PRIx32,
			       element, frd->key.rkey, o2_frd_valid(&frd->key), key->rkey);
}

/* Predict the map that follows taking a descriptor: 0, or the errno and the rule of the take. */
static int map_model(struct o2_pools_run *run, struct o2_pool_subject *s, uint32_t element, bool source,
		     int map_error, const char **rule)
{
	struct o2_key_model *key = &s->model.key[element];
	const struct o2_key_step map = {.kind = O2_KEY_MAP, .source = source}, unmap = {.kind = O2_KEY_UNMAP};
	struct o2_key_answer answer;

	o2_key_model_step(key, &map, &answer);
	if (map_error == 0) {
		if (source && key->invalidate_last)
			o2_key_model_gather(key, o2_pool_gathered_lkey(element));
		return 0;
	}
	/* The descriptor counts as never taken, except for its place in the queue. */
	o2_key_model_step(key, &unmap, &answer);
	o2_pool_model_put(&s->model, element, false);
	*rule = map_error == -EIO ? "pool/frd/map" : "pool/frd/short-map";
	run->tally.seen[map_error == -EIO ? O2_POOL_SEEN_MAP_ERROR : O2_POOL_SEEN_SHORT_MAP]++;
	return map_error;
}

void o2_pools_take_frd(struct o2_pools_run *run, struct o2_pool_subject *s, struct o2_choice *c,
		       struct o2_pool_step *step, struct o2_report *report)
{
	struct o2_frd_request request;
	struct o2_error error = {0};
	struct o2_frd *frd = NULL;
	uint32_t element = 0;
	const char *rule = draw_request(s, c, &request);
	int map_error = draw_map(run, c);
	const bool bad_request = rule != NULL;
	int want;

	if (bad_request) {
		want = request.gaps && !s->frd.config.gaps ? -EPROTONOSUPPORT : -EINVAL;
		run->tally.seen[want == -EINVAL ? O2_POOL_SEEN_BAD_REQUEST : O2_POOL_SEEN_GAPS_REFUSED]++;
	} else {
		want = o2_pool_model_take(&s->model, &element);
		count_refused_take(run, want);
		rule = exhausted_rules[want != -EBUSY];
	}
	/* A mapping that the device has kept is ended first; a new descriptor has none. */
	if (want == 0 && s->device.element[element].exists && s->device.element[element].kept) {
		run->tally.seen[O2_POOL_SEEN_KEPT_ENDED] += run->faults.unmap_error == 0;
		map_error = run->faults.unmap_error != 0 ? run->faults.unmap_error : map_error;
	}
	if (want == 0)
		want = map_model(run, s, element, request.side == O2_SOURCE, map_error, &rule);
	step->number = element;
	step->code = o2_frd_take(&s->frd, &request, &frd, &error);
	if (!o2_pools_expect(s, "take", step->code, want, rule, &error, report))
		return;
	if (bad_request)
		check_refused(s, &request, &error, report);
	if (want != 0)
		return;
	check_taken(s, frd, element, report);
	o2_pools_hold(s, element, frd);
	if (!report->failed)
		post(run, s, element, frd, c, report);
}

/* End the transfer: under invalidate last its key must be invalidated first.  flushed: the invalidate fails. */
static void invalidate(struct o2_pool_subject *s, uint32_t element, struct o2_frd *frd, bool flushed,
		       struct o2_report *report)
{
	struct o2_key_model *key = &s->model.key[element];
	const struct o2_key_step steps[] = {{.kind = O2_KEY_INVALIDATE_POSTED, .ok = true},
					    {.kind = O2_KEY_INVALIDATED, .ok = !flushed}};
	struct o2_key_answer want;
	struct o2_error error = {0};

	o2_key_model_step(key, &steps[0], &want);
	o2_pools_expect(s, "invalidate", o2_frd_invalidate_posted(&frd->key, true, &error), want.code,
			want.rule, &error, report);
	o2_key_model_step(key, &steps[1], &want);
	o2_pools_expect(s, "invalidate", o2_frd_invalidated(&frd->key, !flushed, &error), want.code,
			want.rule, &error, report);
}

static void discard(struct o2_pools_run *run, struct o2_pool_subject *s, uint32_t at,
		    struct o2_pool_step *step, struct o2_report *report)
{
	const uint32_t element = s->held[at].element;
	const uint32_t elements = s->pools.next_element;
	const bool live = o2_pools_fate(s, element) == O2_POOL_LIVE;
	struct o2_frd *frd = s->held[at].object;
	struct o2_error error = {0};

	step->how = " with another region in its place";
	o2_pools_let_go(s, at);
	o2_pool_model_discard(&s->model, element);
	run->tally.seen[O2_POOL_SEEN_REPLACED] += s->pools.next_element > elements;
	run->tally.seen[O2_POOL_SEEN_RETIRED] += live && s->pools.next_element == elements;
	step->code = o2_frd_discard(&s->frd, frd, &error);
	o2_pools_expect(s, "discard", step->code, 0, NULL, &error, report);
}

void o2_pools_put_frd(struct o2_pools_run *run, struct o2_pool_subject *s, uint32_t at, struct o2_choice *c,
		      struct o2_pool_step *step, struct o2_report *report)
{
	static const uint32_t ways[] = {6, 1, 1, 1}; /* plain, another region, twice, too early */
	const size_t way = o2_draw_weighted(c, ways, 4);
	const uint32_t element = s->held[at].element;
	struct o2_frd *frd = s->held[at].object;
	struct o2_key_model *key = &s->model.key[element];
	const bool must_die = key->invalidate_last && key->alive;
	const struct o2_key_step unmap = {.kind = O2_KEY_UNMAP};
	struct o2_key_answer answer;
	struct o2_error error = {0};

	step->number = element;
	if (must_die && way == 3) {
		step->how = " while its key is alive";
		step->code = o2_frd_put(&s->frd, frd, &error);
		o2_pools_expect(s, "put", step->code, -EBUSY, "frd/unmap/key-alive", &error, report);
		run->tally.seen[O2_POOL_SEEN_STILL_ALIVE]++;
		return;
	}
	if (must_die)
		invalidate(s, element, frd, way == 1, report);
	if (way == 1) {
		discard(run, s, at, step, report);
		return;
	}
	o2_pools_let_go(s, at);
	o2_key_model_step(key, &unmap, &answer);
	o2_pool_model_put(&s->model, element, true);
	step->code = o2_frd_put(&s->frd, frd, &error);
	run->tally.seen[O2_POOL_SEEN_MAPPING_KEPT] += run->faults.unmap_error != 0;
	if (!o2_pools_expect(s, "put", step->code, run->faults.unmap_error, "pool/frd/unmap", &error,
			     report) ||
	    o2_pools_fate(s, element) == O2_POOL_GONE)
		return;
	if (frd->key.state != (key->valid ? O2_FRD_IDLE_PREPARED : O2_FRD_FRESH) ||
	    s->device.element[element].mapped != (run->faults.unmap_error != 0))
		o2_report_fail(report, "pools/descriptor/idle",
			       "descriptor %" PRIu32 " was put back in state %d", element,
			       (int)frd->key.state);
	if (way == 2) {
		step->how = " twice";
		o2_pools_expect(s, "put", o2_frd_put(&s->frd, frd, &error), -EINVAL, "frd/unmap/state",
				&error, report);
		run->tally.seen[O2_POOL_SEEN_PUT_TWICE]++;
	}
}
