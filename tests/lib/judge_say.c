/* SPDX-License-Identifier: MIT */
#include "tests/lib/judge_say.h"

#include <assert.h>

#include "base/monotonic.h"
#include "tests/lib/unit_test.h"

#define STAMP_A 0x1111u
#define STAMP_B 0x2222u

static void take(void *context, const struct o2_judge_finding *finding)
{
	struct say *say = context;

	say->times[finding->rule]++;
	say->last[finding->rule] = *finding;
}

void say_open(struct say *say, const struct o2_judge_options *options)
{
	*say = (struct say){.now_ns = O2_NS_PER_MS};
	say->judge = o2_judge_new(options, take, say);
	assert_non_null(say->judge);
}

void say_close(struct say *say)
{
	o2_judge_free(say->judge);
}

struct say *say_opened(void)
{
	static struct say say;

	say_open(&say, NULL);
	return &say;
}

uint32_t say_findings(const struct say *say)
{
	uint32_t count = 0;

	for (int i = 0; i < O2_JUDGE_RULES; i++)
		if (o2_judge_rules[i].severity != O2_JUDGE_NOTE)
			count += say->times[i];
	return count;
}

void say_meet(struct say *say, enum o2_judge_seen seen)
{
	say->conn = o2_judge_meet(say->judge, seen);
	assert_non_null(say->conn);
}

void say_later(struct say *say, uint64_t ms)
{
	say->now_ns += ms * O2_NS_PER_MS;
}

void say_event(struct say *say, struct o2_judge_event event)
{
	event.number = ++say->number;
	event.time_ns = say->now_ns;
	event.timeless = say->now_ns == 0;
	assert_int_equal(o2_judge_hear(say->judge, say->conn, &event), 0);
}

void say_lose(struct say *say, enum o2_judge_side from)
{
	say_event(say, (struct o2_judge_event){.kind = O2_JUDGE_LOST, .from = from});
}

struct o2_msg say_header(enum o2_judge_side from, enum o2_msg_type type, uint8_t credits)
{
	struct o2_msg msg = {.ibm_version = O2_MSG_VERSION_2, .ibm_type = (uint8_t)type};

	msg.ibm_credits = credits;
	msg.ibm_srcnid = from == O2_JUDGE_A ? SAY_A : SAY_B;
	msg.ibm_srcstamp = from == O2_JUDGE_A ? STAMP_A : STAMP_B;
	msg.ibm_dstnid = from == O2_JUDGE_A ? SAY_B : SAY_A;
	msg.ibm_dststamp = from == O2_JUDGE_A ? STAMP_B : STAMP_A;
	return msg;
}

struct o2_msg say_request_of(uint32_t depth, uint32_t frags)
{
	struct o2_msg msg = say_header(O2_JUDGE_A, O2_MSG_CONNREQ, 0);

	msg.u.connparams.ibcp_queue_depth = (uint16_t)depth;
	msg.u.connparams.ibcp_max_frags = (uint16_t)frags;
	msg.u.connparams.ibcp_max_msg_size = O2_MSG_BYTES;
	return msg;
}

void say_request(struct say *say, const struct o2_msg *msg)
{
	say_event(say, (struct o2_judge_event){.kind = O2_JUDGE_REQUEST, .from = O2_JUDGE_A, .msg = msg});
}

void say_reply(struct say *say, const struct o2_msg *msg)
{
	say_event(say, (struct o2_judge_event){.kind = O2_JUDGE_REPLY, .from = O2_JUDGE_B, .msg = msg});
}

void say_reject(struct say *say, uint8_t why, uint32_t depth, uint32_t frags)
{
	const struct o2_reject reject = {
		.ibr_version = O2_MSG_VERSION_2,
		.ibr_why = why,
		.ibr_incarnation = STAMP_B,
		.ibr_cp = {(uint16_t)depth, (uint16_t)frags, O2_MSG_BYTES},
	};

	say_event(say,
		  (struct o2_judge_event){.kind = O2_JUDGE_REJECT, .from = O2_JUDGE_B, .reject = &reject});
}

void say_connected(struct say *say)
{
	const struct o2_msg request = say_request_of(SAY_DEPTH, SAY_FRAGS);
	struct o2_msg reply = say_header(O2_JUDGE_B, O2_MSG_CONNACK, 0);

	reply.u = request.u;
	say_meet(say, O2_JUDGE_WHOLE);
	say_request(say, &request);
	say_reply(say, &reply);
}

void say_msg_bytes(struct say *say, enum o2_judge_side from, struct o2_msg *msg, uint64_t bytes)
{
	msg->ibm_nob = (uint32_t)bytes;
	say_event(say, (struct o2_judge_event){
			       .kind = O2_JUDGE_MESSAGE, .from = from, .msg = msg, .bytes = bytes});
}

void say_msg(struct say *say, enum o2_judge_side from, struct o2_msg *msg)
{
	say_msg_bytes(say, from, msg, o2_msg_canonical_bytes(msg));
}

void say_noop(struct say *say, enum o2_judge_side from, uint8_t credits)
{
	struct o2_msg msg = say_header(from, O2_MSG_NOOP, credits);

	say_msg(say, from, &msg);
}

static struct o2_lnet_handle handle_of(uint64_t handle)
{
	const uint64_t none = UINT64_MAX;

