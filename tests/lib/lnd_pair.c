/* SPDX-License-Identifier: MIT */
#include "tests/lib/lnd_pair.h"

#include "loopverbs/loopverbs.h"
#include "props/world/device.h"
#include "tests/lib/lnd_memory.h"

/* Weak, because only programs that link the in-process device have its counters. */
#pragma weak o2_loop_get_counters

int side_match(void *context, const struct o2_msg *request, uint64_t sink_bytes,
	       struct o2_transfer_memory *memory)
{
	struct side *side = context;

	side->nmatched++;
	side->request = *request;
	side->sink_bytes = sink_bytes;
	*memory = side->answer;
	return side->match_rc;
}

void side_done(void *context, const struct o2_transfer_result *result)
{
	struct side *side = context;

	side->nbound_at_done = side->ni.domain.nbound;
	side->result[side->nresults++ % PAIR_RESULTS] = *result;
}

const struct o2_conn_ops *side_ops(void)
{
	static const struct o2_conn_ops ops = {.match = side_match, .done = side_done};

	return &ops;
}

void show_error(const char *what, const struct o2_error *error)
{
	char text[256];

	o2_error_text(error, text, sizeof(text));
	print_message("%s: %s\n", what, text);
}

const char *env_or(const char *name, const char *otherwise)
{
	const char *value = getenv(name);

	return value != NULL ? value : otherwise;
}

bool side_events;

struct o2_ni_config side_config(bool first, enum o2_dma_kind kind, uint64_t base)
{
	return (struct o2_ni_config){
		.device = first ? env_or("O2REF_TEST_DEVICE_A", "loop0")
				: env_or("O2REF_TEST_DEVICE_B", "loop1"),
		.port = 1,
		.reg_gaps = o2_device_reg_gaps(),
		.gid_index = (uint8_t)atoi(env_or("O2REF_GID_INDEX", "1")),
		.nid = first ? NID_A : NID_B,
		.incarnation = first ? 0x0006000011112222ull : 0x0006000033334444ull,
		.dma_kind = kind,
		.dma_base = base,
		.arena_pages = PAIR_PAGES,
		.sizes = {.tx_size = 8, .reg_size = 2},
		.events = side_events,
	};
}

void side_open_config(struct side *side, const struct o2_ni_config *config)
{
	struct o2_error error;

	memset(side, 0, sizeof(*side));
	o2_error_clear(&error);
	if (o2_ni_open(config, &side->ni, &error) != 0) {
		show_error("o2_ni_open", &error);
		fail();
	}
	o2_clock_tell(&side->ni.clock, 0); /* tests count time from 0 */
}

void side_open(struct side *side, bool first, enum o2_dma_kind kind, uint64_t base)
{
	struct o2_ni_config config = side_config(first, kind, base);

	side_open_config(side, &config);
}

void pair_connect_over(struct pair *pair, struct o2_ni *ni_a, struct o2_ni *ni_b,
		       const struct o2_conn_config *a, const struct o2_conn_config *b)
{
	struct o2_conn_address address_a, address_b;
	struct o2_error error;

	o2_error_clear(&error);
	if (o2_conn_create(ni_a, a, side_ops(), &pair->a, &pair->a.conn, &error) != 0 ||
	    o2_conn_create(ni_b, b, side_ops(), &pair->b, &pair->b.conn, &error) != 0) {
		show_error("o2_conn_create", &error);
		fail();
	}
	o2_conn_get_address(pair->a.conn, &address_a);
	o2_conn_get_address(pair->b.conn, &address_b);
	if (o2_conn_connect(pair->a.conn, &address_b, &error) != 0 ||
	    o2_conn_connect(pair->b.conn, &address_a, &error) != 0) {
		show_error("o2_conn_connect", &error);
		fail();
	}
}

void pair_connect(struct pair *pair, const struct o2_conn_config *a, const struct o2_conn_config *b)
{
	pair_connect_over(pair, &pair->a.ni, &pair->b.ni, a, b);
}

