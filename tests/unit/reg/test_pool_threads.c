/* SPDX-License-Identifier: MIT */
/*
 * Four threads on one set of each kind, with failing devices and failovers.  No thread gets an element that
 * another holds, and at the end nothing is left.  Also run under a thread sanitizer (docs/pools.md).  The
 * scheduler decides which thread acts when; the actions of each are drawn from O2_TEST_SEED.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "props/engine/prng.h"
#include "reg/pool/pool_fmr.h"
#include "reg/pool/pool_frd.h"
#include "reg/pool/pool_tx.h"
#include "tests/lib/thread_check.h"

#define THREADS 4u
#define STEPS	6000u
#define HOLD	6u /* elements that a thread holds, at most */

static uint64_t seed;

struct region {
	atomic_uint holders;
	atomic_uint key;
};

/* Relaxed, so that these counters order no memory accesses and hide no race from the sanitizer. */
static unsigned int add(atomic_uint *counter, unsigned int value)
{
	return atomic_fetch_add_explicit(counter, value, memory_order_relaxed);
}

static unsigned int load(atomic_uint *counter)
{
	return atomic_load_explicit(counter, memory_order_relaxed);
}

struct device {
	struct o2_clock clock;
	atomic_uint alive, areas, calls, next_key, creating;
};

/* Whether this call of the device fails: one in 23 does. */
static bool unlucky(struct device *d)
{
	return add(&d->calls, 1) % 23 == 22;
}

static int new_region(struct device *d, void **handle)
{
	if (unlucky(d))
		return -ENOSPC;
	*handle = calloc(1, sizeof(struct region));
	THREAD_CHECK(seed, *handle != NULL);
	add(&d->alive, 1);
	return 0;
}

static void free_region(void *context, void *handle)
{
	THREAD_CHECK(seed, load(&((struct region *)handle)->holders) == 0);
	add(&((struct device *)context)->alive, -1u);
	free(handle);
}

/* Called for the pools of one set, by one thread at a time. */
static int new_region_of_pool(struct device *d, void **handle)
{
	int rc;

	THREAD_CHECK(seed, add(&d->creating, 1) == 0);
	sched_yield();
	rc = new_region(d, handle);
	add(&d->creating, -1u);
	return rc;
}

static int slot_map(void *context, void *handle, void *slot, uint64_t *addr)
{
	void *region;
	int rc = new_region_of_pool(context, &region);

	if (rc == 0)
		*addr = (uintptr_t)region;
	return rc;
}

static void slot_unmap(void *context, void *handle, void *slot, uint64_t addr)
{
	free_region(context, (void *)(uintptr_t)addr);
}

static int frd_create(void *context, uint64_t device, uint32_t max_pages, bool gaps,
		      struct o2_frd_object *object, struct o2_error *error)
{
	return new_region(context, &object->handle);
}

static int frd_map(void *context, void *handle, const struct o2_frd_request *request, uint32_t *lkey,
		   struct o2_error *error)
{
	const uint32_t entries = request->entries;

	sched_yield();
	return unlucky(context) ? (int)entries - 1 : (int)entries;
}

static int fmr_create(void *context, uint64_t device, uint32_t max_pages, uint32_t page_bytes, void **handle,
		      struct o2_error *error)
{
	return new_region_of_pool(context, handle);
}

static int fmr_map(void *context, void *handle, const struct o2_fmr_request *request, uint32_t *lkey,
		   uint32_t *rkey, struct o2_error *error)
{
	struct device *d = context;
	struct region *region = handle;

	THREAD_CHECK(seed, load(&region->holders) == 0);
	if (unlucky(d))
		return -EIO;
	*lkey = *rkey = add(&d->next_key, 1) + 1;
	atomic_store_explicit(&region->key, *rkey, memory_order_relaxed);
	return 0;
}

static int fmr_unmap(void *context, void *const *handles, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		THREAD_CHECK(seed, load(&((struct region *)handles[i])->holders) == 0);
	if (unlucky(context))
		return -EIO;
	for (uint32_t i = 0; i < count; i++)
		atomic_store_explicit(&((struct region *)handles[i])->key, 0, memory_order_relaxed);
	return 0;
}

