/* SPDX-License-Identifier: MIT */

#include "base/fields.h"
#include "lnd/node/negotiate.h"
#include "oracle/stage_ops.h"

/*
 * Stage connect: one step of a connection's negotiation, i.e. the reaction of a node with given limits to a
 * CONNREQ, a CONNACK or a reject (docs/oracle.md, "A connection").
 */

static_assert(O2_IMPL_CONNECT_BYTES >= O2_CM_REPLY_BYTES && O2_IMPL_CONNECT_BYTES >= O2_CM_REJECT_BYTES &&
		      O2_IMPL_CONNECT_BYTES >= O2_CM_REQUEST_BYTES,
	      "what a connection manager hands over");

static const struct o2_field params_fields[] = {
	{O2_FIELD("ibm_version", UINT, struct o2_impl_conn_params, ibm_version), .limit = UINT16_MAX},
	{O2_FIELD("queue_depth", UINT, struct o2_impl_conn_params, queue_depth), .limit = UINT16_MAX},
	{O2_FIELD("max_frags", UINT, struct o2_impl_conn_params, max_frags), .limit = UINT16_MAX},
	{O2_FIELD("max_msg_size", UINT, struct o2_impl_conn_params, max_msg_size)},
	{0},
};

static const char *const events[] = {"connreq", "connack", "reject"};

static const struct o2_field question_fields[] = {
	{O2_FIELD("event", NAME, struct o2_impl_connect_in, event), .names = events, .limit = 3},
	{O2_FIELD("cm_reason", UINT, struct o2_impl_connect_in, cm_reason)},
	{O2_FIELD("nid", HEX, struct o2_impl_connect_in, nid)},
	{O2_FIELD("incarnation", HEX, struct o2_impl_connect_in, incarnation)},
	{O2_FIELD("registers", BOOL, struct o2_impl_connect_in, registers)},
	{O2_FIELD("own", PART, struct o2_impl_connect_in, own), .part = params_fields},
	{O2_FIELD("asked", PART, struct o2_impl_connect_in, asked), .part = params_fields},
	{0},
};

static const struct o2_field result_fields[] = {
	{O2_FIELD("connect.params", PART, struct o2_impl_connect_out, params), .part = params_fields},
	{O2_FIELD("connect.peer_nid", HEX, struct o2_impl_connect_out, peer_nid)},
	{O2_FIELD("connect.peer_incarnation", HEX, struct o2_impl_connect_out, peer_incarnation)},
	{0},
};

O2_STAGE_CALL(connect, connect)

static void put(const struct o2_case *asked, struct o2_impl_slot *slot)
{
	slot->in->connect = asked->connect.in;
	slot->in->connect.bytes =
		o2_impl_put_bytes(slot, asked->connect.bytes, asked->connect.in.length_bytes);
}

static void get(const struct o2_case *asked, struct o2_impl_slot *slot, struct o2_answer *answer)
{
	(void)asked;
	answer->connect = slot->out->connect;
}

/* --- the reference --- */

static struct o2_conn_params params_of(const struct o2_impl_conn_params *from)
{
	return (struct o2_conn_params){.version = (uint16_t)from->ibm_version,
				       .queue_depth = (uint16_t)from->queue_depth,
				       .max_frags = (uint16_t)from->max_frags,
				       .max_msg_size = from->max_msg_size};
}

static void result_of(const struct o2_conn_params *params, uint64_t nid, uint64_t incarnation,
		      struct o2_impl_connect_out *out)
{
	*out = (struct o2_impl_connect_out){
		.params = {.ibm_version = params->version,
			   .queue_depth = params->queue_depth,
			   .max_frags = params->max_frags,
			   .max_msg_size = params->max_msg_size},
		.peer_nid = nid,
		.peer_incarnation = incarnation,
	};
}

