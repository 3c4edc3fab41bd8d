/* SPDX-License-Identifier: MIT */
/* Conversations that look wrong, although the side that seems to be at fault kept to the protocol. */
#include "base/monotonic.h"
#include "tests/lib/judge_say.h"
#include "tests/lib/unit_test.h"

#define A O2_JUDGE_A
#define B O2_JUDGE_B

static const struct say_sink sink = {0x77, 0x10000, 2, 4096}, beyond = {0x77, 0x90000, 1, 4096};

static void say_payload(struct say *say, enum o2_judge_side from, uint32_t bytes)
{
	say_immediate(say, from, O2_LNET_PUT, 0, bytes, 0);
}

/* The headers of an IMMEDIATE take 120 bytes of the message size that each side accepts. */
SAY_TEST(test_each_side_says_what_it_takes)
{
	struct o2_msg request = say_request_of(SAY_DEPTH, SAY_FRAGS), reply;

	request.u.connparams.ibcp_max_msg_size = 2048;
	say_meet(say, O2_JUDGE_WHOLE);
	say_request(say, &request);
	reply = say_header(B, O2_MSG_CONNACK, 0);
	reply.u = request.u;
	reply.u.connparams.ibcp_max_msg_size = 4096;
	say_reply(say, &reply);
	say_payload(say, A, 4096 - 120);
	say_payload(say, B, 2048 - 120);
	assert_int_equal(say_findings(say), 0);
	say_payload(say, B, 2048 - 120 + 1);
	assert_int_equal(say->times[O2_JUDGE_MESSAGE_SIZE], 1);
	assert_int_equal(say->last[O2_JUDGE_MESSAGE_SIZE].error.limit, 2048);
	assert_int_equal(say_findings(say), 1);
}

/* A used all its credits for PUTs, whose PUT_DONE returns the credit, so B owes none yet. */
SAY_TEST(test_credits_of_puts_that_are_open)
{
	say_connected(say);
	for (uint32_t i = 0; i < SAY_DEPTH; i++)
		say_put_req(say, A, 1 + i, 8192, 0);
	say_later(say, 30000);
	for (uint32_t i = 0; i < SAY_DEPTH; i++)
		say_put_ack(say, B, 1 + i, 101 + i, &sink, 0);
	say_later(say, 30000);
	for (uint32_t i = 0; i < SAY_DEPTH; i++)
		say_done(say, A, O2_MSG_PUT_DONE, 101 + i, -5, 0);
	assert_int_equal(say_findings(say), 0);
	/* From here on B owes all of them. */
	say_later(say, 50001);
	say_noop(say, B, SAY_DEPTH);
	assert_int_equal(say->times[O2_JUDGE_CREDITS_WITHHELD], 1);
	assert_int_equal(say->last[O2_JUDGE_CREDITS_WITHHELD].error.value, 50001);
	assert_int_equal(say_findings(say), 1);
}

/* A used all its credits for PUTs that B does not answer: B owes answers, but no credit until it refuses them. */
SAY_TEST(test_credits_of_puts_that_wait)
{
	say_connected(say);
	for (uint32_t i = 0; i < SAY_DEPTH; i++)
		say_put_req(say, A, 1 + i, 8192, 0);
	say_later(say, 50001);
	for (uint32_t i = 0; i < SAY_DEPTH; i++)
		say_done(say, B, O2_MSG_PUT_NAK, 1 + i, -5, 0);
	assert_int_equal(say->times[O2_JUDGE_TRANSFER_UNANSWERED], SAY_DEPTH);
	assert_int_equal(say_findings(say), SAY_DEPTH);
	say_later(say, 50001);
	say_noop(say, B, SAY_DEPTH);
	assert_int_equal(say->times[O2_JUDGE_CREDITS_WITHHELD], 1);
	assert_int_equal(say->last[O2_JUDGE_CREDITS_WITHHELD].error.value, 50001);
	assert_int_equal(say_findings(say), SAY_DEPTH + 1);
}

/* Packets of a capture may have no time; then the number of NOOPs in a second is unknown. */
SAY_TEST(test_no_time)
{
	say->now_ns = 0;
	say_connected(say);
	for (uint32_t i = 0; i < 40; i++)
		say_noop(say, i % 2 == 0 ? A : B, 0);
	assert_int_equal(say_findings(say), 0);
}

