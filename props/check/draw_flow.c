/* SPDX-License-Identifier: MIT */
#include "oracle/stages/flow_end.h"
#include "props/check/check_steer.h"
#include "props/check/draw_stage.h"

/* Conversations over a connection: mostly what its state allows; now and then a peer that breaks the rules. */

/* Message types with their weights. */
struct bag {
	uint32_t count;
	uint32_t weight[10];
	uint32_t type[10];
};

static void put(struct bag *bag, bool possible, uint32_t weight, enum o2_msg_type type)
{
	if (!possible)
		return;
	bag->weight[bag->count] = weight;
	bag->type[bag->count++] = type;
}

static uint32_t draw_from(struct o2_choice *c, const struct bag *bag)
{
	return bag->type[o2_draw_weighted(c, bag->weight, bag->count)];
}

static uint32_t draw_queued(struct o2_choice *c, const struct o2_flow_end *end)
{
	struct bag bag = {.count = 0};

	put(&bag, true, 6, O2_MSG_IMMEDIATE);
	put(&bag, true, 2, O2_MSG_PUT_REQ);
	put(&bag, true, 2, O2_MSG_GET_REQ);
	put(&bag, end->peer_puts > 0, 8, O2_MSG_PUT_ACK);
	put(&bag, end->peer_puts > 0, 2, O2_MSG_PUT_NAK);
	put(&bag, end->peer_gets > 0, 6, O2_MSG_GET_DONE);
	put(&bag, end->peer_acks > 0, 6, O2_MSG_PUT_DONE);
	return draw_from(c, &bag);
}

/* What an honest peer can send; count 0: nothing. */
static struct bag arrivals(const struct o2_flow_end *end)
{
	const struct o2_credits *credits = &end->credits;
	const bool paid = credits->granted > 0, reserved = credits->peer_requests < credits->queue_depth;
	const bool v1 = credits->version == O2_MSG_VERSION_1;
	struct bag bag = {.count = 0};

	put(&bag, paid, 4, O2_MSG_IMMEDIATE);
	put(&bag, v1 ? paid : end->noops_held < O2_OOB_MESSAGES, 2, O2_MSG_NOOP);
	put(&bag, paid && reserved, 3, O2_MSG_PUT_REQ);
	put(&bag, paid && reserved, 2, O2_MSG_GET_REQ);
	put(&bag, end->our_puts > 0, 6, O2_MSG_PUT_ACK);
	put(&bag, end->our_puts > 0, 2, O2_MSG_PUT_NAK);
	put(&bag, end->our_gets > 0, 6, O2_MSG_GET_DONE);
	put(&bag, end->our_acks > 0, 6, O2_MSG_PUT_DONE);
	return bag;
}

/* Credits that the peer owes, without those of a PUT_REQ that it acknowledged and whose PUT_DONE is pending. */
static uint32_t owed_to(const struct o2_flow_end *end)
{
	uint32_t kept = end->peer_acks, spent = end->credits.queue_depth - end->credits.credits;

	for (uint32_t i = end->nocred.first; i < end->nocred.end; i++)
		kept += end->asked->event[end->nocred.item[i]].type == O2_MSG_PUT_DONE;
	return spent > kept ? spent - kept : 0;
}

static void draw_arrival(struct o2_choice *c, const struct o2_flow_end *end, struct o2_impl_flow_event *event)
{
	const struct bag bag = arrivals(end);
	const uint32_t most = owed_to(end);

	event->kind = O2_IMPL_FLOW_RECEIVE;
	event->type = draw_from(c, &bag);
	event->credits = (uint32_t)o2_draw(c, most);
}

/* Whether the peer has a credit and no reservation, so that a request is a breach.  That is seldom so. */
static bool lacks_reservation(const struct o2_flow_end *end)
{
	return end->credits.granted > 0 && end->credits.peer_requests >= end->credits.queue_depth;
}

/* Draw an event that breaks the rules. */
static void draw_breach(struct o2_choice *c, const struct o2_flow_end *end, struct o2_impl_flow_event *event)
{
	const struct o2_credits *credits = &end->credits;

	event->kind = O2_IMPL_FLOW_RECEIVE;
	event->type = O2_MSG_IMMEDIATE;
	switch (o2_draw(c, 3)) {
	case 0:
		event->kind = O2_IMPL_FLOW_FAIL;
		event->type = 0;
		break;
	case 1:
		event->credits = credits->queue_depth - credits->credits + 1;
		break;
	case 2: /* an IMMEDIATE is a breach only if the peer has no credit */
		if (lacks_reservation(end))
			event->type = o2_draw_bool(c, 1, 1) ? O2_MSG_PUT_REQ : O2_MSG_GET_REQ;
		break;
	default:
		event->type = o2_draw_bool(c, 1, 1) ? O2_MSG_CONNREQ : O2_MSG_CONNACK;
		break;
	}
}

