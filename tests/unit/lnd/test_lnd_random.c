/* SPDX-License-Identifier: MIT */
#include "loopverbs/loopverbs.h"
#include "tests/lib/draw.h"
#include "tests/lib/lnd_talk.h"

/*
 * Random conversations: operations of all kinds on both sides; completions are delivered in any order that a
 * queue pair may produce, and the device serves its queue pairs in random order.  After every event the
 * credits balance, and no queue holds more than it was created for; at the end everything has ended once,
 * successfully.
 *
 *   test_lnd_random [SEED [CONVERSATIONS]]
 */

#define STEPS 300u

/* Completions of one side that were polled but not yet delivered, in order. */
struct queue {
	struct held sends, receives;
};

struct talk {
	struct pair *pair;
	struct queue queue[2];
	uint32_t started[2];
	struct o2_kiov kiov[4][4];
	uint64_t now_ms;
};

static struct side *side_of(struct talk *talk, int end)
{
	return end == 0 ? &talk->pair->a : &talk->pair->b;
}

static void check_direction(const struct side *from, const struct side *to)
{
	struct o2_conn_view a = view_of(from), b = view_of(to);
	uint64_t unhandled = a.flow.messages_sent - b.flow.messages_handled;
	uint64_t returning = b.flow.credits_sent - a.flow.credits_received;

	assert_int_equal(a.flow.credits + unhandled + b.puts_accepted + b.flow.outstanding + returning,
			 a.flow.queue_depth);
	assert_int_equal(a.flow.reserved + a.waiting, a.flow.queue_depth);
	assert_true(a.flow.in_flight <= a.flow.concurrent_sends);
	assert_true(a.flow.noops_in_flight <=
		    (a.flow.version == O2_MSG_VERSION_1 ? a.flow.concurrent_sends : 2));
	assert_true(a.send_wrs <= a.send_wrs_max);
	assert_true(a.recv_wrs <= a.recv_wrs_max);
	assert_true(a.send_wrs_max + a.recv_wrs_max <= a.cq_entries);
	assert_true(a.flow.peer_requests <= a.flow.queue_depth);
}

static void check(struct talk *talk)
{
	assert_int_equal(o2_conn_get_state(talk->pair->a.conn), O2_CONN_ESTABLISHED);
	assert_int_equal(o2_conn_get_state(talk->pair->b.conn), O2_CONN_ESTABLISHED);
	check_direction(&talk->pair->a, &talk->pair->b);
	check_direction(&talk->pair->b, &talk->pair->a);
}

static void start(struct talk *talk, int end)
{
	struct side *side = side_of(talk, end);
	struct o2_transfer_memory memory =
		dense(talk->kiov[end], 10u * (uint32_t)end, 1 + draw(9000), (enum o2_reg_mode)draw(3));
	uint32_t kind = draw(4);
	int rc = 0;

	if (view_of(side).open > 40)
		return;
	if (kind == 0)
		rc = start_put(side->conn, &memory, 0, NULL, NULL);
	else if (kind == 1)
		rc = start_get(side->conn, &memory, 0, NULL, NULL);
	else
		send_text(side, draw(O2_IMMEDIATE_MAX + 1));
	assert_int_equal(rc, 0);
	talk->started[end]++;
}

static void poll_some(struct side *side, struct queue *queue)
{
	struct ibv_wc wc;

	while (queue->sends.count < 200 && queue->receives.count < 200 &&
	       ibv_poll_cq(side->conn->cq, 1, &wc) == 1) {
		struct held *held =
			O2_WR_ID_WORK(wc.wr_id) == O2_WORK_RECV ? &queue->receives : &queue->sends;

		assert_int_equal(wc.status, IBV_WC_SUCCESS);
		held->wc[held->count++] = wc;
	}
}

/* Delivers receives in their order, sends in theirs, and mixes the two at random. */
static void hand_over(struct talk *talk, int end)
{
	struct side *side = side_of(talk, end);
	struct queue *queue = &talk->queue[end];
	bool sends_first = draw(2) == 0;

	poll_some(side, queue);
	if (queue->sends.count > 0 && (sends_first || queue->receives.count == 0))
		release(side, &queue->sends);
	else if (queue->receives.count > 0)
		release(side, &queue->receives);
}