/* One packet without a time: no time counts as passed until the next packet. */
SAY_TEST(test_no_time_between)
{
	uint64_t now_ns;

	say_later(say, 60000);
	say_connected(say);
	say_get_req(say, A, 1, &sink, 0);
	now_ns = say->now_ns;
	say->now_ns = 0;
	say_noop(say, A, 0);
	say->now_ns = now_ns;
	say_later(say, 1000);
	say_done(say, B, O2_MSG_GET_DONE, 1, -5, 0);
	assert_int_equal(say_findings(say), 0);
}

/* The side waited, and then sent an event without a time: when is not known.  The next time is the latest. */
static void say_timeless(struct say *say, void (*tell)(struct say *say))
{
	const uint64_t now_ns = say->now_ns;

	say->now_ns = 0;
	tell(say);
	say->now_ns = now_ns;
	say_later(say, 60000);
}

static void tell_get(struct say *say)
{
	say_get_req(say, A, 1, &sink, 0);
}

static void tell_put_ack(struct say *say)
{
	say_put_ack(say, B, 2, 3, &sink, 0);
}

static void tell_last_credit(struct say *say)
{
	say_payload(say, B, 1);
}

SAY_TEST(test_answers_to_what_has_no_time)
{
	say_connected(say);
	say_timeless(say, tell_get);
	say_done(say, B, O2_MSG_GET_DONE, 1, -5, 0);
	say_put_req(say, A, 2, 8192, 0);
	say_timeless(say, tell_put_ack);
	say_done(say, A, O2_MSG_PUT_DONE, 3, -5, 0);
	for (uint32_t i = 1; i < SAY_DEPTH; i++)
		say_payload(say, B, 1);
	say_timeless(say, tell_last_credit);
	say_noop(say, A, SAY_DEPTH);
	assert_int_equal(say_findings(say), 0);
	/* From the next time on, time passes as always. */
	say_timeless(say, tell_get);
	say_noop(say, A, 0);
	say_later(say, 50001);
	say_done(say, B, O2_MSG_GET_DONE, 1, -5, 0);
	assert_int_equal(say->times[O2_JUDGE_TRANSFER_UNANSWERED], 1);
	assert_int_equal(say->last[O2_JUDGE_TRANSFER_UNANSWERED].error.value, 50001);
	assert_int_equal(say_findings(say), 1);
}

/* A side that has disconnected owes nothing: it may disconnect again, and need not answer later requests. */
SAY_TEST(test_nothing_is_due_once_a_side_has_left)
{
	say_connected(say);
	for (uint32_t i = 0; i < SAY_DEPTH; i++)
		say_payload(say, A, 100);
	say_event(say, (struct o2_judge_event){.kind = O2_JUDGE_DISCONNECT, .from = A});
	say_get_req(say, B, 1, &sink, 0);
	say_later(say, 50001);
	say_event(say, (struct o2_judge_event){.kind = O2_JUDGE_DISCONNECT, .from = A});
	assert_int_equal(say->times[O2_JUDGE_CREDITS_WITHHELD], 0);
	assert_int_equal(say->times[O2_JUDGE_TRANSFER_UNANSWERED], 0);
}

static void say_byte(struct say *say, uint32_t n)
{
	say_write(say, B, sink.rkey, sink.addr + n, 1);
}

/* A WRITE that skips bytes is out of order, once; WRITEs that then fill the hole are not findings. */
SAY_TEST(test_holes_that_are_filled)
{
	say_connected(say);
	say_get_req(say, A, 1, &sink, 0);
	say_byte(say, 0);
	say_byte(say, 4);
	assert_int_equal(say->times[O2_JUDGE_WRITE_ORDER], 1);
	say_byte(say, 3);
	say_byte(say, 1);
	say_byte(say, 2);
	say_byte(say, 5);
	assert_int_equal(say_findings(say), 1);
	for (uint32_t n = 0; n < 6; n++)
		say_byte(say, n);
	assert_int_equal(say->times[O2_JUDGE_WRITE_TWICE], 6);
	assert_int_equal(say_findings(say), 7);
	say_byte(say, 8);
	say_write(say, B, sink.rkey, sink.addr + 7, 2);
	assert_int_equal(say->times[O2_JUDGE_WRITE_TWICE], 7);
}

