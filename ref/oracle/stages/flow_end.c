/* SPDX-License-Identifier: MIT */
#include "oracle/stages/flow_end.h"

#include <assert.h>
#include <errno.h>

#include "wire/msg_type.h"

/* --- lines (FIFOs) --- */

static uint32_t length_of(const struct o2_flow_line *line)
{
	return line->end - line->first;
}

static void push(struct o2_flow_line *line, uint32_t item)
{
	assert(line->end < O2_FLOW_SENDS);
	line->item[line->end++] = item;
}

static uint32_t shift(struct o2_flow_line *line)
{
	return line->item[line->first++];
}

static uint8_t type_of(const struct o2_flow_end *end, uint32_t event)
{
	return (uint8_t)end->asked->event[event].type;
}

/* --- events --- */

void o2_flow_begin(struct o2_flow_end *end, const struct o2_case_flow *asked)
{
	const struct o2_flow_tunables tunables = {.queue_depth = asked->queue_depth,
						  .peer_tx_credits = asked->queue_depth,
						  .peercredits_hiw = asked->high_water,
						  .concurrent_sends = asked->concurrent_sends};

	*end = (struct o2_flow_end){.asked = asked};
	o2_credits_init(&end->credits, (uint16_t)asked->ibm_version, asked->queue_depth, &tunables);
	/* o2_credits_init has set the fixed mark of version 1; this stage uses the question's mark instead. */
	end->credits.high_water = asked->high_water;
}

/* Count down the unanswered messages, because one is answered; false: there is none. */
static bool answers(uint32_t *open)
{
	if (*open == 0)
		return false;
	(*open)--;
	return true;
}

/* Assign the answer to the oldest PUT_REQ that has none. */
static void answer_put(struct o2_flow_end *end, uint8_t type)
{
	for (uint32_t i = end->arrived.first; i < end->arrived.end; i++) {
		const uint32_t event = end->arrived.item[i];

		if (type_of(end, event) == O2_MSG_PUT_REQ && end->answered[event] == 0) {
			end->answered[event] = type;
			return;
		}
	}
}

static enum o2_flow_verdict take_queue(struct o2_flow_end *end, uint32_t event)
{
	const uint8_t type = type_of(end, event);
	bool possible = true;

	switch (type) {
	case O2_MSG_IMMEDIATE:
		push(&end->queue, event);
		return O2_FLOW_TAKEN;
	case O2_MSG_PUT_REQ:
	case O2_MSG_GET_REQ:
		push(&end->reserved, event);
		return O2_FLOW_TAKEN;
	case O2_MSG_PUT_ACK:
	case O2_MSG_PUT_NAK:
		possible = answers(&end->peer_puts);
		answer_put(end, type);
		break;
	case O2_MSG_GET_DONE:
		possible = answers(&end->peer_gets);
		break;
	case O2_MSG_PUT_DONE:
		possible = answers(&end->peer_acks);
		break;
	default:
		return O2_FLOW_IMPOSSIBLE;
	}
	push(&end->nocred, event);
	return possible ? O2_FLOW_TAKEN : O2_FLOW_IMPOSSIBLE;
}

/* Whether the peer can send this type now.  Answers without a request are covered by stage deliver. */
static bool is_possible(struct o2_flow_end *end, uint8_t type)
{
	switch (type) {
	case O2_MSG_NOOP:
		/* In version 2 NOOPs take no credit, but there are only O2_OOB_MESSAGES receives for them. */
		return end->credits.version == O2_MSG_VERSION_1 || end->noops_held < O2_OOB_MESSAGES;
	case O2_MSG_PUT_ACK:
	case O2_MSG_PUT_NAK:
		return answers(&end->our_puts);
	case O2_MSG_GET_DONE:
		return answers(&end->our_gets);
	case O2_MSG_PUT_DONE:
		return answers(&end->our_acks);
	default:
		return true;
	}
}

static enum o2_flow_verdict take_message(struct o2_flow_end *end, uint32_t event)
{
	const uint8_t type = type_of(end, event);
	const uint32_t credits = end->asked->event[event].credits;
	const bool over = end->credits.credits + credits > end->credits.queue_depth;

