/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>

#include "reg/domain.h"
#include "reg/mode.h"

/*
 * Mode fastreg in the kernel's order, on a device that can register by work requests: the pool's descriptors
 * are regions, and the chain in front of a message is {invalidate the old key, register under the new one}
 * (docs/modes.md, "fastreg").
 */

static int create_descriptor(void *context, uint64_t device, uint32_t max_pages, bool gaps,
			     struct o2_frd_object *object, struct o2_error *error)
{
	struct o2_reg_domain *domain = context;
	struct o2_descriptor *descriptor = calloc(1, sizeof(*descriptor));

	(void)device;
	(void)gaps;
	if (descriptor == NULL)
		return o2_refuse_value(error, -ENOMEM, "bind/fastreg/memory", "bytes", sizeof(*descriptor),
				       O2_NO_LIMIT);
	errno = 0;
	descriptor->fast = domain->fast->alloc(domain->pd, max_pages);
	if (descriptor->fast == NULL) {
		const int code = o2_errno_or(errno, EIO);

		free(descriptor);
		return o2_refuse_value(error, code, "bind/fastreg/alloc-region", "regions",
				       (uint64_t)domain->live.descriptor_regions + 1, O2_NO_LIMIT);
	}
	descriptor->calls = domain->fast;
	domain->live.regions++;
	domain->live.descriptor_regions++;
	*object = (struct o2_frd_object){
		.handle = descriptor,
		.lkey = descriptor->fast->lkey,
		.rkey = descriptor->fast->rkey,
	};
	return 0;
}

static void destroy_descriptor(void *context, void *handle)
{
	struct o2_reg_domain *domain = context;
	struct o2_descriptor *descriptor = handle;

	if (domain->verbs->dereg_mr(descriptor->fast) == 0) {
		domain->live.regions--;
		domain->live.descriptor_regions--;
	}
	free(descriptor);
}

static int map_descriptor(void *context, void *handle, const struct o2_frd_request *request, uint32_t *lkey,
			  struct o2_error *error)
{
	const struct o2_reg_domain *domain = context;
	struct o2_descriptor *descriptor = handle;
	const struct o2_page_bytes bytes = o2_reg_page_bytes(request->list);
	struct ibv_sge entry[O2_MAX_FRAGS];
	int rc = o2_reg_page_ranges(domain, &bytes, request->side, entry, error);

	(void)lkey; /* counted by the state of the key */
	if (rc != 0)
		return rc;
	rc = descriptor->calls->map(descriptor->fast, entry, bytes.npages, bytes.iova);
	if (rc < 0)
		return o2_refuse_value(error, rc, "bind/register", "length", bytes.length, O2_NO_LIMIT);
	return rc;
}

/* Nothing is done at the end of a mapping: the list and the key stay until the next chain. */
const struct o2_frd_ops o2_reg_fast_frd = {create_descriptor, destroy_descriptor, map_descriptor, NULL};

bool o2_reg_fast_request(const struct o2_binding *binding, uint32_t key, struct ibv_send_wr *wr)
{
	const struct o2_descriptor *descriptor = binding->frd->handle;
	const uint32_t access = binding->side == O2_SINK ? O2_ACCESS_LOCAL_WRITE | O2_ACCESS_REMOTE_WRITE : 0;

	if (descriptor->fast == NULL)
		return false;
	descriptor->calls->request(descriptor->fast, key, (unsigned int)o2_reg_access_flags(access), wr);
	return true;
}
