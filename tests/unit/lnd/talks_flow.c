/* SPDX-License-Identifier: MIT */
#include "tests/unit/lnd/lnd_talks.h"

#include "lnd/conn/transfer.h"
#include "loopverbs/loopverbs.h"

/* Conversations about flow control (docs/transport.md, "Flow control"). */

/* Operations of all kinds in both directions, many more than there are credits. */
static void talk_of_everything(uint16_t version, uint32_t depth)
{
	struct pair *pair = pair_of(version, depth);
	struct o2_transfer_memory from = talk_memory(0, 9000, O2_REG_FASTREG);

	pair->a.answer = pair->b.answer = talk_memory(1, 9000, O2_REG_FMR);
	for (uint32_t i = 0; i < 5; i++)
		for (int end = 0; end < 2; end++) {
			struct side *side = end == 0 ? &pair->a : &pair->b;

			assert_int_equal(start_put(side->conn, &from, i, NULL, NULL), 0);
			send_text(side, i * 700);
			assert_int_equal(start_get(side->conn, &from, i, NULL, NULL), 0);
			send_text(side, O2_IMMEDIATE_MAX);
		}
	quiet(pair);
	/* 20 operations that this end started, and 10 that the peer started. */
	assert_int_equal(pair->a.nresults, 30);
	assert_int_equal(pair->b.nresults, 30);
	for (uint32_t i = 0; i < 30; i++) {
		assert_int_equal(pair->a.result[i].status, 0);
		assert_int_equal(pair->b.result[i].status, 0);
	}
	pair_close_settled(pair);
}

TEST(talks_of_everything)
{
	static const uint32_t depths[] = {2, 3, 4, 8, 16};

	for (size_t i = 0; i < sizeof(depths) / sizeof(depths[0]); i++) {
		talk_of_everything(O2_MSG_VERSION_2, depths[i]);
		talk_of_everything(O2_MSG_VERSION_1, depths[i]);
	}
}

/* Traffic in one direction only, so that only NOOPs return credits. */
static void talk_one_way(uint16_t version, uint32_t depth)
{
	struct pair *pair = pair_of(version, depth);
	struct o2_transfer_memory from = talk_memory(0, 9000, O2_REG_GLOBAL);

	pair->b.answer = talk_memory(1, 9000, O2_REG_GLOBAL);
	for (uint32_t round = 0; round < 40; round++) {
		send_text(&pair->a, 100);
		assert_int_equal(start_put(pair->a.conn, &from, 0, NULL, NULL), 0);
		assert_int_equal(start_get(pair->a.conn, &from, 0, NULL, NULL), 0);
		pair->b.match_rc = round % 2 == 0 ? 0 : -ENODATA;
		quiet(pair);
		assert_int_equal(pair->a.nresults, 3 * (round + 1));
		assert_settled(pair);
	}
	/* Each NOOP returns at least as many credits as the high-water mark. */
	assert_true(view_of(&pair->b).flow.noops_sent * view_of(&pair->b).flow.high_water <= 120 + 40);
	pair_close(pair);
}

TEST(talks_one_way)
{
	static const uint32_t depths[] = {2, 3, 8};

	for (size_t i = 0; i < sizeof(depths) / sizeof(depths[0]); i++) {
		talk_one_way(O2_MSG_VERSION_2, depths[i]);
		talk_one_way(O2_MSG_VERSION_1, depths[i]);
	}
}

/* Both ends spend all their credits before either receives anything. */
TEST(talks_at_once)
{
	for (uint32_t depth = 2; depth <= 9; depth++)
		for (uint16_t version = O2_MSG_VERSION_1; version <= O2_MSG_VERSION_2; version++) {
			struct pair *pair = pair_of(version, depth);

			for (uint32_t i = 0; i < 30; i++)
				send_text(&pair->a, i);
			for (uint32_t i = 0; i < 30; i++)
				send_text(&pair->b, i);
			quiet(pair);
			assert_int_equal(pair->a.nresults, 30);
			assert_int_equal(pair->b.nresults, 30);
			pair_close_settled(pair);
		}
}

/* Tunables for a deep queue, and a peer that agrees only to a small depth. */
TEST(talks_below_its_tunables)
{
	struct o2_conn_config deep = O2_CONN_DEFAULTS, small = O2_CONN_DEFAULTS;
	struct pair *pair;

	deep.peer_tx_credits = 32;
	small.queue_depth = 2;
	pair = pair_open(&deep, &small);
	for (int end = 0; end < 2; end++) {
		struct side *side = end == 0 ? &pair->a : &pair->b;

		for (uint32_t i = 0; i < 20; i++)
			send_text(side, 10);
		quiet(pair);
		assert_int_equal(side->nresults, 20);
		assert_settled(pair);
	}
	pair_close(pair);
}

