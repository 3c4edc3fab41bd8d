/* SPDX-License-Identifier: MIT */
#include "lnd/conn/credits.h"

#include <assert.h>
#include <errno.h>

static uint32_t clamp(uint32_t value, uint32_t low, uint32_t high)
{
	if (value < low)
		return low;
	return value > high ? high : value;
}

void o2_flow_resolve(struct o2_flow_tunables *tunables, uint16_t version)
{
	uint32_t depth;

	if (tunables->peer_tx_credits == 0)
		tunables->peer_tx_credits = tunables->queue_depth;
	depth = tunables->peer_tx_credits;
	tunables->peercredits_hiw = clamp(tunables->peercredits_hiw, depth / 2, depth - 1);
	if (tunables->concurrent_sends == 0)
		tunables->concurrent_sends = depth;
	tunables->concurrent_sends = clamp(tunables->concurrent_sends, depth / 2, 2 * depth);
	if (version == O2_MSG_VERSION_1)
		tunables->concurrent_sends =
			clamp(tunables->concurrent_sends, O2_CONCURRENT_MIN_V1, O2_CONCURRENT_MAX_V1);
}

uint32_t o2_full_transfers(const struct o2_flow_tunables *flow)
{
	return flow->queue_depth > flow->concurrent_sends ? flow->queue_depth : flow->concurrent_sends;
}

/* Scale the mark to the agreed depth: a mark above the credits that can be owed would never be reached. */
static uint32_t high_water(uint16_t version, uint32_t queue_depth, const struct o2_flow_tunables *tunables)
{
	uint32_t mark = queue_depth * tunables->peercredits_hiw / tunables->peer_tx_credits;

	if (version == O2_MSG_VERSION_1)
		return clamp(O2_HIGH_WATER_V1, 1, queue_depth - 1);
	return clamp(mark, 1, queue_depth);
}

void o2_credits_init(struct o2_credits *credits, uint16_t version, uint32_t queue_depth,
		     const struct o2_flow_tunables *tunables)
{
	*credits = (struct o2_credits){
		.version = version,
		.queue_depth = queue_depth,
		.high_water = high_water(version, queue_depth, tunables),
		.concurrent_sends = tunables->concurrent_sends,
		.credits = queue_depth,
		.reserved = queue_depth,
		.granted = queue_depth,
	};
}

bool o2_takes_credit(uint16_t version, enum o2_msg_type type)
{
	if (type == O2_MSG_NOOP)
		return version == O2_MSG_VERSION_1;
	return type == O2_MSG_IMMEDIATE || type == O2_MSG_PUT_REQ || type == O2_MSG_GET_REQ;
}

bool o2_takes_reserve(enum o2_msg_type type)
{
	return type == O2_MSG_PUT_REQ || type == O2_MSG_GET_REQ;
}

bool o2_credits_may_post(const struct o2_credits *credits, enum o2_msg_type type)
{
	if (credits->in_flight >= credits->concurrent_sends)
		return false;
	if (!o2_takes_credit(credits->version, type))
		return true;
	if (credits->credits == 0)
		return false;
	/* In version 1 the last credit is reserved for a NOOP, which returns credits. */
	if (credits->version == O2_MSG_VERSION_1 && credits->credits == 1 && type != O2_MSG_NOOP)
		return false;
	return true;
}

bool o2_credits_noops_out(const struct o2_credits *credits)
{
	return credits->version != O2_MSG_VERSION_1 && credits->noops_in_flight >= O2_OOB_MESSAGES;
}

static_assert(O2_MAX_QUEUE_DEPTH <= UINT8_MAX, "what is outstanding fits into the credit byte");

uint8_t o2_credits_byte(const struct o2_credits *credits)
{
	return (uint8_t)credits->outstanding;
}

void o2_credits_post(struct o2_credits *credits, enum o2_msg_type type)
{
	uint8_t byte = o2_credits_byte(credits);

	credits->in_flight++;
	if (type == O2_MSG_NOOP && byte >= credits->high_water)
		credits->given_before[credits->giving_noops++ % O2_OOB_MESSAGES] = credits->credits_sent;
	credits->credits_sent += byte;
	credits->granted += byte;
	credits->outstanding = 0;
	if (o2_takes_credit(credits->version, type)) {
		credits->credits--;
		credits->messages_sent++;
	}
	if (type == O2_MSG_NOOP) {
		credits->noops_in_flight++;
		credits->noops_sent++;
	}
	/* These answer a request of the peer and use the receive that it reserved for the answer. */
	if ((type == O2_MSG_PUT_ACK || type == O2_MSG_PUT_NAK || type == O2_MSG_GET_DONE) &&
	    credits->peer_requests > 0)
		credits->peer_requests--;
}

void o2_credits_sent(struct o2_credits *credits, enum o2_msg_type type)
{
	credits->in_flight--;
	if (type == O2_MSG_NOOP)
		credits->noops_in_flight--;
}

