/* SPDX-License-Identifier: MIT */
/* The bytes that a GET returns, when the PUT that wrote them is known, and when it is not. */
#include "base/stream.h"
#include "tests/lib/judge_say.h"
#include "tests/lib/unit_test.h"

#define A O2_JUDGE_A
#define B O2_JUDGE_B

static struct o2_msg place_of(struct o2_msg msg, uint32_t offset)
{
	msg.u.immediate.hdr.msg.put.match_bits = 0x1234;
	msg.u.immediate.hdr.msg.put.offset = offset;
	msg.u.immediate.hdr.msg.put.ack_wmd = (struct o2_lnet_handle){UINT64_MAX, UINT64_MAX};
	return msg;
}

/* A PUT of 100 bytes of this stream.  heard: the judge sees it. */
static void put_at(struct say *say, uint64_t stream, uint32_t offset, bool heard)
{
	struct o2_msg msg = place_of(say_header(A, O2_MSG_IMMEDIATE, 0), offset);
	uint8_t bytes[100];

	o2_stream_fill(bytes, sizeof(bytes), 1, stream, 0);
	msg.u.immediate.hdr.type = O2_LNET_PUT;
	msg.u.immediate.hdr.payload_length = sizeof(bytes);
	msg.u.immediate.hdr.msg.put.hdr_data = stream;
	msg.u.immediate.payload = bytes;
	if (heard)
		say_msg(say, A, &msg);
}

/* A GET of `count` bytes from the start of the place. */
static void ask_by(struct say *say, enum o2_judge_side from, uint32_t count)
{
	struct o2_msg asked = say_header(from, O2_MSG_IMMEDIATE, 0);

	asked.u.immediate.hdr.type = O2_LNET_GET;
	asked.u.immediate.hdr.msg.get.match_bits = 0x1234;
	asked.u.immediate.hdr.msg.get.sink_length = count;
	asked.u.immediate.hdr.msg.get.return_wmd = (struct o2_lnet_handle){1, 1};
	say_msg(say, from, &asked);
}

static void ask(struct say *say, uint32_t count)
{
	ask_by(say, A, count);
}

/* The first half of what it brings is of stream `first`, the second of `stream`. */
static void answer_by(struct say *say, enum o2_judge_side from, uint32_t count, uint64_t first,
		      uint64_t stream)
{
	struct o2_msg reply = say_header(from, O2_MSG_IMMEDIATE, 0);
	uint8_t bytes[200];

	o2_stream_fill(bytes, count / 2, 1, first, 0);
	o2_stream_fill(bytes + count / 2, count / 2, 1, stream, count / 2);
	reply.u.immediate.hdr.type = O2_LNET_REPLY;
	reply.u.immediate.hdr.payload_length = count;
	reply.u.immediate.hdr.msg.reply.dst_wmd = (struct o2_lnet_handle){1, 1};
	reply.u.immediate.payload = bytes;
	say_msg(say, from, &reply);
}

static void answer(struct say *say, uint32_t count, uint64_t stream)
{
	answer_by(say, B, count, 5, stream);
}

static void get(struct say *say, uint32_t count, uint64_t stream, bool lost)
{
	ask(say, count);
	if (lost)
		say_lose(say, A);
	answer(say, count, stream);
}

/* An unknown PUT is a finding only if the judge has seen and remembered the whole connection. */
TEST(test_a_put_that_is_not_known)
{
	enum { NEVER, LATER, LOST, LOST_SINCE, FORGOTTEN, WAYS };

	for (int way = NEVER; way < WAYS; way++) {
		struct say say;

		say_open(&say, NULL);
		if (way == LATER)
			say_meet(&say, O2_JUDGE_LATER);
		else
			say_connected(&say);
		put_at(&say, 5, 0, way == FORGOTTEN);
		for (uint32_t i = 0; i < (way == FORGOTTEN ? 32 : 1); i++)
			put_at(&say, 6 + i, 1000 + 100 * i, true);
		if (way == LOST)
			say_lose(&say, A);
		get(&say, 200, O2_STREAM_MEMORY, way == LOST_SINCE);
		assert_int_equal(say.times[O2_JUDGE_PAYLOAD_GET], way == NEVER);
		say_close(&say);
	}
}

