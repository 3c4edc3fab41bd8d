/* SPDX-License-Identifier: MIT */
/*
 * Regions with gaps: byte ranges anywhere in memory, mapped to consecutive addresses (docs/loopverbs.md,
 * "Regions with gaps").
 *
 * Except where bytes are copied, such a region is one contiguous range of addresses at or above NOWHERE.
 */
#include <stdlib.h>
#include <string.h>

#include "loopverbs/internal.h"
#include "loopverbs/loopverbs.h"

/*
 * No process has memory at an address with this bit set.  So addresses from here on are free for these regions,
 * and a copy that does not resolve them faults.  No address is used twice.
 */
#define NOWHERE (UINT64_C(1) << 55)

static uint64_t next_range = NOWHERE;

struct o2l_gaps {
	uint8_t *range; /* virtual range that represents the region */
	uint64_t length;
	uint32_t count;
	LIST_ENTRY(o2l_gaps) link;
	struct ibv_sge entry[];
};

static LIST_HEAD(, o2l_gaps) all_gaps = LIST_HEAD_INITIALIZER(all_gaps);

struct o2l_gaps *o2l_gaps_make(const struct ibv_sge *entry, uint32_t count)
{
	struct o2l_gaps *gaps = calloc(1, sizeof(*gaps) + count * sizeof(*entry));

	if (!gaps)
		return NULL;
	gaps->count = count;
	memcpy(gaps->entry, entry, count * sizeof(*entry));
	for (uint32_t i = 0; i < count; i++)
		gaps->length += entry[i].length;
	gaps->range = (uint8_t *)(uintptr_t)next_range;
	/* Leave unused space behind the region, so that an overrun does not reach the next one. */
	next_range += (gaps->length / O2L_PAGE_BYTES + 2) * O2L_PAGE_BYTES;
	LIST_INSERT_HEAD(&all_gaps, gaps, link);
	return gaps;
}

uint8_t *o2l_gaps_range(const struct o2l_gaps *gaps, uint64_t *length)
{
	*length = gaps->length;
	return gaps->range;
}

void o2l_gaps_free(struct o2l_gaps *gaps)
{
	if (!gaps)
		return;
	LIST_REMOVE(gaps, link);
	free(gaps);
}

struct ibv_mr *o2_loop_reg_gaps(struct ibv_pd *pd, const struct ibv_sge *entry, uint32_t count, uint64_t iova,
				unsigned int access)
{
	struct o2l_gaps *gaps = NULL;
	struct ibv_mr *mr = NULL;
	int error = count == 0 || count > O2_LOOP_GAP_ENTRIES ? EINVAL : 0;

	o2l_lock();
	for (uint32_t i = 0; !error && i < count; i++)
		error = o2l_check_range((const void *)(uintptr_t)entry[i].addr, entry[i].length, access);
	if (!error && access & IBV_ACCESS_REMOTE_ATOMIC)
		error = EOPNOTSUPP; /* an atomic might span two entries */
	if (!error)
		error = o2l_fault(O2_LOOP_CALL_REGISTER, 0);
	if (!error)
		gaps = o2l_gaps_make(entry, count);
	if (gaps)
		mr = o2l_mr_make(pd, gaps->range, gaps->length, iova, access);
	if (mr)
		O2L_CONTAINER(mr, struct o2l_mr, ibv)->gaps = gaps;
	else
		o2l_gaps_free(gaps);
	o2l_unlock();
	return mr ? mr : o2l_refuse_object(error ? error : ENOMEM);
}

uint8_t *o2l_gaps_resolve(uint8_t *place, size_t *length)
{
	const struct o2l_gaps *gaps;
	uint64_t at;

	if ((uintptr_t)place < NOWHERE)
		return place;
	LIST_FOREACH(gaps, &all_gaps, link) {
		if (place < gaps->range || (uint64_t)(place - gaps->range) >= gaps->length)
			continue;
		at = (uint64_t)(place - gaps->range);
		for (uint32_t i = 0; i < gaps->count; i++) {
			const struct ibv_sge *entry = &gaps->entry[i];

			if (at < entry->length) {
				if (*length > entry->length - at)
					*length = entry->length - at;
				return (uint8_t *)(uintptr_t)(entry->addr + at);
			}
			at -= entry->length;
		}
	}
	return place;
}