int o2_credits_receive(struct o2_credits *credits, enum o2_msg_type type, uint8_t byte,
		       struct o2_error *error)
{
	uint32_t total = credits->credits + byte;

	if (total > credits->queue_depth)
		return o2_refuse_peer(error, -EPROTO, "conn/credits-over-depth", "ibm_credits", total,
				      credits->queue_depth);
	if (o2_takes_credit(credits->version, type)) {
		if (credits->granted == 0)
			return o2_refuse_peer(error, -EPROTO, "conn/no-credit",
					      "messages beyond those granted", 1, 0);
		credits->granted--;
	}
	if (o2_takes_reserve(type)) {
		if (credits->peer_requests >= credits->queue_depth)
			return o2_refuse_peer(error, -EPROTO, "conn/too-many-requests",
					      "requests without an answer",
					      (uint64_t)credits->peer_requests + 1, credits->queue_depth);
		credits->peer_requests++;
	}
	credits->credits = total;
	credits->credits_received += byte;
	if (type != O2_MSG_NOOP)
		return 0;
	credits->noops_received++;
	/* Owe the NOOP's own credit, which returns with whatever message the received credits let us send. */
	if (credits->version == O2_MSG_VERSION_1 && byte != 0)
		credits->outstanding++;
	return 0;
}

enum o2_repost o2_repost_of(uint16_t version, enum o2_msg_type type, bool counted)
{
	switch (type) {
	case O2_MSG_PUT_REQ:
		/* counted: this receive will take the PUT_DONE, and the credit goes back with that message. */
		return counted ? O2_REPOST_NONE : O2_REPOST_PEER;
	case O2_MSG_PUT_DONE:
		return O2_REPOST_PEER;
	case O2_MSG_PUT_ACK:
	case O2_MSG_PUT_NAK:
	case O2_MSG_GET_DONE:
		return O2_REPOST_RESERVED;
	case O2_MSG_NOOP:
		if (version == O2_MSG_VERSION_1)
			return counted ? O2_REPOST_NONE : O2_REPOST_PEER;
		return O2_REPOST_NONE;
	case O2_MSG_IMMEDIATE:
	case O2_MSG_GET_REQ:
	case O2_MSG_CONNREQ:
	case O2_MSG_CONNACK:
		break;
	}
	return O2_REPOST_PEER;
}

void o2_credits_repost(struct o2_credits *credits, enum o2_msg_type type, enum o2_repost repost)
{
	if (o2_takes_credit(credits->version, type))
		credits->messages_handled++;
	if (repost == O2_REPOST_PEER)
		credits->outstanding++;
	else if (repost == O2_REPOST_RESERVED)
		credits->reserved++;
}

/*
 * Version 2: may the last NOOPs that returned credits still occupy the receives that the peer keeps for NOOPs?
 * They do not if the peer has used a credit that came with them or later: it has handled them before that.
 */
static bool noops_may_wait(const struct o2_credits *credits)
{
	uint64_t given;

	if (credits->version == O2_MSG_VERSION_1 || credits->giving_noops < O2_OOB_MESSAGES)
		return false;
	given = credits->credits_sent - credits->given_before[credits->giving_noops % O2_OOB_MESSAGES];
	return credits->granted >= given;
}

bool o2_need_noop(const struct o2_credits *credits, const struct o2_noop_question *question)
{
	if (!question->keepalive_due &&
	    (credits->outstanding < credits->high_water || noops_may_wait(credits)))
		return false;
	if (question->nocred_queued)
		return false;
	if (credits->version != O2_MSG_VERSION_1)
		return !question->queued || credits->credits == 0;
	if (question->noop_queued || credits->credits == 0)
		return false;
	if (credits->credits == 1 && credits->outstanding == 0)
		return false;
	return !question->queued || credits->credits == 1;
}

int o2_outcome_judge(enum o2_msg_type type, int32_t status, uint64_t nob, struct o2_error *error)
{
	assert(type == O2_MSG_PUT_NAK || type == O2_MSG_PUT_DONE || type == O2_MSG_GET_DONE);
	if (status < 0)
		return 0;
	if (type == O2_MSG_PUT_NAK && status > 0)
		return o2_refuse_peer(error, -EPROTO, "conn/nak-status", "ibcm_status", (uint64_t)status, 0);
	if (type == O2_MSG_PUT_DONE && (uint64_t)status != nob)
		return o2_refuse_peer_other(error, -EPROTO, "conn/put-done-status", "ibcm_status",
					    (uint64_t)status, nob);
	if (type == O2_MSG_GET_DONE && (uint64_t)status > nob)
		return o2_refuse_peer(error, -EPROTO, "conn/get-done-status", "ibcm_status", (uint64_t)status,
				      nob);
	return 0;
}
