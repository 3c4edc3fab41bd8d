/* SPDX-License-Identifier: MIT */
#include "loopverbs/loopverbs.h"
#include "tests/unit/lnd/lnd_talks.h"
#include "wire/layout.h"

/* Conversations about work requests: their order, their number, and the bytes that they send. */

static struct {
	uint32_t qp_num;
	char order[8]; /* r: a receive, s: anything else */
	uint32_t count;
} calls;

static int note_call(void *arg, enum o2_loop_call call, uint32_t qp_num)
{
	if (qp_num != calls.qp_num || calls.count + 1 >= sizeof(calls.order))
		return 0;
	if (call == O2_LOOP_CALL_POST_RECV)
		calls.order[calls.count++] = 'r';
	else if (call == O2_LOOP_CALL_POST_SEND)
		calls.order[calls.count++] = 's';
	return 0;
}

/* A receive is posted before the message that returns its credit. */
TEST(posts_before_it_gives)
{
	struct pair *pair = pair_of(O2_MSG_VERSION_2, 2);

	send_text(&pair->a, 10);
	memset(&calls, 0, sizeof(calls));
	calls.qp_num = pair->b.conn->qp->qp_num;
	o2_loop_set_fault(note_call, NULL);
	deliver(&pair->b, NULL, 0);
	o2_loop_set_fault(NULL, NULL);
	assert_string_equal(calls.order, "rs");
	quiet(pair);
	pair_close_settled(pair);
}

/* The tunables allow 32 sends, but a queue depth of 4 allows only two for each credit. */
TEST(sends_what_its_depth_allows)
{
	struct o2_conn_config config = O2_CONN_DEFAULTS;
	struct pair *pair;

	config.queue_depth = 4;
	config.peer_tx_credits = 16;
	config.concurrent_sends = 32;
	pair = pair_open(&config, &config);
	assert_int_equal(view_of(&pair->a).flow.concurrent_sends, 8);
	pair_close(pair);
}

/* With version 1 and a depth of 8, credits are returned when seven are owed, not when six are. */
TEST(returns_seven_in_version_1)
{
	struct pair *pair = pair_of(O2_MSG_VERSION_1, 8);

	for (uint32_t i = 0; i < 7; i++) {
		assert_int_equal(view_of(&pair->b).flow.noops_sent, 0);
		send_text(&pair->a, 10);
		deliver(&pair->b, NULL, 0);
	}
	assert_int_equal(view_of(&pair->b).flow.noops_sent, 1);
	quiet(pair);
	pair_close_settled(pair);
}

/* A message can return 254 credits at once, in its one-byte field. */
TEST(returns_254_at_once)
{
	struct o2_conn_config config = O2_CONN_DEFAULTS;
	struct pair *pair;

	config.queue_depth = 255;
	config.peercredits_hiw = 254;
	config.max_frags = 8;
	pair = pair_open(&config, &config);
	for (uint32_t i = 0; i < 254; i++)
		send_text(&pair->a, 10);
	assert_int_equal(view_of(&pair->a).flow.credits, 1);
	deliver(&pair->b, NULL, 0);
	assert_int_equal(view_of(&pair->b).flow.noops_sent, 1);
	assert_int_equal(view_of(&pair->b).flow.credits_sent, 254);
	quiet(pair);
	assert_int_equal(view_of(&pair->a).flow.credits, 255);
	pair_close_settled(pair);
}

/* The LNet header names LNet's own process id at both ends. */
TEST(says_whom_it_is_for)
{
	struct pair *pair = pair_default();
	struct o2_lnet_hdr hdr = o2_conn_lnet_hdr(pair->a.conn, O2_LNET_GET, 7, 300);

	assert_int_equal(hdr.dest_nid, NID_B);
	assert_int_equal(hdr.src_nid, NID_A);
	assert_int_equal(hdr.dest_pid, 12345);
	assert_int_equal(hdr.src_pid, 12345);
	assert_int_equal(hdr.msg.get.match_bits, 7);
	assert_int_equal(hdr.msg.get.sink_length, 300);
	pair_close(pair);
}

/* A NOOP has a checksum if checksums are enabled. */
TEST(sums_each_message)
{
	struct o2_conn_config config = O2_CONN_DEFAULTS;
	struct held held = {.count = 0};
	struct pair *pair;
	const uint8_t *noop;

	config.queue_depth = 2;
	config.cksum_flavour = O2_CKSUM_UNSIGNED;
	pair = pair_open(&config, &config);
	send_text(&pair->a, 10);
	deliver(&pair->b, NULL, 0);
	deliver(&pair->a, &held, work_bit(O2_WORK_RECV));
	assert_int_equal(held.count, 1);
	noop = o2_rx_bytes(pair->a.conn, O2_RX_OF(held.wc[0].wr_id));
	assert_int_equal(noop[O2_AT_TYPE], O2_MSG_NOOP);
	assert_true((noop[O2_AT_CKSUM] | noop[O2_AT_CKSUM + 1] | noop[O2_AT_CKSUM + 2] |
		     noop[O2_AT_CKSUM + 3]) != 0);
	release(&pair->a, &held);
	quiet(pair);
	pair_close_settled(pair);
}
