/* SPDX-License-Identifier: MIT */
/* The oracle's findings on set-ups: deliberately changed answers of the reference, by check. */
#include "oracle/impl_slot.h"
#include "oracle/stages/setup_judge.h"
#include "props/check/check_life.h"
#include "tests/lib/unit_test.h"

#define FAILS_AT 4u
#define THINGS	 12u
#define ENDS	 (2u * THINGS + 1u) /* of round 0: each thing comes and goes, and the set-up returns */

static const struct o2_case_setup asked = {.mode = O2_IMPL_GLOBAL,
					   .queue_depth = 2,
					   .tx_count = 1,
					   .pool_size = 1,
					   .error = 5,
					   .count = 2,
					   .round = {{.fails_at = 0}, {.fails_at = FAILS_AT}}};
static struct o2_check_both both;
static struct o2_setup_fault faults[O2_SETUP_FAULTS];

static struct o2_impl_setup_event *event(uint32_t i)
{
	return &both.found.setup.event[i];
}

static void remove_event(uint32_t i)
{
	both.found.setup.count--;
	memmove(event(i), event(i + 1), (both.found.setup.count - i) * sizeof(*event(i)));
}

/* Inserts a copy of event i - 1 at i. */
static void repeat_before(uint32_t i)
{
	memmove(event(i + 1), event(i), (both.found.setup.count - i) * sizeof(*event(i)));
	both.found.setup.count++;
	*event(i) = *event(i - 1);
}

static void begin(void)
{
	memset(&both, 0, sizeof(both));
	both.asked.stage = O2_STAGE_SETUP;
	both.asked.setup = asked;
	o2_answer_of_reference(&both.asked, &both.expected);
	o2_answer_of_reference(&both.asked, &both.found);
	assert_int_equal(event(ENDS - 1)->round, 0);
	assert_int_equal(event(ENDS)->round, 1);
}

static uint32_t judge(void)
{
	return o2_setup_judge(&asked, &both.found.setup, faults);
}

/* Expects `count` faults, this one first; the picture shows it in red. */
static void expect(uint32_t count, enum o2_check_id check, uint32_t at)
{
	json_t *life;

	assert_int_equal(judge(), count);
	assert_string_equal(o2_check_name(faults[0].check), o2_check_name(check));
	assert_int_equal(faults[0].event, at);
	life = o2_check_life(&both);
	assert_non_null(strstr(json_string_value(life), "#c8102e"));
	assert_non_null(strstr(json_string_value(life), o2_check_name(check)));
	json_decref(life);
}

TEST(test_the_reference_holds)
{
	json_t *life;

	begin();
	assert_int_equal(judge(), 0);
	life = o2_check_life(&both);
	assert_null(strstr(json_string_value(life), "#c8102e"));
	assert_non_null(strstr(json_string_value(life), "round 1: acquisition 4 fails"));
	json_decref(life);
}

TEST(test_a_leak)
{
	begin();
	remove_event(ENDS - 1);
	expect(1, O2_CHECK_SETUP_LEAK, ENDS - 2);
	assert_string_equal(faults[0].reason, "after taking down");
	begin();
	remove_event(ENDS + FAILS_AT); /* the region, and its domain, which could not go before it */
	remove_event(ENDS + FAILS_AT);
	expect(1, O2_CHECK_SETUP_LEAK, ENDS + FAILS_AT + 1);
	assert_string_equal(faults[0].reason, "after a failure");
}

/* What is released only after the failure was returned is a leak, once, and no release of nothing. */
TEST(test_a_late_release)
{
	struct o2_impl_setup_event late;

	begin();
	late = *event(both.found.setup.count - 1);
	assert_int_equal(late.op, O2_IMPL_SETUP_RETURN);
	*event(both.found.setup.count - 1) = *event(both.found.setup.count - 2);
	*event(both.found.setup.count - 2) = late;
	expect(1, O2_CHECK_SETUP_LEAK, both.found.setup.count - 2);
	assert_string_equal(faults[0].reason, "after a failure");
	both.found.setup.count--;
	expect(1, O2_CHECK_SETUP_LEAK, both.found.setup.count - 1);
}

/* A leak of what the last event of all acquires is also reported. */
TEST(test_a_leak_at_the_end)
{
	begin();
	both.found.setup.count = 1;
	expect(1, O2_CHECK_SETUP_LEAK, 0);
	assert_string_equal(faults[0].found, "1, the first one of kind other");
}

