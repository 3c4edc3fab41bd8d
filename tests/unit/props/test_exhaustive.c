/* SPDX-License-Identifier: MIT */
/* The exhaustive driver and runs of it (docs/properties.md, "Exhaustive mode"). */

#include "props/engine/exhaustive.h"

#include <fcntl.h>

#include "props/engine/left_behind.h"
#include "props/engine/run.h"
#include "props/engine/tally.h"
#include "tests/lib/unit_test.h"

#define ALL UINT32_MAX

static struct o2_exhaustive e; /* 128 KiB: too large for a small stack */
static struct o2_choice choice, other;

TEST(test_every_case)
{
	static const uint32_t weights[] = {50, 0, 3, 1};
	uint64_t sum = 0, last = 0;

	/* Lists of up to 3 of 5 values: 1 + 5 + 25 + 125; as base-6 numbers they ascend without repetition. */
	o2_exhaustive_start(&e, ALL);
	while (o2_exhaustive_next(&e, &choice)) {
		const uint64_t n = o2_draw(&choice, 3);
		uint64_t number = n;

		for (uint64_t i = 0; i < n; i++)
			number = number * 6 + o2_draw(&choice, 4);
		assert_true(e.cases == 1 || number > last);
		last = number;
	}
	assert_true(o2_exhaustive_complete(&e));
	assert_int_equal(e.cases, 156);
	assert_false(o2_exhaustive_next(&e, &choice));

	/* Three weighted options count as three, not 54; the record replays outside exhaustive mode. */
	o2_exhaustive_start(&e, ALL);
	while (o2_exhaustive_next(&e, &choice)) {
		const size_t option = o2_draw_weighted(&choice, weights, 4);
		const bool flag = o2_draw_bool(&choice, 9, 9);

		sum += 10 * option + flag;
		o2_choice_replay(&other, choice.record, choice.record_bytes);
		assert_int_equal(o2_draw_weighted(&other, weights, 4), option);
		assert_int_equal(o2_draw_bool(&other, 9, 9), flag);
	}
	assert_int_equal(e.cases, 6);
	assert_int_equal(sum, 2 * (0 + 20 + 30) + 3);
}

/* The numbers of four draws of 0..max, as one: at most `away` of them are not 0. */
static uint64_t cases_of_four(uint32_t away, uint64_t max)
{
	uint64_t last = 0;

	o2_exhaustive_start(&e, away);
	while (o2_exhaustive_next(&e, &choice)) {
		uint64_t number = 0;
		uint32_t other_than_0 = 0;

		for (int i = 0; i < 4; i++) {
			const uint64_t value = o2_draw(&choice, max);

			number = number * (max + 1) + value;
			other_than_0 += value != 0;
		}
		assert_true(other_than_0 <= away);
		assert_true(e.cases == 1 || number > last);
		last = number;
	}
	assert_true(o2_exhaustive_complete(&e));
	return e.cases;
}

/* The sum over k of (4 over k) * max^k. */
TEST(test_near_the_simplest)
{
	assert_int_equal(cases_of_four(1, 9), 1 + 4 * 9);
	assert_int_equal(cases_of_four(2, 9), 1 + 4 * 9 + 6 * 81);
	assert_int_equal(cases_of_four(3, 9), 1 + 4 * 9 + 6 * 81 + 4 * 729);
	assert_int_equal(cases_of_four(4, 9), 10000);
	assert_int_equal(cases_of_four(ALL, 9), 10000);
}

static void visits(uint64_t max, const uint64_t *number, size_t n)
{
	size_t i = 0;

	o2_exhaustive_start(&e, 1);
	for (; o2_exhaustive_next(&e, &choice); i++) {
		assert_true(i < n);
		assert_int_equal(o2_draw(&choice, max), number[i]);
	}
	assert_int_equal(i, n);
}

TEST(test_special_numbers)
{
	uint64_t number[200];
	size_t n = 0;

	for (; n < O2_EXHAUSTIVE_OPTIONS; n++)
		number[n] = n;
	visits(O2_EXHAUSTIVE_OPTIONS - 1, number, n);
	for (n = 18; n < 22; n++)
		number[n] = (const uint64_t[]){31, 32, 33, 99}[n - 18];
	visits(33, number, 21);
	number[21] = 63, number[22] = 64, number[23] = 65, number[24] = 99, number[25] = 100;
	visits(100, number, 26);
	for (n = 18, number[n] = 0; n < 18 + 3 * 59; n++)
		number[n] = (UINT64_C(1) << (5 + (n - 18) / 3)) + (n - 18) % 3 - 1;
	number[n] = UINT64_MAX - 1, number[n + 1] = UINT64_MAX;
	visits(UINT64_MAX, number, n + 2);
}

