/* SPDX-License-Identifier: MIT */
#ifndef O2_TESTS_LND_TALK_H
#define O2_TESTS_LND_TALK_H

#include "tests/lib/lnd_memory.h"
#include "tests/lib/lnd_message.h"
#include "tests/lib/lnd_pair.h"

#define QUIET_ROUNDS 8 /* without anything, after which nothing will happen */

/*
 * Conversations over a pair whose completions the test hands out one by one.  They run on loop devices only:
 * there, nothing happens between two calls.
 */

/* Completions that were taken from a queue and not handed to the connection yet. */
struct held {
	struct ibv_wc wc[256];
	uint32_t count;
};

/* The bit of a kind of work in `keep`. */
uint32_t work_bit(enum o2_work work);

/*
 * Hand over what is there, but for the kinds of work in `keep`, which are held.  Returns how many there were.
 */
uint32_t deliver(struct side *side, struct held *held, uint32_t keep);

/* Hand over the oldest of what is held. */
void release(struct side *side, struct held *held);

/* Drive both ends until nothing happens any more. */
void quiet(struct pair *pair);

/* o2_conn_view. */
struct o2_conn_view view_of(const struct side *side);

/* Nothing is open, and the account balances both ways. */
void assert_settled(const struct pair *pair);
void pair_close_settled(struct pair *pair);

/* An IMMEDIATE with nob zeros. */
void send_text(struct side *side, uint32_t nob);

/* It has closed because of a message that breaks that rule. */
void assert_refused(const struct side *side, const char *rule);

/* A pair with this depth and version on both sides; a depth of 2 stands for the least there is. */
struct pair *pair_of(uint16_t version, uint32_t depth);

extern struct o2_kiov talk_kiov[2][O2_MAX_FRAGS]; /* of talk_memory */

/* nob bytes of scattered pages, apart for which 0 and 1. */
struct o2_transfer_memory talk_memory(int which, uint64_t nob, enum o2_reg_mode mode);

#endif