/* The number of messages in flight stays within its limit, however many wait. */
TEST(talks_with_few_sends)
{
	struct o2_conn_config config = O2_CONN_DEFAULTS;
	struct pair *pair;
	struct held held = {.count = 0};

	config.concurrent_sends = 4;
	pair = pair_open(&config, &config);
	for (uint32_t i = 0; i < 8; i++)
		send_text(&pair->a, 10);
	deliver(&pair->a, &held, work_bit(O2_WORK_MESSAGE));
	assert_int_equal(view_of(&pair->a).flow.in_flight, 4);
	assert_int_equal(view_of(&pair->a).queued, 4);
	release(&pair->a, &held);
	assert_int_equal(view_of(&pair->a).flow.in_flight, 4);
	assert_int_equal(view_of(&pair->a).queued, 3);
	while (held.count > 0)
		release(&pair->a, &held);
	quiet(pair);
	assert_int_equal(pair->a.nresults, 8);
	pair_close_settled(pair);
}

/* The peer returns more credits than it can owe. */
TEST(hears_of_too_many_credits)
{
	struct pair *pair = pair_default();

	send_plain(&pair->b, O2_MSG_NOOP, 1);
	quiet(pair);
	assert_refused(&pair->a, "conn/credits-over-depth");
	pair_close(pair);
}

/* A pair whose side a cannot send, because 4 of its messages have no send completion yet. */
static struct pair *pair_with_a_silent(struct held *held)
{
	struct o2_conn_config config = O2_CONN_DEFAULTS;
	struct pair *pair;

	config.concurrent_sends = 4;
	pair = pair_open(&config, &config);
	held->count = 0;
	for (uint32_t i = 0; i < 4; i++)
		send_text(&pair->a, 0);
	deliver(&pair->a, held, work_bit(O2_WORK_MESSAGE));
	assert_int_equal(view_of(&pair->a).flow.in_flight, 4);
	return pair;
}

/* The peer sends one message more than it has credits. */
TEST(hears_without_credit)
{
	struct held held;
	struct pair *pair = pair_with_a_silent(&held);

	for (uint32_t i = 0; i < 8; i++)
		send_plain(&pair->b, O2_MSG_IMMEDIATE, 0);
	deliver(&pair->a, &held, work_bit(O2_WORK_MESSAGE));
	assert_int_equal(view_of(&pair->a).flow.granted, 0);
	assert_int_equal(view_of(&pair->a).flow.outstanding, 8);
	send_plain(&pair->b, O2_MSG_IMMEDIATE, 0);
	deliver(&pair->a, &held, work_bit(O2_WORK_MESSAGE));
	assert_refused(&pair->a, "conn/no-credit");
	pair_close(pair);
}

/* The peer has credits for more requests, but sends more than 8 that are not answered yet. */
TEST(hears_too_many_requests)
{
	struct held held;
	struct pair *pair = pair_with_a_silent(&held);

	pair->a.match_rc = -ENODATA;
	for (uint32_t i = 0; i < 8; i++)
		send_plain(&pair->b, O2_MSG_GET_REQ, 0);
	deliver(&pair->a, &held, work_bit(O2_WORK_MESSAGE));
	assert_int_equal(view_of(&pair->a).flow.peer_requests, 8);
	/* One answer is sent, and returns all credits. */
	release(&pair->a, &held);
	assert_int_equal(view_of(&pair->a).flow.peer_requests, 7);
	assert_int_equal(view_of(&pair->a).flow.granted, 8);
	send_plain(&pair->b, O2_MSG_GET_REQ, 0);
	deliver(&pair->a, &held, work_bit(O2_WORK_MESSAGE));
	assert_int_equal(view_of(&pair->a).flow.peer_requests, 8);
	send_plain(&pair->b, O2_MSG_GET_REQ, 0);
	deliver(&pair->a, &held, work_bit(O2_WORK_MESSAGE));
	assert_refused(&pair->a, "conn/too-many-requests");
	pair_close(pair);
}

/* NOOPs that return no credits: a few are tolerated, a storm closes the connection.  Old ones are forgotten. */
TEST(hears_empty_noops)
{
	struct pair *pair = pair_default();

	for (uint32_t second = 1; second < 4; second++) {
		for (uint32_t i = 0; i < 16; i++) {
			send_plain(&pair->b, O2_MSG_NOOP, 0);
			quiet(pair);
			o2_conn_clock(pair->a.conn, second * 1000 - 60 * (15 - i));
		}
		assert_settled(pair);
	}
	for (uint32_t i = 0; i < 17; i++) {
		send_plain(&pair->b, O2_MSG_NOOP, 0);
		deliver(&pair->a, NULL, 0);
	}
	assert_refused(&pair->a, "conn/noop-storm");
	pair_close(pair);
}

/* A NOOP is sent after a long silence, and none without a reason. */
TEST(keeps_alive)
{
	for (uint16_t version = O2_MSG_VERSION_1; version <= O2_MSG_VERSION_2; version++) {
		struct pair *pair = pair_of(version, 8);

		o2_conn_clock(pair->a.conn, 100000);
		quiet(pair);
		assert_int_equal(view_of(&pair->a).flow.noops_sent, 0);
		o2_conn_clock(pair->a.conn, 100001);
		quiet(pair);
		assert_int_equal(view_of(&pair->a).flow.noops_sent, 1);
		assert_int_equal(view_of(&pair->b).flow.noops_received, 1);
		o2_conn_clock(pair->a.conn, 200001);
		quiet(pair);
		assert_int_equal(view_of(&pair->a).flow.noops_sent, 1);
		/* The connection ignores a time that lies in the past. */
		o2_conn_clock(pair->a.conn, 5);
		o2_conn_clock(pair->a.conn, 200002);
		quiet(pair);
		assert_int_equal(view_of(&pair->a).flow.noops_sent, 2);
		pair_close_settled(pair);
	}
}

