/* SPDX-License-Identifier: MIT */
/*
 * FMR pools under random sequences with time and failing devices, against a model of arrays that was written
 * from docs/pools.md: which region a list gets, under which key, and where every region is afterwards.
 * O2_TEST_SEED=n replays a run.
 */
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "props/prng.h"
#include "reg/pool_fmr.h"
#include "tests/test_pool_fmr_model.h"

#define REGIONS 16384u
#define HELD	24u /* uses at a time */
#define LISTS	7u  /* lists of pages to choose from */

/* What a device knows of a region; handles point here. */
struct region {
	uint32_t key; /* 0: none */
	bool exists;
};

struct device {
	struct faults *faults;
	uint32_t created, creates, alive, next_key;
	struct region region[REGIONS];
};

static uint64_t now_ms(void *context)
{
	return ((struct device *)context)->faults->now_ms;
}

static int create(void *context, uint64_t device, uint32_t max_pages, uint32_t page_bytes, void **handle,
		  struct o2_error *error)
{
	struct device *d = context;

	(void)device;
	(void)max_pages;
	(void)page_bytes;
	(void)error;
	if (d->creates++ == d->faults->fail_at)
		return -ENOSPC;
	assert_true(d->created < REGIONS);
	d->region[d->created].exists = true;
	*handle = &d->region[d->created++];
	d->alive++;
	return 0;
}

static void destroy(void *context, void *handle)
{
	assert_true(((struct region *)handle)->exists);
	*(struct region *)handle = (struct region){0};
	((struct device *)context)->alive--;
}

static int map(void *context, void *handle, const struct o2_fmr_request *request, uint32_t *lkey,
	       uint32_t *rkey, struct o2_error *error)
{
	struct device *d = context;

	(void)request;
	(void)error;
	if (d->faults->map_error != 0)
		return d->faults->map_error;
	*lkey = *rkey = ((struct region *)handle)->key = ++d->next_key;
	return 0;
}

static int unmap(void *context, void *const *handles, uint32_t count)
{
	const struct device *d = context;

	if (d->faults->unmap_error != 0)
		return d->faults->unmap_error;
	for (uint32_t i = 0; i < count; i++)
		((struct region *)handles[i])->key = 0;
	return 0;
}

static const struct o2_fmr_ops ops = {create, destroy, map, unmap};

struct run {
	struct device device;
	struct model model;
	struct o2_fmr_set set;
	struct o2_fmr *held[HELD];
	uint32_t region[HELD]; /* what the model gave */
	uint32_t nheld;
	uint32_t hits, flushes, kills, alive, errors, failovers, exhausted; /* how often */
};

static void compare_list(const struct run *r, const struct o2_fmr_list *list, const uint32_t *want,
			 uint32_t n, uint32_t first)
{
	const struct o2_fmr *fmr = list->head;

	assert_int_equal(list->count, n);
	for (uint32_t i = 0; i < n; i++, fmr = fmr->next)
		assert_int_equal((const struct region *)fmr->handle - r->device.region, first + want[i]);
	assert_null(fmr);
}

static void compare(const struct run *r, const struct o2_pool *base, const struct model_pool *want,
		    uint32_t n)
{
	for (uint32_t k = 0; k < n; k++, base = base->next, want++) {
		const struct o2_fmr_pool *pool = (const struct o2_fmr_pool *)base;

		assert_non_null(base);
		assert_int_equal(base->users, want->users);
		assert_int_equal(base->deadline_ms, want->deadline_ms);
		assert_int_equal(pool->flushing, 0);
		assert_int_equal(pool->flush_wanted, want->wanted);
		compare_list(r, &pool->free, want->unused, want->nunused, want->first);
		compare_list(r, &pool->dirty, want->dirty, want->ndirty, want->first);
		for (uint32_t i = 0; i < r->model.config.pool_size; i++) {
			assert_int_equal(pool->fmr[i].refs, want->refs[i]);
			assert_int_equal(pool->fmr[i].remaps, want->remaps[i]);
			/* A used key is alive. */
			if (want->refs[i] > 0)
				assert_int_equal(r->device.region[want->first + i].key, want->key[i]);
		}
	}
	assert_null(base);
}

static void step_take(struct run *r, struct o2_prng *prng)
{
	const uint32_t list = (uint32_t)o2_prng_upto(prng, LISTS - 1);
	const uint64_t pages[3] = {0x1000 * (1 + list / 3), 0x2000 * (uint64_t)list, 0x3000};
	const bool strict = o2_prng_upto(prng, 3) == 0;
	const struct o2_fmr_request request = {.pages = pages, .npages = 3, .strict = strict};
	struct o2_fmr *fmr = NULL;
	uint32_t region = 0;
	int want;

	if (r->nheld == HELD)
		return;
	r->model.faults.map_error = o2_prng_upto(prng, 9) == 0 ? -EIO : 0;
	want = model_take(&r->model, list, strict, &region);
	r->device.creates = 0;
	assert_int_equal(o2_fmr_take(&r->set, &request, &fmr, NULL), want);
	r->errors += want == -EIO;
	r->exhausted += want == -EAGAIN;
	if (want != 0)
		return;
	assert_ptr_equal(fmr->handle, &r->device.region[region]);
	r->region[r->nheld] = region;
	r->held[r->nheld++] = fmr;
}

