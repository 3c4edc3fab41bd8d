/* SPDX-License-Identifier: MIT */
#ifndef O2_REG_MODE_H
#define O2_REG_MODE_H

#include "reg/bind.h"

/*
 * The operations of a registration mode: plan, bind and release.  Each mode is one file of ref/reg/modes/ and
 * one section of docs/modes.md.  o2_reg_plan, o2_reg_bind and o2_reg_unbind call the modes through this
 * table.
 */
struct o2_reg_mode_ops {
	/*
	 * Fill the members of *plan that depend on the mode.  Pure.  The caller (plan.c) has checked request
	 * and segments, has set the other members, and all counts to 0.  total: bytes of all segments.
	 */
	int (*plan)(const struct o2_reg_request *request, const struct o2_dma_list *segments, uint32_t total,
		    struct o2_reg_plan *plan, struct o2_error *error);
	/*
	 * Register what the plan describes.  The caller (bind.c) has filled mode, side, cpt, iova and length
	 * of *binding; bind sets the key and what has to be released.  On failure nothing stays registered.
	 */
	int (*bind)(struct o2_reg_domain *domain, const struct o2_reg_plan *plan, struct o2_binding *binding,
		    struct o2_error *error);
	/* Implements o2_reg_deliver for this mode.  NULL: the bytes arrive where they belong. */
	int (*deliver)(const struct o2_reg_domain *domain, const struct o2_binding *binding, uint64_t nob,
		       struct o2_error *error);
	/* Release what bind has registered.  Returns the same as o2_reg_unbind.  NULL: nothing to release. */
	int (*release)(struct o2_reg_domain *domain, struct o2_binding *binding, bool failed,
		       struct o2_error *error);
};

extern const struct o2_reg_mode_ops o2_reg_mode_global, o2_reg_mode_fmr, o2_reg_mode_fastreg,
	o2_reg_mode_user, o2_reg_mode_phys, o2_reg_mode_fastreg_gaps;

/* Indexed by enum o2_reg_mode. */
extern const struct o2_reg_mode_ops *const o2_reg_modes[O2_REG_MODES];

/* --- shared by the plan operations (plan.c) --- */

/*
 * Append to plan->page[] every page that segment `index` touches.  A segment that starts inside the page in
 * which the previous one ended shares that page's slot; one that starts on a page boundary opens a new slot.
 *
 * seam_rule: the rule to report for a hole between the previous segment and this one; NULL: a hole is
 * allowed. There is no hole when both sides of the seam are page boundaries, or when the two are contiguous.
 * slot: set to the index of the segment's first page.  Returns 0, or -EINVAL for a hole or past max_pages.
 * o2iblnd: kiblnd_map_tx_pages
 * kernel: ib_sg_to_pages
 */
int o2_reg_list_pages(const struct o2_reg_request *request, const struct o2_dma_list *segments,
		      uint32_t index, const char *seam_rule, struct o2_reg_plan *plan, uint32_t *slot,
		      struct o2_error *error);

/* Make the plan register exactly the `length` bytes from iova on and publish them as one fragment. */
void o2_reg_publish_range(struct o2_reg_plan *plan, uint64_t iova, uint32_t length);

/* --- shared by the bind operations --- */

/* The key that a descriptor carries: lkey of a source, rkey of a sink. */
static inline uint32_t o2_reg_key(const struct ibv_mr *mr, enum o2_side side)
{
	return side == O2_SOURCE ? mr->lkey : mr->rkey;
}

/* The release of modes user and phys: ends binding->region, which was made for this transfer (bind.c). */
int o2_reg_unbind_region(struct o2_reg_domain *domain, struct o2_binding *binding, bool failed,
			 struct o2_error *error);

/* bind and release of mode fastreg; mode fastreg_gaps uses them too. */
int o2_reg_bind_fastreg(struct o2_reg_domain *domain, const struct o2_reg_plan *plan,
			struct o2_binding *binding, struct o2_error *error);
int o2_reg_release_fastreg(struct o2_reg_domain *domain, struct o2_binding *binding, bool failed,
			   struct o2_error *error);

/*
 * The device objects of one descriptor: an MW, whose key the peer gets, and the region that the MW is bound
 * to; or, in the kernel's order, a region that work requests register.
 */
struct o2_descriptor {
	struct ibv_mw *mw;
	struct o2_region region; /* of the current mapping; unmap or the next map ends it */
	struct ibv_mr *fast;	 /* the region in the kernel's order; NULL: mw and region are used */
	const struct o2_reg_fast *calls;
};

#endif