	return handle == 0 ? (struct o2_lnet_handle){none, none} : (struct o2_lnet_handle){1, handle};
}

void say_immediate(struct say *say, enum o2_judge_side from, enum o2_lnet_type type, uint64_t handle,
		   uint32_t bytes, uint8_t credits)
{
	struct o2_msg msg = say_header(from, O2_MSG_IMMEDIATE, credits);
	struct o2_lnet_hdr *hdr = &msg.u.immediate.hdr;

	hdr->type = type;
	hdr->dest_nid = msg.ibm_dstnid;
	if (type == O2_LNET_PUT)
		hdr->msg.put.ack_wmd = handle_of(handle);
	else if (type == O2_LNET_GET)
		hdr->msg.get.return_wmd = handle_of(handle);
	else if (type == O2_LNET_ACK)
		hdr->msg.ack.dst_wmd = handle_of(handle);
	else
		hdr->msg.reply.dst_wmd = handle_of(handle);
	if (type == O2_LNET_PUT || type == O2_LNET_REPLY)
		hdr->payload_length = bytes;
	else if (type == O2_LNET_GET)
		hdr->msg.get.sink_length = bytes;
	else
		hdr->msg.ack.mlength = bytes;
	say_msg(say, from, &msg);
}

void say_put_req(struct say *say, enum o2_judge_side from, uint64_t cookie, uint32_t bytes, uint8_t credits)
{
	struct o2_msg msg = say_header(from, O2_MSG_PUT_REQ, credits);

	msg.u.putreq.ibprm_cookie = cookie;
	msg.u.putreq.hdr.type = O2_LNET_PUT;
	msg.u.putreq.hdr.dest_nid = msg.ibm_dstnid;
	msg.u.putreq.hdr.payload_length = bytes;
	msg.u.putreq.hdr.msg.put.ack_wmd = handle_of(cookie);
	say_msg(say, from, &msg);
}

static void describe(const struct say_sink *sink, struct o2_rdma_desc *desc)
{
	assert(sink->count <= O2_MAX_FRAGS);
	desc->rd_key = sink->rkey;
	desc->rd_nfrags = sink->count;
	for (uint32_t i = 0; i < sink->count; i++)
		desc->rd_frags[i] =
			(struct o2_rdma_frag){sink->bytes, sink->addr + (uint64_t)i * sink->bytes};
}

void say_put_ack(struct say *say, enum o2_judge_side from, uint64_t cookie, uint64_t sink_cookie,
		 const struct say_sink *sink, uint8_t credits)
{
	struct o2_msg msg = say_header(from, O2_MSG_PUT_ACK, credits);

	msg.u.putack.ibpam_src_cookie = cookie;
	msg.u.putack.ibpam_dst_cookie = sink_cookie;
	describe(sink, &msg.u.putack.ibpam_rd);
	say_msg(say, from, &msg);
}

void say_get_req(struct say *say, enum o2_judge_side from, uint64_t cookie, const struct say_sink *sink,
		 uint8_t credits)
{
	struct o2_msg msg = say_header(from, O2_MSG_GET_REQ, credits);

	msg.u.get.ibgm_cookie = cookie;
	msg.u.get.hdr.type = O2_LNET_GET;
	msg.u.get.hdr.msg.get.sink_length = sink->count * sink->bytes;
	describe(sink, &msg.u.get.ibgm_rd);
	say_msg(say, from, &msg);
}

void say_done(struct say *say, enum o2_judge_side from, enum o2_msg_type type, uint64_t cookie,
	      int32_t status, uint8_t credits)
{
	struct o2_msg msg = say_header(from, type, credits);

	msg.u.completion.ibcm_cookie = cookie;
	msg.u.completion.ibcm_status = status;
	say_msg(say, from, &msg);
}

void say_write(struct say *say, enum o2_judge_side from, uint32_t rkey, uint64_t addr, uint32_t bytes)
{
	say_event(say, (struct o2_judge_event){.kind = O2_JUDGE_WRITE,
					       .from = from,
					       .addr = addr,
					       .rkey = rkey,
					       .bytes = bytes,
					       .announced_bytes = bytes});
}

/* Run one tale: if broken, the judge must report this rule once; otherwise, and for all other rules, nothing. */
static void hear(enum o2_judge_rule_id rule, say_tale tale, bool broken)
{
	struct say say;

	say_open(&say, NULL);
	tale(&say, broken);
	for (int i = 0; i < O2_JUDGE_RULES; i++) {
		const uint32_t expected = i == (int)rule && broken;

		/* A reject because of a limit also leads to this note. */
		if (i == O2_JUDGE_CONNECT_REFUSED && i != (int)rule)
			continue;
		if (say.times[i] != expected)
			fail_msg("%s, %s: %u times %s", o2_judge_rules[rule].id,
				 broken ? "broken" : "as near as can be", say.times[i], o2_judge_rules[i].id);
	}
	say_close(&say);
}

void say_each(const say_tale *tales, enum o2_judge_rule_id first, enum o2_judge_rule_id end)
{
	for (int rule = (int)first; rule < (int)end; rule++) {
		if (tales[rule] == NULL)
			fail_msg("%s is not tried", o2_judge_rules[rule].id);
		hear((enum o2_judge_rule_id)rule, tales[rule], true);
		hear((enum o2_judge_rule_id)rule, tales[rule], false);
	}
}
