/* SPDX-License-Identifier: MIT */
#ifndef O2_REG_POOL_FRD_H
#define O2_REG_POOL_FRD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/error.h"
#include "reg/pool/frd_key.h"
#include "reg/pool/poolset.h"

/*
 * Pools of fast-registration descriptors.  Source: docs/pools.md, "Descriptor pools".
 *
 * A descriptor is one region and the life of its key (frd_key.h).  Idle ones stand in a queue: taken at the
 * head, put back at the tail, so that as much time as possible passes before a descriptor's key is counted up
 * and used again.
 */

/* What a device gives for one descriptor. */
struct o2_frd_object {
	void *handle;
	uint32_t lkey, rkey;
};

/* What to map. */
struct o2_frd_request {
	enum o2_side side;
	bool gaps;	  /* verdict of sg_build */
	uint32_t entries; /* of the list, after dma_map: 1 to max_pages */
	const void *list; /* for ops->map */
};

/*
 * What the device does for these pools.  -errno on failure, with nothing left behind; *error, which may be
 * NULL, may say more.  None is called with a lock held; map and unmap are called by whoever holds the
 * descriptor.
 *
 * create: a region for max_pages entries; gaps: of the kind that holds lists with gaps.
 *
 * map: note the list that the next registration of `handle` takes.  Returns how many of its entries it took.
 * *lkey is the descriptor's; under O2_FRD_INVALIDATE_LAST a source's mapping has an lkey of its own, which
 * map writes there.
 *
 * unmap: the mapping ends, its key is dead or was never made alive.  NULL for a device that leaves the list
 * where it is until the next one.
 *
 * kernel: ib_alloc_mr, ib_alloc_fast_reg_mr
 */
struct o2_frd_ops {
	int (*create)(void *context, uint64_t device, uint32_t max_pages, bool gaps,
		      struct o2_frd_object *object, struct o2_error *error);
	void (*destroy)(void *context, void *handle);
	int (*map)(void *context, void *handle, const struct o2_frd_request *request, uint32_t *lkey,
		   struct o2_error *error);
	void (*unmap)(void *context, void *handle);
};

struct o2_frd_config {
	struct o2_pool_set_config set;
	const struct o2_frd_ops *ops;
	void *context; /* for ops */
	enum o2_frd_order order;
	uint32_t pool_size; /* descriptors per pool, 1 to O2_POOL_SIZE_MAX */
	uint32_t max_pages; /* O2_MAX_FRAGS or O2_MAX_FRAGS_LEGACY */
	bool gaps;	    /* the kind of region that is allocated, whatever the device could do */
};

struct o2_frd_pool;

/*
 * Belongs to its pool; handle and key to the holder between o2_frd_take and o2_frd_put.
 * o2iblnd: kib_fast_reg_descriptor
 */
struct o2_frd {
	STAILQ_ENTRY(o2_frd) link;
	struct o2_frd_pool *pool;
	void *handle;
	struct o2_frd_key key;
};

/* o2iblnd: kib_fmr_pool */
struct o2_frd_pool {
	struct o2_pool base; /* stays the first member */
	STAILQ_HEAD(, o2_frd) idle;
	struct o2_frd frd[]; /* pool_size */
};

/* o2iblnd: kib_fmr_poolset */
struct o2_frd_set {
	struct o2_pool_set set;
	struct o2_frd_config config;
};

/*
 * A set with its first pool, to be closed by o2_pool_set_close.  Returns 0, -EINVAL (the config), -ENOMEM, or
 * what ops->create failed with.
 * o2iblnd: kiblnd_init_fmr_poolset
 */
int o2_frd_set_init(struct o2_frd_set *set, const struct o2_frd_config *config, struct o2_error *error);

/*
 * Take a descriptor and map.  On success (*frd)->key is PREPARED.  On failure the descriptor is back in its
 * queue, and the pool has as many users as before.
 *
 *   -EPROTONOSUPPORT  the list has gaps, which this set's regions cannot hold; no pool was touched
 *   -EINVAL           the request; or a short map: ops->map took fewer entries than there are
 *   -EAGAIN, -EBUSY   o2_pool_set_take
 *   others            what ops->map failed with
 */
int o2_frd_take(struct o2_frd_set *set, const struct o2_frd_request *request, struct o2_frd **frd,
		struct o2_error *error);

/*
 * Give the mapping up.  -EBUSY while the key is alive (o2_frd_unmap) and -EINVAL for a descriptor that is not
 * taken; it stays with the caller then.
 */
int o2_frd_put(struct o2_frd_set *set, struct o2_frd *frd, struct o2_error *error);

/*
 * Give it up although its key may be alive, because its queue pair is in error: the region is destroyed and
 * made anew.  Must happen before the queue pair is destroyed.  When no new region can be made, the pool
 * retires: the descriptor is given up all the same, and the pool is destroyed with its last user.  -EINVAL
 * for a descriptor that is not taken.
 */
int o2_frd_discard(struct o2_frd_set *set, struct o2_frd *frd, struct o2_error *error);

#endif
