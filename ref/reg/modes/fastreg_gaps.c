/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "reg/domain.h"
#include "reg/mode.h"

/*
 * Mode fastreg_gaps: a region made of byte ranges, the segments as they are.  Byte k of the transfer lies at
 * the device address of the first byte + k, always one fragment; pages, and where in them an entry begins or
 * ends, do not matter (docs/modes.md, "fastreg_gaps").
 *
 * The region is the device's own where it has such a thing, else a contiguous buffer in its place
 * (staging.c).  Everything else is as in mode fastreg, but for the pool set.
 */

/* The region is allocated for as many entries as a page list has pages. */
static int plan_fastreg_gaps(const struct o2_reg_request *request, const struct o2_dma_list *segments,
			     struct o2_reg_plan *plan, struct o2_error *error)
{
	const uint32_t total = o2_reg_total(segments);

	if (segments->count > request->max_pages)
		return o2_refuse(error, -EINVAL, "reg/fastreg_gaps/too-many-entries", "count", O2_NO_INDEX,
				 segments->count, request->max_pages);
	if (total > UINT64_MAX - segments->segment[0].addr)
		return o2_refuse(error, -EINVAL, "reg/fastreg_gaps/iova-wraps", "segment[].addr", 0, total,
				 UINT64_MAX - segments->segment[0].addr);
	plan->nentries = segments->count;
	memcpy(plan->entry, segments->segment, segments->count * sizeof(plan->entry[0]));
	o2_reg_publish_range(plan, segments->segment[0].addr, total);
	return 0;
}

bool o2_reg_has_gaps(const struct o2_reg_domain *domain)
{
	return domain->reg_gaps != NULL && !domain->gaps_by_staging;
}

uint8_t *o2_reg_host_range(const struct o2_reg_domain *domain, const struct o2_dma_segment *range)
{
	const struct o2_dma_device *dma = &domain->dma;
	uint64_t size = (uint64_t)dma->npages * dma->page_bytes;
	uint32_t view = dma->kind == O2_DMA_IOMMU ? O2_ARENA_IOMMU_VIEW : 0;

	if (range->addr < dma->base || range->addr - dma->base >= size ||
	    range->length > size - (range->addr - dma->base))
		return NULL;
	return (uint8_t *)(uintptr_t)domain->arena->view[view].base + (range->addr - dma->base);
}

int o2_reg_check_ranges(const struct o2_reg_domain *domain, const struct o2_reg_plan *plan,
			struct o2_error *error)
{
	uint64_t total = 0;

	if (plan->nentries == 0 || plan->nentries > O2_MAX_FRAGS)
		return o2_refuse(error, -EINVAL, "bind/nentries", "nentries", O2_NO_INDEX, plan->nentries,
				 O2_MAX_FRAGS);
	for (uint32_t i = 0; i < plan->nentries; i++) {
		if (plan->entry[i].length == 0 || o2_reg_host_range(domain, &plan->entry[i]) == NULL)
			return o2_refuse(error, -EINVAL, "bind/entry-outside-device", "entry[].addr", i,
					 plan->entry[i].addr, domain->dma.base);
		total += plan->entry[i].length;
	}
	if (plan->length != total || total > O2_MAX_TRANSFER_BYTES)
		return o2_refuse(error, -EINVAL, "bind/length", "length", O2_NO_INDEX, plan->length, total);
	return 0;
}

static int own_region(struct o2_reg_domain *domain, const struct o2_reg_plan *plan, int access,
		      struct o2_region *region, struct o2_error *error)
{
	struct ibv_sge entry[O2_MAX_FRAGS];

	for (uint32_t i = 0; i < plan->nentries; i++)
		entry[i] = (struct ibv_sge){
			.addr = (uintptr_t)o2_reg_host_range(domain, &plan->entry[i]),
			.length = plan->entry[i].length,
		};
	errno = 0;
	region->mr = domain->reg_gaps(domain->pd, entry, plan->nentries, plan->iova, (unsigned int)access);
	if (region->mr == NULL)
		return o2_refuse(error, errno != 0 ? -errno : -EIO, "bind/register", "length", O2_NO_INDEX,
				 plan->length, O2_NO_LIMIT);
	o2_reg_region_count(domain, region->mr);
	return 0;
}

int o2_reg_region_of_ranges(struct o2_reg_domain *domain, const struct o2_reg_plan *plan, int access,
			    struct o2_region *region, struct o2_error *error)
{
	*region = (struct o2_region){.mr = NULL};
	return o2_reg_has_gaps(domain) ? own_region(domain, plan, access, region, error)
				       : o2_reg_region_staged(domain, plan, access, region, error);
}

const struct o2_reg_mode_ops o2_reg_mode_fastreg_gaps = {
	.plan = plan_fastreg_gaps,
	.bind = o2_reg_bind_fastreg,
	.release = o2_reg_release_fastreg,
};
