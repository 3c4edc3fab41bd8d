/* SPDX-License-Identifier: MIT */
/*
 * Each rule of the judge from transfer/cookie-reused on, as in test_judge_rules.c.
 */
#include "base/stream.h"
#include "tests/lib/judge_say.h"
#include "tests/lib/unit_test.h"

#define A O2_JUDGE_A
#define B O2_JUDGE_B

static const struct say_sink sink = {0x77, 0x10000, 2, 4096};
#define SINK_BYTES 8192

static void transfer_cookie_reused(struct say *say, bool broken)
{
	say_connected(say);
	say_put_req(say, A, 5, SINK_BYTES, 0);
	if (!broken)
		say_done(say, B, O2_MSG_PUT_NAK, 5, 0, 0);
	say_put_req(say, A, 5, SINK_BYTES, 0);
}

static void transfer_unasked(struct say *say, bool broken)
{
	say_connected(say);
	say_put_req(say, A, 5, SINK_BYTES, 0);
	say_done(say, B, O2_MSG_PUT_NAK, 5 + broken, 0, 0);
}

static void transfer_kind(struct say *say, bool broken)
{
	say_connected(say);
	say_get_req(say, A, 5, &sink, 0);
	say_done(say, B, broken ? O2_MSG_PUT_NAK : O2_MSG_GET_DONE, 5, 0, 0);
}

static void transfer_frags(struct say *say, bool broken)
{
	const struct say_sink many = {0x77, 0x10000, SAY_FRAGS + broken, 4096};

	say_connected(say);
	say_get_req(say, A, 5, &many, 0);
}

static void transfer_sink(struct say *say, bool broken)
{
	say_connected(say);
	say_put_req(say, A, 5, SINK_BYTES - broken, 0);
	say_put_ack(say, B, 5, 6, &sink, 0);
}

static void put_moved(struct say *say, uint32_t bytes, int32_t status)
{
	say_connected(say);
	say_put_req(say, A, 5, SINK_BYTES, 0);
	say_put_ack(say, B, 5, 6, &sink, 0);
	say_write(say, A, sink.rkey, sink.addr, 4096);
	say_write(say, A, sink.rkey, sink.addr + 4096, bytes - 4096);
	say_done(say, A, O2_MSG_PUT_DONE, 6, status, 0);
}

static void transfer_status(struct say *say, bool broken)
{
	put_moved(say, SINK_BYTES - broken, SINK_BYTES - broken);
}

static void transfer_errno(struct say *say, bool broken)
{
	say_connected(say);
	say_get_req(say, A, 5, &sink, 0);
	say_done(say, B, O2_MSG_GET_DONE, 5, broken ? -4096 : -4095, 0);
	/* A NAK with 0: B wants no bytes.  A positive status would count bytes, and a NAK moves none. */
	say_put_req(say, A, 6, SINK_BYTES, 0);
	say_done(say, B, O2_MSG_PUT_NAK, 6, 0, 0);
}

static void transfer_bytes(struct say *say, bool broken)
{
	put_moved(say, SINK_BYTES - broken, SINK_BYTES);
}

static void transfer_unanswered(struct say *say, bool broken)
{
	say_connected(say);
	say_put_req(say, A, 5, SINK_BYTES, 0);
	say_later(say, broken ? 50001 : 50000);
	say_put_ack(say, B, 5, 6, &sink, 0);
	say_later(say, 50000);
	say_done(say, A, O2_MSG_PUT_DONE, 6, -EIO, 0);
}

static void write_key(struct say *say, bool broken)
{
	say_connected(say);
	say_get_req(say, A, 5, &sink, 0);
	say_write(say, B, sink.rkey + broken, sink.addr, 1);
}

static void write_ended(struct say *say, bool broken)
{
	say_connected(say);
	say_get_req(say, A, 5, &sink, 0);
	if (broken)
		say_done(say, B, O2_MSG_GET_DONE, 5, 0, 0);
	say_write(say, B, sink.rkey, sink.addr, 1);
}

static void write_outside(struct say *say, bool broken)
{
	const struct say_sink apart = {0x77, 0x10000, 1, 100};

	say_connected(say);
	say_get_req(say, A, 5, &apart, 0);
	say_write(say, B, apart.rkey, apart.addr, apart.bytes + broken);
}

static void write_twice(struct say *say, bool broken)
{
	say_connected(say);
	say_get_req(say, A, 5, &sink, 0);
	say_write(say, B, sink.rkey, sink.addr, 10);
	say_write(say, B, sink.rkey, sink.addr + (broken ? 9 : 10), 1);
}

static void write_order(struct say *say, bool broken)
{
	say_connected(say);
	say_get_req(say, A, 5, &sink, 0);
	say_write(say, B, sink.rkey, sink.addr, 10);
	say_write(say, B, sink.rkey, sink.addr + (broken ? 11 : 10), 1);
}

