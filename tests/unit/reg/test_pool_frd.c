/* SPDX-License-Identifier: MIT */
/* Descriptor pools: order, every error return of a mapping, keys that outlive their queue pair
 * (docs/pools.md). */

#include "reg/pool/pool_frd.h"
#include "tests/lib/unit_test.h"

struct device {
	struct o2_clock clock;
	uint32_t alive;
	uint32_t creates; /* successful calls of create */
	uint32_t fail_at; /* create fails after so many of them */
	uint32_t maps;
	bool gaps; /* arguments of the last create */
	uint32_t max_pages;
	int result; /* of map, if not 0 */
	const void *list;
	uint32_t mapped;   /* mappings that exist */
	uint32_t own_lkey; /* lkey that map returns, or 0 */
	bool says_why;	   /* map and unmap fill in the error when they fail */
	int unmap_result;  /* -errno: the mapping stays */
};

static int create(void *context, uint64_t device, uint32_t max_pages, bool gaps, struct o2_frd_object *object,
		  struct o2_error *error)
{
	struct device *d = context;

	if (d->creates == d->fail_at)
		return -ENOSPC;
	d->gaps = gaps;
	d->max_pages = max_pages;
	d->alive++;
	*object = (struct o2_frd_object){malloc(1), ++d->creates << 8, d->creates << 8};
	return 0;
}

static void destroy(void *context, void *handle)
{
	free(handle);
	((struct device *)context)->alive--;
}

static int map(void *context, void *handle, const struct o2_frd_request *asked, uint32_t *lkey,
	       struct o2_error *error)
{
	struct device *d = context;

	assert_non_null(handle);
	d->maps++;
	d->list = asked->list;
	if (d->says_why)
		o2_refuse_value(error, d->result, "device/why", "list", 1, 2);
	if (d->own_lkey != 0)
		*lkey = d->own_lkey;
	if (d->result >= 0)
		d->mapped++;
	return d->result != 0 ? d->result : (int)asked->entries;
}

static int unmap(void *context, void *handle, struct o2_error *error)
{
	struct device *d = context;

	assert_non_null(handle);
	if (d->unmap_result == 0)
		d->mapped--;
	else if (d->says_why)
		o2_refuse_value(error, d->unmap_result, "device/why", "list", 1, 2);
	return d->unmap_result;
}

static const struct o2_frd_ops ops = {create, destroy, map, unmap};

static struct o2_frd_config config_of(struct device *d, uint32_t pool_size, enum o2_frd_order order)
{
	*d = (struct device){.fail_at = UINT32_MAX};
	return (struct o2_frd_config){.set = {.clock = &d->clock},
				      .ops = &ops,
				      .context = d,
				      .order = order,
				      .pool_size = pool_size,
				      .max_pages = 257};
}

/* A set, and its device. */
struct world {
	struct device d;
	struct o2_frd_set set;
};

static struct world *open_world(uint32_t pool_size, enum o2_frd_order order)
{
	static struct world w;
	const struct o2_frd_config config = config_of(&w.d, pool_size, order);

	assert_int_equal(o2_frd_set_init(&w.set, &config, NULL), 0);
	return &w;
}

static void close_world(struct world *w)
{
	assert_int_equal(o2_pool_set_close(&w->set.set, NULL), 0);
	assert_int_equal(w->d.alive, 0);
}

#define FRD_TEST(name, pool_size, order) \
	TEST_ON(name, struct world, w, open_world(pool_size, order), close_world)

static const struct o2_frd_request request = {.side = O2_SINK, .entries = 3, .list = "list"};

static struct o2_frd *take(struct o2_frd_set *set)
{
	struct o2_frd *frd = NULL;

	assert_int_equal(o2_frd_take(set, &request, &frd, NULL), 0);
	assert_int_equal(frd->key.state, O2_FRD_PREPARED);
	return frd;
}