/* The judge remembers eight holes of a transfer; a WRITE that may fill a forgotten one is no finding. */
SAY_TEST(test_more_holes_than_are_remembered)
{
	say_connected(say);
	say_get_req(say, A, 1, &sink, 0);
	for (uint32_t n = 0; n < 9; n++)
		say_byte(say, 2 * n + 1);
	for (uint32_t n = 0; n < 9; n++)
		say_byte(say, 2 * n);
	assert_int_equal(say->times[O2_JUDGE_WRITE_ORDER], 9);
	assert_int_equal(say_findings(say), 9);
}

/* With eight holes the judge still knows which bytes were skipped; with one more it does not. */
SAY_TEST(test_as_many_holes_as_are_remembered)
{
	say_connected(say);
	say_get_req(say, A, 1, &sink, 0);
	for (uint32_t n = 0; n < 8; n++)
		say_byte(say, 2 * n + 1);
	say_byte(say, 1);
	assert_int_equal(say->times[O2_JUDGE_WRITE_TWICE], 1);
	say_byte(say, 17);
	say_byte(say, 1);
	assert_int_equal(say->times[O2_JUDGE_WRITE_TWICE], 1);
	assert_int_equal(say->times[O2_JUDGE_WRITE_ORDER], 9);
}

/* PUTs from the same memory have the same handle, and each is acknowledged when it has arrived. */
SAY_TEST(test_two_puts_under_one_handle)
{
	say_connected(say);
	/* Many times, so that all places where the judge stores them are used. */
	for (uint32_t i = 0; i < 1000; i++) {
		const bool in_turn = i % 2 == 0;

		say_immediate(say, A, O2_LNET_PUT, 100 + i, 1, i > 0 ? 2 : 0);
		say_immediate(say, A, O2_LNET_PUT, 9, 20, 0);
		say_immediate(say, A, O2_LNET_PUT, 9, 10, 0);
		say_immediate(say, B, O2_LNET_ACK, 9, in_turn ? 20 : 10, 3);
		say_immediate(say, B, O2_LNET_ACK, 9, in_turn ? 10 : 20, 0);
	}
	assert_int_equal(say_findings(say), 0);
	say_immediate(say, A, O2_LNET_PUT, 9, 20, 2);
	say_immediate(say, A, O2_LNET_PUT, 9, 10, 0);
	say_immediate(say, B, O2_LNET_ACK, 9, 21, 2);
	assert_int_equal(say->times[O2_JUDGE_LNET_ACK], 1);
	assert_int_equal(say->last[O2_JUDGE_LNET_ACK].error.limit, 20);
}

static void say_put(struct say *say, uint64_t handle, uint32_t bytes)
{
	say_immediate(say, A, O2_LNET_PUT, handle, bytes, 0);
}

/* Of two PUTs under one handle, the larger one was sent over another connection, which may have ended since. */
TEST(test_an_answer_over_another_connection)
{
	for (int ended = 0; ended < 3; ended++) {
		struct o2_judge_conn *first;
		struct say say;

		say_open(&say, NULL);
		say_connected(&say);
		first = say.conn;
		say_put(&say, 9, 100);
		if (ended == 1)
			o2_judge_part(say.judge, first);
		say_connected(&say);
		say_put(&say, 9, 10);
		say_immediate(&say, B, O2_LNET_ACK, 9, ended == 2 ? 101 : 100, 0);
		assert_int_equal(say.times[O2_JUDGE_LNET_ACK], ended == 2);
		say_immediate(&say, B, O2_LNET_ACK, 9, 10, 0);
		assert_int_equal(say_findings(&say), ended == 2);
		if (ended == 0) {
			/* Each has its answer; the next one is judged. */
			say_put(&say, 9, 10);
			say_immediate(&say, B, O2_LNET_ACK, 9, 100, 0);
			assert_int_equal(say.times[O2_JUDGE_LNET_ACK], 1);
		}
		say_close(&say);
	}
}

