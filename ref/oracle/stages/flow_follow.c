/* SPDX-License-Identifier: MIT */
#include "oracle/stages/flow_follow.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "oracle/stages/flow_end.h"
#include "oracle/stages/flow_judge.h"
#include "wire/msg_type.h"

#define NONE "none"

struct follower {
	struct o2_flow_end end;
	uint32_t event, message;
	struct o2_flow_fault *fault, *waits;
};

/* Set the fault; the caller then sets expected and found with numbers() or messages().  Returns false. */
static bool faulty(struct follower *follower, enum o2_check_id check, const char *field, const char *reason)
{
	*follower->fault = (struct o2_flow_fault){.check = check,
						  .event = follower->event,
						  .message = follower->message,
						  .field = field,
						  .reason = reason};
	return false;
}

static bool numbers(struct follower *follower, uint64_t expected, uint64_t found)
{
	snprintf(follower->fault->expected, O2_FLOW_TEXT_BYTES, "%" PRIu64, expected);
	snprintf(follower->fault->found, O2_FLOW_TEXT_BYTES, "%" PRIu64, found);
	return false;
}

static void name_message(char *text, const struct o2_impl_flow_message *message)
{
	const char *name = message == NULL ? NULL : o2_msg_type_names[message->type];

	if (message == NULL)
		snprintf(text, O2_FLOW_TEXT_BYTES, "nothing");
	else if (message->type == O2_MSG_NOOP)
		snprintf(text, O2_FLOW_TEXT_BYTES, "NOOP");
	else
		snprintf(text, O2_FLOW_TEXT_BYTES, "%s of event %" PRIu32, name == NULL ? "?" : name,
			 message->of);
}

static bool messages(struct follower *follower, const struct o2_impl_flow_message *expected,
		     const struct o2_impl_flow_message *found)
{
	name_message(follower->fault->expected, expected);
	name_message(follower->fault->found, found);
	return false;
}

/* --- judging a message --- */

static bool judge_noop(struct follower *follower, const struct o2_impl_flow_message *message)
{
	struct o2_flow_end *end = &follower->end;
	struct o2_flow_fault none = {.check = O2_CHECKS};

	if (!o2_flow_noop_due(end, true)) {
		faulty(follower, O2_CHECK_FLOW_NOOP_IDLE, "NOOP", "");
		return messages(follower, NULL, message);
	}
	if (o2_credits_noops_out(&end->credits)) {
		faulty(follower, O2_CHECK_FLOW_NOOPS_OUT, "NOOPs in flight", "");
		return numbers(follower, O2_OOB_MESSAGES, end->credits.noops_in_flight + 1);
	}
	if (!o2_flow_noop_due(end, false) && follower->waits->check == O2_CHECKS) {
		faulty(follower, O2_CHECK_FLOW_NOOP_THIRD, "NOOP", "");
		messages(follower, NULL, message);
		*follower->waits = *follower->fault;
		*follower->fault = none;
	}
	return true;
}

/* The message must be the first of the queued ones; requests without a reservation do not count. */
static bool judge_turn(struct follower *follower, const struct o2_impl_flow_message *message)
{
	struct o2_flow_end *end = &follower->end;
	const uint32_t head = o2_flow_head(end);
	const uint32_t held = end->reserved.first < end->reserved.end
				      ? end->reserved.item[end->reserved.first]
				      : O2_NO_INDEX;
	struct o2_impl_flow_message right = {.of = head};

	if (head != O2_NO_INDEX)
		right.type = (uint16_t)end->asked->event[head].type;
	if (head != O2_NO_INDEX && message->of == head && message->type == right.type)
		return true;
	if (head == O2_NO_INDEX && message->of == held)
		faulty(follower, O2_CHECK_FLOW_RESERVED, "requests", "");
	else
		faulty(follower, O2_CHECK_FLOW_ORDER, "messages", "");
	return messages(follower, head == O2_NO_INDEX ? NULL : &right, message);
}

