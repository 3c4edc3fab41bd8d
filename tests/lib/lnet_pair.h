/* SPDX-License-Identifier: MIT */
#ifndef O2_TESTS_LNET_PAIR_H
#define O2_TESTS_LNET_PAIR_H

#include "lnd/conn/immediate.h"
#include "lnet/lnet.h"
#include "mem/copy.h"
#include "tests/lib/unit_test.h"
#include "wire/nid.h"

/*
 * Two nodes' LNets in one process, over a transport without verbs: a queue of letters that the test
 * delivers one at a time, in the order that it likes.
 */

#define NID_A	 UINT64_C(0x000500000a4d0001)
#define NID_B	 UINT64_C(0x000500000a4d0002)
#define COOKIE_A UINT64_C(0x18e9b84c4d3d1f56)
#define COOKIE_B UINT64_C(0x18e9b8ecf1101a31)

#define LNET_PAGES   900u
#define LNET_LETTERS 64u
#define LNET_EVENTS  64u

struct lnet_side;

/* A message on its way: IMMEDIATE (with its payload), PUT_REQ or GET_REQ. */
struct letter {
	enum { LETTER_IMMEDIATE, LETTER_PUT, LETTER_GET } kind;
	struct lnet_side *from;
	struct o2_lnet_hdr hdr;
	uint8_t payload[O2_MSG_BYTES];
	struct o2_transfer_memory memory; /* PUT, GET: of the sender */
	uint64_t tag;
};

struct lnet_side {
	uint64_t nid;
	struct o2_arena arena;
	struct o2_clock clock;
	struct o2_lnet *lnet;
	struct lnet_side *peer;
	uint32_t immediate_max;
	/* Faults: what the transport answers, what a transfer ends with. */
	int refuse;
	int fail_transfer;
	/* What was sent and has not been delivered. */
	uint32_t nletters;
	struct letter letter[LNET_LETTERS];
	/* What the application was told. */
	uint32_t nresults;
	struct o2_lnet_result result[LNET_EVENTS];
	struct o2_transfer_fault fault[LNET_EVENTS]; /* of each, code 0: none */
	uint32_t nevents;
	struct o2_lnet_event event[LNET_EVENTS];
	struct o2_lnet_hdr event_hdr[LNET_EVENTS];
	/* PUTs of the peer's that may be writing, by what names them. */
	uint32_t nwriting;
	uint64_t writing[LNET_EVENTS];
	const char *dropped; /* rule of the last message dropped */
	struct o2_kiov kiov[4];
	struct o2_error error;
	/* Who is told first, and says whether it was meant; NULL: nobody. */
	void *listener;
	bool (*listen_done)(void *listener, const struct o2_lnet_result *result);
	bool (*listen_event)(void *listener, const struct o2_lnet_event *event);
};

struct lnet_pair {
	struct lnet_side a, b;
};

/* The transport that the side is made with. */
struct o2_lnet_transport lnet_side_transport(struct lnet_side *side);

/* Bytes go from one side's memory to the other's, as RDMA would take them. */
void lnet_move_bytes(const struct lnet_side *source, struct o2_buffer from, const struct lnet_side *sink,
		     struct o2_buffer to);

/* The oldest letter of a side arrives.  Returns what its receiver says. */
int lnet_deliver(struct lnet_side *from);

/* Until none is on its way. */
void lnet_deliver_all(struct lnet_pair *pair);

/* Its time is that, and what is late ends. */
void lnet_side_clock(struct lnet_side *side, uint64_t now_ms);

/* base NULL: the defaults.  Closing asserts that no PUT is left that may write. */
void lnet_pair_open(struct lnet_pair *pair, const struct o2_lnet_config *base);
void lnet_pair_close(struct lnet_pair *pair);

/* For cmocka: a pair with the defaults is the state. */
int lnet_pair_setup(void **state);
int lnet_pair_teardown(void **state);

/* length bytes from that page on; they are virtually contiguous, vectors are the side's.  which: 0 to 3. */
struct o2_transfer_memory lnet_side_memory(struct lnet_side *side, unsigned int which, uint32_t page,
					   uint32_t length_bytes);

/* The bytes of a page and of those behind it. */
uint8_t *lnet_side_bytes(const struct lnet_side *side, uint32_t page);

/* Bytes that differ from seed to seed. */
void fill_bytes(uint8_t *bytes, size_t n, uint8_t seed);

/* An entry that takes PUTs and GETs at portal 60, match bits 0x1234. */
struct o2_lnet_entry entry_of(const struct o2_transfer_memory *memory);

/* Where such an entry is. */
struct o2_lnet_target target_at(uint64_t nid, bool ack);

/* Attach 1 MiB at the side's page 256: entry_of, with these options too. */
void lnet_offer(struct lnet_side *side, uint32_t options);

/* Start an operation, which is accepted.  source NULL: no bytes. */
void lnet_put(struct lnet_side *side, const struct o2_lnet_target *target,
	      const struct o2_transfer_memory *source);
void lnet_get(struct lnet_side *side, const struct o2_lnet_target *target,
	      const struct o2_transfer_memory *sink);

/* Its only operation has ended so, and nothing is under way. */
void lnet_expect_result(struct lnet_side *side, int status, uint64_t length_bytes);

/* The last result says why: the rule and its figures. */
void lnet_expect_fault(const struct lnet_side *side, enum o2_fault_side blamed, const char *rule,
		       uint64_t value, uint64_t limit);

/* It has dropped a message because of that rule. */
void lnet_expect_dropped(struct lnet_side *side, const char *rule);

#endif
