/* SPDX-License-Identifier: MIT */
/*
 * Four threads register, write to and release memory of one registration domain, in every mode, while its
 * pools grow, shrink and fail, and the kept regions of mode fmr are flushed (docs/pools.md, "Threads").
 * Every write must reach its thread's memory, and at the end the domain's counts must equal the device's.
 * Also run under a thread sanitizer.  Each thread's actions are drawn from O2_TEST_SEED.
 */
#include "tests/lib/lnd_pair.h"

#include <pthread.h>

#include "mem/sg_build.h"
#include "props/engine/prng.h"
#include "reg/bind.h"
#include "tests/lib/thread_check.h"

#define THREADS	     4u
#define STEPS	     250u
#define HOLD	     3u /* registrations that a thread holds, at most */
#define LISTS	     6u /* lists of pages that a thread uses, one after the other */
#define LIST_PAGES   3u
#define THREAD_PAGES (LISTS * LIST_PAGES)
#define NOB	     9000u
#define OFFSET	     100u

static uint64_t seed;

struct held {
	struct o2_binding binding;
	uint64_t addr; /* address of the first byte, for the peer */
	uint8_t *byte; /* the same byte in this process */
};

struct worker {
	pthread_t thread;
	uint32_t index;
	struct side *b;
	struct o2_conn *from, *to;
	pthread_barrier_t *start;
	struct o2_prng prng;
	struct held held[HOLD];
	uint32_t nheld, taken, exhausted;
	struct o2_kiov kiov[LIST_PAGES];
	struct o2_iov iov;
	struct o2_sg_list sg;
	struct o2_dma_list dma;
	struct o2_reg_plan plan;
};

static void post(struct o2_conn *conn, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;
	struct ibv_wc wc;

	wr->send_flags |= IBV_SEND_SIGNALED;
	THREAD_CHECK(seed, ibv_post_send(conn->qp, wr, &bad) == 0);
	while (ibv_poll_cq(conn->cq, 1, &wc) == 0)
		;
	THREAD_CHECK(seed, wc.status == IBV_WC_SUCCESS);
}

/* Lists pages in the wrong order, so that the list needs a window of the arena; no other thread uses them. */
static struct o2_buffer list_of(struct worker *w, enum o2_reg_mode mode)
{
	const uint32_t list = (uint32_t)o2_prng_upto(&w->prng, LISTS - 1);
	const uint32_t first = w->index * THREAD_PAGES + list * LIST_PAGES;
	uint32_t left = NOB;

	if (mode == O2_REG_USER) {
		w->iov = (struct o2_iov){w->b->ni.arena.view[0].base + (uint64_t)first * 4096 + OFFSET, NOB};
		return (struct o2_buffer){.kind = O2_IOV, .count = 1, .nob = NOB, .iov = &w->iov};
	}
	for (uint32_t i = 0, offset = OFFSET; i < LIST_PAGES; i++, offset = 0) {
		const uint32_t bytes = left < 4096 - offset ? left : 4096 - offset;

		w->kiov[i] = (struct o2_kiov){first + LIST_PAGES - 1 - i, offset, bytes};
		left -= bytes;
	}
	return (struct o2_buffer){.kind = O2_KIOV, .count = LIST_PAGES, .nob = NOB, .kiov = w->kiov};
}

static void make_plan(struct worker *w, enum o2_reg_mode mode)
{
	const struct o2_address_space space = o2_arena_space(&w->b->ni.arena);
	const struct o2_buffer buffer = list_of(w, mode);
	struct o2_reg_request request = {.mode = mode,
					 .side = O2_SINK,
					 .page_bytes = space.page_bytes,
					 .max_pages = O2_MAX_FRAGS,
					 .peer_max_frags = O2_MAX_FRAGS,
					 .iova = 0x10000};

	THREAD_CHECK(seed, o2_sg_build(&buffer, &space, O2_MAX_FRAGS, &w->sg, NULL) == 0);
	THREAD_CHECK(seed, o2_dma_map(&w->sg, &w->b->ni.domain.dma, &w->dma, NULL) == 0);
	if (mode == O2_REG_USER)
		request.contiguous = o2_virtual_range(&buffer, &request.iova);
	THREAD_CHECK(seed, o2_reg_plan(&request, &w->dma, &w->plan, NULL) == 0);
}

/* Registers as a transfer does before it sends its request. */
static void take(struct worker *w)
{
	const enum o2_reg_mode mode = (enum o2_reg_mode)o2_prng_upto(&w->prng, O2_REG_MODES - 1);
	struct held *held = &w->held[w->nheld];
	struct ibv_send_wr wr[O2_BINDING_CHAIN];
	struct o2_error error;
	int rc;

	make_plan(w, mode);
	rc = o2_reg_bind(&w->b->ni.domain, 0, &w->plan, &held->binding, &error);
	if (rc == -EBUSY || rc == -ENOBUFS) { /* another thread took what the flush released for us */
		w->exhausted++;
		return;
	}
	THREAD_CHECK(seed, rc == 0);
	if (o2_binding_chain(&held->binding, 1, wr) == 1) {
		post(w->to, wr);
		o2_binding_posted(&held->binding, w->to->qp->qp_num, 1, true);
	}
	held->addr = w->plan.frag[0].rf_addr;
	held->byte = mode == O2_REG_USER
			     ? (uint8_t *)(uintptr_t)w->iov.base
			     : o2_arena_page(&w->b->ni.arena, w->kiov[0].page) + w->kiov[0].offset;
	w->nheld++;
	w->taken++;
}

