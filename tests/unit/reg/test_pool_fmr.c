/* SPDX-License-Identifier: MIT */
/* FMR pools: cache, dirty list, flush, and the keys that the device still accepts (docs/pools.md). */

#include "reg/pool/pool_fmr.h"
#include "tests/lib/unit_test.h"

#define REGIONS 200u

/* key: one element per region, to which its handle points; the key of its mapping, or 0. */
struct device {
	struct o2_clock clock;
	uint32_t created, alive, maps, unmaps, largest_unmap;
	uint32_t fail_create_at;
	int map_error, unmap_error;
	uint32_t next_key;
	uint32_t key[REGIONS];
};

static int create(void *context, uint64_t device, uint32_t max_pages, uint32_t page_bytes, void **handle,
		  struct o2_error *error)
{
	struct device *d = context;

	assert_int_equal(max_pages, 257);
	assert_int_equal(page_bytes, 4096);
	if (d->created == d->fail_create_at)
		return -ENOSPC;
	assert_true(d->created < REGIONS);
	*handle = &d->key[d->created++];
	d->alive++;
	return 0;
}

static void destroy(void *context, void *handle)
{
	*(uint32_t *)handle = 0;
	((struct device *)context)->alive--;
}

static int map(void *context, void *handle, const struct o2_fmr_request *request, uint32_t *lkey,
	       uint32_t *rkey, struct o2_error *error)
{
	struct device *d = context;

	assert_true(request->npages == 0 || request->pages != NULL);
	d->maps++;
	if (d->map_error != 0)
		return d->map_error;
	*(uint32_t *)handle = ++d->next_key;
	*rkey = d->next_key;
	*lkey = d->next_key + 0x1000;
	return 0;
}

static int unmap(void *context, void *const *handles, uint32_t count)
{
	struct device *d = context;

	d->unmaps++;
	if (count > d->largest_unmap)
		d->largest_unmap = count;
	if (d->unmap_error != 0)
		return d->unmap_error;
	for (uint32_t i = 0; i < count; i++)
		*(uint32_t *)handles[i] = 0;
	return 0;
}

static const struct o2_fmr_ops ops = {create, destroy, map, unmap};

static bool alive(const struct device *d, uint32_t key)
{
	for (uint32_t i = 0; i < d->created; i++)
		if (d->key[i] == key)
			return true;
	return false;
}

static struct o2_fmr_config config_of(struct device *d, uint32_t pool_size, uint32_t max_remaps,
				      uint32_t watermark)
{
	*d = (struct device){.fail_create_at = UINT32_MAX};
	return (struct o2_fmr_config){.set = {.clock = &d->clock},
				      .ops = &ops,
				      .context = d,
				      .pool_size = pool_size,
				      .max_pages = 257,
				      .page_bytes = 4096,
				      .max_remaps = max_remaps,
				      .watermark = watermark,
				      .cache = true};
}

static int take_list(struct o2_fmr_set *set, const uint64_t *pages, uint32_t npages, uint64_t iova,
		     struct o2_fmr **fmr, struct o2_error *error)
{
	const struct o2_fmr_request request = {.pages = pages, .npages = npages, .iova = iova};

	return o2_fmr_take(set, &request, fmr, error);
}

/* Takes a mapping of the list with this number. */
static struct o2_fmr *take(struct o2_fmr_set *set, uint64_t list)
{
	const uint64_t pages[2] = {0x10000000, list << 12};
	struct o2_fmr *fmr = NULL;

	assert_int_equal(take_list(set, pages, 2, 0, &fmr, NULL), 0);
	assert_int_equal(fmr->place, O2_FMR_USED);
	assert_int_equal(fmr->lkey, fmr->rkey + 0x1000);
	assert_int_equal(fmr->mapped.npages, 2);
	return fmr;
}

static void expect_places(struct o2_fmr_set *set, uint32_t unused, uint32_t used, uint32_t dirty)
{
	const struct o2_fmr_pool *pool = (struct o2_fmr_pool *)TAILQ_FIRST(&set->set.live);
	uint32_t places[O2_FMR_PLACES] = {0};

	for (uint32_t i = 0; i < set->config.pool_size; i++)
		places[pool->fmr[i].place]++;
	assert_int_equal(places[O2_FMR_FREE], unused);
	assert_int_equal(places[O2_FMR_USED], used);
	assert_int_equal(places[O2_FMR_DIRTY], dirty);
	assert_int_equal(places[O2_FMR_MAPPING] + places[O2_FMR_FLUSHING], 0);
}

static void close_set(struct o2_fmr_set *set, struct device *d)
{
	assert_int_equal(o2_pool_set_close(&set->set, NULL), 0);
	assert_int_equal(d->alive, 0);
}

