/* SPDX-License-Identifier: MIT */
#include "reg/bind_modes.h"

/*
 * Mode phys: a region over the listed pages, under the iova that the plan's caller chose, made for this
 * transfer and gone with it (docs/modes.md, "phys").
 */
int o2_reg_bind_phys(struct o2_reg_domain *domain, const struct o2_reg_plan *plan, struct o2_binding *binding,
		     struct o2_error *error)
{
	return o2_reg_bind_pages(domain, plan, binding, error);
}
