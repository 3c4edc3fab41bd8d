/* SPDX-License-Identifier: MIT */
/*
 * Stage flow: the judge (o2_flow_hear) and o2_flow_follow accept the reference's answers, and the drawn
 * conversations reach the situations that the stage is about.
 */

#include "oracle/stages/flow_end.h"
#include "oracle/stages/flow_follow.h"
#include "oracle/stages/flow_judge.h"
#include "props/check/check_life.h"
#include "tests/unit/oracle/world.h"

#define CONVERSATIONS 20000u

static uint32_t of_type(const struct o2_answer_flow *answer, uint32_t type)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < answer->count; i++)
		for (uint32_t k = 0; k < answer->step[i].count; k++)
			n += answer->step[i].message[k].type == type;
	return n;
}

TEST_WITH(test_the_reference_breaks_no_rule, set_up, tear_down)
{
	uint32_t noops = 0, closed = 0, waiting = 0, acknowledged = 0;

	for (uint64_t index = 0; index < CONVERSATIONS; index++) {
		struct o2_flow_fault fault, waits;
		struct o2_flow_said said;
		struct o2_error error;

		if (!draw(O2_STAGE_FLOW, index))
			continue;
		assert_int_equal(o2_flow_check(&w->asked.flow, &error), 0);
		o2_flow_hear(&w->asked.flow, &w->expected.flow, w->asked.flow.count, &said);
		if (said.count != 0)
			fail_msg("case %llu: %s", (unsigned long long)index,
				 o2_check_name(said.item[0].check));
		o2_flow_follow(&w->asked.flow, &w->expected.flow, &fault, &waits);
		if (fault.check != O2_CHECKS || waits.check != O2_CHECKS)
			fail_msg("case %llu: a fault", (unsigned long long)index);
		noops += of_type(&w->expected.flow, O2_MSG_NOOP) > 0;
		acknowledged += of_type(&w->expected.flow, O2_MSG_PUT_ACK) > 0;
		closed += w->expected.flow.step[w->asked.flow.count - 1].closed;
		waiting += w->expected.flow.step[w->asked.flow.count - 1].queued > 0;
	}
	assert_true(noops > CONVERSATIONS / 20);
	assert_true(acknowledged > CONVERSATIONS / 20);
	assert_true(closed > CONVERSATIONS / 20);
	assert_true(waiting > CONVERSATIONS / 20);
}

/* Ends the conversation at the event that sends only a NOOP, and removes the NOOP; returns the fault. */
static enum o2_check_id left_out(uint32_t at)
{
	struct o2_flow_fault fault, waits;

	w->asked.flow.count = at + 1;
	w->expected.flow.step[at].count = 0;
	o2_flow_follow(&w->asked.flow, &w->expected.flow, &fault, &waits);
	return fault.check;
}

/* A removed NOOP is reported, unless the end may wait until the receive is posted again. */
TEST_WITH(test_a_noop_may_wait_for_its_receive, set_up, tear_down)
{
	uint32_t missed = 0, waited = 0;

	for (uint64_t index = 0; index < CONVERSATIONS; index++) {
		if (!draw(O2_STAGE_FLOW, index))
			continue;
		for (uint32_t at = w->asked.flow.count; at-- > 0;) {
			const struct o2_impl_flow_event *event = &w->asked.flow.event[at];
			const struct o2_impl_flow_step *step = &w->expected.flow.step[at];

			if (step->count != 1 || step->message[0].type != O2_MSG_NOOP)
				continue;
			if (event->kind == O2_IMPL_FLOW_RECEIVE && event->credits == 0) {
				assert_int_equal(left_out(at), O2_CHECKS);
				waited++;
			} else {
				assert_int_equal(left_out(at), O2_CHECK_FLOW_NOOP_MISSING);
				missed++;
			}
		}
	}
	assert_true(missed > CONVERSATIONS / 20 && waited > 0);
}

/* --- questions that must be refused --- */

static const char *refused(struct o2_impl_flow_event event, uint32_t depth, uint32_t high_water)
{
	static struct o2_error error;

	w->asked.flow = (struct o2_case_flow){.ibm_version = 0x12,
					      .queue_depth = depth,
					      .high_water = high_water,
					      .concurrent_sends = 8,
					      .count = 1,
					      .event = {event}};
	return o2_flow_check(&w->asked.flow, &error) == 0 ? "" : error.field;
}

