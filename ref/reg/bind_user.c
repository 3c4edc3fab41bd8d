/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stddef.h>

#include "reg/bind_modes.h"

/* Memory that the domain knows: [addr, addr + length) inside one of the arena's views. */
static int check_view(const struct o2_arena *arena, uint64_t addr, uint64_t length, struct o2_error *error)
{
	uint64_t view_bytes = (uint64_t)arena->npages * arena->page_bytes;

	for (uint32_t view = 0; view < arena->nviews; view++) {
		uint64_t base = arena->view[view].base;

		if (addr >= base && addr - base < view_bytes && length <= view_bytes - (addr - base))
			return 0;
	}
	return o2_refuse(error, -EFAULT, "bind/user/no-such-memory", "iova", O2_NO_INDEX, addr, O2_NO_LIMIT);
}

/*
 * Mode user: the plan's addresses are addresses of this process, and what ibv_reg_mr(3) does is all there is
 * to it (docs/modes.md, "user").
 */
int o2_reg_bind_user(struct o2_reg_domain *domain, const struct o2_reg_plan *plan, struct o2_binding *binding,
		     struct o2_error *error)
{
	int rc;

	if (plan->length == 0)
		return o2_refuse(error, -EINVAL, "bind/length", "length", O2_NO_INDEX, 0, O2_NO_LIMIT);
	rc = check_view(domain->arena, plan->iova, plan->length, error);
	if (rc == 0)
		rc = o2_reg_region_make(domain, (void *)(uintptr_t)plan->iova, plan->length, plan->iova,
					o2_reg_access_flags(plan->access), &binding->region.mr, error);
	if (rc == 0)
		binding->key = plan->side == O2_SOURCE ? binding->region.mr->lkey : binding->region.mr->rkey;
	return rc;
}
