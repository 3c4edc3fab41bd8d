/* SPDX-License-Identifier: MIT */
#include "lnet/match.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "wire/nid.h"

int o2_match_table_create(uint32_t max, struct o2_match_table *table)
{
	*table = (struct o2_match_table){.max = max, .next_order = 1};
	if (max == 0)
		return -EINVAL;
	table->slot = calloc(max, sizeof(*table->slot));
	return table->slot == NULL ? -ENOMEM : 0;
}

void o2_match_table_destroy(struct o2_match_table *table)
{
	free(table->slot);
	*table = (struct o2_match_table){0};
}

int o2_match_attach(struct o2_match_table *table, const struct o2_lnet_entry *entry, struct o2_error *error)
{
	if ((entry->options & (O2_LNET_MD_OP_PUT | O2_LNET_MD_OP_GET)) == 0)
		return o2_refuse(error, -EINVAL, "lnet/entry/operation", "options", O2_NO_INDEX,
				 entry->options, O2_LNET_MD_OP_PUT | O2_LNET_MD_OP_GET);
	if (entry->uses == 0)
		return o2_refuse(error, -EINVAL, "lnet/entry/uses", "uses", O2_NO_INDEX, 0, 1);
	if (entry->memory.buffer.nob == 0)
		return o2_refuse(error, -EINVAL, "lnet/entry/empty", "memory.buffer.nob", O2_NO_INDEX, 0, 1);
	for (uint32_t i = 0; i < table->max; i++) {
		struct o2_match_slot *slot = &table->slot[i];

		if (slot->order != 0)
			continue;
		*slot = (struct o2_match_slot){.entry = *entry, .order = table->next_order++};
		return (int)i;
	}
	return o2_refuse(error, -ENOSPC, "lnet/entry/table-full", "entries", O2_NO_INDEX, table->max,
			 table->max);
}

int o2_match_detach(struct o2_match_table *table, uint32_t index)
{
	if (index >= table->max || table->slot[index].order == 0)
		return -ENOENT;
	if (table->slot[index].users > 0)
		return -EBUSY;
	table->slot[index] = (struct o2_match_slot){0};
	return 0;
}

static bool fits(const struct o2_lnet_entry *entry, const struct o2_match_request *request)
{
	return (entry->options & request->operation) != 0 && entry->uses > 0 &&
	       entry->portal == request->portal &&
	       ((entry->match_bits ^ request->match_bits) & ~entry->ignore_bits) == 0 &&
	       (entry->nid == O2_NID_ANY || entry->nid == request->nid) &&
	       (entry->pid == O2_LNET_PID_ANY || entry->pid == request->pid);
}

/* The first entry, in the order in which they were attached, that the request is for. */
static struct o2_match_slot *find(struct o2_match_table *table, const struct o2_match_request *request)
{
	struct o2_match_slot *found = NULL;

	for (uint32_t i = 0; i < table->max; i++) {
		struct o2_match_slot *slot = &table->slot[i];

		if (slot->order == 0 || !fits(&slot->entry, request))
			continue;
		if (found == NULL || slot->order < found->order)
			found = slot;
	}
	return found;
}

int o2_match_take(struct o2_match_table *table, const struct o2_match_request *request,
		  struct o2_match *match, struct o2_error *error)
{
	struct o2_match_slot *slot = find(table, request);
	const struct o2_lnet_entry *entry;
	uint64_t offset, room_bytes;

	if (slot == NULL)
		return o2_refuse(error, -ENODATA, "lnet/match/none", "match_bits", O2_NO_INDEX,
				 request->match_bits, O2_NO_LIMIT);
	entry = &slot->entry;
	offset = (entry->options & O2_LNET_MD_MANAGE_REMOTE) != 0 ? request->offset : slot->local_offset;
	if (offset > entry->memory.buffer.nob)
		return o2_refuse(error, -ENODATA, "lnet/match/offset-past-end", "offset", O2_NO_INDEX, offset,
				 entry->memory.buffer.nob);
	room_bytes = entry->memory.buffer.nob - offset;
	if (request->length_bytes > room_bytes && (entry->options & O2_LNET_MD_TRUNCATE) == 0)
		return o2_refuse(error, -ENODATA, "lnet/match/too-long", "length", O2_NO_INDEX,
				 request->length_bytes, room_bytes);
	*match = (struct o2_match){
		.index = (uint32_t)(slot - table->slot),
		.offset = offset,
		.length_bytes = request->length_bytes < room_bytes ? request->length_bytes : room_bytes,
	};
	slot->users++;
	slot->local_offset = offset + match->length_bytes;
	if (entry->uses != O2_LNET_USES_ENDLESS)
		slot->entry.uses--;
	return 0;
}

void o2_match_release(struct o2_match_table *table, uint32_t index)
{
	assert(index < table->max && table->slot[index].users > 0);
	table->slot[index].users--;
}

struct o2_transfer_memory o2_match_memory(const struct o2_match_table *table, const struct o2_match *match)
{
	struct o2_transfer_memory memory = table->slot[match->index].entry.memory;

	memory.buffer.offset += match->offset;
	memory.buffer.nob = match->length_bytes;
	return memory;
}