struct pair *pair_open_ni(const struct o2_ni_config *a, const struct o2_ni_config *b,
			  const struct o2_conn_config *conn_a, const struct o2_conn_config *conn_b)
{
	struct pair *pair = calloc(1, sizeof(*pair));

	assert_non_null(pair);
	side_open_config(&pair->a, a);
	side_open_config(&pair->b, b);
	pair_connect(pair, conn_a, conn_b);
	return pair;
}

struct pair *pair_open(const struct o2_conn_config *a, const struct o2_conn_config *b)
{
	const struct o2_ni_config ni_a = side_config(true, O2_DMA_BUS, 0x7f0000000000ull);
	const struct o2_ni_config ni_b = side_config(false, O2_DMA_VIRTUAL, 0);

	return pair_open_ni(&ni_a, &ni_b, a, b);
}

struct pair *pair_default(void)
{
	return pair_open(&O2_CONN_DEFAULTS, &O2_CONN_DEFAULTS);
}

void assert_objects(uint32_t interfaces, uint32_t regions, uint32_t windows)
{
	struct o2_loop_counters now;

	if (o2_loop_get_counters == NULL)
		return;
	o2_loop_get_counters(&now);
	assert_int_equal(now.live_contexts, interfaces);
	assert_int_equal(now.live_pds, interfaces);
	assert_int_equal(now.live_mrs, regions);
	assert_int_equal(now.live_mws, windows);
	assert_int_equal(now.live_cqs, 0);
	assert_int_equal(now.live_qps, 0);
}

void side_assert_idle(struct side *side)
{
	struct o2_error error;

	if (side->raw != NULL)
		assert_int_equal(o2_tx_put(&side->ni.tx_sets[0], side->raw, NULL), 0);
	side->raw = NULL;
	o2_error_clear(&error);
	if (o2_ni_check_idle(&side->ni, &error) != 0) {
		show_error("o2_ni_check_idle", &error);
		fail();
	}
	assert_true(o2_ledger_balanced(&side->ni.ledger));
}

void pair_close(struct pair *pair)
{
	o2_conn_destroy(pair->a.conn);
	o2_conn_destroy(pair->b.conn);
	side_assert_idle(&pair->a);
	side_assert_idle(&pair->b);
	assert_objects(2, pair->a.ni.domain.live.regions + pair->b.ni.domain.live.regions,
		       pair->a.ni.domain.live.mws + pair->b.ni.domain.live.mws);
	o2_ni_close(&pair->a.ni);
	o2_ni_close(&pair->b.ni);
	assert_objects(0, 0, 0);
	free(pair);
}

time_t pair_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

int start_put(struct o2_conn *conn, const struct o2_transfer_memory *source, uint64_t match_bits,
	      uint64_t *cookie, struct o2_error *error)
{
	struct o2_lnet_hdr hdr = o2_conn_lnet_hdr(conn, O2_LNET_PUT, match_bits, source->buffer.nob);

	return o2_conn_put(conn, &hdr, source, cookie, error);
}

int start_get(struct o2_conn *conn, const struct o2_transfer_memory *sink, uint64_t match_bits,
	      uint64_t *cookie, struct o2_error *error)
{
	struct o2_lnet_hdr hdr = o2_conn_lnet_hdr(conn, O2_LNET_GET, match_bits, sink->buffer.nob);

	return o2_conn_get(conn, &hdr, sink, cookie, error);
}

void start_op(struct o2_conn *conn, enum o2_transfer_op op, const struct o2_transfer_memory *memory,
	      uint64_t *cookie)
{
	assert_int_equal((op == O2_OP_PUT ? start_put : start_get)(conn, memory, 0, cookie, NULL), 0);
}

/* After so many rounds without a completion give up: the in-process device makes no progress by itself. */
#define IDLE_ROUNDS 10000u
#define SPINS	    100u

