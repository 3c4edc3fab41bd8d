/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "props/hostile/hostile.h"

/* Misbehaviours of flow control: sending more than allowed, or nothing. */

static bool send_many(struct o2_hostile *h, enum o2_msg_type type, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		o2_liar_begin(h, type);
		if (!o2_liar_send(h))
			return false;
	}
	return true;
}

/* The liar received one message, so it can return only one credit. */
static bool credit_given_twice(struct o2_hostile *h)
{
	struct o2_msg heard;

	if (!o2_victim_does(h, O2_ACT_SEND, 0, 0) || !o2_liar_hears(h, O2_MSG_IMMEDIATE, &heard))
		return false;
	o2_liar_begin(h, O2_MSG_NOOP)->ibm_credits = 1;
	if (!o2_liar_send(h))
		return false;
	o2_liar_begin(h, O2_MSG_NOOP)->ibm_credits = 1;
	return o2_liar_send(h);
}

static bool spends_all(struct o2_hostile *h)
{
	return o2_victim_does(h, O2_ACT_HOLD, 0, 0) && send_many(h, O2_MSG_IMMEDIATE, 9);
}

static bool put_flood(struct o2_hostile *h)
{
	return o2_victim_does(h, O2_ACT_HOLD, 0, 0) && send_many(h, O2_MSG_PUT_REQ, 9);
}

/* The liar has its credits back, but the answers to its requests were not sent yet. */
static bool request_flood(struct o2_hostile *h)
{
	if (!o2_victim_does(h, O2_ACT_HOLD, 0, 0) || !send_many(h, O2_MSG_GET_REQ, 8))
		return false;
	o2_hostile_settle(h);
	/* One answer is sent, with all credits. */
	return o2_victim_does(h, O2_ACT_RELEASE, 0, 0) && send_many(h, O2_MSG_GET_REQ, 2);
}

static bool silent_to_put(struct o2_hostile *h)
{
	return o2_victim_does(h, O2_ACT_PUT, 5000, O2_REG_FASTREG);
}

static bool silent_to_get(struct o2_hostile *h)
{
	return o2_victim_does(h, O2_ACT_GET, 5000, O2_REG_FASTREG);
}

static bool silent_after_ack(struct o2_hostile *h)
{
	if (!o2_victim_does(h, O2_ACT_SERVE, 5000, O2_REG_FASTREG))
		return false;
	o2_liar_begin(h, O2_MSG_PUT_REQ);
	return o2_liar_send(h);
}

/* Take all credits and return none: requests that wait for a credit time out. */
static bool keeps_credits(struct o2_hostile *h)
{
	for (int i = 0; i < 9; i++)
		if (!o2_victim_does(h, O2_ACT_SEND, 0, 0))
			return false;
	return true;
}

/* The answer comes after the victim timed out and told its application. */
static bool late_done(struct o2_hostile *h)
{
	struct o2_liar_sink sink;

	if (!o2_victim_waits(h, O2_REG_FMR, &sink))
		return false;
	o2_hostile_wait_out(h);
	o2_liar_completes(h, sink.done, sink.cookie, 5000);
	o2_hostile_settle(h);
	return o2_victim_ended(h, -ETIMEDOUT);
}

#define FLOW(name, text, rule, mutant, ...)                                                            \
	{                                                                                              \
		name, "flow", text, rule, "transport.md", O2_REACT_CLOSE, -EPROTO, mutant, __VA_ARGS__ \
	}
#define SILENCE(name, text, ...)                                                                      \
	{                                                                                             \
		name, "silence", text, "conn/deadline", "transport.md", O2_REACT_TIMEOUT, -ETIMEDOUT, \
			"deadline-ignored", __VA_ARGS__                                               \
	}

const struct o2_misbehaviour o2_hostile_flow[] = {
	FLOW("too-many-credits", "gives back a credit that nobody spent", "conn/credits-over-depth",
	     "credits-over-depth", O2_SAYS(O2_MSG_NOOP, O2_AT_CREDITS, 1, 1)),
	FLOW("all-credits", "gives back 255 credits", "conn/credits-over-depth", "credits-over-depth",
	     O2_SAYS(O2_MSG_NOOP, O2_AT_CREDITS, 1, 255)),
	FLOW("credit-twice", "gives back one credit twice", "conn/credits-over-depth", "credits-over-depth",
	     .script = credit_given_twice),
	FLOW("no-credit", "sends a message for which it has no credit", "conn/no-credit",
	     "credit-not-granted", .script = spends_all),
	FLOW("put-flood", "starts a PUT for which it has no credit", "conn/no-credit", "credit-not-granted",
	     .script = put_flood),
	FLOW("request-flood", "starts a request for whose answer it has no room", "conn/too-many-requests",
	     "requests-unlimited", .script = request_flood),
	FLOW("noop-storm", "sends NOOPs that say nothing", "conn/noop-storm", "noops-unlimited",
	     .lie = {.type = O2_MSG_NOOP, .more = 16}, O2_KERNEL_TOLERATES),
	SILENCE("silent-to-put", "never answers a PUT_REQ", .script = silent_to_put),
	SILENCE("silent-to-get", "never answers a GET_REQ", .script = silent_to_get),
	SILENCE("silent-after-ack", "never sends the PUT_DONE", .script = silent_after_ack),
	SILENCE("keeps-credits", "never gives a credit back", .script = keeps_credits),
	SILENCE("late-done", "answers when it is too late", .script = late_done),
	{.name = NULL},
};
