/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "reg/plan_modes.h"

/*
 * Mode user: what ibv_reg_mr(3) takes, an address of this process and a length.  The pages behind it are the
 * device driver's affair, so the plan lists none; byte k of the transfer is at the address + k, whatever kind
 * of address the device uses otherwise (docs/modes.md, "user").
 *
 * Only a buffer that is one range of virtual addresses can be registered so; where its pages begin and end
 * does not matter, and neither does the verdict on gaps.
 */
int o2_reg_plan_user(const struct o2_reg_request *request, const struct o2_dma_list *segments,
		     struct o2_reg_plan *plan, struct o2_error *error)
{
	uint64_t total = 0;

	if (!request->contiguous)
		return o2_refuse_other(error, -EPROTONOSUPPORT, "reg/user/not-contiguous", "contiguous", 0,
				       1);
	for (uint32_t i = 0; i < segments->count; i++)
		total += segments->segment[i].length;
	if (total > UINT64_MAX - request->iova)
		return o2_refuse(error, -EINVAL, "reg/user/address-wraps", "iova", O2_NO_INDEX, total,
				 UINT64_MAX - request->iova);
	plan->iova = request->iova;
	plan->length = total;
	plan->page_offset = (uint32_t)(plan->iova % request->page_bytes);
	plan->nfrags = 1;
	plan->frag[0].rf_addr = plan->iova;
	plan->frag[0].rf_nob = (uint32_t)total;
	return 0;
}