static void write_byte(struct worker *w, struct held *held)
{
	const uint8_t value = (uint8_t)o2_prng_upto(&w->prng, UINT8_MAX);
	struct ibv_sge sge = {(uintptr_t)w->from->rx_area, 1, w->from->rx_mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_RDMA_WRITE,
				 .wr.rdma = {.remote_addr = held->addr, .rkey = held->binding.key}};

	w->from->rx_area[0] = value;
	post(w->from, &wr);
	THREAD_CHECK(seed, o2_reg_deliver(&w->b->ni.domain, &held->binding, 1, NULL) == 0);
	THREAD_CHECK(seed, *held->byte == value);
}

/* Releases as a transfer does when it has ended. */
static void put(struct worker *w)
{
	const uint32_t i = (uint32_t)o2_prng_upto(&w->prng, w->nheld - 1);
	struct held *held = &w->held[i];
	struct ibv_send_wr wr;

	write_byte(w, held);
	if (o2_binding_needs_invalidate(&held->binding)) {
		o2_binding_invalidate_wr(&held->binding, 2, &wr);
		o2_binding_invalidate_posted(&held->binding, true);
		post(w->to, &wr);
		o2_binding_invalidated(&held->binding);
	}
	THREAD_CHECK(seed, o2_reg_unbind(&w->b->ni.domain, &held->binding, o2_prng_upto(&w->prng, 9) == 0,
					 NULL) == 0);
	*held = w->held[--w->nheld];
}

/* Does what affects the whole domain.  Only one thread sets the clock. */
static void disturb(struct worker *w)
{
	struct o2_ni *ni = &w->b->ni;

	if (w->index == 0 && o2_prng_upto(&w->prng, 3) == 0)
		o2_clock_tell(&ni->clock, o2_clock_ms(&ni->clock) + O2_POOL_LIFE_MS / 2);
	if (o2_prng_upto(&w->prng, 40) == 0)
		o2_reg_flush(&ni->domain);
	if (o2_prng_upto(&w->prng, 80) == 0)
		o2_reg_fail_pools(&ni->domain, ni->device);
}

static void *work(void *argument)
{
	struct worker *w = argument;

	pthread_barrier_wait(w->start);
	for (uint32_t i = 0; i < STEPS; i++) {
		if (w->nheld < HOLD && (w->nheld == 0 || o2_prng_upto(&w->prng, 1) != 0))
			take(w);
		else
			put(w);
		disturb(w);
	}
	while (w->nheld > 0)
		put(w);
	return NULL;
}

static void run(bool staging)
{
	static struct worker workers[THREADS];
	struct pair *pair = calloc(1, sizeof(*pair)); /* its interfaces; workers have own connections */
	pthread_barrier_t start;
	uint32_t taken = 0, exhausted = 0;
	struct o2_ni_counts counts;

	assert_non_null(pair);
	side_open(&pair->a, true, O2_DMA_BUS, 0x7f0000000000ull);
	side_open(&pair->b, false, O2_DMA_VIRTUAL, 0);
	pair->b.ni.domain.fmr_lazy = true;
	pair->b.ni.domain.gaps_by_staging = staging;
	assert_int_equal(pthread_barrier_init(&start, NULL, THREADS), 0);
	for (uint32_t i = 0; i < THREADS; i++) {
		struct worker *w = &workers[i];

		pair_connect(pair, &O2_CONN_DEFAULTS, &O2_CONN_DEFAULTS);
		*w = (struct worker){.index = i, .b = &pair->b, .start = &start};
		w->from = pair->a.conn;
		w->to = pair->b.conn;
		w->prng = o2_prng_init(seed, 2 * i + staging);
	}
	for (uint32_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
	for (uint32_t i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
		o2_conn_destroy(workers[i].from);
		o2_conn_destroy(workers[i].to);
		taken += workers[i].taken;
		exhausted += workers[i].exhausted;
	}
	pthread_barrier_destroy(&start);
	pair->a.conn = pair->b.conn = NULL;
	o2_ni_get_counts(&pair->b.ni, &counts);
	print_message("%u registrations, %u times no window left, %" PRIu64 " descriptor pools made\n", taken,
		      exhausted, counts.pool[O2_NI_POOL_FRD].created);
	assert_true(taken > THREADS * STEPS / 3 && counts.pool[O2_NI_POOL_FRD].created > 3);
	pair_close(pair);
}

TEST(every_mode)
{
	seed = tests_seed(1);
	run(false);
	run(true);
}
