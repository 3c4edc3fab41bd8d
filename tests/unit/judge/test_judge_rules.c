/* SPDX-License-Identifier: MIT */
/*
 * Each rule of the judge: a conversation that breaks it and nothing else, and one that comes as near as can be
 * and breaks nothing.
 */
#include "base/stream.h"
#include "tests/lib/judge_say.h"
#include "tests/lib/unit_test.h"

#define A O2_JUDGE_A
#define B O2_JUDGE_B

static const struct say_sink sink = {0x77, 0x10000, 2, 4096};
#define SINK_BYTES 8192

/* What is told breaks the rule if `broken`, and else none. */
typedef void (*tell)(struct say *say, bool broken);

/* A request as it should be and B's reply, changed by the caller. */
static struct o2_msg asked(struct say *say)
{
	const struct o2_msg request = say_request_of(SAY_DEPTH, SAY_FRAGS);
	struct o2_msg reply = say_header(B, O2_MSG_CONNACK, 0);

	say_meet(say, O2_JUDGE_WHOLE);
	say_request(say, &request);
	reply.u = request.u;
	return reply;
}

static void connect_type(struct say *say, bool broken)
{
	struct o2_msg reply = asked(say);

	if (broken)
		reply.ibm_type = O2_MSG_CONNREQ;
	say_reply(say, &reply);
}

static void connect_limits(struct say *say, bool broken)
{
	const struct o2_msg request = say_request_of(broken ? 1 : 2, SAY_FRAGS);

	say_meet(say, O2_JUDGE_WHOLE);
	say_request(say, &request);
}

static void connect_version(struct say *say, bool broken)
{
	struct o2_msg reply = asked(say);

	/* Depth 8 is what version 1 has. */
	if (broken)
		reply.ibm_version = O2_MSG_VERSION_1;
	say_reply(say, &reply);
}

static void connect_nids(struct say *say, bool broken)
{
	struct o2_msg reply = asked(say);

	reply.ibm_srcnid += broken;
	say_reply(say, &reply);
}

static void connect_stamp(struct say *say, bool broken)
{
	struct o2_msg reply = asked(say);

	reply.ibm_dststamp += broken;
	say_reply(say, &reply);
}

static void connect_over_asked(struct say *say, bool broken)
{
	struct o2_msg reply = asked(say);

	reply.u.connparams.ibcp_queue_depth = SAY_DEPTH + broken;
	say_reply(say, &reply);
}

static void connect_reject_untrue(struct say *say, bool broken)
{
	asked(say);
	say_reject(say, O2_REJECT_MSG_QUEUE_SIZE, broken ? SAY_DEPTH : SAY_DEPTH - 1, SAY_FRAGS);
}

static void connect_refused(struct say *say, bool broken)
{
	asked(say);
	say_reject(say, broken ? O2_REJECT_MSG_QUEUE_SIZE : O2_REJECT_CONN_RACE, SAY_DEPTH - 1, SAY_FRAGS);
}

static void connect_reject_version(struct say *say, bool broken)
{
	struct o2_msg request = say_request_of(SAY_DEPTH, SAY_FRAGS);

	request.ibm_version = broken ? O2_MSG_VERSION_1 : O2_MSG_VERSION_2;
	say_meet(say, O2_JUDGE_WHOLE);
	say_request(say, &request);
	say_reject(say, O2_REJECT_CONN_RACE, 0, 0);
}

static void connect_retry(struct say *say, bool broken)
{
	const struct o2_msg again = say_request_of(broken ? SAY_DEPTH : SAY_DEPTH - 1, SAY_FRAGS);

	asked(say);
	say_reject(say, O2_REJECT_MSG_QUEUE_SIZE, SAY_DEPTH - 1, SAY_FRAGS);
	say_meet(say, O2_JUDGE_WHOLE);
	say_request(say, &again);
}

static void message_wire(struct say *say, bool broken)
{
	const struct o2_error refused = {
		.code = -EPROTO, .rule = "wire/header/magic", .field = "ibm_magic", .value = 1};

	say_connected(say);
	if (broken)
		say_event(say,
			  (struct o2_judge_event){
				  .kind = O2_JUDGE_MESSAGE, .from = A, .refused = &refused, .bytes = 48});
	else
		say_immediate(say, A, O2_LNET_PUT, 0, 0, 0);
}

static void message_type(struct say *say, bool broken)
{
	struct o2_msg msg = say_request_of(SAY_DEPTH, SAY_FRAGS);

	say_connected(say);
	if (broken)
		say_msg(say, A, &msg);
}