/* Two transfers share a key; it stays valid after them, and is found again. */
TEST(test_cache)
{
	struct device d;
	struct o2_fmr_config config = config_of(&d, 3, 32, 3);
	struct o2_fmr *a, *b, *c;
	struct o2_pool_counts counts;
	struct o2_error error;
	struct o2_fmr_set set;

	assert_int_equal(o2_fmr_set_init(&set, &config, NULL), 0);
	a = take(&set, 1);
	b = take(&set, 1);
	c = take(&set, 2);
	assert_ptr_equal(a, b);
	assert_ptr_not_equal(a, c);
	assert_int_equal(a->refs, 2);
	assert_int_equal(d.maps, 2);
	o2_pool_set_counts(&set.set, &counts);
	assert_int_equal(counts.live_users, 3);
	assert_int_equal(o2_fmr_put(&set, a, false, NULL), 0);
	expect_places(&set, 1, 2, 0);
	assert_int_equal(o2_fmr_put(&set, a, false, NULL), 0);
	assert_error(o2_fmr_put(&set, a, false, &error), -EINVAL, &error, "pool/put/not-in-use");
	assert_true(alive(&d, a->rkey)); /* released, but still valid */
	assert_ptr_equal(take(&set, 1), a);
	assert_int_equal(d.maps, 2);
	assert_int_equal(a->remaps, 1);
	assert_int_equal(o2_pool_set_close(&set.set, NULL), -EBUSY);
	assert_int_equal(o2_fmr_put(&set, a, false, NULL), 0);
	assert_int_equal(o2_fmr_put(&set, c, false, NULL), 0);
	close_set(&set, &d);
	assert_false(alive(&d, 1));
}

/* The region that was released first is mapped next, which ends its old key. */
TEST(test_eviction)
{
	struct device d;
	struct o2_fmr_config config = config_of(&d, 3, 32, 3);
	struct o2_fmr *fmr[4];
	struct o2_fmr_set set;
	uint32_t key;

	assert_int_equal(o2_fmr_set_init(&set, &config, NULL), 0);
	for (uint32_t i = 0; i < 3; i++)
		fmr[i] = take(&set, i);
	key = fmr[1]->rkey;
	assert_int_equal(o2_fmr_put(&set, fmr[1], false, NULL), 0);
	assert_int_equal(o2_fmr_put(&set, fmr[0], false, NULL), 0);
	fmr[3] = take(&set, 9);
	assert_ptr_equal(fmr[3], fmr[1]);
	assert_false(alive(&d, key));
	assert_int_equal(fmr[3]->remaps, 2);
	/* List 1 is no longer cached, list 0 still is. */
	assert_ptr_equal(take(&set, 0), fmr[0]);
	assert_int_equal(d.maps, 4);
	assert_int_equal(o2_fmr_put(&set, fmr[0], false, NULL), 0);
	assert_ptr_equal(take(&set, 1), fmr[0]);
	assert_int_equal(d.maps, 5);
	for (uint32_t i = 0; i < 4; i++)
		if (i != 1)
			assert_int_equal(o2_fmr_put(&set, fmr[i], false, NULL), 0);
	close_set(&set, &d);
}

/* The same pages at another address, fewer of them, other bytes or other rights make another list; without
 * the cache, so does the same list. */
TEST(test_what_is_the_same)
{
	const uint64_t pages[2] = {0x10000000, 0x20000000};
	struct device d;
	struct o2_fmr_config config = config_of(&d, 8, 32, 8);
	struct o2_fmr_request other[3] = {{.pages = pages, .npages = 2, .page_offset = 8},
					  {.pages = pages, .npages = 2, .length = 100},
					  {.pages = pages, .npages = 2, .access = 2}};
	struct o2_fmr *fmr[8];
	struct o2_fmr_set set;

	for (int cache = 0; cache < 2; cache++) {
		d.created = d.maps = 0;
		config.cache = cache != 0;
		assert_int_equal(o2_fmr_set_init(&set, &config, NULL), 0);
		assert_int_equal(take_list(&set, pages, 2, 0, &fmr[0], NULL), 0);
		assert_int_equal(take_list(&set, pages, 2, 4096, &fmr[1], NULL), 0);
		assert_int_equal(take_list(&set, pages, 1, 0, &fmr[2], NULL), 0);
		assert_int_equal(take_list(&set, pages + 1, 1, 0, &fmr[3], NULL), 0);
		assert_int_equal(take_list(&set, pages, 2, 0, &fmr[4], NULL), 0);
		for (int i = 0; i < 3; i++)
			assert_int_equal(o2_fmr_take(&set, &other[i], &fmr[5 + i], NULL), 0);
		assert_int_equal(d.maps, cache != 0 ? 7 : 8);
		assert_true((fmr[4] == fmr[0]) == (cache != 0));
		for (int i = 0; i < 8; i++)
			assert_int_equal(o2_fmr_put(&set, fmr[i], false, NULL), 0);
		close_set(&set, &d);
	}
}

