/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "reg/domain.h"

/*
 * A contiguous buffer in place of byte ranges (docs/modes.md, "fastreg_gaps"): filled from a source before
 * the transfer, emptied to a sink after it.
 */

/* The largest transfer, and the first byte anywhere in its page. */
struct o2_staging {
	uint8_t *memory;
	uint64_t size;
	uint32_t page_offset; /* of the first byte */
	uint32_t nentries;
	struct o2_dma_segment entry[O2_MAX_FRAGS];
};

/* Let bytes run between the staging memory and the first nob bytes of the entries. */
static void copy_entries(const struct o2_reg_domain *domain, const struct o2_staging *staging, uint64_t nob,
			 bool gather)
{
	uint8_t *at = staging->memory + staging->page_offset;

	for (uint32_t i = 0; i < staging->nentries && nob > 0; i++) {
		uint8_t *host = o2_reg_host_range(domain, &staging->entry[i]);
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

	pthread_mutex_lock(&domain->lock);
	*out = domain->nidle_staging > 0 ? domain->idle_staging[--domain->nidle_staging] : NULL;
	pthread_mutex_unlock(&domain->lock);
	if (*out != NULL)
		return 0;
	staging = calloc(1, sizeof(*staging));
	if (staging == NULL)
		return o2_refuse(error, -ENOMEM, "bind/fastreg_gaps/staging", "bytes", O2_NO_INDEX,
				 sizeof(*staging), O2_NO_LIMIT);
	staging->size = O2_MAX_TRANSFER_BYTES + domain->dma.page_bytes;
	memory = mmap(NULL, staging->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED) {
		free(staging);
		return o2_refuse(error, -ENOMEM, "bind/fastreg_gaps/staging", "bytes", O2_NO_INDEX,
				 O2_MAX_TRANSFER_BYTES, O2_NO_LIMIT);
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

void o2_reg_staging_release(struct o2_reg_domain *domain, struct o2_staging **staging)
{
	if (*staging == NULL)
		return;
	pthread_mutex_lock(&domain->lock);
	if (domain->nidle_staging < O2_DOMAIN_STAGINGS) {
		domain->idle_staging[domain->nidle_staging++] = *staging;
		*staging = NULL;
	}
	pthread_mutex_unlock(&domain->lock);
	if (*staging != NULL)
		free_staging(*staging);
	*staging = NULL;
}

void o2_reg_staging_close(struct o2_reg_domain *domain)
{
	while (domain->nidle_staging > 0)
		free_staging(domain->idle_staging[--domain->nidle_staging]);
}

int o2_reg_region_staged(struct o2_reg_domain *domain, const struct o2_reg_plan *plan, int access,
			 struct o2_region *region, struct o2_error *error)
{
	struct o2_staging *staging;
	int rc = take_staging(domain, &region->staging, error);

	if (rc != 0)
		return rc;
	staging = region->staging;
	staging->page_offset = (uint32_t)(plan->iova % domain->dma.page_bytes);
	staging->nentries = plan->nentries;
	memcpy(staging->entry, plan->entry, plan->nentries * sizeof(plan->entry[0]));
	if (plan->side == O2_SOURCE)
		copy_entries(domain, staging, plan->length, true);
	rc = o2_reg_region_make(domain, staging->memory + staging->page_offset, plan->length, plan->iova,
				access, &region->mr, error);
	if (rc != 0)
		o2_reg_staging_release(domain, &region->staging);
	return rc;
}

void o2_reg_staging_deliver(const struct o2_reg_domain *domain, const struct o2_staging *staging,
			    uint64_t nob)
{
	copy_entries(domain, staging, nob, false);
}
