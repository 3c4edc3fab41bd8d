/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "reg/domain.h"
#include "reg/mode.h"

/*
 * Mode fastreg: a page list whose iova is the device address of the first byte; always one fragment.  Byte k
 * of the transfer lies at iova + k, so a list with gaps cannot be expressed (docs/modes.md, "fastreg").
 *
 * The code below plan_fastreg, except that for the kernel's order, also serves mode fastreg_gaps, which uses
 * regions of another kind from a pool set of its own.
 */

/*
 * sg_build decides whether the list has gaps, before anything is built.  A list without gaps by that verdict
 * whose segments nevertheless do not join up is refused as a short map.
 */
static int plan_fastreg(const struct o2_reg_request *request, const struct o2_dma_list *segments,
			uint32_t total, struct o2_reg_plan *plan, struct o2_error *error)
{
	if (request->gaps)
		return o2_refuse_other(error, -EPROTONOSUPPORT, "reg/fastreg/gaps", "gaps", 1, 0);
	for (uint32_t i = 0; i < segments->count; i++) {
		uint32_t slot;
		int rc = o2_reg_list_pages(request, segments, i, "reg/fastreg/short-map", plan, &slot, error);

		if (rc != 0)
			return rc;
	}
	/* The region is contiguous from the first address on, wherever the later segments lie. */
	if (total > UINT64_MAX - segments->segment[0].addr)
		return o2_refuse(error, -EINVAL, "reg/fastreg/iova-wraps", "segment[].addr", 0, total,
				 UINT64_MAX - segments->segment[0].addr);
	o2_reg_publish_range(plan, segments->segment[0].addr, total);
	return 0;
}

/*
 * On user-space verbs a memory window (MW) of type 2 stands in for a fast-registration descriptor: every bind
 * increments the MW's key, and each mapping makes a region under the MW.  These are the device calls of the
 * pool (pool/pool_frd.h).  Their context is the domain; the mapped list is a plan.
 */

static int create_descriptor(void *context, uint64_t device, uint32_t max_pages, bool gaps,
			     struct o2_frd_object *object, struct o2_error *error)
{
	struct o2_reg_domain *domain = context;
	struct o2_descriptor *descriptor = calloc(1, sizeof(*descriptor));

	(void)device;
	(void)max_pages;
	(void)gaps;
	if (descriptor == NULL)
		return o2_fail(error, -ENOMEM, "bind/fastreg/memory", "bytes", sizeof(*descriptor));
	errno = 0;
	descriptor->mw = ibv_alloc_mw(domain->pd, IBV_MW_TYPE_2);
	if (descriptor->mw == NULL) {
		int code = o2_errno_or(errno, EIO);

		free(descriptor);
		return o2_fail(error, code, "bind/fastreg/alloc-window", "windows",
			       (uint64_t)domain->live.mws + 1);
	}
	domain->live.mws++;
	*object = (struct o2_frd_object){.handle = descriptor, .rkey = descriptor->mw->rkey};
	return 0;
}

static int unmap_descriptor(void *context, void *handle, struct o2_error *error)
{
	struct o2_region *region = &((struct o2_descriptor *)handle)->region;
	int rc = o2_reg_region_release(context, region);

	return rc == 0 ? 0 : o2_fail(error, rc, "bind/deregister", "length", region->mr->length);
}

/*
 * Deallocate the MW first: a region cannot be deregistered while an MW is bound to it.  Deallocating the MW
 * ends its key, whatever the state of the queue pair that bound it.
 */
static void destroy_descriptor(void *context, void *handle)
{
	struct o2_reg_domain *domain = context;
	struct o2_descriptor *descriptor = handle;

	if (ibv_dealloc_mw(descriptor->mw) == 0)
		domain->live.mws--;
	(void)unmap_descriptor(context, handle, NULL);
	free(descriptor);
}

/* The peer reaches a sink's region only through its MW; only the local device reaches a source's. */
/* kernel: ib_map_mr_sg */
static int map_descriptor(void *context, void *handle, const struct o2_frd_request *request, uint32_t *lkey,
			  struct o2_error *error)
{
	struct o2_reg_domain *domain = context;
	struct o2_descriptor *descriptor = handle;
	const struct o2_reg_plan *plan = request->list;
	int access = plan->side == O2_SINK
			     ? o2_reg_access_flags(plan->access & O2_ACCESS_LOCAL_WRITE) | IBV_ACCESS_MW_BIND
			     : o2_reg_access_flags(plan->access);
	const struct o2_page_bytes bytes = o2_reg_page_bytes(plan);
	int rc = unmap_descriptor(domain, descriptor, error);