/* Answers a match: with the bytes offered, with one byte, with none, or with no match. */
static int random_match(void *context, const struct o2_msg *request, uint64_t sink_bytes,
			struct o2_transfer_memory *memory)
{
	struct side *side = context;
	static struct o2_kiov kiov[2][4];
	bool put = request->ibm_type == O2_MSG_PUT_REQ;
	uint64_t offered = put ? request->u.putreq.hdr.payload_length : sink_bytes;
	uint32_t kind = draw(8);

	side->nmatched++;
	if (kind == 0) {
		side->nmatched--;
		return -ENODATA;
	}
	*memory = dense(kiov[put], 500u + 10u * put, kind == 1 ? 1 : offered, (enum o2_reg_mode)draw(3));
	if (kind == 2)
		memory->buffer.nob = 0;
	return 0;
}

static void random_done(void *context, const struct o2_transfer_result *result)
{
	struct side *side = context;

	side->nresults++;
	if (result->status != 0)
		assert_int_equal(result->status, -ENODATA);
}

static int random_pick(void *context, const uint32_t *qp_nums, unsigned int count)
{
	return (int)draw(count + 1) - 1;
}

static void finish(struct talk *talk)
{
	uint32_t idle = 0;

	for (uint32_t steps = 0; idle < QUIET_ROUNDS; steps++) {
		bool any = false;

		for (int end = 0; end < 2; end++) {
			poll_some(side_of(talk, end), &talk->queue[end]);
			any = any || talk->queue[end].sends.count > 0 || talk->queue[end].receives.count > 0;
			hand_over(talk, end);
		}
		o2_loop_progress();
		check(talk);
		idle = any ? 0 : idle + 1;
		assert_true(steps < 100000);
	}
}

static void converse(uint64_t seed)
{
	struct talk *talk = calloc(1, sizeof(*talk));
	struct o2_conn_config config = O2_CONN_DEFAULTS;
	struct o2_loop_counters before, after;

	assert_non_null(talk);
	o2_loop_get_counters(&before);
	draw_from(seed);
	config.version = draw(2) == 0 ? O2_MSG_VERSION_1 : O2_MSG_VERSION_2;
	config.queue_depth = 3 + draw(7);
	config.concurrent_sends = draw(2 * config.queue_depth + 1);
	config.peercredits_hiw = draw(config.queue_depth);
	config.max_frags = 3 + draw(4);
	config.max_transfers = 64;
	config.immediate_gather = draw(2) == 0;
	talk->pair = pair_open(&config, &config);
	for (int end = 0; end < 2; end++) {
		side_of(talk, end)->conn->ops.match = random_match;
		side_of(talk, end)->conn->ops.done = random_done;
	}
	o2_loop_set_pick(random_pick, NULL);
	for (uint32_t step = 0; step < STEPS; step++) {
		int end = (int)draw(2);

		if (draw(3) == 0)
			start(talk, end);
		else if (draw(20) == 0)
			o2_conn_clock(side_of(talk, end)->conn, talk->now_ms += 10);
		else
			hand_over(talk, end);
		check(talk);
	}
	o2_loop_set_pick(NULL, NULL);
	finish(talk);
	/* No send ever found the peer without a receive. */
	o2_loop_get_counters(&after);
	assert_true(after.rnr_waits == before.rnr_waits);
	assert_true(after.overruns == 0);
	assert_int_equal(talk->pair->a.nresults, talk->started[0] + talk->pair->a.nmatched);
	assert_int_equal(talk->pair->b.nresults, talk->started[1] + talk->pair->b.nmatched);
	assert_settled(talk->pair);
	pair_close(talk->pair);
	free(talk);
}

static uint64_t first_seed = 1, conversations = 150, seed_at_hand;

static int tell_seed(void **state)
{
	if (seed_at_hand != 0)
		print_message("again: test_lnd_random %llu 1\n", (unsigned long long)seed_at_hand);
	return 0;
}

TEST_WITH(converses_at_random, NULL, tell_seed)
{
	for (uint64_t i = 0; i < conversations; i++) {
		seed_at_hand = first_seed + i;
		converse(seed_at_hand);
	}
	seed_at_hand = 0;
}

int main(int argc, char **argv)
{
	tests_take_numbers(argc, argv, &first_seed, &conversations);
	return tests_run();
}