/* Each answer is possible once for each of its requests: the event that comes too often is named. */
TEST_WITH(test_no_request_is_answered_twice, set_up, tear_down)
{
	static const struct {
		uint32_t request, answer;
	} pairs[] = {{O2_MSG_PUT_REQ, O2_MSG_PUT_ACK},
		     {O2_MSG_PUT_REQ, O2_MSG_PUT_NAK},
		     {O2_MSG_PUT_ACK, O2_MSG_PUT_DONE},
		     {O2_MSG_GET_REQ, O2_MSG_GET_DONE}};

	for (uint32_t i = 0; i < 8; i++) {
		const uint32_t to = i / 4 == 0 ? O2_IMPL_FLOW_RECEIVE : O2_IMPL_FLOW_QUEUE;
		const uint32_t back = i / 4 == 0 ? O2_IMPL_FLOW_QUEUE : O2_IMPL_FLOW_RECEIVE;
		struct o2_case_flow *flow = &w->asked.flow;
		struct o2_error error;
		uint32_t n = 0;

		*flow = (struct o2_case_flow){
			.ibm_version = 0x12, .queue_depth = 8, .high_water = 4, .concurrent_sends = 8};
		if (pairs[i % 4].answer == O2_MSG_PUT_DONE)
			flow->event[n++] = (struct o2_impl_flow_event){back, O2_MSG_PUT_REQ, 0, 0};
		flow->event[n++] = (struct o2_impl_flow_event){to, pairs[i % 4].request, 0, 0};
		flow->event[n++] = (struct o2_impl_flow_event){back, pairs[i % 4].answer, 0, 0};
		flow->count = n;
		assert_int_equal(o2_flow_check(flow, &error), 0);
		flow->event[flow->count++] = flow->event[n - 1];
		assert_int_equal(o2_flow_check(flow, &error), -EINVAL);
		assert_string_equal(error.field, "events[]");
		assert_int_equal(error.index, n);
	}
}

TEST_WITH(test_what_cannot_happen_is_no_question, set_up, tear_down)
{
	const struct o2_impl_flow_event sent = {.kind = O2_IMPL_FLOW_SENT};
	const struct o2_impl_flow_event repost = {.kind = O2_IMPL_FLOW_REPOST};
	const struct o2_impl_flow_event fail = {.kind = O2_IMPL_FLOW_FAIL};
	static const uint32_t answers[] = {O2_MSG_PUT_ACK, O2_MSG_PUT_NAK, O2_MSG_PUT_DONE, O2_MSG_GET_DONE};

	assert_string_equal(refused(fail, 8, 4), "");
	assert_string_equal(refused(sent, 8, 4), "events[]");
	assert_string_equal(refused(repost, 8, 4), "events[]");
	for (uint32_t i = 0; i < 4; i++) {
		assert_string_equal(
			refused((struct o2_impl_flow_event){O2_IMPL_FLOW_QUEUE, answers[i], 0, 0}, 8, 4),
			"events[]");
		assert_string_equal(
			refused((struct o2_impl_flow_event){O2_IMPL_FLOW_RECEIVE, answers[i], 0, 0}, 8, 4),
			"events[]");
	}
	assert_string_equal(refused((struct o2_impl_flow_event){O2_IMPL_FLOW_QUEUE, O2_MSG_NOOP, 0, 0}, 8, 4),
			    "events[]");
	assert_string_equal(refused((struct o2_impl_flow_event){O2_IMPL_FLOW_RECEIVE, 0, 0, 0}, 8, 4),
			    "events[]");
	assert_string_equal(refused(fail, 1, 1), "queue_depth");
	assert_string_equal(refused(fail, O2_IMPL_FLOW_DEPTH + 1, 8), "queue_depth");
	assert_string_equal(refused(fail, 8, 2), "high_water");
	assert_string_equal(refused(fail, 8, 9), "high_water");
}

/* --- faults in changed answers --- */

#define STAGE O2_STAGE_FLOW
#define LAST  (w->asked.flow.count - 1)
#define STEP  (w->found.flow.step[LAST])
#define FINAL (STEP.message[STEP.count - 1])

/* Sends one more message in the last step. */
static void append(uint16_t type)
{
	STEP.message[STEP.count++] = (struct o2_impl_flow_message){.type = type};
}

#define OPEN	 (STEP.closed == 0)
#define SENDS	 (STEP.count > 0 && FINAL.type != O2_MSG_NOOP)
#define NOOPS	 (STEP.count > 0 && FINAL.type == O2_MSG_NOOP)
#define KIND	 (w->asked.flow.event[LAST].kind)
#define HAS_ROOM (STEP.count < O2_IMPL_FLOW_MESSAGES)

