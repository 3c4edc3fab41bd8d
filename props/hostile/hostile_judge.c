/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "props/hostile/hostile_internal.h"

/* The scripts' calls into the world below, and the checks that all worlds share when the liar is done. */

#define STEPS_OF_TIME 5u
#define PATIENCE_MS   62500u /* more than a connection's timeout */
#define FAULT_CHARS   100

void o2_hostile_settle(struct o2_hostile *h)
{
	h->world->settle(h);
}

bool o2_hostile_order(struct o2_hostile *h, enum o2_victim_act act, uint64_t value, enum o2_reg_mode mode,
		      struct o2_victim_answer *answer)
{
	struct o2_victim_order order = {act, value, mode};

	return h->world->order(h, &order, answer) && answer->status == 0;
}

bool o2_victim_does(struct o2_hostile *h, enum o2_victim_act act, uint64_t value, enum o2_reg_mode mode)
{
	struct o2_victim_answer answer;

	return o2_hostile_order(h, act, value, mode, &answer);
}

void o2_hostile_clock(struct o2_hostile *h, uint64_t ms)
{
	h->now_ms += ms;
	o2_victim_does(h, O2_ACT_CLOCK, ms, 0);
}

void o2_hostile_wait_out(struct o2_hostile *h)
{
	uint32_t patience_ms = h->patience_ms != 0 ? h->patience_ms : PATIENCE_MS;

	for (uint32_t i = 0; i < STEPS_OF_TIME; i++)
		o2_hostile_clock(h, patience_ms / STEPS_OF_TIME);
}

bool o2_victim_ended(struct o2_hostile *h, int status)
{
	struct o2_victim_answer answer;

	if (h->world->outside)
		return true;
	return o2_hostile_order(h, O2_ACT_LOOK, 0, 0, &answer) && answer.report.done > 0 &&
	       answer.report.status == status;
}

bool o2_victim_received(struct o2_hostile *h, uint32_t count)
{
	struct o2_victim_answer answer;

	if (h->world->outside)
		return true;
	return o2_hostile_order(h, O2_ACT_LOOK, 0, 0, &answer) && answer.report.received == count;
}

bool o2_victim_queued(struct o2_hostile *h, uint64_t *cookie)
{
	struct o2_victim_answer answer;
	bool told = o2_hostile_order(h, O2_ACT_QUEUED, 0, 0, &answer);

	*cookie = told ? answer.value[0] : 0;
	return told;
}

bool o2_victim_place(struct o2_hostile *h, enum o2_victim_act act, uint64_t *address, uint32_t *key)
{
	struct o2_victim_answer answer;
	bool told = o2_hostile_order(h, act, 0, 0, &answer);

	*address = told ? answer.value[0] : 0;
	*key = told ? (uint32_t)answer.value[1] : 0;
	return told;
}

/* --- the judge --- */

/* The connection is open and also handles the next message. */
static bool kept(struct o2_hostile *h, const struct o2_victim_report *report, char *why)
{
	bool open = report->open, heard;

	o2_liar_begin(h, O2_MSG_IMMEDIATE);
	open = open && o2_liar_send(h);
	o2_hostile_settle(h);
	heard = o2_victim_received(h, report->received + 1);
	snprintf(why, O2_VICTIM_WHY_BYTES, "kept: %d, next message heard: %d; closed by %s", open, heard,
		 report->rule);
	return open && heard;
}

static bool rejected(const struct o2_liar *liar, int reason, char *why)
{
	snprintf(why, O2_VICTIM_WHY_BYTES, "rejected %d with reason %u, expected %d", liar->rejected,
		 liar->reject.ibr_why, reason);
	return liar->rejected && !liar->established && liar->reject.ibr_why == reason;
}

static bool met(struct o2_hostile *h, const struct o2_misbehaviour *what, char *why)
{
	struct o2_victim_answer answer;
	const struct o2_victim_report *report = &answer.report;
	bool by_rule;

	if (what->reaction == O2_REACT_REJECT)
		return rejected(&h->liar, what->code, why);
	if (!o2_hostile_order(h, O2_ACT_LOOK, 0, 0, &answer)) {
		snprintf(why, O2_VICTIM_WHY_BYTES, "the victim does not answer");
		return false;
	}
	if (what->reaction == O2_REACT_KEEP)
		return kept(h, report, why);
	by_rule = strcmp(report->rule, what->rule) == 0;
	snprintf(why, O2_VICTIM_WHY_BYTES, "open %d, closed %u times with %d by %s; expected %d by %s",
		 report->open, report->closed, report->code, report->rule, what->code, what->rule);
	if (report->open || report->closed != 1 || report->code != what->code)
		return false;
	switch (what->reaction) {
	case O2_REACT_CLOSE:
		return report->side == O2_FAULT_PEER_MESSAGE && by_rule;
	case O2_REACT_FAIL:
		return report->done == 1 && report->status < 0 && by_rule;
	case O2_REACT_TIMEOUT:
		return report->side == O2_FAULT_DEADLINE;
	default:
		return report->side == O2_FAULT_LOCAL_COMPLETION;
	}
}

/* The honest peer's PUT succeeds as before; O2_ACT_END checks that its bytes arrived. */
static bool honest_works(struct o2_hostile *h, char *why)
{
	static const char what[] = "the honest connection does not work any more: its PUT";
	const struct o2_hostile_end *end = &h->friend.end;
	char fault[O2_VICTIM_WHY_BYTES];

	snprintf(why, O2_VICTIM_WHY_BYTES, "%s does not start", what);
	if (!o2_friend_put(&h->friend, h->liar.victim_nid, ++h->tries))
		return false;
	o2_hostile_settle(h);
	snprintf(why, O2_VICTIM_WHY_BYTES, "%s does not end", what);
	if (end->done != end->started)
		return false;
	o2_fault_text(&end->last.fault, fault, sizeof(fault));
	snprintf(why, O2_VICTIM_WHY_BYTES, "%s ends with %s: %.*s", what, strerror(-end->last.status),
		 FAULT_CHARS, fault);
	return end->last.status == 0;
}

bool o2_hostile_harmless(struct o2_hostile *h, char *why)
{
	struct o2_victim_answer answer = {.why = "the victim does not answer"};

	if (h->endless) {
		snprintf(why, O2_VICTIM_WHY_BYTES, "did not come to rest");
		return false;
	}
	if (!honest_works(h, why))
		return false;
	if (o2_hostile_order(h, O2_ACT_END, h->tries, 0, &answer))
		return true;
	snprintf(why, O2_VICTIM_WHY_BYTES, "%s", answer.why);
	return false;
}

bool o2_hostile_judge(struct o2_hostile *h, const struct o2_misbehaviour *what, char *why)
{
	if (!o2_misbehaviour_do(h, what)) {
		snprintf(why, O2_VICTIM_WHY_BYTES, "the liar was not answered as it must be");
		return false;
	}
	o2_hostile_settle(h);
	if (what->reaction == O2_REACT_TIMEOUT)
		o2_hostile_wait_out(h);
	return met(h, what, why) && o2_hostile_harmless(h, why);
}
