/* SPDX-License-Identifier: MIT */
#include "oracle/impl_slot.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE	   4096u
#define POISON	   0xa5
#define ZONE_BYTES 64u /* checked bytes before an array */

/* Number of pages of each part.  An inaccessible page follows each part, and one precedes the first. */
static const uint32_t part_pages[O2_PARTS] = {
	[O2_PART_INPUT] = 16, [O2_PART_BYTES] = 2, [O2_PART_OUT] = 1, [O2_PART_SGE] = 34,
	[O2_PART_WR] = 3,     [O2_PART_A] = 2,	   [O2_PART_B] = 2,   [O2_PART_C] = 2,
	[O2_PART_D] = 2,      [O2_PART_E] = 2,	   [O2_PART_F] = 2,
};

size_t o2_impl_part_bytes(enum o2_impl_part part)
{
	return (size_t)part_pages[part] * PAGE;
}

static size_t slot_bytes(void)
{
	size_t pages = 0;

	for (uint32_t i = 0; i < O2_PARTS; i++)
		pages += part_pages[i] + 1;
	return pages * PAGE;
}

/* The out struct is at the start of its page.  The refusal is at the end, so that a name that is too long
 * runs into the inaccessible page. */
static void place_slot(struct o2_impl_slot *slot, uint8_t *memory)
{
	for (uint32_t i = 0; i < O2_PARTS; i++) {
		slot->part[i] = memory;
		memory += o2_impl_part_bytes((enum o2_impl_part)i) + PAGE;
	}
	slot->in = (union o2_impl_in *)(void *)slot->part[O2_PART_INPUT];
	slot->out = (union o2_impl_out *)(void *)slot->part[O2_PART_OUT];
	slot->refusal = (struct o2_impl_refusal *)(void *)(slot->part[O2_PART_OUT] + PAGE -
							   sizeof(struct o2_impl_refusal));
	memset(slot->part[O2_PART_OUT], POISON, PAGE);
	for (uint32_t i = O2_PART_ARRAYS; i < O2_PARTS; i++)
		memset(slot->part[i], POISON, o2_impl_part_bytes((enum o2_impl_part)i));
}

