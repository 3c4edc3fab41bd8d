/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "reg/mode.h"

/*
 * Mode phys: a list of physical pages, registered for one transfer under an iova that the caller chooses: of
 * the first page, or of the first byte, which then has the same offset in its page.  Always one fragment, so
 * a list with gaps cannot be expressed (docs/modes.md, "phys").
 */

/* Set *start to the iova of the region, which is that of the first byte. */
static int place(const struct o2_reg_request *request, uint64_t first, uint64_t total, uint64_t *start,
		 struct o2_error *error)
{
	const uint64_t offset = first % request->page_bytes;
	const uint64_t inside = request->iova % request->page_bytes;
	const uint64_t page = request->iova - inside;

	if (inside != 0 && inside != offset)
		return o2_refuse_multiple(error, -EINVAL, "reg/phys/iova-alignment", "iova", request->iova,
					  request->page_bytes);
	if (offset + total > UINT64_MAX - page)
		return o2_refuse_value(error, -EINVAL, "reg/phys/iova-wraps", "iova", offset + total,
				       UINT64_MAX - page);
	*start = page + offset;
	return 0;
}

static int plan_phys(const struct o2_reg_request *request, const struct o2_dma_list *segments, uint32_t total,
		     struct o2_reg_plan *plan, struct o2_error *error)
{
	const uint64_t first = segments->segment[0].addr;
	uint64_t start = 0;
	int rc;

	if (request->gaps)
		return o2_refuse_other(error, -EINVAL, "reg/phys/gaps", "gaps", 1, 0);
	for (uint32_t i = 0; i < segments->count; i++) {
		uint32_t slot;

		rc = o2_reg_list_pages(request, segments, i, "reg/phys/undeclared-gap", plan, &slot, error);
		if (rc != 0)
			return rc;
	}
	rc = place(request, first, total, &start, error);
	if (rc == 0)
		o2_reg_publish_range(plan, start, total);
	return rc;
}

/* o2iblnd: kiblnd_pmr_pool_map */
/* kernel: ib_reg_phys_mr */
static int bind_phys(struct o2_reg_domain *domain, const struct o2_reg_plan *plan, struct o2_binding *binding,
		     struct o2_error *error)
{
	const struct o2_page_bytes bytes = o2_reg_page_bytes(plan);
	int rc = o2_reg_check_bytes(domain, &bytes, error);

	if (rc == 0)
		rc = o2_reg_region_of_pages(domain, &bytes, o2_reg_access_flags(plan->access),
					    &binding->region, error);
	if (rc == 0)
		binding->key = o2_reg_key(binding->region.mr, plan->side);
	return rc;
}

const struct o2_reg_mode_ops o2_reg_mode_phys = {
	.plan = plan_phys,
	.bind = bind_phys,
	.release = o2_reg_unbind_region,
};