static bool judge_room(struct follower *follower, const struct o2_impl_flow_message *message)
{
	const struct o2_credits *credits = &follower->end.credits;
	const enum o2_msg_type type = (enum o2_msg_type)message->type;

	if (credits->in_flight >= credits->concurrent_sends) {
		faulty(follower, O2_CHECK_FLOW_IN_FLIGHT, "messages in flight", "");
		return numbers(follower, credits->concurrent_sends, credits->in_flight + 1);
	}
	if (o2_credits_may_post(credits, type))
		return true;
	faulty(follower, credits->credits == 0 ? O2_CHECK_CREDITS_NONE : O2_CHECK_CREDITS_LAST, "credits",
	       "");
	return numbers(follower, credits->credits == 0 ? 1 : 2, credits->credits);
}

static bool judge_message(struct follower *follower, const struct o2_impl_flow_message *message)
{
	const uint8_t owed = o2_credits_byte(&follower->end.credits);

	if (follower->end.closed) {
		faulty(follower, O2_CHECK_END_MESSAGE, "messages", "");
		return messages(follower, NULL, message);
	}
	if (message->type == O2_MSG_NOOP ? !judge_noop(follower, message) : !judge_turn(follower, message))
		return false;
	if (!judge_room(follower, message))
		return false;
	if (message->credits != owed) {
		faulty(follower, O2_CHECK_FLOW_CREDITS, "message[].credits",
		       message->credits < owed ? "fewer" : "more");
		return numbers(follower, owed, message->credits);
	}
	o2_flow_post(&follower->end, message);
	return true;
}

/* --- judging an event --- */

static bool judge_close(struct follower *follower, enum o2_flow_verdict verdict, uint32_t closed)
{
	if (follower->end.closed == (closed != 0))
		return true;
	if (!follower->end.closed)
		faulty(follower, O2_CHECK_FLOW_CLOSED, "closed", "");
	else if (verdict == O2_FLOW_UNPAID)
		faulty(follower, O2_CHECK_FLOW_UNPAID, "closed", "");
	else
		faulty(follower, O2_CHECK_FLOW_OPEN, "closed",
		       verdict == O2_FLOW_TAKEN						       ? "again"
		       : follower->end.asked->event[follower->event].kind == O2_IMPL_FLOW_FAIL ? "failed"
											       : "message");
	return numbers(follower, follower->end.closed, closed);
}

/*
 * A received message without credits unblocks no queued message, so an end need not check its queues then.
 * A NOOP that becomes due may wait until the receive is posted again.  o2iblnd: kiblnd_handle_rx
 */
static bool noop_may_wait(const struct follower *follower)
{
	const struct o2_impl_flow_event *event = &follower->end.asked->event[follower->event];

	return event->kind == O2_IMPL_FLOW_RECEIVE && event->credits == 0;
}

/* All messages that could be sent must have been sent, and the others must still be queued. */
static bool judge_rest(struct follower *follower, uint32_t queued)
{
	struct o2_impl_flow_message next;
	uint32_t waiting;

	if (o2_flow_next(&follower->end, &next) && !(next.type == O2_MSG_NOOP && noop_may_wait(follower))) {
		if (next.type == O2_MSG_NOOP)
			faulty(follower, O2_CHECK_FLOW_NOOP_MISSING, "NOOP",
			       follower->end.credits.outstanding < follower->end.credits.high_water
				       ? "keepalive"
				       : "");
		else
			faulty(follower, O2_CHECK_FLOW_STUCK, "messages", "");
		return messages(follower, &next, NULL);
	}
	waiting = follower->end.closed ? 0 : o2_flow_waiting(&follower->end);
	if (waiting == queued)
		return true;
	faulty(follower, O2_CHECK_FLOW_QUEUED, "queued", "");
	return numbers(follower, waiting, queued);
}

static bool judge_step(struct follower *follower, const struct o2_impl_flow_step *step)
{
	enum o2_flow_verdict verdict;

	follower->message = O2_NO_INDEX;
	verdict = o2_flow_take(&follower->end, follower->event);
	/* The implementation has sent other messages than the reference, so this event cannot happen to it. */
	if (verdict == O2_FLOW_IMPOSSIBLE || !judge_close(follower, verdict, step->closed))
		return false;
	for (uint32_t i = 0; i < step->count; i++) {
		follower->message = i;
		if (!judge_message(follower, &step->message[i]))
			return false;
	}
	follower->message = O2_NO_INDEX;
	return judge_rest(follower, step->queued);
}