/* The judge remembers 64 PUTs of a side; an ACK may be for one that is remembered no more. */
TEST(test_more_puts_than_are_remembered)
{
	for (uint32_t more = 0; more < 2; more++) {
		struct say say;

		say_open(&say, NULL);
		say_connected(&say);
		say_put(&say, 9, 100);
		for (uint32_t i = 0; i < 62 + more; i++) {
			say_immediate(&say, A, O2_LNET_PUT, 100 + i, 1, i == 0 ? 0 : 1);
			say_noop(&say, B, 1);
			say_later(&say, 2000);
		}
		say_put(&say, 9, 10);
		say_immediate(&say, B, O2_LNET_ACK, 9, 100, 0);
		say_immediate(&say, B, O2_LNET_ACK, 9, 11, 0);
		assert_int_equal(say.times[O2_JUDGE_LNET_ACK], !more);
		assert_int_equal(say.times[O2_JUDGE_LNET_REPLY], 0);
		say_close(&say);
	}
}

/* A PUT under the same handle was not seen: the connection was joined late, or a packet is missing. */
TEST(test_a_put_that_was_not_seen)
{
	for (int how = 0; how < 3; how++) {
		struct say say;

		say_open(&say, NULL);
		if (how == 0)
			say_meet(&say, O2_JUDGE_LATER);
		else
			say_connected(&say);
		if (how == 1)
			say_lose(&say, A);
		say_put(&say, 9, 10);
		say_immediate(&say, B, O2_LNET_ACK, 9, 100, 0);
		assert_int_equal(say.times[O2_JUDGE_LNET_ACK], how == 2);
		assert_int_equal(say_findings(&say), how == 2);
		say_close(&say);
	}
}

/* Two PUTs of one handle and length: the ACK of what the later one has moved leaves the older one to be truncated. */
SAY_TEST(test_two_puts_of_one_length_under_one_handle)
{
	for (uint64_t cookie = 1; cookie < 3; cookie++) {
		struct o2_msg msg = say_header(A, O2_MSG_PUT_REQ, 0);

		if (cookie == 1)
			say_connected(say);
		msg.u.putreq.ibprm_cookie = cookie;
		msg.u.putreq.hdr.type = O2_LNET_PUT;
		msg.u.putreq.hdr.dest_nid = SAY_B;
		msg.u.putreq.hdr.payload_length = 8192;
		msg.u.putreq.hdr.msg.put.ack_wmd = (struct o2_lnet_handle){1, 9};
		say_msg(say, A, &msg);
		say_put_ack(
			say, B, cookie, 10 + cookie,
			&(struct say_sink){(uint32_t)cookie, 0x10000 * cookie, 1, (uint32_t)cookie * 4096},
			0);
	}
	say_write(say, A, 2, 0x20000, 8192);
	say_done(say, A, O2_MSG_PUT_DONE, 12, 8192, 0);
	say_immediate(say, B, O2_LNET_ACK, 9, 8192, 0);
	say_write(say, A, 1, 0x10000, 4096);
	say_done(say, A, O2_MSG_PUT_DONE, 11, 4096, 0);
	say_immediate(say, B, O2_LNET_ACK, 9, 4096, 0);
	assert_int_equal(say_findings(say), 0);
}

/* The receiver of a PUT is a router: the target behind it may take fewer bytes than the router got, not more. */
TEST(test_a_put_for_a_node_behind_a_router)
{
	for (int more = 0; more < 2; more++) {
		struct o2_msg msg;
		struct say say;

		say_open(&say, NULL);
		say_connected(&say);
		msg = say_header(A, O2_MSG_PUT_REQ, 0);
		msg.u.putreq.ibprm_cookie = 5;
		msg.u.putreq.hdr.type = O2_LNET_PUT;
		msg.u.putreq.hdr.dest_nid = SAY_B + 1;
		msg.u.putreq.hdr.payload_length = 8192;
		msg.u.putreq.hdr.msg.put.ack_wmd = (struct o2_lnet_handle){1, 5};
		say_msg(&say, A, &msg);
		say_put_ack(&say, B, 5, 6, &sink, 0);
		say_write(&say, A, sink.rkey, sink.addr, 4096);
		say_write(&say, A, sink.rkey, sink.addr + 4096, 4096);
		say_done(&say, A, O2_MSG_PUT_DONE, 6, 8192, 0);
		say_immediate(&say, B, O2_LNET_ACK, 5, more ? 8193 : 100, 0);
		assert_int_equal(say.times[O2_JUDGE_LNET_ACK], more);
		assert_int_equal(say_findings(&say), more);
		say_close(&say);
	}
}

