/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "reg/plan_modes.h"

/*
 * Mode fastreg_gaps: a region made of byte ranges, the segments as they are.  Byte k of the transfer lies at
 * the device address of the first byte + k, always one fragment; pages, and where in them an entry begins or
 * ends, do not matter (docs/modes.md, "fastreg_gaps").
 *
 * The region is allocated for as many entries as a page list has pages.
 */
int o2_reg_plan_fastreg_gaps(const struct o2_reg_request *request, const struct o2_dma_list *segments,
			     struct o2_reg_plan *plan, struct o2_error *error)
{
	uint64_t total = 0;

	if (segments->count > request->max_pages)
		return o2_refuse(error, -EINVAL, "reg/fastreg_gaps/too-many-entries", "count", O2_NO_INDEX,
				 segments->count, request->max_pages);
	for (uint32_t i = 0; i < segments->count; i++)
		total += segments->segment[i].length;
	if (total > UINT64_MAX - segments->segment[0].addr)
		return o2_refuse(error, -EINVAL, "reg/fastreg_gaps/iova-wraps", "segment[].addr", 0, total,
				 UINT64_MAX - segments->segment[0].addr);
	plan->nentries = segments->count;
	memcpy(plan->entry, segments->segment, segments->count * sizeof(plan->entry[0]));
	plan->iova = segments->segment[0].addr;
	plan->length = total;
	plan->page_offset = (uint32_t)(plan->iova % request->page_bytes);
	plan->nfrags = 1;
	plan->frag[0].rf_addr = plan->iova;
	plan->frag[0].rf_nob = (uint32_t)total;
	return 0;
}
