/* SPDX-License-Identifier: MIT */
#ifndef O2_REG_MODE_H
#define O2_REG_MODE_H

#include "reg/bind.h"

/*
 * What a registration mode is: how it plans, binds and releases.  Each is one file of ref/reg/modes/
 * (docs/modes.md has a section for each), and o2_reg_plan, o2_reg_bind and o2_reg_unbind call it through this
 * table.
 */
struct o2_reg_mode_ops {
	/*
	 * Fill the members of *plan that depend on the mode.  Pure.  The caller (plan.c) has checked request
	 * and segments, has set the others, and all counts to 0.  total: bytes of all segments.
	 */
	int (*plan)(const struct o2_reg_request *request, const struct o2_dma_list *segments, uint32_t total,
		    struct o2_reg_plan *plan, struct o2_error *error);
	/*
	 * Register what the plan says.  The caller (bind.c) has filled mode, side, cpt, iova and length of
	 * *binding; this sets its key and what has to be released.  It leaves nothing behind on failure.
	 */
	int (*bind)(struct o2_reg_domain *domain, const struct o2_reg_plan *plan, struct o2_binding *binding,
		    struct o2_error *error);
	/* Does what o2_reg_deliver says for a binding of this mode.  NULL: the bytes are in their place. */
	int (*deliver)(const struct o2_reg_domain *domain, const struct o2_binding *binding, uint64_t nob,
		       struct o2_error *error);
	/*
	 * Release what bind has registered; returns what o2_reg_unbind does.  NULL: there is nothing to
	 * release.
	 */
	int (*release)(struct o2_reg_domain *domain, struct o2_binding *binding, bool failed,
		       struct o2_error *error);
};

extern const struct o2_reg_mode_ops o2_reg_mode_global, o2_reg_mode_fmr, o2_reg_mode_fastreg,
	o2_reg_mode_user, o2_reg_mode_phys, o2_reg_mode_fastreg_gaps;

/* By enum o2_reg_mode. */
extern const struct o2_reg_mode_ops *const o2_reg_modes[O2_REG_MODES];

/* --- what plans share (plan.c) --- */

/*
 * Append to plan->page[] every page that segment `index` touches.  One that starts inside the page where the
 * one before it ended shares that page's slot; one that starts on a page boundary always opens a slot.
 *
 * seam_rule: the rule that a hole between the two breaks, or NULL where there may be one.  There is none when
 * both sides of the seam are page boundaries, or when the two are one range.
 * slot: set to the index of the segment's first page.  Returns 0, or -EINVAL for a hole or past max_pages.
 * o2iblnd: kiblnd_map_tx_pages
 * kernel: ib_sg_to_pages
 */
int o2_reg_list_pages(const struct o2_reg_request *request, const struct o2_dma_list *segments,
		      uint32_t index, const char *seam_rule, struct o2_reg_plan *plan, uint32_t *slot,
		      struct o2_error *error);

/* Let the plan register exactly the `length` bytes from iova on, and publish them as one fragment. */
void o2_reg_publish_range(struct o2_reg_plan *plan, uint64_t iova, uint32_t length);

/* --- what binding shares --- */

/* lkey of a source, rkey of a sink. */
static inline uint32_t o2_reg_key(const struct ibv_mr *mr, enum o2_side side)
{
	return side == O2_SOURCE ? mr->lkey : mr->rkey;
}

/* Modes user and phys: binding->region was made for the transfer (bind.c). */
int o2_reg_unbind_region(struct o2_reg_domain *domain, struct o2_binding *binding, bool failed,
			 struct o2_error *error);

/* Those of mode fastreg, which mode fastreg_gaps uses as well. */
int o2_reg_bind_fastreg(struct o2_reg_domain *domain, const struct o2_reg_plan *plan,
			struct o2_binding *binding, struct o2_error *error);
int o2_reg_release_fastreg(struct o2_reg_domain *domain, struct o2_binding *binding, bool failed,
			   struct o2_error *error);

/*
 * What the device has for one descriptor: an MW, whose key the peer gets, and the region that it opens; or, in
 * the kernel's order, a region that work requests register.
 */
struct o2_descriptor {
	struct ibv_mw *mw;
	struct o2_region region; /* of the mapping, until unmap, or the next map, has ended it */
	struct ibv_mr *fast;	 /* NULL: mw and region */
	const struct o2_reg_fast *calls;
};

#endif
