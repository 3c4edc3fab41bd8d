/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "props/hostile/hostile.h"

/* Misbehaviours with correct messages at the wrong time, about the wrong operation, or under another identity. */

/* Complete a GET that still waits for a credit: its cookie exists, but was never sent. */
static bool answers_unsent(struct o2_hostile *h)
{
	uint64_t cookie;

	for (int i = 0; i < 9; i++)
		if (!o2_victim_does(h, O2_ACT_GET, 5000, O2_REG_GLOBAL))
			return false;
	return o2_victim_queued(h, &cookie) && o2_liar_completes(h, O2_MSG_GET_DONE, cookie, 0);
}

static bool nak_after_ack(struct o2_hostile *h)
{
	uint64_t cookie;

	if (!o2_victim_awaits(h, O2_MSG_PUT_REQ, O2_REG_FASTREG, &cookie))
		return false;
	o2_liar_begin(h, O2_MSG_PUT_ACK)->u.putack.ibpam_src_cookie = cookie;
	return o2_liar_send(h) && o2_liar_completes(h, O2_MSG_PUT_NAK, cookie, -EIO);
}

#define LAST_ERRNO 4095

/* A status that is not a Linux errno still fails the operation, and nothing else; the last errno is one. */
static bool strange_status(struct o2_hostile *h)
{
	static const int32_t says[] = {-LAST_ERRNO, -LAST_ERRNO - 1, INT32_MIN};
	struct o2_liar_sink sink;

	for (size_t i = 0; i < sizeof(says) / sizeof(says[0]); i++) {
		if (!o2_victim_waits(h, O2_REG_FASTREG, &sink) ||
		    !o2_liar_completes(h, sink.done, sink.cookie, says[i]))
			return false;
		o2_hostile_settle(h);
		if (!o2_victim_ended(h, says[i] == -LAST_ERRNO ? says[i] : -EIO))
			return false;
	}
	return true;
}

/* One message; its cookie and size are those of a 5000-byte operation of the victim. */
#define LIE(...) .lie = {.mode = O2_REG_FASTREG, __VA_ARGS__}
/* The result is still a valid o2ib NID or stamp, but a wrong one. */
#define TURNED(at) O2_TURNS(O2_MSG_IMMEDIATE, at)

#define STALE(name, text, rule, mutant, ...)                                                               \
	{                                                                                                  \
		name, "identity", text, rule, "transport.md", O2_REACT_CLOSE, -ESTALE, mutant, __VA_ARGS__ \
	}
#define COOKIE(name, text, mutant, ...)                                                                \
	{                                                                                              \
		name, "cookies", text, "conn/unknown-cookie", "transport.md", O2_REACT_CLOSE, -EPROTO, \
			mutant, __VA_ARGS__                                                            \
	}
#define STATUS(name, text, rule, mutant, ...)                                                              \
	{                                                                                                  \
		name, "statuses", text, rule, "transport.md", O2_REACT_CLOSE, -EPROTO, mutant, __VA_ARGS__ \
	}
/* The codec does not know the sink's size, but it knows the limit of 1 MiB. */
#define HUGE(name, text, rule, message, said, ...)                                                    \
	{                                                                                             \
		name, "statuses", text, "wire/" rule "/status-over-limit", "wire.md", O2_REACT_CLOSE, \
			-EPROTO, NULL,                                                                \
			LIE(.type = message, .after = said,                                           \
			    .spoil = {.offset = O2_AT_STATUS, .width = 4, .value = 0x100001}),        \
			__VA_ARGS__                                                                   \
	}