static void write_announced(struct say *say, bool broken)
{
	say_connected(say);
	say_get_req(say, A, 5, &sink, 0);
	say_event(say, (struct o2_judge_event){.kind = O2_JUDGE_WRITE,
					       .from = B,
					       .addr = sink.addr,
					       .rkey = sink.rkey,
					       .bytes = 10,
					       .announced_bytes = 10 + broken});
}

static void key_in_use(struct say *say, bool broken)
{
	/* The other sink starts at the last byte of the first one, or directly behind it. */
	const struct say_sink other = {0x77, 0x10000 + SINK_BYTES - (broken ? 1 : 0), 1, 100};

	say_connected(say);
	say_get_req(say, A, 5, &sink, 0);
	say_get_req(say, A, 6, &other, 0);
}

static void lnet_ack(struct say *say, bool broken)
{
	put_moved(say, SINK_BYTES, SINK_BYTES);
	say_immediate(say, B, O2_LNET_ACK, 5, SINK_BYTES - broken, 0);
}

static void lnet_reply(struct say *say, bool broken)
{
	say_connected(say);
	say_immediate(say, A, O2_LNET_GET, 9, 100, 0);
	say_immediate(say, B, O2_LNET_REPLY, 9, 100 + broken, 0);
}

static void lnet_unasked(struct say *say, bool broken)
{
	say_connected(say);
	say_immediate(say, A, O2_LNET_PUT, broken ? 0 : 9, 100, 0);
	say_immediate(say, B, O2_LNET_ACK, broken ? 0 : 9, 100, 0);
}

/* A packet of the WRITEs into the sink, with the bytes of this stream from this offset on. */
static void say_part(struct say *say, enum o2_judge_side from, uint64_t stream, uint64_t at, uint64_t offset,
		     uint32_t count, uint32_t wrong)
{
	uint8_t bytes[SINK_BYTES];

	o2_stream_fill(bytes, count, 1, stream, offset);
	if (wrong < count)
		bytes[wrong] ^= 0x40;
	say_event(say, (struct o2_judge_event){.kind = O2_JUDGE_PART,
					       .from = from,
					       .rkey = sink.rkey,
					       .addr = sink.addr + at,
					       .payload = bytes,
					       .bytes = count});
}

/* A PUT in two packets; its last byte is wrong if `broken`. */
static void payload_put(struct say *say, bool broken)
{
	struct o2_msg msg;

	say_connected(say);
	msg = say_header(A, O2_MSG_PUT_REQ, 0);
	msg.u.putreq.ibprm_cookie = 1;
	msg.u.putreq.hdr.type = O2_LNET_PUT;
	msg.u.putreq.hdr.payload_length = SINK_BYTES;
	msg.u.putreq.hdr.msg.put.hdr_data = 7;
	msg.u.putreq.hdr.msg.put.ack_wmd.wh_interface_cookie = UINT64_MAX;
	msg.u.putreq.hdr.msg.put.ack_wmd.wh_object_cookie = UINT64_MAX;
	say_msg(say, A, &msg);
	say_put_ack(say, B, 1, 2, &sink, 0);
	say_part(say, A, 7, 0, 0, 4096, UINT32_MAX);
	say_write(say, A, sink.rkey, sink.addr, 4096);
	/* Bytes behind the last fragment do not belong to the PUT. */
	say_part(say, A, 7, 4196, 4196, 4096, 4000);
	say_part(say, A, 7, 4096, 4096, 4096, broken ? 4095 : UINT32_MAX);
	say_write(say, A, sink.rkey, sink.addr + 4096, 4096);
	say_done(say, A, O2_MSG_PUT_DONE, 2, SINK_BYTES, 0);
	if (broken) {
		assert_int_equal(say->last[O2_JUDGE_PAYLOAD_PUT].error.index, SINK_BYTES - 1);
		assert_int_equal(say->last[O2_JUDGE_PAYLOAD_PUT].who, A);
	}
}

/* The second half of the GET has the bytes from 100 bytes further on. */
static void payload_get(struct say *say, bool broken)
{
	say_connected(say);
	say_get_req(say, A, 1, &sink, 0);
	say_part(say, B, 0, 0, 0, 4096, UINT32_MAX);
	say_write(say, B, sink.rkey, sink.addr, 4096);
	say_part(say, B, 0, 4096, broken ? 4196 : 4096, 4096, UINT32_MAX);
	say_write(say, B, sink.rkey, sink.addr + 4096, 4096);
	say_done(say, B, O2_MSG_GET_DONE, 1, SINK_BYTES, 0);
	if (broken) {
		assert_string_equal(say->last[O2_JUDGE_PAYLOAD_GET].error.field,
				    "place in its stream of payload[]");
		assert_int_equal(say->last[O2_JUDGE_PAYLOAD_GET].error.value, 4196);
		assert_int_equal(say->last[O2_JUDGE_PAYLOAD_GET].error.limit, 4096);
	}
}

