/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "loopverbs/loopverbs.h"
#include "reg/bind_modes.h"

/*
 * Mode fastreg_gaps on user-space verbs (docs/modes.md, "fastreg_gaps"): a region of byte ranges where the
 * device offers one, else a contiguous region in their place, filled before and emptied after the transfer.
 * The life of the key is that of mode fastreg.
 */

/* Not a part of libibverbs: whether it is there is found out when the program is loaded. */
#pragma weak o2_loop_reg_gaps

/* A contiguous region's memory: the largest transfer, and the first byte anywhere in its page. */
struct o2_staging {
	uint8_t *memory;
	uint64_t size;
	uint32_t nentries;
	struct o2_dma_segment entry[O2_MAX_FRAGS];
};

bool o2_reg_has_gaps(const struct o2_reg_domain *domain)
{
	return o2_loop_reg_gaps != NULL && !domain->gaps_by_staging;
}

/* The address in this process of a byte range of the device; NULL when it lies outside. */
static uint8_t *host_range(const struct o2_reg_domain *domain, const struct o2_dma_segment *range)
{
	const struct o2_dma_device *dma = &domain->dma;
	uint64_t size = (uint64_t)dma->npages * dma->page_bytes;
	uint32_t view = dma->kind == O2_DMA_IOMMU ? O2_ARENA_IOMMU_VIEW : 0;

	if (range->addr < dma->base || range->addr - dma->base >= size ||
	    range->length > size - (range->addr - dma->base))
		return NULL;
	return (uint8_t *)(uintptr_t)domain->arena->view[view].base + (range->addr - dma->base);
}

static int check_entries(const struct o2_reg_domain *domain, const struct o2_reg_plan *plan,
			 struct o2_error *error)
{
	uint64_t total = 0;

	if (plan->nentries == 0 || plan->nentries > O2_MAX_FRAGS)
		return o2_refuse(error, -EINVAL, "bind/nentries", "nentries", O2_NO_INDEX, plan->nentries,
				 O2_MAX_FRAGS);
	for (uint32_t i = 0; i < plan->nentries; i++) {
		if (plan->entry[i].length == 0 || host_range(domain, &plan->entry[i]) == NULL)
			return o2_refuse(error, -EINVAL, "bind/entry-outside-device", "entry[].addr", i,
					 plan->entry[i].addr, domain->dma.base);
		total += plan->entry[i].length;
	}
	if (plan->length != total || total > O2_MAX_TRANSFER_BYTES)
		return o2_refuse(error, -EINVAL, "bind/length", "length", O2_NO_INDEX, plan->length, total);
	return 0;
}

/* Let bytes run between the staging memory and the first nob bytes of the entries. */
static void copy_entries(const struct o2_reg_domain *domain, const struct o2_binding *binding, uint64_t nob,
			 bool gather)
{
	const struct o2_staging *staging = binding->staging;
	uint8_t *at = staging->memory + binding->iova % domain->dma.page_bytes;

	for (uint32_t i = 0; i < staging->nentries && nob > 0; i++) {
		uint8_t *host = host_range(domain, &staging->entry[i]);
		uint64_t length = staging->entry[i].length < nob ? staging->entry[i].length : nob;

		if (gather)
			memcpy(at, host, length);
		else
			memcpy(host, at, length);
		at += length;
		nob -= length;
	}
}

static int take_staging(struct o2_reg_domain *domain, struct o2_staging **out, struct o2_error *error)
{
	struct o2_staging *staging;
	void *memory;

	if (domain->nidle_staging > 0) {
		*out = domain->idle_staging[--domain->nidle_staging];
		return 0;
	}
	staging = calloc(1, sizeof(*staging));
	if (staging == NULL)
		return o2_refuse(error, -ENOMEM, "bind/fastreg_gaps/staging", "bytes", O2_NO_INDEX,
				 sizeof(*staging), 0);
	staging->size = O2_MAX_TRANSFER_BYTES + domain->dma.page_bytes;
	memory = mmap(NULL, staging->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED) {
		free(staging);
		return o2_refuse(error, -ENOMEM, "bind/fastreg_gaps/staging", "bytes", O2_NO_INDEX,
				 O2_MAX_TRANSFER_BYTES, 0);
	}
	staging->memory = memory;
	*out = staging;
	return 0;
}

static void free_staging(struct o2_staging *staging)
{
	munmap(staging->memory, staging->size);
	free(staging);
}

void o2_reg_staging_release(struct o2_reg_domain *domain, struct o2_binding *binding)
{
	struct o2_staging *staging = binding->staging;

	if (staging == NULL)
		return;
	if (domain->nidle_staging < O2_DOMAIN_STAGINGS)
		domain->idle_staging[domain->nidle_staging++] = staging;
	else
		free_staging(staging);
	binding->staging = NULL;
}

void o2_reg_staging_close(struct o2_reg_domain *domain)
{
	while (domain->nidle_staging > 0)
		free_staging(domain->idle_staging[--domain->nidle_staging]);
}

static int staging_mr(struct o2_reg_domain *domain, const struct o2_reg_plan *plan, int access,
		      struct o2_binding *binding, struct o2_error *error)
{
	int rc = take_staging(domain, &binding->staging, error);

	if (rc != 0)
		return rc;
	binding->staging->nentries = plan->nentries;
	memcpy(binding->staging->entry, plan->entry, plan->nentries * sizeof(plan->entry[0]));
	if (plan->side == O2_SOURCE)
		copy_entries(domain, binding, plan->length, true);
	rc = o2_reg_region(domain->pd, binding->staging->memory + plan->iova % domain->dma.page_bytes,
			   plan->length, plan->iova, access, &binding->mr, error);
	if (rc != 0)
		o2_reg_staging_release(domain, binding);
	return rc;
}

static int gaps_mr(struct o2_reg_domain *domain, const struct o2_reg_plan *plan, int access,
		   struct o2_binding *binding, struct o2_error *error)
{
	struct ibv_sge entry[O2_MAX_FRAGS];
	int rc = check_entries(domain, plan, error);

	if (rc != 0)
		return rc;
	if (!o2_reg_has_gaps(domain))
		return staging_mr(domain, plan, access, binding, error);
	for (uint32_t i = 0; i < plan->nentries; i++)
		entry[i] = (struct ibv_sge){
			.addr = (uintptr_t)host_range(domain, &plan->entry[i]),
			.length = plan->entry[i].length,
		};
	errno = 0;
	binding->mr = o2_loop_reg_gaps(domain->pd, entry, plan->nentries, plan->iova, (unsigned int)access);
	if (binding->mr == NULL)
		return o2_refuse(error, errno != 0 ? -errno : -EIO, "bind/register", "length", O2_NO_INDEX,
				 plan->length, UINT64_MAX - plan->iova);
	return 0;
}

int o2_reg_bind_fastreg_gaps(struct o2_reg_domain *domain, const struct o2_reg_plan *plan,
			     struct o2_binding *binding, struct o2_error *error)
{
	int rc = o2_reg_bind_keyed(domain, plan, gaps_mr, binding, error);

	if (rc != 0)
		o2_reg_staging_release(domain, binding);
	return rc;
}

void o2_reg_deliver(const struct o2_reg_domain *domain, const struct o2_binding *binding, uint64_t nob)
{
	if (binding->staging != NULL && binding->side == O2_SINK)
		copy_entries(domain, binding, nob < binding->length ? nob : binding->length, false);
}
