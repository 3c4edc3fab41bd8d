/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "reg/mode.h"

/*
 * Pages are counted by what a segment spans, ceil((offset in page + length) / page size), and not by its
 * length alone: a mapping that merged neighbours hands over segments that start inside a page and cross
 * others (docs/modes.md, "Page lists").
 */
int o2_reg_list_pages(const struct o2_reg_request *request, const struct o2_dma_segment *segment,
		      uint32_t index, struct o2_reg_plan *plan, uint32_t *slot, struct o2_error *error)
{
	uint64_t mask = (uint64_t)request->page_bytes - 1;
	uint64_t page = segment->addr & ~mask;
	uint64_t last = (segment->addr + segment->length - 1) & ~mask;

	/*
	 * A segment that starts on a page boundary opens a slot even when that page was the last one listed:
	 * the buffer names the page a second time, and its bytes follow the first ones in the region.
	 */
	if (plan->npages > 0 && plan->page[plan->npages - 1] == page && segment->addr != page) {
		*slot = plan->npages - 1;
		if (page == last)
			return 0;
		page += request->page_bytes;
	} else {
		*slot = plan->npages;
	}
	for (;; page += request->page_bytes) {
		if (plan->npages == request->max_pages)
			return o2_refuse(error, -EINVAL, "reg/too-many-pages", "segment[]", index,
					 (uint64_t)request->max_pages + 1, request->max_pages);
		plan->page[plan->npages++] = page;
		if (page == last)
			return 0;
	}
}

int o2_reg_check_seam(const struct o2_dma_list *segments, uint32_t index, uint32_t page_bytes,
		      const char *rule, struct o2_error *error)
{
	uint64_t end = segments->segment[index - 1].addr + segments->segment[index - 1].length;
	uint64_t start = segments->segment[index].addr;

	if (end == start || (end % page_bytes == 0 && start % page_bytes == 0))
		return 0;
	return o2_limit_is(o2_refuse(error, -EINVAL, rule, "segment[].addr", index, start, end),
			   O2_LIMIT_OTHER, error);
}

uint32_t o2_reg_total(const struct o2_dma_list *segments)
{
	uint32_t total = 0;

	for (uint32_t i = 0; i < segments->count; i++)
		total += segments->segment[i].length;
	return total;
}

void o2_reg_publish_range(struct o2_reg_plan *plan, uint64_t iova, uint32_t length)
{
	plan->iova = iova;
	plan->length = length;
	plan->page_offset = (uint32_t)(iova % plan->page_bytes);
	plan->nfrags = 1;
	plan->frag[0].rf_addr = iova;
	plan->frag[0].rf_nob = length;
}
