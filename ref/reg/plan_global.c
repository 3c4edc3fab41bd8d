/* SPDX-License-Identifier: MIT */
#include "reg/plan_modes.h"

/*
 * Mode global: one region covers all memory, so there is nothing to register and every segment is published
 * as it is (docs/modes.md, "global").
 */
int o2_reg_plan_global(const struct o2_reg_request *request, const struct o2_dma_list *segments,
		       struct o2_reg_plan *plan, struct o2_error *error)
{
	(void)request;
	(void)error;
	for (uint32_t i = 0; i < segments->count; i++) {
		plan->frag[i].rf_addr = segments->segment[i].addr;
		plan->frag[i].rf_nob = segments->segment[i].length;
	}
	plan->nfrags = segments->count;
	return 0;
}
