/* SPDX-License-Identifier: MIT */
#include "mem/copy.h"

#include "mem/kmap.h"
#include "mem/sg_build.h"

static int build(const struct o2_arena *arena, const struct o2_buffer *buffer, struct o2_sg_list *list,
		 struct o2_error *error)
{
	struct o2_address_space space = o2_arena_space(arena);

	list->count = 0;
	if (buffer->nob == 0)
		return 0;
	return o2_sg_build(buffer, &space, O2_MAX_FRAGS, list, error);
}

int o2_copy_to_buffer(const struct o2_arena *arena, const struct o2_buffer *buffer, const uint8_t *bytes,
		      struct o2_error *error)
{
	struct o2_sg_list list;
	int rc = build(arena, buffer, &list, error);

	for (uint32_t i = 0; rc == 0 && i < list.count; i++) {
		const struct o2_sg_entry *entry = &list.entry[i];

		rc = o2_kmap_write(arena, entry->page, entry->offset, bytes, entry->length, error);
		bytes += entry->length;
	}
	return rc;
}

int o2_copy_from_buffer(const struct o2_arena *arena, const struct o2_buffer *buffer, uint8_t *bytes,
			struct o2_error *error)
{
	struct o2_sg_list list;
	int rc = build(arena, buffer, &list, error);

	for (uint32_t i = 0; rc == 0 && i < list.count; i++) {
		const struct o2_sg_entry *entry = &list.entry[i];

		rc = o2_kmap_read(arena, entry->page, entry->offset, bytes, entry->length, error);
		bytes += entry->length;
	}
	return rc;
}
