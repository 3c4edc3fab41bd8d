/* SPDX-License-Identifier: MIT */
/*
 * Regions with gaps: byte ranges anywhere, one after the other under consecutive addresses
 * (docs/loopverbs.md, "Regions with gaps").
 *
 * Everything but the copying of bytes sees such a region as one contiguous range.  That range is address
 * space with nothing behind it, so that it is nobody else's and a copy that forgot to resolve it would fault.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "loopverbs/internal.h"
#include "loopverbs/loopverbs.h"

struct o2l_gaps {
	uint8_t *range; /* stands for the region */
	uint64_t length;
	uint32_t count;
	LIST_ENTRY(o2l_gaps) link;
	struct ibv_sge entry[];
};

static LIST_HEAD(, o2l_gaps) all_gaps = LIST_HEAD_INITIALIZER(all_gaps);

struct o2l_gaps *o2l_gaps_make(const struct ibv_sge *entry, uint32_t count)
{
	struct o2l_gaps *gaps = calloc(1, sizeof(*gaps) + count * sizeof(*entry));
	void *range = MAP_FAILED;

	if (!gaps)
		return NULL;
	gaps->count = count;
	memcpy(gaps->entry, entry, count * sizeof(*entry));
	for (uint32_t i = 0; i < count; i++)
		gaps->length += entry[i].length;
	range = mmap(NULL, gaps->length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (range == MAP_FAILED) {
		free(gaps);
		return NULL;
	}
	gaps->range = range;
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
	munmap(gaps->range, gaps->length);
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
		error = EOPNOTSUPP; /* an atomic might lie across two entries */
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
