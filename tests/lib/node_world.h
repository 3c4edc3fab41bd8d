/* SPDX-License-Identifier: MIT */
#ifndef O2_TESTS_NODE_WORLD_H
#define O2_TESTS_NODE_WORLD_H

#include "lnd/cm/loop.h"
#include "lnd/node/node.h"
#include "tests/lib/lnd_pair.h"

/*
 * Two or three nodes in one process, on loop0, loop1 and loop0 again, and the network of their connection
 * manager.  Time is a number that tests change.
 */

#define SEATS	   3u
#define NID(i)	   (NID_A + (i))
#define ADDRESS(i) (0xc0a80a01u + (i))
#define FATES	   64u

struct seat {
	struct side side; /* its conn is not used */
	struct o2_cm *cm;
	struct o2_node *node;
	struct o2_node_config config;
	/* What it was told. */
	uint32_t nup, ndown;
	struct o2_transfer_fault down; /* the last one */
	uint32_t nstarted, nended;     /* operations of its own */
	uint32_t nserved;	       /* those of others */
	uint8_t ended[FATES];	       /* by tag: how often */
	int status[FATES];
	struct o2_transfer_fault fault[FATES];
	enum o2_health health[FATES];
	int status_served;
	uint32_t nreceived; /* messages with their payload in them */
	uint32_t received_bytes;
	enum o2_cksum_flavour received_flavour; /* of the last one */
};

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

/* Create its node. */
void seat_start(struct seat *seat);

/* Would a loop that sleeps be woken? */
bool seat_readable(const struct seat *seat);

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

/* The header of an operation of that length. */
struct o2_lnet_hdr lnet_hdr(const struct seat *seat, uint64_t nid, enum o2_lnet_type type, uint64_t nob);

/* Start an operation of `nob` bytes between the first pages of both; its tag is its number. */
int seat_start_op(struct seat *from, uint64_t nid, enum o2_lnet_type type, uint32_t nob,
		  enum o2_reg_mode mode, struct o2_error *error);

/* A PUT of 5000 bytes. */
void seat_put(struct seat *from, uint64_t nid);

/* Every seat answers requests with 5000 bytes of its own, or `nob`. */
void world_answer(struct world *world, uint32_t nob, enum o2_reg_mode mode);

/* Two nodes that answer; NULL: the usual configuration. */
struct world *world_two(const struct o2_node_config *a, const struct o2_node_config *b);

/* o2_node_peer. */
struct o2_peer_view peer_view(const struct seat *seat, uint64_t nid);

/* The two have `count` connections with each other and nothing under way. */
void assert_linked(const struct world *world, uint32_t i, uint32_t j, uint32_t count);

/*
 * The first node is up and sends what is no message, before the second, which has something to send too,
 * knows that it is up: the connection of the second breaks as it comes up.
 */
struct world *world_broken_at_once(void);

#endif
