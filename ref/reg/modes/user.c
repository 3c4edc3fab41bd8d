/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "reg/domain.h"
#include "reg/mode.h"

/*
 * Mode user: registers what ibv_reg_mr(3) takes, an address of this process and a length.  The device driver
 * finds the pages, so the plan lists none.  Byte k of the transfer is at the address + k, whatever kind of
 * device addresses the other modes use (docs/modes.md, "user").
 */

/*
 * Only a buffer that is one range of virtual addresses can be registered in this way.  Page boundaries inside
 * it and the verdict on gaps do not matter.
 */
static int plan_user(const struct o2_reg_request *request, const struct o2_dma_list *segments, uint32_t total,
		     struct o2_reg_plan *plan, struct o2_error *error)
{
	(void)segments;
	if (!request->contiguous)
		return o2_refuse_other(error, -EPROTONOSUPPORT, "reg/user/not-contiguous", "contiguous", 0,
				       1);
	if (total > UINT64_MAX - request->iova)
		return o2_refuse_value(error, -EINVAL, "reg/user/address-wraps", "iova", total,
				       UINT64_MAX - request->iova);
	o2_reg_publish_range(plan, request->iova, total);
	return 0;
}

/* The view of the arena that contains [addr, addr + length); NULL: none does. */
static const struct o2_vrange *find_view(const struct o2_arena *arena, uint64_t addr, uint64_t length)
{
	uint64_t view_bytes = (uint64_t)arena->npages * arena->page_bytes;

	for (uint32_t view = 0; view < arena->nviews; view++) {
		uint64_t base = arena->view[view].base;

		if (addr >= base && addr - base < view_bytes && length <= view_bytes - (addr - base))
			return &arena->view[view];
	}
	return NULL;
}

/* A device that bounces does not use the view's memory: register a window over the bounce pages instead. */
static int register_bounced(struct o2_reg_domain *domain, const struct o2_vrange *view,
			    const struct o2_reg_plan *plan, struct o2_region *region, struct o2_error *error)
{
	const uint32_t page_bytes = domain->dma.page_bytes;
	const uint64_t at = plan->iova - view->base;
	const uint32_t page_offset = (uint32_t)(at % page_bytes);
	const struct o2_page_bytes bytes = {
		.npages = (uint32_t)((page_offset + plan->length - 1) / page_bytes + 1),
		.page_offset = page_offset,
		.iova = plan->iova,
		.length = plan->length,
	};

	if (bytes.npages > O2_MAX_FRAGS)
		return o2_refuse_value(error, -EINVAL, "bind/npages", "npages", bytes.npages, O2_MAX_FRAGS);
	return o2_reg_region_of_numbers(domain, &view->page[at / page_bytes], &bytes,
					o2_reg_access_flags(plan->access), region, error);
}

static int bind_user(struct o2_reg_domain *domain, const struct o2_reg_plan *plan, struct o2_binding *binding,
		     struct o2_error *error)
{
	const struct o2_vrange *view;
	int rc;

	if (plan->length == 0)
		return o2_fail(error, -EINVAL, "bind/length", "length", 0);
	view = find_view(domain->arena, plan->iova, plan->length);
	if (view == NULL)
		return o2_fail(error, -EFAULT, "bind/user/no-such-memory", "iova", plan->iova);
	if (domain->bounce)
		rc = register_bounced(domain, view, plan, &binding->region, error);
	else
		rc = o2_reg_region_make(domain, (void *)(uintptr_t)plan->iova, plan->length, plan->iova,
					o2_reg_access_flags(plan->access), &binding->region.mr, error);
	if (rc == 0)
		binding->key = o2_reg_key(binding->region.mr, plan->side);
	return rc;
}

const struct o2_reg_mode_ops o2_reg_mode_user = {
	.plan = plan_user,
	.bind = bind_user,
	.release = o2_reg_unbind_region,
};