	if (type == O2_MSG_CONNREQ || type == O2_MSG_CONNACK)
		return O2_FLOW_CLOSES;
	if (o2_msg_type_info(type) == NULL || !is_possible(end, type))
		return O2_FLOW_IMPOSSIBLE;
	if (o2_credits_receive(&end->credits, (enum o2_msg_type)type, (uint8_t)credits, NULL) != 0)
		return over ? O2_FLOW_CLOSES : O2_FLOW_UNPAID;
	push(&end->arrived, event);
	end->noops_held += type == O2_MSG_NOOP;
	end->peer_puts += type == O2_MSG_PUT_REQ;
	end->peer_gets += type == O2_MSG_GET_REQ;
	end->peer_acks += type == O2_MSG_PUT_ACK;
	return O2_FLOW_TAKEN;
}

static enum o2_flow_verdict take_repost(struct o2_flow_end *end)
{
	uint32_t event;
	uint8_t type;
	bool counted;

	if (length_of(&end->arrived) == 0)
		return O2_FLOW_IMPOSSIBLE;
	event = end->arrived.item[end->arrived.first];
	type = type_of(end, event);
	if (type == O2_MSG_PUT_REQ && end->answered[event] == 0)
		return O2_FLOW_IMPOSSIBLE;
	(void)shift(&end->arrived);
	counted = end->answered[event] == O2_MSG_PUT_ACK ||
		  (type == O2_MSG_NOOP && end->asked->event[event].credits != 0);
	end->noops_held -= type == O2_MSG_NOOP;
	o2_credits_repost(&end->credits, (enum o2_msg_type)type,
			  o2_repost_of(end->credits.version, (enum o2_msg_type)type, counted));
	return O2_FLOW_TAKEN;
}

static enum o2_flow_verdict take(struct o2_flow_end *end, uint32_t event)
{
	switch (end->asked->event[event].kind) {
	case O2_IMPL_FLOW_QUEUE:
		return take_queue(end, event);
	case O2_IMPL_FLOW_SENT:
		if (length_of(&end->in_flight) == 0)
			return O2_FLOW_IMPOSSIBLE;
		o2_credits_sent(&end->credits, (enum o2_msg_type)shift(&end->in_flight));
		return O2_FLOW_TAKEN;
	case O2_IMPL_FLOW_RECEIVE:
		return take_message(end, event);
	case O2_IMPL_FLOW_REPOST:
		return take_repost(end);
	case O2_IMPL_FLOW_TICK:
		end->now_ms += end->asked->event[event].ms;
		return O2_FLOW_TAKEN;
	default:
		return O2_FLOW_CLOSES;
	}
}

enum o2_flow_verdict o2_flow_take(struct o2_flow_end *end, uint32_t event)
{
	enum o2_flow_verdict verdict;

	assert(event < end->asked->count);
	if (end->closed)
		return O2_FLOW_TAKEN;
	verdict = take(end, event);
	end->closed = verdict == O2_FLOW_CLOSES || verdict == O2_FLOW_UNPAID;
	return verdict;
}

/* --- sending --- */

uint32_t o2_flow_waiting(const struct o2_flow_end *end)
{
	return length_of(&end->nocred) + length_of(&end->queue) + length_of(&end->reserved);
}

static void move_reserved(struct o2_flow_end *end)
{
	while (length_of(&end->reserved) > 0 && end->credits.reserved > 0) {
		end->credits.reserved--;
		push(&end->queue, shift(&end->reserved));
	}
}

bool o2_flow_noop_due(const struct o2_flow_end *end, bool may_wait)
{
	const uint32_t keepalive_ms = end->asked->keepalive_ms;
	const struct o2_noop_question question = {
		.keepalive_due = keepalive_ms != 0 && end->now_ms - end->last_post_ms > keepalive_ms,
		.nocred_queued = length_of(&end->nocred) > 0,
		.queued = length_of(&end->queue) > 0,
	};
	struct o2_credits credits = end->credits;

	if (may_wait)
		credits.giving_noops = 0;
	return o2_need_noop(&credits, &question);
}

