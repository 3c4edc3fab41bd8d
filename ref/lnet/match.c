/* SPDX-License-Identifier: MIT */
#include "lnet/match.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#define MAX_LISTS 65536u

/* --- lists --- */

static struct o2_match_list *list_for(const struct o2_match_table *table, uint32_t portal,
				      uint64_t match_bits)
{
	/* Fibonacci hashing, since match bits often differ only in their lowest or highest bits. */
	const uint64_t mixed = (match_bits ^ (match_bits >> 29) ^ portal) * UINT64_C(0x9e3779b97f4a7c15);

	return &table->list[(mixed >> 40) & (table->nlists - 1)];
}

static struct o2_match_list *list_of(const struct o2_match_table *table, const struct o2_lnet_entry *entry)
{
	return entry->ignore_bits != 0 ? &table->list[table->nlists]
				       : list_for(table, entry->portal, entry->match_bits);
}

/* Remove the slot from its list, so that no request can find it any more. */
static void leave(struct o2_match_table *table, struct o2_match_slot *slot)
{
	assert(!slot->leaving);
	slot->leaving = true;
	TAILQ_REMOVE(list_of(table, &slot->entry), slot, link);
}

static void set_free(struct o2_match_table *table, struct o2_match_slot *slot)
{
	*slot = (struct o2_match_slot){.order = 0};
	TAILQ_INSERT_HEAD(&table->free, slot, link);
}

/* --- adding and removing entries --- */

int o2_match_table_create(uint32_t max, struct o2_match_table *table)
{
	*table = (struct o2_match_table){.max = max, .next_order = 1, .nlists = 1};
	if (max == 0)
		return -EINVAL;
	while (table->nlists < max && table->nlists < MAX_LISTS)
		table->nlists *= 2;
	table->slot = calloc(max, sizeof(*table->slot));
	table->list = calloc(table->nlists + 1, sizeof(*table->list));
	if (table->slot == NULL || table->list == NULL) {
		o2_match_table_destroy(table);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i <= table->nlists; i++)
		TAILQ_INIT(&table->list[i]);
	TAILQ_INIT(&table->free);
	for (uint32_t i = max; i > 0; i--)
		set_free(table, &table->slot[i - 1]);
	return 0;
}

void o2_match_table_destroy(struct o2_match_table *table)
{
	free(table->slot);
	free(table->list);
	*table = (struct o2_match_table){0};
}

int o2_match_attach(struct o2_match_table *table, const struct o2_lnet_entry *entry, struct o2_error *error)
{
	struct o2_match_slot *slot = TAILQ_FIRST(&table->free);

	if ((entry->options & (O2_LNET_MD_OP_PUT | O2_LNET_MD_OP_GET)) == 0)
		return o2_refuse_value(error, -EINVAL, "lnet/entry/operation", "options", entry->options,
				       O2_LNET_MD_OP_PUT | O2_LNET_MD_OP_GET);
	if (entry->uses == 0)
		return o2_refuse_value(error, -EINVAL, "lnet/entry/uses", "uses", 0, 1);
	if (entry->memory.buffer.nob == 0)
		return o2_refuse_value(error, -EINVAL, "lnet/entry/empty", "memory.buffer.nob", 0, 1);
	if (slot == NULL)
		return o2_refuse_value(error, -ENOSPC, "lnet/entry/table-full", "entries",
				       table->max + UINT64_C(1), table->max);
	TAILQ_REMOVE(&table->free, slot, link);
	*slot = (struct o2_match_slot){.entry = *entry, .order = table->next_order++};
	TAILQ_INSERT_TAIL(list_of(table, entry), slot, link);
	return (int)(slot - table->slot);
}

int o2_match_unlink(struct o2_match_table *table, uint32_t index)
{
	struct o2_match_slot *slot;

	if (index >= table->max || table->slot[index].order == 0)
		return -ENOENT;
	slot = &table->slot[index];
	if (!slot->leaving)
		leave(table, slot);
	if (slot->users > 0)
		return 1;
	set_free(table, slot);
	return 0;
}

int o2_match_detach(struct o2_match_table *table, uint32_t index)
{
	if (index < table->max && table->slot[index].users > 0)
		return -EBUSY;
	return o2_match_unlink(table, index);
}

/* --- requests --- */

/* The first entry of a list that fits the request; NULL: none. */
static struct o2_match_slot *first_fit(const struct o2_match_list *list,
				       const struct o2_match_request *request)
{
	struct o2_match_slot *slot;

	TAILQ_FOREACH(slot, list, link) {
		const struct o2_lnet_entry *entry = &slot->entry;

		if ((entry->options & request->operation) != 0 && entry->uses > 0 &&
		    entry->portal == request->portal &&
		    ((entry->match_bits ^ request->match_bits) & ~entry->ignore_bits) == 0 &&
		    (entry->nid == O2_NID_ANY || entry->nid == request->nid) &&
		    (entry->pid == O2_LNET_PID_ANY || entry->pid == request->pid))
			break;
	}
	return slot;
}

int o2_match_take(struct o2_match_table *table, const struct o2_match_request *request,
		  struct o2_match *match, struct o2_error *error)
{
	struct o2_match_slot *slot =
		first_fit(list_for(table, request->portal, request->match_bits), request);
	struct o2_match_slot *other = first_fit(&table->list[table->nlists], request);
	const struct o2_lnet_entry *entry;
	uint64_t offset, room_bytes;

	/* If entries of both lists fit, take the one that was attached first. */
	if (slot == NULL || (other != NULL && other->order < slot->order))
		slot = other;
	if (slot == NULL)
		return o2_fail(error, -ENODATA, "lnet/match/none", "match_bits", request->match_bits);
	entry = &slot->entry;
	offset = (entry->options & O2_LNET_MD_MANAGE_REMOTE) != 0 ? request->offset : slot->local_offset;
	if (offset > entry->memory.buffer.nob)
		return o2_refuse_value(error, -ENODATA, "lnet/match/offset-past-end", "offset", offset,
				       entry->memory.buffer.nob);
	room_bytes = entry->memory.buffer.nob - offset;
	if (request->length_bytes > room_bytes && (entry->options & O2_LNET_MD_TRUNCATE) == 0)
		return o2_refuse_value(error, -ENODATA, "lnet/match/too-long", "length",
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
	if (entry->uses == 0 && (entry->options & O2_LNET_MD_UNLINK) != 0)
		leave(table, slot);
	return 0;
}

bool o2_match_release(struct o2_match_table *table, uint32_t index)
{
	struct o2_match_slot *slot = &table->slot[index];

	assert(index < table->max && slot->users > 0);
	slot->users--;
	if (slot->users > 0 || !slot->leaving)
		return false;
	set_free(table, slot);
	return true;
}

struct o2_transfer_memory o2_match_memory(const struct o2_match_table *table, const struct o2_match *match)
{
	struct o2_transfer_memory memory = table->slot[match->index].entry.memory;

	memory.buffer.offset += match->offset;
	memory.buffer.nob = match->length_bytes;
	return memory;
}