static bool can_repost(const struct o2_flow_end *end)
{
	const struct o2_flow_line *line = &end->arrived;
	const uint32_t event = line->item[line->first];

	return line->first < line->end &&
	       (end->asked->event[event].type != O2_MSG_PUT_REQ || end->answered[event] != 0);
}

static void draw_event(struct o2_choice *c, const struct o2_flow_end *end, struct o2_impl_flow_event *event)
{
	const uint32_t weight[] = {
		[O2_IMPL_FLOW_QUEUE] = 8,
		[O2_IMPL_FLOW_SENT] = end->credits.in_flight > 0 ? 4 : 0,
		[O2_IMPL_FLOW_RECEIVE] = arrivals(end).count > 0 ? 5 : 0,
		[O2_IMPL_FLOW_REPOST] = can_repost(end) ? 6 : 0,
		[O2_IMPL_FLOW_TICK] = end->asked->keepalive_ms != 0 ? 3 : 0,
	};

	*event = (struct o2_impl_flow_event){.kind = O2_IMPL_FLOW_QUEUE};
	if (o2_draw_bool(c, lacks_reservation(end) ? 4 : 40, 1)) {
		draw_breach(c, end, event);
		return;
	}
	event->kind = (uint32_t)o2_draw_weighted(c, weight, sizeof(weight) / sizeof(weight[0]));
	if (event->kind == O2_IMPL_FLOW_QUEUE)
		event->type = draw_queued(c, end);
	else if (event->kind == O2_IMPL_FLOW_RECEIVE)
		draw_arrival(c, end, event);
	else if (event->kind == O2_IMPL_FLOW_TICK)
		event->ms = (uint32_t)o2_draw(c, end->asked->keepalive_ms + 1);
}

static void draw_terms(struct o2_choice *c, struct o2_case_flow *drawn)
{
	const bool v1 = o2_draw_bool(c, 3, 1);
	const uint16_t version = v1 ? O2_MSG_VERSION_1 : O2_MSG_VERSION_2;
	const uint32_t least = o2_min_queue_depth(version);
	uint32_t depth, mark;

	/* Prefer a low depth, which reaches its bounds soon. */
	depth = least + (uint32_t)o2_draw(c, o2_draw_bool(c, 3, 1) ? O2_IMPL_FLOW_DEPTH - least : 3);
	mark = o2_flow_least_mark(depth);
	drawn->ibm_version = version;
	drawn->queue_depth = depth;
	drawn->high_water = mark + (uint32_t)o2_draw(c, (v1 ? depth - 1 : depth) - mark);
	drawn->concurrent_sends = depth;
	if (o2_draw_bool(c, 3, 1))
		drawn->concurrent_sends = 1 + (uint32_t)o2_draw(c, 2 * depth - 1);
	drawn->keepalive_ms = o2_draw_bool(c, 2, 1) ? 100 + (uint32_t)o2_draw(c, 900) : 0;
}

static void draw(struct o2_choice *c, struct o2_case *asked)
{
	struct o2_case_flow *drawn = &asked->flow;
	struct o2_impl_flow_message message;
	struct o2_flow_end end;

	*drawn = (struct o2_case_flow){.count = 0};
	draw_terms(c, drawn);
	o2_flow_begin(&end, drawn);
	do {
		draw_event(c, &end, &drawn->event[drawn->count]);
		(void)o2_flow_take(&end, drawn->count++);
		while (o2_flow_next(&end, &message))
			o2_flow_post(&end, &message);
	} while (drawn->count < O2_IMPL_FLOW_EVENTS && o2_draw_bool(c, 1, end.closed ? 1 : 20));
}

static void features(const struct o2_case *asked, uint8_t *f)
{
	const struct o2_case_flow *in = &asked->flow;

	f[0] = in->ibm_version == O2_MSG_VERSION_1;
	f[1] = o2_steer_size(in->count);
	f[2] = o2_steer_size(in->queue_depth);
	f[3] = in->concurrent_sends < in->queue_depth;
	for (uint32_t i = 0; i < in->count; i++) {
		const struct o2_impl_flow_event *event = &in->event[i];

		f[4] |= event->kind == O2_IMPL_FLOW_TICK;
		f[5] |= event->kind == O2_IMPL_FLOW_QUEUE && event->type != O2_MSG_IMMEDIATE;
		f[6] |= event->kind == O2_IMPL_FLOW_FAIL;
	}
}

const struct o2_draw_stage o2_draw_flow = {.draw = draw, .features = features};
