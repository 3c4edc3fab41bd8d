/* SPDX-License-Identifier: MIT */
/* Scenes about single messages, the end of a connection, and the transport below. */
#include <errno.h>

#include "props/judge/fair.h"
#include "props/judge/scenes.h"

/* A message that the codec refuses, or one that was unreadable for another reason. */
static void wire(struct o2_hearing *h, bool broken)
{
	const enum o2_judge_side from = o2_hearing_draw_side(h);
	const struct o2_error refused = {.code = -EPROTO,
					 .rule = "wire/header/magic",
					 .field = "ibm_magic",
					 .value = o2_draw(h->c, 9),
					 .limit = 3,
					 .limit_kind = O2_LIMIT_EXACT};

	if (broken) {
		o2_hearing_expect(h, O2_HEARING_EVENT, O2_JUDGE_MESSAGE_WIRE, from, 0, NULL, 0, O2_NO_LIMIT,
				  O2_LIMIT_OTHER);
		h->due[h->ndue - 1].error = refused;
	}
	o2_hearing_tell(h, (struct o2_judge_event){.kind = O2_JUDGE_MESSAGE,
						   .from = from,
						   .refused = broken ? &refused : NULL,
						   .bytes = 48});
	o2_hearing_missed(h, from);
}

static void type(struct o2_hearing *h, bool broken)
{
	const enum o2_judge_side from = o2_hearing_draw_side(h);
	const enum o2_msg_type request = o2_draw_bool(h->c, 1, 1) ? O2_MSG_CONNREQ : O2_MSG_CONNACK;
	struct o2_msg msg = o2_fair_immediate(h, from, 0);

	o2_hearing_message(h, from, &msg);
	if (!broken)
		return;
	msg = o2_hearing_header(h, from, request);
	msg.ibm_nob = (uint32_t)o2_msg_canonical_bytes(&msg);
	o2_hearing_expect(h, O2_HEARING_EVENT, O2_JUDGE_MESSAGE_TYPE, from, 0, "ibm_type", request,
			  O2_NO_LIMIT, O2_LIMIT_OTHER);
	o2_hearing_tell(h,
			(struct o2_judge_event){
				.kind = O2_JUDGE_MESSAGE, .from = from, .msg = &msg, .bytes = msg.ibm_nob});
}

/* Send a correct message, from which the judge knows the other end; return a second one, to be changed. */
static struct o2_msg second(struct o2_hearing *h, enum o2_judge_side *from)
{
	struct o2_msg msg;

	*from = o2_hearing_draw_side(h);
	msg = o2_fair_immediate(h, *from, 1);
	o2_hearing_message(h, *from, &msg);
	return o2_fair_immediate(h, *from, 1);
}

static void version(struct o2_hearing *h, bool broken)
{
	enum o2_judge_side from;
	struct o2_msg msg = second(h, &from);

	if (broken) {
		msg.ibm_version = h->version == O2_MSG_VERSION_1 ? O2_MSG_VERSION_2 : O2_MSG_VERSION_1;
		o2_hearing_expect(h, O2_HEARING_EVENT, O2_JUDGE_MESSAGE_VERSION, from, 0, "ibm_version",
				  msg.ibm_version, h->version, O2_LIMIT_EXACT);
	}
	o2_hearing_message(h, from, &msg);
}

/* Change a 64-bit field, and predict the finding. */
static void change(struct o2_hearing *h, enum o2_judge_rule_id rule, enum o2_judge_side from,
		   const char *field, uint64_t *value)
{
	const uint64_t expected = *value;

	*value += o2_draw_bool(h->c, 1, 1) ? 1 : UINT64_C(1) << o2_draw(h->c, 63);
	o2_hearing_expect(h, O2_HEARING_EVENT, rule, from, 0, field, *value, expected, O2_LIMIT_EXACT);
}

static void nids(struct o2_hearing *h, bool broken)
{
	enum o2_judge_side from;
	struct o2_msg msg = second(h, &from);

	if (broken && o2_draw_bool(h->c, 1, 1))
		change(h, O2_JUDGE_MESSAGE_NIDS, from, "ibm_srcnid", &msg.ibm_srcnid);
	else if (broken)
		change(h, O2_JUDGE_MESSAGE_NIDS, from, "ibm_dstnid", &msg.ibm_dstnid);
	o2_hearing_message(h, from, &msg);
}