static uint64_t users(struct o2_frd_set *set)
{
	struct o2_pool_counts c;

	o2_pool_set_counts(&set->set, &c);
	return c.live_users + c.failed_users;
}

/* The pool is a queue: a released key is not used as long as there are others. */
FRD_TEST(test_order, 3, O2_FRD_INVALIDATE_FIRST)
{
	assert_int_equal(w->d.max_pages, 257);
	for (uint32_t i = 0; i < 9; i++) {
		struct o2_frd *frd = take(&w->set);

		assert_ptr_equal(w->d.list, request.list);
		assert_int_equal(frd->key.rkey, ((i % 3 + 1) << 8) + i / 3 + 1);
		assert_int_equal(o2_frd_post_done(&frd->key, 1, 2, true, NULL), 0);
		assert_int_equal(o2_frd_put(&w->set, frd, NULL), 0);
		assert_int_equal(frd->key.state, O2_FRD_FRESH);
	}
}

/* Whatever map() returns, the pool of one descriptor stays complete: the next mapping finds it. */
FRD_TEST(test_every_error_of_a_mapping, 1, O2_FRD_INVALIDATE_FIRST)
{
	static const struct {
		int result, want;
		const char *rule;
	} rows[] = {{2, -EINVAL, "pool/frd/short-map"}, {1, -EINVAL, "pool/frd/short-map"},
		    {4, -EINVAL, "pool/frd/short-map"}, {-EINVAL, -EINVAL, "pool/frd/map"},
		    {-ENOMEM, -ENOMEM, "pool/frd/map"}, {-EAGAIN, -EAGAIN, "pool/frd/map"}};
	struct o2_frd_chain chain;
	struct o2_frd *frd = NULL;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct o2_error error = {0};

		w->d.result = rows[i].result;
		assert_int_equal(o2_frd_take(&w->set, &request, &frd, &error), rows[i].want);
		assert_string_equal(error.rule, rows[i].rule);
		assert_null(frd);
		assert_int_equal(users(&w->set), 0);
		assert_int_equal(w->d.mapped, 0);
		if (rows[i].result > 0)
			continue;
		w->d.says_why = true;
		assert_int_equal(o2_frd_take(&w->set, &request, &frd, &error), rows[i].want);
		assert_string_equal(error.rule, "device/why");
		w->d.says_why = false;
	}
	w->d.result = 0;
	frd = take(&w->set);
	assert_int_equal(w->d.creates, 1); /* no second pool was made */
	/* Nothing was posted: the key was counted up once, and the chain invalidates the previous key. */
	assert_int_equal(o2_frd_chain(&frd->key, &chain, NULL), 0);
	assert_int_equal(chain.invalidate_rkey, 0x100);
	assert_int_equal(chain.bind_key, 0x101);
	assert_int_equal(o2_frd_put(&w->set, frd, NULL), 0);
}

TEST(test_requests)
{
	struct device d;
	struct o2_frd_config config = config_of(&d, 1, O2_FRD_INVALIDATE_LAST);
	struct o2_frd_request bad = request;
	struct o2_error error;
	struct o2_frd_set set;
	struct o2_frd *frd;

	assert_int_equal(o2_frd_set_init(&set, &config, NULL), 0);
	bad.gaps = true;
	assert_int_equal(o2_frd_take(&set, &bad, &frd, &error), -EPROTONOSUPPORT);
	bad.gaps = false;
	bad.side = (enum o2_side)(O2_SINK + 1);
	assert_error_field(o2_frd_take(&set, &bad, &frd, &error), -EINVAL, &error, "side");
	bad.side = O2_SINK;
	bad.entries = 0;
	assert_int_equal(o2_frd_take(&set, &bad, &frd, &error), -EINVAL);
	bad.entries = 258;
	assert_int_equal(o2_frd_take(&set, &bad, &frd, &error), -EINVAL);
	assert_int_equal(error.limit, 257);
	assert_int_equal(d.maps, 0);
	assert_int_equal(users(&set), 0);
	assert_int_equal(o2_pool_set_close(&set.set, NULL), 0);
	/* The kind of region that was allocated decides whether gaps are allowed. */
	config.gaps = true;
	config.order = O2_FRD_INVALIDATE_FIRST;
	bad = (struct o2_frd_request){.side = O2_SOURCE, .gaps = true, .entries = 257};
	assert_int_equal(o2_frd_set_init(&set, &config, NULL), 0);
	assert_true(d.gaps);
	assert_int_equal(o2_frd_take(&set, &bad, &frd, NULL), 0);
	assert_int_equal(o2_frd_put(&set, frd, NULL), 0);
	assert_int_equal(o2_pool_set_close(&set.set, NULL), 0);
}

