/* SPDX-License-Identifier: MIT */
#ifndef O2_REG_POOLS_H
#define O2_REG_POOLS_H

#include <stdint.h>

#include "base/error.h"
#include "reg/choose.h"
#include "reg/pool_fmr.h"
#include "reg/pool_frd.h"

/*
 * The registration pools of one CPU partition of an interface, of every kind that the interface uses.
 * Source: docs/pools.md, "At an interface".
 */

enum o2_reg_pool_kind {
	O2_REG_POOL_FMR,      /* page lists: mode fmr */
	O2_REG_POOL_FRD,      /* fast registration, lists without gaps: mode fastreg */
	O2_REG_POOL_FRD_GAPS, /* fast registration of byte ranges: mode fastreg_gaps */
	O2_REG_POOL_KINDS,
};

/* What the device does for pools. */
struct o2_reg_ops {
	const struct o2_fmr_ops *fmr;
	const struct o2_frd_ops *frd;
};

struct o2_reg_pools_config {
	const struct o2_clock *clock;
	struct o2_reg_caps caps; /* which kinds there are to be */
	struct o2_pool_sizes sizes;
	uint32_t max_pools; /* per set, or 0 for no cap */
	uint32_t page_bytes;
	bool fmr_cache;
	const struct o2_reg_ops *ops;
	void *context; /* for ops */
};

struct o2_reg_pools {
	bool open[O2_REG_POOL_KINDS];
	struct o2_fmr_set fmr;
	struct o2_frd_set frd, frd_gaps;
};

/* What a set has, now. */
struct o2_reg_pool_counts {
	struct o2_pool_counts set;
	uint64_t elements; /* of all pools, live and failed */
	uint64_t idle;	   /* of them in a queue, ready to be taken; in mode fmr also dirty ones */
};

/* "fmr", "frd", "frd_gaps"; NULL for a value that is none. */
const char *o2_reg_pool_name(enum o2_reg_pool_kind kind);

/*
 * Make the sets of partition `cpt`.  Returns 0, or what the kind's init says; nothing is left behind then.
 * *pools must stay where it is until it is closed.
 * o2iblnd: kiblnd_net_init_pools
 */
int o2_reg_pools_open(struct o2_reg_pools *pools, const struct o2_reg_pools_config *config, uint32_t cpt,
		      uint64_t device, struct o2_error *error);

/*
 * Nothing may be in use.
 * o2iblnd: kiblnd_net_fini_pools
 */
void o2_reg_pools_close(struct o2_reg_pools *pools);

/* NULL for a kind that there is not. */
struct o2_pool_set *o2_reg_pools_set(struct o2_reg_pools *pools, enum o2_reg_pool_kind kind);

/* Failover: o2_pool_set_fail of every set. */
void o2_reg_pools_fail(struct o2_reg_pools *pools, uint64_t device);

/* All 0 for a kind that there is not.  Consistent while nobody takes or puts. */
void o2_reg_pools_counts(struct o2_reg_pools *pools, enum o2_reg_pool_kind kind,
			 struct o2_reg_pool_counts *counts);

#endif
