/* SPDX-License-Identifier: MIT */
/*
 * Threads that find a set growing wait, and share the result: a pool, or the failure (docs/pools.md,
 * "Growing").  The pool is finished only when all other threads wait, so that this always happens.
 */
#include <pthread.h>
#include <sched.h>

#include "reg/pool/poolset.h"
#include "tests/lib/unit_test.h"

#define THREADS 4u

struct growth {
	struct o2_pool_set set;
	struct o2_pool_kind kind;
	uint32_t made;
	int result;
};

struct counting_pool {
	struct o2_pool base;
	uint32_t free;
};

static int slow_create(void *owner, uint64_t device, struct o2_pool **pool, struct o2_error *error)
{
	struct growth *g = owner;
	struct o2_pool_counts c = {0};
	struct counting_pool *made;

	/* Return only when all other threads are waiting. */
	while (g->made > 0 && c.waits < THREADS - 1) {
		o2_pool_set_counts(&g->set, &c);
		sched_yield();
	}
	if (g->made > 0 && g->result != 0)
		return g->result;
	made = calloc(1, sizeof(*made));
	if (made == NULL)
		abort();
	made->free = g->made++ == 0 ? 0 : THREADS;
	*pool = &made->base;
	return 0;
}

static void slow_destroy(void *owner, struct o2_pool *pool)
{
	free(pool);
}

static int slow_take(void *owner, struct o2_pool *pool, void *request, struct o2_error *error)
{
	if (((struct counting_pool *)pool)->free == 0)
		return O2_POOL_EXHAUSTED;
	((struct counting_pool *)pool)->free--;
	return 0;
}

static void *one_take(void *argument)
{
	struct growth *g = argument;
	struct o2_pool *pool;
	int rc = o2_pool_set_take(&g->set, NULL, &pool, NULL);

	/* cmocka's assertions work only in its own thread. */
	if (rc != (g->result == 0 ? 0 : -EAGAIN))
		abort();
	if (rc == 0 && o2_pool_set_put(&g->set, pool, NULL, true, NULL) != 0)
		abort();
	return NULL;
}

TEST(test_waiting)
{
	static const struct o2_clock clock; /* time stands still */
	const struct o2_pool_set_config config = {.clock = &clock};

	for (int fails = 0; fails < 2; fails++) {
		struct growth g = {.result = fails != 0 ? -ENOSPC : 0};
		pthread_t thread[THREADS];
		struct o2_pool_counts c;

		g.kind = (struct o2_pool_kind){slow_create, slow_destroy, slow_take, NULL,
					       -EAGAIN,	    false,	  false,     NULL};
		assert_int_equal(o2_pool_set_init(&g.set, &g.kind, &g, &config, NULL), 0);
		for (uint32_t i = 0; i < THREADS; i++)
			assert_int_equal(pthread_create(&thread[i], NULL, one_take, &g), 0);
		for (uint32_t i = 0; i < THREADS; i++)
			assert_int_equal(pthread_join(thread[i], NULL), 0);
		o2_pool_set_counts(&g.set, &c);
		assert_int_equal(c.waits, THREADS - 1);
		assert_int_equal(c.created, fails != 0 ? 1 : 2);
		assert_int_equal(c.create_failures, fails);
		assert_int_equal(o2_pool_set_close(&g.set, NULL), 0);
	}
}
