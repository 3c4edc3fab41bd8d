/* SPDX-License-Identifier: MIT */
/* Scenes about credits: each uses or returns the last possible credit. */
#include "base/monotonic.h"
#include "props/judge/fair.h"
#include "props/judge/scenes.h"

/* docs/transport.md, "NOOP". */
#define EMPTY_NOOPS 16u

/* The most NOOPs without credits in a second.  If not all is heard, a second may have begun with an earlier one. */
static uint32_t most_noops(const struct o2_hearing *h)
{
	return h->whole ? EMPTY_NOOPS : 2 * EMPTY_NOOPS;
}

/* Send a NOOP of a side, and predict the findings about it. */
static void noop(struct o2_hearing *h, enum o2_judge_side from, uint8_t credits)
{
	struct o2_hearing_end *end = &h->end[from];
	const uint32_t mark = o2_fair_mark(h), most = most_noops(h);
	struct o2_msg msg = o2_hearing_header(h, from, O2_MSG_NOOP);

	msg.ibm_credits = credits;
	if (credits < mark && end->said_ns != 0 &&
	    h->now_ns < end->said_ns + h->options.keepalive_ms * O2_NS_PER_MS)
		o2_hearing_expect(h, O2_HEARING_TERMS, O2_JUDGE_CREDITS_NOOP_UNCALLED, from, 0, "ibm_credits",
				  credits, mark, O2_LIMIT_BOUND);
	if (credits == 0) {
		if (h->now_ns >= end->empty_noops_ns + O2_NS_PER_S)
			end->empty_noops = 0;
		if (end->empty_noops++ == 0)
			end->empty_noops_ns = h->now_ns;
		if (end->empty_noops == most + 1)
			o2_hearing_expect(h, O2_HEARING_EVENT, O2_JUDGE_CREDITS_NOOP_STORM, from, 0, "NOOPs",
					  most + 1, most, O2_LIMIT_BOUND);
	}
	o2_hearing_message(h, from, &msg);
}

static void quiet_noop(struct o2_hearing *h, enum o2_judge_side from)
{
	o2_hearing_pass_ns(h, h->options.keepalive_ms * O2_NS_PER_MS + O2_NS_PER_S);
	noop(h, from, 0);
}

static void bare(struct o2_hearing *h, enum o2_judge_side from)
{
	struct o2_msg msg = o2_hearing_header(h, from, O2_MSG_IMMEDIATE);

	o2_hearing_message(h, from, &msg);
}

/* Use all credits but `leave`, as far as the judge can know them. */
static bool use_up(struct o2_hearing *h, enum o2_judge_side from, int64_t leave)
{
	o2_fair_settle(h);
	if (o2_hearing_room(h, from) < leave || (h->version == O2_MSG_VERSION_1 && leave == 0))
		return false;
	while (o2_hearing_room(h, from) > leave && !h->report->failed)
		bare(h, from);
	h->over = !h->exact;
	return !h->one_way;
}

static void none(struct o2_hearing *h, bool broken)
{
	const enum o2_judge_side from = o2_hearing_draw_side(h);
	const bool old = h->version == O2_MSG_VERSION_1;

	if (h->one_way || !use_up(h, from, old ? 1 : 0))
		return;
	if (old)
		quiet_noop(h, from);
	if (!broken)
		return;
	o2_hearing_expect(h, O2_HEARING_BOTH, O2_JUDGE_CREDITS_NONE, from, 0, "credits", 0, 1,
			  O2_LIMIT_BOUND);
	h->anew = true;
	bare(h, from);
	h->over = false;
}

static void last(struct o2_hearing *h, bool broken)
{
	const enum o2_judge_side from = o2_hearing_draw_side(h);

	if (h->one_way || h->version != O2_MSG_VERSION_1 || !use_up(h, from, 1))
		return;
	if (!broken) {
		quiet_noop(h, from);
		return;
	}
	o2_hearing_expect(h, O2_HEARING_BOTH, O2_JUDGE_CREDITS_LAST, from, 0, "credits", 1, 2,
			  O2_LIMIT_BOUND);
	bare(h, from);
}

static void over_owed(struct o2_hearing *h, bool broken)
{
	const enum o2_judge_side from = o2_hearing_draw_side(h);
	const bool is_noop = h->version == O2_MSG_VERSION_2 && o2_draw_bool(h->c, 1, 1);
	const enum o2_msg_type type = is_noop ? O2_MSG_NOOP : O2_MSG_IMMEDIATE;
	struct o2_msg msg;
	int64_t owed;

	if (h->one_way)
		return;
	for (uint32_t i = 0; i < O2_HEARING_TRANSFERS; i++)
		if (h->transfer[i].open && !h->transfer[i].described)
			o2_fair_advance(h, &h->transfer[i], true);
	if (is_noop)
		o2_hearing_pass_ns(h, h->options.keepalive_ms * O2_NS_PER_MS + O2_NS_PER_S);
	else
		o2_fair_ensure(h, from);
	owed = o2_hearing_owed_most(h, from);
	if (owed < 0 || owed + broken > 255)
		return;
	if (broken)
		o2_hearing_expect(h, O2_HEARING_BOTH, O2_JUDGE_CREDITS_OVER_OWED, from, 0, "ibm_credits",
				  (uint64_t)owed + 1, (uint64_t)owed, O2_LIMIT_BOUND);
	h->anew = broken;
	h->over = !h->exact && !broken;
	if (is_noop) {
		noop(h, from, (uint8_t)(owed + broken));
		return;
	}
	msg = o2_hearing_header(h, from, type);
	msg.ibm_credits = (uint8_t)(owed + broken);
	o2_hearing_message(h, from, &msg);
}