/* After a loss, one message with another stamp may be of another connection, whose terms nobody knows. */
static void stamp_after_loss(struct o2_hearing *h, enum o2_judge_side from, struct o2_msg *msg)
{
	o2_hearing_lose(h, from);
	*(o2_draw_bool(h->c, 1, 1) ? &msg->ibm_srcstamp : &msg->ibm_dststamp) +=
		1 + o2_draw(h->c, UINT32_MAX);
	h->knows_terms = false;
	h->end[O2_JUDGE_A].summed = h->end[O2_JUDGE_B].summed = 0;
	o2_hearing_message(h, from, msg);
}

static void stamps(struct o2_hearing *h, bool broken)
{
	enum o2_judge_side from;
	struct o2_msg msg = second(h, &from);

	if (broken && !(h->one_way && from != h->heard_side) && o2_draw_bool(h->c, 3, 1)) {
		stamp_after_loss(h, from, &msg);
		return;
	}
	if (broken && o2_draw_bool(h->c, 1, 1))
		change(h, O2_JUDGE_MESSAGE_STAMPS, from, "ibm_srcstamp", &msg.ibm_srcstamp);
	else if (broken)
		change(h, O2_JUDGE_MESSAGE_STAMPS, from, "ibm_dststamp", &msg.ibm_dststamp);
	o2_hearing_message(h, from, &msg);
}

/* An IMMEDIATE as large as its receiver accepts, or one byte larger; the headers are 120 bytes. */
static void size(struct o2_hearing *h, bool broken)
{
	const enum o2_judge_side from = o2_hearing_draw_side(h);
	const uint32_t most = h->end[o2_hearing_other(from)].max_msg_bytes;
	struct o2_msg msg = o2_fair_immediate(h, from, most - 120 + broken);

	if (broken)
		o2_hearing_expect(h, O2_HEARING_TERMS, O2_JUDGE_MESSAGE_SIZE, from, 0, "bytes", most + 1,
				  most, O2_LIMIT_BOUND);
	o2_hearing_message(h, from, &msg);
}

static void length(struct o2_hearing *h, bool broken)
{
	const enum o2_judge_side from = o2_hearing_draw_side(h);
	struct o2_msg msg = o2_fair_immediate(h, from, o2_draw(h->c, 20));
	const uint64_t expected = o2_msg_canonical_bytes(&msg);
	const uint64_t other = o2_draw_bool(h->c, 1, 1) ? expected + 1 : expected - 1;
	const bool own = broken && o2_draw_bool(h->c, 1, 1);

	msg.ibm_nob = (uint32_t)(broken ? other : expected);
	if (broken)
		o2_hearing_expect(h, O2_HEARING_EVENT, O2_JUDGE_MESSAGE_LENGTH, from, 0,
				  own ? "ibm_nob" : "bytes", other, expected, O2_LIMIT_EXACT);
	o2_hearing_message_bytes(h, from, &msg, own ? expected : msg.ibm_nob);
}

static void after_the_end(struct o2_hearing *h, bool broken)
{
	const enum o2_judge_side leaves = o2_hearing_draw_side(h);
	/* After a loss the queue pair may be another connection's. */
	const bool lost = !broken && o2_draw_bool(h->c, 1, 1);
	const enum o2_judge_side from = broken || lost ? leaves : o2_hearing_other(leaves);
	struct o2_msg msg;

	o2_fair_settle(h);
	o2_hearing_tell(h, (struct o2_judge_event){.kind = O2_JUDGE_DISCONNECT, .from = leaves});
	if (lost)
		o2_hearing_lose(h, leaves);
	h->over = true;
	for (int i = 0; i < 2; i++) {
		msg = o2_hearing_header(h, from, O2_MSG_IMMEDIATE);
		if (o2_hearing_room(h, from) < 2)
			return;
		if (broken)
			o2_hearing_expect(h, O2_HEARING_EVENT, O2_JUDGE_END_MESSAGE, from, 0, "messages",
					  h->end[from].messages + 1, O2_NO_LIMIT, O2_LIMIT_OTHER);
		o2_hearing_message(h, from, &msg);
	}
}

