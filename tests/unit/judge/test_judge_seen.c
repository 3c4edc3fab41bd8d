/* SPDX-License-Identifier: MIT */
/* Connections that are only partly captured: the judge reports less, but nothing wrong. */
#include "base/monotonic.h"
#include "base/stream.h"
#include "tests/lib/judge_say.h"
#include "tests/lib/unit_test.h"

#define A O2_JUDGE_A
#define B O2_JUDGE_B

static const struct say_sink sink = {0x77, 0x10000, 2, 4096};

/* Answers and WRITEs whose requests were not seen. */
static void say_ends(struct say *say)
{
	say_write(say, A, sink.rkey, sink.addr, 4096);
	say_done(say, A, O2_MSG_PUT_DONE, 6, 8192, 0);
	say_put_ack(say, B, 7, 8, &sink, 0);
	say_done(say, B, O2_MSG_PUT_NAK, 9, 0, 0);
	say_done(say, B, O2_MSG_GET_DONE, 10, 0, 0);
	say_immediate(say, B, O2_LNET_ACK, 11, 5, 0);
	say_immediate(say, B, O2_LNET_REPLY, 12, 5, 0);
}

SAY_TEST(test_what_came_before_is_not_judged)
{
	say_meet(say, O2_JUDGE_LATER);
	say_ends(say);
	assert_int_equal(say_findings(say), 0);
	assert_int_equal(o2_judge_view(say->conn).seen, O2_JUDGE_LATER);
	/* Transfers that start from here on are judged. */
	say_get_req(say, A, 1, &sink, 0);
	say_done(say, B, O2_MSG_GET_DONE, 1, 1, 0);
	assert_int_equal(say->times[O2_JUDGE_TRANSFER_BYTES], 1);
	assert_int_equal(say_findings(say), 1);
}

SAY_TEST(test_what_was_lost_is_not_judged)
{
	say_connected(say);
	say_put_req(say, A, 1, 8192, 0);
	say_get_req(say, A, 2, &sink, 0);
	say_lose(say, B);
	assert_int_equal(say->times[O2_JUDGE_TRANSPORT_LOST], 1);
	assert_int_equal(o2_judge_view(say->conn).open[A], 0);
	say_ends(say);
	/* The answers may be among the lost messages. */
	say_put_req(say, A, 1, 8192, 0);
	say_later(say, 60000);
	say_done(say, B, O2_MSG_PUT_NAK, 1, 0, 0);
	assert_int_equal(say->times[O2_JUDGE_TRANSFER_UNANSWERED], 1);
	assert_int_equal(say_findings(say), 1);
}

/* A lies about B before B sends anything.  B's own messages decide who B is, and A's next lie is found. */
TEST(test_a_side_is_who_it_says)
{
	for (int field = 0; field < 3; field++) {
		struct o2_msg msg = say_header(A, O2_MSG_NOOP, 0);
		struct say say;

		say_open(&say, NULL);
		say_meet(&say, O2_JUDGE_LATER);
		msg.ibm_dstnid += field == 0;
		msg.ibm_dststamp += field == 1;
		msg.ibm_version -= field == 2;
		for (int again = 0; again < 2; again++) {
			say_msg(&say, A, &msg);
			say_later(&say, 2000);
			say_noop(&say, B, 0);
			say_later(&say, 2000);
			assert_int_equal(say_findings(&say), again == 1 && field != 2);
		}
		assert_int_equal(say.times[O2_JUDGE_MESSAGE_NIDS], field == 0);
		assert_int_equal(say.times[O2_JUDGE_MESSAGE_STAMPS], field == 1);
		/* The version of the connection is known when both sides have used it. */
		say_noop(&say, A, 0);
		say_msg(&say, A, &msg);
		assert_int_equal(say.times[O2_JUDGE_MESSAGE_VERSION], field == 2);
		say_close(&say);
	}
}

/* A message on the side's queue pair after both nodes have restarted, with new stamps. */
static void say_reborn(struct say *say, enum o2_judge_side from, uint8_t credits)
{
	struct o2_msg msg = say_header(from, O2_MSG_NOOP, credits);

	msg.ibm_srcstamp += 1000;
	msg.ibm_dststamp += 1000;
	say_later(say, 2000);
	say_msg(say, from, &msg);
}

