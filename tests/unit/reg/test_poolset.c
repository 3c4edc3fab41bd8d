/* SPDX-License-Identifier: MIT */
/* Creation and destruction of pools (docs/pools.md). */
#include "tests/lib/pool_world.h"

TEST(test_init_fails)
{
	struct pool_world w = {.create_error = -ENODEV, .pool_size = 1};
	struct o2_pool_set_config config = {.clock = &w.clock};

	w.kind = pool_world_kind(false);
	assert_error(o2_pool_set_init(&w.set, &w.kind, &w, &config, &w.error), -ENODEV, &w.error,
		     "test/create");
	assert_int_equal(w.alive, 0);
	config.clock = NULL;
	assert_error(o2_pool_set_init(&w.set, &w.kind, &w, &config, &w.error), -EINVAL, &w.error,
		     "pool/config/clock");
}

POOL_TEST(test_growth_and_retry, 1, false, 0)
{
	struct o2_pool *held[3];

	pool_world_hold(w, held, 2);
	assert_int_equal(w->attempts, 2);
	/* One attempt to grow, and no other within a second. */
	w->create_error = -ENOSPC;
	assert_int_equal(pool_world_refuses(w), -EAGAIN);
	assert_int_equal(w->attempts, 3);
	w->clock.now_ms += O2_POOL_RETRY_MS - 1;
	w->create_error = 0;
	assert_int_equal(pool_world_refuses(w), -EAGAIN);
	assert_string_equal(w->error.rule, "pool/exhausted");
	assert_int_equal(w->attempts, 3);
	w->clock.now_ms++;
	held[2] = pool_world_take(w, 2);
	assert_int_equal(pool_world_counts(w).create_failures, 1);
	/* The errno of the kind for an exhausted set. */
	w->kind.exhausted_errno = -ENOMEM;
	w->create_error = -ENOSPC;
	assert_int_equal(pool_world_refuses(w), -ENOMEM);
	/* Released elements are found without growth, in the order of the list. */
	pool_world_put(w, held[1]);
	held[1] = pool_world_take(w, 1);
	pool_world_put_all(w, held, 3);
}

POOL_TEST(test_cap, 1, false, 2)
{
	struct o2_pool *held[2];

	pool_world_hold(w, held, 2);
	assert_int_equal(pool_world_refuses(w), -EBUSY);
	assert_int_equal(w->error.limit, 2);
	pool_world_put(w, held[0]);
	held[0] = pool_world_take(w, 0);
	pool_world_put_all(w, held, 2);
}

POOL_TEST(test_lifetime, 1, false, 0)
{
	struct o2_pool *held[3];

	pool_world_hold(w, held, 3);
	/* A pool lives 300 s from its last use, not 1 ms less; the first pool stays, however long idle. */
	w->clock.now_ms += O2_POOL_LIFE_MS - 1;
	pool_world_put(w, held[1]);
	pool_world_put(w, held[0]);
	assert_int_equal(pool_world_counts(w).live, 3);
	w->clock.now_ms++;
	assert_int_equal(pool_world_counts(w).live, 3); /* time alone destroys nothing */
	pool_world_put(w, held[2]);
	assert_int_equal(pool_world_counts(w).live, 1);
	assert_int_equal(pool_world_counts(w).destroyed, 2);
	assert_int_equal(pool_world_counts(w).version, 5); /* three appended, two removed */
	pool_world_put(w, pool_world_take(w, 0));
}

/* With scan_is_use a search without success keeps a pool alive; otherwise only a success does. */
TEST(test_scan_is_use)
{
	for (int scan_is_use = 0; scan_is_use < 2; scan_is_use++) {
		struct pool_world *w = pool_world_open(1, scan_is_use != 0, 0);
		struct o2_pool *held[3];

		pool_world_hold(w, held, 3);
		pool_world_put(w, held[2]);
		w->clock.now_ms += O2_POOL_LIFE_MS;
		held[2] = pool_world_take(w, 2); /* searches pools 0 and 1 first */
		pool_world_put(w, held[1]);
		assert_int_equal(pool_world_counts(w).live, scan_is_use != 0 ? 3 : 2);
		pool_world_put(w, held[0]);
		pool_world_put(w, held[2]);
		pool_world_close(w);
	}
}

POOL_TEST(test_undo_gives_up_nothing, 1, false, 0)
{
	struct o2_pool *held[3];

	pool_world_hold(w, held, 3);
	pool_world_put(w, held[1]);
	w->clock.now_ms += O2_POOL_LIFE_MS;
	assert_int_equal(o2_pool_set_put(&w->set, held[2], w, false, &w->error), 0);
	assert_int_equal(pool_world_counts(w).live, 3);
	pool_world_put(w, held[0]);
	assert_int_equal(pool_world_counts(w).live, 1);
}

POOL_TEST(test_failover, 1, false, 0)
{
	struct o2_pool *old, *new;

	old = pool_world_take(w, 0);
	pool_world_put(w, pool_world_take(w, 1));
	assert_int_equal(o2_pool_set_check(&w->set, old, 1, &w->error), 0);
	assert_error(o2_pool_set_check(&w->set, old, 2, &w->error), -ENETDOWN, &w->error,
		     "pool/other-device");
	/* Idle pools are destroyed at once, used ones with their last user. */
	assert_int_equal(o2_pool_set_fail(&w->set, 2), 1);
	assert_int_equal(pool_world_counts(w).live, 0);
	assert_int_equal(pool_world_counts(w).failed, 1);
	assert_error(o2_pool_set_check(&w->set, old, 1, &w->error), -ENETDOWN, &w->error, "pool/failed");
	new = pool_world_take(w, 2);
	assert_int_equal(w->last_device, 2);
	assert_int_equal(o2_pool_set_check(&w->set, new, 2, &w->error), 0);
	pool_world_put(w, old);
	assert_int_equal(pool_world_counts(w).failed, 0);
	/* The new pool heads the list, so it is now the pool that stays. */
	w->clock.now_ms += 2 * O2_POOL_LIFE_MS;
	pool_world_put(w, new);
	assert_int_equal(pool_world_counts(w).live, 1);
}

POOL_TEST(test_retire, 2, false, 0)
{
	struct o2_pool *held;

	held = pool_world_take(w, 0);
	o2_pool_set_retire(&w->set, held);
	o2_pool_set_retire(&w->set, held); /* a second call has no effect */
	assert_int_equal(pool_world_counts(w).failed, 1);
	pool_world_put(w, pool_world_take(w, 1));
	assert_int_equal(o2_pool_set_put(&w->set, held, w, false, &w->error), 0);
	assert_int_equal(pool_world_counts(w).failed, 0);
}

POOL_TEST(test_misuse, 2, false, 0)
{
	struct o2_pool *held;

	held = pool_world_take(w, 0);
	assert_int_equal(o2_pool_set_put(&w->set, held, NULL, true, &w->error), -EINVAL); /* give() refuses */
	assert_int_equal(o2_pool_set_close(&w->set, &w->error), -EBUSY);
	assert_int_equal(w->error.value, 1);
	pool_world_put(w, held);
	assert_error(o2_pool_set_put(&w->set, held, w, true, &w->error), -EINVAL, &w->error,
		     "pool/put/not-in-use");
	w->take_error = -EIO;
	assert_int_equal(pool_world_refuses(w), -EIO);
	assert_string_equal(w->error.rule, "test/take");
	assert_int_equal(pool_world_counts(w).live_users, 0);
}
