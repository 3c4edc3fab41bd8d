/* SPDX-License-Identifier: MIT */
#include "reg/region.h"

#include <errno.h>
#include <stddef.h>
#include <sys/resource.h>

#include "reg/domain.h"

struct o2_page_bytes o2_reg_page_bytes(const struct o2_reg_plan *plan)
{
	return (struct o2_page_bytes){plan->page, plan->npages, plan->page_offset, plan->iova, plan->length};
}

int o2_reg_access_flags(uint32_t plan_access)
{
	return (plan_access & O2_ACCESS_LOCAL_WRITE ? IBV_ACCESS_LOCAL_WRITE : 0) |
	       (plan_access & O2_ACCESS_REMOTE_WRITE ? IBV_ACCESS_REMOTE_WRITE : 0);
}

int o2_reg_mr(const struct o2_reg_verbs *verbs, struct ibv_pd *pd, void *addr, uint64_t length, uint64_t iova,
	      int access, struct ibv_mr **mr, struct o2_error *error)
{
	struct rlimit limit = {.rlim_cur = RLIM_INFINITY};
	int code;

	errno = 0;
	*mr = verbs->reg_mr(pd, addr, length, iova, (unsigned int)access);
	if (*mr != NULL)
		return 0;
	code = o2_errno_or(errno, EIO);
	if (code == -ENOMEM || code == -EAGAIN)
		getrlimit(RLIMIT_MEMLOCK, &limit);
	if (limit.rlim_cur != RLIM_INFINITY)
		return o2_refuse_value(error, -ENOMEM, "bind/memlock",
				       "bytes to lock in memory (RLIMIT_MEMLOCK, ulimit -l)", length,
				       limit.rlim_cur);
	return o2_fail(error, code, "bind/register", "length", length);
}

int o2_reg_region_make(struct o2_reg_domain *domain, void *addr, uint64_t length, uint64_t iova, int access,
		       struct ibv_mr **mr, struct o2_error *error)
{
	int rc = o2_reg_mr(domain->verbs, domain->pd, addr, length, iova, access, mr, error);

	if (rc != 0)
		return rc;
	domain->live.regions++;
	domain->live.pinned_bytes += (*mr)->length;
	return 0;
}

int o2_reg_region_end(struct o2_reg_domain *domain, struct ibv_mr **mr)
{
	uint64_t length;
	int rc;

	if (*mr == NULL)
		return 0;
	length = (*mr)->length;
	rc = domain->verbs->dereg_mr(*mr);
	if (rc != 0)
		return o2_errno_or(rc, EIO);
	*mr = NULL;
	domain->live.regions--;
	domain->live.pinned_bytes -= length;
	return 0;
}

static void give_window(struct o2_reg_domain *domain, struct o2_arena_window *window)
{
	pthread_mutex_lock(&domain->lock);
	o2_arena_window_close(domain->arena, window);
	pthread_mutex_unlock(&domain->lock);
}

int o2_reg_region_release(struct o2_reg_domain *domain, struct o2_region *region)
{
	int rc = o2_reg_region_end(domain, &region->mr);

	/* The memory under a key that may still be alive must not be reused. */
	if (rc != 0)
		return rc;
	if (region->staging != NULL)
		o2_reg_staging_release(domain, region->staging);
	give_window(domain, &region->window);
	*region = (struct o2_region){.mr = NULL};
	return 0;
}

uint8_t *o2_reg_device_memory(const struct o2_reg_domain *domain, enum o2_side side)
{
	const enum o2_dma_direction direction = o2_dma_direction_of(side);
	const struct o2_arena *arena = domain->arena;

	/* An IOMMU sees the pages in the order of its remapping; other devices see them in page order. */
	if (domain->dma.kind != O2_DMA_IOMMU)
		return o2_arena_page(arena, domain->bounce ? o2_arena_bounce(arena, direction, 0) : 0);
	return domain->bounce ? arena->bounce_view[direction]
			      : (uint8_t *)(uintptr_t)arena->view[O2_ARENA_IOMMU_VIEW].base;
}

/* Find the page numbers of the device addresses.  page must hold O2_MAX_FRAGS numbers. */
static int find_pages(const struct o2_reg_domain *domain, const struct o2_page_bytes *bytes, uint32_t *page,
		      struct o2_error *error)
{
	const struct o2_dma_device *dma = &domain->dma;

	for (uint32_t i = 0; i < bytes->npages; i++) {
		uint64_t addr = bytes->page[i];

		if (addr < dma->base || (addr - dma->base) / dma->page_bytes >= dma->npages)
			return o2_refuse(error, -EINVAL, "bind/page-outside-device", "page[]", i, addr,
					 dma->base + (uint64_t)dma->npages * dma->page_bytes);
		if ((addr - dma->base) % dma->page_bytes != 0)
			return o2_limit_is(o2_refuse(error, -EINVAL, "bind/page-alignment", "page[]", i, addr,
						     dma->page_bytes),
					   O2_LIMIT_MULTIPLE, error);
		page[i] = (uint32_t)((addr - dma->base) / dma->page_bytes);
		if (dma->kind == O2_DMA_IOMMU)
			page[i] = domain->arena->view[O2_ARENA_IOMMU_VIEW].page[page[i]];
	}
	return 0;
}