static void step_put(struct run *r, struct o2_prng *prng)
{
	const bool transfer_failed = o2_prng_upto(prng, 9) == 0;
	const uint32_t at = r->nheld > 0 ? (uint32_t)o2_prng_upto(prng, r->nheld - 1) : 0;
	struct o2_fmr *fmr = r->held[at];
	int want;

	if (r->nheld == 0)
		return;
	want = model_put(&r->model, r->region[at], transfer_failed);
	r->nheld--;
	r->held[at] = r->held[r->nheld];
	r->region[at] = r->region[r->nheld];
	assert_int_equal(o2_fmr_put(&r->set, fmr, transfer_failed, NULL), want);
	r->alive += want != 0;
}

static void step(struct run *r, struct o2_prng *prng)
{
	static const uint32_t delays[] = {0, 1, 999, 1000, 150000, 299999, 300000, 300001};
	const uint64_t choice = o2_prng_upto(prng, 99);
	const bool all = o2_prng_upto(prng, 1) != 0;

	if (choice < 43) {
		step_take(r, prng);
	} else if (choice < 80) {
		step_put(r, prng);
	} else if (choice < 88) {
		r->model.faults.now_ms += delays[o2_prng_upto(prng, 7)];
	} else if (choice < 92) {
		r->model.faults.fail_at = all ? NEVER : (uint32_t)o2_prng_upto(prng, SIZE - 1);
	} else if (choice < 95) {
		r->model.faults.unmap_error = all ? 0 : -EIO;
	} else if (choice < 98) {
		for (uint32_t i = 0; i < r->model.nlive; i++) {
			if (all || r->model.live[i].wanted)
				model_flush(&r->model, &r->model.live[i], all);
		}
		o2_fmr_set_flush(&r->set, all);
	} else {
		model_fail(&r->model);
		assert_int_equal(o2_pool_set_fail(&r->set.set, choice), r->model.nfailed);
		r->failovers++;
	}
}

static void run_one(struct run *r, uint64_t seed, uint32_t n)
{
	struct o2_prng prng = o2_prng_init(seed, n);
	struct o2_fmr_config *config = &r->model.config;

	memset(&r->device, 0, sizeof(r->device));
	memset(&r->model, 0, sizeof(r->model));
	r->device.faults = &r->model.faults;
	r->model.faults.fail_at = NEVER;
	*config = (struct o2_fmr_config){.set = {.clock = {now_ms, &r->device}},
					 .ops = &ops,
					 .context = &r->device,
					 .pool_size = 1 + (uint32_t)o2_prng_upto(&prng, SIZE - 1),
					 .max_pages = 257,
					 .page_bytes = 4096,
					 .max_remaps = 1 + (uint32_t)o2_prng_upto(&prng, 3),
					 .cache = o2_prng_upto(&prng, 3) != 0,
					 .flush_on_demand = o2_prng_upto(&prng, 1) != 0};
	config->watermark = 1 + (uint32_t)o2_prng_upto(&prng, config->pool_size - 1);
	model_grow(&r->model);
	assert_int_equal(o2_fmr_set_init(&r->set, config, NULL), 0);
	for (int i = 0; i < 600 || r->nheld > 0; i++) {
		if (i < 600)
			step(r, &prng);
		else
			step_put(r, &prng);
		compare(r, r->set.set.live, r->model.live, r->model.nlive);
		compare(r, r->set.set.failed, r->model.failed, r->model.nfailed);
		assert_int_equal(r->device.created, r->model.created);
		assert_int_equal(r->device.alive, (r->model.nlive + r->model.nfailed) * config->pool_size);
	}
	r->hits += r->model.hits;
	r->flushes += r->model.flushes;
	r->kills += r->model.kills;
	assert_int_equal(o2_fmr_set_close(&r->set, NULL), 0);
	assert_int_equal(r->device.alive, 0);
}

static void test_random(void **state)
{
	const char *text = getenv("O2_TEST_SEED");
	const uint64_t seed = text != NULL ? strtoull(text, NULL, 0) : 1;
	static struct run r;

	(void)state;
	print_message("replay: O2_TEST_SEED=%" PRIu64 " test_pool_fmr_random\n", seed);
	for (uint32_t n = 0; n < 200; n++)
		run_one(&r, seed, n);
	print_message("%" PRIu32 " hits, %" PRIu32 " flushes, %" PRIu32 " strict, %" PRIu32
		      " keys left alive, %" PRIu32 " map errors, %" PRIu32 " exhausted, %" PRIu32
		      " failovers\n",
		      r.hits, r.flushes, r.kills, r.alive, r.errors, r.exhausted, r.failovers);
	assert_true(r.hits > 1000 && r.flushes > 1000 && r.kills > 1000 && r.alive > 100 && r.errors > 500 &&
		    r.exhausted > 100 && r.failovers > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_random)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
