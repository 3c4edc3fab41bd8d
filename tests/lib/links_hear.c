/* SPDX-License-Identifier: MIT */
#include "tests/lib/links_hear.h"

#include <errno.h>

#include "tests/lib/unit_test.h"

#define A O2_JUDGE_A
#define B O2_JUDGE_B

struct heard *heard_opened(void)
{
	const struct o2_judge_options options = {50000, 1000, true, 1};
	static struct heard heard;

	heard = (struct heard){.now_ns = SECOND_NS};
	say_open(&heard.say, &options);
	heard.links = o2_links_new(heard.say.judge);
	assert_non_null(heard.links);
	heard.stamp_b = say_header(B, O2_MSG_NOOP, 0).ibm_srcstamp;
	return &heard;
}

void heard_closed(struct heard *heard)
{
	o2_links_free(heard->links);
	say_close(&heard->say);
}

void hear(struct heard *heard, enum o2_judge_side from, struct o2_event event)
{
	struct o2_roce_address *const ends[] = {[A] = &event.src, [B] = &event.dst};

	event.frame = ++heard->frame;
	event.time_ns = heard->now_ns;
	ends[from]->bytes[0] = 1;
	ends[1 - from]->bytes[0] = 2;
	assert_int_equal(o2_links_hear(heard->links, &event), 0);
}

/* Set B's incarnation in the message to the one that the test has chosen. */
static struct o2_msg stamped(const struct heard *heard, enum o2_judge_side from, struct o2_msg msg)
{
	*(from == A ? &msg.ibm_dststamp : &msg.ibm_srcstamp) = heard->stamp_b;
	return msg;
}

void hear_cm(struct heard *heard, enum o2_judge_side from, struct o2_cm_mad cm, const struct o2_msg *msg)
{
	hear(heard, from, (struct o2_event){.kind = O2_EVENT_CM, .cm = cm, .msg = msg});
}

void hear_connect(struct heard *heard, uint32_t n, uint32_t qp_b)
{
	const struct o2_msg request = say_request_of(SAY_DEPTH, SAY_FRAGS);
	struct o2_msg reply = stamped(heard, B, say_header(B, O2_MSG_CONNACK, 0));

	reply.u = request.u;
	heard->psn[A] = heard->psn[B] = 1;
	hear_cm(heard, A,
		(struct o2_cm_mad){.kind = O2_CM_REQ,
				   .local_id = n,
				   .qp = QP_A + n,
				   .psn = 1,
				   .service_id = HEARD_O2IBLND},
		&request);
	for (uint32_t again = 0; again < 2; again++)
		hear_cm(heard, B,
			(struct o2_cm_mad){
				.kind = O2_CM_REP, .local_id = 100 + n, .remote_id = n, .qp = qp_b, .psn = 1},
			&reply);
}

void hear_send(struct heard *heard, enum o2_judge_side from, uint32_t qp, struct o2_msg msg)
{
	msg = stamped(heard, from, msg);
	msg.ibm_nob = o2_msg_canonical_bytes(&msg);
	hear(heard, from,
	     (struct o2_event){.kind = O2_EVENT_SEND,
			       .dest_qp = qp,
			       .psn = heard->psn[from]++,
			       .packets = 1,
			       .bytes = msg.ibm_nob,
			       .msg = &msg});
}

struct o2_msg a_put(enum o2_judge_side from, uint8_t credits)
{
	struct o2_msg msg = say_header(from, O2_MSG_IMMEDIATE, credits);

	msg.u.immediate.hdr.type = O2_LNET_PUT;
	msg.u.immediate.hdr.msg.put.ack_wmd = (struct o2_lnet_handle){UINT64_MAX, UINT64_MAX};
	return msg;
}

uint32_t heard_findings(const struct heard *heard)
{
	uint32_t count = 0;

	for (int i = 0; i < O2_JUDGE_RULES; i++)
		count += heard->say.times[i];
	return count;
}

void hear_ack(struct heard *heard, enum o2_judge_side from, uint32_t qp, uint32_t psn)
{
	hear(heard, from, (struct o2_event){.kind = O2_EVENT_ACK, .dest_qp = qp, .psn = psn});
}

struct o2_msg a_get_req(uint64_t cookie)
{
	struct o2_msg get = say_header(A, O2_MSG_GET_REQ, 0);

	get.u.get.hdr.msg.get.sink_length = 4096;
	get.u.get.ibgm_cookie = cookie;
	get.u.get.ibgm_rd.rd_key = (uint32_t)cookie;
	get.u.get.ibgm_rd.rd_nfrags = 1;
	get.u.get.ibgm_rd.rd_frags[0] = (struct o2_rdma_frag){4096, 0x10000 * cookie};
	return get;
}

struct o2_msg a_get_done(uint64_t cookie)
{
	struct o2_msg done = say_header(B, O2_MSG_GET_DONE, 1);

	done.u.completion.ibcm_cookie = cookie;
	done.u.completion.ibcm_status = -ENODATA;
	return done;
}