TEST(test_edges)
{
	uint64_t valid = 0;

	/* A rejected prefix is one case: 10 first digits, 5 of which have 4 second digits each. */
	o2_exhaustive_start(&e, ALL);
	while (o2_exhaustive_next(&e, &choice)) {
		if (o2_draw(&choice, 9) % 2 != 0)
			o2_choice_reject(&choice);
		o2_draw(&choice, 3);
		valid += o2_choice_ok(&choice);
	}
	assert_int_equal(valid, 20);
	assert_int_equal(e.cases, 25);

	/* A case without draws: one case. */
	o2_exhaustive_start(&e, ALL);
	while (o2_exhaustive_next(&e, &choice))
		o2_draw(&choice, 0);
	assert_int_equal(e.cases, 1);
	assert_true(o2_exhaustive_complete(&e));

	/* A case of more draws than there is room for is overrun; the draws that had room are visited. */
	o2_exhaustive_start(&e, 1);
	while (o2_exhaustive_next(&e, &choice)) {
		for (uint32_t i = 0; i <= O2_CHOICE_MAX_BYTES; i++)
			o2_draw(&choice, 1);
		assert_int_equal(o2_choice_status(&choice, O2_STATUS_VALID), O2_STATUS_OVERRUN);
	}
	assert_true(o2_exhaustive_complete(&e));
	assert_int_equal(e.cases, 1 + O2_CHOICE_MAX_BYTES);

	o2_exhaustive_start(&e, ALL);
	for (uint64_t max = 3; o2_exhaustive_next(&e, &choice) && !e.unstable; max++) {
		o2_draw(&choice, max);
		o2_draw(&choice, 1);
	}
	assert_true(e.unstable);

	o2_exhaustive_start(&e, ALL);
	for (int left = 3; o2_exhaustive_next(&e, &choice) && !e.unstable; left--) {
		for (int i = 0; i < left; i++)
			o2_draw(&choice, 1);
	}
	assert_true(e.unstable);
	assert_false(o2_exhaustive_complete(&e));
}

/* --- runs --- */

struct run {
	struct o2_tally tally; /* must be first: props/engine/tally.h */
	uint64_t bad[2];       /* the two draws that fail */
	bool drifts;	       /* the bound of the second draw depends on the cases before */
	bool leaks;	       /* cases whose first draw is 5 leave something in the process */
};

static enum o2_status run_case(void *context, struct o2_choice *c, struct o2_report *report)
{
	struct run *run = context;
	const uint64_t first = o2_draw(c, 9), second = o2_draw(c, run->drifts ? run->tally.cases + 1 : 9);

	o2_report_clear(report);
	run->tally.cases++;
	if (run->leaks && first == 5)
		assert_true(open("/dev/null", O_RDONLY) >= 0);
	if (first != run->bad[0] || second != run->bad[1])
		return O2_STATUS_VALID;
	o2_report_fail(report, "bad", "it is bad");
	return O2_STATUS_INTERESTING;
}

static void print(const void *context, uint32_t pieces, FILE *out)
{
}

/* The result of a run with this option; the property has a situation that never occurs. */
static json_t *result_of(struct run *run, uint32_t exhaustive, uint64_t cases, int expect)
{
	static const struct o2_property_ops ops = {
		.name = "bad", .run_case = run_case, .print = print, O2_TALLY_OPS};
	static const char *const situation[] = {"never"};
	const struct o2_property property = o2_tally_property(&ops, &run->tally, situation, 1, 1);
	const struct o2_run_options options = {.device = "model",
					       .program = "o2props",
					       .again = "AGAIN",
					       .exhaustive = exhaustive,
					       .cases = cases,
					       .shrink_calls = 100,
					       .findings = 1};
	json_t *result;

	assert_int_equal(o2_run(&property, &options, &result), expect);
	assert_int_equal(json_integer_value(json_object_get(result, "exhaustive")), exhaustive);
	assert_null(json_object_get(result, "seed"));
	return result;
}

TEST(test_a_run_ends_with_the_last_case)
{
	struct run run = {.bad = {10}};
	json_t *result = result_of(&run, 1, 0, 0);

	assert_int_equal(run.tally.cases, 1 + 9 + 9);
	assert_true(json_is_true(json_object_get(result, "complete")));
	assert_int_equal(json_array_size(json_object_get(result, "missing")), 0);
	json_decref(result);
	run.tally.cases = 0;
	result = result_of(&run, 2, 7, 0);
	assert_int_equal(run.tally.cases, 7);
	assert_true(json_is_false(json_object_get(result, "complete")));
	json_decref(result);
}

TEST(test_a_run_finds_and_repeats)
{
	struct run run = {.bad = {3, 4}};
	json_t *result = result_of(&run, 1, 0, 0), *finding;

	json_decref(result);
	result = result_of(&run, 2, 0, 1);
	finding = json_array_get(json_object_get(result, "findings"), 0);
	assert_string_equal(json_string_value(json_object_get(finding, "signature")), "bad");
	assert_int_equal(json_integer_value(json_object_get(finding, "case")), 34);
	json_decref(result);
	/* With as many cases as its line says the run meets it again, and with one less it does not. */
	json_decref(result_of(&run, 2, 35, 1));
	json_decref(result_of(&run, 2, 34, 0));
}

TEST(test_a_run_tells_of_something_else_that_decides)
{
	struct run run = {.bad = {10}, .drifts = true};
	json_t *result = result_of(&run, 2, 0, 1);

	assert_string_equal(json_string_value(json_array_get(json_object_get(result, "missing"), 0)),
			    "the same numbers asked for after the same answers");
	assert_true(json_is_false(json_object_get(result, "complete")));
	json_decref(result);
}

/* It cannot go back to the case that left it, and says between which readings that was. */
TEST(test_a_run_tells_of_what_was_left)
{
	struct run run = {.bad = {10}, .leaks = true};
	json_t *result = result_of(&run, 1, 0, 1);
	const json_t *finding = json_array_get(json_object_get(result, "findings"), 0),
		     *lines = json_object_get(finding, "lines");

	assert_string_equal(json_string_value(json_object_get(finding, "signature")), "bad/" O2_LEFT_BEHIND);
	assert_non_null(strstr(json_string_value(json_array_get(lines, json_array_size(lines) - 1)),
			       "found after cases "));
	json_decref(result);
}
