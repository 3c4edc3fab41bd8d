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
 * The memory of one interface as its device sees it: how page numbers map to device addresses, the two
 * regions of mode global, and the registration pools of every CPU partition.  Source: docs/modes.md,
 * docs/pools.md.
 *
 * Several threads at once may register and release (bind.h), flush and fail pools, and call
 * o2_reg_window_free and o2_reg_keep_windows.  All other functions here need a domain that no other thread
 * uses meanwhile (docs/pools.md, "Threads").  A domain must not be moved in memory while it is open.
 *
 * In all of ref/reg/ a "window" is a window of the arena: pages mapped side by side (mem/arena.h).  A memory
 * window in the sense of verbs is called an MW.
 */

/* Idle contiguous buffers that a domain keeps for mode fastreg_gaps; each holds 1 MiB and one page. */
#define O2_DOMAIN_STAGINGS 8u

/* What the domain holds at the device now: everything registered for it and not yet deregistered. */
struct o2_reg_live {
	_Atomic uint32_t regions;	     /* memory regions */
	_Atomic uint32_t fmr_regions;	     /* regions of mode fmr, each with one live key */
	_Atomic uint32_t descriptor_regions; /* regions of descriptors in the kernel's order */
	_Atomic uint32_t mws;		     /* memory windows (MW) of type 2 */
	_Atomic uint64_t pinned_bytes;
};

/*
 * Register byte ranges of this process as one region: byte k of their concatenation lies at iova + k. access:
 * bits of enum ibv_access_flags.  Returns NULL with errno on failure.  ibv_dereg_mr ends the region.  Kernels
 * offer this as IB_MR_TYPE_SG_GAPS; libibverbs has no such call, so a device that supports it provides its
 * own.
 */
typedef struct ibv_mr *(*o2_reg_gaps_fn)(struct ibv_pd *pd, const struct ibv_sge *entry, uint32_t count,
					 uint64_t iova, unsigned int access);

/*
 * Fast registration as kernels do it.  libibverbs has no such calls either, so a device that supports it
 * provides its own.
 *
 * alloc: allocate a region for up to max_entries byte ranges, registered by work requests only; NULL with
 * errno.  ibv_dereg_mr ends it.  map: store the ranges for the region's next registration; returns count, or
 * -errno.  request: fill *wr with the unsignalled request that registers them under this key.
 */
struct o2_reg_fast {
	struct ibv_mr *(*alloc)(struct ibv_pd *pd, uint32_t max_entries);
	int (*map)(struct ibv_mr *mr, const struct ibv_sge *entry, uint32_t count, uint64_t iova);
	void (*request)(struct ibv_mr *mr, uint32_t key, unsigned int access, struct ibv_send_wr *wr);
};

/* The kinds of registration pools that each CPU partition has: docs/pools.md, "At an interface". */
enum o2_reg_pool_kind {
	O2_REG_POOL_FMR,      /* regions over page lists: mode fmr */
	O2_REG_POOL_FRD,      /* fast registration, lists without gaps: mode fastreg */
	O2_REG_POOL_FRD_GAPS, /* fast registration of byte ranges: mode fastreg_gaps */
	O2_REG_POOL_KINDS,
};

/* The device calls that the pools use. */
struct o2_reg_ops {
	const struct o2_fmr_ops *fmr;
	const struct o2_frd_ops *frd;
};

struct o2_reg_pools {
	struct o2_pool_set *set[O2_REG_POOL_KINDS]; /* points to the members below; NULL: none */
	struct o2_fmr_set fmr;
	struct o2_frd_set frd, frd_gaps;
	uint32_t pool_size; /* elements per pool */
};

/* o2iblnd: fmr_cache */
struct o2_reg_config {
	struct ibv_pd *pd;
	struct o2_arena *arena;
	enum o2_dma_kind kind;
	bool bounce; /* the device uses bounce pages (mem/kmap.h) */
	/* Device address of the first page (kinds bus and iommu), a multiple of the page size; ignored for
	 * kind virtual, whose page 0 is the arena's memory. */
	uint64_t base;
	struct o2_reg_caps caps; /* what may be used; a mode that needs more is refused */
	struct o2_pool_sizes sizes;
	uint32_t ncpts;			/* CPU partitions, at least 1 */
	uint32_t max_pools;		/* per pool set, or 0 for no cap */
	bool fmr_cache;			/* tunable: reuse a region already mapped to the same list */
	const struct o2_clock *clock;	/* the interface's clock; must outlive the domain */
	uint64_t device;		/* the caller's name for the device of the first pools */
	const struct o2_reg_ops *ops;	/* NULL: o2_reg_verbs_ops.  Their context is the domain. */
	o2_reg_gaps_fn reg_gaps;	/* NULL: a contiguous buffer stands in for a region with gaps */
	const struct o2_reg_fast *fast; /* mode fastreg in the kernel's order; NULL: MWs are used instead */
};

