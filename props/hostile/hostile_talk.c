/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "props/hostile/hostile.h"

/* Good messages at the wrong time, about the wrong thing, or by somebody else. */

#define UNKNOWN 0x7777u

static bool stale(struct o2_hostile *h, uint32_t offset)
{
	o2_liar_begin(h, O2_MSG_IMMEDIATE);
	/* Still an o2ib NID, still a stamp; just not the right one. */
	return o2_liar_send_turned(h, offset);
}

static bool wrong_srcnid(struct o2_hostile *h)
{
	return stale(h, O2_AT_SRCNID);
}

static bool wrong_dstnid(struct o2_hostile *h)
{
	return stale(h, O2_AT_DSTNID);
}

static bool wrong_srcstamp(struct o2_hostile *h)
{
	return stale(h, O2_AT_SRCSTAMP);
}

static bool wrong_dststamp(struct o2_hostile *h)
{
	return stale(h, O2_AT_DSTSTAMP);
}

static bool acknowledge(struct o2_hostile *h, uint64_t cookie, uint32_t nob)
{
	struct o2_msg *msg = o2_liar_begin(h, O2_MSG_PUT_ACK);

	msg->u.putack.ibpam_src_cookie = cookie;
	msg->u.putack.ibpam_rd.rd_frags[0].rf_nob = nob;
	return o2_liar_send(h);
}

static bool unknown_ack(struct o2_hostile *h)
{
	return acknowledge(h, UNKNOWN, 5000);
}

static bool unknown_nak(struct o2_hostile *h)
{
	return o2_liar_completes(h, O2_MSG_PUT_NAK, UNKNOWN, 0);
}

static bool unknown_put_done(struct o2_hostile *h)
{
	return o2_liar_completes(h, O2_MSG_PUT_DONE, UNKNOWN, 0);
}

static bool unknown_get_done(struct o2_hostile *h)
{
	return o2_liar_completes(h, O2_MSG_GET_DONE, UNKNOWN, 0);
}

/* The victim waits for the answer to a PUT (true) or a GET; its cookie. */
static bool victim_asks(struct o2_hostile *h, bool put, uint64_t *cookie)
{
	struct o2_msg request;
	bool asked = put ? o2_victim_put(h, 5000, O2_REG_FASTREG) : o2_victim_get(h, 5000, O2_REG_FASTREG);

	if (!asked || !o2_liar_hears(h, put ? O2_MSG_PUT_REQ : O2_MSG_GET_REQ, &request))
		return false;
	*cookie = put ? request.u.putreq.ibprm_cookie : request.u.get.ibgm_cookie;
	return true;
}

/* The victim is a sink and waits for PUT_DONE; its cookie. */
static bool victim_waits(struct o2_hostile *h, uint64_t *cookie)
{
	struct o2_liar_sink sink;
	bool waits = o2_victim_waits_for_put(h, 5000, O2_REG_FASTREG, &sink);

	*cookie = sink.cookie;
	return waits;
}

static bool ack_for_get(struct o2_hostile *h)
{
	uint64_t cookie;

	return victim_asks(h, false, &cookie) && acknowledge(h, cookie, 5000);
}

static bool nak_for_get(struct o2_hostile *h)
{
	uint64_t cookie;

	return victim_asks(h, false, &cookie) && o2_liar_completes(h, O2_MSG_PUT_NAK, cookie, 0);
}

static bool get_done_for_put(struct o2_hostile *h)
{
	uint64_t cookie;

	return victim_asks(h, true, &cookie) && o2_liar_completes(h, O2_MSG_GET_DONE, cookie, 0);
}

static bool put_done_for_put(struct o2_hostile *h)
{
	uint64_t cookie;

	return victim_asks(h, true, &cookie) && o2_liar_completes(h, O2_MSG_PUT_DONE, cookie, 5000);
}

static bool ack_for_sink(struct o2_hostile *h)
{
	uint64_t cookie;

	return victim_waits(h, &cookie) && acknowledge(h, cookie, 5000);
}

