/* SPDX-License-Identifier: MIT */
#ifndef O2_REG_PLAN_MODES_H
#define O2_REG_PLAN_MODES_H

#include "reg/plan.h"

/*
 * One function per registration mode, each in a file of its own.  The caller (plan.c) has checked request and
 * segments and has filled the members of *plan that do not depend on the mode.
 */
int o2_reg_plan_global(const struct o2_reg_request *request, const struct o2_dma_list *segments,
		       struct o2_reg_plan *plan, struct o2_error *error);
int o2_reg_plan_fmr(const struct o2_reg_request *request, const struct o2_dma_list *segments,
		    struct o2_reg_plan *plan, struct o2_error *error);
int o2_reg_plan_fastreg(const struct o2_reg_request *request, const struct o2_dma_list *segments,
			struct o2_reg_plan *plan, struct o2_error *error);
int o2_reg_plan_user(const struct o2_reg_request *request, const struct o2_dma_list *segments,
		     struct o2_reg_plan *plan, struct o2_error *error);
int o2_reg_plan_phys(const struct o2_reg_request *request, const struct o2_dma_list *segments,
		     struct o2_reg_plan *plan, struct o2_error *error);
int o2_reg_plan_fastreg_gaps(const struct o2_reg_request *request, const struct o2_dma_list *segments,
			     struct o2_reg_plan *plan, struct o2_error *error);

/*
 * Append to plan->page[] every page that a segment touches.  A segment that starts inside the page where the
 * one before it ended shares that page's slot; one that starts on a page boundary always opens a slot.
 *
 * slot: set to the index of the segment's first page.  Returns 0, or -EINVAL past max_pages.
 * o2iblnd: kiblnd_map_tx_pages
 * kernel: ib_sg_to_pages
 */
int o2_reg_list_pages(const struct o2_reg_request *request, const struct o2_dma_segment *segment,
		      uint32_t index, struct o2_reg_plan *plan, uint32_t *slot, struct o2_error *error);

/*
 * Do segments index - 1 and index meet without a hole, in a list of pages?  They do when both sides of the
 * seam are page boundaries, or when they are one range.  Returns 0, or -EINVAL under that rule.
 */
int o2_reg_check_seam(const struct o2_dma_list *segments, uint32_t index, uint32_t page_bytes,
		      const char *rule, struct o2_error *error);

#endif
