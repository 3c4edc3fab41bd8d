/* SPDX-License-Identifier: MIT */
#ifndef O2_TEST_POOL_WORLD_H
#define O2_TEST_POOL_WORLD_H

/* A pool set with a kind of pool that only counts, for test_poolset.c and test_pool_search.c. */

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "reg/pool/poolset.h"

struct world {
	struct o2_pool_set set;
	struct o2_pool_kind kind;
	struct o2_clock clock;
	uint32_t pool_size;
	uint32_t next_id;
	uint32_t alive;	   /* pools created and not destroyed */
	int create_error;  /* what create() says */
	int take_error;	   /* what take() says */
	uint32_t attempts; /* calls of create() */
	uint64_t last_device;
	void (*during_create)(struct world *w);
	void (*during_take)(struct world *w);
	struct o2_error error;
};

struct counting_pool {
	struct o2_pool base;
	uint32_t id;
	uint32_t free;
};

static int create(void *owner, uint64_t device, struct o2_pool **pool, struct o2_error *error)
{
	struct world *w = owner;
	struct counting_pool *made;

	w->attempts++;
	w->last_device = device;
	if (w->during_create != NULL)
		w->during_create(w);
	if (w->create_error != 0)
		return o2_refuse(error, w->create_error, "test/create", "pool", O2_NO_INDEX, 0, 0);
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
	struct world *w = owner;

	assert_int_equal(pool->users, 0);
	assert_int_equal(((struct counting_pool *)pool)->free, w->pool_size);
	w->alive--;
	free(pool);
}

static int take(void *owner, struct o2_pool *base, void *request, struct o2_error *error)
{
	struct counting_pool *pool = (struct counting_pool *)base;
	struct world *w = owner;
	void (*during_take)(struct world *) = w->during_take;

	(void)request;
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
	(void)owner;
	if (element == NULL)
		return -EINVAL;
	((struct counting_pool *)base)->free++;
	return 0;
}

static void open_world(struct world *w, uint32_t pool_size, bool scan_is_use, uint32_t max_pools)
{
	struct o2_pool_set_config config = {.clock = &w->clock, .device = 1, .max_pools = max_pools};

	memset(w, 0, sizeof(*w));
	w->pool_size = pool_size;
	w->clock.now_ms = 1000000;
	w->kind = (struct o2_pool_kind){create, destroy, take, give, -EAGAIN, scan_is_use, false, NULL};
	assert_int_equal(o2_pool_set_init(&w->set, &w->kind, w, &config, &w->error), 0);
}

/* Take one and expect it from the pool of that id. */
static struct o2_pool *take_from(struct world *w, uint32_t id)
{
	struct o2_pool *pool = NULL;

	assert_int_equal(o2_pool_set_take(&w->set, w, &pool, &w->error), 0);
	assert_int_equal(((struct counting_pool *)pool)->id, id);
	return pool;
}

static void put(struct world *w, struct o2_pool *pool)
{
	assert_int_equal(o2_pool_set_put(&w->set, pool, w, &w->error), 0);
}

static int refused_take(struct world *w)
{
	struct o2_pool *pool = NULL;
	int rc = o2_pool_set_take(&w->set, w, &pool, &w->error);

	assert_null(pool);
	return rc;
}

static void close_world(struct world *w)
{
	assert_int_equal(o2_pool_set_close(&w->set, &w->error), 0);
	assert_int_equal(w->alive, 0);
}

static struct o2_pool_counts counts(struct world *w)
{
	struct o2_pool_counts c;

	o2_pool_set_counts(&w->set, &c);
	assert_int_equal(c.live + c.failed, w->alive);
	assert_int_equal(c.created - c.destroyed, w->alive);
	return c;
}

#endif
