/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stddef.h>
#include <sys/resource.h>

#include "reg/bind_modes.h"

int o2_reg_access_flags(uint32_t plan_access)
{
	return (plan_access & O2_ACCESS_LOCAL_WRITE ? IBV_ACCESS_LOCAL_WRITE : 0) |
	       (plan_access & O2_ACCESS_REMOTE_WRITE ? IBV_ACCESS_REMOTE_WRITE : 0);
}

int o2_reg_region(struct ibv_pd *pd, void *addr, uint64_t length, uint64_t iova, int access,
		  struct ibv_mr **mr, struct o2_error *error)
{
	struct rlimit limit = {.rlim_cur = RLIM_INFINITY};
	int code;

	errno = 0;
	*mr = ibv_reg_mr_iova(pd, addr, length, iova, access);
	if (*mr != NULL)
		return 0;
	code = errno != 0 ? -errno : -EIO;
	if (code == -ENOMEM || code == -EAGAIN)
		getrlimit(RLIMIT_MEMLOCK, &limit);
	if (limit.rlim_cur != RLIM_INFINITY)
		return o2_refuse(error, -ENOMEM, "bind/memlock",
				 "bytes to lock in memory (RLIMIT_MEMLOCK, ulimit -l)", O2_NO_INDEX, length,
				 limit.rlim_cur);
	return o2_refuse(error, code, "bind/register", "length", O2_NO_INDEX, length, UINT64_MAX - iova);
}

/* The page numbers behind the plan's device addresses.  page must hold O2_MAX_FRAGS numbers. */
static int find_pages(const struct o2_reg_domain *domain, const struct o2_reg_plan *plan, uint32_t *page,
		      struct o2_error *error)
{
	const struct o2_dma_device *dma = &domain->dma;

	for (uint32_t i = 0; i < plan->npages; i++) {
		uint64_t addr = plan->page[i];

		if (addr < dma->base || (addr - dma->base) / dma->page_bytes >= dma->npages)
			return o2_refuse(error, -EINVAL, "bind/page-outside-device", "page[]", i, addr,
					 dma->base + (uint64_t)dma->npages * dma->page_bytes);
		if ((addr - dma->base) % dma->page_bytes != 0)
			return o2_refuse(error, -EINVAL, "bind/page-alignment", "page[]", i, addr,
					 dma->page_bytes);
		page[i] = (uint32_t)((addr - dma->base) / dma->page_bytes);
		if (dma->kind == O2_DMA_IOMMU)
			page[i] = domain->arena->view[O2_ARENA_IOMMU_VIEW].page[page[i]];
	}
	return 0;
}

/* The bytes must lie in the listed pages, and iova must have their offset in the page: devices demand it. */
static int check_range(const struct o2_reg_plan *plan, struct o2_error *error)
{
	uint64_t room;

	if (plan->npages == 0 || plan->npages > O2_MAX_FRAGS)
		return o2_refuse(error, -EINVAL, "bind/npages", "npages", O2_NO_INDEX, plan->npages,
				 O2_MAX_FRAGS);
	if (plan->page_offset >= plan->page_bytes)
		return o2_refuse(error, -EINVAL, "bind/page-offset", "page_offset", O2_NO_INDEX,
				 plan->page_offset, plan->page_bytes - 1);
	if (plan->iova % plan->page_bytes != plan->page_offset)
		return o2_refuse(error, -EINVAL, "bind/iova-not-congruent", "iova", O2_NO_INDEX, plan->iova,
				 plan->page_offset);
	room = (uint64_t)plan->npages * plan->page_bytes - plan->page_offset;
	if (plan->length == 0 || plan->length > room)
		return o2_refuse(error, -EINVAL, "bind/length", "length", O2_NO_INDEX, plan->length, room);
	return 0;
}

int o2_reg_window_mr(struct o2_reg_domain *domain, const struct o2_reg_plan *plan, int access,
		     struct o2_binding *binding, struct o2_error *error)
{
	uint32_t page[O2_MAX_FRAGS];
	int rc = check_range(plan, error);

	if (rc == 0)
		rc = find_pages(domain, plan, page, error);
	if (rc == 0)
		rc = o2_arena_window_open(domain->arena, page, plan->npages, &binding->window, error);
	if (rc != 0)
		return rc;
	rc = o2_reg_region(domain->pd, binding->window.addr + plan->page_offset, plan->length, plan->iova,
			   access, &binding->mr, error);
	if (rc != 0)
		o2_arena_window_close(domain->arena, &binding->window);
	return rc;
}

int o2_reg_bind_pages(struct o2_reg_domain *domain, const struct o2_reg_plan *plan,
		      struct o2_binding *binding, struct o2_error *error)
{
	int rc = o2_reg_window_mr(domain, plan, o2_reg_access_flags(plan->access), binding, error);

	if (rc != 0)
		return rc;
	binding->key = plan->side == O2_SOURCE ? binding->mr->lkey : binding->mr->rkey;
	binding->state = O2_BINDING_READY;
	return 0;
}

/*
 * Mode fmr, strict: a region of its own for every transfer, gone with the transfer.  The region is exactly
 * as long as the bytes, so that the device refuses the one before and the one after (docs/modes.md, "fmr").
 */
int o2_reg_bind_fmr(struct o2_reg_domain *domain, const struct o2_reg_plan *plan, struct o2_binding *binding,
		    struct o2_error *error)
{
	return o2_reg_bind_pages(domain, plan, binding, error);
}
