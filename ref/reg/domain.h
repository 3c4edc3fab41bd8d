/* SPDX-License-Identifier: MIT */
#ifndef O2_REG_DOMAIN_H
#define O2_REG_DOMAIN_H

#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "mem/arena.h"
#include "mem/dma_map.h"
#include "reg/plan.h"
#include "reg/pool/pool_fmr.h"
#include "reg/pool/pool_frd.h"
#include "reg/region.h"

/*
 * The memory of one interface as its device sees it: how page numbers look as device addresses, the two
 * regions of mode global, and the registration pools of every CPU partition.  Source: docs/modes.md,
 * docs/pools.md.
 *
 * Several threads may register and release (bind.h), flush and fail pools, and ask for and keep windows
 * (o2_reg_window_free, o2_reg_keep_windows) at once; everything else here is for one thread while no other
 * uses the domain (docs/pools.md, "Threads").  A domain must stay where it is while it is open.
 *
 * A window, in all of ref/reg/, is one of the arena: pages that were put side by side (mem/arena.h).  What
 * verbs call a memory window is an MW.
 */

/* Contiguous buffers that a domain keeps for mode fastreg_gaps, of 1 MiB and a page each. */
#define O2_DOMAIN_STAGINGS 8u

/* What the domain has at the device, now: all that was registered for it and not yet deregistered. */
struct o2_reg_live {
	_Atomic uint32_t regions;	     /* memory regions */
	_Atomic uint32_t fmr_regions;	     /* those of mode fmr among them: one live key each */
	_Atomic uint32_t descriptor_regions; /* and those of descriptors in the kernel's order */
	_Atomic uint32_t mws;		     /* memory windows (MW) of type 2 */
	_Atomic uint64_t pinned_bytes;
};

/*
 * Register byte ranges of this process as one region: byte k of all of them, one after the other, lies at
 * iova + k.  access: bits of enum ibv_access_flags.  Returns NULL with errno on failure.  ibv_dereg_mr ends
 * the region.  Kernels offer this as IB_MR_TYPE_SG_GAPS; libibverbs does not, so a device that can do it has
 * a call of its own.
 */
typedef struct ibv_mr *(*o2_reg_gaps_fn)(struct ibv_pd *pd, const struct ibv_sge *entry, uint32_t count,
					 uint64_t iova, unsigned int access);

/*
 * Fast registration in the kernel's way, which libibverbs does not have either: a device that can do it has
 * calls of its own.
 *
 * alloc: a region for so many byte ranges, registered by work requests only; NULL with errno.  ibv_dereg_mr
 * ends it.  map: note the ranges that its next registration takes; returns count, or -errno.  request: fill
 * *wr with the request that registers them, unsignalled, under this key.
 */
struct o2_reg_fast {
	struct ibv_mr *(*alloc)(struct ibv_pd *pd, uint32_t max_entries);
	int (*map)(struct ibv_mr *mr, const struct ibv_sge *entry, uint32_t count, uint64_t iova);
	void (*request)(struct ibv_mr *mr, uint32_t key, unsigned int access, struct ibv_send_wr *wr);
};

/* The sets of registration pools of one CPU partition: docs/pools.md, "At an interface". */
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

struct o2_reg_pools {
	struct o2_pool_set *set[O2_REG_POOL_KINDS]; /* that of each kind, in the members below; NULL: none */
	struct o2_fmr_set fmr;
	struct o2_frd_set frd, frd_gaps;
	uint32_t pool_size; /* elements of each pool */
};

/* o2iblnd: fmr_cache */
struct o2_reg_config {
	struct ibv_pd *pd;
	struct o2_arena *arena;
	enum o2_dma_kind kind;
	bool bounce; /* the device works in memory of its own (mem/kmap.h) */
	/* Device address of the first page (kinds bus and iommu), a multiple of the page size; ignored for
	 * kind virtual, whose page 0 is the arena's memory. */
	uint64_t base;
	struct o2_reg_caps caps; /* what may be used: modes that need more are refused */
	struct o2_pool_sizes sizes;
	uint32_t ncpts;		      /* CPU partitions, at least 1 */
	uint32_t max_pools;	      /* per pool set, or 0 for no cap */
	bool fmr_cache;		      /* tunable: find a list that is mapped already */
	const struct o2_clock *clock; /* of the interface; outlives the domain */
	uint64_t device;	      /* the caller's name for the device of the first pools */
	const struct o2_reg_ops *ops; /* NULL: o2_reg_verbs_ops.  The context that they get is the domain. */
	o2_reg_gaps_fn reg_gaps;      /* NULL: a contiguous region stands in for one with gaps */
	const struct o2_reg_fast *fast; /* mode fastreg in the kernel's order; NULL: MWs stand in */
};

