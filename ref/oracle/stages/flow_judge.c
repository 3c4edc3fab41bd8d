/* SPDX-License-Identifier: MIT */
#include "oracle/stages/flow_judge.h"

#include <errno.h>
#include <string.h>

#include "base/monotonic.h"
#include "judge/judge.h"
#include "wire/msg.h"

#define ASKED O2_JUDGE_A /* the end that the implementation plays */
/* Longer than any question.  Disables the judge's time limits: flow_follow.c finds missing messages exactly. */
#define NEVER_MS UINT32_MAX

static const struct {
	enum o2_judge_rule_id rule;
	enum o2_check_id check;
} rules[] = {
	{O2_JUDGE_CREDITS_NONE, O2_CHECK_CREDITS_NONE},
	{O2_JUDGE_CREDITS_OVER_OWED, O2_CHECK_CREDITS_OVER_OWED},
	{O2_JUDGE_CREDITS_LAST, O2_CHECK_CREDITS_LAST},
	{O2_JUDGE_CREDITS_REQUESTS, O2_CHECK_CREDITS_REQUESTS},
	{O2_JUDGE_CREDITS_NOOP_UNCALLED, O2_CHECK_CREDITS_NOOP_UNCALLED},
	{O2_JUDGE_CREDITS_NOOP_STORM, O2_CHECK_CREDITS_NOOP_STORM},
	{O2_JUDGE_END_MESSAGE, O2_CHECK_END_MESSAGE},
};

struct hearing {
	struct o2_judge *judge;
	struct o2_judge_conn *conn;
	struct o2_flow_said *said;
	const struct o2_case_flow *asked;
	uint32_t event;
	uint64_t now_ms;
	uint64_t number;
	int rc; /* 0, or -ENOMEM of the first event that failed */
	struct o2_msg msg;
};

static void said(void *context, const struct o2_judge_finding *finding)
{
	struct hearing *hearing = context;
	struct o2_flow_said *all = hearing->said;
	enum o2_check_id check = O2_CHECKS;

	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		if (rules[i].rule == finding->rule)
			check = rules[i].check;
	if (finding->who != ASKED || check == O2_CHECKS || all->count == O2_FLOW_SAID)
		return;
	for (uint32_t i = 0; i < all->count; i++)
		if (all->item[i].check == check)
			return;
	all->item[all->count].check = check;
	all->item[all->count].event = hearing->event;
	all->item[all->count++].error = finding->error;
}

/* Fill in the header.  The NIDs and stamps are arbitrary, but differ between the two ends. */
static void fill_head(struct hearing *hearing, enum o2_judge_side from, uint8_t type, uint8_t credits)
{
	struct o2_msg *msg = &hearing->msg;

	msg->ibm_version = (uint16_t)hearing->asked->ibm_version;
	msg->ibm_type = type;
	msg->ibm_credits = credits;
	msg->ibm_srcnid = msg->ibm_srcstamp = from == O2_JUDGE_A ? 1 : 2;
	msg->ibm_dstnid = msg->ibm_dststamp = from == O2_JUDGE_A ? 2 : 1;
	msg->ibm_nob = (uint32_t)o2_msg_canonical_bytes(msg);
}

static void tell(struct hearing *hearing, enum o2_judge_event_kind kind, enum o2_judge_side from)
{
	const struct o2_judge_event event = {
		.kind = kind,
		.from = from,
		.number = ++hearing->number,
		.time_ns = (hearing->now_ms + 1) * O2_NS_PER_MS,
		.msg = kind == O2_JUDGE_DISCONNECT ? NULL : &hearing->msg,
		.bytes = hearing->msg.ibm_nob,
	};

	if (hearing->rc == 0)
		hearing->rc = o2_judge_hear(hearing->judge, hearing->conn, &event);
}

static void tell_message(struct hearing *hearing, enum o2_judge_side from, uint32_t type, uint32_t credits)
{
	fill_head(hearing, from, (uint8_t)type, (uint8_t)credits);
	tell(hearing, O2_JUDGE_MESSAGE, from);
}

static void come_to_terms(struct hearing *hearing)
{
	hearing->msg.u.connparams.ibcp_queue_depth = (uint16_t)hearing->asked->queue_depth;
	hearing->msg.u.connparams.ibcp_max_frags = O2_MAX_FRAGS;
	hearing->msg.u.connparams.ibcp_max_msg_size = O2_MSG_BYTES;
	fill_head(hearing, O2_JUDGE_A, O2_MSG_CONNREQ, 0);
	tell(hearing, O2_JUDGE_REQUEST, O2_JUDGE_A);
	fill_head(hearing, O2_JUDGE_B, O2_MSG_CONNACK, 0);
	tell(hearing, O2_JUDGE_REPLY, O2_JUDGE_B);
	/* Clear the body: only types and credits are judged, so all operations share cookie 0. */
	memset(&hearing->msg.u, 0, sizeof(hearing->msg.u));
}

static void tell_step(struct hearing *hearing, const struct o2_impl_flow_step *step, bool closes)
{
	const struct o2_impl_flow_event *event = &hearing->asked->event[hearing->event];

	if (event->kind == O2_IMPL_FLOW_TICK)
		hearing->now_ms += event->ms;
	if (event->kind == O2_IMPL_FLOW_RECEIVE)
		tell_message(hearing, O2_JUDGE_B, event->type, event->credits);
	if (closes)
		tell(hearing, O2_JUDGE_DISCONNECT, ASKED);
	for (uint32_t i = 0; i < step->count; i++)
		tell_message(hearing, ASKED, step->message[i].type, step->message[i].credits);
}

int o2_flow_hear(const struct o2_case_flow *asked, const struct o2_answer_flow *answer, uint32_t count,
		 struct o2_flow_said *all)
{
	const struct o2_judge_options options = {
		.timeout_ms = NEVER_MS,
		.keepalive_ms = asked->keepalive_ms != 0 ? asked->keepalive_ms : NEVER_MS,
	};
	struct hearing hearing = {.said = all, .asked = asked};
	bool closed = false;

	all->count = 0;
	hearing.judge = o2_judge_new(&options, said, &hearing);
	hearing.conn = hearing.judge == NULL ? NULL : o2_judge_meet(hearing.judge, O2_JUDGE_WHOLE);
	if (hearing.conn != NULL)
		come_to_terms(&hearing);
	for (uint32_t i = 0; hearing.conn != NULL && i < count; i++) {
		hearing.event = i;
		tell_step(&hearing, &answer->step[i], answer->step[i].closed != 0 && !closed);
		closed = closed || answer->step[i].closed != 0;
	}
	if (hearing.conn == NULL)
		hearing.rc = -ENOMEM;
	o2_judge_free(hearing.judge);
	return hearing.rc;
}
