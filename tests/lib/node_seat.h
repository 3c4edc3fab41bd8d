/* SPDX-License-Identifier: MIT */
#ifndef O2_TESTS_NODE_SEAT_H
#define O2_TESTS_NODE_SEAT_H

#include "lnd/node/node.h"
#include "tests/lib/lnd_pair.h"

/* A node over any connection manager, and a record of the callbacks that the node made. */

#define FATES 64u /* operations that one seat can start */

struct seat {
	struct side side; /* side.conn is not used */
	struct o2_cm *cm;
	struct o2_node *node;
	struct o2_node_config config;
	/* What the node's callbacks reported. */
	uint32_t nup, ndown;
	struct o2_transfer_fault down; /* reason of the last call of down */
	uint32_t nstarted, nended;     /* operations that this node started */
	uint32_t nserved;	       /* ended operations that peers started */
	uint8_t ended[FATES];	       /* by tag: how often the operation ended */
	int status[FATES];
	struct o2_transfer_fault fault[FATES];
	enum o2_health health[FATES];
	int status_served;
	/* Not 0: the next end of an own operation closes the peer with this NID; or starts a PUT to that one. */
	uint64_t closes, again;
	uint32_t nreceived; /* IMMEDIATE messages received */
	uint32_t received_bytes;
	enum o2_cksum_flavour received_flavour; /* of the last IMMEDIATE received */
};

/* The connection parameters that nodes a and b are configured with, and those that they must agree upon. */
struct node_terms {
	uint16_t version_a, version_b;
	uint32_t depth_a, depth_b, frags_a, frags_b;
	uint32_t requests; /* connection requests until they agree */
	uint16_t version, depth, frags;
};

void node_terms_ask(const struct node_terms *terms, struct o2_node_config *a, struct o2_node_config *b);

/* Create the node of this seat; fails the test if that fails. */
void seat_start(struct seat *seat);

/* Is the interface's file descriptor readable, so that poll() would wake a sleeping event loop? */
bool seat_readable(const struct seat *seat);

/* Assert that each operation started by this seat has ended exactly once. */
void seat_assert_ended(const struct seat *seat);

/* The LNet header of an operation of nob bytes from the seat to the peer `nid`. */
struct o2_lnet_hdr lnet_hdr(const struct seat *seat, uint64_t nid, enum o2_lnet_type type, uint64_t nob);

/* Start an operation of `nob` bytes in the first pages; its tag is its number, from 0.  Returns 0 or -errno. */
int seat_start_op(struct seat *from, uint64_t nid, enum o2_lnet_type type, uint32_t nob,
		  enum o2_reg_mode mode, struct o2_error *error);

/* The node's view of the peer `nid` (o2_node_peer). */
struct o2_peer_view peer_view(const struct seat *seat, uint64_t nid);

#endif
