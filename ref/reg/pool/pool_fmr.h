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
 * Pools of regions that are mapped to page lists and unmapped in batches ("FMR").  Source: docs/pools.md,
 * "FMR pools".
 *
 * A released region stays mapped, and its key alive, until the region is mapped again or flushed.  Until then
 * a second transfer with the same page list may get the same key: the cache.
 */

#define O2_FMR_MAX_REMAPS 32u  /* mappings between two flushes, when the device sets no limit */
#define O2_FMR_BUCKETS	  256u /* hash buckets of the cache; our number */

/*
 * What to map: a list of pages and a byte range in it.  Page i lies at [iova + i * page_bytes, ...).  Two
 * requests count as the same list only if all members but `strict` are equal, so that a key never gives
 * access to more than was asked for.
 */
struct o2_fmr_request {
	const uint64_t *pages; /* device addresses of whole pages */
	uint32_t npages;       /* 1 to max_pages */
	uint32_t page_offset;  /* offset of the first byte in the first page */
	uint64_t iova;	       /* iova of the first page: a multiple of the page size */
	uint64_t length;       /* bytes from the first byte on */
	uint32_t access;       /* O2_ACCESS_*, from the plan */
	/*
	 * True: o2_fmr_put ends the key, and no other transfer shares it.  False: after o2_fmr_put the region
	 * stays mapped, with its key alive, until it is mapped to another list or flushed, as kernels do.
	 */
	bool strict;
};

/*
 * The device calls of these pools.  They return -errno on failure; *error, which may be NULL, may say more.
 * None is called with a lock held.  Several threads may call map and unmap at once, for different regions.
 *
 * create: a region for lists of at most max_pages pages of page_bytes.
 *
 * map: the region covers from now on what the request describes, under new keys.  After a failure nobody has
 * been given a key of it.
 *
 * unmap: all keys of these regions die.  After a failure all of them count as mapped, and the call is
 * repeated later.
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
	void *context;	      /* first argument of the ops */
	uint32_t pool_size;   /* regions per pool, 1 to O2_POOL_SIZE_MAX */
	uint32_t max_pages;   /* O2_MAX_FRAGS or O2_MAX_FRAGS_LEGACY */
	uint32_t page_bytes;  /* 4096, 16384 or 65536 */
	uint32_t max_remaps;  /* 0: O2_FMR_MAX_REMAPS */
	uint32_t watermark;   /* flush when so many regions are dirty, 1 to pool_size */
	bool cache;	      /* tunable fmr_cache */
	bool flush_on_demand; /* false: o2_fmr_put does a flush that is due; true: o2_fmr_set_flush */
};

enum o2_fmr_place {
	O2_FMR_FREE,	 /* may be taken; may still be mapped */
	O2_FMR_MAPPING,	 /* ops->map is running */
	O2_FMR_USED,	 /* in use by transfers: refs > 0 */
	O2_FMR_DIRTY,	 /* must be unmapped before it is mapped again */
	O2_FMR_FLUSHING, /* ops->unmap is running */
	O2_FMR_PLACES,
};

struct o2_fmr_pool;

/* Owned by its pool and guarded by the pool's lock.  Holders read handle, lkey, rkey and mapped. */
/* kernel: ib_pool_fmr */
struct o2_fmr {
	TAILQ_ENTRY(o2_fmr) link;	/* in states FREE, DIRTY, FLUSHING */
	LIST_ENTRY(o2_fmr) cached_link; /* regions of the same bucket */
	struct o2_fmr_pool *pool;
	void *handle;
	enum o2_fmr_place place;
	bool cached;	 /* in a bucket of the cache */
	uint32_t refs;	 /* transfers that use it */
	uint32_t remaps; /* mappings since the last flush */
	uint32_t lkey, rkey;
	struct o2_fmr_request mapped; /* what is mapped, with the pages in the next member */
	uint64_t *pages;	      /* max_pages of them; NULL without cache */
};

TAILQ_HEAD(o2_fmr_list, o2_fmr);

/* First in, first out: the head of the free queue is the region with the oldest key. */
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
	LIST_HEAD(, o2_fmr) bucket[O2_FMR_BUCKETS]; /* cached regions, hashed by their first page */
	uint64_t *pages;
	struct o2_fmr fmr[]; /* pool_size regions */
};

/* o2iblnd: kib_fmr_poolset */
struct o2_fmr_set {
	struct o2_pool_set set;
	struct o2_fmr_config config;
};

/*
 * Make a set with its first pool.  Close it with o2_pool_set_close.  Returns 0, -EINVAL (the config is not
 * legal), -ENOMEM, or the errno of ops->create.
 * o2iblnd: kiblnd_init_fmr_poolset
 */
int o2_fmr_set_init(struct o2_fmr_set *set, const struct o2_fmr_config *config, struct o2_error *error);

/*
 * Map a list of pages, or share a region that is already mapped to it.
 *
 *   -EINVAL          npages is 0 or above max_pages, or iova is not a multiple of the page size
 *   -EAGAIN, -EBUSY  from o2_pool_set_take
 *   others           the errno of ops->map; the region is free again
 */
int o2_fmr_take(struct o2_fmr_set *set, const struct o2_fmr_request *request, struct o2_fmr **fmr,
		struct o2_error *error);

/*
 * Release one use of a region.  transfer_failed: the device may still be using the region, so its pool is
 * flushed at once.  Returns 0, or -EINVAL when the region is not in use.  A failed flush does not fail the
 * release: its regions stay dirty, and the flush is tried again later.  But if a strict mapping could not be
 * unmapped, that -errno is returned: the use was released, but the key may still be alive.
 * kernel: ib_fmr_pool_unmap
 */
int o2_fmr_put(struct o2_fmr_set *set, struct o2_fmr *fmr, bool transfer_failed, struct o2_error *error);

/* Flush the pools where a flush is due; or (all) every live pool, including its free regions. */
/* kernel: ib_flush_fmr_pool */
void o2_fmr_set_flush(struct o2_fmr_set *set, bool all);

#endif
