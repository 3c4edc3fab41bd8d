/* SPDX-License-Identifier: MIT */
#ifndef O2_REG_POOL_FMR_H
#define O2_REG_POOL_FMR_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/error.h"
#include "reg/pool/poolset.h"

/*
 * Pools of regions that are mapped onto page lists and unmapped in batches ("FMR").  Source: docs/pools.md,
 * "FMR pools".
 *
 * A region that was released stays mapped, and its key alive, until it is mapped again or flushed.  While it
 * stays so, a second transfer with the same list may be given the same key: the cache.
 */

#define O2_FMR_MAX_REMAPS 32u  /* mappings between two flushes, when the device names no number */
#define O2_FMR_BUCKETS	  256u /* of the cache; ours */

/*
 * What to map: a list of pages, and which of its bytes.  Page i lies at [iova + i * page_bytes, ...).  Two
 * requests are the same list only if all of this is the same, so that a key never gives more than was asked
 * for.
 */
struct o2_fmr_request {
	const uint64_t *pages; /* device addresses of whole pages */
	uint32_t npages;       /* 1 to max_pages */
	uint32_t page_offset;  /* of the first byte in the first page */
	uint64_t iova;	       /* of the first page: a multiple of the page size */
	uint64_t length;       /* bytes from the first one on */
	uint32_t access;       /* O2_ACCESS_*, as the plan says */
	/*
	 * True: o2_fmr_put ends the key, and no other transfer gets it before.  False: the region is kept,
	 * with its key alive, until it is mapped for another list or flushed, as kernels do.
	 */
	bool strict;
};

/*
 * What the device does for these pools.  -errno on failure; *error, which may be NULL, may say more.  None is
 * called with a lock held; map and unmap may be called by several threads at once, for different regions.
 *
 * create: a region for lists of at most max_pages pages of page_bytes.
 *
 * map: the region covers what the request names from now on, under new keys.  After a failure none of its
 * keys was given to anybody.
 *
 * unmap: all keys of these regions die.  After a failure they count as mapped and the call will be repeated.
 *
 * kernel: ib_create_fmr_pool
 */
struct o2_fmr_ops {
	int (*create)(void *context, uint64_t device, uint32_t max_pages, uint32_t page_bytes, void **handle,
		      struct o2_error *error);
	void (*destroy)(void *context, void *handle);
	int (*map)(void *context, void *handle, const struct o2_fmr_request *request, uint32_t *lkey,
		   uint32_t *rkey, struct o2_error *error);
	int (*unmap)(void *context, void *const *handles, uint32_t count);
};

struct o2_fmr_config {
	struct o2_pool_set_config set;
	const struct o2_fmr_ops *ops;
	void *context;	      /* for ops */
	uint32_t pool_size;   /* regions per pool, 1 to O2_POOL_SIZE_MAX */
	uint32_t max_pages;   /* O2_MAX_FRAGS or O2_MAX_FRAGS_LEGACY */
	uint32_t page_bytes;  /* 4096, 16384 or 65536 */
	uint32_t max_remaps;  /* 0: O2_FMR_MAX_REMAPS */
	uint32_t watermark;   /* dirty regions at which a flush is wanted, 1 to pool_size */
	bool cache;	      /* tunable fmr_cache */
	bool flush_on_demand; /* false: o2_fmr_put flushes when one is wanted; true: o2_fmr_set_flush does */
};

enum o2_fmr_place {
	O2_FMR_FREE,	 /* may be mapped; perhaps still is */
	O2_FMR_MAPPING,	 /* the device is being asked */
	O2_FMR_USED,	 /* refs > 0 */
	O2_FMR_DIRTY,	 /* to be unmapped before it may be mapped again */
	O2_FMR_FLUSHING, /* being unmapped */
	O2_FMR_PLACES,
};

struct o2_fmr_pool;

/* Belongs to its pool, which guards it.  Holders read handle, lkey, rkey and mapped. */
/* kernel: ib_pool_fmr */
struct o2_fmr {
	TAILQ_ENTRY(o2_fmr) link;	/* FREE, DIRTY, FLUSHING */
	LIST_ENTRY(o2_fmr) cached_link; /* same bucket */
	struct o2_fmr_pool *pool;
	void *handle;
	enum o2_fmr_place place;
	bool cached;	 /* found by its list */
	uint32_t refs;	 /* transfers that use it */
	uint32_t remaps; /* mappings since the last flush */
	uint32_t lkey, rkey;
	struct o2_fmr_request mapped; /* what it is mapped to; a copy of the pages is in the next member */
	uint64_t *pages;	      /* max_pages; NULL without cache */
};

TAILQ_HEAD(o2_fmr_list, o2_fmr);

/* First in, first out: the head of the free queue is the one whose key is the oldest. */
struct o2_fmr_queue {
	struct o2_fmr_list list;
	uint32_t count;
};

/* o2iblnd: kib_fmr_pool */
struct o2_fmr_pool {
	struct o2_pool base;
	pthread_mutex_t lock; /* never taken together with the lock of the set */
	struct o2_fmr_queue free, dirty;
	bool flush_wanted;
	LIST_HEAD(, o2_fmr) bucket[O2_FMR_BUCKETS]; /* those that are found by their lists */
	uint64_t *pages;
	struct o2_fmr fmr[]; /* pool_size */
};

/* o2iblnd: kib_fmr_poolset */
struct o2_fmr_set {
	struct o2_pool_set set;
	struct o2_fmr_config config;
};

/*
 * A set with its first pool, to be closed by o2_pool_set_close.  Returns 0, -EINVAL (the config), -ENOMEM, or
 * what ops->create failed with.
 * o2iblnd: kiblnd_init_fmr_poolset
 */
int o2_fmr_set_init(struct o2_fmr_set *set, const struct o2_fmr_config *config, struct o2_error *error);

/*
 * Map a list of pages, or find it mapped.
 *
 *   -EINVAL          npages is 0 or above max_pages, or iova is not a multiple of the page size
 *   -EAGAIN, -EBUSY  o2_pool_set_take
 *   others           what ops->map failed with; the region is free again
 */
int o2_fmr_take(struct o2_fmr_set *set, const struct o2_fmr_request *request, struct o2_fmr **fmr,
		struct o2_error *error);

/*
 * Release one use.  transfer_failed: the device may still be using the region, so its pool is flushed at
 * once. Returns 0, or -EINVAL when nobody uses it.  A flush that fails is no error of the release: the
 * regions stay dirty, and the flush is wanted again.  But when a strict mapping could not be undone, that
 * -errno is returned: the use was released, and the key may be alive.
 * kernel: ib_fmr_pool_unmap
 */
int o2_fmr_put(struct o2_fmr_set *set, struct o2_fmr *fmr, bool transfer_failed, struct o2_error *error);

/* Flush those pools that want it, or (all) every live pool, free regions included. */
/* kernel: ib_flush_fmr_pool */
void o2_fmr_set_flush(struct o2_fmr_set *set, bool all);

#endif
