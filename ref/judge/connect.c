/* SPDX-License-Identifier: MIT */
/* Setting up a connection: CONNREQ, CONNACK and the reject record. */
#include "judge/internal.h"

/* docs/connection.md, "Checks of a request": the smallest depth that works, and the only one in version 1. */
#define LEAST_DEPTH 2u
#define DEPTH_V1    8u

/* Does the private data hold a message of this type?  If not, report it. */
static bool is_message(const struct o2_judging *at, enum o2_msg_type type)
{
	const struct o2_judge_event *event = at->event;

	if (event->msg == NULL && event->refused != NULL)
		o2_judge_refused(at);
	if (event->msg == NULL)
		return false;
	if (event->msg->ibm_type == type)
		return true;
	o2_judge_differs(at, O2_JUDGE_CONNECT_TYPE, 0, "ibm_type", event->msg->ibm_type, type);
	return false;
}

static void judge_limits(const struct o2_judging *at, const struct o2_msg *msg)
{
	const uint32_t depth = msg->u.connparams.ibcp_queue_depth;
	const uint32_t size = msg->u.connparams.ibcp_max_msg_size;

	if (msg->ibm_version == O2_MSG_VERSION_1 && depth != DEPTH_V1)
		o2_judge_differs(at, O2_JUDGE_CONNECT_LIMITS, 0, "ibcp_queue_depth", depth, DEPTH_V1);
	else if (depth < LEAST_DEPTH)
		o2_judge_over(at, O2_JUDGE_CONNECT_LIMITS, 0, "ibcp_queue_depth", depth, LEAST_DEPTH);
	else if (depth > O2_MAX_QUEUE_DEPTH)
		o2_judge_over(at, O2_JUDGE_CONNECT_LIMITS, 0, "ibcp_queue_depth", depth, O2_MAX_QUEUE_DEPTH);
	if (msg->u.connparams.ibcp_max_frags == 0)
		o2_judge_over(at, O2_JUDGE_CONNECT_LIMITS, 0, "ibcp_max_frags", 0, 1);
	if (size < O2_MIN_MSG_BYTES)
		o2_judge_over(at, O2_JUDGE_CONNECT_LIMITS, 0, "ibcp_max_msg_size", size, O2_MIN_MSG_BYTES);
	else if (size > O2_MSG_BYTES)
		o2_judge_over(at, O2_JUDGE_CONNECT_LIMITS, 0, "ibcp_max_msg_size", size, O2_MSG_BYTES);
}

static struct o2_judge_told *told_to(struct o2_judge *judge, uint64_t asker_nid, uint64_t target_nid)
{
	for (uint32_t i = 0; i < O2_JUDGE_TOLD_MAX; i++) {
		struct o2_judge_told *told = &judge->told[i];

		if (told->asker_nid == asker_nid && told->target_nid == target_nid)
			return told;
	}
	return NULL;
}

/* Judge a node's first request after a reject: it should respect the limit that the reject reported. */
static void judge_retry(const struct o2_judging *at, const struct o2_msg *msg)
{
	struct o2_judge_told *told = told_to(at->judge, msg->ibm_srcnid, msg->ibm_dstnid);

	if (told == NULL || told->asker_stamp != msg->ibm_srcstamp)
		return;
	if (told->why == O2_REJECT_MSG_QUEUE_SIZE && msg->ibm_version == O2_MSG_VERSION_2 &&
	    msg->u.connparams.ibcp_queue_depth > told->queue_depth)
		o2_judge_over(at, O2_JUDGE_CONNECT_RETRY, told->number, "ibcp_queue_depth",
			      msg->u.connparams.ibcp_queue_depth, told->queue_depth);
	if (told->why == O2_REJECT_RDMA_FRAGS && msg->u.connparams.ibcp_max_frags > told->max_frags)
		o2_judge_over(at, O2_JUDGE_CONNECT_RETRY, told->number, "ibcp_max_frags",
			      msg->u.connparams.ibcp_max_frags, told->max_frags);
	told->asker_nid = 0;
}