/* The domain owns everything below except pd and arena. */
struct o2_reg_domain {
	const struct o2_reg_verbs *verbs; /* what registers */
	struct ibv_pd *pd;
	struct o2_arena *arena;
	struct o2_reg_caps caps;
	struct o2_dma_device dma;     /* the caller may set dma.iommu.merge and .fault */
	bool bounce;		      /* regions lie in the arena's bounced pages */
	struct ibv_mr *global_local;  /* mode global, sources: no remote access */
	struct ibv_mr *global_remote; /* mode global, sinks */
	struct o2_reg_pools *pools;   /* ncpts */
	uint32_t ncpts;
	o2_reg_gaps_fn reg_gaps;	/* NULL: the device has no regions with gaps */
	const struct o2_reg_fast *fast; /* NULL: mode fastreg by MWs */

	/*
	 * Variants, which the caller may set while no other thread uses the domain; all false after opening
	 * (docs/modes.md).
	 */
	bool gaps_by_staging; /* mode fastreg_gaps: a contiguous region in place of one with gaps */
	bool fmr_per_segment; /* mode fmr: one fragment per segment for lists without gaps as well */
	bool fmr_lazy; /* mode fmr: what is released stays mapped, and its key alive, until o2_reg_flush */

	/*
	 * Guards what follows, and the arena's windows.  Never held during a call of the device, nor together
	 * with the lock of a pool or of a set.
	 */
	pthread_mutex_t lock;
	struct o2_staging *idle_staging[O2_DOMAIN_STAGINGS];
	uint32_t nidle_staging;
	/* Not under the lock. */
	uint64_t max_bound;	  /* with fewer no pool of a set that may not grow is used up */
	_Atomic uint32_t nbound;  /* bindings alive: 0 after everything was handed back */
	_Atomic uint64_t unbinds; /* bindings ever released: when it has changed, a window may be free */
	struct o2_reg_live live;
};

/* libibverbs, with a domain as their context. */
extern const struct o2_fmr_ops o2_reg_verbs_fmr;
extern const struct o2_frd_ops o2_reg_verbs_frd;
extern const struct o2_reg_ops o2_reg_verbs_ops;
/* Descriptors of domain->fast, in its place. */
extern const struct o2_frd_ops o2_reg_fast_frd;

/*
 * Open a domain: the regions of mode global first, then the pools, partition by partition.
 * Returns 0 or -errno, with nothing left behind.  -ENOMEM for RLIMIT_MEMLOCK names the limit in *error.
 * o2iblnd: kiblnd_net_init_pools
 */
int o2_reg_domain_open(const struct o2_reg_config *config, struct o2_reg_domain *domain,
		       struct o2_error *error);

/* Close it.  Every binding must have been released.  Does nothing to one that is not open. */
/* o2iblnd: kiblnd_net_fini_pools */
void o2_reg_domain_close(struct o2_reg_domain *domain);

/*
 * Change how addresses look: the regions of mode global are made anew, and when that has gone well, what mode
 * fmr has kept is flushed.  Returns 0; -EBUSY while a binding is alive; -EINVAL, or the error of registering:
 * then nothing has changed, kept regions included.
 */
int o2_reg_domain_set_dma(struct o2_reg_domain *domain, enum o2_dma_kind kind, uint64_t base,
			  struct o2_error *error);
/* The same for whether it bounces. */
int o2_reg_domain_set_bounce(struct o2_reg_domain *domain, bool bounce, struct o2_error *error);

/* Is there a window of the arena now, and a registration?  If no window is, what mode fmr keeps is flushed. */
bool o2_reg_window_free(struct o2_reg_domain *domain);
/*
 * From now on the bindings of all threads leave `windows` windows of the arena free.  A connection calls it
 * before each binding of its own, which works because one thread drives all connections of an interface.
 */
void o2_reg_keep_windows(struct o2_reg_domain *domain, uint32_t windows);

/* Deregister what mode fmr has kept.  Only now are those keys dead. */
void o2_reg_flush(struct o2_reg_domain *domain);

/* The two regions of mode global, and taking them away again. */
/* o2iblnd: kiblnd_hdev_setup_mrs */
/* kernel: ib_get_dma_mr */
int o2_reg_global_open(struct o2_reg_domain *domain, struct o2_error *error);
/* o2iblnd: kiblnd_hdev_cleanup_mrs */
void o2_reg_global_close(struct o2_reg_domain *domain);

/* Failover: all pools have failed; new ones are made on demand, for `device` (docs/pools.md, "Failover"). */
void o2_reg_fail_pools(struct o2_reg_domain *domain, uint64_t device);

/* What a device can do, as far as these stages use it.  Returns 0 or -errno of ibv_query_device(3). */
/* o2iblnd: kiblnd_hdev_get_attr */
int o2_reg_detect(struct ibv_context *context, struct o2_reg_caps *caps, struct o2_error *error);

/* Whether mode fastreg_gaps uses regions with gaps here, and not a contiguous region in their place. */
bool o2_reg_has_gaps(const struct o2_reg_domain *domain);

#endif
