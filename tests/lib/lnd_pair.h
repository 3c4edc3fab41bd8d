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
 * with GID index 1, unless the environment sets O2REF_TEST_DEVICE_A, O2REF_TEST_DEVICE_B or O2REF_GID_INDEX.
 * A function that opens something fails the test on error.
 */

#define PAIR_PAGES   1200u
#define PAIR_RESULTS 256u
#define PAIR_SECONDS 15 /* a test that waits longer fails; no test sleeps until then */

#define NID_A 0x00050000c0a80a01ull
#define NID_B 0x00050000c0a80a02ull

struct side {
	struct o2_ni ni;
	struct o2_conn *conn;
	struct o2_pool_tx *raw; /* transmit slot of send_raw; NULL before the first send_raw */
	/* match: the result that it returns, and the arguments of its last call. */
	int match_rc;
	struct o2_transfer_memory answer;
	uint32_t nmatched;
	struct o2_msg request;
	uint64_t sink_bytes;
	/* done: the results that it was called with. */
	uint32_t nresults;
	struct o2_transfer_result result[PAIR_RESULTS];
	uint32_t nbound_at_done; /* live bindings at the last call of done */
};

struct pair {
	struct side a, b;
};

/* The callbacks of o2_conn_ops that use the fields of struct side; their context is the side. */
int side_match(void *context, const struct o2_msg *request, uint64_t sink_bytes,
	       struct o2_transfer_memory *memory);
void side_done(void *context, const struct o2_transfer_result *result);
const struct o2_conn_ops *side_ops(void);

/* Print the error, before the test fails. */
void show_error(const char *what, const struct o2_error *error);

/* The value of an environment variable, or `otherwise` if it is not set. */
const char *env_or(const char *name, const char *otherwise);

extern bool side_events; /* side_config() asks for a completion channel */

/* Configure or open an interface on the first or second device.  Its clock starts at 0. */
struct o2_ni_config side_config(bool first, enum o2_dma_kind kind, uint64_t base);
void side_open_config(struct side *side, const struct o2_ni_config *config);
void side_open(struct side *side, bool first, enum o2_dma_kind kind, uint64_t base);

/* Connect the pair's interfaces, or ni_a and ni_b; pair_open and pair_open_ni open the interfaces as well.
 * pair_close destroys the connections, asserts that no resource is held, and closes the pair's interfaces. */
void pair_connect(struct pair *pair, const struct o2_conn_config *a, const struct o2_conn_config *b);
void pair_connect_over(struct pair *pair, struct o2_ni *ni_a, struct o2_ni *ni_b,
		       const struct o2_conn_config *a, const struct o2_conn_config *b);
struct pair *pair_open_ni(const struct o2_ni_config *a, const struct o2_ni_config *b,
			  const struct o2_conn_config *conn_a, const struct o2_conn_config *conn_b);
struct pair *pair_open(const struct o2_conn_config *a, const struct o2_conn_config *b);
struct pair *pair_default(void);
/* A test that gets pair_default(), which is closed after the test. */
#define PAIR_TEST(name) TEST_ON(name, struct pair, pair, pair_default(), pair_close)
void pair_close(struct pair *pair);

/*
 * Assert that the devices hold no objects except those of `interfaces` open interfaces and this number of memory
 * regions and windows.  Call it before the devices are closed, because closing hides leaked objects.
 */
void assert_objects(uint32_t interfaces, uint32_t regions, uint32_t windows);

/* Assert that all resources have been returned to the side's interface. */
void side_assert_idle(struct side *side);

/* Monotonic time in seconds, to limit the duration of loops. */
time_t pair_now(void);

/* Start a transfer whose LNet header has the length of the memory.  Returns 0 or -errno. */
int start_put(struct o2_conn *conn, const struct o2_transfer_memory *source, uint64_t match_bits,
	      uint64_t *cookie, struct o2_error *error);
int start_get(struct o2_conn *conn, const struct o2_transfer_memory *sink, uint64_t match_bits,
	      uint64_t *cookie, struct o2_error *error);

/* Start a PUT or GET, and assert that it is accepted.  cookie may be NULL. */
void start_op(struct o2_conn *conn, enum o2_transfer_op op, const struct o2_transfer_memory *memory,
	      uint64_t *cookie);

/* Drive both ends until each has this many results or is closed. */
void pair_run(struct pair *pair, uint32_t results_a, uint32_t results_b);

/* Drive both ends until the connection `which` has closed. */
void pair_run_until_closed(struct pair *pair, const struct o2_conn *which);

/* Drive one end alone until it has closed. */
void side_run_until_closed(struct side *side);

/* Drive one end alone until *counter, which its callbacks count, has reached `want`. */
void side_run_until(struct side *side, const uint32_t *counter, uint32_t want);

/* Assert that the side's connection has closed for this reason and holds no binding. */
void assert_closed(const struct side *side, enum o2_fault_side which, int code);

/* Assert that a PUT and a GET still work, in fastreg mode, which has the most state. */
void assert_alive(struct pair *pair);

#endif
