/* SPDX-License-Identifier: MIT */
/*
 * For each rule of the judge: a conversation that breaks only this rule, and one that comes as close to it as
 * possible but breaks no rule.
 */
#include "tests/lib/judge_say.h"
#include "tests/lib/unit_test.h"

#define A O2_JUDGE_A
#define B O2_JUDGE_B

static const struct say_sink sink = {0x77, 0x10000, 2, 4096};
#define SINK_BYTES 8192

/* A conversation that breaks the rule if `broken`, and otherwise no rule. */
typedef void (*tell)(struct say *say, bool broken);

/* Send a correct request.  Returns B's reply, which the caller changes and sends. */
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

	/* Version 1 always has a queue depth of 8, so only the version differs. */
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

/* A reject of version 1 says why, and tells no figure that the request, or the next one, could miss. */
SAY_TEST(test_a_reject_of_version_1)
{
	static const uint8_t why[] = {O2_REJECT_MSG_QUEUE_SIZE, O2_REJECT_RDMA_FRAGS, O2_REJECT_CONN_STALE};

	for (size_t i = 0; i < sizeof(why) / sizeof(why[0]); i++) {
		const struct o2_reject reject = {.ibr_version = O2_MSG_VERSION_1, .ibr_why = why[i]};
		struct o2_msg request = say_request_of(SAY_DEPTH, SAY_FRAGS);

		request.ibm_version = O2_MSG_VERSION_1;
		request.ibm_dststamp = 77;
		say_meet(say, O2_JUDGE_WHOLE);
		say_request(say, &request);
		say_event(say,
			  (struct o2_judge_event){.kind = O2_JUDGE_REJECT, .from = B, .reject = &reject});
		assert_string_equal(say->last[O2_JUDGE_CONNECT_REFUSED].error.field, "ibr_why");
		assert_int_equal(say->last[O2_JUDGE_CONNECT_REFUSED].error.value, why[i]);
		assert_int_equal(say->times[O2_JUDGE_CONNECT_REFUSED], i + 1);
	}
	assert_int_equal(say->times[O2_JUDGE_CONNECT_RETRY], 0);
	assert_int_equal(say_findings(say), 0);
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
	/* 880 bytes of payload and 120 bytes of headers. */
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
	/* The credit of the PUT_REQ itself is returned with the PUT_DONE. */
	say_put_ack(say, B, 1, 2, &sink, 4 + broken);
}

/* On a connection of version 1. */
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

/* The high-water mark for a depth of 8 is at least 3 (docs/judge.md). */
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
	/* Each of these NOOPs can be a keepalive. */
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

static const say_tale tales[O2_JUDGE_RULES] = {
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
};

TEST(test_each_rule)
{
	say_each(tales, (enum o2_judge_rule_id)0, O2_JUDGE_TRANSFER_COOKIE_REUSED);
}

/* What a side has sent before its first message that is seen is not known: that one may be of another connection. */
SAY_TEST(test_a_side_that_starts_unseen)
{
	struct o2_msg msg = say_header(B, O2_MSG_NOOP, 0);

	say_meet(say, O2_JUDGE_LATER);
	say_noop(say, A, 0);
	o2_judge_start_unseen(say->judge, say->conn, B);
	msg.ibm_dststamp += 1000;
	say_msg(say, B, &msg);
	assert_int_equal(say_findings(say), 0);
}
