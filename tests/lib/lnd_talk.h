/* SPDX-License-Identifier: MIT */
#ifndef O2_TESTS_LND_TALK_H
#define O2_TESTS_LND_TALK_H

#include "tests/lib/lnd_memory.h"
#include "tests/lib/lnd_message.h"
#include "tests/lib/lnd_pair.h"

#define QUIET_ROUNDS 8 /* after so many rounds without a completion, none will come */

/*
 * Conversations over a pair whose completions the test delivers one by one.  They run on loop devices only,
 * because those make no progress between two calls.
 */

/* Completions that were polled but not yet delivered to the connection. */
struct held {
	struct ibv_wc wc[256];
	uint32_t count;
};

/* The bit of this kind of work in the argument `keep` of deliver(). */
uint32_t work_bit(enum o2_work work);

/* Poll all completions and deliver them to the connection, except the kinds of work in `keep`, which are added to
 * `held`.  Returns the number of completions polled. */
uint32_t deliver(struct side *side, struct held *held, uint32_t keep);

/* Deliver the oldest held completion to the connection. */
void release(struct side *side, struct held *held);

/* Drive both ends until nothing happens any more. */
void quiet(struct pair *pair);

/* The connection's o2_conn_view. */
struct o2_conn_view view_of(const struct side *side);

/* Assert that no operation is open and that the credits balance in both directions. */
void assert_settled(const struct pair *pair);
void pair_close_settled(struct pair *pair);

/* Send an IMMEDIATE with nob zero bytes. */
void send_text(struct side *side, uint32_t nob);

/* Assert that the connection has closed because the peer's message breaks this rule. */
void assert_refused(const struct side *side, const char *rule);

/* A pair with this version and queue depth on both sides; a smaller depth than the version allows is raised. */
struct pair *pair_of(uint16_t version, uint32_t depth);

extern struct o2_kiov talk_kiov[2][O2_MAX_FRAGS]; /* page lists that talk_memory fills */

/* nob bytes in scattered pages.  which: 0 or 1, two different parts of the arena. */
struct o2_transfer_memory talk_memory(int which, uint64_t nob, enum o2_reg_mode mode);

#endif
