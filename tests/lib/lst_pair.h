/* SPDX-License-Identifier: MIT */
#ifndef O2_TESTS_LST_PAIR_H
#define O2_TESTS_LST_PAIR_H

#include "props/lst/lst_requests.h"
#include "props/lst/lst_side.h"
#include "tests/lib/lnet_pair.h"

/* Two LNet selftest nodes over two LNets.  Node A can also send requests to node B as a console does. */

#define LST_SIDE_BULK 2u /* page of a side that holds the bulk of console requests */

struct lst_pair {
	struct o2_lnet_pair lnet;
	struct o2_lst_side a, b;
	/* Bulk memory of the last four requests that have bulk. */
	uint32_t next_memory;
	struct o2_transfer_memory memory[4];
	/* The last answer to a console's request. */
	uint32_t nanswers;
	int status;
	struct o2_lst_msg reply; /* all zero: the RPC ended without a reply */
};

/* b: the configuration of side B; NULL: the default, o2_lst_side_config(), which side A always has. */
void lst_pair_open(struct lst_pair *pair, const struct o2_lst_node_config *b);
/* Stops both nodes and asserts that no work and no message is left. */
void lst_pair_close(struct lst_pair *pair);

/* A pair opened with the default configuration.  There is one pair at a time. */
struct lst_pair *lst_pair_default(void);
#define LST_PAIR_TEST(name) TEST_ON(name, struct lst_pair, pair, lst_pair_default(), lst_pair_close)

/* Start a request from A to B.  bulk_bytes: bulk from A's page LST_SIDE_BULK on; 0: none.  Returns the RPC's id. */
uint64_t lst_pair_start(struct lst_pair *pair, const struct o2_lst_msg *request, uint32_t bulk_bytes,
			bool is_source);
/* Start a request and deliver all messages.  Returns the RPC's error or the reply's status; -1: RPC not ended. */
int lst_pair_ask(struct lst_pair *pair, const struct o2_lst_msg *request);
int lst_pair_ask_bulk(struct lst_pair *pair, const struct o2_lst_msg *request, uint32_t bulk_bytes,
		      bool is_source);

/* Set the clocks of both sides to now_ms, and let both nodes check their timers. */
void lst_pair_clock(struct lst_pair *pair, uint64_t now_ms);

/* Write the test's list of destinations, all of them `nid`, to A's bulk memory; then ask B to add a test client. */
int lst_pair_add_client(struct lst_pair *pair, const struct o2_lst_msg *test, uint64_t nid);

#endif
