/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_FAR_MEMORY_H
#define O2_PROPS_FAR_MEMORY_H

#include <jansson.h>

#include "props/scenario/image.h"

/*
 * The memory of an end on another machine.  "Here" has a copy, which a run fills, checks and cleans like any
 * memory; "there" is the memory itself.  The near end sends how pages are to be filled
 * (props/scenario/image.h), not their bytes; the far end returns the bytes of those pages that no longer hold
 * that.
 */

/* --- here --- */

struct o2_far_copy {
	const struct o2_image *image; /* image of the copy */
	uint32_t inits;		      /* the image's inits when the far end was last told */
	bool known[O2_SCENARIO_PAGES];
	struct o2_page_state told[O2_SCENARIO_PAGES];
};

/* Forget what the far end's memory holds. */
void o2_far_copy_forget(struct o2_far_copy *copy);

/*
 * The fills that the far end was not told yet: a new array of {"kind", "id", "seed", "pages"}; NULL without
 * memory.
 */
json_t *o2_far_copy_fills(struct o2_far_copy *copy);

/* Store returned pages in the copy.  message: their numbers in "pages"; bytes: their contents.  0 or -EINVAL. */
int o2_far_copy_take(struct o2_far_copy *copy, const json_t *message, const uint8_t *bytes, size_t length,
		     struct o2_error *error);

/* --- there --- */

struct o2_far_memory {
	struct o2_arena arena;
	struct o2_image image;
	bool filled[O2_SCENARIO_PAGES]; /* filled since the last request for pages */
	uint8_t *changed;		/* O2_FAR_MEMORY_BYTES: contents of pages being returned */
};

int o2_far_memory_open(struct o2_far_memory *memory, struct o2_error *error);
void o2_far_memory_close(struct o2_far_memory *memory);

/* Fill pages as the member "fills" of a message says, if it has one.  0 or -EINVAL. */
int o2_far_memory_fill(struct o2_far_memory *memory, const json_t *message, struct o2_error *error);

/*
 * The pages that do not hold what they were filled with, of all pages or of those filled since the last time:
 * a new array of their numbers, and *length bytes at memory->changed.
 */
json_t *o2_far_memory_changed(struct o2_far_memory *memory, bool all, size_t *length);

#endif
