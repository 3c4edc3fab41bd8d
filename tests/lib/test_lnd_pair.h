/* SPDX-License-Identifier: MIT */
#ifndef O2_TEST_LND_PAIR_H
#define O2_TEST_LND_PAIR_H

/* cmocka.h wants the others before it. */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lnd/conn/conn.h"
#include "lnd/conn/conn_internal.h"
#include "lnd/ni/counts.h"
#include "lnd/ni/ni.h"
#ifndef O2_TEST_REAL_VERBS /* define it to build these tests against the machine's libibverbs */
#include "loopverbs/loopverbs.h"
#endif
#include "props/world/device.h"

/*
 * Two network interfaces and a connection between them, in one process.  The devices are loop0 and loop1
 * unless O2REF_TEST_DEVICE_A, O2REF_TEST_DEVICE_B and O2REF_GID_INDEX say otherwise.
 */

#define PAIR_PAGES   1200u
#define PAIR_RESULTS 64u
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

static inline int side_match(void *context, const struct o2_msg *request, uint64_t sink_bytes,
			     struct o2_transfer_memory *memory)
{
	struct side *side = context;

	side->nmatched++;
	side->request = *request;
	side->sink_bytes = sink_bytes;
	*memory = side->answer;
	return side->match_rc;
}

static inline void side_done(void *context, const struct o2_transfer_result *result)
{
	struct side *side = context;

	side->nbound_at_done = side->ni.domain.nbound;
	side->result[side->nresults++ % PAIR_RESULTS] = *result;
}

static inline const struct o2_conn_ops *side_ops(void)
{
	static const struct o2_conn_ops ops = {.match = side_match, .done = side_done};

	return &ops;
}

static inline void show_error(const char *what, const struct o2_error *error)
{
	char text[256];

	o2_error_text(error, text, sizeof(text));
	print_message("%s: %s\n", what, text);
}

static inline const char *env_or(const char *name, const char *otherwise)
{
	const char *value = getenv(name);

	return value != NULL ? value : otherwise;
}

static bool side_events; /* interfaces that are opened from now on have a completion channel */

static inline struct o2_ni_config side_config(bool first, enum o2_dma_kind kind, uint64_t base)
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

static inline void side_open_config(struct side *side, const struct o2_ni_config *config)
{
	struct o2_error error;

	memset(side, 0, sizeof(*side));
	o2_error_clear(&error);
	if (o2_ni_open(config, &side->ni, &error) != 0) {
		show_error("o2_ni_open", &error);
		fail();
	}
	o2_ni_clock(&side->ni, 0); /* the time that tests count from */
}

static inline void side_open(struct side *side, bool first, enum o2_dma_kind kind, uint64_t base)
{
	struct o2_ni_config config = side_config(first, kind, base);

	side_open_config(side, &config);
}