/* A domain owns all its members except pd and arena. */
struct o2_reg_domain {
	const struct o2_reg_verbs *verbs; /* the calls that register memory */
	struct ibv_pd *pd;
	struct o2_arena *arena;
	struct o2_reg_caps caps;
	struct o2_dma_device dma;     /* the caller may set dma.iommu.merge and .fault */
	bool bounce;		      /* regions use the arena's bounce pages (mem/kmap.h) */
	struct ibv_mr *global_local;  /* mode global, sources: no remote access */
	struct ibv_mr *global_remote; /* mode global, sinks */
	struct o2_reg_pools *pools;   /* one per CPU partition: ncpts */
	uint32_t ncpts;
	o2_reg_gaps_fn reg_gaps;	/* NULL: the device cannot register regions with gaps */
	const struct o2_reg_fast *fast; /* NULL: mode fastreg uses MWs */

	/*
	 * Variants of the modes (docs/modes.md).  All are false after opening; the caller may set them while
	 * no other thread uses the domain.
	 */
	bool gaps_by_staging; /* mode fastreg_gaps: use a contiguous buffer even if reg_gaps is there */
	bool fmr_per_segment; /* mode fmr: one fragment per segment also for lists without gaps */
	bool fmr_lazy; /* mode fmr: a released region stays mapped, its key alive, until o2_reg_flush */

	/*
	 * Guards the two members below and the arena's windows.  Never held during a device call, nor
	 * together with the lock of a pool or of a pool set.
	 */
	pthread_mutex_t lock;
	struct o2_staging *idle_staging[O2_DOMAIN_STAGINGS];
	uint32_t nidle_staging;
	/* The members below are not guarded by the lock. */
	uint64_t max_bound;	  /* with fewer bindings alive, no capped pool set is exhausted */
	_Atomic uint32_t nbound;  /* bindings alive: 0 when all were released */
	_Atomic uint64_t unbinds; /* bindings ever released; a change means that a window may be free */
	struct o2_reg_live live;
};

/* The pools' device calls on libibverbs.  Their context is a domain. */
extern const struct o2_fmr_ops o2_reg_verbs_fmr;
extern const struct o2_frd_ops o2_reg_verbs_frd;
extern const struct o2_reg_ops o2_reg_verbs_ops;
/* The same calls for descriptors that are registered by domain->fast. */
extern const struct o2_frd_ops o2_reg_fast_frd;

/*
 * Open a domain: make first the regions of mode global, then the pools of each partition. Returns 0 or
 * -errno, with nothing left behind.  If RLIMIT_MEMLOCK causes -ENOMEM, *error names the limit.
 * o2iblnd: kiblnd_net_init_pools
 */
int o2_reg_domain_open(const struct o2_reg_config *config, struct o2_reg_domain *domain,
		       struct o2_error *error);

/* Close a domain, all of whose bindings were released.  Does nothing to a domain that is not open. */
/* o2iblnd: kiblnd_net_fini_pools */
void o2_reg_domain_close(struct o2_reg_domain *domain);

/*
 * Change the kind of device addresses and their base: make the regions of mode global anew, then flush the
 * regions that mode fmr keeps.  Returns 0; -EBUSY while a binding is alive; -EINVAL or the registration's
 * error: then nothing has changed, and the kept regions are still mapped.
 */
int o2_reg_domain_set_dma(struct o2_reg_domain *domain, enum o2_dma_kind kind, uint64_t base,
			  struct o2_error *error);
/* The same for a change of whether the device uses bounce pages. */
int o2_reg_domain_set_bounce(struct o2_reg_domain *domain, bool bounce, struct o2_error *error);

/* Are a window and a pool element free now?  If not, flush what mode fmr keeps, and look again. */
bool o2_reg_window_free(struct o2_reg_domain *domain);
/*
 * From now on the bindings of all threads leave `windows` windows of the arena free.  A connection calls this
 * before each of its own bindings; that works because one thread drives all connections of an interface.
 */
void o2_reg_keep_windows(struct o2_reg_domain *domain, uint32_t windows);

/* Deregister the regions that mode fmr keeps after their release.  Their keys are alive until then. */
void o2_reg_flush(struct o2_reg_domain *domain);

/* Register the two regions of mode global; o2_reg_global_close deregisters them. */
/* o2iblnd: kiblnd_hdev_setup_mrs */
/* kernel: ib_get_dma_mr */
int o2_reg_global_open(struct o2_reg_domain *domain, struct o2_error *error);
/* o2iblnd: kiblnd_hdev_cleanup_mrs */
void o2_reg_global_close(struct o2_reg_domain *domain);

/* Mark all pools as failed; new ones are made on demand, for `device` (docs/pools.md, "Failover"). */
void o2_reg_fail_pools(struct o2_reg_domain *domain, uint64_t device);

/* Fill *caps with what the device can do.  Returns 0 or -errno of ibv_query_device(3). */
/* o2iblnd: kiblnd_hdev_get_attr */
int o2_reg_detect(struct ibv_context *context, struct o2_reg_caps *caps, struct o2_error *error);

/* Whether mode fastreg_gaps uses the device's regions with gaps, and not a contiguous buffer in their place. */
bool o2_reg_has_gaps(const struct o2_reg_domain *domain);

#endif
