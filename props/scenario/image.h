/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_IMAGE_H
#define O2_PROPS_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "mem/arena.h"
#include "props/pattern/pattern.h"
#include "props/scenario/scenario.h"

/*
 * The expected value of every byte of an arena.  Pages that no transfer uses hold red bytes; a transfer's source
 * pages hold data keyed by page and offset, its sink pages hold poison (docs/properties.md, "What is checked").
 */
struct o2_page_state {
	struct o2_origin origin; /* of the page's first byte */
	uint64_t seed;
	bool mixed; /* a sink after its transfer: checked at once, refilled before anything else */
};

struct o2_image {
	struct o2_arena *arena;
	uint64_t seed;	/* of the red bytes */
	uint32_t inits; /* how often the whole arena was filled; the owner of a copy then refills the copy */
	struct o2_page_state page[O2_SCENARIO_PAGES];
};

/* Fill the whole arena of O2_SCENARIO_PAGES pages with red bytes.  An image that was never filled has inits 0. */
void o2_image_init(struct o2_image *image, struct o2_arena *arena, uint64_t seed);

/*
 * Fill a whole page: with data of a source, with poison of a sink (epoch: number of the transfer), or with
 * red bytes after the transfer.
 */
void o2_image_fill_data(struct o2_image *image, uint32_t page, uint64_t seed);
void o2_image_fill_poison(struct o2_image *image, uint32_t page, uint64_t seed, uint32_t epoch);
void o2_image_fill_red(struct o2_image *image, uint32_t page);

/* True if all pages that are not mixed hold the expected bytes; else *page is the first that does not. */
bool o2_image_sweep(const struct o2_image *image, uint32_t *page);

#endif