CHANGE(not_sent, FLOW_STUCK, SENDS, STEP.count--)
CHANGE(no_noop, FLOW_NOOP_MISSING, NOOPS, STEP.count--)
CHANGE(another, FLOW_ORDER, SENDS, FINAL.of = O2_IMPL_FLOW_EVENTS)
CHANGE(fewer, FLOW_CREDITS, SENDS &&FINAL.credits > 0, FINAL.credits--)
CHANGE(forgotten, FLOW_QUEUED, OPEN, STEP.queued++)
CHANGE(closes, FLOW_CLOSED, OPEN, STEP.closed = 1)
CHANGE(lives, FLOW_OPEN, !OPEN && KIND == O2_IMPL_FLOW_FAIL, STEP.closed = 0)
CHANGE(behind, END_MESSAGE, !OPEN && HAS_ROOM, append(O2_MSG_IMMEDIATE))
CHANGE(uncalled, CREDITS_NOOP_UNCALLED,
       OPEN &&SENDS &&HAS_ROOM && w->asked.flow.queue_depth > 4 && w->asked.flow.keepalive_ms == 0,
       append(O2_MSG_NOOP))

/* A NOOP was not queued by an event, so it names none. */
MAKE(noop_of, NOOPS, FINAL.of = LAST)

TEST_WITH(test_a_noop_of_an_event, set_up, tear_down)
{
	expect_equal(O2_STAGE_FLOW, "of a NOOP", noop_of);
}

/* What stands behind the faults that were found is none of them. */
TEST_WITH(test_what_was_said_earlier_is_forgotten, set_up, tear_down)
{
	struct o2_flow_said said;
	uint64_t index = 0;

	while (!draw(O2_STAGE_FLOW, index) || !uncalled.make())
		assert_true(++index < CASES);
	for (uint32_t i = 0; i < O2_FLOW_SAID; i++)
		said.item[i].check = O2_CHECK_CREDITS_NOOP_UNCALLED;
	assert_int_equal(o2_flow_hear(&w->asked.flow, &w->found.flow, w->asked.flow.count, &said), 0);
	assert_int_equal(said.count, 1);
}

/* --- without memory --- */

static uint32_t calls_left = UINT32_MAX; /* the allocations that still succeed */

void *__real_calloc(size_t count, size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);

void *__wrap_calloc(size_t count, size_t bytes)
{
	if (calls_left == 0)
		return NULL;
	calls_left -= calls_left != UINT32_MAX;
	return __real_calloc(count, bytes);
}

/* In a conversation that opens an operation the judge needs memory; without it, it finds no fault. */
TEST_WITH(test_nothing_is_judged_without_memory, set_up, tear_down)
{
	struct o2_flow_said said;
	uint64_t index = 0;

	while (!draw(O2_STAGE_FLOW, index) || of_type(&w->expected.flow, O2_MSG_PUT_ACK) == 0 ||
	       !not_sent.make())
		assert_true(++index < CASES);
	for (uint32_t calls = 0; calls < 3; calls++) {
		calls_left = calls;
		assert_int_equal(o2_flow_hear(&w->asked.flow, &w->expected.flow, w->asked.flow.count, &said),
				 -ENOMEM);
		calls_left = calls;
		o2_compare(&w->comparison, &w->asked, &w->expected, &w->found);
		assert_true(w->comparison.no_memory);
		assert_int_equal(w->comparison.count, 0);
	}
	calls_left = UINT32_MAX;
	assert_int_equal(o2_flow_hear(&w->asked.flow, &w->expected.flow, w->asked.flow.count, &said), 0);
	o2_compare(&w->comparison, &w->asked, &w->expected, &w->found);
	assert_false(w->comparison.no_memory);
	assert_true(has(O2_CHECK_FLOW_STUCK));
}

/* --- the picture --- */

/* Draws the right answer, with nothing in red, then the changed one, with the fault in red. */
static void check_picture(const struct change *change, const char *says)
{
	static struct o2_check_both both;
	uint64_t index = 0;
	json_t *life;

	while (!draw(O2_STAGE_FLOW, index) || !change->make())
		assert_true(++index < CASES);
	both.asked.stage = O2_STAGE_FLOW;
	both.asked.flow = w->asked.flow;
	both.expected.kind = both.found.kind = O2_ANSWER_RESULT;
	both.expected.flow = both.found.flow = w->expected.flow;
	life = o2_check_life(&both);
	assert_null(strstr(json_string_value(life), "#c8102e"));
	json_decref(life);
	both.found.flow = w->found.flow;
	life = o2_check_life(&both);
	if (strstr(json_string_value(life), says) == NULL)
		fail_msg("no '%s' in %s", says, json_string_value(life));
	json_decref(life);
}

TEST_WITH(test_pictures, set_up, tear_down)
{
	check_picture(&not_sent, "stroke=\"#c8102e\" stroke-width=\"1.5\" stroke-dasharray");
	check_picture(&no_noop, "fill=\"#c8102e\">NOOP<");
	check_picture(&another, "stroke=\"#c8102e\" stroke-width=\"1.5\"/>");
	check_picture(&forgotten, "fill=\"#c8102e\">queued: 1, not 0<");
	check_picture(&closes, "fill=\"#c8102e\">closed: 1, not 0<");
	check_picture(&lives, "fill=\"#c8102e\">closed: 0, not 1<");
}
