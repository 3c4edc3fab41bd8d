/* SPDX-License-Identifier: MIT */
#ifndef O2_TESTS_NODE_WORLD_H
#define O2_TESTS_NODE_WORLD_H

#include "lnd/cm/loop.h"
#include "tests/lib/node_seat.h"

/*
 * Two or three nodes in one process, on the devices loop0, loop1 and loop0, and the network of their
 * connection manager.  Time advances only when a test advances it.
 */

#define SEATS	   3u
#define NID(i)	   (NID_A + (i))
#define ADDRESS(i) (0xc0a80a01u + (i))

struct world {
	struct o2_cm_loop *loop;
	struct seat seat[SEATS];
	uint32_t nseats;
	uint64_t now_ms;
	/* What the network does with messages of each kind; PASS unless a test changes it. */
	enum o2_cm_loop_fate fate[O2_CM_LOOP_FAILURE + 1];
	uint32_t nsent[O2_CM_LOOP_FAILURE + 1]; /* messages whose delivery came due */
};

/* The network's callback for each message: counts it and returns its fate.  arg: the world. */
enum o2_cm_loop_fate world_fate(void *arg, enum o2_cm_loop_message message, uint32_t from, uint32_t to);

/* The default configuration, with a queue depth of 8 and O2_MAX_FRAGS fragments. */
struct o2_node_config small_config(void);

/* Create nseats nodes with these configurations.  A NULL array or element: small_config(). */
struct world *world_open(uint32_t nseats, const struct o2_node_config *const configs[]);

/* Advance the time of all nodes by ms, without driving them. */
void world_clock(struct world *world, uint64_t ms);

/* Let each node handle its completions.  Returns false if there were none. */
bool world_progress(struct world *world);

/* Drive nodes and network until nothing more happens at the current time. */
void world_settle(struct world *world);

/* Advance the time by ms in small steps, and drive everything after each step. */
void world_pass(struct world *world, uint64_t ms);

/* Assert that every operation has ended exactly once. */
void world_assert_ended(const struct world *world);

/* Destroy the world.  All operations must end, and all resources must be returned. */
void world_close(struct world *world);

/* Start a PUT of 5000 bytes; world_put also drives everything until nothing more happens. */
void seat_put(struct seat *from, uint64_t nid);
void world_put(struct world *world, struct seat *from, uint64_t nid);

/* Let every seat answer requests with nob bytes of its memory, in this registration mode. */
void world_answer(struct world *world, uint32_t nob, enum o2_reg_mode mode);

/* A world of two nodes that answer requests.  A NULL configuration: small_config(). */
struct world *world_two(const struct o2_node_config *a, const struct o2_node_config *b);
/* A test that gets world_two(NULL, NULL), which is closed after the test. */
#define WORLD_TEST(name) TEST_ON(name, struct world, world, world_two(NULL, NULL), world_close)

/* Assert that nodes i and j have `count` connections with each other and nothing under way. */
void assert_linked(const struct world *world, uint32_t i, uint32_t j, uint32_t count);

/*
 * A world in which the first node's connection is established and sends an invalid message before the second
 * node, which also has a PUT to send, knows that its end is established.  Its end breaks as it comes up.
 */
struct world *world_broken_at_once(void);

/*
 * A world in which the first node's PUT waits for a connection: 20 of its requests lose a race with the second
 * node's, which is lost, and then its own are lost.  An attempt of the first node takes 5 s, of the second one 25 s.
 */
struct world *world_that_never_connects(void);

#endif
