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
 * The only stage that registers memory for a transfer.  It sees the plan and nothing else: never the buffer,
 * never the scatter list (docs/architecture.md, "The way of the data").  How each mode is realised on
 * user-space verbs: docs/modes.md.
 *
 * Several threads may bind and unbind on one domain at once; a binding belongs to the one that holds it.
 */

/* One transfer's registration.  All zero: none. */
/* o2iblnd: kib_fmr */
struct o2_binding {
	bool bound;
	enum o2_reg_mode mode;
	enum o2_side side;
	uint32_t cpt; /* CPU partition whose pools it comes from */
	uint32_t key; /* lkey of a source, rkey of a sink */
	uint64_t iova;
	uint64_t length;
	struct o2_fmr *fmr;	 /* mode fmr */
	struct o2_frd *frd;	 /* modes fastreg and fastreg_gaps: owns the key's state */
	struct o2_region region; /* modes user and phys */
};

/*
 * Register what the plan says, with what the pools of partition `cpt` (below domain->ncpts) have.  On success
 * binding->key is the key for the descriptor.
 *
 * Returns 0 or -errno; nothing is left behind on failure.  -EINVAL (rule "bind/no-way") for a mode that the
 * domain was not opened for; -EAGAIN, -EBUSY: its pools are exhausted (pool/pool_fmr.h, pool/pool_frd.h);
 * -ENOBUFS: all windows of the arena are in use, and the next that is released may help (domain->unbinds).
 * o2iblnd: kiblnd_fmr_pool_map
 */
int o2_reg_bind(struct o2_reg_domain *domain, uint32_t cpt, const struct o2_reg_plan *plan,
		struct o2_binding *binding, struct o2_error *error);

/*
 * Release: deregister, give back to the pools.  failed: the transfer has failed, so the device may still be
 * using the memory.  If the key is still alive, its queue pair is in error: then its MW is deallocated, which
 * ends the key as well, and that must happen before the queue pair is destroyed.
 *
 * Afterwards *binding is all zero.  Returns 0, also when it was so before; or -errno of the device when it
 * did not deregister a region, whose key may then be alive.
 * o2iblnd: kiblnd_fmr_pool_unmap
 */
int o2_reg_unbind(struct o2_reg_domain *domain, struct o2_binding *binding, bool failed,
		  struct o2_error *error);

/*
 * The life of a key that work requests make and end: sinks of modes fastreg and fastreg_gaps.  For all other
 * bindings these return false and do nothing.  Its state is in binding->frd->key and nowhere else
 * (pool/pool_frd.h).
 */

#define O2_BINDING_CHAIN 2u

/*
 * The requests that have to go right in front of the message that announces the key, in this order: in the
 * kernel's order the invalidate of the key before; then what makes this one.  They are unsignalled and have
 * this wr_id.  Returns how many there are: 0 where the key is alive already, and for bindings without one.
 * kernel: IB_WR_REG_MR
 */
uint32_t o2_binding_chain(const struct o2_binding *binding, uint64_t wr_id,
			  struct ibv_send_wr wr[O2_BINDING_CHAIN]);

/*
 * After every post of the transfer, on queue pair qp_num: accepted: how many of the chain's requests the queue
 * pair took; ok: it took all of the post.
 */
void o2_binding_posted(struct o2_binding *binding, uint32_t qp_num, uint32_t accepted, bool ok);

/* The peer could use the key: an invalidate has to be posted and completed before the release. */
bool o2_binding_needs_invalidate(const struct o2_binding *binding);

/* Fill *wr with the signalled LOCAL_INV, for a binding that needs it. */
/* kernel: IB_WR_LOCAL_INV */
void o2_binding_invalidate_wr(const struct o2_binding *binding, uint64_t wr_id, struct ibv_send_wr *wr);

/* The invalidate was posted (ok), or could not be. */
void o2_binding_invalidate_posted(struct o2_binding *binding, bool ok);
/* The invalidate has completed: the key is dead. */
void o2_binding_invalidated(struct o2_binding *binding);

/*
 * The first nob bytes of a sink have arrived, and the key is dead: put them where the plan says.  Only
 * needed, and only doing anything, where a contiguous buffer stands in for a region with gaps.  To be called
 * before o2_reg_unbind.  Returns 0, or what o2_kmap refuses.
 */
int o2_reg_deliver(const struct o2_reg_domain *domain, const struct o2_binding *binding, uint64_t nob,
		   struct o2_error *error);

/* Make the descriptor for a message, or for rdma_plan: the plan's fragments under the binding's key. */
void o2_binding_desc(const struct o2_binding *binding, const struct o2_reg_plan *plan,
		     struct o2_rdma_desc *desc);

#endif