	if (rc == 0)
		rc = plan->mode == O2_REG_FASTREG_GAPS
			     ? o2_reg_region_of_ranges(domain, plan, access, &descriptor->region, error)
			     : o2_reg_region_of_pages(domain, &bytes, access, &descriptor->region, error);
	if (rc != 0)
		return rc;
	*lkey = descriptor->region.mr->lkey;
	return (int)request->entries;
}

const struct o2_frd_ops o2_reg_verbs_frd = {create_descriptor, destroy_descriptor, map_descriptor,
					    unmap_descriptor};

/*
 * The kernel's order, on a device that registers by work requests: the pool's descriptors are regions, and
 * the chain in front of a message is {invalidate the old key, register under the new key} (docs/modes.md,
 * "fastreg").
 */

static int create_fast(void *context, uint64_t device, uint32_t max_pages, bool gaps,
		       struct o2_frd_object *object, struct o2_error *error)
{
	struct o2_reg_domain *domain = context;
	struct o2_descriptor *descriptor = calloc(1, sizeof(*descriptor));

	(void)device;
	(void)gaps;
	if (descriptor == NULL)
		return o2_fail(error, -ENOMEM, "bind/fastreg/memory", "bytes", sizeof(*descriptor));
	errno = 0;
	descriptor->fast = domain->fast->alloc(domain->pd, max_pages);
	if (descriptor->fast == NULL) {
		const int code = o2_errno_or(errno, EIO);

		free(descriptor);
		return o2_fail(error, code, "bind/fastreg/alloc-region", "regions",
			       (uint64_t)domain->live.descriptor_regions + 1);
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

static void destroy_fast(void *context, void *handle)
{
	struct o2_reg_domain *domain = context;
	struct o2_descriptor *descriptor = handle;

	if (domain->verbs->dereg_mr(descriptor->fast) == 0) {
		domain->live.regions--;
		domain->live.descriptor_regions--;
	}
	free(descriptor);
}

static int map_fast(void *context, void *handle, const struct o2_frd_request *request, uint32_t *lkey,
		    struct o2_error *error)
{
	const struct o2_reg_domain *domain = context;
	struct o2_descriptor *descriptor = handle;
	const struct o2_page_bytes bytes = o2_reg_page_bytes(request->list);
	struct ibv_sge entry[O2_MAX_FRAGS];
	int rc = o2_reg_page_ranges(domain, &bytes, request->side, entry, error);

	(void)lkey; /* the key's state machine computes it */
	if (rc != 0)
		return rc;
	rc = descriptor->calls->map(descriptor->fast, entry, bytes.npages, bytes.iova);
	if (rc < 0)
		return o2_fail(error, rc, "bind/register", "length", bytes.length);
	return rc;
}

/* Ending a mapping needs no call: the list and the key stay until the next chain. */
const struct o2_frd_ops o2_reg_fast_frd = {create_fast, destroy_fast, map_fast, NULL};

static struct o2_frd_set *set_of(struct o2_reg_domain *domain, const struct o2_binding *binding)
{
	struct o2_reg_pools *pools = &domain->pools[binding->cpt];

	return binding->mode == O2_REG_FASTREG_GAPS ? &pools->frd_gaps : &pools->frd;
}

int o2_reg_bind_fastreg(struct o2_reg_domain *domain, const struct o2_reg_plan *plan,
			struct o2_binding *binding, struct o2_error *error)
{
	const bool gaps = plan->mode == O2_REG_FASTREG_GAPS;
	const struct o2_frd_request request = {
		.side = plan->side,
		.gaps = gaps,
		.entries = gaps ? plan->nentries : plan->npages,
		.list = plan,
	};
	const struct o2_page_bytes bytes = o2_reg_page_bytes(plan);
	int rc;

	if (plan->side == O2_SINK && (plan->access & O2_ACCESS_REMOTE_WRITE) == 0)
		return o2_refuse_value(error, -EINVAL, "bind/fastreg/sink-access", "access", plan->access,
				       O2_ACCESS_REMOTE_WRITE);
	rc = gaps ? o2_reg_check_ranges(domain, plan, error) : o2_reg_check_bytes(domain, &bytes, error);
	if (rc != 0)
		return rc;
	rc = o2_frd_take(set_of(domain, binding), &request, &binding->frd, error);
	if (rc == 0)
		binding->key = o2_frd_published(&binding->frd->key);
	return rc;
}

/*
 * By MWs, a descriptor whose key is still alive is replaced: its queue pair is in error.  In the kernel's order
 * it is replaced if the transfer failed after its chain was posted: it is unknown which requests of the chain
 * were executed, and the next chain must know the key that it invalidates.
 */
int o2_reg_release_fastreg(struct o2_reg_domain *domain, struct o2_binding *binding, bool failed,
			   struct o2_error *error)
{
	struct o2_frd_set *set = set_of(domain, binding);
	const struct o2_frd_key *key = &binding->frd->key;
	const bool unknown = failed && key->order == O2_FRD_INVALIDATE_FIRST && key->state != O2_FRD_PREPARED;
	const bool alive = key->order == O2_FRD_INVALIDATE_LAST && key->registered;

	return unknown || alive ? o2_frd_discard(set, binding->frd, error)
				: o2_frd_put(set, binding->frd, error);
}

/*
 * Work requests create and invalidate a key, in order with the messages of the queue pair.  The key's state
 * machine (pool/pool_frd.h) says which requests are needed and records their outcome; the functions below
 * translate that into verbs.
 */

/* Make the request that makes the key alive: the registration (kernel's order), else the bind of the MW. */
static void key_request(const struct o2_binding *binding, uint32_t key, struct ibv_send_wr *wr)
{
	const struct o2_descriptor *descriptor = binding->frd->handle;
	const uint32_t access = binding->side == O2_SINK ? O2_ACCESS_LOCAL_WRITE | O2_ACCESS_REMOTE_WRITE : 0;

	if (descriptor->fast != NULL) {
		descriptor->calls->request(descriptor->fast, key, (unsigned int)o2_reg_access_flags(access),
					   wr);
		return;
	}
	*wr = (struct ibv_send_wr){
		.opcode = IBV_WR_BIND_MW,
		.bind_mw = {.mw = descriptor->mw,
			    .rkey = key,
			    .bind_info = {.mr = descriptor->region.mr,
					  .addr = binding->iova,
					  .length = binding->length,
					  .mw_access_flags = IBV_ACCESS_REMOTE_WRITE}},
	};
}

uint32_t o2_binding_chain(const struct o2_binding *binding, uint64_t wr_id,
			  struct ibv_send_wr wr[O2_BINDING_CHAIN])
{
	struct o2_frd_chain chain;
	uint32_t count = 0;

	if (binding->frd == NULL || o2_frd_chain(&binding->frd->key, &chain, NULL) != 0)
		return 0;
	if (chain.invalidate)
		wr[count++] = (struct ibv_send_wr){
			.wr_id = wr_id, .opcode = IBV_WR_LOCAL_INV, .invalidate_rkey = chain.invalidate_rkey};
	if (chain.bind) {
		key_request(binding, chain.bind_key, &wr[count]);
		wr[count++].wr_id = wr_id;
	}
	assert(count == chain.count);
	return count;
}

/*
 * At the post of a bind the provider reads the MW's old key from mw->rkey and leaves it there
 * (ibv_post_send(3) does not promise to update it), so the new key is stored here.
 */
void o2_binding_posted(struct o2_binding *binding, uint32_t qp_num, uint32_t accepted, bool ok)
{
	const struct o2_descriptor *descriptor;

	if (binding->frd == NULL)
		return;
	descriptor = binding->frd->handle;
	if (o2_frd_post_done(&binding->frd->key, qp_num, accepted, ok, NULL) == 0 && accepted > 0 &&
	    descriptor->mw != NULL)
		descriptor->mw->rkey = binding->key;
}

bool o2_binding_needs_invalidate(const struct o2_binding *binding)
{
	uint32_t rkey;

	return binding->frd != NULL &&
	       o2_frd_invalidate(&binding->frd->key, binding->frd->key.queue, &rkey, NULL) == 0;
}

void o2_binding_invalidate_wr(const struct o2_binding *binding, uint64_t wr_id, struct ibv_send_wr *wr)
{
	*wr = (struct ibv_send_wr){
		.wr_id = wr_id,
		.opcode = IBV_WR_LOCAL_INV,
		.send_flags = IBV_SEND_SIGNALED,
		.invalidate_rkey = binding->key,
	};
}

void o2_binding_invalidate_posted(struct o2_binding *binding, bool ok)
{
	if (binding->frd != NULL)
		(void)o2_frd_invalidate_posted(&binding->frd->key, ok, NULL);
}

void o2_binding_invalidated(struct o2_binding *binding)
{
	if (binding->frd != NULL)
		(void)o2_frd_invalidated(&binding->frd->key, true, NULL);
}

const struct o2_reg_mode_ops o2_reg_mode_fastreg = {
	.plan = plan_fastreg,
	.bind = o2_reg_bind_fastreg,
	.release = o2_reg_release_fastreg,
};