static int reference(const struct o2_case *asked, struct o2_answer *answer, struct o2_error *error)
{
	const struct o2_impl_connect_in *in = &asked->connect.in;
	const struct o2_connreq_self self = {
		.nid = in->nid,
		.incarnation = in->incarnation,
		.version = (uint16_t)in->own.ibm_version,
		.queue_depth = (uint16_t)in->own.queue_depth,
		.max_frags = (uint16_t)in->own.max_frags,
		.registers = in->registers,
		.up = true,
	};
	const struct o2_conn_params offer = params_of(&in->asked);
	const struct o2_cm_origin origin = {.ipv4 = false};
	struct o2_reject_verdict verdict;
	struct o2_conn_params agreed;
	struct o2_connreq request;
	struct o2_reject reject;
	uint64_t incarnation = 0;
	int rc;

	if (in->event == O2_IMPL_GOT_CONNREQ) {
		rc = o2_connreq_judge(&self, &origin, asked->connect.bytes, in->length_bytes, &request,
				      &reject, error);
		if (rc == 0)
			result_of(&request.params, request.nid, request.incarnation, &answer->connect);
		else
			error->index = reject.ibr_why;
		return rc;
	}
	if (in->event == O2_IMPL_GOT_CONNACK) {
		rc = o2_connack_judge(&self, &offer, asked->connect.bytes, in->length_bytes, &agreed,
				      &incarnation, error);
		if (rc == 0)
			result_of(&agreed, 0, incarnation, &answer->connect);
		return rc;
	}
	o2_reject_judge(&self, &offer, in->cm_reason, asked->connect.bytes, in->length_bytes, &verdict);
	if (verdict.retry) {
		result_of(&verdict.offer, 0, verdict.incarnation, &answer->connect);
		return 0;
	}
	*error = verdict.error;
	error->code = verdict.code;
	return verdict.code;
}

static void compare(struct o2_comparison *comparison, const struct o2_case *asked,
		    const struct o2_answer *expected, const struct o2_answer *found)
{
	const struct o2_impl_connect_out *e = &expected->connect, *f = &found->connect;

	(void)asked;
	o2_expect(comparison, O2_CHECK_CONNECT_VERSION, "params.ibm_version", O2_NO_INDEX,
		  e->params.ibm_version, f->params.ibm_version);
	o2_expect(comparison, O2_CHECK_CONNECT_DEPTH, "params.queue_depth", O2_NO_INDEX,
		  e->params.queue_depth, f->params.queue_depth);
	o2_expect(comparison, O2_CHECK_CONNECT_FRAGS, "params.max_frags", O2_NO_INDEX, e->params.max_frags,
		  f->params.max_frags);
	o2_expect(comparison, O2_CHECK_CONNECT_MSG_SIZE, "params.max_msg_size", O2_NO_INDEX,
		  e->params.max_msg_size, f->params.max_msg_size);
	o2_expect_hex(comparison, O2_CHECK_CONNECT_PEER, "peer_nid", O2_NO_INDEX, e->peer_nid, f->peer_nid);
	o2_expect_hex(comparison, O2_CHECK_CONNECT_PEER, "peer_incarnation", O2_NO_INDEX, e->peer_incarnation,
		      f->peer_incarnation);
}

#define PARAMS "{\"ibm_version\":18,\"queue_depth\":8,\"max_frags\":256,\"max_msg_size\":4096}"

const struct o2_stage_ops o2_stage_connect = {
	O2_STAGE_OPS(connect, O2_CHECK_CONNECT_REFUSED_LEGAL, O2_CHECK_CONNECT_ERRNO, O2_CHECK_CONNECT_RULE,
		     O2_CHECK_CONNECT_WHY, O2_CHECKS),
	.request = "{\"form\":\"o2ref/connect/input\",\"version\":1,\"event\":\"reject\",\"cm_reason\":8,"
		   "\"nid\":\"0x50000c0a80a01\",\"incarnation\":\"0x1\",\"registers\":true,\"own\":" PARAMS
		   ",\"asked\":" PARAMS ",\"bytes\":\"\"}",
	O2_STAGE_QUESTION(connect.in),
	.bytes = {offsetof(struct o2_case, connect.bytes), O2_IMPL_CONNECT_BYTES,
		  offsetof(struct o2_case, connect.in.length_bytes)},
	O2_STAGE_RESULT(connect),
	.member = "connect",
	.compare = compare,
};
