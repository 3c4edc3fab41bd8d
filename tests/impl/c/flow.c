/* SPDX-License-Identifier: MIT */
#include "second.h"

/* flow: docs/transport.md, "Flow control".  The state is a list of waiting messages, and counters. */

enum {
	CONNREQ = 0xc0,
	CONNACK,
	NOOP = 0xd0,
	IMMEDIATE,
	PUT_REQ,
	PUT_NAK,
	PUT_ACK,
	PUT_DONE,
	GET_REQ,
	GET_DONE
};

struct flow {
	const struct o2_impl_flow_in *in;
	struct o2_impl_flow_step *step;
	uint32_t at;			    /* index of the current event */
	bool waits[O2_IMPL_FLOW_EVENTS];    /* by event: the message that it queued is not sent yet */
	uint32_t turn[O2_IMPL_FLOW_EVENTS]; /* by event: the message's place in line; 0: no reservation yet */
	uint32_t turns;
	bool holds[O2_IMPL_FLOW_EVENTS];	      /* by event: the received message holds a receive */
	uint32_t answer[O2_IMPL_FLOW_EVENTS];	      /* by event of a PUT_REQ: type of our answer */
	uint32_t sent[2 * O2_IMPL_FLOW_EVENTS];	      /* types of all messages sent, oldest first */
	uint32_t first, end;			      /* sent[first] to sent[end - 1] are in flight */
	uint32_t credits, room, owed, granted, asked; /* asked: unanswered requests of the peer */
	uint32_t noops;				      /* NOOPs in flight */
	uint64_t given, before[2], marks; /* credits given; before the last two marks; their number */
	uint64_t now, last;
	bool closed;
};

static bool is_v1(const struct flow *flow)
{
	return flow->in->ibm_version == 0x11;
}

static bool is_request(uint32_t type)
{
	return type == PUT_REQ || type == GET_REQ;
}

static bool is_paid(const struct flow *flow, uint32_t type)
{
	return type == IMMEDIATE || is_request(type) || (type == NOOP && is_v1(flow));
}

/* --- events --- */

static void receive(struct flow *flow, const struct o2_impl_flow_event *event)
{
	const uint32_t depth = flow->in->queue_depth;

	flow->closed = event->type == CONNREQ || event->type == CONNACK;
	if (flow->credits + event->credits > depth)
		flow->closed = true;
	if (is_paid(flow, event->type) && flow->granted-- == 0)
		flow->closed = true;
	if (is_request(event->type) && flow->asked++ == depth)
		flow->closed = true;
	flow->credits += event->credits;
	if (event->type == NOOP && is_v1(flow) && event->credits)
		flow->owed++;
	flow->holds[flow->at] = true;
}

static void repost(struct flow *flow)
{
	const struct o2_impl_flow_event *event;
	uint32_t i = 0;

	while (!flow->holds[i])
		i++;
	flow->holds[i] = false;
	event = &flow->in->event[i];
	switch (event->type) {
	case PUT_ACK:
	case PUT_NAK:
	case GET_DONE:
		flow->room++;
		return;
	case NOOP:
		flow->owed += is_v1(flow) && !event->credits;
		return;
	case PUT_REQ:
		flow->owed += flow->answer[i] != PUT_ACK;
		return;
	default:
		flow->owed++;
		return;
	}
}

static void queue(struct flow *flow, uint32_t type)
{
	flow->waits[flow->at] = true;
	if (!is_request(type))
		flow->turn[flow->at] = ++flow->turns;
	if (type != PUT_ACK && type != PUT_NAK)
		return;
	for (uint32_t i = 0; i < flow->at; i++) {
		if (flow->holds[i] && flow->in->event[i].type == PUT_REQ && !flow->answer[i]) {
			flow->answer[i] = type;
			return;
		}
	}
}

static void take(struct flow *flow)
{
	const struct o2_impl_flow_event *event = &flow->in->event[flow->at];

	switch (event->kind) {
	case O2_IMPL_FLOW_QUEUE:
		queue(flow, event->type);
		return;
	case O2_IMPL_FLOW_SENT:
		flow->noops -= flow->sent[flow->first++] == NOOP;
		return;
	case O2_IMPL_FLOW_RECEIVE:
		receive(flow, event);
		return;
	case O2_IMPL_FLOW_REPOST:
		repost(flow);
		return;
	case O2_IMPL_FLOW_TICK:
		flow->now += event->ms;
		return;
	default:
		flow->closed = true;
		return;
	}
}

