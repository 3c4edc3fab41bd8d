/* SPDX-License-Identifier: MIT */
#ifndef O2_TESTS_LST_PAIR_H
#define O2_TESTS_LST_PAIR_H

#include "props/lst/lst_requests.h"
#include "props/lst/lst_side.h"
#include "tests/lib/lnet_pair.h"

/* Two test nodes of LNet selftest over two LNets; each can ask the other as a console does. */

#define LST_SIDE_BULK 2u /* page of a side that bulk of a console is in */

struct lst_pair {
	struct o2_lnet_pair lnet;
	struct o2_lst_side a, b;
	/* Of the last four requests with bulk. */
	uint32_t next_memory;
	struct o2_transfer_memory memory[4];
	/* The last answer to a console's request. */
	uint32_t nanswers;
	int status;
	struct o2_lst_msg reply; /* all zero: none */
};

/* b: the configuration of side B, NULL: o2_lst_side_config. */
void lst_pair_open(struct lst_pair *pair, const struct o2_lst_node_config *b);
/* Asserts that nothing is left. */
void lst_pair_close(struct lst_pair *pair);

/* With the defaults. */
struct lst_pair *lst_pair_default(void);
#define LST_PAIR_TEST(name) TEST_ON(name, struct lst_pair, pair, lst_pair_default(), lst_pair_close)

/* Start a request from A to B.  bulk: bytes from page LST_SIDE_BULK on; 0: none. */
uint64_t lst_pair_start(struct lst_pair *pair, const struct o2_lst_msg *request, uint32_t bulk_bytes,
			bool is_source);
/* Start it, and deliver everything.  Returns the reply's status, or what the RPC ended with; -1: it has not. */
int lst_pair_ask(struct lst_pair *pair, const struct o2_lst_msg *request);
int lst_pair_ask_bulk(struct lst_pair *pair, const struct o2_lst_msg *request, uint32_t bulk_bytes,
		      bool is_source);

/* It is now_ms at both. */
void lst_pair_clock(struct lst_pair *pair, uint64_t now_ms);

/* Destinations of a test, all the same node, in the memory of A's bulk; then ask B for a client half. */
int lst_pair_add_client(struct lst_pair *pair, const struct o2_lst_msg *test, uint64_t nid);

#endif
