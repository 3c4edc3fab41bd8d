/* SPDX-License-Identifier: MIT */
#ifndef O2_TESTS_NODE_SEAT_H
#define O2_TESTS_NODE_SEAT_H

#include "lnd/node/node.h"
#include "tests/lib/lnd_pair.h"

/* A node and what it was told, over any connection manager. */

#define FATES 64u /* operations at the most */

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
	uint64_t again;	    /* NID: to start another PUT towards it from inside done, once; 0: not */
	uint32_t nreceived; /* messages with their payload in them */
	uint32_t received_bytes;
	enum o2_cksum_flavour received_flavour; /* of the last one */
};

/* What two nodes ask for, and what they agree upon. */
struct node_terms {
	uint16_t version_a, version_b;
	uint32_t depth_a, depth_b, frags_a, frags_b;
	uint32_t requests; /* that it takes */
	uint16_t version, depth, frags;
};

void node_terms_ask(const struct node_terms *terms, struct o2_node_config *a, struct o2_node_config *b);

/* Create its node. */
void seat_start(struct seat *seat);

/* Would a loop that sleeps be woken? */
bool seat_readable(const struct seat *seat);

/* Each of its operations has ended, once. */
void seat_assert_ended(const struct seat *seat);

/* The header of an operation of that length. */
struct o2_lnet_hdr lnet_hdr(const struct seat *seat, uint64_t nid, enum o2_lnet_type type, uint64_t nob);

/* Start an operation of `nob` bytes between the first pages of both; its tag is its number. */
int seat_start_op(struct seat *from, uint64_t nid, enum o2_lnet_type type, uint32_t nob,
		  enum o2_reg_mode mode, struct o2_error *error);

/* o2_node_peer. */
struct o2_peer_view peer_view(const struct seat *seat, uint64_t nid);

#endif
