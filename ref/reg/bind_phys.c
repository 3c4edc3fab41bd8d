/* SPDX-License-Identifier: MIT */
#include "reg/bind_modes.h"

/*
 * Mode phys: a region over the listed pages, under the iova that the plan's caller chose, made for this
 * transfer and gone with it (docs/modes.md, "phys").
 */
int o2_reg_bind_phys(struct o2_reg_domain *domain, const struct o2_reg_plan *plan, struct o2_binding *binding,
		     struct o2_error *error)
{
	int rc = o2_reg_window_mr(domain, plan, o2_reg_access_flags(plan->access), binding, error);

	if (rc != 0)
		return rc;
	binding->key = plan->side == O2_SOURCE ? binding->mr->lkey : binding->mr->rkey;
	binding->state = O2_BINDING_READY;
	return 0;
}
