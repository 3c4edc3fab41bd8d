/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdbool.h>

#include "reg/plan_modes.h"

/* What the published fragments span is what gets registered, and no byte more. */
static void cover_fragments(struct o2_reg_plan *plan)
{
	uint64_t low = UINT64_MAX;
	uint64_t high = 0;

	for (uint32_t i = 0; i < plan->nfrags; i++) {
		uint64_t end = plan->frag[i].rf_addr + plan->frag[i].rf_nob;

		if (plan->frag[i].rf_addr < low)
			low = plan->frag[i].rf_addr;
		if (end > high)
			high = end;
	}
	plan->iova = low;
	plan->length = high - low;
	plan->page_offset = (uint32_t)(low % plan->page_bytes);
}

/*
 * Mode fmr: a page list mapped from iova 0.  Page i of the list occupies [i * page size, (i + 1) * page
 * size), so an address is the slot of its page times the page size plus its offset in the page.
 *
 * Without gaps the region is one range and one fragment describes it.  With gaps every segment gets a
 * fragment of its own; publishing one would send bytes into the holes (docs/modes.md, "fmr", and LU-9983).
 */
int o2_reg_plan_fmr(const struct o2_reg_request *request, const struct o2_dma_list *segments,
		    struct o2_reg_plan *plan, struct o2_error *error)
{
	for (uint32_t i = 0; i < segments->count; i++) {
		const struct o2_dma_segment *segment = &segments->segment[i];
		uint32_t slot;
		int rc = 0;

		if (i > 0 && !request->gaps)
			rc = o2_reg_check_seam(segments, i, request->page_bytes, "reg/fmr/undeclared-gap",
					       error);
		if (rc == 0)
			rc = o2_reg_list_pages(request, segment, i, plan, &slot, error);
		if (rc != 0)
			return rc;
		plan->frag[i].rf_addr =
			(uint64_t)slot * request->page_bytes + segment->addr % request->page_bytes;
		plan->frag[i].rf_nob = segment->length;
	}
	plan->nfrags = segments->count;
	if (!request->gaps) {
		uint32_t total = 0;

		for (uint32_t i = 0; i < segments->count; i++)
			total += segments->segment[i].length;
		plan->nfrags = 1;
		plan->frag[0].rf_nob = total;
	}
	cover_fragments(plan);
	return 0;
}