static const struct o2_tx_ops tx_ops = {.slot_map = slot_map, .slot_unmap = slot_unmap};
static const struct o2_frd_ops frd_ops = {frd_create, free_region, frd_map, NULL};
static const struct o2_fmr_ops fmr_ops = {fmr_create, free_region, fmr_map, fmr_unmap};

enum kind { TX, FRD, FMR };

struct shared {
	enum kind kind;
	struct device device;
	struct o2_tx_set tx;
	struct o2_frd_set frd;
	struct o2_fmr_set fmr;
	struct o2_pool_set *set;
	atomic_uint taken;
	pthread_barrier_t start;
};

struct worker {
	struct shared *shared;
	uint32_t index;
	pthread_t thread;
	uint32_t nheld;
	void *held[HOLD];
	uint32_t key[HOLD];
};

static struct region *region_of(enum kind kind, const void *element)
{
	if (kind == TX)
		return (struct region *)(uintptr_t)((const struct o2_pool_tx *)element)->message_addr;
	return kind == FRD ? ((const struct o2_frd *)element)->handle
			   : ((const struct o2_fmr *)element)->handle;
}

static int take(struct shared *s, uint64_t list, void **element)
{
	const struct o2_frd_request request = {.side = O2_SINK, .entries = 3};
	const uint64_t pages[2] = {list << 12, 0x5000};
	const struct o2_fmr_request fmr = {.pages = pages, .npages = 2, .strict = list == 0};

	switch (s->kind) {
	case TX:
		return o2_tx_take(&s->tx, (struct o2_pool_tx **)element, NULL);
	case FRD:
		return o2_frd_take(&s->frd, &request, (struct o2_frd **)element, NULL);
	default:
		return o2_fmr_take(&s->fmr, &fmr, (struct o2_fmr **)element, NULL);
	}
}

static void worker_take(struct worker *w, struct o2_prng *prng)
{
	struct shared *s = w->shared;
	void *element;
	unsigned int before;
	int rc = take(s, o2_prng_upto(prng, 5), &element);

	if (rc != 0) {
		THREAD_CHECK(seed, rc == -EBUSY || rc == (s->kind == TX ? -ENOMEM : -EAGAIN) ||
					   rc == (s->kind == FRD ? -EINVAL : -EIO));
		return;
	}
	before = add(&region_of(s->kind, element)->holders, 1);
	THREAD_CHECK(seed, s->kind == FMR || before == 0); /* only the cache shares a region */
	if (s->kind == FMR)
		w->key[w->nheld] = ((struct o2_fmr *)element)->rkey;
	if (s->kind == FRD && o2_prng_upto(prng, 1) != 0)
		THREAD_CHECK(seed, o2_frd_post_done(&((struct o2_frd *)element)->key, w->index, 2, true,
						    NULL) == 0);
	w->held[w->nheld++] = element;
	add(&s->taken, 1);
}

static void worker_put(struct worker *w, struct o2_prng *prng)
{
	struct shared *s = w->shared;
	const uint32_t at = (uint32_t)o2_prng_upto(prng, w->nheld - 1);
	void *element = w->held[at];
	struct region *region = region_of(s->kind, element);
	int rc;

	if (s->kind == FMR)
		THREAD_CHECK(seed, load(&region->key) == w->key[at]); /* valid while it is held */
	add(&region->holders, -1u);
	w->nheld--;
	w->held[at] = w->held[w->nheld];
	w->key[at] = w->key[w->nheld];
	if (s->kind == TX)
		rc = o2_tx_put(&s->tx, element, NULL);
	else if (s->kind == FMR)
		rc = o2_fmr_put(&s->fmr, element, o2_prng_upto(prng, 9) == 0, NULL);
	else if (o2_prng_upto(prng, 49) == 0)
		rc = o2_frd_discard(&s->frd, element, NULL);
	else
		rc = o2_frd_put(&s->frd, element, NULL);
	/* A strict mapping that could not be undone returns an error, but is released. */
	THREAD_CHECK(seed, rc == 0 || (s->kind == FMR && rc == -EIO));
}