uint32_t o2_flow_follow(const struct o2_case_flow *asked, const struct o2_answer_flow *answer,
			struct o2_flow_fault *fault, struct o2_flow_fault *waits)
{
	struct follower follower = {.fault = fault, .waits = waits};

	*fault = *waits = (struct o2_flow_fault){.check = O2_CHECKS};
	o2_flow_begin(&follower.end, asked);
	for (; follower.event < asked->count; follower.event++)
		if (!judge_step(&follower, &answer->step[follower.event]))
			break;
	return follower.event;
}

/* --- the findings of following and of the judge --- */

static void say_fault(struct o2_comparison *comparison, const struct o2_flow_fault *fault)
{
	struct o2_difference *item;

	if (fault->check == O2_CHECKS)
		return;
	item = o2_differ_text(comparison, fault->check, fault->field, fault->reason);
	if (item == NULL)
		return;
	snprintf(item->field, sizeof(item->field), "event %" PRIu32 ": %s%s%s", fault->event, fault->field,
		 fault->reason[0] == '\0' ? "" : ", ", fault->reason);
	snprintf(item->expected, sizeof(item->expected), "%s", fault->expected);
	snprintf(item->found, sizeof(item->found), "%s", fault->found);
}

/* A finding that the judge reports for the reference too is not the implementation's fault. */
static bool is_said_of_both(const struct o2_flow_said *reference, enum o2_check_id check)
{
	for (uint32_t i = 0; i < reference->count; i++)
		if (reference->item[i].check == check)
			return true;
	return false;
}

static void say_judged(struct o2_comparison *comparison, const struct o2_flow_said *said, uint32_t i)
{
	const struct o2_error *error = &said->item[i].error;
	struct o2_difference *item = o2_differ_text(comparison, said->item[i].check, error->field, "");

	if (item == NULL)
		return;
	snprintf(item->field, sizeof(item->field), "event %" PRIu32 ": %s", said->item[i].event,
		 error->field);
	if (error->limit != O2_NO_LIMIT)
		snprintf(item->expected, sizeof(item->expected), "%" PRIu64, error->limit);
	else
		snprintf(item->expected, sizeof(item->expected), NONE);
	snprintf(item->found, sizeof(item->found), "%" PRIu64, error->value);
}

static bool same_answer(const struct o2_answer_flow *a, const struct o2_answer_flow *b)
{
	for (uint32_t i = 0; i < a->count; i++) {
		const struct o2_impl_flow_step *one = &a->step[i], *other = &b->step[i];

		if (one->closed != other->closed || one->queued != other->queued ||
		    one->count != other->count ||
		    memcmp(one->message, other->message, one->count * sizeof(one->message[0])) != 0)
			return false;
	}
	return true;
}

void o2_flow_compare(struct o2_comparison *comparison, const struct o2_case *asked,
		     const struct o2_answer *expected, const struct o2_answer *found)
{
	const struct o2_case_flow *flow = &asked->flow;
	struct o2_flow_fault fault, waits;
	struct o2_flow_said of_reference = {.count = 0}, of_found;
	uint32_t count;
	bool judged = false;

	if (same_answer(&expected->flow, &found->flow))
		return;
	count = o2_flow_follow(flow, &found->flow, &fault, &waits) + (fault.check != O2_CHECKS);
	if (o2_flow_hear(flow, &found->flow, count, &of_found) != 0 ||
	    (of_found.count != 0 && o2_flow_hear(flow, &expected->flow, count, &of_reference) != 0)) {
		comparison->no_memory = true;
		return;
	}
	for (uint32_t i = 0; i < of_found.count; i++) {
		if (is_said_of_both(&of_reference, of_found.item[i].check))
			continue;
		/* The fault, too few credits in the NOOP, is more precise than the judge's finding. */
		if (fault.check == O2_CHECK_FLOW_CREDITS &&
		    of_found.item[i].check == O2_CHECK_CREDITS_NOOP_UNCALLED)
			continue;
		say_judged(comparison, &of_found, i);
		judged = true;
	}
	say_fault(comparison, &waits);
	if (!judged)
		say_fault(comparison, &fault);
}
