/* SPDX-License-Identifier: MIT */
#include "props/scenario/image.h"

#include <sys/mman.h>

static void fill(struct o2_image *image, uint32_t page, uint64_t seed, enum o2_fill_kind kind, uint32_t id,
		 uint64_t offset)
{
	struct o2_page_state *state = &image->page[page];

	state->origin = (struct o2_origin){.kind = kind, .id = id, .offset_bytes = offset};
	state->seed = seed;
	state->mixed = false;
	o2_fill(o2_arena_page(image->arena, page), image->arena->page_bytes, seed, state->origin);
}

void o2_image_fill_data(struct o2_image *image, uint32_t page, uint64_t seed)
{
	fill(image, page, seed, O2_FILL_PAGE, page, 0);
}

void o2_image_fill_poison(struct o2_image *image, uint32_t page, uint64_t seed, uint32_t epoch)
{
	fill(image, page, seed, O2_FILL_POISON, epoch, (uint64_t)page * image->arena->page_bytes);
}

void o2_image_fill_red(struct o2_image *image, uint32_t page)
{
	fill(image, page, image->seed, O2_FILL_RED, 0, (uint64_t)page * image->arena->page_bytes);
}

void o2_image_init(struct o2_image *image, struct o2_arena *arena, uint64_t seed)
{
	image->arena = arena;
	image->seed = seed;
	image->inits++;
#ifdef MADV_POPULATE_WRITE /* Linux 5.14 */
	/* The whole arena is written now: one call that creates all pages costs less than a fault for each. */
	madvise(arena->memory, (size_t)O2_SCENARIO_PAGES * arena->page_bytes, MADV_POPULATE_WRITE);
#endif
	for (uint32_t page = 0; page < O2_SCENARIO_PAGES; page++)
		o2_image_fill_red(image, page);
}

bool o2_image_sweep(const struct o2_image *image, uint32_t *page)
{
	for (uint32_t i = 0; i < O2_SCENARIO_PAGES; i++) {
		const struct o2_page_state *state = &image->page[i];
		uint32_t page_bytes = image->arena->page_bytes;

		if (!state->mixed && o2_fill_match(o2_arena_page(image->arena, i), page_bytes, state->seed,
						   state->origin) != page_bytes) {
			*page = i;
			return false;
		}
	}
	return true;
}
