/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_FAR_MEMORY_H
#define O2_PROPS_FAR_MEMORY_H

#include <jansson.h>

#include "props/scenario/image.h"

/*
 * The memory of an end on another machine.  Here is a copy, which a run fills, judges and cleans as it does all
 * memory; there is the memory itself.  What the pages are to hold is said by what they are filled with
 * (props/scenario/image.h), not by their bytes; what comes back are the bytes of the pages that do not hold that
 * any more.
 */

/* --- here --- */

struct o2_far_copy {
	const struct o2_image *image; /* of the copy */
	uint32_t inits;		      /* of the image, when the far end was last told */
	bool known[O2_SCENARIO_PAGES];
	struct o2_page_state told[O2_SCENARIO_PAGES];
};

/* The far end's memory holds nothing that is known. */
void o2_far_copy_forget(struct o2_far_copy *copy);

/*
 * How pages are to be filled that the far end was not told yet: a new array of {"kind", "id", "seed", "pages"};
 * NULL where memory ran out.
 */
json_t *o2_far_copy_fills(struct o2_far_copy *copy);

/* Pages that have come back, message: their numbers in "pages", their bytes behind it.  0 or -EINVAL. */
int o2_far_copy_take(struct o2_far_copy *copy, const json_t *message, const uint8_t *bytes, size_t length,
		     struct o2_error *error);

/* --- there --- */

struct o2_far_memory {
	struct o2_arena arena;
	struct o2_image image;
	bool filled[O2_SCENARIO_PAGES]; /* since pages were last asked for */
	uint8_t *changed;		/* O2_FAR_MEMORY_BYTES: bytes of pages on their way */
};

int o2_far_memory_open(struct o2_far_memory *memory, struct o2_error *error);
void o2_far_memory_close(struct o2_far_memory *memory);

/* Fill pages, as the member "fills" of a message says, if it has one.  0 or -EINVAL. */
int o2_far_memory_fill(struct o2_far_memory *memory, const json_t *message, struct o2_error *error);

/*
 * The pages, of those filled since the last time or of all, that do not hold what they were filled with: a new
 * array of their numbers, and *length bytes at memory->changed.
 */
json_t *o2_far_memory_changed(struct o2_far_memory *memory, bool all, size_t *length);

#endif