/* A lost handshake: the same queue pairs belong to a new connection, and both sides' stamps show it. */
SAY_TEST(test_another_life)
{
	say_connected(say);
	say_event(say, (struct o2_judge_event){.kind = O2_JUDGE_DISCONNECT, .from = A});
	say_lose(say, A);
	say_reborn(say, A, SAY_DEPTH + 1);
	say_reborn(say, A, SAY_DEPTH + 1);
	say_lose(say, B);
	say_reborn(say, B, SAY_DEPTH + 1);
	assert_int_equal(say_findings(say), 0);
	assert_int_equal(o2_judge_view(say->conn).queue_depth, 0);
	/* A message of the first connection is wrong now. */
	say_noop(say, B, 0);
	assert_int_equal(say->times[O2_JUDGE_MESSAGE_STAMPS], 2);
	assert_int_equal(say_findings(say), 2);
}

/* If only one side is seen, two messages with the new stamps are needed. */
SAY_TEST(test_another_life_of_one_way)
{
	say_meet(say, O2_JUDGE_ONE_WAY);
	say_noop(say, A, 0);
	say_lose(say, A);
	for (int i = 0; i < 3; i++)
		say_reborn(say, A, 0);
	assert_int_equal(say_findings(say), 0);
	say_noop(say, A, 0);
	assert_int_equal(say->times[O2_JUDGE_MESSAGE_STAMPS], 2);
	assert_int_equal(say_findings(say), 2);
}

/* If only one side uses new stamps, they are wrong; the judge reports them once the other side uses the old ones. */
SAY_TEST(test_no_other_life)
{
	say_connected(say);
	say_lose(say, A);
	say_reborn(say, A, 0);
	say_reborn(say, A, 0);
	say_noop(say, B, 0);
	assert_int_equal(say_findings(say), 0);
	say_reborn(say, A, 0);
	assert_int_equal(say->times[O2_JUDGE_MESSAGE_STAMPS], 2);
	assert_int_equal(say_findings(say), 2);
}

/* Even with unknown credits, a side cannot use or return more of them than the queue depth. */
TEST(test_credits_are_bounds)
{
	struct say say;

	for (int broken = 0; broken < 2; broken++) {
		say_open(&say, NULL);
		say_connected(&say);
		say_lose(&say, A);
		for (uint32_t i = 0; i < SAY_DEPTH + (uint32_t)broken; i++)
			say_immediate(&say, A, O2_LNET_PUT, 0, 1, 0);
		assert_int_equal(say.times[O2_JUDGE_CREDITS_NONE], broken);
		assert_int_equal(say_findings(&say), broken);
		say_close(&say);

		say_open(&say, NULL);
		say_connected(&say);
		say_lose(&say, A);
		/* The message returns all the credits that the peer can have used before. */
		say_immediate(&say, B, O2_LNET_PUT, 0, 1, SAY_DEPTH);
		say_immediate(&say, A, O2_LNET_PUT, 0, 1, 0);
		say_immediate(&say, B, O2_LNET_PUT, 0, 1, (uint8_t)(1 + broken));
		assert_int_equal(say.times[O2_JUDGE_CREDITS_OVER_OWED], broken);
		assert_int_equal(say_findings(&say), broken);
		say_close(&say);
	}
}

/* If only one direction is seen, each message is judged by itself, and no answer is reported as missing. */
SAY_TEST(test_one_way)
{
	struct o2_msg msg;

	say_meet(say, O2_JUDGE_ONE_WAY);
	for (uint32_t i = 0; i < 1000; i++) {
		say_get_req(say, A, i % 3, &sink, 0);
		say_write(say, A, 0x55, 0, 100);
		say_later(say, 10000);
	}
	assert_int_equal(say_findings(say), 0);
	msg = say_header(A, O2_MSG_NOOP, 0);
	msg.ibm_srcstamp++;
	say_msg(say, A, &msg);
	assert_int_equal(say->times[O2_JUDGE_MESSAGE_STAMPS], 1);
	/* From here on the other side is seen, and answers. */
	o2_judge_both_ways(say->conn);
	say_get_req(say, A, 7, &sink, 0);
	say_done(say, B, O2_MSG_GET_DONE, 7, 1, 0);
	assert_int_equal(say->times[O2_JUDGE_TRANSFER_BYTES], 1);
}