static void wear_out(struct o2_fmr_set *set, uint64_t list)
{
	assert_int_equal(o2_fmr_put(set, take(set, list), false, NULL), 0);
}

/* A worn-out region is dirty; at the watermark the dirty regions, and only these, are unmapped. */
TEST(test_watermark)
{
	struct device d;
	struct o2_fmr_config config = config_of(&d, 4, 1, 2);
	struct o2_fmr_set set;
	struct o2_fmr *fmr;

	for (int on_demand = 0; on_demand < 2; on_demand++) {
		d.created = d.unmaps = d.next_key = 0;
		config.flush_on_demand = on_demand != 0;
		assert_int_equal(o2_fmr_set_init(&set, &config, NULL), 0);
		wear_out(&set, 1);
		expect_places(&set, 3, 0, 1);
		/* The list is still cached: its region is found among the dirty ones. */
		fmr = take(&set, 1);
		expect_places(&set, 3, 1, 0);
		assert_int_equal(d.next_key, 1);
		assert_int_equal(o2_fmr_put(&set, fmr, false, NULL), 0);
		wear_out(&set, 2);
		if (on_demand != 0) {
			expect_places(&set, 2, 0, 2);
			assert_true(alive(&d, 1));
			o2_fmr_set_flush(&set, false);
		}
		expect_places(&set, 4, 0, 0);
		assert_int_equal(d.unmaps, 1);
		assert_false(alive(&d, 1) || alive(&d, 2));
		wear_out(&set, 1); /* no longer cached after the flush */
		assert_int_equal(d.next_key, 3);
		o2_fmr_set_flush(&set, false); /* none was requested */
		assert_int_equal(d.unmaps, 1);
		o2_fmr_set_flush(&set, true);
		assert_int_equal(d.unmaps, 2);
		expect_places(&set, 4, 0, 0);
		close_set(&set, &d);
	}
}

/* After the release of a failed transfer no key of its pool is valid, except keys in use. */
TEST(test_failed_transfer)
{
	struct device d;
	struct o2_fmr_config config = config_of(&d, 4, 32, 4);
	struct o2_fmr *fmr[3];
	struct o2_fmr_set set;

	assert_int_equal(o2_fmr_set_init(&set, &config, NULL), 0);
	for (uint32_t i = 0; i < 3; i++)
		fmr[i] = take(&set, i);
	assert_int_equal(o2_fmr_put(&set, fmr[0], false, NULL), 0);
	assert_true(alive(&d, 1));
	assert_int_equal(o2_fmr_put(&set, fmr[1], true, NULL), 0);
	assert_true(!alive(&d, 1) && !alive(&d, 2) && alive(&d, 3));
	assert_int_equal(fmr[0]->remaps, 0);
	expect_places(&set, 3, 1, 0);
	assert_int_equal(o2_fmr_put(&set, fmr[2], false, NULL), 0);
	close_set(&set, &d);
}

/*
 * A strict mapping is not shared, and its key ends when it is released; a region that could not be unmapped
 * is not reused.
 */
TEST(test_strict)
{
	static const uint64_t pages[2] = {0x10000000, 1 << 12};
	const struct o2_fmr_request strict = {.pages = pages, .npages = 2, .strict = true};
	struct device d;
	struct o2_fmr_config config = config_of(&d, 4, 32, 4);
	struct o2_fmr *kept, *fmr[2];
	struct o2_error error;
	struct o2_fmr_set set;

	assert_int_equal(o2_fmr_set_init(&set, &config, NULL), 0);
	kept = take(&set, 1);
	assert_int_equal(o2_fmr_take(&set, &strict, &fmr[0], NULL), 0);
	assert_int_equal(o2_fmr_take(&set, &strict, &fmr[1], NULL), 0);
	assert_int_equal(d.maps, 3);
	assert_int_equal(o2_fmr_put(&set, kept, false, NULL), 0);
	assert_int_equal(o2_fmr_put(&set, fmr[0], false, NULL), 0);
	assert_true(alive(&d, 1) && !alive(&d, 2) && alive(&d, 3));
	assert_int_equal(fmr[0]->remaps, 0);
	expect_places(&set, 3, 1, 0);
	d.unmap_error = -EIO;
	assert_error(o2_fmr_put(&set, fmr[1], false, &error), -EIO, &error, "pool/fmr/key-alive");
	assert_true(alive(&d, 3));
	expect_places(&set, 3, 0, 1);
	assert_int_equal(o2_fmr_put(&set, fmr[1], false, &error), -EINVAL);
	d.unmap_error = 0;
	o2_fmr_set_flush(&set, false);
	assert_false(alive(&d, 3));
	expect_places(&set, 4, 0, 0);
	close_set(&set, &d);
}