static void message_version(struct say *say, bool broken)
{
	struct o2_msg msg = say_header(A, O2_MSG_IMMEDIATE, 0);

	say_connected(say);
	if (broken)
		msg.ibm_version = O2_MSG_VERSION_1;
	say_msg(say, A, &msg);
}

static void message_nids(struct say *say, bool broken)
{
	struct o2_msg msg = say_header(A, O2_MSG_IMMEDIATE, 0);

	say_connected(say);
	msg.ibm_dstnid += broken;
	say_msg(say, A, &msg);
}

static void message_stamps(struct say *say, bool broken)
{
	struct o2_msg msg = say_header(B, O2_MSG_IMMEDIATE, 0);

	say_connected(say);
	msg.ibm_srcstamp += broken;
	say_msg(say, B, &msg);
}

static void message_size(struct say *say, bool broken)
{
	struct o2_msg request = say_request_of(SAY_DEPTH, SAY_FRAGS), reply;

	say_meet(say, O2_JUDGE_WHOLE);
	request.u.connparams.ibcp_max_msg_size = 1000;
	say_request(say, &request);
	reply = say_header(B, O2_MSG_CONNACK, 0);
	reply.u = request.u;
	say_reply(say, &reply);
	/* 120 bytes of headers. */
	say_immediate(say, A, O2_LNET_PUT, 0, 880 + broken, 0);
}

static void message_length(struct say *say, bool broken)
{
	struct o2_msg msg = say_header(A, O2_MSG_IMMEDIATE, 0);

	say_connected(say);
	say_msg_bytes(say, A, &msg, o2_msg_canonical_bytes(&msg) + broken);
}

static void use_credits(struct say *say, enum o2_judge_side from, uint32_t count)
{
	while (count-- > 0)
		say_immediate(say, from, O2_LNET_PUT, 0, 1, 0);
}

static void message_unsummed(struct say *say, bool broken)
{
	say_connected(say);
	for (int i = 0; i < 2; i++) {
		struct o2_msg msg = say_header(A, O2_MSG_PUT_REQ, 0);

		msg.cksum_flavour = i == 0 && broken ? O2_CKSUM_SIGNED : O2_CKSUM_NONE;
		msg.u.putreq.ibprm_cookie = (uint64_t)i;
		msg.u.putreq.hdr.type = O2_LNET_PUT;
		say_msg(say, A, &msg);
	}
}

static void credits_none(struct say *say, bool broken)
{
	say_connected(say);
	use_credits(say, A, SAY_DEPTH);
	say_noop(say, B, SAY_DEPTH - 1);
	use_credits(say, A, SAY_DEPTH - 1 + broken);
}

static void credits_over_owed(struct say *say, bool broken)
{
	say_connected(say);
	say_put_req(say, A, 1, SINK_BYTES, 0);
	use_credits(say, A, 4);
	/* The PUT_REQ's own comes with the PUT_DONE. */
	say_put_ack(say, B, 1, 2, &sink, 4 + broken);
}

/* A connection of version 1. */
static void credits_last(struct say *say, bool broken)
{
	struct o2_msg request = say_request_of(SAY_DEPTH, SAY_FRAGS), msg;

	say_meet(say, O2_JUDGE_WHOLE);
	request.ibm_version = O2_MSG_VERSION_1;
	say_request(say, &request);
	msg = say_header(B, O2_MSG_CONNACK, 0);
	msg.ibm_version = O2_MSG_VERSION_1;
	msg.u = request.u;
	say_reply(say, &msg);
	msg = say_header(A, O2_MSG_IMMEDIATE, 0);
	msg.ibm_version = O2_MSG_VERSION_1;
	for (uint32_t i = 0; i < SAY_DEPTH - 1; i++)
		say_msg(say, A, &msg);
	if (!broken) {
		say_later(say, 2000);
		msg.ibm_type = O2_MSG_NOOP;
	}
	say_msg(say, A, &msg);
}

static void credits_requests(struct say *say, bool broken)
{
	say_connected(say);
	for (uint32_t i = 0; i < SAY_DEPTH; i++)
		say_put_req(say, A, i, SINK_BYTES, 0);
	say_noop(say, B, SAY_DEPTH);
	if (!broken)
		say_done(say, B, O2_MSG_PUT_NAK, 0, 0, 0);
	say_put_req(say, A, SAY_DEPTH, SINK_BYTES, 0);
}

/* A mark is at least 3 of 8 (docs/judge.md). */
static void credits_noop_uncalled(struct say *say, bool broken)
{
	say_connected(say);
	use_credits(say, A, 4);
	say_immediate(say, B, O2_LNET_PUT, 0, 1, 1);
	say_later(say, broken ? 999 : 1000);
	say_noop(say, B, 2);
}