struct wait {
	time_t end;
	uint32_t idle;
};

static struct wait begin_wait(void)
{
	return (struct wait){.end = pair_now() + PAIR_SECONDS};
}

/* Called after a round that handled this many completions (negative: closed).  False: stop waiting. */
static bool goes_on(struct wait *wait, int handled_a, int handled_b)
{
	wait->idle = handled_a > 0 || handled_b > 0 ? 0 : wait->idle + 1;
	if (wait->idle > IDLE_ROUNDS && o2_loop_get_counters != NULL)
		return false;
	/* A kernel's device makes progress by itself, and may be waiting for its own timeouts. */
	if (wait->idle > SPINS && o2_loop_get_counters == NULL)
		o2_device_pause();
	return pair_now() <= wait->end;
}

void pair_run(struct pair *pair, uint32_t results_a, uint32_t results_b)
{
	struct wait wait = begin_wait();

	for (;;) {
		int a = o2_conn_progress(pair->a.conn);
		int b = o2_conn_progress(pair->b.conn);
		bool done_a = a < 0 || pair->a.nresults >= results_a;
		bool done_b = b < 0 || pair->b.nresults >= results_b;

		if (done_a && done_b)
			return;
		if (!goes_on(&wait, a, b)) {
			print_message("no progress: results a %u of %u, b %u of %u\n", pair->a.nresults,
				      results_a, pair->b.nresults, results_b);
			fail();
		}
	}
}

void pair_run_until_closed(struct pair *pair, const struct o2_conn *which)
{
	struct wait wait = begin_wait();

	while (o2_conn_get_state(which) != O2_CONN_DISCONNECTED) {
		int a = o2_conn_progress(pair->a.conn);
		int b = o2_conn_progress(pair->b.conn);

		assert_true(goes_on(&wait, a, b));
	}
}

void side_run_until_closed(struct side *side)
{
	struct wait wait = begin_wait();

	for (int handled; (handled = o2_conn_progress(side->conn)) >= 0;)
		assert_true(goes_on(&wait, handled, 0));
}

void side_run_until(struct side *side, const uint32_t *counter, uint32_t want)
{
	struct wait wait = begin_wait();

	while (*counter < want) {
		int handled = o2_conn_progress(side->conn);

		assert_true(handled >= 0);
		assert_true(goes_on(&wait, handled, 0));
	}
}

void assert_closed(const struct side *side, enum o2_fault_side which, int code)
{
	const struct o2_transfer_fault *fault = o2_conn_get_fault(side->conn);

	assert_int_equal(o2_conn_get_state(side->conn), O2_CONN_DISCONNECTED);
	assert_int_equal(fault->side, which);
	assert_int_equal(fault->code, code);
	assert_int_equal(o2_conn_progress(side->conn), code);
	assert_int_equal(side->ni.domain.nbound, 0);
	assert_true(o2_ledger_balanced(&side->ni.ledger));
}

void assert_alive(struct pair *pair)
{
	/* Separate page lists, because the test may still use kiov_from and kiov_to. */
	static struct o2_kiov own_from[8], own_to[8];
	struct o2_transfer_memory from = dense(own_from, 0, 5000, O2_REG_FASTREG);
	uint32_t a = pair->a.nresults, b = pair->b.nresults;

	pair->b.answer = dense(own_to, 300, 5000, O2_REG_FASTREG);
	pair->b.match_rc = 0;
	assert_int_equal(start_put(pair->a.conn, &from, 0, NULL, NULL), 0);
	assert_int_equal(start_get(pair->a.conn, &from, 0, NULL, NULL), 0);
	pair_run(pair, a + 2, b + 2);
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(pair->a.result[(a + i) % PAIR_RESULTS].status, 0);
		assert_int_equal(pair->b.result[(b + i) % PAIR_RESULTS].status, 0);
	}
}
