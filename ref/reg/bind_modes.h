/* SPDX-License-Identifier: MIT */
#ifndef O2_REG_BIND_MODES_H
#define O2_REG_BIND_MODES_H

#include "reg/bind.h"

/*
 * One function per registration mode, each in a file of its own.  The caller (bind.c) has filled mode, side,
 * iova and length of *binding; these functions register, and set key and state.  On failure they leave
 * nothing behind.
 */
int o2_reg_bind_global(struct o2_reg_domain *domain, const struct o2_reg_plan *plan,
		       struct o2_binding *binding, struct o2_error *error);
int o2_reg_bind_fmr(struct o2_reg_domain *domain, const struct o2_reg_plan *plan, struct o2_binding *binding,
		    struct o2_error *error);
int o2_reg_bind_fastreg(struct o2_reg_domain *domain, const struct o2_reg_plan *plan,
			struct o2_binding *binding, struct o2_error *error);

int o2_reg_bind_user(struct o2_reg_domain *domain, const struct o2_reg_plan *plan, struct o2_binding *binding,
		     struct o2_error *error);
int o2_reg_bind_phys(struct o2_reg_domain *domain, const struct o2_reg_plan *plan, struct o2_binding *binding,
		     struct o2_error *error);
int o2_reg_bind_fastreg_gaps(struct o2_reg_domain *domain, const struct o2_reg_plan *plan,
			     struct o2_binding *binding, struct o2_error *error);

/* Makes the region that a plan names: fills binding->mr, and leaves nothing behind on failure. */
typedef int (*o2_reg_make_region)(struct o2_reg_domain *domain, const struct o2_reg_plan *plan, int access,
				  struct o2_binding *binding, struct o2_error *error);

/* The life of a fast-registration key over such a region: modes fastreg and fastreg_gaps. */
int o2_reg_bind_keyed(struct o2_reg_domain *domain, const struct o2_reg_plan *plan, o2_reg_make_region make,
		      struct o2_binding *binding, struct o2_error *error);

/* Mode fastreg_gaps by staging: give back the contiguous memory; free all of it. */
void o2_reg_staging_release(struct o2_reg_domain *domain, struct o2_binding *binding);
void o2_reg_staging_close(struct o2_reg_domain *domain);

/* Mode fmr, lazy: take region and window from a binding that is being released. */
void o2_reg_fmr_keep(struct o2_reg_domain *domain, struct o2_binding *binding);

/* The two regions that mode global needs, and taking them away again. */
int o2_reg_global_open(struct o2_reg_domain *domain, struct o2_error *error);
void o2_reg_global_close(struct o2_reg_domain *domain);

/* Give back the memory window of mode fastreg: to the pool when its key is dead, else to the device. */
void o2_reg_fastreg_release(struct o2_reg_domain *domain, struct o2_binding *binding);
void o2_reg_fastreg_close(struct o2_reg_domain *domain);

/*
 * Register exactly the bytes that the plan names, from a window over the pages that the plan lists, under the
 * plan's iova.  access: bits of enum ibv_access_flags.  Fills binding->mr and binding->window.
 */
int o2_reg_window_mr(struct o2_reg_domain *domain, const struct o2_reg_plan *plan, int access,
		     struct o2_binding *binding, struct o2_error *error);

/* ibv_reg_mr_iova(3), with an error that tells a memlock limit from other failures (docs/transport.md). */
int o2_reg_region(struct ibv_pd *pd, void *addr, uint64_t length, uint64_t iova, int access,
		  struct ibv_mr **mr, struct o2_error *error);

/* The plan's access bits as the device wants them. */
int o2_reg_access_flags(uint32_t plan_access);

/* Register the plan's pages for this transfer; the key is ready at once: what modes fmr and phys do. */
int o2_reg_bind_pages(struct o2_reg_domain *domain, const struct o2_reg_plan *plan,
		      struct o2_binding *binding, struct o2_error *error);

#endif
