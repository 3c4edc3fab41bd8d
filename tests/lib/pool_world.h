/* SPDX-License-Identifier: MIT */
#ifndef O2_TESTS_POOL_WORLD_H
#define O2_TESTS_POOL_WORLD_H

#include "reg/pool/poolset.h"
#include "tests/lib/unit_test.h"

/* A pool set with a kind of pool that only counts. */

struct pool_world {
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
	void (*during_create)(struct pool_world *w);
	void (*during_take)(struct pool_world *w);
	struct o2_error error;
};

/* The kind of such a set, for an owner that is a pool_world. */
struct o2_pool_kind pool_world_kind(bool scan_is_use);

/* Pools of pool_size elements; closing asserts that all are back.  One at a time. */
struct pool_world *pool_world_open(uint32_t pool_size, bool scan_is_use, uint32_t max_pools);
void pool_world_close(struct pool_world *w);
/* With such a world, which is closed behind it. */
#define POOL_TEST(name, pool_size, scan_is_use, max_pools)                                      \
	TEST_ON(name, struct pool_world, w, pool_world_open(pool_size, scan_is_use, max_pools), \
		pool_world_close)

/* Take one and expect it from the pool of that id. */
struct o2_pool *pool_world_take(struct pool_world *w, uint32_t id);

/* The same of pools 0, 1, 2... */
void pool_world_hold(struct pool_world *w, struct o2_pool **held, uint32_t count);

/* Put one back; all of them. */
void pool_world_put(struct pool_world *w, struct o2_pool *pool);
void pool_world_put_all(struct pool_world *w, struct o2_pool **held, uint32_t count);

/* What taking one is refused with. */
int pool_world_refuses(struct pool_world *w);

/* o2_pool_set_counts, held to what is alive. */
struct o2_pool_counts pool_world_counts(struct pool_world *w);

#endif
