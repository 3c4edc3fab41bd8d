/* SPDX-License-Identifier: MIT */
#include "props/engine/exhaustive.h"

#include <assert.h>
#include <string.h>

/* Of a wide number, 0 to FIRST are visited one by one. */
#define FIRST_BITS 4
#define FIRST	   ((UINT64_C(1) << FIRST_BITS) - 1)

void o2_exhaustive_start(struct o2_exhaustive *e, uint32_t away)
{
	memset(e, 0, sizeof(*e));
	e->away = away;
}

bool o2_exhaustive_draw(struct o2_exhaustive *e, uint64_t max, uint64_t *value)
{
	const uint32_t i = e->next;

	assert(i < O2_CHOICE_MAX_BYTES);
	if (i == e->draws) {
		e->value[i] = 0;
		e->max[i] = max;
		e->draws++;
	} else if (e->max[i] != max) {
		e->unstable = true;
		return false;
	}
	e->next++;
	*value = e->value[i];
	return true;
}

/* The number that is visited after `value`, which is below max. */
static uint64_t number_after(uint64_t value, uint64_t max)
{
	uint64_t least = value < max - 1 ? max - 1 : max;

	if (max < O2_EXHAUSTIVE_OPTIONS || value < FIRST)
		return value + 1;
	for (uint32_t bits = FIRST_BITS; bits < 64; bits++)
		for (uint64_t number = (UINT64_C(1) << bits) - 1; number <= (UINT64_C(1) << bits) + 1;
		     number++)
			if (number > value && number < least)
				least = number;
	return least;
}

/* Turn to the next case: the last draw that can be raised is, and the draws after it are forgotten. */
static bool advance(struct o2_exhaustive *e)
{
	uint32_t away = 0;

	for (uint32_t i = 0; i < e->draws; i++)
		away += e->value[i] != 0;
	for (; e->draws > 0; e->draws--) {
		const uint32_t last = e->draws - 1;

		away -= e->value[last] != 0;
		if (away < e->away && e->value[last] < e->max[last]) {
			e->value[last] = number_after(e->value[last], e->max[last]);
			return true;
		}
	}
	return false;
}

bool o2_exhaustive_next(struct o2_exhaustive *e, struct o2_choice *c)
{
	/* A repeated prefix that ended early has changed. */
	if (e->next < e->draws)
		e->unstable = true;
	if (e->cases > 0 && !e->finished)
		e->finished = !advance(e);
	if (e->finished)
		return false;
	e->next = 0;
	e->cases++;
	o2_choice_exhaustive(c, e);
	return true;
}

bool o2_exhaustive_complete(const struct o2_exhaustive *e)
{
	return e->finished && !e->unstable;
}