void o2_judge_request(const struct o2_judging *at)
{
	struct o2_judge_conn *conn = at->conn;
	const struct o2_msg *msg = at->event->msg;

	if (!is_message(at, O2_MSG_CONNREQ))
		return;
	/* Set the names first: findings about this request report them. */
	conn->end[at->from].nid = msg->ibm_srcnid;
	conn->end[at->from].stamp = msg->ibm_srcstamp;
	conn->end[at->from].named = true;
	conn->end[at->from].max_msg_bytes = msg->u.connparams.ibcp_max_msg_size;
	conn->end[at->to].nid = msg->ibm_dstnid;
	conn->end[at->to].stamp = msg->ibm_dststamp;
	judge_limits(at, msg);
	judge_retry(at, msg);
	conn->asked = true;
	conn->asked_number = at->event->number;
	conn->asked_version = msg->ibm_version;
	conn->asked_depth = msg->u.connparams.ibcp_queue_depth;
	conn->asked_frags = msg->u.connparams.ibcp_max_frags;
}

static void judge_granted(const struct o2_judging *at, const char *field, uint32_t granted, uint32_t asked)
{
	if (granted > asked)
		o2_judge_over(at, O2_JUDGE_CONNECT_OVER_ASKED, at->conn->asked_number, field, granted, asked);
}

void o2_judge_reply(const struct o2_judging *at)
{
	struct o2_judge_conn *conn = at->conn;
	const struct o2_msg *msg = at->event->msg;
	struct o2_judge_end *answers = &conn->end[at->from];

	if (!is_message(at, O2_MSG_CONNACK))
		return;
	judge_limits(at, msg);
	if (conn->asked) {
		const struct o2_judge_end *asks = &conn->end[at->to];
		const uint64_t request = conn->asked_number;

		o2_judge_expect(at, O2_JUDGE_CONNECT_VERSION, request, "ibm_version", msg->ibm_version,
				conn->asked_version);
		o2_judge_expect(at, O2_JUDGE_CONNECT_NIDS, request, "ibm_srcnid", msg->ibm_srcnid,
				answers->nid);
		o2_judge_expect(at, O2_JUDGE_CONNECT_NIDS, request, "ibm_dstnid", msg->ibm_dstnid, asks->nid);
		o2_judge_expect(at, O2_JUDGE_CONNECT_STAMP, request, "ibm_dststamp", msg->ibm_dststamp,
				asks->stamp);
		judge_granted(at, "ibcp_queue_depth", msg->u.connparams.ibcp_queue_depth, conn->asked_depth);
		judge_granted(at, "ibcp_max_frags", msg->u.connparams.ibcp_max_frags, conn->asked_frags);
	}
	answers->nid = msg->ibm_srcnid;
	answers->stamp = msg->ibm_srcstamp;
	answers->named = true;
	answers->max_msg_bytes = msg->u.connparams.ibcp_max_msg_size;
	conn->version = msg->ibm_version;
	conn->version_sure = true;
	conn->queue_depth = msg->u.connparams.ibcp_queue_depth;
	conn->max_frags = msg->u.connparams.ibcp_max_frags;
}

void o2_judge_agreed(struct o2_judge_conn *conn, const struct o2_judge_terms *terms)
{
	for (int side = O2_JUDGE_A; side < O2_JUDGE_SIDES; side++) {
		conn->end[side].nid = terms->nid[side];
		conn->end[side].stamp = terms->stamp[side];
		conn->end[side].named = true;
		conn->end[side].max_msg_bytes = terms->max_msg_bytes[side];
	}
	conn->version = terms->version;
	conn->version_sure = true;
	conn->queue_depth = terms->queue_depth;
	conn->max_frags = terms->max_frags;
}

/* A record of version 1 gives the reason alone. */
static bool tells_limits(const struct o2_reject *reject)
{
	return reject->ibr_version != O2_MSG_VERSION_1;
}

/*
 * A limit in a reject is untrue if the request keeps to it and the asked value is enough for a connection.
 * exact: only this one value is accepted.
 */
static void judge_untrue(const struct o2_judging *at, uint8_t why, const char *field, uint32_t told,
			 uint32_t asked, uint32_t least, bool exact)
{
	if (at->event->reject->ibr_why == why && tells_limits(at->event->reject) &&
	    (exact ? told == asked : told >= asked) && asked >= least)
		o2_judge_over(at, O2_JUDGE_CONNECT_REJECT_UNTRUE, at->conn->asked_number, field, told,
			      asked - 1);
}