/* A region that could not be unmapped is not mapped again; the next flush unmaps it too. */
TEST(test_flush_fails)
{
	struct device d;
	struct o2_fmr_config config = config_of(&d, 2, 1, 1);
	struct o2_fmr_set set;

	assert_int_equal(o2_fmr_set_init(&set, &config, NULL), 0);
	d.unmap_error = -EIO;
	wear_out(&set, 1);
	expect_places(&set, 1, 0, 1);
	assert_true(alive(&d, 1));
	wear_out(&set, 2);
	expect_places(&set, 0, 0, 2);
	d.unmap_error = 0;
	o2_fmr_set_flush(&set, false);
	expect_places(&set, 2, 0, 0);
	assert_false(alive(&d, 1) || alive(&d, 2));
	d.unmap_error = -EIO;
	wear_out(&set, 1);
	close_set(&set, &d); /* closing succeeds even so */
}

TEST(test_errors)
{
	static const uint64_t pages[258];
	struct device d;
	struct o2_fmr_config config = config_of(&d, 1, 32, 1);
	struct o2_fmr *fmr = NULL, *held;
	struct o2_pool_counts counts;
	struct o2_error error;
	struct o2_fmr_set set;

	assert_int_equal(o2_fmr_set_init(&set, &config, NULL), 0);
	assert_int_equal(take_list(&set, pages, 0, 0, &fmr, &error), -EINVAL);
	assert_error(take_list(&set, pages, 258, 0, &fmr, &error), -EINVAL, &error, "pool/fmr/npages");
	assert_error(take_list(&set, pages, 1, 512, &fmr, &error), -EINVAL, &error, "pool/fmr/iova");
	assert_int_equal(error.limit_kind, O2_LIMIT_MULTIPLE);
	assert_int_equal(d.maps, 0);
	d.map_error = -EAGAIN; /* -EAGAIN from the device is not that of a pool: no second pool is made */
	assert_error(take_list(&set, pages, 257, 0, &fmr, &error), -EAGAIN, &error, "pool/fmr/map");
	assert_int_equal(d.created, 1);
	d.map_error = 0;
	assert_int_equal(take_list(&set, pages, 257, 0, &held, &error), 0);
	d.fail_create_at = 1;
	assert_error(take_list(&set, pages, 1, 0, &fmr, &error), -EAGAIN, &error, "pool/exhausted");
	d.clock.now_ms += O2_POOL_RETRY_MS;
	d.fail_create_at = UINT32_MAX;
	assert_int_equal(take_list(&set, pages, 1, 0, &fmr, &error), 0);
	o2_pool_set_counts(&set.set, &counts);
	assert_int_equal(counts.live_users, 2);
	assert_int_equal(counts.live, 2);
	assert_int_equal(o2_fmr_put(&set, fmr, false, NULL), 0);
	assert_int_equal(o2_fmr_put(&set, held, false, NULL), 0);
	close_set(&set, &d);
}

TEST(test_configs_and_creation)
{
	struct device d;
	struct o2_fmr_config config = config_of(&d, 4, 0, 5);
	struct o2_error error;
	struct o2_fmr_set set;

	assert_error_field(o2_fmr_set_init(&set, &config, &error), -EINVAL, &error, "watermark");
	config.watermark = 4;
	for (uint32_t at = 0; at < 4; at++) {
		d.created = 0;
		d.fail_create_at = at;
		assert_int_equal(o2_fmr_set_init(&set, &config, &error), -ENOSPC);
		assert_int_equal(error.index, at);
		assert_int_equal(d.alive, 0);
	}
	config.page_bytes = 512;
	assert_int_equal(o2_fmr_set_init(&set, &config, &error), -EINVAL);
	config.max_pages = 1;
	assert_error_field(o2_fmr_set_init(&set, &config, &error), -EINVAL, &error, "max_pages");
	config.pool_size = 0;
	assert_error_field(o2_fmr_set_init(&set, &config, &error), -EINVAL, &error, "pool_size");
	/* The device gives no limit on remaps; a large flush is done in batches. */
	config = config_of(&d, 150, 0, 150);
	assert_int_equal(o2_fmr_set_init(&set, &config, &error), 0);
	assert_int_equal(set.config.max_remaps, 32);
	for (uint32_t i = 0; i < 150; i++)
		wear_out(&set, i);
	o2_fmr_set_flush(&set, true);
	assert_int_equal(d.unmaps, 3);
	assert_int_equal(d.largest_unmap, 64);
	expect_places(&set, 150, 0, 0);
	for (uint32_t i = 0; i < 150; i++)
		assert_int_equal(d.key[i], 0);
	close_set(&set, &d);
}
