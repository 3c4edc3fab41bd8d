/* SPDX-License-Identifier: MIT */
#include "props/scenario/image.h"

#include <sys/types.h>
#include <unistd.h>

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
	for (uint32_t page = 0; page < O2_SCENARIO_PAGES; page++)
		o2_image_fill_red(image, page);
}

/* A page that was read or written takes memory: zeros that were written are seen as well. */
static bool is_untouched(const struct o2_arena *arena, uint32_t *page)
{
	const off_t at = lseek(arena->fd, 0, SEEK_DATA);

	if (at < 0 || (uint64_t)at >= (uint64_t)arena->npages * arena->page_bytes)
		return true;
	*page = (uint32_t)((uint64_t)at / arena->page_bytes);
	return false;
}

bool o2_image_sweep(const struct o2_image *image, uint32_t *page)
{
	if (image->inits == 0)
		return is_untouched(image->arena, page);
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
