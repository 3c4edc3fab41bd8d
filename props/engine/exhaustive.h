/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_EXHAUSTIVE_H
#define O2_PROPS_EXHAUSTIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "props/engine/choice.h"

/*
 * The exhaustive driver (docs/properties.md, "Exhaustive mode"): every case near the simplest one, that is, every
 * case in which at most `away` draws are not 0.
 *
 *   o2_exhaustive_start(&e, 2);
 *   while (o2_exhaustive_next(&e, &c))
 *           property(&c);
 *   complete = o2_exhaustive_complete(&e);
 *
 * Of a number with more than O2_EXHAUSTIVE_OPTIONS values only the special ones are visited: the smallest, the two
 * largest, and the powers of two with both neighbours.  If a case is rejected early, its later draws are not visited.
 */

#define O2_EXHAUSTIVE_OPTIONS 32u

struct o2_exhaustive {
	uint32_t away;
	uint32_t draws; /* draws of the current case */
	uint32_t next;	/* its next draw */
	uint64_t cases; /* cases handed out so far, including the current one */
	bool finished;	/* the last case has already been handed out */
	bool unstable; /* a repeated prefix drew with another bound, or ended: the generator is not a function
			  of its draws */
	uint64_t value[O2_CHOICE_MAX_BYTES]; /* a draw takes a byte or more */
	uint64_t max[O2_CHOICE_MAX_BYTES];
};

/* away: at least 1; UINT32_MAX visits every case of a generator with few draws. */
void o2_exhaustive_start(struct o2_exhaustive *e, uint32_t away);

/* Prepare c for the next case; false if there is none. */
bool o2_exhaustive_next(struct o2_exhaustive *e, struct o2_choice *c);

/* True if every case was visited. */
bool o2_exhaustive_complete(const struct o2_exhaustive *e);

/* For props/engine/choice.c: *value becomes the next number of the case, 0..max.  False: the case cannot go on. */
bool o2_exhaustive_draw(struct o2_exhaustive *e, uint64_t max, uint64_t *value);

#endif