/* The transport makes this check before it posts an element that it holds. */
static void worker_check(struct worker *w)
{
	struct shared *s = w->shared;
	const void *element = w->held[0];
	const struct o2_pool *pool;
	int rc;

	if (s->kind == TX)
		pool = &((const struct o2_pool_tx *)element)->pool->base;
	else if (s->kind == FRD)
		pool = &((const struct o2_frd *)element)->pool->base;
	else
		pool = &((const struct o2_fmr *)element)->pool->base;
	rc = o2_pool_set_check(s->set, pool, pool->device, NULL);
	THREAD_CHECK(seed, rc == 0 || rc == -ENETDOWN);
}

static void *work(void *argument)
{
	struct worker *w = argument;
	struct o2_prng prng = o2_prng_init(seed, w->index);

	pthread_barrier_wait(&w->shared->start);
	for (uint32_t i = 0; i < STEPS; i++) {
		if (w->nheld > 0)
			worker_check(w);
		if (i % 16 == w->index)
			sched_yield();
		if (w->nheld < HOLD && (w->nheld == 0 || o2_prng_upto(&prng, 1) != 0))
			worker_take(w, &prng);
		else
			worker_put(w, &prng);
		atomic_fetch_add_explicit(&w->shared->device.clock.now_ms, o2_prng_upto(&prng, 2000),
					  memory_order_relaxed);
		if (o2_prng_upto(&prng, 200) == 0)
			o2_pool_set_fail(w->shared->set, i);
		if (w->shared->kind == FMR && o2_prng_upto(&prng, 50) == 0)
			o2_fmr_set_flush(&w->shared->fmr, o2_prng_upto(&prng, 1) != 0);
	}
	while (w->nheld > 0)
		worker_put(w, &prng);
	return NULL;
}

static void open_set(struct shared *s)
{
	const struct o2_pool_set_config set = {.clock = &s->device.clock, .max_pools = 8};
	const struct o2_tx_config tx = {set, &tx_ops, &s->device, 2, 4096, 0, 0};
	const struct o2_frd_config frd = {set, &frd_ops, &s->device, O2_FRD_INVALIDATE_FIRST, 2, 257, false};
	const struct o2_fmr_config fmr = {set, &fmr_ops, &s->device, 2, 257, 4096, 2, 1, true, false};

	if (s->kind == TX) {
		assert_int_equal(o2_tx_set_init(&s->tx, &tx, NULL), 0);
		s->set = &s->tx.set;
	} else if (s->kind == FRD) {
		assert_int_equal(o2_frd_set_init(&s->frd, &frd, NULL), 0);
		s->set = &s->frd.set;
	} else {
		assert_int_equal(o2_fmr_set_init(&s->fmr, &fmr, NULL), 0);
		s->set = &s->fmr.set;
	}
}

static void run(enum kind kind)
{
	static struct worker workers[THREADS];
	static struct shared s;
	struct o2_pool_counts c;

	memset(&s, 0, sizeof(s));
	memset(workers, 0, sizeof(workers));
	s.kind = kind;
	open_set(&s);
	assert_int_equal(pthread_barrier_init(&s.start, NULL, THREADS), 0);
	for (uint32_t i = 0; i < THREADS; i++) {
		workers[i].shared = &s;
		workers[i].index = i;
		assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
	}
	for (uint32_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
	pthread_barrier_destroy(&s.start);
	o2_pool_set_counts(s.set, &c);
	assert_int_equal(c.live_users + c.failed_users, 0);
	assert_int_equal(c.failed, 0);
	assert_int_equal(c.created - c.destroyed, c.live);
	print_message("%u taken, %" PRIu64 " pools made, %" PRIu64 " not, %" PRIu64 " waits\n",
		      load(&s.taken), c.created, c.create_failures, c.waits);
	assert_true(load(&s.taken) > STEPS / 4 && c.created > 10 && c.create_failures > 0);
	assert_int_equal(o2_pool_set_close(s.set, NULL), 0);
	assert_int_equal(load(&s.device.alive), 0);
}

TEST(test_kinds)
{
	seed = tests_seed(1);
	for (int kind = TX; kind <= FMR; kind++)
		run((enum kind)kind);
}
