/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>

#include "reg/bind_modes.h"

/*
 * What stands in for a fast-registration descriptor on user-space verbs (docs/modes.md, "fastreg"): a type 2
 * memory window, whose key counts on with every bind, and for each mapping a region under it.  The list that
 * is mapped is a plan.
 */

static int create(void *context, uint64_t device, uint32_t max_pages, bool gaps, struct o2_frd_object *object,
		  struct o2_error *error)
{
	struct o2_reg_domain *domain = context;
	struct o2_descriptor *descriptor = calloc(1, sizeof(*descriptor));

	(void)device;
	(void)max_pages;
	(void)gaps;
	if (descriptor == NULL)
		return o2_refuse(error, -ENOMEM, "bind/fastreg/memory", "bytes", O2_NO_INDEX,
				 sizeof(*descriptor), O2_NO_LIMIT);
	errno = 0;
	descriptor->mw = ibv_alloc_mw(domain->pd, IBV_MW_TYPE_2);
	if (descriptor->mw == NULL) {
		int code = errno != 0 ? -errno : -EIO;

		free(descriptor);
		return o2_refuse(error, code, "bind/fastreg/alloc-window", "windows", O2_NO_INDEX,
				 (uint64_t)domain->live.windows + 1, O2_NO_LIMIT);
	}
	domain->live.windows++;
	*object = (struct o2_frd_object){.handle = descriptor, .rkey = descriptor->mw->rkey};
	return 0;
}

static void unmap(void *context, void *handle)
{
	(void)o2_reg_region_release(context, &((struct o2_descriptor *)handle)->region);
}

/*
 * The window goes first: a region cannot be deregistered while a window is bound to it.  Deallocating it
 * kills its key, whatever became of the queue pair that bound it.
 */
static void destroy(void *context, void *handle)
{
	struct o2_reg_domain *domain = context;
	struct o2_descriptor *descriptor = handle;

	if (ibv_dealloc_mw(descriptor->mw) == 0)
		domain->live.windows--;
	unmap(context, handle);
	free(descriptor);
}

/* A sink's region is out of reach but through its window; a source's is its device's alone. */
static int map(void *context, void *handle, const struct o2_frd_request *request, uint32_t *lkey,
	       struct o2_error *error)
{
	struct o2_reg_domain *domain = context;
	struct o2_descriptor *descriptor = handle;
	const struct o2_reg_plan *plan = request->list;
	int access = plan->side == O2_SINK
			     ? o2_reg_access_flags(plan->access & O2_ACCESS_LOCAL_WRITE) | IBV_ACCESS_MW_BIND
			     : o2_reg_access_flags(plan->access);
	const struct o2_page_bytes bytes = o2_reg_page_bytes(plan);
	int rc;

	if (plan->mode == O2_REG_FASTREG_GAPS)
		rc = o2_reg_region_of_ranges(domain, plan, access, &descriptor->region, error);
	else
		rc = o2_reg_region_of_pages(domain, &bytes, access, &descriptor->region, error);
	if (rc != 0)
		return rc;
	*lkey = descriptor->region.mr->lkey;
	return (int)request->entries;
}

const struct o2_frd_ops o2_reg_verbs_frd = {create, destroy, map, unmap};