TEST(test_a_release_of_nothing)
{
	begin();
	repeat_before(ENDS);
	expect(1, O2_CHECK_SETUP_RELEASE_ONCE, ENDS);
	assert_string_equal(faults[0].reason, "released again");
	event(ENDS)->handle = 99;
	expect(1, O2_CHECK_SETUP_RELEASE_ONCE, ENDS);
	assert_string_equal(faults[0].reason, "never acquired");
}

TEST(test_a_handle_given_twice)
{
	begin();
	both.found.setup.count = ENDS;
	repeat_before(1);
	expect(2, O2_CHECK_SETUP_RELEASE_ONCE, 1);
	assert_int_equal(faults[1].check, O2_CHECK_SETUP_LEAK);
}

TEST(test_the_wrong_order)
{
	struct o2_impl_setup_event region;

	begin();
	region = *event(ENDS - 3);
	assert_int_equal(region.handle, event(2)->handle);
	assert_int_equal(event(2)->kind, O2_IMPL_SETUP_REGION);
	*event(ENDS - 3) = *event(ENDS - 2);
	*event(ENDS - 2) = region;
	expect(1, O2_CHECK_SETUP_ORDER, ENDS - 3);
}

TEST(test_built_on_what_is_not_there)
{
	begin();
	event(2)->on = event(0)->handle;
	expect(1, O2_CHECK_SETUP_BUILT_ON, 2);
	begin();
	event(2)->also_on = 99;
	expect(1, O2_CHECK_SETUP_BUILT_ON, 2);
}

TEST(test_the_status)
{
	uint32_t last;

	begin();
	last = both.found.setup.count - 1;
	assert_int_equal(event(last)->op, O2_IMPL_SETUP_RETURN);
	event(last)->status = 12;
	expect(1, O2_CHECK_SETUP_ERRNO, last);
	event(last)->status = 0;
	expect(1, O2_CHECK_SETUP_STATUS, last);
	begin();
	event(THINGS)->status = 5;
	assert_true(judge() > 0);
	assert_int_equal(faults[0].check, O2_CHECK_SETUP_STATUS);
	assert_string_equal(faults[0].reason, "nothing has failed");
}

TEST(test_the_sequence)
{
	begin();
	event(ENDS)->kind = O2_IMPL_SETUP_MEMORY;
	expect(1, O2_CHECK_SETUP_SEQUENCE, ENDS);
	begin();
	repeat_before(ENDS + FAILS_AT);
	expect(1, O2_CHECK_SETUP_SEQUENCE, ENDS + FAILS_AT);
	assert_string_equal(faults[0].reason, "behind the failure");
	begin();
	event(THINGS - 1)->op = O2_IMPL_SETUP_FAIL;
	assert_true(judge() > 0);
	assert_string_equal(faults[0].reason, "another one fails");
}

TEST(test_rounds_of_other_lengths)
{
	static const struct o2_case_setup twice = {.mode = O2_IMPL_GLOBAL,
						   .queue_depth = 2,
						   .tx_count = 1,
						   .pool_size = 1,
						   .error = 5,
						   .count = 2};
	const char *const reasons[] = {"more than in other rounds", "fewer than in other rounds"};

	for (uint32_t round = 0; round < 2; round++) {
		begin();
		both.asked.setup = twice;
		o2_answer_of_reference(&both.asked, &both.found);
		/* Remove the last mapping and its release. */
		remove_event(round * ENDS + THINGS - 1);
		remove_event(round * ENDS + THINGS);
		assert_int_equal(o2_setup_judge(&twice, &both.found.setup, faults), 1);
		assert_int_equal(faults[0].check, O2_CHECK_SETUP_SEQUENCE);
		assert_string_equal(faults[0].reason, reasons[round]);
	}
}

