/* SPDX-License-Identifier: MIT */
#include "tests/unit/lnd/lnd_talks.h"
#include "wire/layout.h"

static uint8_t held_type(const struct side *side, const struct held *held, uint32_t index)
{
	return o2_rx_bytes(side->conn, O2_RX_OF(held->wc[index].wr_id))[O2_AT_TYPE];
}

/* Messages that wait for credits are sent before the answer to the request that returns the credits. */
TEST(spends_credits_before_it_answers)
{
	struct pair *pair = pair_of(O2_MSG_VERSION_2, 8);
	static struct o2_kiov kiov[2][8];
	struct o2_transfer_memory from = dense(kiov[0], 0, 9000, O2_REG_GLOBAL);
	struct held a = {.count = 0}, b = {.count = 0};

	pair->a.answer = dense(kiov[1], 300, 9000, O2_REG_GLOBAL);
	for (uint32_t i = 0; i < 9; i++)
		send_text(&pair->a, 10);
	assert_int_equal(view_of(&pair->a).queued, 1);
	deliver(&pair->b, &b, work_bit(O2_WORK_RECV));
	assert_int_equal(b.count, 8);
	/* Three owed credits are too few for a NOOP. */
	for (uint32_t i = 0; i < 3; i++)
		release(&pair->b, &b);
	deliver(&pair->a, &a, 0);
	assert_int_equal(start_put(pair->b.conn, &from, 0, NULL, NULL), 0);
	deliver(&pair->a, &a, 0);
	deliver(&pair->b, &b, work_bit(O2_WORK_RECV));
	assert_int_equal(b.count, 7);
	assert_int_equal(held_type(&pair->b, &b, 5), O2_MSG_IMMEDIATE);
	assert_int_equal(held_type(&pair->b, &b, 6), O2_MSG_PUT_ACK);
	while (b.count > 0)
		release(&pair->b, &b);
	quiet(pair);
	pair_close_settled(pair);
}

/* Operations in each list: one that times out names what it waited for. */
TEST(says_what_it_waited_for)
{
	static const enum o2_wait waits[] = {O2_WAIT_SEND_ROOM, O2_WAIT_RESERVATION, O2_WAIT_SEND_ROOM,
					     O2_WAIT_SEND, O2_WAIT_SEND};
	struct o2_conn_config config = O2_CONN_DEFAULTS;
	struct o2_transfer_memory memory = talk_memory(0, 9000, O2_REG_FASTREG);
	struct held held = {.count = 0};
	struct pair *pair;

	config.queue_depth = 2;
	pair = pair_open(&config, &config);
	assert_int_equal(start_get(pair->a.conn, &memory, 0, NULL, NULL), 0);
	assert_int_equal(start_get(pair->a.conn, &memory, 0, NULL, NULL), 0);
	assert_int_equal(start_get(pair->a.conn, &memory, 0, NULL, NULL), 0);
	send_text(&pair->a, 5);
	send_plain(&pair->b, O2_MSG_GET_REQ, 0);
	deliver(&pair->a, &held, work_bit(O2_WORK_MESSAGE));
	o2_conn_clock(pair->a.conn, 50125);
	assert_closed(&pair->a, O2_FAULT_DEADLINE, -ETIMEDOUT);
	/* The sends without a completion are the cause: the queues wait because of them. */
	assert_int_equal(o2_conn_get_fault(pair->a.conn)->wait, O2_WAIT_SEND);
	assert_int_equal(pair->a.nresults, 5);
	for (int i = 0; i < 5; i++)
		assert_late(&pair->a.result[i], waits[i], 50125);
	pair_close(pair);
}