static void credits_noop_storm(struct say *say, bool broken)
{
	/* Each may be to keep the connection alive. */
	const struct o2_judge_options options = {.timeout_ms = 50000, .keepalive_ms = 0};

	say_close(say);
	say_open(say, &options);
	say_connected(say);
	for (uint32_t i = 0; i < 17; i++) {
		say_noop(say, A, 0);
		say_later(say, broken ? 62 : 63);
	}
}

static void credits_withheld(struct say *say, bool broken)
{
	say_connected(say);
	use_credits(say, A, SAY_DEPTH);
	say_later(say, broken ? 50001 : 50000);
	say_noop(say, B, SAY_DEPTH);
}

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
	/* 0: nobody wants it.  More: bytes, of which a NAK has none. */
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
	/* The last byte of the first sink, or the one behind it. */
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

/* A packet of the WRITEs into the sink, of that stream from that offset of it on. */
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

/* In two packets; the last byte of the PUT is another one. */
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
	say_part(say, A, 7, 4096, 4096, 4096, broken ? 4095 : UINT32_MAX);
	say_write(say, A, sink.rkey, sink.addr + 4096, 4096);
	say_done(say, A, O2_MSG_PUT_DONE, 2, SINK_BYTES, 0);
	if (broken) {
		assert_int_equal(say->last[O2_JUDGE_PAYLOAD_PUT].error.index, SINK_BYTES - 1);
		assert_int_equal(say->last[O2_JUDGE_PAYLOAD_PUT].who, A);
	}
}

/* What comes for the second half is what stands 100 bytes further on. */
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

static const tell tales[O2_JUDGE_RULES] = {
	[O2_JUDGE_CONNECT_TYPE] = connect_type,
	[O2_JUDGE_CONNECT_LIMITS] = connect_limits,
	[O2_JUDGE_CONNECT_VERSION] = connect_version,
	[O2_JUDGE_CONNECT_NIDS] = connect_nids,
	[O2_JUDGE_CONNECT_STAMP] = connect_stamp,
	[O2_JUDGE_CONNECT_OVER_ASKED] = connect_over_asked,
	[O2_JUDGE_CONNECT_REJECT_UNTRUE] = connect_reject_untrue,
	[O2_JUDGE_CONNECT_REFUSED] = connect_refused,
	[O2_JUDGE_CONNECT_REJECT_VERSION] = connect_reject_version,
	[O2_JUDGE_CONNECT_RETRY] = connect_retry,
	[O2_JUDGE_MESSAGE_WIRE] = message_wire,
	[O2_JUDGE_MESSAGE_TYPE] = message_type,
	[O2_JUDGE_MESSAGE_VERSION] = message_version,
	[O2_JUDGE_MESSAGE_NIDS] = message_nids,
	[O2_JUDGE_MESSAGE_STAMPS] = message_stamps,
	[O2_JUDGE_MESSAGE_SIZE] = message_size,
	[O2_JUDGE_MESSAGE_LENGTH] = message_length,
	[O2_JUDGE_MESSAGE_UNSUMMED] = message_unsummed,
	[O2_JUDGE_CREDITS_NONE] = credits_none,
	[O2_JUDGE_CREDITS_OVER_OWED] = credits_over_owed,
	[O2_JUDGE_CREDITS_LAST] = credits_last,
	[O2_JUDGE_CREDITS_REQUESTS] = credits_requests,
	[O2_JUDGE_CREDITS_NOOP_UNCALLED] = credits_noop_uncalled,
	[O2_JUDGE_CREDITS_NOOP_STORM] = credits_noop_storm,
	[O2_JUDGE_CREDITS_WITHHELD] = credits_withheld,
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

/* That rule once, or none, and no other. */
static void hear(int rule, bool broken)
{
	struct say say;

	say_open(&say, NULL);
	tales[rule](&say, broken);
	for (int i = 0; i < O2_JUDGE_RULES; i++) {
		const uint32_t expected = i == rule && broken;

		/* A reject for a limit is that note as well. */
		if (i == O2_JUDGE_CONNECT_REFUSED && i != rule)
			continue;
		if (say.times[i] != expected)
			fail_msg("%s, %s: %u times %s", o2_judge_rules[rule].id,
				 broken ? "broken" : "as near as can be", say.times[i], o2_judge_rules[i].id);
	}
	say_close(&say);
}

TEST(test_each_rule)
{
	for (int rule = 0; rule < O2_JUDGE_RULES; rule++) {
		if (tales[rule] == NULL)
			fail_msg("%s is not tried", o2_judge_rules[rule].id);
		hear(rule, true);
		hear(rule, false);
	}
}