static inline void pair_connect(struct pair *pair, const struct o2_conn_config *a,
				const struct o2_conn_config *b)
{
	struct o2_conn_address address_a, address_b;
	struct o2_error error;

	o2_error_clear(&error);
	if (o2_conn_create(&pair->a.ni, a, side_ops(), &pair->a, &pair->a.conn, &error) != 0 ||
	    o2_conn_create(&pair->b.ni, b, side_ops(), &pair->b, &pair->b.conn, &error) != 0) {
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

static inline struct pair *pair_open(const struct o2_conn_config *a, const struct o2_conn_config *b)
{
	struct pair *pair = calloc(1, sizeof(*pair));

	assert_non_null(pair);
	side_open(&pair->a, true, O2_DMA_BUS, 0x7f0000000000ull);
	side_open(&pair->b, false, O2_DMA_VIRTUAL, 0);
	pair_connect(pair, a, b);
	return pair;
}

static inline struct pair *pair_default(void)
{
	return pair_open(&O2_CONN_DEFAULTS, &O2_CONN_DEFAULTS);
}

/*
 * What is left at the devices while `interfaces` interfaces are open and no connection is: just the regions
 * and windows that they know of.  (Closing a device would hide what was forgotten.)
 */
static inline void assert_objects(uint32_t interfaces, uint32_t regions, uint32_t windows)
{
#ifndef O2_TEST_REAL_VERBS
	struct o2_loop_counters now;

	o2_loop_get_counters(&now);
	assert_int_equal(now.live_contexts, interfaces);
	assert_int_equal(now.live_pds, interfaces);
	assert_int_equal(now.live_mrs, regions);
	assert_int_equal(now.live_mws, windows);
	assert_int_equal(now.live_cqs, 0);
	assert_int_equal(now.live_qps, 0);
#else
	(void)interfaces;
	(void)regions;
	(void)windows;
#endif
}

/* Everything must have been handed back by then. */
static inline void side_assert_idle(struct side *side)
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

static inline void pair_close(struct pair *pair)
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

static inline time_t pair_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

static inline int start_put(struct o2_conn *conn, const struct o2_transfer_memory *source,
			    uint64_t match_bits, uint64_t *cookie, struct o2_error *error)
{
	struct o2_lnet_hdr hdr = o2_conn_lnet_hdr(conn, O2_LNET_PUT, match_bits, source->buffer.nob);

	return o2_conn_put(conn, &hdr, source, cookie, error);
}

static inline int start_get(struct o2_conn *conn, const struct o2_transfer_memory *sink, uint64_t match_bits,
			    uint64_t *cookie, struct o2_error *error)
{
	struct o2_lnet_hdr hdr = o2_conn_lnet_hdr(conn, O2_LNET_GET, match_bits, sink->buffer.nob);

	return o2_conn_get(conn, &hdr, sink, cookie, error);
}

/* Drive both ends until each has that many results, or is closed. */
static inline void pair_run(struct pair *pair, uint32_t results_a, uint32_t results_b)
{
	time_t end = pair_now() + PAIR_SECONDS;

	for (;;) {
		int a = o2_conn_progress(pair->a.conn);
		int b = o2_conn_progress(pair->b.conn);
		bool done_a = a < 0 || pair->a.nresults >= results_a;
		bool done_b = b < 0 || pair->b.nresults >= results_b;

		if (done_a && done_b)
			return;
		if (pair_now() > end) {
			print_message("no progress: results a %u of %u, b %u of %u\n", pair->a.nresults,
				      results_a, pair->b.nresults, results_b);
			fail();
		}
	}
}

/* Drive both ends until this one has closed. */
static inline void pair_run_until_closed(struct pair *pair, const struct o2_conn *which)
{
	time_t end = pair_now() + PAIR_SECONDS;

	while (o2_conn_get_state(which) != O2_CONN_DISCONNECTED) {
		o2_conn_progress(pair->a.conn);
		o2_conn_progress(pair->b.conn);
		assert_true(pair_now() <= end);
	}
}

/* Drive one end alone until it has closed. */
static inline void side_run_until_closed(struct side *side)
{
	time_t end = pair_now() + PAIR_SECONDS;

	while (o2_conn_progress(side->conn) >= 0)
		assert_true(pair_now() <= end);
}

/* Drive one end alone until a counter of its own has come that far. */
static inline void side_run_until(struct side *side, const uint32_t *counter, uint32_t want)
{
	time_t end = pair_now() + PAIR_SECONDS;

	while (*counter < want) {
		assert_true(o2_conn_progress(side->conn) >= 0);
		assert_true(pair_now() <= end);
	}
}

/* Bytes that differ from page to page and from side to side. */
static inline void side_fill(struct side *side, uint32_t seed)
{
	uint64_t length = (uint64_t)side->ni.arena.npages * side->ni.arena.page_bytes;
	uint64_t x = seed * 0x9e3779b97f4a7c15ull + 1;

	for (uint64_t i = 0; i < length; i += 8) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		memcpy(side->ni.arena.memory + i, &x, 8);
	}
}

/* Where byte k of a buffer lies in the arena's memory, for all k: offsets[] must hold buffer->nob. */
static inline void side_locate(const struct side *side, const struct o2_buffer *buffer, uint64_t *offsets)
{
	static struct o2_sg_list sg;
	struct o2_address_space space = o2_arena_space(&side->ni.arena);
	uint64_t k = 0;

	assert_int_equal(o2_sg_build(buffer, &space, O2_MAX_FRAGS, &sg, NULL), 0);
	for (uint32_t i = 0; i < sg.count; i++)
		for (uint32_t j = 0; j < sg.entry[i].length; j++)
			offsets[k++] = (uint64_t)sg.entry[i].page * space.page_bytes + sg.entry[i].offset + j;
}

struct images {
	uint8_t *source;
	uint8_t *sink;
};

static inline uint8_t *side_copy(const struct side *side)
{
	uint64_t length = (uint64_t)side->ni.arena.npages * side->ni.arena.page_bytes;
	uint8_t *copy = malloc(length);

	assert_non_null(copy);
	memcpy(copy, side->ni.arena.memory, length);
	return copy;
}

/* Fresh bytes on both sides, remembered. */
static inline struct images images_take(struct side *source, struct side *sink, uint32_t seed)
{
	side_fill(source, 2 * seed);
	side_fill(sink, 2 * seed + 1);
	return (struct images){side_copy(source), side_copy(sink)};
}

/*
 * The first nob bytes of the source buffer are in the sink buffer, and not one other byte has changed on
 * either side.
 */
static inline void images_check(struct images *images, const struct side *source,
				const struct o2_buffer *from, const struct side *sink,
				const struct o2_buffer *to, uint64_t nob)
{
	uint64_t bytes = (uint64_t)PAIR_PAGES * source->ni.arena.page_bytes;
	uint64_t *where_from = calloc(O2_MAX_TRANSFER_BYTES, sizeof(*where_from));
	uint64_t *where_to = calloc(O2_MAX_TRANSFER_BYTES, sizeof(*where_to));

	assert_non_null(where_from);
	assert_non_null(where_to);
	if (nob > 0) {
		side_locate(source, from, where_from);
		side_locate(sink, to, where_to);
	}
	for (uint64_t k = 0; k < nob; k++)
		images->sink[where_to[k]] = images->source[where_from[k]];
	assert_memory_equal(source->ni.arena.memory, images->source, bytes);
	assert_memory_equal(sink->ni.arena.memory, images->sink, bytes);
	free(where_from);
	free(where_to);
	free(images->source);
	free(images->sink);
}

/* Page numbers all over the arena, no two the same for i below PAIR_PAGES. */
static inline uint32_t scattered_page(uint32_t i)
{
	return (i * 257u + 31u) % PAIR_PAGES;
}

/* Pieces that meet on page boundaries: no gaps by rule G3.  first_offset bytes into the first page. */
static inline struct o2_buffer dense_kiov(struct o2_kiov *kiov, uint32_t first, uint32_t first_offset,
					  uint64_t nob)
{
	uint32_t page_bytes = 4096;
	uint64_t left = nob;
	uint32_t count = 0;

	for (uint32_t offset = first_offset; left > 0; offset = 0) {
		uint32_t take = left < page_bytes - offset ? (uint32_t)left : page_bytes - offset;

		kiov[count] = (struct o2_kiov){scattered_page(first + count), offset, take};
		left -= take;
		count++;
	}
	return (struct o2_buffer){.kind = O2_KIOV, .count = count, .nob = nob, .kiov = kiov};
}

/* `count` pieces of piece_bytes inside their pages, each at another offset: gaps everywhere. */
static inline struct o2_buffer gapped_kiov(struct o2_kiov *kiov, uint32_t first, uint32_t count,
					   uint32_t piece_bytes)
{
	for (uint32_t i = 0; i < count; i++)
		kiov[i] = (struct o2_kiov){scattered_page(first + i), 8 + i % 64, piece_bytes};
	return (struct o2_buffer){
		.kind = O2_KIOV, .count = count, .nob = (uint64_t)count * piece_bytes, .kiov = kiov};
}

/* Virtually contiguous bytes of a view, in two pieces, with bytes to skip at the front. */
static inline struct o2_buffer view_iov(const struct side *side, struct o2_iov *iov, uint32_t view,
					uint64_t at, uint64_t nob)
{
	uint64_t base = side->ni.arena.view[view].base + at;

	iov[0] = (struct o2_iov){base, 5 + nob / 3};
	iov[1] = (struct o2_iov){0, 0};
	iov[2] = (struct o2_iov){base + 5 + nob / 3, nob - nob / 3};
	return (struct o2_buffer){.kind = O2_IOV, .count = 3, .offset = 5, .nob = nob, .iov = iov};
}

static inline struct o2_transfer_memory dense(struct o2_kiov *kiov, uint32_t first, uint64_t nob,
					      enum o2_reg_mode mode)
{
	return (struct o2_transfer_memory){.buffer = dense_kiov(kiov, first, 99, nob), .mode = mode};
}

static inline struct o2_transfer_memory gapped(struct o2_kiov *kiov, uint32_t first, uint32_t count,
					       uint32_t piece_bytes, enum o2_reg_mode mode)
{
	return (struct o2_transfer_memory){.buffer = gapped_kiov(kiov, first, count, piece_bytes),
					   .mode = mode};
}

/* Post bytes as a message, past all of the connection's own logic but its account of credits. */
static inline void send_raw(struct side *side, const void *bytes, uint32_t length)
{
	struct o2_conn *conn = side->conn;
	enum o2_msg_type type = (enum o2_msg_type)((const uint8_t *)bytes)[6];
	struct ibv_sge sge = {.length = length};
	struct ibv_send_wr wr = {.wr_id = O2_WR_ID(O2_WORK_SILENT, conn->ntx - 1),
				 .opcode = IBV_WR_SEND,
				 .sg_list = &sge,
				 .num_sge = 1};
	struct ibv_send_wr *bad;

	if (side->raw == NULL)
		assert_int_equal(o2_tx_take(&side->ni.tx_sets[0], &side->raw, NULL), 0);
	memcpy(side->raw->message, bytes, length);
	sge.addr = side->raw->message_addr;
	sge.lkey = o2_ni_slot_lkey(side->raw);
	assert_int_equal(ibv_post_send(conn->qp, &wr, &bad), 0);
	if (conn->credits.credits > 0)
		conn->credits.credits -= o2_takes_credit(conn->credits.version, type);
}

/* The same for a message that the codec finds good: what o2_msg_begin has started and the test has filled. */
static inline void send_msg(struct side *side)
{
	struct o2_wire_options options = O2_WIRE_DEFAULTS;
	uint8_t bytes[O2_MSG_BYTES];
	int length = o2_msg_encode(&side->conn->tx_msg, &options, bytes, sizeof(bytes), NULL);

	assert_true(length > 0);
	send_raw(side, bytes, (uint32_t)length);
}

static inline void send_completion(struct side *side, enum o2_msg_type type, uint64_t cookie, int32_t status)
{
	struct o2_msg *msg = o2_msg_begin(side->conn, type);

	msg->u.completion.ibcm_cookie = cookie;
	msg->u.completion.ibcm_status = status;
	send_msg(side);
}

static inline void assert_closed(const struct side *side, enum o2_fault_side which, int code)
{
	const struct o2_transfer_fault *fault = o2_conn_get_fault(side->conn);

	assert_int_equal(o2_conn_get_state(side->conn), O2_CONN_DISCONNECTED);
	assert_int_equal(fault->side, which);
	assert_int_equal(fault->code, code);
	assert_int_equal(o2_conn_progress(side->conn), code);
	assert_int_equal(side->ni.domain.nbound, 0);
	assert_true(o2_ledger_balanced(&side->ni.ledger));
}

/* The connection still works: both ways, in the mode with the most state. */
static inline void assert_alive(struct pair *pair)
{
	static struct o2_kiov kiov_from[8], kiov_to[8];
	struct o2_transfer_memory from = dense(kiov_from, 0, 5000, O2_REG_FASTREG);
	uint32_t a = pair->a.nresults, b = pair->b.nresults;

	pair->b.answer = dense(kiov_to, 300, 5000, O2_REG_FASTREG);
	pair->b.match_rc = 0;
	assert_int_equal(start_put(pair->a.conn, &from, 0, NULL, NULL), 0);
	assert_int_equal(start_get(pair->a.conn, &from, 0, NULL, NULL), 0);
	pair_run(pair, a + 2, b + 2);
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(pair->a.result[a + i].status, 0);
		assert_int_equal(pair->b.result[b + i].status, 0);
	}
}

#endif