static void end_message(struct say *say, bool broken)
{
	say_connected(say);
	say_event(say, (struct o2_judge_event){.kind = O2_JUDGE_DISCONNECT, .from = A});
	say_immediate(say, broken ? A : B, O2_LNET_PUT, 0, 1, 0);
}

static void end_open(struct say *say, bool broken)
{
	say_connected(say);
	say_get_req(say, A, 5, &sink, 0);
	if (!broken)
		say_done(say, B, O2_MSG_GET_DONE, 5, 0, 0);
	say_event(say, (struct o2_judge_event){.kind = O2_JUDGE_DISCONNECT, .from = B});
}

static void transport_lost(struct say *say, bool broken)
{
	say_connected(say);
	if (broken)
		say_event(say, (struct o2_judge_event){.kind = O2_JUDGE_LOST, .from = B});
}

static void transport_nak(struct say *say, bool broken)
{
	say_connected(say);
	if (broken)
		say_event(say, (struct o2_judge_event){.kind = O2_JUDGE_NAK, .from = B});
}

static const say_tale tales[O2_JUDGE_RULES] = {
	[O2_JUDGE_TRANSFER_COOKIE_REUSED] = transfer_cookie_reused,
	[O2_JUDGE_TRANSFER_UNASKED] = transfer_unasked,
	[O2_JUDGE_TRANSFER_KIND] = transfer_kind,
	[O2_JUDGE_TRANSFER_FRAGS] = transfer_frags,
	[O2_JUDGE_TRANSFER_SINK] = transfer_sink,
	[O2_JUDGE_TRANSFER_STATUS] = transfer_status,
	[O2_JUDGE_TRANSFER_ERRNO] = transfer_errno,
	[O2_JUDGE_TRANSFER_BYTES] = transfer_bytes,
	[O2_JUDGE_TRANSFER_UNANSWERED] = transfer_unanswered,
	[O2_JUDGE_WRITE_KEY] = write_key,
	[O2_JUDGE_WRITE_ENDED] = write_ended,
	[O2_JUDGE_WRITE_OUTSIDE] = write_outside,
	[O2_JUDGE_WRITE_TWICE] = write_twice,
	[O2_JUDGE_WRITE_ORDER] = write_order,
	[O2_JUDGE_WRITE_ANNOUNCED] = write_announced,
	[O2_JUDGE_KEY_IN_USE] = key_in_use,
	[O2_JUDGE_LNET_ACK] = lnet_ack,
	[O2_JUDGE_LNET_REPLY] = lnet_reply,
	[O2_JUDGE_LNET_UNASKED] = lnet_unasked,
	[O2_JUDGE_PAYLOAD_PUT] = payload_put,
	[O2_JUDGE_PAYLOAD_GET] = payload_get,
	[O2_JUDGE_END_MESSAGE] = end_message,
	[O2_JUDGE_END_OPEN] = end_open,
	[O2_JUDGE_TRANSPORT_LOST] = transport_lost,
	[O2_JUDGE_TRANSPORT_NAK] = transport_nak,
};

TEST(test_each_rule)
{
	say_each(tales, O2_JUDGE_TRANSFER_COOKIE_REUSED, O2_JUDGE_RULES);
}

/* Of two GETs into the same memory a WRITE is for the one that has room for it. */
SAY_TEST(test_a_write_for_the_larger_of_two_gets)
{
	const struct say_sink larger = {0x77, 0x10000, 1, 8192}, smaller = {0x77, 0x10000, 1, 4096};

	say_connected(say);
	say_get_req(say, A, 1, &larger, 0);
	say_get_req(say, A, 2, &smaller, 0);
	say_write(say, B, larger.rkey, larger.addr, larger.bytes);
	say_done(say, B, O2_MSG_GET_DONE, 1, (int32_t)larger.bytes, 0);
	assert_int_equal(say_findings(say), 0);
}

