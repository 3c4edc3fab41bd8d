/* SPDX-License-Identifier: MIT */
/* Negotiation: requests, replies and rejects with fields just inside and outside their limits. */
#include <errno.h>
#include <string.h>

#include "props/judge/scenes.h"

#define A O2_JUDGE_A
#define B O2_JUDGE_B

#define FIRST_NID UINT64_C(0x000500000a000001)
#define NIDS	  2u
/* Number of rejects that the judge remembers: docs/judge.md, "Captures". */
#define TOLD_KNOWN 64u

/* What a node learned from a reject. */
struct told {
	bool used;
	uint64_t stamp, number;
	uint8_t why;
	uint32_t depth, frags;
};

struct meeting {
	struct o2_msg request;
	uint64_t number; /* of the request's event; 0: not a valid request */
};

static uint64_t near(struct o2_hearing *h, uint64_t limit, uint64_t most)
{
	switch (o2_draw(h->c, 4)) {
	case 0:
		return limit;
	case 1:
		return limit == 0 ? 0 : limit - 1;
	case 2:
		return limit == most ? most : limit + 1;
	default:
		return o2_draw(h->c, most);
	}
}

static void draw_terms(struct o2_hearing *h, struct o2_msg *msg)
{
	static const uint64_t depths[] = {8, 2, 255, 1}, sizes[] = {4096, 148};

	msg->ibm_version = o2_draw_bool(h->c, 3, 1) ? O2_MSG_VERSION_1 : O2_MSG_VERSION_2;
	msg->u.connparams.ibcp_queue_depth = (uint16_t)near(h, depths[o2_draw(h->c, 3)], UINT16_MAX);
	msg->u.connparams.ibcp_max_frags = (uint16_t)near(h, o2_draw_bool(h->c, 1, 1), UINT16_MAX);
	msg->u.connparams.ibcp_max_msg_size = (uint32_t)near(h, sizes[o2_draw(h->c, 1)], UINT32_MAX);
}

static void expect_limit(struct o2_hearing *h, enum o2_judge_side who, const char *field, uint64_t value,
			 uint64_t low, uint64_t high)
{
	if (value < low || value > high)
		o2_hearing_expect(h, O2_HEARING_EVENT, O2_JUDGE_CONNECT_LIMITS, who, 0, field, value,
				  value < low ? low : high, low == high ? O2_LIMIT_EXACT : O2_LIMIT_BOUND);
}

static void expect_limits(struct o2_hearing *h, enum o2_judge_side who, const struct o2_msg *msg)
{
	const bool old = msg->ibm_version == O2_MSG_VERSION_1;

	expect_limit(h, who, "ibcp_queue_depth", msg->u.connparams.ibcp_queue_depth, old ? 8 : 2,
		     old ? 8 : 255);
	expect_limit(h, who, "ibcp_max_frags", msg->u.connparams.ibcp_max_frags, 1, UINT16_MAX);
	expect_limit(h, who, "ibcp_max_msg_size", msg->u.connparams.ibcp_max_msg_size, 148, 4096);
}

static void expect_at_most(struct o2_hearing *h, enum o2_judge_rule_id rule, enum o2_judge_side who,
			   uint64_t earlier, const char *field, uint64_t value, uint64_t limit)
{
	if (value > limit)
		o2_hearing_expect(h, O2_HEARING_EVENT, rule, who, earlier, field, value, limit,
				  O2_LIMIT_BOUND);
}

static void expect_same(struct o2_hearing *h, enum o2_judge_rule_id rule, uint64_t earlier, const char *field,
			uint64_t value, uint64_t expected)
{
	if (value != expected)
		o2_hearing_expect(h, O2_HEARING_EVENT, rule, B, earlier, field, value, expected,
				  O2_LIMIT_EXACT);
}

