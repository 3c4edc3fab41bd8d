/* SPDX-License-Identifier: MIT */
#include "mem/bounce.h"

#include "mem/kmap.h"

static uint8_t *seen(const struct o2_arena *arena, const struct o2_sg_entry *entry,
		     enum o2_dma_direction direction)
{
	return o2_arena_page(arena, o2_arena_bounce(arena, direction, entry->page)) + entry->offset;
}

int o2_bounce_map(const struct o2_arena *arena, const struct o2_sg_list *sg, enum o2_dma_direction direction,
		  struct o2_error *error)
{
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < sg->count; i++) {
		const struct o2_sg_entry *entry = &sg->entry[i];

		rc = o2_kmap_read(arena, entry->page, entry->offset, seen(arena, entry, direction),
				  entry->length, error);
	}
	return rc;
}

int o2_bounce_unmap(const struct o2_arena *arena, const struct o2_sg_list *sg,
		    enum o2_dma_direction direction, struct o2_error *error)
{
	int rc = 0;

	if (direction != O2_DMA_FROM_DEVICE)
		return 0;
	for (uint32_t i = 0; rc == 0 && i < sg->count; i++) {
		const struct o2_sg_entry *entry = &sg->entry[i];

		rc = o2_kmap_write(arena, entry->page, entry->offset, seen(arena, entry, direction),
				   entry->length, error);
	}
	return rc;
}
