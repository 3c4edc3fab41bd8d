/* SPDX-License-Identifier: MIT */
#ifndef O2_REG_BIND_H
#define O2_REG_BIND_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "reg/domain.h"
#include "reg/plan.h"
#include "reg/region.h"

/*
 * The only stage that registers memory for a transfer.  It sees only the plan, never the buffer and never the
 * scatter list (docs/architecture.md, "The way of the data").  docs/modes.md describes how each mode works on
 * user-space verbs.
 *
 * Several threads may bind and unbind on one domain at once; a binding is used only by its holder.
 */

/* The registration of one transfer.  All zero: no registration. */
/* o2iblnd: kib_fmr */
struct o2_binding {
	bool bound;
	enum o2_reg_mode mode;
	enum o2_side side;
	uint32_t cpt; /* CPU partition whose pools were used */
	uint32_t key; /* lkey of a source, rkey of a sink */
	uint64_t iova;
	uint64_t length;
	struct o2_fmr *fmr;	 /* mode fmr */
	struct o2_frd *frd;	 /* modes fastreg and fastreg_gaps: holds the state of the key */
	struct o2_region region; /* modes user and phys */
};

/*
 * Register what the plan describes, with elements from the pools of partition `cpt` (below domain->ncpts).
 * On success binding->key is the key for the descriptor.
 *
 * Returns 0 or -errno; on failure nothing stays registered.  -EINVAL (rule "bind/no-way") for a mode that the
 * domain was not opened for; -EAGAIN, -EBUSY: its pools are exhausted (pool/pool_fmr.h, pool/pool_frd.h);
 * -ENOBUFS: all windows of the arena are in use; the next release may free one (domain->unbinds).
 * o2iblnd: kiblnd_fmr_pool_map
 */
int o2_reg_bind(struct o2_reg_domain *domain, uint32_t cpt, const struct o2_reg_plan *plan,
		struct o2_binding *binding, struct o2_error *error);

/*
 * Release a binding: deregister the memory and return the pool elements.  failed: the transfer has failed, so
 * the device may still be using the memory.  If the key is still alive, its queue pair is in the error state;
 * the MW is then deallocated, which ends the key, and this must happen before the queue pair is destroyed.
 *
 * Afterwards *binding is all zero.  Returns 0, also for a binding that was already all zero; or the device's
 * -errno when a region could not be deregistered: its key may then still be alive.
 * o2iblnd: kiblnd_fmr_pool_unmap
 */
int o2_reg_unbind(struct o2_reg_domain *domain, struct o2_binding *binding, bool failed,
		  struct o2_error *error);

/*
 * The functions below follow the life of a key that work requests create and invalidate: sinks of modes
 * fastreg and fastreg_gaps, in the kernel's order sources too.  For other bindings they do nothing and return
 * 0 or false.  The state of the key is kept only in binding->frd->key (pool/pool_frd.h).
 */

#define O2_BINDING_CHAIN 2u

/*
 * Fill wr[] with the requests to be posted directly before the message that announces the key: in the
 * kernel's order first the invalidate of the previous key, then the request that creates this key.  All are
 * unsignalled, with this wr_id.  Returns their number: 0 when the key is alive already or needs no request.
 * kernel: IB_WR_REG_MR
 */
uint32_t o2_binding_chain(const struct o2_binding *binding, uint64_t wr_id,
			  struct ibv_send_wr wr[O2_BINDING_CHAIN]);

/*
 * To be called after every post of the transfer, on queue pair qp_num.  accepted: how many requests of the
 * chain the queue pair accepted; ok: the queue pair accepted the whole post.
 */
void o2_binding_posted(struct o2_binding *binding, uint32_t qp_num, uint32_t accepted, bool ok);

/* Whether the peer could use the key, so that an invalidate must be posted and complete before the release. */
bool o2_binding_needs_invalidate(const struct o2_binding *binding);

/* Fill *wr with the signalled LOCAL_INV.  Only for a binding that needs an invalidate. */
/* kernel: IB_WR_LOCAL_INV */
void o2_binding_invalidate_wr(const struct o2_binding *binding, uint64_t wr_id, struct ibv_send_wr *wr);

/* Record that the invalidate was posted (ok), or that posting it failed. */
void o2_binding_invalidate_posted(struct o2_binding *binding, bool ok);
/* Record that the invalidate has completed: the key is dead. */
void o2_binding_invalidated(struct o2_binding *binding);

/*
 * Copy the first nob bytes of a sink, which have arrived and whose key is dead, to the places that the plan
 * names.  Does something only where a contiguous buffer stands in for a region with gaps.  Must be called
 * before o2_reg_unbind.  Returns 0, or the -errno of o2_kmap_write.
 */
int o2_reg_deliver(const struct o2_reg_domain *domain, const struct o2_binding *binding, uint64_t nob,
		   struct o2_error *error);

/* Make the descriptor for a message or for o2_rdma_plan: the plan's fragments under the binding's key. */
void o2_binding_desc(const struct o2_binding *binding, const struct o2_reg_plan *plan,
		     struct o2_rdma_desc *desc);

#endif
