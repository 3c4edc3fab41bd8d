/* SPDX-License-Identifier: MIT */
#ifndef O2_TESTS_ORACLE_WORLD_H
#define O2_TESTS_ORACLE_WORLD_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oracle/compare.h"
#include "props/scenario/draw.h"
#include "tests/lib/unit_test.h"

/* For tests of the comparer: drawn cases, the reference's answer twice, and changes to the second one. */

#define SEED  1u
#define CASES 20000u /* drawn at most for a stage, to find one that a change applies to */

struct world {
	struct o2_case asked;
	struct o2_scenario scenario;
	struct o2_answer expected;
	struct o2_answer found;
	struct o2_comparison comparison;
	struct o2_error_map map;
	struct o2_choice choice;
};

/* Changes w->found, or a limit in w->asked; returns false if the change does not apply to this case. */
typedef bool (*change_fn)(void);

static struct world *w;

static int set_up(void **state)
{
	w = calloc(1, sizeof(*w));
	if (w != NULL)
		w->comparison.map = &w->map;
	return w == NULL;
}

static int tear_down(void **state)
{
	free(w);
	return 0;
}

static bool draw(enum o2_stage stage, uint64_t index)
{
	o2_choice_random(&w->choice, SEED, index);
	o2_draw_case(&w->choice, stage, &w->asked, &w->scenario);
	if (!o2_choice_ok(&w->choice))
		return false;
	o2_answer_of_reference(&w->asked, &w->expected);
	o2_answer_of_reference(&w->asked, &w->found);
	return true;
}

static bool has(enum o2_check_id check)
{
	for (uint32_t i = 0; i < w->comparison.count; i++)
		if (w->comparison.item[i].check == check)
			return true;
	return false;
}

/* Asserts that the first case to which the change applies fails `check` with it, and nothing without. */
static void expect(enum o2_stage stage, enum o2_check_id check, change_fn change)
{
	for (uint64_t index = 0; index < CASES; index++) {
		if (!draw(stage, index))
			continue;
		o2_compare(&w->comparison, &w->asked, &w->expected, &w->found);
		if (w->comparison.count != 0)
			fail_msg("case %llu of %s: the reference differs from itself in %s",
				 (unsigned long long)index, o2_stage_name(stage),
				 o2_check_name(w->comparison.item[0].check));
		if (!change())
			continue;
		o2_compare(&w->comparison, &w->asked, &w->expected, &w->found);
		if (has(O2_CHECK_RDMA_IMPOSSIBLE) && check != O2_CHECK_RDMA_IMPOSSIBLE)
			continue; /* this check stands for all differences of such a case */
		if (!has(check))
			fail_msg("%s: the change was not noticed in case %llu (%u others)",
				 o2_check_name(check), (unsigned long long)index, w->comparison.count);
		return;
	}
	fail_msg("%s: no case to make the change to", o2_check_name(check));
}

/* Asserts that the change makes no case fail a check of severity must. */
static void expect_equal(enum o2_stage stage, const char *what, change_fn change)
{
	uint32_t changed = 0;

	for (uint64_t index = 0; index < CASES / 4; index++) {
		if (!draw(stage, index) || !change())
			continue;
		changed++;
		o2_compare(&w->comparison, &w->asked, &w->expected, &w->found);
		for (uint32_t i = 0; i < w->comparison.count; i++)
			if (o2_check_severity(w->comparison.item[i].check, O2_PROFILE_STRICT) ==
			    O2_CHECK_MUST)
				fail_msg("%s: case %llu differs in %s", what, (unsigned long long)index,
					 o2_check_name(w->comparison.item[i].check));
	}
	assert_true(changed > 20);
}

#define IS_RESULT (w->found.kind == O2_ANSWER_RESULT)

/* A change, applied if the answer is a result and the condition holds. */
#define MAKE(name, condition, action)           \
	static bool name(void)                  \
	{                                       \
		if (!IS_RESULT || !(condition)) \
			return false;           \
		action;                         \
		return true;                    \
	}

/* A test: the check must fail with this change of an answer of stage STAGE, which the file defines. */
struct change {
	enum o2_check_id check;
	change_fn make;
};

#define CHANGE(name, check_, condition, action)                             \
	MAKE(make_##name, condition, action)                                \
	static const struct change name = {O2_CHECK_##check_, make_##name}; \
	TEST_WITH(name##_is_noticed, set_up, tear_down)                     \
	{                                                                   \
		expect(STAGE, name.check, name.make);                       \
	}

#endif