/* A known PUT need not be the last one if a later one was not seen, whichever PUTs are remembered. */
TEST(test_a_put_that_was_not_the_last)
{
	for (uint32_t before = 0; before < 32; before++) {
		struct say say;

		say_open(&say, NULL);
		say_connected(&say);
		for (uint32_t i = 0; i < before; i++)
			put_at(&say, 7 + i, 1000 + 100 * i, true);
		put_at(&say, 6, 0, true);
		say_lose(&say, A);
		get(&say, 100, 6, false);
		assert_int_equal(say.times[O2_JUDGE_PAYLOAD_GET], 0);
		say_close(&say);
	}
}

/* A PUT by RDMA; the judge sees its start. */
static void begin_put_at(struct say *say, uint32_t offset)
{
	static const struct say_sink sink = {0x77, 0x10000, 2, 4096};
	struct o2_msg msg = say_header(A, O2_MSG_PUT_REQ, 0);

	msg.u.putreq.ibprm_cookie = 1;
	msg.u.putreq.hdr.type = O2_LNET_PUT;
	msg.u.putreq.hdr.payload_length = 8192;
	msg.u.putreq.hdr.msg.put.match_bits = 0x1234;
	msg.u.putreq.hdr.msg.put.offset = offset;
	msg.u.putreq.hdr.msg.put.ack_wmd = (struct o2_lnet_handle){UINT64_MAX, UINT64_MAX};
	say_msg(say, A, &msg);
	say_put_ack(say, B, 1, 2, &sink, 0);
}

/* A PUT that began earlier and has not ended can overwrite a later one. */
TEST(test_a_put_that_was_open)
{
	enum { ENDED, OPEN, OPEN_ELSEWHERE, WRITTEN_AGAIN, WAYS };

	for (int way = ENDED; way < WAYS; way++) {
		struct say say;

		say_open(&say, NULL);
		say_connected(&say);
		begin_put_at(&say, way == OPEN_ELSEWHERE ? 100 : 99);
		if (way == ENDED)
			say_done(&say, A, O2_MSG_PUT_DONE, 2, -5, 0);
		put_at(&say, 5, 0, true);
		if (way != ENDED)
			say_done(&say, A, O2_MSG_PUT_DONE, 2, -5, 0);
		if (way == WRITTEN_AGAIN)
			put_at(&say, 5, 0, true);
		get(&say, 100, 6, false);
		assert_int_equal(say.times[O2_JUDGE_PAYLOAD_GET], way != OPEN);
		say_close(&say);
	}
}

/* The effect of a WRITE whose request was not seen is unknown. */
TEST(test_a_write_of_a_put_that_was_not_seen)
{
	for (int written = 0; written < 2; written++) {
		struct say say;

		say_open(&say, NULL);
		say_meet(&say, O2_JUDGE_LATER);
		put_at(&say, 5, 0, true);
		if (written)
			say_write(&say, A, 0x77, 0x10000, 4096);
		get(&say, 100, 6, false);
		assert_int_equal(say.times[O2_JUDGE_PAYLOAD_GET], !written);
		say_close(&say);
	}
}

/* What another connection has PUT there may be what the GET brings, although that connection has ended since. */
TEST(test_a_put_over_another_connection)
{
	enum { NOWHERE, NEXT_TO_IT, NEAR, BEFORE_OURS, THERE, ENDED, WRITTEN_AGAIN, DURING, WAYS };

	for (int way = 0; way < WAYS; way++) {
		struct o2_judge_conn *first, *second;
		struct say say;

		say_open(&say, NULL);
		say_connected(&say);
		first = say.conn;
		if (way == THERE || way == ENDED || way == BEFORE_OURS)
			put_at(&say, way == BEFORE_OURS ? 6 : 5, 0, true);
		if (way == NEXT_TO_IT || way == NEAR)
			put_at(&say, 5, 200, true);
		if (way == ENDED)
			o2_judge_part(say.judge, first);
		say_connected(&say);
		second = say.conn;
		if (way == NEAR) /* as before, and the second one has also written to these bits */
			put_at(&say, 5, 1000, true);
		if (way == WRITTEN_AGAIN || way == BEFORE_OURS)
			put_at(&say, 5, 0, true);
		if (way == DURING)
			ask(&say, 200);
		if (way == WRITTEN_AGAIN || way == DURING) {
			say.conn = first;
			put_at(&say, 6, 0, true);
			say.conn = second;
		}
		if (way != DURING)
			ask(&say, way == WRITTEN_AGAIN || way == BEFORE_OURS ? 100 : 200);
		answer(&say, way == WRITTEN_AGAIN || way == BEFORE_OURS ? 100 : 200,
		       way == WRITTEN_AGAIN || way == BEFORE_OURS ? 6 : O2_STREAM_MEMORY);
		assert_int_equal(say.times[O2_JUDGE_PAYLOAD_GET], way < THERE);
		say_close(&say);
	}
}