/* Two GETs into the same memory; the peer may write for either first.  What fits neither is still wrong. */
TEST(test_two_gets_into_the_same_memory)
{
	const struct say_sink larger = {0x77, 0x10000, 2, 8192};

	for (int swapped = 0; swapped < 2; swapped++) {
		struct say say;

		say_open(&say, NULL);
		say_connected(&say);
		say_get_req(&say, A, 1, &sink, 0);
		say_get_req(&say, A, 2, &larger, 0);
		assert_int_equal(say.times[O2_JUDGE_KEY_IN_USE], 1);
		for (int i = 0; i < 2; i++) {
			const struct say_sink *to = i == swapped ? &sink : &larger;

			say_write(&say, B, to->rkey, to->addr, to->bytes);
			say_write(&say, B, to->rkey, to->addr + to->bytes, to->bytes);
			say_done(&say, B, O2_MSG_GET_DONE, i == swapped ? 1 : 2, (int32_t)(2 * to->bytes), 0);
		}
		assert_int_equal(say_findings(&say), 0);
		say_get_req(&say, A, 3, &sink, 0);
		say_get_req(&say, A, 4, &larger, 0);
		say_write(&say, B, sink.rkey, sink.addr, larger.bytes + 1);
		assert_int_equal(say.times[O2_JUDGE_WRITE_OUTSIDE], 1);
		say_done(&say, B, O2_MSG_GET_DONE, 3, 8193, 0);
		assert_int_equal(say.times[O2_JUDGE_TRANSFER_STATUS], 1);
		assert_int_equal(say_findings(&say), 2);
		say_close(&say);
	}
}

/* A lost GET has the same key as one that was seen; A's next message shows which of them the WRITE belongs to. */
TEST(test_a_write_for_what_was_lost)
{
	const struct o2_judge_options options = {
		.timeout_ms = 50000, .keepalive_ms = 1000, .lossy = true, .seed = 1};

	for (int lost = 0; lost < 2; lost++) {
		struct say say;

		say_open(&say, &options);
		say_connected(&say);
		say_get_req(&say, A, 1, &sink, 0);
		say_write(&say, B, sink.rkey, sink.addr, 4096);
		say_write(&say, B, beyond.rkey, beyond.addr, 4096);
		say_write(&say, B, sink.rkey, sink.addr + 4096, 4096);
		say_done(&say, B, O2_MSG_GET_DONE, 1, 8192, 0);
		assert_int_equal(say_findings(&say), 0);
		if (lost)
			say_lose(&say, A);
		say_payload(&say, A, 1);
		assert_int_equal(say.times[O2_JUDGE_TRANSFER_BYTES], !lost);
		assert_int_equal(say.times[O2_JUDGE_WRITE_OUTSIDE], !lost);
		assert_int_equal(say_findings(&say), lost ? 0 : 2);
		say_close(&say);
	}
}

/* A node that cannot register memory accepts the number of fragments that it offers, and no smaller number. */
TEST(test_a_node_that_registers_nothing)
{
	for (uint32_t told = SAY_FRAGS - 1; told <= SAY_FRAGS + 1; told++) {
		const struct o2_msg request = say_request_of(SAY_DEPTH, SAY_FRAGS);
		struct say say;

		say_open(&say, NULL);
		say_meet(&say, O2_JUDGE_WHOLE);
		say_request(&say, &request);
		say_reject(&say, O2_REJECT_RDMA_FRAGS, SAY_DEPTH, told);
		assert_int_equal(say.times[O2_JUDGE_CONNECT_REJECT_UNTRUE], told == SAY_FRAGS);
		assert_int_equal(say.times[O2_JUDGE_CONNECT_REFUSED], 1);
		assert_int_equal(say.last[O2_JUDGE_CONNECT_REFUSED].error.limit, told);
		assert_int_equal(say.last[O2_JUDGE_CONNECT_REFUSED].error.limit_kind,
				 told > SAY_FRAGS ? O2_LIMIT_EXACT : O2_LIMIT_BOUND);
		say_close(&say);
	}
}