const struct o2_misbehaviour o2_hostile_talk[] = {
	STALE("wrong-srcnid", "speaks in another node's name", "conn/srcnid", NULL, TURNED(O2_AT_SRCNID)),
	STALE("wrong-dstnid", "speaks to another node", "conn/dstnid", NULL, TURNED(O2_AT_DSTNID)),
	STALE("stale-sender", "a message of another life of its own", "conn/srcstamp", "stale-sender",
	      TURNED(O2_AT_SRCSTAMP)),
	STALE("stale-receiver", "a message for another life of its victim", "conn/dststamp", "stale-receiver",
	      TURNED(O2_AT_DSTSTAMP)),
	COOKIE("unknown-ack", "a PUT_ACK for a PUT that never was", NULL, LIE(.type = O2_MSG_PUT_ACK)),
	COOKIE("unknown-nak", "a PUT_NAK for a PUT that never was", NULL, LIE(.type = O2_MSG_PUT_NAK)),
	COOKIE("unknown-put-done", "a PUT_DONE for a PUT that never was", NULL, LIE(.type = O2_MSG_PUT_DONE)),
	COOKIE("unknown-get-done", "a GET_DONE for a GET that never was", NULL, LIE(.type = O2_MSG_GET_DONE)),
	COOKIE("ack-for-get", "answers a GET with PUT_ACK", "cookie-of-any-type",
	       LIE(.type = O2_MSG_PUT_ACK, .after = O2_MSG_GET_REQ)),
	COOKIE("nak-for-get", "answers a GET with PUT_NAK", "cookie-of-any-type",
	       LIE(.type = O2_MSG_PUT_NAK, .after = O2_MSG_GET_REQ)),
	COOKIE("get-done-for-put", "answers a PUT with GET_DONE", "cookie-of-any-type",
	       LIE(.type = O2_MSG_GET_DONE, .after = O2_MSG_PUT_REQ)),
	COOKIE("put-done-for-put", "answers a PUT with PUT_DONE", "cookie-of-any-type",
	       LIE(.type = O2_MSG_PUT_DONE, .after = O2_MSG_PUT_REQ, .status = 5000)),
	COOKIE("ack-for-sink", "answers a PUT_ACK with PUT_ACK", "cookie-of-any-type",
	       LIE(.type = O2_MSG_PUT_ACK, .after = O2_MSG_PUT_ACK)),
	COOKIE("answers-unsent", "answers a GET that was not sent yet", "queued-answered",
	       .script = answers_unsent),
	COOKIE("acks-twice", "answers a PUT twice", "waiting-asserted",
	       LIE(.type = O2_MSG_PUT_ACK, .after = O2_MSG_PUT_REQ, .more = 1)),
	COOKIE("done-twice", "ends a PUT twice", NULL,
	       LIE(.type = O2_MSG_PUT_DONE, .after = O2_MSG_PUT_ACK, .status = 5000, .more = 1)),
	COOKIE("get-done-twice", "ends a GET twice", NULL,
	       LIE(.type = O2_MSG_GET_DONE, .after = O2_MSG_GET_REQ, .status = 5000, .more = 1)),
	COOKIE("nak-after-ack", "refuses a PUT that it has accepted", "waiting-asserted",
	       .script = nak_after_ack),
	STATUS("nak-of-success", "a PUT_NAK that reports success", "conn/nak-status", "nak-status-unchecked",
	       LIE(.type = O2_MSG_PUT_NAK, .after = O2_MSG_PUT_REQ, .status = 1), O2_KERNEL_TOLERATES),
	STATUS("gives-more", "a GET_DONE of more than the sink has", "conn/get-done-status",
	       "get-done-unchecked", LIE(.type = O2_MSG_GET_DONE, .after = O2_MSG_GET_REQ, .status = 5001)),
	STATUS("puts-less", "a PUT_DONE of less than was asked for", "conn/put-done-status",
	       "put-done-unchecked", LIE(.type = O2_MSG_PUT_DONE, .after = O2_MSG_PUT_ACK, .status = 4999),
	       O2_KERNEL_TOLERATES),
	STATUS("puts-more", "a PUT_DONE of more than was asked for", "conn/put-done-status",
	       "put-done-unchecked", LIE(.type = O2_MSG_PUT_DONE, .after = O2_MSG_PUT_ACK, .status = 5001),
	       O2_KERNEL_TOLERATES),
	HUGE("huge-nak", "a PUT_NAK of more than 1 MiB", "put_nak", O2_MSG_PUT_NAK, O2_MSG_PUT_REQ,
	     O2_KERNEL_TOLERATES),
	HUGE("huge-put-done", "a PUT_DONE of more than 1 MiB", "put_done", O2_MSG_PUT_DONE, O2_MSG_PUT_ACK,
	     O2_KERNEL_TOLERATES),
	HUGE("huge-get-done", "a GET_DONE of more than 1 MiB", "get_done", O2_MSG_GET_DONE, O2_MSG_GET_REQ,
	     O2_KERNEL_REFUSES),
	{"strange-status", "statuses", "a status that is no errno", "transfer/peer-status", "transport.md",
	 O2_REACT_KEEP, 0, "without/transfer/lowest-errno", .script = strange_status},
	{.name = NULL},
};