/* Send private data that is not a message, or a message of another type.  Returns whether it was sent. */
static bool tell_wrong(struct o2_hearing *h, enum o2_judge_event_kind kind, enum o2_judge_side from,
		       enum o2_msg_type expected, const struct o2_msg *msg)
{
	const struct o2_error refused = {
		.code = -EPROTO, .rule = "wire/header/magic", .field = "ibm_magic", .limit = O2_NO_LIMIT};
	struct o2_msg other = *msg;

	if (!o2_draw_bool(h->c, 15, 1))
		return false;
	if (o2_draw_bool(h->c, 1, 1)) {
		other.ibm_type = expected == O2_MSG_CONNREQ ? O2_MSG_CONNACK : O2_MSG_CONNREQ;
		o2_hearing_expect(h, O2_HEARING_EVENT, O2_JUDGE_CONNECT_TYPE, from, 0, "ibm_type",
				  other.ibm_type, expected, O2_LIMIT_EXACT);
		o2_hearing_tell(h, (struct o2_judge_event){.kind = kind, .from = from, .msg = &other});
		return true;
	}
	if (o2_draw_bool(h->c, 1, 1)) {
		o2_hearing_expect(h, O2_HEARING_EVENT, O2_JUDGE_MESSAGE_WIRE, from, 0, NULL, 0, O2_NO_LIMIT,
				  O2_LIMIT_OTHER);
		h->due[h->ndue - 1].error = refused;
		o2_hearing_tell(h, (struct o2_judge_event){.kind = kind, .from = from, .refused = &refused});
		return true;
	}
	o2_hearing_tell(h, (struct o2_judge_event){.kind = kind, .from = from});
	return true;
}

static void request(struct o2_hearing *h, struct meeting *meeting, struct told *told)
{
	struct o2_msg *msg = &meeting->request;

	meeting->number = 0;
	if (tell_wrong(h, O2_JUDGE_REQUEST, A, O2_MSG_CONNREQ, msg))
		return;
	expect_limits(h, A, msg);
	if (told->used && told->stamp == msg->ibm_srcstamp) {
		if (told->why == O2_REJECT_MSG_QUEUE_SIZE && msg->ibm_version == O2_MSG_VERSION_2)
			expect_at_most(h, O2_JUDGE_CONNECT_RETRY, A, told->number, "ibcp_queue_depth",
				       msg->u.connparams.ibcp_queue_depth, told->depth);
		if (told->why == O2_REJECT_RDMA_FRAGS)
			expect_at_most(h, O2_JUDGE_CONNECT_RETRY, A, told->number, "ibcp_max_frags",
				       msg->u.connparams.ibcp_max_frags, told->frags);
		told->used = false;
	}
	o2_hearing_tell(h, (struct o2_judge_event){.kind = O2_JUDGE_REQUEST, .from = A, .msg = msg});
	meeting->number = h->number;
}

