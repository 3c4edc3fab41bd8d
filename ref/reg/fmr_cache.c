/* SPDX-License-Identifier: MIT */
#include "reg/fmr_cache.h"

#include <string.h>

/* A list is known by its first page, until all of it is compared. */
static struct o2_fmr **bucket(struct o2_fmr_pool *pool, uint32_t page_bytes, uint64_t first_page)
{
	const uint64_t number = first_page / page_bytes;

	return &pool->bucket[(number ^ number >> 8 ^ number >> 24) % O2_FMR_BUCKETS];
}

void o2_fmr_cache_drop(const struct o2_fmr_config *config, struct o2_fmr_pool *pool, struct o2_fmr *fmr)
{
	struct o2_fmr **link;

	if (!fmr->cached)
		return;
	link = bucket(pool, config->page_bytes, fmr->pages[0]);
	while (*link != fmr)
		link = &(*link)->next_cached;
	*link = fmr->next_cached;
	fmr->cached = false;
}

static bool same_list(const struct o2_fmr *fmr, const struct o2_fmr_request *request)
{
	const struct o2_fmr_request *mapped = &fmr->mapped;

	return mapped->iova == request->iova && mapped->npages == request->npages &&
	       mapped->page_offset == request->page_offset && mapped->length == request->length &&
	       mapped->access == request->access &&
	       memcmp(fmr->pages, request->pages, request->npages * sizeof(uint64_t)) == 0;
}

struct o2_fmr *o2_fmr_cache_find(const struct o2_fmr_config *config, struct o2_fmr_pool *pool,
				 const struct o2_fmr_request *request)
{
	struct o2_fmr *fmr = *bucket(pool, config->page_bytes, request->pages[0]);

	while (fmr != NULL && !same_list(fmr, request))
		fmr = fmr->next_cached;
	return fmr;
}

void o2_fmr_cache_add(const struct o2_fmr_config *config, struct o2_fmr_pool *pool, struct o2_fmr *fmr,
		      const struct o2_fmr_request *request)
{
	struct o2_fmr **link = bucket(pool, config->page_bytes, request->pages[0]);

	memcpy(fmr->pages, request->pages, request->npages * sizeof(uint64_t));
	fmr->next_cached = *link;
	*link = fmr;
	fmr->cached = true;
}
