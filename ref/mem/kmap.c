/* SPDX-License-Identifier: MIT */
#include "mem/kmap.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

static _Thread_local uint32_t kmaps_here;

int o2_kmap(const struct o2_arena *arena, uint32_t page, struct o2_kmapping *mapping, struct o2_error *error)
{
	assert(page < arena->npages);
	*mapping = (struct o2_kmapping){.arena = arena, .temporary = !o2_arena_is_mapped(arena, page)};
	if (kmaps_here == O2_KMAPS_MAX)
		return o2_refuse_value(error, -ENOSPC, "kmap/too-many", "kmaps", kmaps_here + 1,
				       O2_KMAPS_MAX);
	if (mapping->temporary) {
		void *addr = mmap(NULL, arena->page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, arena->fd,
				  (off_t)((uint64_t)page * arena->page_bytes));

		if (addr == MAP_FAILED)
			return o2_fail(error, -ENOMEM, "kmap/map", "page", page);
		mapping->addr = addr;
	} else {
		mapping->addr = arena->linear + (uint64_t)page * arena->page_bytes;
	}
	kmaps_here++;
	arena->kmaps->live++;
	arena->kmaps->temporary += mapping->temporary;
	return 0;
}

void o2_kunmap(struct o2_kmapping *mapping)
{
	if (mapping->addr == NULL) {
		mapping->arena->kmaps->wrong++;
		return;
	}
	if (mapping->temporary)
		munmap(mapping->addr, mapping->arena->page_bytes);
	mapping->addr = NULL;
	kmaps_here--;
	mapping->arena->kmaps->live--;
}

int o2_kmap_read(const struct o2_arena *arena, uint32_t page, uint32_t offset, void *to, uint32_t length,
		 struct o2_error *error)
{
	struct o2_kmapping mapping;
	int rc = o2_kmap(arena, page, &mapping, error);

	if (rc != 0)
		return rc;
	memcpy(to, mapping.addr + offset, length);
	o2_kunmap(&mapping);
	return 0;
}

int o2_kmap_write(const struct o2_arena *arena, uint32_t page, uint32_t offset, const void *from,
		  uint32_t length, struct o2_error *error)
{
	struct o2_kmapping mapping;
	int rc = o2_kmap(arena, page, &mapping, error);

	if (rc != 0)
		return rc;
	memcpy(mapping.addr + offset, from, length);
	o2_kunmap(&mapping);
	return 0;
}

/* Copy from `in` to the buffer; or, if `in` is NULL, from the buffer to `out`. */
static int copy(const struct o2_arena *arena, const struct o2_buffer *buffer, const uint8_t *in, uint8_t *out,
		struct o2_error *error)
{
	const struct o2_address_space space = o2_arena_space(arena);
	struct o2_sg_list list;
	uint64_t at = 0;
	int rc = 0;

	list.count = 0;
	if (buffer->nob > 0)
		rc = o2_sg_build(buffer, &space, O2_MAX_FRAGS, &list, error);
	for (uint32_t i = 0; rc == 0 && i < list.count; i++) {
		const struct o2_sg_entry *entry = &list.entry[i];

		if (in != NULL)
			rc = o2_kmap_write(arena, entry->page, entry->offset, in + at, entry->length, error);
		else
			rc = o2_kmap_read(arena, entry->page, entry->offset, out + at, entry->length, error);
		at += entry->length;
	}
	return rc;
}

int o2_copy_to_buffer(const struct o2_arena *arena, const struct o2_buffer *buffer, const uint8_t *bytes,
		      struct o2_error *error)
{
	return copy(arena, buffer, bytes, NULL, error);
}

int o2_copy_from_buffer(const struct o2_arena *arena, const struct o2_buffer *buffer, uint8_t *bytes,
			struct o2_error *error)
{
	return copy(arena, buffer, NULL, bytes, error);
}

/* Copy between pages and their bounce pages: to the pages (to_pages), or to the bounce pages. */
static int bounce(const struct o2_arena *arena, const struct o2_sg_list *sg, enum o2_dma_direction direction,
		  bool to_pages, struct o2_error *error)
{
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < sg->count; i++) {
		const struct o2_sg_entry *entry = &sg->entry[i];
		const uint32_t bounced = o2_arena_bounce(arena, direction, entry->page);
		uint8_t *seen = o2_arena_page(arena, bounced) + entry->offset;

		rc = to_pages ? o2_kmap_write(arena, entry->page, entry->offset, seen, entry->length, error)
			      : o2_kmap_read(arena, entry->page, entry->offset, seen, entry->length, error);
	}
	return rc;
}

int o2_bounce_map(const struct o2_arena *arena, const struct o2_sg_list *sg, enum o2_dma_direction direction,
		  struct o2_error *error)
{
	return bounce(arena, sg, direction, false, error);
}

int o2_bounce_unmap(const struct o2_arena *arena, const struct o2_sg_list *sg,
		    enum o2_dma_direction direction, struct o2_error *error)
{
	return direction == O2_DMA_FROM_DEVICE ? bounce(arena, sg, direction, true, error) : 0;
}