/* A capture at one end does not show the peer's WRITEs, so the number of bytes written is unknown. */
TEST(test_writes_of_one_side)
{
	struct say say;

	for (int side = 0; side < O2_JUDGE_SIDES; side++) {
		say_open(&say, NULL);
		say_connected(&say);
		o2_judge_writes_unseen(say.conn, (enum o2_judge_side)side);
		say_get_req(&say, A, 1, &sink, 0);
		say_done(&say, B, O2_MSG_GET_DONE, 1, 8192, 1);
		assert_int_equal(say.times[O2_JUDGE_TRANSFER_BYTES], side == A);
		/* But a status above the size of the sink is wrong. */
		say_get_req(&say, A, 2, &sink, 0);
		say_done(&say, B, O2_MSG_GET_DONE, 2, 8193, 0);
		assert_int_equal(say.times[O2_JUDGE_TRANSFER_STATUS], side == B);
		assert_int_equal(say_findings(&say), side == A ? 2 : 1);
		say_close(&say);
	}
}

/* More transfers than the judge follows: it forgets those of the connection, and reports nothing wrong. */
TEST(test_many_transfers)
{
	struct say say;

	say_open(&say, NULL);
	say_meet(&say, O2_JUDGE_LATER);
	for (uint32_t i = 0; i < 10 * O2_JUDGE_SIDE_TRANSFERS_MAX; i++) {
		const uint32_t before = o2_judge_view(say.conn).open[A];

		say_get_req(&say, A, i, &(struct say_sink){i, 0x10000, 1, 4096}, 1);
		say_noop(&say, B, 1);
		assert_true(o2_judge_view(say.conn).open[A] <= O2_JUDGE_SIDE_TRANSFERS_MAX);
		assert_int_equal(o2_judge_view(say.conn).open[A],
				 before == O2_JUDGE_SIDE_TRANSFERS_MAX ? 0 : before + 1);
	}
	say_close(&say);

	say_open(&say, NULL);
	for (uint32_t i = 0; i < O2_JUDGE_TRANSFERS_MAX + 100; i++) {
		if (i % 100 == 0)
			say_connected(&say);
		say_get_req(&say, B, i, &(struct say_sink){i, 0x10000, 1, 4096}, 0);
		say_noop(&say, A, 1);
	}
	assert_int_equal(say.times[O2_JUDGE_TRANSFER_BYTES], 0);
	say_close(&say);
}

/* One cause gives one finding: after it, the accounting of credits starts anew. */
SAY_TEST(test_one_finding_for_a_cause)
{
	say_connected(say);
	for (uint32_t i = 0; i < SAY_DEPTH + 3; i++)
		say_immediate(say, A, O2_LNET_PUT, 0, 1, 0);
	assert_int_equal(say->times[O2_JUDGE_CREDITS_NONE], 1);
	assert_int_equal(say->last[O2_JUDGE_CREDITS_NONE].number, 2 + SAY_DEPTH + 1);
	assert_int_equal(say->last[O2_JUDGE_CREDITS_NONE].who, A);
}

/* If more findings wait for a proof than can, notes give way to what must hold. */
TEST(test_notes_that_wait_hide_nothing)
{
	const struct o2_judge_options options = {50000, 1000, true, 1};
	struct say say;

	say_open(&say, &options);
	say_connected(&say);
	say_put_req(&say, B, 1, sink.count * sink.bytes, 0);
	for (uint64_t cookie = 1; cookie <= SAY_DEPTH; cookie++)
		say_get_req(&say, A, cookie, &sink, 0);
	say_put_ack(&say, A, 1, 99, &sink, 0);
	say_immediate(&say, A, O2_LNET_PUT, 0, 1, 0);
	say_noop(&say, B, 4);
	assert_int_equal(say.times[O2_JUDGE_CREDITS_NONE], 1);
	assert_false(say.last[O2_JUDGE_CREDITS_NONE].unproven);
	assert_int_equal(say.times[O2_JUDGE_KEY_IN_USE], 7);
	say_close(&say);
}

/* A finding names the event that it refers to, and the allowed value. */
SAY_TEST(test_a_finding)
{
	struct o2_judge_finding found;

	say_connected(say);
	say_get_req(say, A, 1, &sink, 0);
	say_write(say, B, sink.rkey, sink.addr, 4096);
	say_done(say, B, O2_MSG_GET_DONE, 1, 8192, 0);
	found = say->last[O2_JUDGE_TRANSFER_BYTES];
	assert_int_equal(found.who, B);
	assert_int_equal(found.number, 5);
	assert_int_equal(found.earlier, 3);
	assert_int_equal(found.error.value, 4096);
	assert_int_equal(found.error.limit, 8192);
	assert_string_equal(found.error.rule, "transfer/bytes-written");
	assert_ptr_equal(found.conn, say->conn);
}