/* An exhausted set makes a new pool; if that fails, it returns -EAGAIN, which does not end the search. */
FRD_TEST(test_exhausted, 1, O2_FRD_INVALIDATE_FIRST)
{
	struct o2_frd *frd[2], *none = NULL;
	struct o2_error error;

	frd[0] = take(&w->set);
	frd[1] = take(&w->set);
	assert_int_equal(w->d.creates, 2);
	w->d.fail_at = 2;
	assert_error(o2_frd_take(&w->set, &request, &none, &error), -EAGAIN, &error, "pool/exhausted");
	assert_int_equal(o2_pool_set_close(&w->set.set, &error), -EBUSY);
	assert_int_equal(o2_frd_put(&w->set, frd[0], NULL), 0);
	assert_int_equal(o2_frd_put(&w->set, frd[1], NULL), 0);
	assert_int_equal(o2_frd_put(&w->set, frd[1], &error), -EINVAL);
	assert_int_equal(o2_frd_discard(&w->set, frd[1], &error), -EINVAL);
	assert_int_equal(users(&w->set), 0);
}

/* User verbs: a valid key prevents the release; with the queue pair in error a new region is made. */
FRD_TEST(test_alive_keys, 2, O2_FRD_INVALIDATE_LAST)
{
	struct o2_error error;
	struct o2_frd *frd;

	frd = take(&w->set);
	assert_int_equal(o2_frd_post_done(&frd->key, 9, 1, true, NULL), 0);
	assert_error(o2_frd_put(&w->set, frd, &error), -EBUSY, &error, "frd/unmap/key-alive");
	assert_int_equal(users(&w->set), 1);
	assert_int_equal(o2_frd_invalidate_posted(&frd->key, true, NULL), 0);
	assert_int_equal(o2_frd_invalidated(&frd->key, true, NULL), 0);
	assert_int_equal(o2_frd_put(&w->set, frd, NULL), 0);

	frd = take(&w->set); /* the other descriptor */
	assert_int_equal(o2_frd_post_done(&frd->key, 9, 1, true, NULL), 0);
	assert_int_equal(o2_frd_discard(&w->set, frd, NULL), 0);
	assert_int_equal(frd->key.rkey, 0x300); /* key of the third region */
	assert_int_equal(users(&w->set), 0);
	assert_int_equal(w->d.alive, 2);

	/* A new region cannot be made: the pool retires, and is destroyed with its last user. */
	frd = take(&w->set);
	assert_int_equal(o2_frd_post_done(&frd->key, 9, 1, true, NULL), 0);
	w->d.fail_at = w->d.creates;
	assert_int_equal(o2_frd_discard(&w->set, frd, NULL), 0);
	assert_int_equal(w->d.alive, 0);
}

