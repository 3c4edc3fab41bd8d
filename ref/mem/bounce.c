/* SPDX-License-Identifier: MIT */
#include "mem/bounce.h"

#include <string.h>

void o2_bounce_map(const struct o2_arena *arena, const struct o2_sg_list *sg, enum o2_dma_direction direction)
{
	for (uint32_t i = 0; i < sg->count; i++) {
		const struct o2_sg_entry *entry = &sg->entry[i];
		const uint32_t seen = o2_arena_bounce(arena, direction, entry->page);

		memcpy(o2_arena_page(arena, seen) + entry->offset,
		       o2_arena_page(arena, entry->page) + entry->offset, entry->length);
	}
}

void o2_bounce_unmap(const struct o2_arena *arena, const struct o2_sg_list *sg,
		     enum o2_dma_direction direction)
{
	if (direction != O2_DMA_FROM_DEVICE)
		return;
	for (uint32_t i = 0; i < sg->count; i++) {
		const struct o2_sg_entry *entry = &sg->entry[i];
		const uint32_t seen = o2_arena_bounce(arena, direction, entry->page);

		memcpy(o2_arena_page(arena, entry->page) + entry->offset,
		       o2_arena_page(arena, seen) + entry->offset, entry->length);
	}
}