uint32_t o2_flow_head(struct o2_flow_end *end)
{
	move_reserved(end);
	if (length_of(&end->nocred) > 0)
		return end->nocred.item[end->nocred.first];
	if (length_of(&end->queue) > 0)
		return end->queue.item[end->queue.first];
	return O2_NO_INDEX;
}

bool o2_flow_next(struct o2_flow_end *end, struct o2_impl_flow_message *message)
{
	uint32_t head;

	if (end->closed)
		return false;
	head = o2_flow_head(end);
	*message = (struct o2_impl_flow_message){.credits = o2_credits_byte(&end->credits)};
	if (o2_flow_noop_due(end, false) && !o2_credits_noops_out(&end->credits)) {
		message->type = O2_MSG_NOOP;
	} else if (head != O2_NO_INDEX) {
		message->type = type_of(end, head);
		message->of = head;
	} else {
		return false;
	}
	return o2_credits_may_post(&end->credits, (enum o2_msg_type)message->type);
}

void o2_flow_post(struct o2_flow_end *end, const struct o2_impl_flow_message *message)
{
	if (message->type != O2_MSG_NOOP)
		(void)shift(length_of(&end->nocred) > 0 ? &end->nocred : &end->queue);
	o2_credits_post(&end->credits, (enum o2_msg_type)message->type);
	push(&end->in_flight, message->type);
	end->last_post_ms = end->now_ms;
	end->our_puts += message->type == O2_MSG_PUT_REQ;
	end->our_gets += message->type == O2_MSG_GET_REQ;
	end->our_acks += message->type == O2_MSG_PUT_ACK;
}

/* --- questions --- */

uint32_t o2_flow_least_mark(uint32_t depth)
{
	const uint32_t mark = (depth - 1) / 2;

	return mark > 1 ? mark : 1;
}

static int check_terms(const struct o2_case_flow *asked, struct o2_error *error)
{
	const bool v1 = asked->ibm_version == O2_MSG_VERSION_1;
	const uint32_t depth = asked->queue_depth;
	int rc = o2_refuse_range(error, -EINVAL, O2_FLOW_QUESTION, "ibm_version", asked->ibm_version,
				 O2_MSG_VERSION_1, O2_MSG_VERSION_2);

	if (rc == 0)
		rc = o2_refuse_range(error, -EINVAL, O2_FLOW_QUESTION, "queue_depth", depth,
				     o2_min_queue_depth((uint16_t)asked->ibm_version), O2_IMPL_FLOW_DEPTH);
	if (rc == 0)
		rc = o2_refuse_range(error, -EINVAL, O2_FLOW_QUESTION, "high_water", asked->high_water,
				     o2_flow_least_mark(depth), v1 ? depth - 1 : depth);
	if (rc == 0)
		rc = o2_refuse_range(error, -EINVAL, O2_FLOW_QUESTION, "concurrent_sends",
				     asked->concurrent_sends, 1, (uint64_t)2 * O2_IMPL_FLOW_DEPTH);
	/* At more than 16 NOOPs per second the judge reports a NOOP storm. */
	if (rc == 0 && asked->keepalive_ms != 0)
		rc = o2_refuse_range(error, -EINVAL, O2_FLOW_QUESTION, "keepalive_ms", asked->keepalive_ms,
				     100, 1000000);
	return rc;
}

int o2_flow_check(const struct o2_case_flow *asked, struct o2_error *error)
{
	struct o2_flow_end end;
	struct o2_impl_flow_message message;
	int rc = check_terms(asked, error);

	if (rc != 0)
		return rc;
	o2_flow_begin(&end, asked);
	for (uint32_t i = 0; i < asked->count; i++) {
		if (o2_flow_take(&end, i) == O2_FLOW_IMPOSSIBLE)
			return o2_refuse(error, -EINVAL, O2_FLOW_QUESTION, "events[]", i,
					 asked->event[i].kind, O2_NO_LIMIT);
		while (o2_flow_next(&end, &message))
			o2_flow_post(&end, &message);
	}
	return 0;
}
