/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>

#include "base/breaks.h"
#include "reg/bind_modes.h"

/*
 * What stands in for an FMR on user-space verbs (docs/modes.md, "fmr"): a region that is registered when it
 * is mapped, over a window of the arena, and deregistered when it is unmapped or mapped anew.
 */

static int create(void *context, uint64_t device, uint32_t max_pages, uint32_t page_bytes, void **handle,
		  struct o2_error *error)
{
	(void)context;
	(void)device;
	(void)max_pages;
	(void)page_bytes;
	*handle = calloc(1, sizeof(struct o2_region));
	if (*handle == NULL)
		return o2_refuse(error, -ENOMEM, "bind/fmr/memory", "bytes", O2_NO_INDEX,
				 sizeof(struct o2_region), O2_NO_LIMIT);
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

/* A region that the device will not take back is beyond help: the account keeps it, and its window is not
 * used again. */
static void destroy(void *context, void *handle)
{
	(void)end_mapping(context, handle);
	free(handle);
}

static int map(void *context, void *handle, const struct o2_fmr_request *request, uint32_t *lkey,
	       uint32_t *rkey, struct o2_error *error)
{
	struct o2_reg_domain *domain = context;
	struct o2_region *region = handle;
	/* Exactly the bytes, so that the device refuses the one before and the one after. */
	uint32_t early = o2_breaks("reg/exact-start", true) ? 0 : 1;
	uint32_t late = o2_breaks("reg/exact-length", true) ? 0 : 1;
	const struct o2_page_bytes bytes = {request->pages, request->npages, request->page_offset - early,
					    request->iova + request->page_offset - early,
					    request->length + early + late};
	int rc = end_mapping(domain, region);

	if (rc != 0)
		return o2_refuse(error, rc, "bind/deregister", "npages", O2_NO_INDEX, request->npages,
				 O2_NO_LIMIT);
	rc = o2_reg_region_of_pages(domain, &bytes, o2_reg_access_flags(request->access), region, error);
	if (rc != 0)
		return rc;
	domain->live.fmr_regions++;
	*lkey = region->mr->lkey;
	*rkey = region->mr->rkey;
	return 0;
}

/* Those before the one that fails are unmapped, which does no harm when the call is repeated. */
static int unmap(void *context, void *const *handles, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		int rc = end_mapping(context, handles[i]);

		if (rc != 0)
			return rc;
	}
	return 0;
}

const struct o2_fmr_ops o2_reg_verbs_fmr = {create, destroy, map, unmap};
