/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/breaks.h"
#include "reg/domain.h"
#include "reg/mode.h"

/*
 * Mode fmr: a page list mapped from iova 0.  Page i of the list occupies [i * page size, (i + 1) * page
 * size), so the iova of a byte is the slot of its page times the page size, plus its offset in the page.
 *
 * Without gaps the region is one range and one fragment describes it.  With gaps every segment gets its own
 * fragment: a single one would send bytes into the holes (docs/modes.md, "fmr", and LU-9983).
 */

/* Register exactly the range that the published fragments span. */
static void cover_fragments(struct o2_reg_plan *plan)
{
	uint64_t low = UINT64_MAX;
	uint64_t high = 0;

	for (uint32_t i = 0; i < plan->nfrags; i++) {
		uint64_t end = plan->frag[i].rf_addr + plan->frag[i].rf_nob;

		if (plan->frag[i].rf_addr < low)
			low = plan->frag[i].rf_addr;
		if (end > high)
			high = end;
	}
	plan->iova = low;
	plan->length = high - low;
	plan->page_offset = (uint32_t)(low % plan->page_bytes);
}

static int plan_fmr(const struct o2_reg_request *request, const struct o2_dma_list *segments, uint32_t total,
		    struct o2_reg_plan *plan, struct o2_error *error)
{
	const char *seam_rule = request->gaps ? NULL : "reg/fmr/undeclared-gap";

	for (uint32_t i = 0; i < segments->count; i++) {
		const struct o2_dma_segment *segment = &segments->segment[i];
		uint32_t slot;
		int rc = o2_reg_list_pages(request, segments, i, seam_rule, plan, &slot, error);

		if (rc != 0)
			return rc;
		plan->frag[i].rf_addr =
			(uint64_t)slot * request->page_bytes + segment->addr % request->page_bytes;
		plan->frag[i].rf_nob = segment->length;
	}
	plan->nfrags = segments->count;
	if (!request->gaps) {
		plan->nfrags = 1;
		plan->frag[0].rf_nob = total;
	}
	cover_fragments(plan);
	return 0;
}

/*
 * On user-space verbs a region over a window of the arena stands in for an FMR: mapping registers the region,
 * unmapping or mapping again deregisters it.  These are the device calls of the pool (pool/pool_fmr.h); their
 * context is the domain.
 */

static int create_region(void *context, uint64_t device, uint32_t max_pages, uint32_t page_bytes,
			 void **handle, struct o2_error *error)
{
	(void)context;
	(void)device;
	(void)max_pages;
	(void)page_bytes;
	*handle = calloc(1, sizeof(struct o2_region));
	if (*handle == NULL)
		return o2_fail(error, -ENOMEM, "bind/fmr/memory", "bytes", sizeof(struct o2_region));
	return 0;
}

static int end_mapping(struct o2_reg_domain *domain, struct o2_region *region)
{
	const bool mapped = region->mr != NULL;
	int rc = o2_reg_region_release(domain, region);

	if (mapped && rc == 0)
		domain->live.fmr_regions--;
	return rc;
}

/* A region that the device refuses to deregister stays counted in domain->live, and its window taken. */
static void destroy_region(void *context, void *handle)
{
	(void)end_mapping(context, handle);
	free(handle);
}

static int map_region(void *context, void *handle, const struct o2_fmr_request *request, uint32_t *lkey,
		      uint32_t *rkey, struct o2_error *error)
{
	struct o2_reg_domain *domain = context;
	struct o2_region *region = handle;
	/* Register exactly these bytes: the device refuses the byte before and the byte after them. */
	uint32_t early = o2_breaks("reg/exact-start", true) ? 0 : 1;
	uint32_t late = o2_breaks("reg/exact-length", true) ? 0 : 1;
	const struct o2_page_bytes bytes = {request->pages, request->npages, request->page_offset - early,
					    request->iova + request->page_offset - early,
					    request->length + early + late};
	int rc = end_mapping(domain, region);

	if (rc != 0)
		return o2_fail(error, rc, "bind/deregister", "npages", request->npages);
	rc = o2_reg_region_of_pages(domain, &bytes, o2_reg_access_flags(request->access), region, error);
	if (rc != 0)
		return rc;
	domain->live.fmr_regions++;
	*lkey = region->mr->lkey;
	*rkey = region->mr->rkey;
	return 0;
}

/* The regions before the one that fails stay unmapped; unmapping them again is harmless. */
static int unmap_regions(void *context, void *const *handles, uint32_t count)
{
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < count; i++)
		rc = end_mapping(context, handles[i]);
	return rc;
}

const struct o2_fmr_ops o2_reg_verbs_fmr = {create_region, destroy_region, map_region, unmap_regions};

/*
 * Take a region of the pool and map it to the plan's pages.  The mapping is strict unless the domain is lazy
 * (fmr_lazy): then the region stays mapped after the transfer, with its key alive.
 * kernel: ib_fmr_pool_map_phys
 */
static int bind_fmr(struct o2_reg_domain *domain, const struct o2_reg_plan *plan, struct o2_binding *binding,
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

static int release_fmr(struct o2_reg_domain *domain, struct o2_binding *binding, bool failed,
		       struct o2_error *error)
{
	return o2_fmr_put(&domain->pools[binding->cpt].fmr, binding->fmr, failed, error);
}

const struct o2_reg_mode_ops o2_reg_mode_fmr = {
	.plan = plan_fmr,
	.bind = bind_fmr,
	.release = release_fmr,
};

void o2_reg_flush(struct o2_reg_domain *domain)
{
	for (uint32_t cpt = 0; cpt < domain->ncpts; cpt++)
		if (domain->pools[cpt].set[O2_REG_POOL_FMR] != NULL)
			o2_fmr_set_flush(&domain->pools[cpt].fmr, true);
}