/* A GET that waits for a credit has a cookie, and nobody was told of it. */
static bool answers_unsent(struct o2_hostile *h)
{
	uint64_t cookie;

	for (int i = 0; i < 9; i++)
		if (!o2_victim_get(h, 5000, O2_REG_GLOBAL))
			return false;
	return o2_victim_queued(h, &cookie) && o2_liar_completes(h, O2_MSG_GET_DONE, cookie, 0);
}

static bool acks_twice(struct o2_hostile *h)
{
	uint64_t cookie;

	return victim_asks(h, true, &cookie) && acknowledge(h, cookie, 5000) && acknowledge(h, cookie, 5000);
}

static bool done_twice(struct o2_hostile *h)
{
	uint64_t cookie;

	return victim_waits(h, &cookie) && o2_liar_completes(h, O2_MSG_PUT_DONE, cookie, 5000) &&
	       o2_liar_completes(h, O2_MSG_PUT_DONE, cookie, 5000);
}

static bool get_done_twice(struct o2_hostile *h)
{
	uint64_t cookie;

	return victim_asks(h, false, &cookie) && o2_liar_completes(h, O2_MSG_GET_DONE, cookie, 5000) &&
	       o2_liar_completes(h, O2_MSG_GET_DONE, cookie, 5000);
}

static bool nak_after_ack(struct o2_hostile *h)
{
	uint64_t cookie;

	return victim_asks(h, true, &cookie) && acknowledge(h, cookie, 5000) &&
	       o2_liar_completes(h, O2_MSG_PUT_NAK, cookie, -EIO);
}

static bool nak_of_success(struct o2_hostile *h)
{
	uint64_t cookie;

	return victim_asks(h, true, &cookie) && o2_liar_completes(h, O2_MSG_PUT_NAK, cookie, 1);
}

static bool gives_more(struct o2_hostile *h)
{
	uint64_t cookie;

	return victim_asks(h, false, &cookie) && o2_liar_completes(h, O2_MSG_GET_DONE, cookie, 5001);
}

static bool puts_less(struct o2_hostile *h)
{
	uint64_t cookie;

	return victim_waits(h, &cookie) && o2_liar_completes(h, O2_MSG_PUT_DONE, cookie, 4999);
}

static bool puts_more(struct o2_hostile *h)
{
	uint64_t cookie;

	return victim_waits(h, &cookie) && o2_liar_completes(h, O2_MSG_PUT_DONE, cookie, 5001);
}

static bool status_of(struct o2_hostile *h, enum o2_msg_type type)
{
	uint64_t cookie;

	/* The codec knows no sink, but it knows 1 MiB. */
	return (type == O2_MSG_PUT_DONE ? victim_waits(h, &cookie)
					: victim_asks(h, type == O2_MSG_PUT_NAK, &cookie)) &&
	       (o2_liar_begin(h, type)->u.completion.ibcm_cookie = cookie, true) &&
	       o2_liar_send_patched(h, O2_AT_STATUS, 4, 0x100001, 0);
}

static bool huge_nak(struct o2_hostile *h)
{
	return status_of(h, O2_MSG_PUT_NAK);
}

static bool huge_put_done(struct o2_hostile *h)
{
	return status_of(h, O2_MSG_PUT_DONE);
}

static bool huge_get_done(struct o2_hostile *h)
{
	return status_of(h, O2_MSG_GET_DONE);
}

/* A status that is an errno on no Linux still fails the operation, and nothing else. */
static bool strange_status(struct o2_hostile *h)
{
	struct o2_liar_sink sink;

	if (!o2_victim_waits(h, 5000, O2_REG_FASTREG, &sink) ||
	    !o2_liar_completes(h, sink.done, sink.cookie, INT32_MIN))
		return false;
	o2_hostile_settle(h);
	return o2_victim_ended(h, -EIO);
}

#define STALE(name, text, rule, mutant, ...)                                                   \
	{                                                                                      \
		name, "identity", text, rule, "transport.md", O2_REACT_CLOSE, -ESTALE, mutant, \
			.script = __VA_ARGS__                                                  \
	}
