/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdbool.h>

#include "reg/plan_modes.h"

/*
 * Mode fastreg: a page list whose iova is the device address of the first byte; always one fragment.  Byte k
 * of the transfer lies at iova + k, so a list with gaps cannot be expressed (docs/modes.md, "fastreg").
 *
 * Whether there are gaps is decided by the verdict of sg_build, before anything is built; a list that has
 * none by that verdict and still does not join up is a short map.
 */
int o2_reg_plan_fastreg(const struct o2_reg_request *request, const struct o2_dma_list *segments,
			struct o2_reg_plan *plan, struct o2_error *error)
{
	uint64_t mask = (uint64_t)request->page_bytes - 1;
	uint64_t total = 0;
	uint64_t end = 0;

	if (request->gaps)
		return o2_refuse_other(error, -EPROTONOSUPPORT, "reg/fastreg/gaps", "gaps", 1, 0);
	for (uint32_t i = 0; i < segments->count; i++) {
		const struct o2_dma_segment *segment = &segments->segment[i];
		uint32_t slot;
		int rc;

		if (i > 0 && end != segment->addr && ((end | segment->addr) & mask) != 0)
			return o2_limit_is(o2_refuse(error, -EINVAL, "reg/fastreg/short-map",
						     "segment[].addr", i, segment->addr, end),
					   O2_LIMIT_OTHER, error);
		rc = o2_reg_list_pages(request, segment, i, plan, &slot, error);
		if (rc != 0)
			return rc;
		end = segment->addr + segment->length;
		total += segment->length;
	}
	/* The region goes on from the first address, wherever the later segments lie. */
	if (total > UINT64_MAX - segments->segment[0].addr)
		return o2_refuse(error, -EINVAL, "reg/fastreg/iova-wraps", "segment[].addr", 0, total,
				 UINT64_MAX - segments->segment[0].addr);
	plan->iova = segments->segment[0].addr;
	plan->length = total;
	plan->page_offset = (uint32_t)(plan->iova & mask);
	plan->nfrags = 1;
	plan->frag[0].rf_addr = plan->iova;
	plan->frag[0].rf_nob = (uint32_t)total;
	return 0;
}
