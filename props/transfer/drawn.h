/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_DRAWN_H
#define O2_PROPS_DRAWN_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Histogram of the sizes drawn for the transfers of a run, in powers of two: step 0 counts the value 0, step
 * n the values from 2^(n-1) to 2^n - 1 (docs/properties.md, "Results").
 */
#define O2_DRAWN_STEPS 65u

struct o2_drawn {
	uint64_t moved[O2_DRAWN_STEPS];
	uint64_t refused[O2_DRAWN_STEPS];
};

void o2_drawn_add(struct o2_drawn *drawn, uint64_t value, bool moved);

/* A new object: the steps from the first used to the last, each by its least value: {moved, refused}. */
json_t *o2_drawn_to_json(const struct o2_drawn *drawn);

#endif