static void with_open(struct o2_hearing *h, bool broken)
{
	const enum o2_judge_side leaves = o2_hearing_draw_side(h);

	o2_fair_finish(h);
	for (uint64_t left = broken ? 1 + o2_draw(h->c, 2) : 0; left > 0; left--)
		o2_fair_open(h);
	for (int side = O2_JUDGE_A; side < O2_JUDGE_SIDES; side++) {
		uint64_t oldest = UINT64_MAX, count = 0;

		for (uint32_t i = 0; i < O2_HEARING_TRANSFERS; i++) {
			const struct o2_hearing_transfer *t = &h->transfer[i];

			if (!t->open || !t->followed || (int)t->asker != side)
				continue;
			count++;
			oldest = t->number < oldest ? t->number : oldest;
		}
		if (count != 0)
			o2_hearing_expect(h, O2_HEARING_BOTH, O2_JUDGE_END_OPEN, leaves, oldest,
					  "transfers open", count, 0, O2_LIMIT_EXACT);
	}
	o2_hearing_tell(h, (struct o2_judge_event){.kind = O2_JUDGE_DISCONNECT, .from = leaves});
	for (uint32_t i = 0; i < O2_HEARING_TRANSFERS; i++)
		h->transfer[i].open = false;
	h->over = true;
}

/* A lost packet may have been sent by either side: the judge is told of a loss on both. */
static void lose_either(struct o2_hearing *h)
{
	h->either = true;
	for (int side = O2_JUDGE_A; side < O2_JUDGE_SIDES; side++)
		o2_hearing_lose(h, (enum o2_judge_side)side);
	h->either = false;
}

static void lost(struct o2_hearing *h, bool broken)
{
	const enum o2_judge_side from = o2_hearing_draw_side(h);

	if (broken && !h->one_way && o2_draw_bool(h->c, 3, 1))
		lose_either(h);
	else if (broken)
		o2_hearing_lose(h, from);
}

static void not_taken(struct o2_hearing *h, bool broken)
{
	const enum o2_judge_side from = o2_hearing_draw_side(h);

	if (!broken)
		return;
	o2_hearing_expect(h, O2_HEARING_EVENT, O2_JUDGE_TRANSPORT_NAK, from, 0, NULL, 0, O2_NO_LIMIT,
			  O2_LIMIT_OTHER);
	o2_hearing_tell(h, (struct o2_judge_event){.kind = O2_JUDGE_NAK, .from = from});
}

/* One message with a checksum, then one without: o2_hearing_message predicts the finding. */
static void unsummed(struct o2_hearing *h, bool broken)
{
	const enum o2_judge_side from = o2_hearing_draw_side(h);
	struct o2_msg msg = o2_fair_immediate(h, from, 0);

	if (broken)
		msg.cksum_flavour = o2_draw_bool(h->c, 1, 1) ? O2_CKSUM_UNSIGNED : O2_CKSUM_SIGNED;
	o2_hearing_message(h, from, &msg);
	msg = o2_fair_immediate(h, from, 0);
	o2_hearing_message(h, from, &msg);
}

const struct o2_scene o2_scenes_message[] = {
	{O2_JUDGE_MESSAGE_WIRE, wire},	     {O2_JUDGE_MESSAGE_TYPE, type},
	{O2_JUDGE_MESSAGE_VERSION, version}, {O2_JUDGE_MESSAGE_NIDS, nids},
	{O2_JUDGE_MESSAGE_STAMPS, stamps},   {O2_JUDGE_MESSAGE_SIZE, size},
	{O2_JUDGE_MESSAGE_LENGTH, length},   {O2_JUDGE_END_MESSAGE, after_the_end},
	{O2_JUDGE_END_OPEN, with_open},	     {O2_JUDGE_TRANSPORT_LOST, lost},
	{O2_JUDGE_TRANSPORT_NAK, not_taken}, {O2_JUDGE_MESSAGE_UNSUMMED, unsummed},
};