/* Half of each is of stream 5, the rest of `stream`; they go to the sink that A has described. */
static void write_part(struct say *say, uint32_t count, uint64_t stream)
{
	uint8_t bytes[200];

	o2_stream_fill(bytes, count / 2, 1, 5, 0);
	o2_stream_fill(bytes + count / 2, count / 2, 1, stream, count / 2);
	say_event(say, (struct o2_judge_event){.kind = O2_JUDGE_PART,
					       .from = B,
					       .addr = 0x10000,
					       .rkey = 0x77,
					       .bytes = count,
					       .payload = bytes});
	say_write(say, B, 0x77, 0x10000, count);
}

/* B's memory cannot be copied: it answers a GET by RDMA.  again: A writes to the place while that is under way. */
static void answer_by_rdma(struct say *say, uint32_t count, uint64_t stream, bool again)
{
	const struct say_sink sink = {0x77, 0x10000, 1, count};
	struct o2_msg msg = say_header(B, O2_MSG_PUT_REQ, 0);

	msg.u.putreq.ibprm_cookie = 1;
	msg.u.putreq.hdr.type = O2_LNET_REPLY;
	msg.u.putreq.hdr.payload_length = count;
	msg.u.putreq.hdr.msg.reply.dst_wmd = (struct o2_lnet_handle){1, 1};
	say_msg(say, B, &msg);
	say_put_ack(say, A, 1, 2, &sink, 0);
	if (again)
		put_at(say, 6, 0, true);
	write_part(say, count, stream);
	say_done(say, B, O2_MSG_PUT_DONE, 2, (int32_t)count, 0);
}

TEST(test_a_reply_by_rdma)
{
	enum { RIGHT, WRONG, WRITTEN_SINCE, WAYS };

	for (int way = 0; way < WAYS; way++) {
		struct say say;

		say_open(&say, NULL);
		say_connected(&say);
		put_at(&say, 5, 0, true);
		ask(&say, 100);
		answer_by_rdma(&say, 100, way == RIGHT ? 5 : 6, way == WRITTEN_SINCE);
		assert_int_equal(say.times[O2_JUDGE_PAYLOAD_GET], way == WRONG);
		assert_int_equal(say_findings(&say), way == WRONG);
		say_close(&say);
	}
}

/* A REPLY writes to its sink, not to memory that is offered: after many of them B is still known to have PUT nothing. */
SAY_TEST(test_replies_by_rdma_are_no_puts)
{
	say_connected(say);
	put_at(say, 5, 0, true);
	for (uint32_t i = 0; i < 40; i++) {
		ask(say, 100);
		answer_by_rdma(say, 100, 5, false);
	}
	assert_int_equal(say->times[O2_JUDGE_PAYLOAD_GET], 0);
	ask_by(say, B, 100);
	answer_by(say, A, 100, O2_STREAM_MEMORY, 6);
	assert_int_equal(say->times[O2_JUDGE_PAYLOAD_GET], 1);
}

/* A's PUT, whose request was not seen, may write to the place while a GET_REQ of A reads there. */
TEST(test_a_write_during_a_get)
{
	for (int written = 0; written < 2; written++) {
		struct o2_msg asked;
		struct say say;

		say_open(&say, NULL);
		say_meet(&say, O2_JUDGE_LATER);
		put_at(&say, 5, 0, true);
		asked = say_header(A, O2_MSG_GET_REQ, 0);
		asked.u.get.hdr.type = O2_LNET_GET;
		asked.u.get.hdr.msg.get.match_bits = 0x1234;
		asked.u.get.hdr.msg.get.sink_length = 100;
		asked.u.get.ibgm_rd =
			(struct o2_rdma_desc){.rd_key = 0x77, .rd_nfrags = 1, .rd_frags = {{100, 0x10000}}};
		say_msg(&say, A, &asked);
		if (written)
			say_write(&say, A, 0x99, 0x90000, 4096);
		write_part(&say, 100, 6);
		assert_int_equal(say.times[O2_JUDGE_PAYLOAD_GET], !written);
		say_close(&say);
	}
}

