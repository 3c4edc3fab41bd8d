/* SPDX-License-Identifier: MIT */
/* Pools that come and go while another caller searches, or creates one (docs/pools.md). */
#include "tests/lib/pool_world.h"

/* The device fails over while a pool is created for it. */
static void fail_once(struct pool_world *w)
{
	w->during_create = NULL;
	o2_pool_set_fail(&w->set, 7);
}

POOL_TEST(test_failover_during_growth, 1, false, 0)
{
	struct o2_pool *held[2];

	held[0] = pool_world_take(w, 0);
	w->during_create = fail_once;
	held[1] = pool_world_take(w, 2); /* pool 1 was for the old device */
	assert_int_equal(w->last_device, 7);
	assert_int_equal(held[1]->device, 7);
	assert_int_equal(pool_world_counts(w).live, 1);
	pool_world_put_all(w, held, 2);
}

/* Called by take() without the lock: the list of pools changes during the search. */
static void fail_everything(struct pool_world *w)
{
	o2_pool_set_fail(&w->set, 8);
}

POOL_TEST(test_list_changes_during_search, 1, true, 0)
{
	struct o2_pool *held[3];

	w->kind.take_unlocked = true;
	pool_world_hold(w, held, 2);
	w->during_take = fail_everything; /* while the exhausted pool 0 is searched */
	held[2] = pool_world_take(w, 2);
	assert_int_equal(pool_world_counts(w).failed, 2);
	pool_world_put_all(w, held, 3);
	assert_int_equal(pool_world_counts(w).live, 1);
	/* The searched pool fails, and has no other user: it is destroyed when the search leaves it. */
	w->take_error = -EIO;
	w->during_take = fail_everything;
	assert_int_equal(pool_world_refuses(w), -EIO);
	assert_int_equal(pool_world_counts(w).live + pool_world_counts(w).failed, 0);
	w->take_error = 0;
	pool_world_put(w, pool_world_take(w, 3));
}

static struct o2_pool *to_put;

/* While pool 1 is searched, pool 0 gets an element back, and the idle pool 2 is destroyed. */
static void put_during_the_second(struct pool_world *w)
{
	w->clock.now_ms += O2_POOL_LIFE_MS;
	pool_world_put(w, to_put);
}

static void wait_for_the_second(struct pool_world *w)
{
	w->during_take = put_during_the_second;
}

POOL_TEST(test_search_begins_again, 1, true, 0)
{
	struct o2_pool *held[3];

	pool_world_hold(w, held, 3);
	pool_world_put(w, held[2]);
	w->kind.take_unlocked = true;
	w->during_take = wait_for_the_second;
	to_put = held[0];
	held[0] = pool_world_take(w, 0); /* without a second search a new pool would be created */
	assert_int_equal(pool_world_counts(w).live, 2);
	pool_world_put_all(w, held, 2);
}
