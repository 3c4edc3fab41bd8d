/* SPDX-License-Identifier: MIT */
#include <stddef.h>

#include "reg/domain.h"
#include "reg/mode.h"

/*
 * The life of a key of modes fastreg and fastreg_gaps, on user-space verbs: made and ended by work requests,
 * ordered with the messages of the queue pair.  What those must be, and what has happened, is the business of
 * the key's state machine (pool/frd_key.h); here it becomes verbs.
 */

static const struct o2_descriptor *descriptor_of(const struct o2_binding *binding)
{
	return binding->frd->handle;
}

bool o2_binding_needs_bind(const struct o2_binding *binding)
{
	struct o2_frd_chain chain;

	return binding->frd != NULL && o2_frd_chain(&binding->frd->key, &chain, NULL) == 0 && chain.bind;
}

void o2_binding_bind_wr(const struct o2_binding *binding, uint64_t wr_id, struct ibv_send_wr *wr)
{
	const struct o2_descriptor *descriptor = descriptor_of(binding);

	*wr = (struct ibv_send_wr){
		.wr_id = wr_id,
		.opcode = IBV_WR_BIND_MW,
		.bind_mw = {.mw = descriptor->mw,
			    .rkey = o2_frd_published(&binding->frd->key),
			    .bind_info = {.mr = descriptor->region.mr,
					  .addr = binding->iova,
					  .length = binding->length,
					  .mw_access_flags = IBV_ACCESS_REMOTE_WRITE}},
	};
}

/*
 * The provider reads the MW's old key from mw->rkey when the bind is posted and leaves it there
 * (ibv_post_send(3) does not promise more), so the new one is noted here.
 */
void o2_binding_posted(struct o2_binding *binding, uint32_t qp_num, bool accepted, bool ok)
{
	if (binding->frd == NULL)
		return;
	if (o2_frd_post_done(&binding->frd->key, qp_num, accepted, ok, NULL) == 0 && accepted)
		descriptor_of(binding)->mw->rkey = binding->key;
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
		.invalidate_rkey = o2_frd_published(&binding->frd->key),
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

void o2_reg_deliver(const struct o2_reg_domain *domain, const struct o2_binding *binding, uint64_t nob)
{
	const struct o2_staging *staging =
		binding->frd != NULL ? descriptor_of(binding)->region.staging : NULL;

	if (staging != NULL && binding->side == O2_SINK)
		o2_reg_staging_deliver(domain, staging, nob < binding->length ? nob : binding->length);
}