/* A finding restarts the accounting of credits, but the connection still counts as completely seen. */
SAY_TEST(test_a_finding_about_credits_unsees_nothing)
{
	say_connected(say);
	say_noop(say, B, 1);
	assert_int_equal(say->times[O2_JUDGE_CREDITS_OVER_OWED], 1);
	assert_int_equal(o2_judge_view(say->conn).seen, O2_JUDGE_WHOLE);
	/* So an answer without a request is still a finding. */
	say_done(say, B, O2_MSG_GET_DONE, 10, 0, 0);
	assert_int_equal(say->times[O2_JUDGE_TRANSFER_UNASKED], 1);
	say_lose(say, A);
	assert_int_equal(o2_judge_view(say->conn).seen, O2_JUDGE_LATER);
}

/* A stale reject is about the incarnation that the request names, or, if that is 0 or current, the requester. */
SAY_TEST(test_what_a_stale_reject_is_about)
{
	struct o2_msg request = say_request_of(SAY_DEPTH, SAY_FRAGS);
	const struct o2_error *error;

	error = &say->last[O2_JUDGE_CONNECT_REFUSED].error;
	for (uint64_t named = 0; named < 3; named++) {
		const uint64_t lives[] = {0, say_header(B, O2_MSG_NOOP, 0).ibm_srcstamp, 99};

		request.ibm_dststamp = lives[named];
		say_meet(say, O2_JUDGE_WHOLE);
		say_request(say, &request);
		say_reject(say, O2_REJECT_CONN_STALE, 0, 0);
		assert_int_equal(say->times[O2_JUDGE_CONNECT_REFUSED], named + 1);
		assert_string_equal(error->field, named == 2 ? "ibm_dststamp" : "ibr_why");
		assert_int_equal(error->value, named == 2 ? 99 : O2_REJECT_CONN_STALE);
	}
}

/* If a PUT arrives between a GET and its REPLY, the REPLY may have the bytes from before or after the PUT. */
TEST(test_a_put_between_a_get_and_its_reply)
{
	for (uint32_t i = 0; i < 4; i++) {
		const uint64_t asked = 1 + i / 2;
		const bool between = i % 2 != 0;
		struct o2_msg reply = say_header(B, O2_MSG_IMMEDIATE, 0);
		uint8_t bytes[64] = {0};
		struct say say;

		say_open(&say, NULL);
		say_connected(&say);
		say_immediate(&say, A, O2_LNET_GET, 1, sizeof(bytes), 0);
		say_immediate(&say, A, O2_LNET_GET, 2, sizeof(bytes), 0);
		if (between)
			say_immediate(&say, A, O2_LNET_PUT, 3, sizeof(bytes), 0);
		/* The second half is wrong. */
		o2_stream_fill(bytes, sizeof(bytes) / 2, 1, O2_STREAM_MEMORY, 0);
		reply.u.immediate.hdr.type = O2_LNET_REPLY;
		reply.u.immediate.hdr.payload_length = sizeof(bytes);
		reply.u.immediate.hdr.msg.reply.dst_wmd = (struct o2_lnet_handle){1, asked};
		reply.u.immediate.payload = bytes;
		say_msg(&say, B, &reply);
		assert_int_equal(say_findings(&say), !between);
		assert_int_equal(say.times[O2_JUDGE_PAYLOAD_GET], !between);
		say_close(&say);
	}
}

