/* SPDX-License-Identifier: MIT */
#ifndef O2_TESTS_POOL_WORLD_H
#define O2_TESTS_POOL_WORLD_H

#include "reg/pool/poolset.h"
#include "tests/lib/unit_test.h"

/* A pool set whose mock pools only count their free elements. */

struct pool_world {
	struct o2_pool_set set;
	struct o2_pool_kind kind;
	struct o2_clock clock;
	uint32_t pool_size;
	uint32_t next_id;
	uint32_t alive;	   /* pools created and not destroyed */
	int create_error;  /* what create() returns */
	int take_error;	   /* what take() returns */
	uint32_t attempts; /* calls of create() */
	uint64_t last_device;
	void (*during_create)(struct pool_world *w);
	void (*during_take)(struct pool_world *w);
	struct o2_error error;
};

/* The calls of such pools; the owner of the set must be a struct pool_world. */
struct o2_pool_kind pool_world_kind(bool scan_is_use);

/* A set whose pools have pool_size elements; one at a time.  Closing asserts that every element was returned. */
struct pool_world *pool_world_open(uint32_t pool_size, bool scan_is_use, uint32_t max_pools);
void pool_world_close(struct pool_world *w);
/* A test that gets such a world, which is closed after the test. */
#define POOL_TEST(name, pool_size, scan_is_use, max_pools)                                      \
	TEST_ON(name, struct pool_world, w, pool_world_open(pool_size, scan_is_use, max_pools), \
		pool_world_close)

/* Take an element, and assert that it comes from the pool with this id. */
struct o2_pool *pool_world_take(struct pool_world *w, uint32_t id);

/* Take `count` elements, and assert that they come from pools 0, 1, 2... in turn. */
void pool_world_hold(struct pool_world *w, struct o2_pool **held, uint32_t count);

/* Return one element; return `count` elements. */
void pool_world_put(struct pool_world *w, struct o2_pool *pool);
void pool_world_put_all(struct pool_world *w, struct o2_pool **held, uint32_t count);

/* Try to take an element, and assert that this fails.  Returns the error. */
int pool_world_refuses(struct pool_world *w);

/* The set's counts (o2_pool_set_counts), after asserting that they agree with the number of live pools. */
struct o2_pool_counts pool_world_counts(struct pool_world *w);

#endif
