/* SPDX-License-Identifier: MIT */
#include "tests/lib/pool_world.h"

struct counting_pool {
	struct o2_pool base;
	uint32_t id;
	uint32_t free;
};

static int create(void *owner, uint64_t device, struct o2_pool **pool, struct o2_error *error)
{
	struct pool_world *w = owner;
	struct counting_pool *made;

	w->attempts++;
	w->last_device = device;
	if (w->during_create != NULL)
		w->during_create(w);
	if (w->create_error != 0)
		return o2_refuse_value(error, w->create_error, "test/create", "pool", 0, 0);
	made = calloc(1, sizeof(*made));
	assert_non_null(made);
	made->id = w->next_id++;
	made->free = w->pool_size;
	w->alive++;
	*pool = &made->base;
	return 0;
}

static void destroy(void *owner, struct o2_pool *pool)
{
	struct pool_world *w = owner;

	assert_int_equal(pool->users, 0);
	assert_int_equal(((struct counting_pool *)pool)->free, w->pool_size);
	w->alive--;
	free(pool);
}

static int take(void *owner, struct o2_pool *base, void *request, struct o2_error *error)
{
	struct counting_pool *pool = (struct counting_pool *)base;
	struct pool_world *w = owner;
	void (*during_take)(struct pool_world *) = w->during_take;

	w->during_take = NULL; /* once */
	if (during_take != NULL)
		during_take(w);
	if (w->take_error != 0)
		return o2_refuse(error, w->take_error, "test/take", "pool", pool->id, 0, 0);
	if (pool->free == 0)
		return O2_POOL_EXHAUSTED;
	pool->free--;
	return 0;
}

static int give(void *owner, struct o2_pool *base, void *element)
{
	if (element == NULL)
		return -EINVAL;
	((struct counting_pool *)base)->free++;
	return 0;
}

struct o2_pool_kind pool_world_kind(bool scan_is_use)
{
	return (struct o2_pool_kind){create, destroy, take, give, -EAGAIN, scan_is_use, false, NULL};
}

struct pool_world *pool_world_open(uint32_t pool_size, bool scan_is_use, uint32_t max_pools)
{
	static struct pool_world w;
	const struct o2_pool_set_config config = {.clock = &w.clock, .device = 1, .max_pools = max_pools};

	memset(&w, 0, sizeof(w));
	w.pool_size = pool_size;
	w.clock.now_ms = 1000000;
	w.kind = pool_world_kind(scan_is_use);
	assert_int_equal(o2_pool_set_init(&w.set, &w.kind, &w, &config, &w.error), 0);
	return &w;
}

struct o2_pool *pool_world_take(struct pool_world *w, uint32_t id)
{
	struct o2_pool *pool = NULL;

	assert_int_equal(o2_pool_set_take(&w->set, w, &pool, &w->error), 0);
	assert_int_equal(((struct counting_pool *)pool)->id, id);
	return pool;
}

void pool_world_hold(struct pool_world *w, struct o2_pool **held, uint32_t count)
{
	for (uint32_t id = 0; id < count; id++)
		held[id] = pool_world_take(w, id);
}

void pool_world_put(struct pool_world *w, struct o2_pool *pool)
{
	assert_int_equal(o2_pool_set_put(&w->set, pool, w, true, &w->error), 0);
}

void pool_world_put_all(struct pool_world *w, struct o2_pool **held, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		pool_world_put(w, held[i]);
}

int pool_world_refuses(struct pool_world *w)
{
	struct o2_pool *pool = NULL;
	int rc = o2_pool_set_take(&w->set, w, &pool, &w->error);

	assert_null(pool);
	return rc;
}

void pool_world_close(struct pool_world *w)
{
	assert_int_equal(o2_pool_set_close(&w->set, &w->error), 0);
	assert_int_equal(w->alive, 0);
}

struct o2_pool_counts pool_world_counts(struct pool_world *w)
{
	struct o2_pool_counts c;

	o2_pool_set_counts(&w->set, &c);
	assert_int_equal(c.live + c.failed, w->alive);
	assert_int_equal(c.created - c.destroyed, w->alive);
	return c;
}