static void ask(struct o2_hearing *h, enum o2_judge_side from, uint64_t cookie)
{
	struct o2_msg msg;

	o2_fair_ensure(h, from);
	msg = o2_hearing_header(h, from, O2_MSG_PUT_REQ);
	msg.u.putreq.ibprm_cookie = cookie;
	msg.u.putreq.hdr.type = O2_LNET_PUT;
	if (h->end[from].unanswered >= h->depth)
		o2_hearing_expect(h, O2_HEARING_EXACT, O2_JUDGE_CREDITS_REQUESTS, from, 0, "requests",
				  h->depth + 1, h->depth, O2_LIMIT_BOUND);
	o2_hearing_message(h, from, &msg);
}

static void requests(struct o2_hearing *h, bool broken)
{
	const enum o2_judge_side from = o2_hearing_draw_side(h);
	struct o2_msg msg;
	uint64_t first;

	o2_fair_settle(h);
	first = h->next_cookie + 1;
	if (h->depth > 20 || h->one_way || h->end[from].unanswered != 0)
		return;
	h->over = true;
	while (h->end[from].unanswered < h->depth && !h->report->failed)
		ask(h, from, ++h->next_cookie);
	if (!broken) {
		msg = o2_hearing_header(h, o2_hearing_other(from), O2_MSG_PUT_NAK);
		msg.u.completion.ibcm_cookie = first;
		o2_hearing_message(h, o2_hearing_other(from), &msg);
	}
	ask(h, from, ++h->next_cookie);
}

static void uncalled(struct o2_hearing *h, bool broken)
{
	const enum o2_judge_side from = o2_hearing_draw_side(h);
	const uint32_t mark = o2_fair_mark(h);
	struct o2_msg msg = o2_fair_immediate(h, from, 0);
	int64_t owed;

	o2_hearing_message(h, from, &msg);
	if (o2_hearing_credits(h, from) < 2)
		return;
	owed = o2_hearing_owed(h, from);
	if (owed < 0)
		owed = 0;
	if (!broken && owed >= mark) {
		noop(h, from, (uint8_t)mark);
		return;
	}
	o2_hearing_pass_ns(h,
			   h->options.keepalive_ms * O2_NS_PER_MS - (broken && h->options.keepalive_ms != 0));
	noop(h, from, (uint8_t)(owed < mark - 1 ? owed : mark - 1));
}

/* Send one empty NOOP too many: at the end of a second, or too early. */
static void storm(struct o2_hearing *h, bool broken)
{
	const enum o2_judge_side from = o2_hearing_draw_side(h);
	const uint32_t most = most_noops(h);

	if (h->version == O2_MSG_VERSION_1)
		return;
	o2_hearing_pass_ns(h, O2_NS_PER_S);
	for (uint32_t i = 0; i <= most; i++) {
		if (i > 0)
			o2_hearing_pass_ns(h, O2_NS_PER_S / most - (broken && i == most));
		noop(h, from, 0);
	}
	if (broken)
		noop(h, from, 0);
}

static void withheld(struct o2_hearing *h, bool broken)
{
	const enum o2_judge_side from = o2_hearing_draw_side(h);
	const bool old = h->version == O2_MSG_VERSION_1;

	if (h->one_way || !h->exact || !use_up(h, from, old ? 1 : 0))
		return;
	if (old)
		quiet_noop(h, from);
	o2_hearing_pass_ns(h, h->options.timeout_ms * O2_NS_PER_MS + broken);
	o2_fair_noop(h, o2_hearing_other(from));
	o2_fair_settle(h);
}

const struct o2_scene o2_scenes_credits[] = {
	{O2_JUDGE_CREDITS_NONE, none},
	{O2_JUDGE_CREDITS_OVER_OWED, over_owed},
	{O2_JUDGE_CREDITS_LAST, last},
	{O2_JUDGE_CREDITS_REQUESTS, requests},
	{O2_JUDGE_CREDITS_NOOP_UNCALLED, uncalled},
	{O2_JUDGE_CREDITS_NOOP_STORM, storm},
	{O2_JUDGE_CREDITS_WITHHELD, withheld},
};