/* The device cannot unmap: its errno is returned, even -EBUSY, and the descriptor is idle nevertheless. */
FRD_TEST(test_the_end_of_a_mapping_fails, 1, O2_FRD_INVALIDATE_LAST)
{
	static const int codes[] = {-EBUSY, -EINVAL, -EIO};
	struct o2_error error;

	for (size_t i = 0; i < 2 * sizeof(codes) / sizeof(codes[0]); i++) {
		struct o2_frd *frd = take(&w->set);

		w->d.unmap_result = codes[i / 2];
		w->d.says_why = i % 2 == 1;
		assert_error(o2_frd_put(&w->set, frd, &error), codes[i / 2], &error,
			     w->d.says_why ? "device/why" : "pool/frd/unmap");
		assert_int_equal(users(&w->set), 0);
		assert_error(o2_frd_put(&w->set, frd, &error), -EINVAL, &error, "frd/unmap/state");
		/* A short map whose mapping also stays is reported as a short map. */
		w->d.result = 2;
		assert_error(o2_frd_take(&w->set, &request, &frd, &error), -EINVAL, &error,
			     "pool/frd/short-map");
		w->d.result = 0;
		assert_int_equal(users(&w->set), 0);
	}
	assert_int_equal(w->d.creates, 1);
}

/* User verbs: a source gathers through the lkey of its own mapping, posts nothing and uses no key. */
FRD_TEST(test_sources_bind_nothing, 1, O2_FRD_INVALIDATE_LAST)
{
	struct o2_frd_request source = {.side = O2_SOURCE, .entries = 3};
	struct o2_frd_chain chain;
	struct o2_frd *frd;

	w->d.own_lkey = 0x777;
	for (int i = 0; i < 3; i++) {
		assert_int_equal(o2_frd_take(&w->set, &source, &frd, NULL), 0);
		assert_int_equal(o2_frd_published(&frd->key), 0x777);
		assert_int_equal(o2_frd_chain(&frd->key, &chain, NULL), 0);
		assert_true(chain.count == 0 && !chain.bind && !chain.invalidate);
		assert_int_equal(o2_frd_post_done(&frd->key, 9, 0, true, NULL), 0);
		assert_int_equal(w->d.mapped, 1);
		assert_int_equal(o2_frd_put(&w->set, frd, NULL), 0);
		assert_int_equal(w->d.mapped, 0);
	}
	frd = take(&w->set);
	assert_int_equal(frd->key.rkey, 0x101);
	assert_int_equal(o2_frd_put(&w->set, frd, NULL), 0);
}

/* On a failed pool no new region is made, because nobody would use it. */
FRD_TEST(test_discard_after_failover, 2, O2_FRD_INVALIDATE_LAST)
{
	struct o2_frd *frd[2];

	for (int i = 0; i < 2; i++) {
		frd[i] = take(&w->set);
		assert_int_equal(o2_frd_post_done(&frd[i]->key, 9, 1, true, NULL), 0);
	}
	assert_int_equal(o2_pool_set_fail(&w->set.set, 5), 1);
	assert_int_equal(o2_frd_discard(&w->set, frd[0], NULL), 0);
	assert_int_equal(w->d.creates, 2);
	assert_int_equal(w->d.alive, 1);
	assert_int_equal(o2_frd_discard(&w->set, frd[1], NULL), 0);
	assert_int_equal(w->d.alive, 0);
}

TEST(test_creation_fails)
{
	struct device d;
	struct o2_frd_config config = config_of(&d, 4, O2_FRD_INVALIDATE_FIRST);
	struct o2_error error;
	struct o2_frd_set set;

	for (uint32_t at = 0; at < 4; at++) {
		d.creates = 0;
		d.fail_at = at;
		assert_int_equal(o2_frd_set_init(&set, &config, &error), -ENOSPC);
		assert_int_equal(error.index, at);
		assert_int_equal(d.alive, 0);
	}
	config.max_pages = 128;
	assert_error_field(o2_frd_set_init(&set, &config, &error), -EINVAL, &error, "max_pages");
	config.pool_size = 0;
	assert_error_field(o2_frd_set_init(&set, &config, &error), -EINVAL, &error, "pool_size");
}