/* Predict the findings about a reject: what it says of the request, and whether that is true. */
static void expect_refused(struct o2_hearing *h, const struct meeting *meeting,
			   const struct o2_reject *record)
{
	const bool of_depth = record->ibr_why == O2_REJECT_MSG_QUEUE_SIZE;
	const bool of_frags = record->ibr_why == O2_REJECT_RDMA_FRAGS;
	const uint32_t asked = of_depth ? meeting->request.u.connparams.ibcp_queue_depth
					: meeting->request.u.connparams.ibcp_max_frags;
	const uint32_t said = of_depth ? record->ibr_cp.ibcp_queue_depth : record->ibr_cp.ibcp_max_frags;
	const char *field = of_depth ? "ibcp_queue_depth" : "ibcp_max_frags";
	const bool only_reason = record->ibr_version == O2_MSG_VERSION_1;

	/* More fragments than requested may be the only number that the other side supports. */
	if ((of_depth || of_frags) && !only_reason && (of_depth ? said >= asked : said == asked) &&
	    asked >= (of_depth ? 2u : 1u))
		o2_hearing_expect(h, O2_HEARING_EVENT, O2_JUDGE_CONNECT_REJECT_UNTRUE, B, meeting->number,
				  field, said, asked - 1, O2_LIMIT_BOUND);
	if ((of_depth || of_frags || record->ibr_why == O2_REJECT_CONN_RACE) &&
	    record->ibr_version != meeting->request.ibm_version)
		o2_hearing_expect(h, O2_HEARING_EVENT, O2_JUDGE_CONNECT_REJECT_VERSION, B, meeting->number,
				  "ibr_version", record->ibr_version, meeting->request.ibm_version,
				  O2_LIMIT_EXACT);
	if ((of_depth || of_frags) && !only_reason)
		o2_hearing_expect(h, O2_HEARING_EVENT, O2_JUDGE_CONNECT_REFUSED, A, meeting->number, field,
				  asked, said, of_frags && said > asked ? O2_LIMIT_EXACT : O2_LIMIT_BOUND);
	else if (record->ibr_why == O2_REJECT_CONN_STALE && !only_reason &&
		 meeting->request.ibm_dststamp != 0 &&
		 meeting->request.ibm_dststamp != record->ibr_incarnation)
		o2_hearing_expect(h, O2_HEARING_EVENT, O2_JUDGE_CONNECT_REFUSED, A, meeting->number,
				  "ibm_dststamp", meeting->request.ibm_dststamp, record->ibr_incarnation,
				  O2_LIMIT_EXACT);
	else if (record->ibr_why != O2_REJECT_CONN_RACE && record->ibr_why != O2_REJECT_NO_RESOURCES &&
		 record->ibr_why != O2_REJECT_EARLY)
		o2_hearing_expect(h, O2_HEARING_EVENT, O2_JUDGE_CONNECT_REFUSED, A, meeting->number,
				  "ibr_why", record->ibr_why, O2_NO_LIMIT, O2_LIMIT_OTHER);
}

static void reject(struct o2_hearing *h, const struct meeting *meeting, struct told *told)
{
	const uint32_t depth = meeting->request.u.connparams.ibcp_queue_depth;
	const uint32_t frags = meeting->request.u.connparams.ibcp_max_frags;
	struct o2_reject record = {
		.ibr_version = o2_draw_bool(h->c, 3, 1) ? O2_MSG_VERSION_1 : O2_MSG_VERSION_2,
		.ibr_why = (uint8_t)(o2_draw_bool(h->c, 3, 1) ? 1 + o2_draw(h->c, 8) : 6 + o2_draw(h->c, 1)),
	};

	if (tell_wrong(h, O2_JUDGE_REJECT, B, O2_MSG_CONNACK, &meeting->request))
		return;
	record.ibr_cp.ibcp_queue_depth = (uint16_t)near(h, depth, UINT16_MAX);
	record.ibr_cp.ibcp_max_frags = (uint16_t)near(h, frags, UINT16_MAX);
	record.ibr_incarnation = o2_draw(h->c, 9);
	/* A reject of version 1 contains only the reason. */
	if (record.ibr_version == O2_MSG_VERSION_1) {
		memset(&record.ibr_cp, 0, sizeof(record.ibr_cp));
		record.ibr_incarnation = 0;
	}
	if (meeting->number != 0)
		expect_refused(h, meeting, &record);
	o2_hearing_tell(h, (struct o2_judge_event){.kind = O2_JUDGE_REJECT, .from = B, .reject = &record});
	if (meeting->number == 0 || record.ibr_version == O2_MSG_VERSION_1)
		return;
	*told = (struct told){true,	      meeting->request.ibm_srcstamp,  h->number,
			      record.ibr_why, record.ibr_cp.ibcp_queue_depth, record.ibr_cp.ibcp_max_frags};
}

