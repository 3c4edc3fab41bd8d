/* SPDX-License-Identifier: MIT */
#ifndef O2_TESTS_NODE_WORLD_H
#define O2_TESTS_NODE_WORLD_H

#include "lnd/cm/loop.h"
#include "tests/lib/node_seat.h"

/*
 * Two or three nodes in one process, on loop0, loop1 and loop0 again, and the network of their connection
 * manager.  Time is a number that tests change.
 */

#define SEATS	   3u
#define NID(i)	   (NID_A + (i))
#define ADDRESS(i) (0xc0a80a01u + (i))

struct world {
	struct o2_cm_loop *loop;
	struct seat seat[SEATS];
	uint32_t nseats;
	uint64_t now_ms;
	/* What becomes of messages, by kind; PASS unless a test says otherwise. */
	enum o2_cm_loop_fate fate[O2_CM_LOOP_FAILURE + 1];
	uint32_t nsent[O2_CM_LOOP_FAILURE + 1]; /* messages that came to be delivered */
};

/* What the network asks about each message; arg: the world. */
enum o2_cm_loop_fate world_fate(void *arg, enum o2_cm_loop_message message, uint32_t from, uint32_t to);

/* The defaults, with queue pairs of a reasonable size. */
struct o2_node_config small_config(void);

/* Nodes with these configurations; NULL: the usual one. */
struct world *world_open(uint32_t nseats, const struct o2_node_config *const configs[]);

/* So much later. */
void world_clock(struct world *world, uint64_t ms);

/* What connections have to say; false: nothing. */
bool world_progress(struct world *world);

/* Until nothing happens any more at this time. */
void world_settle(struct world *world);

/* Let time go by in small steps. */
void world_pass(struct world *world, uint64_t ms);

/* Every operation has ended, once. */
void world_assert_ended(const struct world *world);

/* Everything must have ended and been handed back. */
void world_close(struct world *world);

/* A PUT of 5000 bytes, and with all that follows from it at this time. */
void seat_put(struct seat *from, uint64_t nid);
void world_put(struct world *world, struct seat *from, uint64_t nid);

/* Every seat answers requests with 5000 bytes of its own, or `nob`. */
void world_answer(struct world *world, uint32_t nob, enum o2_reg_mode mode);

/* Two nodes that answer; NULL: the usual configuration. */
struct world *world_two(const struct o2_node_config *a, const struct o2_node_config *b);
/* With two as they are usually. */
#define WORLD_TEST(name) TEST_ON(name, struct world, world, world_two(NULL, NULL), world_close)

/* The two have `count` connections with each other and nothing under way. */
void assert_linked(const struct world *world, uint32_t i, uint32_t j, uint32_t count);

/*
 * The first node is up and sends what is no message, before the second, which has something to send too,
 * knows that it is up: the connection of the second breaks as it comes up.
 */
struct world *world_broken_at_once(void);

#endif
