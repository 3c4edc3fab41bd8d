/* SPDX-License-Identifier: MIT */
#ifndef O2_TESTS_LND_PAIR_H
#define O2_TESTS_LND_PAIR_H

#include <time.h>

#include "lnd/conn/conn.h"
#include "lnd/conn/conn_internal.h"
#include "lnd/ni/counts.h"
#include "lnd/ni/ni.h"
#include "tests/lib/unit_test.h"

/*
 * Two network interfaces and a connection between them, in one process.  The devices are loop0 and loop1
 * unless O2REF_TEST_DEVICE_A, O2REF_TEST_DEVICE_B and O2REF_GID_INDEX say otherwise.  What opens something
 * fails the test when it cannot.
 */

#define PAIR_PAGES   1200u
#define PAIR_RESULTS 256u
#define PAIR_SECONDS 15 /* after this a test that still waits has failed; nothing sleeps for it */

#define NID_A 0x00050000c0a80a01ull
#define NID_B 0x00050000c0a80a02ull

struct side {
	struct o2_ni ni;
	struct o2_conn *conn;
	struct o2_pool_tx *raw; /* the slot of send_raw, from its first use on */
	/* What match answers with, and what it was asked. */
	int match_rc;
	struct o2_transfer_memory answer;
	uint32_t nmatched;
	struct o2_msg request;
	uint64_t sink_bytes;
	/* What done was told. */
	uint32_t nresults;
	struct o2_transfer_result result[PAIR_RESULTS];
	uint32_t nbound_at_done; /* bindings that were alive when done was called */
};

struct pair {
	struct side a, b;
};

/* The calls of o2_conn_ops that answer and note as struct side says; their context is the side. */
int side_match(void *context, const struct o2_msg *request, uint64_t sink_bytes,
	       struct o2_transfer_memory *memory);
void side_done(void *context, const struct o2_transfer_result *result);
const struct o2_conn_ops *side_ops(void);

/* Print it, before a test fails. */
void show_error(const char *what, const struct o2_error *error);

/* A variable of the environment. */
const char *env_or(const char *name, const char *otherwise);

extern bool side_events; /* interfaces that are opened from now on have a completion channel */

/* An interface on the first device or on the second, at time 0. */
struct o2_ni_config side_config(bool first, enum o2_dma_kind kind, uint64_t base);
void side_open_config(struct side *side, const struct o2_ni_config *config);
void side_open(struct side *side, bool first, enum o2_dma_kind kind, uint64_t base);

/* Connections of the pair's own interfaces, or of others; with the interfaces, in one call.  pair_close
 * destroys the connections and closes the pair's interfaces, which must have got everything back. */
void pair_connect(struct pair *pair, const struct o2_conn_config *a, const struct o2_conn_config *b);
void pair_connect_over(struct pair *pair, struct o2_ni *ni_a, struct o2_ni *ni_b,
		       const struct o2_conn_config *a, const struct o2_conn_config *b);
struct pair *pair_open_ni(const struct o2_ni_config *a, const struct o2_ni_config *b,
			  const struct o2_conn_config *conn_a, const struct o2_conn_config *conn_b);
struct pair *pair_open(const struct o2_conn_config *a, const struct o2_conn_config *b);
struct pair *pair_default(void);
/* With such a pair, which is closed behind it. */
#define PAIR_TEST(name) TEST_ON(name, struct pair, pair, pair_default(), pair_close)
void pair_close(struct pair *pair);

/*
 * What is left at the devices while `interfaces` interfaces are open and no connection is: just the regions
 * and windows that they know of.  (Closing a device would hide what was forgotten.)
 */
void assert_objects(uint32_t interfaces, uint32_t regions, uint32_t windows);

/* Everything must have been handed back by then. */
void side_assert_idle(struct side *side);

/* Seconds, for the ends of loops. */
time_t pair_now(void);

/* Start a transfer with an LNet header of that length. */
int start_put(struct o2_conn *conn, const struct o2_transfer_memory *source, uint64_t match_bits,
	      uint64_t *cookie, struct o2_error *error);
int start_get(struct o2_conn *conn, const struct o2_transfer_memory *sink, uint64_t match_bits,
	      uint64_t *cookie, struct o2_error *error);

/* Start either, which is accepted.  cookie may be NULL. */
void start_op(struct o2_conn *conn, enum o2_transfer_op op, const struct o2_transfer_memory *memory,
	      uint64_t *cookie);

/* Drive both ends until each has that many results, or is closed. */
void pair_run(struct pair *pair, uint32_t results_a, uint32_t results_b);

/* Drive both ends until this one has closed. */
void pair_run_until_closed(struct pair *pair, const struct o2_conn *which);

/* Drive one end alone until it has closed. */
void side_run_until_closed(struct side *side);

/* Drive one end alone until a counter of its own has come that far. */
void side_run_until(struct side *side, const uint32_t *counter, uint32_t want);

/* It has closed for that reason, and holds nothing. */
void assert_closed(const struct side *side, enum o2_fault_side which, int code);

/* The connection still works: both ways, in the mode with the most state. */
void assert_alive(struct pair *pair);

#endif