static void reply(struct o2_hearing *h, const struct meeting *meeting)
{
	const struct o2_msg *asked = &meeting->request;
	struct o2_msg msg = {.ibm_type = O2_MSG_CONNACK};

	draw_terms(h, &msg);
	if (o2_draw_bool(h->c, 1, 3)) {
		msg.ibm_version = asked->ibm_version;
		msg.u.connparams.ibcp_queue_depth =
			(uint16_t)near(h, asked->u.connparams.ibcp_queue_depth, UINT16_MAX);
		msg.u.connparams.ibcp_max_frags =
			(uint16_t)near(h, asked->u.connparams.ibcp_max_frags, UINT16_MAX);
		msg.u.connparams.ibcp_max_msg_size =
			(uint32_t)near(h, asked->u.connparams.ibcp_max_msg_size, UINT32_MAX);
	}
	msg.ibm_srcnid = asked->ibm_dstnid + o2_draw_bool(h->c, 15, 1);
	msg.ibm_dstnid = asked->ibm_srcnid + o2_draw_bool(h->c, 15, 1);
	msg.ibm_dststamp = asked->ibm_srcstamp + o2_draw_bool(h->c, 15, 1);
	msg.ibm_srcstamp = 1 + o2_draw(h->c, 9);
	if (tell_wrong(h, O2_JUDGE_REPLY, B, O2_MSG_CONNACK, &msg))
		return;
	expect_limits(h, B, &msg);
	if (meeting->number != 0) {
		const uint64_t number = meeting->number;

		expect_same(h, O2_JUDGE_CONNECT_VERSION, number, "ibm_version", msg.ibm_version,
			    asked->ibm_version);
		expect_same(h, O2_JUDGE_CONNECT_NIDS, number, "ibm_srcnid", msg.ibm_srcnid,
			    asked->ibm_dstnid);
		expect_same(h, O2_JUDGE_CONNECT_NIDS, number, "ibm_dstnid", msg.ibm_dstnid,
			    asked->ibm_srcnid);
		expect_same(h, O2_JUDGE_CONNECT_STAMP, number, "ibm_dststamp", msg.ibm_dststamp,
			    asked->ibm_srcstamp);
		expect_at_most(h, O2_JUDGE_CONNECT_OVER_ASKED, B, number, "ibcp_queue_depth",
			       msg.u.connparams.ibcp_queue_depth, asked->u.connparams.ibcp_queue_depth);
		expect_at_most(h, O2_JUDGE_CONNECT_OVER_ASKED, B, number, "ibcp_max_frags",
			       msg.u.connparams.ibcp_max_frags, asked->u.connparams.ibcp_max_frags);
	}
	o2_hearing_tell(h, (struct o2_judge_event){.kind = O2_JUDGE_REPLY, .from = B, .msg = &msg});
	h->knows_terms = true;
	h->version = msg.ibm_version;
	h->depth = msg.u.connparams.ibcp_queue_depth;
	h->max_frags = msg.u.connparams.ibcp_max_frags;
	h->end[A].max_msg_bytes = asked->u.connparams.ibcp_max_msg_size;
	h->end[B].max_msg_bytes = msg.u.connparams.ibcp_max_msg_size;
	h->end[B].nid = msg.ibm_srcnid;
	h->end[B].stamp = msg.ibm_srcstamp;
}

/* Messages of both sides after a successful negotiation. */
static void talk(struct o2_hearing *h)
{
	struct o2_msg msg;

	o2_hearing_check_view(h);
	if (o2_hearing_most_bytes(h) < 200 || h->depth < 3 || h->depth > 255)
		return;
	for (int side = A; side <= (int)B; side++) {
		msg = o2_hearing_header(h, (enum o2_judge_side)side, O2_MSG_IMMEDIATE);
		o2_hearing_message(h, (enum o2_judge_side)side, &msg);
	}
}

static bool meet_again(struct o2_hearing *h)
{
	o2_hearing_part(h);
	h->knows_terms = false;
	return o2_hearing_meet(h, O2_JUDGE_WHOLE);
}

