/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "mem/kmap.h"
#include "reg/domain.h"
#include "reg/mode.h"

/*
 * Mode fastreg_gaps: a region made of byte ranges, which are the segments unchanged.  Byte k of the transfer
 * lies at the device address of the first byte + k; always one fragment.  Page boundaries do not matter
 * (docs/modes.md, "fastreg_gaps").
 *
 * If the device can register such a region, its own call is used; else a contiguous buffer (staging) stands
 * in. Everything else is as in mode fastreg, except the pool set.
 */

/* A region holds at most max_pages entries, as many as a page list has pages. */
static int plan_fastreg_gaps(const struct o2_reg_request *request, const struct o2_dma_list *segments,
			     uint32_t total, struct o2_reg_plan *plan, struct o2_error *error)
{
	if (segments->count > request->max_pages)
		return o2_refuse_value(error, -EINVAL, "reg/fastreg_gaps/too-many-entries", "count",
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

/* The address in this process of a byte range of the device, for this side; NULL: outside the device. */
static uint8_t *host_range(const struct o2_reg_domain *domain, enum o2_side side,
			   const struct o2_dma_segment *range)
{
	const struct o2_dma_device *dma = &domain->dma;
	uint64_t size = (uint64_t)dma->npages * dma->page_bytes;

	if (range->addr < dma->base || range->addr - dma->base >= size ||
	    range->length > size - (range->addr - dma->base))
		return NULL;
	return o2_reg_device_memory(domain, side) + (range->addr - dma->base);
}

int o2_reg_check_ranges(const struct o2_reg_domain *domain, const struct o2_reg_plan *plan,
			struct o2_error *error)
{
	uint64_t total = 0;

	if (plan->nentries == 0 || plan->nentries > O2_MAX_FRAGS)
		return o2_refuse_value(error, -EINVAL, "bind/nentries", "nentries", plan->nentries,
				       O2_MAX_FRAGS);
	for (uint32_t i = 0; i < plan->nentries; i++) {
		if (plan->entry[i].length == 0 || host_range(domain, plan->side, &plan->entry[i]) == NULL)
			return o2_refuse(error, -EINVAL, "bind/entry-outside-device", "entry[].addr", i,
					 plan->entry[i].addr, domain->dma.base);
		total += plan->entry[i].length;
	}
	if (plan->length != total || total > O2_MAX_TRANSFER_BYTES)
		return o2_refuse_value(error, -EINVAL, "bind/length", "length", plan->length, total);
	return 0;
}

static int own_region(struct o2_reg_domain *domain, const struct o2_reg_plan *plan, int access,
		      struct o2_region *region, struct o2_error *error)
{
	struct ibv_sge entry[O2_MAX_FRAGS];

	for (uint32_t i = 0; i < plan->nentries; i++)
		entry[i] = (struct ibv_sge){
			.addr = (uintptr_t)host_range(domain, plan->side, &plan->entry[i]),
			.length = plan->entry[i].length,
		};
	errno = 0;
	region->mr = domain->reg_gaps(domain->pd, entry, plan->nentries, plan->iova, (unsigned int)access);
	if (region->mr == NULL)
		return o2_fail(error, o2_errno_or(errno, EIO), "bind/register", "length", plan->length);
	domain->live.regions++;
	domain->live.pinned_bytes += region->mr->length;
	return 0;
}

/*
 * Staging: a contiguous buffer that stands in for byte ranges: filled from a source before the transfer,
 * copied to a sink after it.  It holds the largest transfer, with the first byte anywhere in its page.
 */
struct o2_staging {
	uint8_t *memory;
	uint64_t size;
	uint32_t page_offset; /* offset of the first byte in its page */
	uint32_t nentries;
	struct o2_dma_segment entry[O2_MAX_FRAGS];
};

static uint32_t page_of(const struct o2_reg_domain *domain, uint64_t addr)
{
	const uint32_t page = (uint32_t)((addr - domain->dma.base) / domain->dma.page_bytes);

	return domain->dma.kind == O2_DMA_IOMMU ? domain->arena->view[O2_ARENA_IOMMU_VIEW].page[page] : page;
}

/* Copy `length` bytes between the staging memory (at) and pages (addr), by the CPU. */
static int copy_pages(const struct o2_reg_domain *domain, uint8_t *at, uint64_t addr, uint64_t length,
		      enum o2_side side, struct o2_error *error)
{
	const uint32_t page_bytes = domain->dma.page_bytes;
	int rc = 0;

	for (uint32_t n; rc == 0 && length > 0; at += n, addr += n, length -= n) {
		const uint32_t page = page_of(domain, addr);
		const uint32_t offset = (uint32_t)(addr % page_bytes);

		n = length < page_bytes - offset ? (uint32_t)length : page_bytes - offset;
		rc = side == O2_SOURCE ? o2_kmap_read(domain->arena, page, offset, at, n, error)
				       : o2_kmap_write(domain->arena, page, offset, at, n, error);
	}
	return rc;
}

/* The same on a device that bounces: copy between the staging memory and the bounce pages. */
static void copy_seen(const struct o2_reg_domain *domain, uint8_t *at, const struct o2_dma_segment *range,
		      uint64_t length, enum o2_side side)
{
	uint8_t *host = host_range(domain, side, range);

	assert(host != NULL); /* o2_reg_check_ranges */
	if (side == O2_SOURCE)
		memcpy(at, host, length);
	else
		memcpy(host, at, length);
}

/* Copy the first nob bytes of the entries: into the staging memory for a source, out of it for a sink. */
static int copy_entries(const struct o2_reg_domain *domain, const struct o2_staging *staging, uint64_t nob,
			enum o2_side side, struct o2_error *error)
{
	uint8_t *at = staging->memory + staging->page_offset;
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < staging->nentries && nob > 0; i++) {
		const struct o2_dma_segment *range = &staging->entry[i];
		const uint64_t length = range->length < nob ? range->length : nob;

		if (domain->bounce)
			copy_seen(domain, at, range, length, side);
		else
			rc = copy_pages(domain, at, range->addr, length, side, error);
		at += length;
		nob -= length;
	}
	return rc;
}

/* Take an idle staging buffer or make a new one.  NULL: no memory; *error holds -ENOMEM. */
static struct o2_staging *take_staging(struct o2_reg_domain *domain, struct o2_error *error)
{
	struct o2_staging *staging;
	void *memory;

	pthread_mutex_lock(&domain->lock);
	staging = domain->nidle_staging > 0 ? domain->idle_staging[--domain->nidle_staging] : NULL;
	pthread_mutex_unlock(&domain->lock);
	if (staging != NULL)
		return staging;
	staging = calloc(1, sizeof(*staging));
	if (staging == NULL) {
		o2_fail(error, -ENOMEM, "bind/fastreg_gaps/staging", "bytes", sizeof(*staging));
		return NULL;
	}
	staging->size = O2_MAX_TRANSFER_BYTES + domain->dma.page_bytes;
	memory = mmap(NULL, staging->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED) {
		free(staging);
		o2_fail(error, -ENOMEM, "bind/fastreg_gaps/staging", "bytes", O2_MAX_TRANSFER_BYTES);
		return NULL;
	}
	staging->memory = memory;
	return staging;
}

static void free_staging(struct o2_staging *staging)
{
	munmap(staging->memory, staging->size);
	free(staging);
}

void o2_reg_staging_release(struct o2_reg_domain *domain, struct o2_staging *staging)
{
	bool kept;

	pthread_mutex_lock(&domain->lock);
	kept = domain->nidle_staging < O2_DOMAIN_STAGINGS;
	if (kept)
		domain->idle_staging[domain->nidle_staging++] = staging;
	pthread_mutex_unlock(&domain->lock);
	if (!kept)
		free_staging(staging);
}

void o2_reg_staging_close(struct o2_reg_domain *domain)
{
	while (domain->nidle_staging > 0)
		free_staging(domain->idle_staging[--domain->nidle_staging]);
}

static int staged_region(struct o2_reg_domain *domain, const struct o2_reg_plan *plan, int access,
			 struct o2_region *region, struct o2_error *error)
{
	struct o2_staging *staging = take_staging(domain, error);
	int rc = 0;

	if (staging == NULL)
		return -ENOMEM;
	staging->page_offset = (uint32_t)(plan->iova % domain->dma.page_bytes);
	staging->nentries = plan->nentries;
	memcpy(staging->entry, plan->entry, plan->nentries * sizeof(plan->entry[0]));
	if (plan->side == O2_SOURCE)
		rc = copy_entries(domain, staging, plan->length, O2_SOURCE, error);
	if (rc == 0)
		rc = o2_reg_region_make(domain, staging->memory + staging->page_offset, plan->length,
					plan->iova, access, &region->mr, error);
	if (rc == 0)
		region->staging = staging;
	else
		o2_reg_staging_release(domain, staging);
	return rc;
}

int o2_reg_region_of_ranges(struct o2_reg_domain *domain, const struct o2_reg_plan *plan, int access,
			    struct o2_region *region, struct o2_error *error)
{
	*region = (struct o2_region){.mr = NULL};
	return o2_reg_has_gaps(domain) ? own_region(domain, plan, access, region, error)
				       : staged_region(domain, plan, access, region, error);
}

static int deliver_staged(const struct o2_reg_domain *domain, const struct o2_binding *binding, uint64_t nob,
			  struct o2_error *error)
{
	const struct o2_descriptor *descriptor = binding->frd->handle;

	if (descriptor->region.staging == NULL || binding->side != O2_SINK)
		return 0;
	return copy_entries(domain, descriptor->region.staging, nob < binding->length ? nob : binding->length,
			    O2_SINK, error);
}

const struct o2_reg_mode_ops o2_reg_mode_fastreg_gaps = {
	.plan = plan_fastreg_gaps,
	.bind = o2_reg_bind_fastreg,
	.deliver = deliver_staged,
	.release = o2_reg_release_fastreg,
};
