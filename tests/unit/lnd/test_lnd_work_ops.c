/* SPDX-License-Identifier: MIT */
#include "tests/lib/lnd_memory.h"
#include "tests/lib/lnd_pair.h"
#include "wire/desc_codec.h"

/*
 * A layer in front of ibv_post_send and ibv_poll_cq (docs/transport.md, "Posting"): it sees all requests that
 * one end posts and their completions, may change or refuse requests, and delivers completions at any time.
 */

#define NOB 9000u

struct front {
	uint32_t posts, writes, with_sink, polls, forgotten;
	uint64_t sink_bytes;
	bool drop_writes, refuse, hold;
	uint64_t polled_ms;
};

static int post_send(void *context, struct ibv_qp *qp, struct ibv_send_wr *list, struct ibv_send_wr **bad,
		     const struct o2_rdma_desc *sink)
{
	struct front *front = context;
	struct ibv_send_wr *last = list;

	front->posts++;
	for (; last->next != NULL; last = last->next)
		front->writes += last->opcode == IBV_WR_RDMA_WRITE;
	if (sink != NULL) {
		front->with_sink++;
		front->sink_bytes = o2_desc_bytes(sink);
	}
	*bad = list;
	return front->refuse ? ENOSPC : ibv_post_send(qp, front->drop_writes ? last : list, bad);
}

static int poll_cq(void *context, struct ibv_cq *cq, int count, struct ibv_wc *wc, uint64_t now_ms)
{
	struct front *front = context;

	front->polls++;
	front->polled_ms = now_ms;
	return front->hold ? 0 : ibv_poll_cq(cq, count, wc);
}

static void forget_cq(void *context, struct ibv_cq *cq)
{
	((struct front *)context)->forgotten++;
}

/* Opens a pair in which side b uses the layer. */
static struct pair *open_pair(struct front *front)
{
	static struct o2_work_ops ops;
	struct o2_ni_config a = side_config(true, O2_DMA_BUS, 0x7f0000000000ull);
	struct o2_ni_config b = side_config(false, O2_DMA_VIRTUAL, 0);

	ops = (struct o2_work_ops){front, post_send, poll_cq, forget_cq};
	b.work_ops = &ops;
	return pair_open_ni(&a, &b, &O2_CONN_DEFAULTS, &O2_CONN_DEFAULTS);
}

static struct o2_transfer_memory memory_of(struct o2_kiov kiov[3])
{
	for (uint32_t i = 0; i < 3; i++)
		kiov[i] = (struct o2_kiov){10 + i, 0, i < 2 ? 4096 : NOB - 8192};
	return (struct o2_transfer_memory){.buffer = {.kind = O2_KIOV, .count = 3, .nob = NOB, .kiov = kiov},
					   .mode = O2_REG_FASTREG};
}

/* Side a GETs from b, which has as many bytes as a asks for. */
static void get(struct pair *pair)
{
	static struct o2_kiov kiov[3];
	struct o2_transfer_memory memory = memory_of(kiov);

	side_fill(&pair->a, 1);
	side_fill(&pair->b, 2);
	pair->b.answer = memory;
	assert_int_equal(start_get(pair->a.conn, &memory, 0, NULL, NULL), 0);
}

static bool bytes_moved(const struct pair *pair)
{
	return memcmp(pair->a.ni.arena.memory + 10 * 4096, pair->b.ni.arena.memory + 10 * 4096, NOB) == 0;
}

TEST(test_it_sees_what_is_posted)
{
	struct front front = {0};
	struct pair *pair = open_pair(&front);

	get(pair);
	pair_run(pair, 1, 1);
	assert_int_equal(pair->a.result[0].status, 0);
	assert_true(bytes_moved(pair));
	/* The WRITEs and the GET_DONE are one post. */
	assert_int_equal(front.posts, 1);
	assert_int_equal(front.writes, pair->b.result[0].nwr);
	assert_int_equal(front.with_sink, 1);
	assert_int_equal(front.sink_bytes, NOB);
	assert_true(front.polls > 0);
	assert_int_equal(front.forgotten, 0);
	pair_close(pair);
	assert_int_equal(front.forgotten, 1);
}

TEST(test_it_may_change_the_list)
{
	struct front front = {.drop_writes = true};
	struct pair *pair = open_pair(&front);

	get(pair);
	pair_run(pair, 1, 1);
	assert_int_equal(pair->a.result[0].status, 0);
	assert_int_equal(pair->a.result[0].nob, NOB);
	assert_false(bytes_moved(pair));
	pair_close(pair);
}

TEST(test_it_may_refuse)
{
	struct front front = {.refuse = true};
	struct pair *pair = open_pair(&front);

	get(pair);
	pair_run_until_closed(pair, pair->b.conn);
	assert_string_equal(o2_conn_get_fault(pair->b.conn)->error.rule, "post/send");
	assert_int_equal(o2_conn_get_fault(pair->b.conn)->code, -ENOSPC);
	pair_close(pair);
}

TEST(test_it_may_hold_completions_back)
{
	struct front front = {.hold = true};
	struct pair *pair = open_pair(&front);

	get(pair);
	o2_conn_clock(pair->b.conn, 1234);
	for (int i = 0; i < 1000; i++) {
		o2_conn_progress(pair->a.conn);
		o2_conn_progress(pair->b.conn);
	}
	assert_int_equal(pair->b.nmatched, 0);
	assert_int_equal(front.polled_ms, 1234);
	front.hold = false;
	pair_run(pair, 1, 1);
	assert_true(bytes_moved(pair));
	pair_close(pair);
}