static void draw_request(struct o2_hearing *h, struct meeting *meeting, uint64_t asker, uint64_t target)
{
	struct o2_msg *msg = &meeting->request;

	*msg = (struct o2_msg){.ibm_type = O2_MSG_CONNREQ};
	draw_terms(h, msg);
	h->end[A].nid = msg->ibm_srcnid = FIRST_NID + asker;
	h->end[B].nid = msg->ibm_dstnid = FIRST_NID + target;
	h->end[A].stamp = msg->ibm_srcstamp = 1 + o2_draw(h->c, 1);
	h->end[B].stamp = msg->ibm_dststamp = o2_draw(h->c, 1);
}

/* Reject one node, then others; the first asks again, and the judge remembers it unless the others are too many. */
static void many_told(struct o2_hearing *h)
{
	const uint32_t others = TOLD_KNOWN - 1 + (uint32_t)o2_draw(h->c, 1);
	struct o2_reject record = {.ibr_version = O2_MSG_VERSION_2, .ibr_why = O2_REJECT_RDMA_FRAGS};
	struct o2_msg msg = {.ibm_version = O2_MSG_VERSION_2, .ibm_type = O2_MSG_CONNREQ};
	uint64_t first = 0;

	msg.u.connparams.ibcp_queue_depth = 8;
	msg.u.connparams.ibcp_max_frags = 9;
	msg.u.connparams.ibcp_max_msg_size = 4096;
	record.ibr_cp.ibcp_max_frags = 8;
	msg.ibm_dstnid = FIRST_NID;
	for (uint32_t i = 0; i <= others + 1; i++) {
		msg.ibm_srcnid = FIRST_NID + 1 + i % (others + 1);
		if (i == others + 1 && others < TOLD_KNOWN)
			expect_at_most(h, O2_JUDGE_CONNECT_RETRY, A, first, "ibcp_max_frags", 9, 8);
		o2_hearing_tell(h, (struct o2_judge_event){.kind = O2_JUDGE_REQUEST, .from = A, .msg = &msg});
		o2_hearing_expect(h, O2_HEARING_EVENT, O2_JUDGE_CONNECT_REFUSED, A, h->number,
				  "ibcp_max_frags", 9, 8, O2_LIMIT_BOUND);
		o2_hearing_tell(
			h, (struct o2_judge_event){.kind = O2_JUDGE_REJECT, .from = B, .reject = &record});
		first = first == 0 ? h->number : first;
		if (!meet_again(h))
			return;
	}
}

void o2_scene_refused(struct o2_hearing *h)
{
	struct meeting meeting = {.number = 0};
	struct told told = {0};
	const uint64_t asker = o2_draw(h->c, 200), target = o2_draw(h->c, 200);

	draw_request(h, &meeting, asker, target);
	request(h, &meeting, &told);
	if (meeting.number != 0)
		reject(h, &meeting, &told);
	else
		h->end[A].nid = h->end[B].nid = 0; /* no valid request, so no side is named */
	h->over = true;
}

void o2_scene_connect(struct o2_hearing *h)
{
	struct told told[NIDS][NIDS] = {0};
	struct meeting meeting;

	if (o2_draw_bool(h->c, 31, 1)) {
		many_told(h);
		return;
	}
	for (uint64_t rounds = 1 + o2_draw(h->c, 3); rounds > 0 && !h->report->failed; rounds--) {
		const uint64_t asker = o2_draw(h->c, NIDS - 1), target = o2_draw(h->c, NIDS - 1);

		draw_request(h, &meeting, asker, target);
		request(h, &meeting, &told[asker][target]);
		if (o2_draw_bool(h->c, 1, 1)) {
			reject(h, &meeting, &told[asker][target]);
		} else {
			reply(h, &meeting);
			if (h->knows_terms && meeting.number != 0)
				talk(h);
		}
		if (!meet_again(h))
			return;
	}
}
