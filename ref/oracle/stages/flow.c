/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "oracle/stage_ops.h"
#include "oracle/stages/flow_end.h"
#include "oracle/stages/flow_follow.h"
#include "wire/msg_type.h"

/* Stage flow: what one end of a connection sends after each event (docs/transport.md, "Flow control"). */

static const char *const event_names[] = {"queue", "sent", "receive", "repost", "tick", "fail"};

#define TYPES (O2_MSG_GET_DONE + 1)

static const struct o2_field event_fields[] = {
	{O2_FIELD("events[].event", NAME, struct o2_impl_flow_event, kind), .names = event_names, .limit = 6},
	{O2_FIELD("events[].type", NAME, struct o2_impl_flow_event, type), .names = o2_msg_type_names,
	 .limit = TYPES, .sparse = true},
	{O2_FIELD("events[].credits", UINT, struct o2_impl_flow_event, credits), .limit = UINT8_MAX,
	 .sparse = true},
	{O2_FIELD("events[].ms", UINT, struct o2_impl_flow_event, ms), .limit = 1000000, .sparse = true},
	{0},
};

static const struct o2_field question_fields[] = {
	{O2_FIELD("ibm_version", UINT, struct o2_case_flow, ibm_version)},
	{O2_FIELD("queue_depth", UINT, struct o2_case_flow, queue_depth)},
	{O2_FIELD("high_water", UINT, struct o2_case_flow, high_water)},
	{O2_FIELD("concurrent_sends", UINT, struct o2_case_flow, concurrent_sends)},
	{O2_FIELD("keepalive_ms", UINT, struct o2_case_flow, keepalive_ms)},
	O2_STAGE_LIST("events", struct o2_case_flow, event, count, event_fields),
	{0},
};

static const struct o2_field message_fields[] = {
	{O2_FIELD("steps[].messages[].type", NAME, struct o2_impl_flow_message, type),
	 .names = o2_msg_type_names, .limit = TYPES},
	{O2_FIELD("steps[].messages[].credits", UINT, struct o2_impl_flow_message, credits),
	 .limit = UINT8_MAX},
	{O2_FIELD("steps[].messages[].of", UINT, struct o2_impl_flow_message, of), .sparse = true},
	{0},
};

static const struct o2_field step_fields[] = {
	{O2_FIELD("steps[].closed", BOOL, struct o2_impl_flow_step, closed), .sparse = true},
	{O2_FIELD("steps[].queued", UINT, struct o2_impl_flow_step, queued), .sparse = true},
	O2_STAGE_LIST("steps[].messages", struct o2_impl_flow_step, message, count, message_fields),
	{0},
};

static const struct o2_field result_fields[] = {
	O2_STAGE_LIST("steps", struct o2_answer_flow, step, count, step_fields),
	{0},
};

static int question_check(const struct o2_case *asked, struct o2_error *error)
{
	return o2_flow_check(&asked->flow, error);
}

static int one_step_each(const struct o2_case *asked, const struct o2_answer *answer, struct o2_error *error)
{
	return o2_stage_one_step_each("flow/steps", answer->flow.count, asked->flow.count, error);
}

O2_STAGE_CALL(flow, flow)

static void put(const struct o2_case *asked, struct o2_impl_slot *slot)
{
	const struct o2_case_flow *flow = &asked->flow;

	slot->in->flow = (struct o2_impl_flow_in){
		.ibm_version = flow->ibm_version,
		.queue_depth = flow->queue_depth,
		.high_water = flow->high_water,
		.concurrent_sends = flow->concurrent_sends,
		.keepalive_ms = flow->keepalive_ms,
		.count = flow->count,
		.event = o2_impl_slot_copy(slot, flow->event, flow->count * sizeof(flow->event[0]))};
	slot->out->flow.capacity = O2_IMPL_FLOW_EVENTS;
	slot->out->flow.step = o2_impl_slot_array(slot, O2_PART_SGE, "step", O2_IMPL_FLOW_EVENTS,
						  sizeof(struct o2_impl_flow_step));
}

/* Each number must fit the JSON form, and each type must be one that exists. */
static bool is_legal(const void *of, struct o2_answer *answer)
{
	const struct o2_impl_flow_step *step = of;

	if (!o2_stage_fits("messages", step->count, O2_IMPL_FLOW_MESSAGES, answer))
		return false;
	if (step->closed > 1) {
		o2_answer_break(answer, O2_CHECK_RUN_VALUE,
				"steps[].closed is %" PRIu32 ", expected at most 1", step->closed);
		return false;
	}
	for (uint32_t i = 0; i < step->count; i++) {
		if (!o2_result_is_legal(message_fields, &step->message[i], answer))
			return false;
		if (o2_msg_type_info((uint8_t)step->message[i].type) == NULL) {
			o2_answer_break(answer, O2_CHECK_RUN_VALUE, "a message has type 0x%x",
					step->message[i].type);
			return false;
		}
	}
	return true;
}

static void get(const struct o2_case *asked, struct o2_impl_slot *slot, struct o2_answer *answer)
{
	(void)asked;
	answer->flow.count =
		o2_stage_get_steps(slot, O2_PART_SGE, slot->out->flow.count, sizeof(answer->flow.step[0]),
				   is_legal, answer->flow.step, answer);
}

static int reference(const struct o2_case *asked, struct o2_answer *answer, struct o2_error *error)
{
	const struct o2_case_flow *flow = &asked->flow;
	struct o2_flow_end end;

	(void)error; /* nothing is refused */
	o2_flow_begin(&end, flow);
	answer->flow.count = flow->count;
	for (uint32_t i = 0; i < flow->count; i++) {
		struct o2_impl_flow_step *step = &answer->flow.step[i];

		*step = (struct o2_impl_flow_step){.count = 0};
		(void)o2_flow_take(&end, i);
		while (step->count < O2_IMPL_FLOW_MESSAGES && o2_flow_next(&end, &step->message[step->count]))
			o2_flow_post(&end, &step->message[step->count++]);
		step->closed = end.closed;
		step->queued = end.closed ? 0 : o2_flow_waiting(&end);
	}
	return 0;
}

const struct o2_stage_ops o2_stage_flow = {
	O2_STAGE_OPS(flow, O2_CHECK_FLOW_REFUSED_LEGAL, O2_CHECKS, O2_CHECKS, O2_CHECKS, O2_CHECKS),
	.request = "{\"form\":\"o2ref/flow/"
		   "input\",\"version\":1,\"ibm_version\":18,\"queue_depth\":8,\"high_water\":4,\"concurrent_"
		   "sends\":8,\"keepalive_ms\":0,\"events\":[{\"event\":\"queue\",\"type\":\"IMMEDIATE\"},{"
		   "\"event\":\"sent\"},{\"event\":\"receive\",\"type\":\"NOOP\",\"credits\":1}]}",
	O2_STAGE_QUESTION(flow),
	O2_STAGE_RESULT(flow),
	.question_check = question_check,
	.result_check = one_step_each,
	.compare = o2_flow_compare,
};
