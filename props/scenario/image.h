/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_IMAGE_H
#define O2_PROPS_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "mem/arena.h"
#include "props/pattern/pattern.h"
#include "props/scenario/scenario.h"

/*
 * What every byte of an arena must be.  Pages that no transfer uses hold red bytes; a transfer's source pages
 * hold data keyed by page and offset, its sink pages poison (docs/properties.md, "What is checked").
 */
struct o2_page_state {
	struct o2_origin origin; /* of the page's first byte */
	uint64_t seed;
	bool mixed; /* a sink after its transfer: checked then, refilled before anything else */
};

struct o2_image {
	struct o2_arena *arena;
	uint64_t seed;	/* of the red bytes */
	uint32_t inits; /* how often all of it was filled: whoever has a copy fills that, too */
	struct o2_page_state page[O2_SCENARIO_PAGES];
};

/* Fill the whole arena with red bytes.  The arena has O2_SCENARIO_PAGES pages.  Until then `inits` is 0. */
void o2_image_init(struct o2_image *image, struct o2_arena *arena, uint64_t seed);

/*
 * Fill whole pages: data of a source, poison of a sink (epoch: number of the transfer), red bytes
 * afterwards.
 */
void o2_image_fill_data(struct o2_image *image, uint32_t page, uint64_t seed);
void o2_image_fill_poison(struct o2_image *image, uint32_t page, uint64_t seed, uint32_t epoch);
void o2_image_fill_red(struct o2_image *image, uint32_t page);

/* Are all pages that hold one thing still what they are?  *page: the first that is not. */
bool o2_image_sweep(const struct o2_image *image, uint32_t *page);

#endif