/* A node checks the version before it sends these reasons, so the reject must have the request's version. */
static void judge_reject_version(const struct o2_judging *at)
{
	const struct o2_reject *reject = at->event->reject;

	if ((reject->ibr_why == O2_REJECT_MSG_QUEUE_SIZE || reject->ibr_why == O2_REJECT_RDMA_FRAGS ||
	     reject->ibr_why == O2_REJECT_CONN_RACE) &&
	    reject->ibr_version != at->conn->asked_version)
		o2_judge_differs(at, O2_JUDGE_CONNECT_REJECT_VERSION, at->conn->asked_number, "ibr_version",
				 reject->ibr_version, at->conn->asked_version);
}

/* Report the field of the request that the reject is about, and its limit. */
static void judge_refused(const struct o2_judging *at)
{
	const struct o2_judge_conn *conn = at->conn;
	const struct o2_reject *reject = at->event->reject;
	const enum o2_judge_rule_id rule = O2_JUDGE_CONNECT_REFUSED;
	const bool tells = tells_limits(reject);

	switch (reject->ibr_why) {
	case O2_REJECT_CONN_RACE:
	case O2_REJECT_NO_RESOURCES:
	case O2_REJECT_EARLY:
		return; /* temporary conditions: the request is not at fault */
	case O2_REJECT_MSG_QUEUE_SIZE:
		if (!tells)
			break;
		o2_judge_broken(at, rule, at->to, conn->asked_number, "ibcp_queue_depth", conn->asked_depth,
				reject->ibr_cp.ibcp_queue_depth, O2_LIMIT_BOUND);
		return;
	case O2_REJECT_RDMA_FRAGS:
		if (!tells)
			break;
		o2_judge_broken(at, rule, at->to, conn->asked_number, "ibcp_max_frags", conn->asked_frags,
				reject->ibr_cp.ibcp_max_frags,
				reject->ibr_cp.ibcp_max_frags > conn->asked_frags ? O2_LIMIT_EXACT
										  : O2_LIMIT_BOUND);
		return;
	case O2_REJECT_CONN_STALE:
		/* The stale incarnation may be that of the asking node. */
		if (!tells || conn->end[at->from].stamp == 0 ||
		    conn->end[at->from].stamp == reject->ibr_incarnation)
			break;
		o2_judge_broken(at, rule, at->to, conn->asked_number, "ibm_dststamp",
				conn->end[at->from].stamp, reject->ibr_incarnation, O2_LIMIT_EXACT);
		return;
	default:
		break;
	}
	o2_judge_broken(at, rule, at->to, conn->asked_number, "ibr_why", reject->ibr_why, O2_NO_LIMIT,
			O2_LIMIT_BOUND);
}

bool o2_judge_reject_is_blank(const uint8_t *bytes, size_t length_bytes)
{
	for (size_t i = 0; i < length_bytes; i++)
		if (bytes[i] != 0)
			return false;
	return true;
}

void o2_judge_reject(const struct o2_judging *at)
{
	struct o2_judge *judge = at->judge;
	const struct o2_judge_conn *conn = at->conn;
	const struct o2_reject *reject = at->event->reject;
	struct o2_judge_told *told;

	if (reject == NULL || !conn->asked) {
		is_message(at, O2_MSG_CONNACK);
		return;
	}
	judge_untrue(at, O2_REJECT_MSG_QUEUE_SIZE, "ibcp_queue_depth", reject->ibr_cp.ibcp_queue_depth,
		     conn->asked_depth, LEAST_DEPTH, false);
	/* A node that cannot register memory accepts only exactly as many fragments as it offers. */
	judge_untrue(at, O2_REJECT_RDMA_FRAGS, "ibcp_max_frags", reject->ibr_cp.ibcp_max_frags,
		     conn->asked_frags, 1, true);
	judge_reject_version(at);
	judge_refused(at);
	if (!tells_limits(reject))
		return;
	told = told_to(judge, conn->end[at->to].nid, conn->end[at->from].nid);
	if (told == NULL)
		told = &judge->told[judge->next_told++ % O2_JUDGE_TOLD_MAX];
	*told = (struct o2_judge_told){
		.asker_nid = conn->end[at->to].nid,
		.asker_stamp = conn->end[at->to].stamp,
		.target_nid = conn->end[at->from].nid,
		.why = reject->ibr_why,
		.queue_depth = reject->ibr_cp.ibcp_queue_depth,
		.max_frags = reject->ibr_cp.ibcp_max_frags,
		.number = at->event->number,
	};
}