/* A retry with a smaller queue may map less memory, and the set-up has not failed. */
TEST(test_a_queue_pair_is_tried_again)
{
	static const struct o2_case_setup second = {.mode = O2_IMPL_GLOBAL,
						    .queue_depth = 2,
						    .tx_count = 1,
						    .pool_size = 1,
						    .error = 12,
						    .count = 2,
						    .round = {{.fails_at = 0}, {.fails_at = 7}}};
	struct o2_impl_setup_event *last;

	begin();
	both.asked.setup = second;
	o2_answer_of_reference(&both.asked, &both.found);
	memmove(event(ENDS + 8), event(6), (ENDS - 6) * sizeof(*event(0)));
	both.found.setup.count = ENDS + 8 + ENDS - 6;
	assert_int_equal(event(ENDS + 6)->op, O2_IMPL_SETUP_FAIL);
	for (uint32_t i = ENDS + 7; i < both.found.setup.count; i++)
		event(i)->round = 1;
	remove_event(ENDS + 7);
	assert_int_equal(event(ENDS + 7)->kind, O2_IMPL_SETUP_QP);
	assert_int_equal(o2_setup_judge(&second, &both.found.setup, faults), 0);
	/* Remove the last mapping, and its release. */
	remove_event(ENDS + 12);
	remove_event(ENDS + 13);
	assert_int_equal(o2_setup_judge(&second, &both.found.setup, faults), 0);
	last = event(both.found.setup.count - 1);
	last->handle = 99;
	assert_true(o2_setup_judge(&second, &both.found.setup, faults) > 0);
	/* A retry for another kind of object is not allowed. */
	event(ENDS + 6)->kind = event(ENDS + 7)->kind = O2_IMPL_SETUP_CQ;
	assert_true(o2_setup_judge(&second, &both.found.setup, faults) > 0);
	assert_int_equal(faults[0].check, O2_CHECK_SETUP_SEQUENCE);
}

TEST(test_what_is_missing)
{
	struct o2_case_setup pool = asked;

	begin();
	pool.mode = O2_IMPL_FMR;
	assert_int_equal(o2_setup_judge(&pool, &both.found.setup, faults), 1);
	assert_int_equal(faults[0].check, O2_CHECK_SETUP_COMPLETE);
	assert_string_equal(faults[0].reason, "pool");
}

/* Only the first faults are reported. */
TEST(test_many_faults)
{
	struct o2_case_setup large = asked;

	begin();
	large.queue_depth = O2_IMPL_SETUP_MOST;
	both.asked.setup = large;
	o2_answer_of_reference(&both.asked, &both.found);
	for (uint32_t i = 0; i < both.found.setup.count; i++)
		if (event(i)->op == O2_IMPL_SETUP_RELEASE)
			event(i)->handle = 99;
	assert_int_equal(o2_setup_judge(&large, &both.found.setup, faults), O2_SETUP_FAULTS);
}

/* Passes the answer through the structs of the ABI. */
static void answer_in_slot(struct o2_impl_slots *slots)
{
	struct o2_impl_slot *slot = &slots->slot[0];

	o2_impl_slot_reset(slot);
	o2_impl_put_case(&both.asked, slot);
	slot->out->setup.count = both.found.setup.count;
	memcpy(slot->out->setup.event, both.found.setup.event, both.found.setup.count * sizeof(*event(0)));
	o2_impl_get_answer(&both.asked, slot, O2_IMPL_OK, &both.found);
}

/* An answer with impossible events is refused, in either form, and the error names the event. */
TEST(test_events_that_cannot_be)
{
	static const char *const said[] = {"events[3].round is 1", "events[3].handle is 0",
					   "events[24].round is 1", "events[31].round is 0"};
	struct o2_impl_slots slots;
	json_t *form;

	assert_int_equal(o2_impl_slots_create(1, &slots), 0);
	begin();
	event(3)->op = O2_IMPL_SETUP_RETURN + 1;
	answer_in_slot(&slots);
	assert_int_equal(both.found.fault.check, O2_CHECK_RUN_VALUE);
	assert_string_equal(both.found.fault.text, "events[].op is 4, expected at most 3");
	for (uint32_t how = 0; how < 8; how++) {
		begin();
		if (how % 4 == 0)
			event(3)->round = 1;
		else if (how % 4 == 1)
			event(3)->handle = 0;
		else if (how % 4 == 2)
			remove_event(THINGS); /* remove the return of the set-up */
		else
			event(both.found.setup.count - 2)->round = 0;
		form = o2_answer_to_json(&both.asked, &both.found);
		assert_non_null(form);
		if (how < 4)
			o2_answer_from_json(&both.asked, form, &both.found);
		else
			answer_in_slot(&slots);
		json_decref(form);
		assert_int_equal(both.found.kind, O2_ANSWER_BROKEN);
		if (strstr(both.found.fault.text, said[how % 4]) == NULL)
			fail_msg("%u: %s", how, both.found.fault.text);
	}
	o2_impl_slots_destroy(&slots);
}