/* --- sending --- */

/* Requests for whose answer a receive is free get a reservation, and with it a place in line. */
static void book(struct flow *flow)
{
	for (uint32_t i = 0; i <= flow->at && flow->room > 0; i++) {
		if (flow->waits[i] && flow->turn[i] == 0) {
			flow->turn[i] = ++flow->turns;
			flow->room--;
		}
	}
}

/* The first message in line, among those that take a credit (paid) or among the others; NO_INDEX: none. */
static uint32_t first_of(const struct flow *flow, bool paid)
{
	uint32_t first = NO_INDEX;

	for (uint32_t i = 0; i <= flow->at; i++)
		if (flow->waits[i] && flow->turn[i] && is_paid(flow, flow->in->event[i].type) == paid &&
		    (first == NO_INDEX || flow->turn[i] < flow->turn[first]))
			first = i;
	return first;
}

/* Version 2: has the peer used none of the credits of the last two marks, NOOPs of high_water or more? */
static bool may_hold_two(const struct flow *flow)
{
	return !is_v1(flow) && flow->marks >= 2 &&
	       flow->granted >= flow->given - flow->before[flow->marks % 2];
}

static bool noop_due(const struct flow *flow, bool paid_waits)
{
	const bool quiet = flow->in->keepalive_ms && flow->now - flow->last > flow->in->keepalive_ms;

	if (!quiet && (flow->owed < flow->in->high_water || may_hold_two(flow)))
		return false;
	if (!is_v1(flow))
		return flow->noops < 2 && (!paid_waits || flow->credits == 0);
	if (flow->credits == 0 || (flow->credits == 1 && flow->owed == 0))
		return false;
	return !paid_waits || flow->credits == 1;
}

static bool can_send(const struct flow *flow, uint32_t type)
{
	if (flow->end - flow->first >= flow->in->concurrent_sends)
		return false;
	if (!is_paid(flow, type))
		return true;
	return flow->credits > (is_v1(flow) && type != NOOP);
}

static void send(struct flow *flow, uint32_t type, uint32_t of)
{
	struct o2_impl_flow_message *message = &flow->step->message[flow->step->count++];

	message->type = (uint16_t)type;
	message->credits = (uint16_t)flow->owed;
	message->of = of;
	if (type == NOOP && flow->owed >= flow->in->high_water)
		flow->before[flow->marks++ % 2] = flow->given;
	flow->given += flow->owed;
	flow->granted += flow->owed;
	flow->owed = 0;
	flow->credits -= is_paid(flow, type);
	flow->noops += type == NOOP;
	if (type == PUT_ACK || type == PUT_NAK || type == GET_DONE)
		flow->asked--;
	flow->sent[flow->end++] = type;
	flow->last = flow->now;
}

/* Send the next message.  False: none can be sent. */
static bool send_next(struct flow *flow)
{
	const uint32_t free = first_of(flow, false), paid = first_of(flow, true);
	const uint32_t first = free != NO_INDEX ? free : paid;

	if (free == NO_INDEX && noop_due(flow, paid != NO_INDEX)) {
		if (!can_send(flow, NOOP))
			return false;
		send(flow, NOOP, 0);
		return true;
	}
	if (first == NO_INDEX || !can_send(flow, flow->in->event[first].type))
		return false;
	flow->waits[first] = false;
	send(flow, flow->in->event[first].type, first);
	return true;
}

static void step(struct flow *flow)
{
	if (!flow->closed)
		take(flow);
	book(flow);
	while (!flow->closed && send_next(flow))
		;
	flow->step->closed = flow->closed;
	for (uint32_t i = 0; i <= flow->at && !flow->closed; i++)
		flow->step->queued += flow->waits[i];
}

int32_t second_flow(const struct o2_impl_flow_in *in, struct o2_impl_flow_out *out,
		    struct o2_impl_refusal *refusal)
{
	struct flow flow = {
		.in = in, .credits = in->queue_depth, .room = in->queue_depth, .granted = in->queue_depth};

	(void)refusal;
	for (; flow.at < in->count; flow.at++) {
		flow.step = &out->step[flow.at];
		*flow.step = (struct o2_impl_flow_step){.count = 0};
		step(&flow);
	}
	out->count = in->count;
	return O2_IMPL_OK;
}
