/* SPDX-License-Identifier: MIT */
#ifndef O2_REG_FMR_CACHE_H
#define O2_REG_FMR_CACHE_H

#include "reg/pool_fmr.h"

/*
 * Which region of a pool is mapped to a list of pages (docs/pools.md, "FMR pools").  A part of pool_fmr.c,
 * called with the pool's lock held.
 *
 * o2iblnd: none, the cache is inside the kernel's FMR pools
 */

/* The region that has just this list, wherever it stands; or NULL. */
struct o2_fmr *o2_fmr_cache_find(const struct o2_fmr_config *config, struct o2_fmr_pool *pool,
				 const struct o2_fmr_request *request);

/* fmr->mapped is this list, and is to be found by it. */
void o2_fmr_cache_add(const struct o2_fmr_config *config, struct o2_fmr_pool *pool, struct o2_fmr *fmr,
		      const struct o2_fmr_request *request);

/* Not to be found any more; does nothing for a region that was not. */
void o2_fmr_cache_drop(const struct o2_fmr_config *config, struct o2_fmr_pool *pool, struct o2_fmr *fmr);

#endif