/* A request that was delivered and not answered; and a queue that waits for a credit. */
TEST(says_which_answer)
{
	struct o2_conn_config config = O2_CONN_DEFAULTS;
	struct o2_transfer_memory memory = talk_memory(0, 9000, O2_REG_FASTREG);
	uint32_t late[O2_WAITS] = {0};
	struct pair *pair;

	config.queue_depth = 2;
	pair = pair_open(&config, &config);
	pair->a.answer = talk_memory(1, 9000, O2_REG_FASTREG);
	assert_int_equal(start_get(pair->a.conn, &memory, 0, NULL, NULL), 0);
	deliver(&pair->a, NULL, 0);
	/* The peer's PUT is acknowledged here, and its bytes never arrive. */
	assert_int_equal(start_put(pair->b.conn, &memory, 0, NULL, NULL), 0);
	deliver(&pair->a, NULL, 0);
	send_text(&pair->a, 5);
	send_text(&pair->a, 5);
	deliver(&pair->a, NULL, 0);
	assert_int_equal(view_of(&pair->a).flow.in_flight, 0);
	o2_conn_clock(pair->a.conn, 50000);
	assert_closed(&pair->a, O2_FAULT_DEADLINE, -ETIMEDOUT);
	assert_int_equal(pair->a.nresults, 4);
	for (uint32_t i = 0; i < 4; i++) {
		const struct o2_transfer_result *result = &pair->a.result[i];

		if (result->status == 0)
			continue;
		assert_true(result->fault.wait < O2_WAITS);
		late[result->fault.wait]++;
		assert_late(result, result->fault.wait, 50000);
		if (result->op != O2_OP_SEND)
			assert_int_equal(result->fault.wait,
					 result->op == O2_OP_GET ? O2_WAIT_GET_DONE : O2_WAIT_PUT_DONE);
	}
	assert_true(late[O2_WAIT_GET_DONE] == 1 && late[O2_WAIT_PUT_DONE] == 1 && late[O2_WAIT_CREDIT] == 1);
	pair_close(pair);
}

/* A NOOP belongs to no operation, and has a deadline of its own. */
TEST(noop_is_late)
{
	static const uint16_t versions[] = {O2_MSG_VERSION_1, O2_MSG_VERSION_2};

	for (int i = 0; i < 2; i++) {
		struct pair *pair = pair_of(versions[i], 8);
		struct held held = {.count = 0};

		for (uint32_t k = 0; k < 7; k++)
			send_text(&pair->b, 10);
		deliver(&pair->a, &held, work_bit(O2_WORK_MESSAGE));
		assert_true(view_of(&pair->a).flow.noops_in_flight > 0);
		o2_conn_clock(pair->a.conn, 49999);
		assert_int_equal(o2_conn_get_state(pair->a.conn), O2_CONN_ESTABLISHED);
		o2_conn_clock(pair->a.conn, 50000);
		assert_closed(&pair->a, O2_FAULT_DEADLINE, -ETIMEDOUT);
		assert_int_equal(o2_conn_get_fault(pair->a.conn)->wait, O2_WAIT_SEND);
		assert_int_equal(pair->a.nresults, 0);
		pair_close(pair);
	}
}

/* b sends keep-alives at this interval, and a is told the time in such steps. */
static void keep_alive(uint32_t keepalive_ms, uint32_t step_ms)
{
	struct o2_conn_config a = O2_CONN_DEFAULTS, b = O2_CONN_DEFAULTS;
	struct pair *pair;

	a.keepalive_ms = 0;
	b.keepalive_ms = keepalive_ms;
	pair = pair_open(&a, &b);
	o2_conn_clock(pair->a.conn, 1);
	o2_conn_clock(pair->a.conn, 1 + step_ms);
	for (uint64_t ms = 1; ms < 3 * (uint64_t)(step_ms + 1000); ms++) {
		o2_conn_clock(pair->b.conn, ms);
		if (ms % step_ms == 0)
			o2_conn_clock(pair->a.conn, 1 + step_ms + ms);
		quiet(pair);
		assert_int_equal(o2_conn_get_state(pair->a.conn), O2_CONN_ESTABLISHED);
	}
	assert_true(view_of(&pair->a).flow.noops_received > 3 * (step_ms + 1000) / (keepalive_ms + 1) - 2);
	pair_close(pair);
}

/* Keep-alives are no storm, however rarely the time is told. */
TEST(takes_keep_alives)
{
	keep_alive(62, 1);
	keep_alive(62, 250);
	keep_alive(62, 260);
	keep_alive(62, 333);
	keep_alive(500, 12500);
}

/* A storm may take as many more NOOPs as a step of the clock has seconds. */
TEST(refuses_a_storm_between_steps)
{
	static const struct {
		uint32_t step_ms, most;
	} rows[] = {{1, 16}, {250, 16}, {1000, 16}, {1001, 17}, {12500, 200}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct pair *pair = pair_default();

		o2_conn_clock(pair->a.conn, 1);
		o2_conn_clock(pair->a.conn, 1 + 12500);
		o2_conn_clock(pair->a.conn, 1 + 12500 + rows[i].step_ms);
		for (uint32_t noops = 0; noops <= rows[i].most; noops++) {
			assert_int_equal(o2_conn_get_state(pair->a.conn), O2_CONN_ESTABLISHED);
			send_plain(&pair->b, O2_MSG_NOOP, 0);
			quiet(pair);
		}
		assert_refused(&pair->a, "conn/noop-storm");
		pair_close(pair);
	}
}