/* What was on its way when the other side disconnected belongs to transfers that have been forgotten. */
SAY_TEST(test_what_is_under_way_when_a_side_disconnects)
{
	const struct o2_judge_event leaves = {.kind = O2_JUDGE_DISCONNECT, .from = A};

	for (int turn = 0; turn < 2; turn++) {
		say_connected(say);
		if (turn == 0) {
			say_get_req(say, A, 1, &sink, 0);
		} else {
			say_put_req(say, B, 1, SINK_BYTES, 0);
			say_put_ack(say, A, 1, 2, &sink, 0);
		}
		say_event(say, leaves);
		say_write(say, B, sink.rkey, sink.addr, 4096);
		say_write(say, B, sink.rkey, sink.addr + 4096, 4096);
		say_done(say, B, turn == 0 ? O2_MSG_GET_DONE : O2_MSG_PUT_DONE, 1 + turn, SINK_BYTES, 0);
		assert_int_equal(say_findings(say), 0);
		assert_int_equal(say->times[O2_JUDGE_END_OPEN], 1 + turn);
	}
	/* Of who has left, the message itself is the finding. */
	say_done(say, A, O2_MSG_GET_DONE, 9, -5, 0);
	assert_int_equal(say->times[O2_JUDGE_END_MESSAGE], 1);
	assert_int_equal(say_findings(say), 1);
}

/* A WRITE of no bytes fills no memory, wherever it points to. */
SAY_TEST(test_a_write_without_bytes)
{
	say_connected(say);
	say_get_req(say, A, 1, &sink, 0);
	say_write(say, B, sink.rkey, sink.addr + 4096, 0);
	say_write(say, B, sink.rkey, sink.addr, 4096);
	say_write(say, B, sink.rkey, sink.addr, 0);
	say_write(say, B, sink.rkey, sink.addr + 4096, 4096);
	say_write(say, B, sink.rkey, sink.addr + SINK_BYTES, 0);
	say_done(say, B, O2_MSG_GET_DONE, 1, SINK_BYTES, 0);
	assert_int_equal(say_findings(say), 0);
	say_write(say, B, sink.rkey, sink.addr, 0);
	assert_int_equal(say->times[O2_JUDGE_WRITE_ENDED], 1);
	say_write(say, B, sink.rkey + 1, sink.addr, 0);
	assert_int_equal(say->times[O2_JUDGE_WRITE_KEY], 1);
	assert_int_equal(say_findings(say), 2);
}

/* A WRITE that begins in what was written, and goes on behind it: the next one continues where this one has ended. */
SAY_TEST(test_a_write_of_old_and_new_bytes)
{
	say_connected(say);
	say_get_req(say, A, 1, &sink, 0);
	say_write(say, B, sink.rkey, sink.addr, 8);
	say_write(say, B, sink.rkey, sink.addr + 4, 4092);
	say_write(say, B, sink.rkey, sink.addr + 4096, 4);
	say_write(say, B, sink.rkey, sink.addr + 4096, 8);
	say_write(say, B, sink.rkey, sink.addr + 4104, 4);
	assert_int_equal(say->times[O2_JUDGE_WRITE_TWICE], 2);
	assert_int_equal(say_findings(say), 2);
}

/* Which of two GETs under one key a WRITE was for that is in the memory of neither is not known. */
SAY_TEST(test_a_write_outside_of_two_gets)
{
	const struct say_sink other = {sink.rkey, 0x90000, 1, 4096};

	say_connected(say);
	say_get_req(say, A, 1, &sink, 0);
	say_get_req(say, A, 2, &other, 0);
	say_write(say, B, sink.rkey, sink.addr, 4096);
	say_write(say, B, sink.rkey, 0x50000, 4096);
	assert_int_equal(say->times[O2_JUDGE_WRITE_OUTSIDE], 1);
	assert_int_equal(say->last[O2_JUDGE_WRITE_OUTSIDE].earlier, 0);
	say_write(say, B, other.rkey, other.addr, 4096);
	say_done(say, B, O2_MSG_GET_DONE, 2, 4096, 0);
	assert_int_equal(say_findings(say), 1);
	say_done(say, B, O2_MSG_GET_DONE, 1, SINK_BYTES, 0);
	assert_int_equal(say->times[O2_JUDGE_TRANSFER_BYTES], 1);
	assert_int_equal(say->last[O2_JUDGE_TRANSFER_BYTES].error.value, 4096);
	assert_int_equal(say_findings(say), 2);
}

/* Of a sink with more room than the PUT has bytes, the source fills as much as it has; the sink is at fault. */
SAY_TEST(test_a_sink_with_too_much_room)
{
	for (int32_t more = 0; more < 2; more++) {
		say_connected(say);
		say_put_req(say, A, 5, 4096, 0);
		say_put_ack(say, B, 5, 6, &sink, 0);
		say_write(say, A, sink.rkey, sink.addr, 4096);
		if (more)
			say_write(say, A, sink.rkey, sink.addr + 4096, 4097);
		say_done(say, A, O2_MSG_PUT_DONE, 6, more ? SINK_BYTES + 1 : 4096, 0);
		assert_int_equal(say->times[O2_JUDGE_TRANSFER_SINK], 1 + more);
		assert_int_equal(say->times[O2_JUDGE_TRANSFER_STATUS], more);
	}
	assert_int_equal(say_findings(say), 4);
}
