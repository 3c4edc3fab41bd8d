/* SPDX-License-Identifier: MIT */
#include "base/breaks.h"
#include "reg/bind_modes.h"

/*
 * Mode fmr: a region of the pool, mapped onto the plan's pages.  It covers exactly the published bytes, so
 * that the device refuses the one before and the one after.  Strict, unless the domain is lazy: then it is
 * kept when the transfer is over, and its key alive (docs/modes.md, "fmr").
 */
int o2_reg_bind_fmr(struct o2_reg_domain *domain, const struct o2_reg_plan *plan, struct o2_binding *binding,
		    struct o2_error *error)
{
	const struct o2_fmr_request request = {
		.pages = plan->page,
		.npages = plan->npages,
		.page_offset = plan->page_offset,
		.iova = plan->iova - plan->page_offset,
		.length = plan->length,
		.access = plan->access,
		.strict = o2_breaks("reg/key-dies", !domain->fmr_lazy),
	};
	const struct o2_page_bytes bytes = o2_reg_page_bytes(plan);
	int rc = o2_reg_check_bytes(domain, &bytes, error);

	if (rc == 0)
		rc = o2_fmr_take(&domain->pools[binding->cpt].fmr, &request, &binding->fmr, error);
	if (rc == 0)
		binding->key = plan->side == O2_SOURCE ? binding->fmr->lkey : binding->fmr->rkey;
	return rc;
}
