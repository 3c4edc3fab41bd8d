/* SPDX-License-Identifier: MIT */
#include "reg/bind_modes.h"

/*
 * Mode phys: a region over the listed pages, under the iova that the plan's caller chose, made for this
 * transfer and gone with it (docs/modes.md, "phys").
 */
int o2_reg_bind_phys(struct o2_reg_domain *domain, const struct o2_reg_plan *plan, struct o2_binding *binding,
		     struct o2_error *error)
{
	const struct o2_page_bytes bytes = o2_reg_page_bytes(plan);
	int rc = o2_reg_check_bytes(domain, &bytes, error);

	if (rc == 0)
		rc = o2_reg_region_of_pages(domain, &bytes, o2_reg_access_flags(plan->access),
					    &binding->region, error);
	if (rc == 0)
		binding->key = plan->side == O2_SOURCE ? binding->region.mr->lkey : binding->region.mr->rkey;
	return rc;
}
