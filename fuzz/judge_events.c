/* SPDX-License-Identifier: MIT */
/* The judge is given any events, on several connections: it may not count too many, nor exceed its limits. */
#include <string.h>

#include "base/stream.h"
#include "fuzz/common.h"
#include "judge/judge.h"
#include "props/engine/choice.h"

#define CONNS 3u

static void take(void *context, const struct o2_judge_finding *finding)
{
	uint64_t *count = context;

	if (finding->rule >= O2_JUDGE_RULES || finding->conn == NULL || finding->who >= O2_JUDGE_SIDES)
		o2_fuzz_fail("a finding that cannot be");
	(*count)++;
}

/* Few different values, so that they coincide. */
static uint32_t draw(struct o2_choice *choice)
{
	return (uint32_t)o2_draw(choice, 9);
}

static void draw_desc(struct o2_choice *choice, struct o2_rdma_desc *desc)
{
	desc->rd_key = draw(choice);
	desc->rd_nfrags = 1 + draw(choice);
	for (uint32_t i = 0; i < desc->rd_nfrags; i++)
		desc->rd_frags[i] = (struct o2_rdma_frag){1 + draw(choice), draw(choice) * 4};
}

/* A message that decoding could have produced. */
static void draw_msg(struct o2_choice *choice, struct o2_msg *msg)
{
	static const uint8_t types[] = {O2_MSG_NOOP,	O2_MSG_IMMEDIATE, O2_MSG_PUT_REQ, O2_MSG_PUT_NAK,
					O2_MSG_PUT_ACK, O2_MSG_PUT_DONE,  O2_MSG_GET_REQ, O2_MSG_GET_DONE,
					O2_MSG_CONNREQ, O2_MSG_CONNACK};
	struct o2_lnet_hdr *hdr = NULL;

	memset(msg, 0, sizeof(*msg));
	msg->ibm_version = O2_MSG_VERSION_2 - (uint16_t)o2_draw(choice, 1);
	msg->ibm_type = types[o2_draw(choice, sizeof(types) - 1)];
	msg->ibm_credits = (uint8_t)draw(choice);
	msg->ibm_srcnid = draw(choice);
	msg->ibm_dstnid = draw(choice);
	msg->ibm_srcstamp = draw(choice);
	msg->ibm_dststamp = draw(choice);
	switch (msg->ibm_type) {
	case O2_MSG_CONNREQ:
	case O2_MSG_CONNACK:
		msg->u.connparams.ibcp_queue_depth = (uint16_t)draw(choice);
		msg->u.connparams.ibcp_max_frags = (uint16_t)draw(choice);
		msg->u.connparams.ibcp_max_msg_size = draw(choice) * 1000;
		break;
	case O2_MSG_IMMEDIATE:
		hdr = &msg->u.immediate.hdr;
		break;
	case O2_MSG_PUT_REQ:
		msg->u.putreq.ibprm_cookie = draw(choice);
		hdr = &msg->u.putreq.hdr;
		break;
	case O2_MSG_PUT_ACK:
		msg->u.putack.ibpam_src_cookie = draw(choice);
		msg->u.putack.ibpam_dst_cookie = draw(choice);
		draw_desc(choice, &msg->u.putack.ibpam_rd);
		break;
	case O2_MSG_GET_REQ:
		msg->u.get.ibgm_cookie = draw(choice);
		draw_desc(choice, &msg->u.get.ibgm_rd);
		hdr = &msg->u.get.hdr;
		break;
	case O2_MSG_NOOP:
		break;
	default:
		msg->u.completion.ibcm_cookie = draw(choice);
		msg->u.completion.ibcm_status = (int32_t)o2_draw(choice, 100) - 10;
		break;
	}
	if (hdr == NULL)
		return;
	hdr->type = (uint32_t)o2_draw(choice, O2_LNET_REPLY);
	hdr->payload_length = draw(choice);
	hdr->msg.ack.dst_wmd.wh_object_cookie = draw(choice);
	hdr->msg.ack.mlength = draw(choice);
	if (hdr->type == O2_LNET_PUT)
		hdr->msg.put.hdr_data = draw(choice);
}

static void draw_event(struct o2_choice *choice, struct o2_judge_event *event, struct o2_msg *msg,
		       struct o2_reject *reject)
{
	static uint8_t part[64]; /* valid until the next event */
	static const struct o2_error refused = {
		.code = -1, .rule = "wire/header/magic", .field = "ibm_magic"};

	memset(event, 0, sizeof(*event));
	/* Mostly messages and WRITEs. */
	event->kind = (enum o2_judge_event_kind)o2_draw(choice, O2_JUDGE_DISCONNECT + 8);
	if (event->kind > O2_JUDGE_PART)
		event->kind = event->kind % 3 == 0 ? O2_JUDGE_WRITE : O2_JUDGE_MESSAGE;
	event->from = (enum o2_judge_side)o2_draw(choice, 1);
	event->bytes = draw(choice);
	event->addr = draw(choice) * 4;
	event->rkey = draw(choice);
	event->announced_bytes = draw(choice);
	/* One in ten, without a draw of its own, so that the corpus keeps its meaning. */
	event->timeless = event->announced_bytes == 9;
	if (event->kind == O2_JUDGE_PART) {
		event->bytes = o2_draw(choice, sizeof(part));
		o2_stream_fill(part, sizeof(part), O2_JUDGE_DEFAULTS.seed, draw(choice), draw(choice));
		event->payload = part;
	}
	if (o2_draw(choice, 15) == 1) {
		event->refused = &refused;
	} else if (event->kind == O2_JUDGE_REJECT) {
		*reject = (struct o2_reject){.ibr_version = O2_MSG_VERSION_2,
					     .ibr_why = 1 + (uint8_t)draw(choice)};
		reject->ibr_cp.ibcp_queue_depth = (uint16_t)draw(choice);
		event->reject = reject;
	} else if (event->kind <= O2_JUDGE_MESSAGE) {
		draw_msg(choice, msg);
		event->msg = msg;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct o2_choice choice;
	static struct o2_msg msg;
	uint64_t found = 0, heard = 0, counted = 0, now_ns = 1;
	struct o2_judge *judge = o2_judge_new(NULL, take, &found);
	struct o2_judge_conn *conn[CONNS];
	struct o2_judge_event event;
	struct o2_reject reject;

	o2_choice_replay(&choice, data, size);
	for (uint32_t i = 0; i < CONNS; i++)
		conn[i] = o2_judge_meet(judge, (enum o2_judge_seen)i);
	while (!choice.past_end && heard < 4096) {
		draw_event(&choice, &event, &msg, &reject);
		now_ns += o2_draw(&choice, 20) == 1 ? 20000000000u : 1000;
		event.time_ns = now_ns;
		event.number = ++heard;
		if (o2_judge_hear(judge, conn[o2_draw(&choice, CONNS - 1)], &event) != 0)
			o2_fuzz_fail("an event is refused");
	}
	for (uint32_t i = 0; i < CONNS; i++) {
		const struct o2_judge_view view = o2_judge_view(conn[i]);

		for (int side = O2_JUDGE_A; side < O2_JUDGE_SIDES; side++) {
			counted += view.messages[side] + view.writes[side];
			if (view.open[side] > O2_JUDGE_SIDE_TRANSFERS_MAX)
				o2_fuzz_fail("more transfers than are followed");
		}
	}
	if (counted > heard)
		o2_fuzz_fail("the judge heard more than there was");
	o2_judge_free(judge);
	return 0;
}