/* Receiving messages does not replace the keepalive: an end that only receives still sends its NOOP. */
TEST(keeps_alive_and_hears)
{
	struct pair *pair = pair_default();

	o2_conn_clock(pair->a.conn, 60000);
	send_plain(&pair->b, O2_MSG_NOOP, 0);
	quiet(pair);
	o2_conn_clock(pair->a.conn, 100001);
	quiet(pair);
	assert_int_equal(view_of(&pair->a).flow.noops_received, 1);
	assert_int_equal(view_of(&pair->a).flow.noops_sent, 1);
	pair_close(pair);
}

/*
 * The most work that can be posted at a time: two invalidations of keys, and the WRITEs of two transfers.  The
 * queues must hold it, and the completion of every request if the queue pair fails.
 */
TEST(fills_its_queues)
{
	struct o2_conn_config config = O2_CONN_DEFAULTS;
	struct o2_transfer_memory memory = talk_memory(0, 3000, O2_REG_FASTREG);
	struct held held = {.count = 0};
	struct o2_conn_view view;
	struct pair *pair;

	config.queue_depth = 2;
	config.max_frags = 1;
	pair = pair_open(&config, &config);
	pair->b.answer = talk_memory(1, 3000, O2_REG_FMR);
	for (int i = 0; i < 2; i++)
		assert_int_equal(start_get(pair->a.conn, &memory, 0, NULL, NULL), 0);
	view = view_of(&pair->a);
	assert_true(view.cq_entries >= view.send_wrs_max + view.recv_wrs_max);
	assert_int_equal(view.send_wrs, 4);
	for (int round = 0; round < 4; round++) {
		o2_conn_progress(pair->b.conn);
		deliver(&pair->a, &held, work_bit(O2_WORK_INV));
	}
	for (int i = 0; i < 2; i++)
		assert_int_equal(start_put(pair->a.conn, &memory, 0, NULL, NULL), 0);
	deliver(&pair->a, &held, work_bit(O2_WORK_INV));
	for (int round = 0; round < 4; round++) {
		o2_conn_progress(pair->b.conn);
		deliver(&pair->a, &held, work_bit(O2_WORK_INV) | work_bit(O2_WORK_MESSAGE));
	}
	view = view_of(&pair->a);
	assert_int_equal(view.flow.in_flight, 2);
	assert_int_equal(view.send_wrs, 2 + 2 * 2);
	assert_true(view.send_wrs <= view.send_wrs_max);
	while (held.count > 0)
		release(&pair->a, &held);
	quiet(pair);
	assert_int_equal(pair->a.nresults, 4);
	pair_close_settled(pair);
}

static int pick_nobody(void *arg, const uint32_t *qp_nums, unsigned int count)
{
	return -1;
}

/*
 * The queue pair fails while the maximum of WRITEs is posted and none was executed.  Each request completes,
 * also unsignalled ones and receives, and the completion queue must hold all completions.
 */
TEST(flushes_full_queues)
{
	static struct o2_kiov kiov[8];
	struct o2_conn_config config = O2_CONN_DEFAULTS;
	struct o2_transfer_memory pieces = gapped(kiov, 0, 8, 100, O2_REG_GLOBAL);
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
	struct o2_loop_counters before, after;
	struct held held = {.count = 0};
	struct o2_conn_view view;
	struct pair *pair;
	struct ibv_wc wc;
	uint32_t count = 0;

	config.queue_depth = 2;
	config.max_frags = 8;
	config.wrq_sge = 1;
	pair = pair_open(&config, &config);
	pair->b.answer = talk_memory(1, 800, O2_REG_FMR);
	for (int i = 0; i < 2; i++)
		assert_int_equal(start_put(pair->a.conn, &pieces, 0, NULL, NULL), 0);
	deliver(&pair->b, NULL, 0);
	deliver(&pair->a, &held, work_bit(O2_WORK_RECV));
	o2_loop_set_pick(pick_nobody, NULL);
	while (held.count > 0)
		release(&pair->a, &held);
	view = view_of(&pair->a);
	assert_int_equal(view.send_wrs, 2 * 9);
	o2_loop_get_counters(&before);
	assert_int_equal(ibv_modify_qp(pair->a.conn->qp, &attr, IBV_QP_STATE), 0);
	o2_loop_get_counters(&after);
	assert_true(after.overruns == before.overruns);
	while (ibv_poll_cq(pair->a.conn->cq, 1, &wc) == 1) {
		assert_int_equal(wc.status, IBV_WC_WR_FLUSH_ERR);
		count++;
	}
	o2_loop_set_pick(NULL, NULL);
	assert_int_equal(count, view.send_wrs + view.recv_wrs);
	assert_true(count <= view.cq_entries);
	pair_close(pair);
}