int o2_reg_page_ranges(const struct o2_reg_domain *domain, const struct o2_page_bytes *bytes,
		       enum o2_side side, struct ibv_sge *entry, struct o2_error *error)
{
	const enum o2_dma_direction direction = o2_dma_direction_of(side);
	const uint32_t page_bytes = domain->dma.page_bytes;
	uint64_t left = bytes->length;
	uint32_t page[O2_MAX_FRAGS];
	int rc = find_pages(domain, bytes, page, error);

	for (uint32_t i = 0; i < bytes->npages && rc == 0; i++) {
		const uint32_t skip = i == 0 ? bytes->page_offset : 0;
		const uint64_t length = left < page_bytes - skip ? left : page_bytes - skip;
		const uint32_t seen =
			domain->bounce ? o2_arena_bounce(domain->arena, direction, page[i]) : page[i];

		entry[i] = (struct ibv_sge){
			.addr = (uintptr_t)o2_arena_page(domain->arena, seen) + skip,
			.length = (uint32_t)length,
		};
		left -= length;
	}
	return rc;
}

int o2_reg_check_bytes(const struct o2_reg_domain *domain, const struct o2_page_bytes *bytes,
		       struct o2_error *error)
{
	const uint32_t page_bytes = domain->dma.page_bytes;
	uint64_t room;

	if (bytes->npages == 0 || bytes->npages > O2_MAX_FRAGS)
		return o2_refuse_value(error, -EINVAL, "bind/npages", "npages", bytes->npages, O2_MAX_FRAGS);
	if (bytes->page_offset >= page_bytes)
		return o2_refuse_value(error, -EINVAL, "bind/page-offset", "page_offset", bytes->page_offset,
				       page_bytes - 1);
	if (bytes->iova % page_bytes != bytes->page_offset)
		return o2_fail(error, -EINVAL, "bind/iova-not-congruent", "iova", bytes->iova);
	room = (uint64_t)bytes->npages * page_bytes - bytes->page_offset;
	if (bytes->length == 0 || bytes->length > room)
		return o2_refuse_value(error, -EINVAL, "bind/length", "length", bytes->length, room);
	return 0;
}

/* If no window is free, flush what mode fmr keeps, and retry.  Another thread may take the freed window. */
static int open_window(struct o2_reg_domain *domain, const uint32_t *page, uint32_t npages,
		       struct o2_arena_window *window, struct o2_error *error)
{
	int rc;

	for (bool flushed = false;; flushed = true) {
		pthread_mutex_lock(&domain->lock);
		rc = o2_arena_window_open(domain->arena, page, npages, window, error);
		pthread_mutex_unlock(&domain->lock);
		if (rc != -ENOBUFS || flushed || domain->live.fmr_regions == 0)
			return rc;
		o2_reg_flush(domain);
	}
}

bool o2_reg_window_free(struct o2_reg_domain *domain)
{
	bool is_free;

	for (bool flushed = false;; flushed = true) {
		pthread_mutex_lock(&domain->lock);
		is_free = domain->arena->windows_in_use < domain->arena->nwindows &&
			  domain->nbound < domain->max_bound;
		pthread_mutex_unlock(&domain->lock);
		if (is_free || flushed || domain->live.fmr_regions == 0)
			return is_free;
		o2_reg_flush(domain);
	}
}

void o2_reg_keep_windows(struct o2_reg_domain *domain, uint32_t windows)
{
	pthread_mutex_lock(&domain->lock);
	domain->arena->windows_kept = windows;
	pthread_mutex_unlock(&domain->lock);
}

int o2_reg_region_of_pages(struct o2_reg_domain *domain, const struct o2_page_bytes *bytes, int access,
			   struct o2_region *region, struct o2_error *error)
{
	uint32_t page[O2_MAX_FRAGS];
	int rc = find_pages(domain, bytes, page, error);

	*region = (struct o2_region){.mr = NULL};
	return rc == 0 ? o2_reg_region_of_numbers(domain, page, bytes, access, region, error) : rc;
}

int o2_reg_region_of_numbers(struct o2_reg_domain *domain, const uint32_t *page,
			     const struct o2_page_bytes *bytes, int access, struct o2_region *region,
			     struct o2_error *error)
{
	/* The device writes to the bounce pages that are copied back (O2_DMA_FROM_DEVICE). */
	const enum o2_dma_direction direction =
		(access & IBV_ACCESS_LOCAL_WRITE) != 0 ? O2_DMA_FROM_DEVICE : O2_DMA_TO_DEVICE;
	uint32_t seen[O2_MAX_FRAGS];
	int rc;

	for (uint32_t i = 0; i < bytes->npages; i++)
		seen[i] = domain->bounce ? o2_arena_bounce(domain->arena, direction, page[i]) : page[i];
	*region = (struct o2_region){.mr = NULL};
	rc = open_window(domain, seen, bytes->npages, &region->window, error);
	if (rc != 0)
		return rc;
	rc = o2_reg_region_make(domain, region->window.addr + bytes->page_offset, bytes->length, bytes->iova,
				access, &region->mr, error);
	if (rc != 0)
		give_window(domain, &region->window);
	return rc;
}
