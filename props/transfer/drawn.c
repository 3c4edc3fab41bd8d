/* SPDX-License-Identifier: MIT */
#include "props/transfer/drawn.h"

#include <inttypes.h>
#include <stdio.h>

static uint32_t step_of(uint64_t value)
{
	uint32_t step = 0;

	for (; value > 0; value >>= 1)
		step++;
	return step;
}

void o2_drawn_add(struct o2_drawn *drawn, uint64_t value, bool moved)
{
	(moved ? drawn->moved : drawn->refused)[step_of(value)]++;
}

static bool occurred(const struct o2_drawn *drawn, uint32_t step)
{
	return drawn->moved[step] > 0 || drawn->refused[step] > 0;
}

json_t *o2_drawn_to_json(const struct o2_drawn *drawn)
{
	json_t *object = json_object();
	uint32_t first = 0, end = O2_DRAWN_STEPS;
	char least[24];

	while (first < end && !occurred(drawn, first))
		first++;
	while (end > first && !occurred(drawn, end - 1))
		end--;
	for (uint32_t i = first; i < end; i++) {
		snprintf(least, sizeof(least), "%" PRIu64, i == 0 ? 0 : UINT64_C(1) << (i - 1));
		json_object_set_new(object, least,
				    json_pack("{s:I, s:I}", "moved", (json_int_t)drawn->moved[i], "refused",
					      (json_int_t)drawn->refused[i]));
	}
	return object;
}