/* A clock that is set back: later events are as far apart as their times say, and rules about time still apply. */
TEST(test_a_clock_that_is_set_back)
{
	const uint64_t hour_ns = 3600 * O2_NS_PER_S;

	for (int broken = 0; broken < 2; broken++) {
		struct say say;

		say_open(&say, NULL);
		say.now_ns = 2 * hour_ns;
		say_connected(&say);
		say_get_req(&say, A, 1, &sink, 0);
		say_later(&say, 1000);
		say.now_ns -= hour_ns;
		for (uint32_t i = 0; i < 17; i++) {
			say_noop(&say, A, 0);
			say_later(&say, broken ? 50 : 1000);
		}
		assert_int_equal(say.times[O2_JUDGE_CREDITS_NOOP_STORM], broken);
		assert_int_equal(say.times[O2_JUDGE_CREDITS_NOOP_UNCALLED], broken ? 16 : 0);
		assert_int_equal(say.last[O2_JUDGE_CREDITS_NOOP_UNCALLED].time_ns,
				 broken ? hour_ns + O2_NS_PER_S + 16 * 50 * O2_NS_PER_MS : 0);
		say_later(&say, 60000);
		say_noop(&say, B, 1);
		assert_int_equal(say.times[O2_JUDGE_TRANSFER_UNANSWERED], 1);
		say_close(&say);
	}
}

/* The time hidden by setting a clock back is unknown, so NOOPs before and after it do not share a second. */
SAY_TEST(test_noops_before_and_after_the_clock_was_set_back)
{
	say->now_ns = 3600 * O2_NS_PER_S;
	say_connected(say);
	for (uint32_t i = 0; i < 2 * 16; i++) {
		if (i == 16)
			say->now_ns -= 1000 * O2_NS_PER_S;
		say_noop(say, A, 0);
	}
	assert_int_equal(say->times[O2_JUDGE_CREDITS_NOOP_STORM], 0);
	say_noop(say, A, 0);
	assert_int_equal(say->times[O2_JUDGE_CREDITS_NOOP_STORM], 1);
}

/* Events that are repeatedly recorded slightly out of order do not add up to time that has not passed. */
SAY_TEST(test_a_little_out_of_order)
{
	say_connected(say);
	say_get_req(say, A, 1, &sink, 0);
	for (uint32_t i = 0; i < 4000; i++) {
		say_later(say, 20);
		say_done(say, A, O2_MSG_PUT_DONE, 1, 0, 0);
		say->now_ns -= 20 * O2_NS_PER_MS;
		say_done(say, A, O2_MSG_PUT_DONE, 1, 0, 0);
	}
	assert_int_equal(say->times[O2_JUDGE_TRANSFER_UNANSWERED], 0);
}

static void count_told(void *context, const struct o2_judge_conn *conn, const struct o2_judge_event *event)
{
	(void)conn;
	assert_int_equal(event->kind, O2_JUDGE_WRITE);
	++*(uint32_t *)context;
}

/* A WRITE of three packets is one event, and its packets are not separate events. */
SAY_TEST(test_a_part_is_not_told)
{
	const uint8_t bytes[64] = {0};
	uint32_t told = 0;
	uint64_t heard;

	say_connected(say);
	heard = o2_judge_view(say->conn).heard;
	o2_judge_listen(say->judge, count_told, &told);
	for (uint32_t i = 0; i < 3; i++)
		say_event(say, (struct o2_judge_event){.kind = O2_JUDGE_PART,
						       .from = A,
						       .rkey = sink.rkey,
						       .addr = sink.addr + i * sizeof(bytes),
						       .payload = bytes,
						       .bytes = sizeof(bytes)});
	say_write(say, A, sink.rkey, sink.addr, 3 * sizeof(bytes));
	assert_int_equal(told, 1);
	assert_int_equal(o2_judge_view(say->conn).heard, heard + 1);
}

/* The GET_DONE may be missing: nothing of B after A's disconnect shows that it was not sent, unless B still sends. */
TEST(test_an_end_after_what_was_lost)
{
	const struct o2_judge_options options = {
		.timeout_ms = 50000, .keepalive_ms = 1000, .lossy = true, .seed = 1};

	for (int how = 0; how < 3; how++) {
		struct say say;

		say_open(&say, &options);
		say_connected(&say);
		say_get_req(&say, A, 1, &sink, 0);
		say_event(&say, (struct o2_judge_event){.kind = O2_JUDGE_DISCONNECT, .from = A});
		assert_int_equal(say.times[O2_JUDGE_END_OPEN], 0);
		if (how == 1)
			say_lose(&say, B);
		if (how != 0)
			say_immediate(&say, B, O2_LNET_PUT, 0, 1, 0);
		o2_judge_part(say.judge, say.conn);
		assert_int_equal(say.times[O2_JUDGE_END_OPEN], how != 1);
		assert_int_equal(say.last[O2_JUDGE_END_OPEN].unproven, how == 0);
		say_close(&say);
	}
}
