/* SPDX-License-Identifier: MIT */
/* A run that lacks a situation goes on for a while (docs/properties.md, "Situations of the properties without a device"). */

#include "props/engine/run.h"

#include "props/engine/tally.h"
#include "tests/lib/unit_test.h"

#define CASES 20u
#define MOST  (3u * CASES)

struct run {
	struct o2_tally tally; /* must be first: props/engine/tally.h */
	uint64_t met_after;    /* number of the case that meets the situation */
};

static enum o2_status run_case(void *context, struct o2_choice *choice, struct o2_report *report)
{
	struct run *run = context;

	o2_report_clear(report);
	o2_draw(choice, 1);
	run->tally.cases++;
	run->tally.seen[0] += run->tally.cases == run->met_after;
	return O2_STATUS_VALID;
}

static void print(const void *context, uint32_t pieces, FILE *out)
{
}

/* enough: the number of cases after which the situation must have occurred. */
static void check_run(uint64_t met_after, uint64_t enough, uint64_t cases, uint64_t missing)
{
	static const struct o2_property_ops ops = {
		.name = "late", .run_case = run_case, .print = print, O2_TALLY_OPS};
	static const char *const situation[] = {"seldom"};
	struct run run = {.met_after = met_after};
	const struct o2_property property = o2_tally_property(&ops, &run.tally, situation, 1, enough);
	const struct o2_run_options options = {.device = "model",
					       .program = "o2props",
					       .again = "",
					       .seed = 1,
					       .cases = CASES,
					       .findings = 1};
	json_t *result;

	assert_int_equal(o2_run(&property, &options, &result), missing > 0);
	assert_int_equal(run.tally.cases, cases);
	assert_int_equal(json_integer_value(json_object_get(result, "cases")), cases);
	assert_int_equal(json_array_size(json_object_get(result, "missing")), missing);
	json_decref(result);
}

TEST(test_what_occurs_late_is_waited_for)
{
	check_run(1, CASES, CASES, 0);
	check_run(CASES, CASES, CASES, 0);
	check_run(CASES + 1, CASES, CASES + 1, 0);
	check_run(MOST, CASES, MOST, 0);
}

TEST(test_what_does_not_occur_is_missing)
{
	check_run(MOST + 1, CASES, MOST, 1);
}

TEST(test_a_short_run_need_not_meet_it)
{
	check_run(CASES + 1, CASES + 1, CASES, 0);
}