int o2_impl_slots_create(uint32_t count, struct o2_impl_slots *slots)
{
	const size_t bytes = slot_bytes();
	int rc = 0;

	slots->count = count;
	slots->bytes = PAGE + count * bytes;
	slots->slot = calloc(count, sizeof(*slots->slot));
	slots->memory = mmap(NULL, slots->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (slots->memory == MAP_FAILED)
		slots->memory = NULL;
	if (slots->slot == NULL || slots->memory == NULL) {
		o2_impl_slots_destroy(slots);
		return -ENOMEM;
	}
	if (mprotect(slots->memory, PAGE, PROT_NONE) != 0)
		rc = -errno;
	for (uint32_t i = 0; i < count; i++) {
		place_slot(&slots->slot[i], slots->memory + PAGE + i * bytes);
		for (uint32_t p = 0; rc == 0 && p < O2_PARTS; p++)
			if (mprotect(slots->slot[i].part[p] + o2_impl_part_bytes((enum o2_impl_part)p), PAGE,
				     PROT_NONE) != 0)
				rc = -errno;
	}
	if (rc != 0)
		o2_impl_slots_destroy(slots);
	return rc;
}

void o2_impl_slots_destroy(struct o2_impl_slots *slots)
{
	if (slots->memory != NULL)
		munmap(slots->memory, slots->bytes);
	free(slots->slot);
	memset(slots, 0, sizeof(*slots));
}

int o2_impl_slots_protect(const struct o2_impl_slots *slots)
{
	for (uint32_t i = 0; i < slots->count; i++)
		for (uint32_t p = O2_PART_INPUT; p <= O2_PART_BYTES; p++)
			if (mprotect(slots->slot[i].part[p], o2_impl_part_bytes((enum o2_impl_part)p),
				     PROT_READ) != 0)
				return -errno;
	return 0;
}

void *o2_impl_slot_input(struct o2_impl_slot *slot, size_t bytes)
{
	void *at = slot->part[O2_PART_INPUT] + slot->in_used;

	slot->in_used += (bytes + 7) / 8 * 8;
	return at;
}

void *o2_impl_slot_copy(struct o2_impl_slot *slot, const void *from, size_t bytes)
{
	return memcpy(o2_impl_slot_input(slot, bytes), from, bytes);
}

/* The size of the zone before an array: ZONE_BYTES, or less if the part has less room. */
static size_t zone_bytes(const struct o2_impl_slot *slot, uint32_t index)
{
	const size_t before = (size_t)(slot->array[index].start - slot->part[index + O2_PART_ARRAYS]);

	return before < ZONE_BYTES ? before : ZONE_BYTES;
}

void o2_impl_slot_reset(struct o2_impl_slot *slot)
{
	slot->in_used = (sizeof(union o2_impl_in) + 7) / 8 * 8;
	for (uint32_t i = 0; i < O2_PARTS - O2_PART_ARRAYS; i++) {
		struct o2_impl_array *array = &slot->array[i];

		if (array->name != NULL)
			memset(array->start - zone_bytes(slot, i), POISON, zone_bytes(slot, i) + array->used);
		array->name = NULL;
	}
	memset(slot->out + 1, POISON, ZONE_BYTES);
	memset((uint8_t *)slot->refusal - ZONE_BYTES, POISON, ZONE_BYTES);
	memset(slot->out, 0, sizeof(*slot->out));
	memset(slot->refusal, 0, sizeof(*slot->refusal));
	slot->refusal->index = UINT32_MAX;
}

void *o2_impl_slot_array(struct o2_impl_slot *slot, enum o2_impl_part part, const char *name, uint32_t count,
			 uint32_t size)
{
	struct o2_impl_array *array = &slot->array[part - O2_PART_ARRAYS];

	array->name = name;
	array->bytes = count * size;
	array->used = 0;
	array->start = slot->part[part] + o2_impl_part_bytes(part) - array->bytes;
	/* Poison the zone: an earlier, longer array may have left bytes there. */
	memset(array->start - zone_bytes(slot, part - O2_PART_ARRAYS), POISON,
	       zone_bytes(slot, part - O2_PART_ARRAYS));
	return array->start;
}

static bool poisoned(const uint8_t *start, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		if (start[i] != POISON)
			return false;
	return true;
}

bool o2_impl_slot_spoilt(const struct o2_impl_slot *slot, char *text, size_t text_bytes)
{
	const uint8_t *behind = (const uint8_t *)(slot->out + 1);

	if (!poisoned(behind, ZONE_BYTES) ||
	    !poisoned((const uint8_t *)slot->refusal - ZONE_BYTES, ZONE_BYTES)) {
		snprintf(text, text_bytes, "bytes next to the out struct or the refusal were changed");
		return true;
	}
	for (uint32_t i = 0; i < O2_PARTS - O2_PART_ARRAYS; i++) {
		const struct o2_impl_array *array = &slot->array[i];

		if (array->name != NULL &&
		    !poisoned(array->start - zone_bytes(slot, i), zone_bytes(slot, i))) {
			snprintf(text, text_bytes, "bytes in front of array %s were changed", array->name);
			return true;
		}
	}
	return false;
}

/* Describe an address if it belongs to this part or to the inaccessible page behind it; otherwise false. */
static bool explain_part(const struct o2_impl_slot *slot, enum o2_impl_part part, const uint8_t *addr,
			 char *text, size_t text_bytes)
{
	const uint8_t *end = slot->part[part] + o2_impl_part_bytes(part);
	const char *name = part == O2_PART_INPUT   ? "the input"
			   : part == O2_PART_BYTES ? "the received bytes"
						   : "the refusal";

	if (addr < slot->part[part] || addr >= end + PAGE)
		return false;
	if (part >= O2_PART_ARRAYS)
		name = slot->array[part - O2_PART_ARRAYS].name;
	if (name == NULL)
		snprintf(text, text_bytes, "at memory that this stage was not given");
	else if (addr >= end)
		snprintf(text, text_bytes, "at %s%s, %zu bytes behind its end",
			 part >= O2_PART_ARRAYS ? "array " : "", name, (size_t)(addr - end));
	else
		snprintf(text, text_bytes, "inside %s%s", part >= O2_PART_ARRAYS ? "array " : "", name);
	return true;
}

bool o2_impl_slots_explain(const struct o2_impl_slots *slots, uint32_t current, uint64_t addr, bool *overrun,
			   bool *input, char *text, size_t text_bytes)
{
	const uint8_t *at = (const uint8_t *)(uintptr_t)addr;
	const uint8_t *asked = slots->slot[current].part[O2_PART_INPUT];

	*overrun = false;
	*input = false;
	if (at < slots->memory || at >= slots->memory + slots->bytes)
		return false;
	/* The page in front of a slot lies behind the one before, which the question knows nothing of. */
	for (uint32_t i = 0; i < slots->count && (at >= asked || at < asked - PAGE); i++) {
		for (uint32_t p = 0; p < O2_PARTS; p++) {
			const enum o2_impl_part part = (enum o2_impl_part)p;
			const uint8_t *end = slots->slot[i].part[p] + o2_impl_part_bytes(part);

			if (!explain_part(&slots->slot[i], part, at, text, text_bytes))
				continue;
			*input = p <= O2_PART_BYTES && at < end;
			*overrun = p > O2_PART_BYTES;
			return true;
		}
	}
	snprintf(text, text_bytes, "in front of the input");
	return true;
}
