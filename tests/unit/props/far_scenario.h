/* SPDX-License-Identifier: MIT */
#ifndef O2_TESTS_UNIT_PROPS_FAR_SCENARIO_H
#define O2_TESTS_UNIT_PROPS_FAR_SCENARIO_H

#include "props/scenario/scenario.h"
#include "tests/lib/unit_test.h"

/* Draws scenario `number` for the tests of an end on another machine. */
static inline void draw(struct o2_scenario *scenario, uint64_t number)
{
	struct o2_choice *choice = calloc(1, sizeof(*choice));

	assert_non_null(choice);
	o2_choice_random(choice, 5, number);
	o2_scenario_draw(choice, &O2_SCENARIO_SPACE_ALL, scenario);
	free(choice);
}

#endif