/* A PUT of A's to node `target`, which is this node, or behind it. */
static void put_to(struct say *say, uint64_t target, uint64_t hop, uint64_t stream)
{
	struct o2_msg msg = place_of(say_header(A, O2_MSG_IMMEDIATE, 0), 0);
	uint8_t bytes[100];

	o2_stream_fill(bytes, sizeof(bytes), 1, stream, 0);
	msg.ibm_dstnid = hop;
	msg.u.immediate.hdr.type = O2_LNET_PUT;
	msg.u.immediate.hdr.dest_nid = target;
	msg.u.immediate.hdr.payload_length = sizeof(bytes);
	msg.u.immediate.hdr.msg.put.hdr_data = stream;
	msg.u.immediate.payload = bytes;
	say_msg(say, A, &msg);
}

/* B is a router to two nodes, one of which A also reaches without it. */
TEST(test_nodes_behind_a_router)
{
	enum { THERE, OTHER_NODE, DURING, DURING_OTHER_NODE, WAYS };

	for (int way = 0; way < WAYS; way++) {
		struct o2_judge_conn *routed;
		struct o2_msg asked;
		struct say say;

		say_open(&say, NULL);
		say_connected(&say);
		routed = say.conn;
		put_to(&say, 1, SAY_B, 5);
		asked = say_header(A, O2_MSG_IMMEDIATE, 0);
		asked.u.immediate.hdr.type = O2_LNET_GET;
		asked.u.immediate.hdr.dest_nid = way == OTHER_NODE ? 2 : 1;
		asked.u.immediate.hdr.msg.get.match_bits = 0x1234;
		asked.u.immediate.hdr.msg.get.sink_length = 100;
		asked.u.immediate.hdr.msg.get.return_wmd = (struct o2_lnet_handle){1, 1};
		say_msg(&say, A, &asked);
		if (way >= DURING) {
			say_meet(&say, O2_JUDGE_LATER);
			put_to(&say, way == DURING ? 1 : 2, way == DURING ? 1 : 2, 6);
			say.conn = routed;
		}
		answer(&say, 100, 6);
		assert_int_equal(say.times[O2_JUDGE_PAYLOAD_GET], way == THERE || way == DURING_OTHER_NODE);
		say_close(&say);
	}
}

#define KEY  0x77
#define SINK 0x10000

/* B writes the bytes from `at` to 100 of the place in one packet for each half: the second one of this stream. */
static void write_from(struct say *say, uint32_t at, uint64_t stream)
{
	uint8_t bytes[50];

	for (uint32_t from = at; from < 100; from += sizeof(bytes)) {
		o2_stream_fill(bytes, sizeof(bytes), 1, from == 0 ? 5 : stream, from);
		say_event(say, (struct o2_judge_event){.kind = O2_JUDGE_PART,
						       .from = B,
						       .rkey = KEY,
						       .addr = SINK + from,
						       .bytes = sizeof(bytes),
						       .payload = bytes});
	}
	say_write(say, B, KEY, SINK + at, 100 - at);
}

/* A GET comes again while B writes: for it, or for one before it that was missed.  Its first byte shows where it begins. */
TEST(test_what_was_under_way_for_a_get_that_comes_again)
{
	const struct o2_judge_options options = {
		.timeout_ms = 50000, .keepalive_ms = 1000, .lossy = true, .seed = 1};

	for (uint32_t wrong = 0; wrong < 2; wrong++) {
		struct say say;
		struct o2_msg msg = say_header(A, O2_MSG_GET_REQ, 0);

		say_open(&say, &options);
		say_meet(&say, O2_JUDGE_LATER);
		put_at(&say, 5, 0, true);
		say_write(&say, B, KEY, SINK + 25, 1);
		msg.u.get.ibgm_cookie = 1;
		msg.u.get.hdr.type = O2_LNET_GET;
		msg.u.get.hdr.msg.get.match_bits = 0x1234;
		msg.u.get.hdr.msg.get.sink_length = 100;
		msg.u.get.ibgm_rd = (struct o2_rdma_desc){.rd_key = KEY, .rd_nfrags = 1};
		msg.u.get.ibgm_rd.rd_frags[0] = (struct o2_rdma_frag){100, SINK};
		say_msg(&say, A, &msg);
		write_from(&say, 50, 6);
		say_write(&say, B, KEY, SINK + 50, 51);
		write_from(&say, 0, 5 + wrong);
		say_done(&say, B, O2_MSG_GET_DONE, 1, 100, 0);
		say_noop(&say, A, 0);
		assert_int_equal(say.times[O2_JUDGE_PAYLOAD_GET], wrong);
		assert_int_equal(say_findings(&say), wrong);
		say_close(&say);
	}
}