#define COOKIE(name, text, mutant, ...)                                                                \
	{                                                                                              \
		name, "cookies", text, "conn/unknown-cookie", "transport.md", O2_REACT_CLOSE, -EPROTO, \
			mutant, .script = __VA_ARGS__                                                  \
	}
#define STATUS(name, text, rule, mutant, ...)                                                  \
	{                                                                                      \
		name, "statuses", text, rule, "transport.md", O2_REACT_CLOSE, -EPROTO, mutant, \
			.script = __VA_ARGS__                                                  \
	}

const struct o2_misbehaviour o2_hostile_talk[] = {
	STALE("wrong-srcnid", "speaks in another node's name", "conn/srcnid", NULL, wrong_srcnid),
	STALE("wrong-dstnid", "speaks to another node", "conn/dstnid", NULL, wrong_dstnid),
	STALE("stale-sender", "a message of another life of its own", "conn/srcstamp", "stale-sender",
	      wrong_srcstamp),
	STALE("stale-receiver", "a message for another life of its victim", "conn/dststamp", "stale-receiver",
	      wrong_dststamp),
	COOKIE("unknown-ack", "a PUT_ACK for a PUT that never was", NULL, unknown_ack),
	COOKIE("unknown-nak", "a PUT_NAK for a PUT that never was", NULL, unknown_nak),
	COOKIE("unknown-put-done", "a PUT_DONE for a PUT that never was", NULL, unknown_put_done),
	COOKIE("unknown-get-done", "a GET_DONE for a GET that never was", NULL, unknown_get_done),
	COOKIE("ack-for-get", "answers a GET with PUT_ACK", "cookie-of-any-type", ack_for_get),
	COOKIE("nak-for-get", "answers a GET with PUT_NAK", "cookie-of-any-type", nak_for_get),
	COOKIE("get-done-for-put", "answers a PUT with GET_DONE", "cookie-of-any-type", get_done_for_put),
	COOKIE("put-done-for-put", "answers a PUT with PUT_DONE", "cookie-of-any-type", put_done_for_put),
	COOKIE("ack-for-sink", "answers a PUT_ACK with PUT_ACK", "cookie-of-any-type", ack_for_sink),
	COOKIE("answers-unsent", "answers a GET that was not sent yet", "queued-answered", answers_unsent),
	COOKIE("acks-twice", "answers a PUT twice", "waiting-asserted", acks_twice),
	COOKIE("done-twice", "ends a PUT twice", NULL, done_twice),
	COOKIE("get-done-twice", "ends a GET twice", NULL, get_done_twice),
	COOKIE("nak-after-ack", "refuses a PUT that it has accepted", "waiting-asserted", nak_after_ack),
	STATUS("nak-of-success", "a PUT_NAK that reports success", "conn/nak-status", "nak-status-unchecked",
	       nak_of_success, O2_KERNEL_TOLERATES),
	STATUS("gives-more", "a GET_DONE of more than the sink has", "conn/get-done-status",
	       "get-done-unchecked", gives_more),
	STATUS("puts-less", "a PUT_DONE of less than was asked for", "conn/put-done-status",
	       "put-done-unchecked", puts_less, O2_KERNEL_TOLERATES),
	STATUS("puts-more", "a PUT_DONE of more than was asked for", "conn/put-done-status",
	       "put-done-unchecked", puts_more, O2_KERNEL_TOLERATES),
	STATUS("huge-nak", "a PUT_NAK of more than 1 MiB", "wire/put_nak/status-over-limit", NULL, huge_nak,
	       O2_KERNEL_TOLERATES),
	STATUS("huge-put-done", "a PUT_DONE of more than 1 MiB", "wire/put_done/status-over-limit", NULL,
	       huge_put_done, O2_KERNEL_TOLERATES),
	STATUS("huge-get-done", "a GET_DONE of more than 1 MiB", "wire/get_done/status-over-limit", NULL,
	       huge_get_done),
	{"strange-status", "statuses", "a status that is no errno", "transfer/peer-status", "transport.md",
	 O2_REACT_KEEP, 0, "without/transfer/lowest-errno", .script = strange_status},
	{.name = NULL},
};
