/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "base/fields.h"
#include "lnd/conn/credits.h"
#include "oracle/stage_ops.h"
#include "wire/desc_codec.h"

/*
 * Stage deliver: what a received message reports to LNet (docs/oracle.md, "A message that has arrived").
 */

static const char *const awaited[] = {"nothing", "PUT_REQ", "PUT_ACK", "GET_REQ"};

static const struct o2_field question_fields[] = {
	{O2_FIELD("awaits", NAME, struct o2_impl_deliver_in, awaits), .names = awaited, .limit = 4},
	{O2_FIELD("max_frags", UINT, struct o2_impl_deliver_in, max_frags)},
	{O2_FIELD("cookie", HEX, struct o2_impl_deliver_in, cookie)},
	{O2_FIELD("nob", LENGTH, struct o2_impl_deliver_in, nob)},
	{0},
};

static const struct o2_field result_fields[] = {
	{O2_FIELD("deliver.length", LENGTH, struct o2_impl_deliver_out, length)},
	{O2_FIELD("deliver.status", INT, struct o2_impl_deliver_out, status)},
	{0},
};

O2_STAGE_CALL(deliver, deliver)

static void put(const struct o2_case *asked, struct o2_impl_slot *slot)
{
	slot->in->deliver = asked->deliver.in;
	slot->in->deliver.bytes =
		o2_impl_put_bytes(slot, asked->deliver.bytes, asked->deliver.in.length_bytes);
}

static void get(const struct o2_case *asked, struct o2_impl_slot *slot, struct o2_answer *answer)
{
	(void)asked;
	answer->deliver = slot->out->deliver;
}

/* --- the reference --- */

/* Check that the message answers the pending operation, as a connection finds the transmit by its cookie. */
static int find(const struct o2_impl_deliver_in *in, enum o2_impl_awaits sent, uint64_t cookie,
		const char *field, struct o2_error *error)
{
	if (in->awaits == sent && in->cookie == cookie)
		return 0;
	return o2_refuse_peer(error, -EPROTO, "conn/unknown-cookie", field, cookie, O2_NO_LIMIT);
}

static int settle(const struct o2_impl_deliver_in *in, const struct o2_msg *msg, enum o2_impl_awaits sent,
		  struct o2_impl_deliver_out *out, struct o2_error *error)
{
	const int32_t status = msg->u.completion.ibcm_status;
	int rc = find(in, sent, msg->u.completion.ibcm_cookie, "ibcm_cookie", error);

	if (rc == 0)
		rc = o2_outcome_judge((enum o2_msg_type)msg->ibm_type, status, in->nob, error);
	if (rc == 0 && status < 0)
		out->status = status;
	else
		out->length = (uint64_t)(status < 0 ? 0 : status);
	return rc;
}

static int act(const struct o2_impl_deliver_in *in, const struct o2_msg *msg, struct o2_impl_deliver_out *out,
	       struct o2_error *error)
{
	switch ((enum o2_msg_type)msg->ibm_type) {
	case O2_MSG_IMMEDIATE:
		out->length = msg->u.immediate.hdr.payload_length;
		return 0;
	case O2_MSG_PUT_REQ:
		out->length = msg->u.putreq.hdr.payload_length;
		return 0;
	case O2_MSG_GET_REQ:
		out->length = o2_desc_bytes(&msg->u.get.ibgm_rd);
		return 0;
	case O2_MSG_PUT_ACK:
		out->length = o2_desc_bytes(&msg->u.putack.ibpam_rd);
		return find(in, O2_IMPL_SENT_PUT_REQ, msg->u.putack.ibpam_src_cookie, "ibpam_src_cookie",
			    error);
	case O2_MSG_PUT_NAK:
		return settle(in, msg, O2_IMPL_SENT_PUT_REQ, out, error);
	case O2_MSG_PUT_DONE:
		return settle(in, msg, O2_IMPL_SENT_PUT_ACK, out, error);
	case O2_MSG_GET_DONE:
		return settle(in, msg, O2_IMPL_SENT_GET_REQ, out, error);
	case O2_MSG_NOOP:
		return 0;
	case O2_MSG_CONNREQ:
	case O2_MSG_CONNACK:
		break;
	}
	return o2_refuse_peer(error, -EPROTO, "conn/unexpected-type", "ibm_type", msg->ibm_type, O2_NO_LIMIT);
}

static int reference(const struct o2_case *asked, struct o2_answer *answer, struct o2_error *error)
{
	const struct o2_impl_deliver_in *in = &asked->deliver.in;
	const struct o2_wire_options options = {.max_frags = in->max_frags};
	struct o2_msg msg;
	int rc = o2_msg_decode(asked->deliver.bytes, in->length_bytes, &options, &msg, error);

	answer->deliver = (struct o2_impl_deliver_out){.length = 0};
	return rc != 0 ? rc : act(in, &msg, &answer->deliver, error);
}

static void compare(struct o2_comparison *comparison, const struct o2_case *asked,
		    const struct o2_answer *expected, const struct o2_answer *found)
{
	const struct o2_impl_deliver_out *e = &expected->deliver, *f = &found->deliver;

	(void)asked;
	o2_expect_hex(comparison, O2_CHECK_DELIVER_STATUS, "status", O2_NO_INDEX, (uint32_t)e->status,
		      (uint32_t)f->status);
	o2_expect(comparison, O2_CHECK_DELIVER_LENGTH, "length", O2_NO_INDEX, e->length, f->length);
}

#define NOOP \
	"911be90b1200d0043000000000000000010aa8c000000500f6e5d4c3b2a10500020aa8c000000500ffeeddccbbaa0500"

const struct o2_stage_ops o2_stage_deliver = {
	O2_STAGE_OPS(deliver, O2_CHECK_DELIVER_REFUSED_LEGAL, O2_CHECK_DELIVER_ERRNO, O2_CHECK_DELIVER_RULE,
		     O2_CHECKS, O2_CHECK_DELIVER_COST),
	.request = "{\"form\":\"o2ref/deliver/input\",\"version\":1,\"awaits\":\"nothing\",\"max_frags\":257,"
		   "\"cookie\":\"0x0\",\"nob\":0,\"bytes\":\"" NOOP "\"}",
	O2_STAGE_QUESTION(deliver.in),
	.bytes = {offsetof(struct o2_case, deliver.bytes), O2_CASE_MSG_BYTES,
		  offsetof(struct o2_case, deliver.in.length_bytes)},
	O2_STAGE_RESULT(deliver),
	.member = "deliver",
	.compare = compare,
};
