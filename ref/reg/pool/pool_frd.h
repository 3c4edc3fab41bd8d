/* SPDX-License-Identifier: MIT */
#ifndef O2_REG_POOL_FRD_H
#define O2_REG_POOL_FRD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "mem/dma_map.h"
#include "reg/pool/poolset.h"

/* --- the life of a key --- */

/*
 * The life of one fast-registration key, as a state machine over plain data.  Source: docs/pools.md, "The
 * life of a key".  Pure: it says what has to be posted and is told what became of it; it posts nothing.
 *
 * Not thread-safe: a key belongs to whoever holds its descriptor.
 */

/* When the key of a mapping is invalidated. */
enum o2_frd_order {
	/*
	 * As kernels do: the chain in front of the first message is {invalidate the old key, register the new
	 * one}, and a released key stays alive until the next chain.
	 */
	O2_FRD_INVALIDATE_FIRST,
	/*
	 * As user-space verbs need it: the chain is {bind the new key}; it is invalidated when the transfer
	 * is over, on the queue pair that bound it, and released after that.
	 */
	O2_FRD_INVALIDATE_LAST,
};

enum o2_frd_state {
	O2_FRD_FRESH,	      /* idle; the next mapping takes a new key */
	O2_FRD_PREPARED,      /* mapped: the chain has to be posted before the key is used */
	O2_FRD_IDLE_PREPARED, /* idle after a mapping that was never posted: its key is still to be used */
	O2_FRD_LIVE,	      /* mapped and posted */
	O2_FRD_SPENT,	      /* mapped; posting failed after the chain had begun: never posted again */
	O2_FRD_INVALIDATING,  /* invalidate last: posted, not completed */
	O2_FRD_DEAD,	      /* invalidate last: completed */
	O2_FRD_DOOMED,	      /* invalidate last: failed; only o2_frd_replaced goes on from here */
	O2_FRD_STATES,
};

struct o2_frd_key {
	enum o2_frd_order order;
	enum o2_frd_state state;
	enum o2_side side;   /* of the current or last mapping */
	uint32_t lkey, rkey; /* what the next or current registration carries */
	uint32_t old_rkey;   /* PREPARED and IDLE_PREPARED: the key before the count */
	bool registered;     /* by what was posted, the device knows registered_key */
	uint32_t registered_key;
	uint64_t queue; /* the caller's name for the queue pair that took the chain */
};

/* What has to go in front of a message, in this order. */
struct o2_frd_chain {
	uint32_t count; /* requests: 0, 1 or 2 */
	bool invalidate;
	uint32_t invalidate_rkey;
	bool bind;
	uint32_t bind_key; /* rkey of a sink, lkey of a source */
};

/* The low byte counts, modulo 256; the other bits name the region and stay. */
/* kernel: ib_inc_rkey, ib_update_fast_reg_key */
uint32_t o2_frd_bump(uint32_t key);

/* Start with a region that was just allocated. */
void o2_frd_init(struct o2_frd_key *key, enum o2_frd_order order, uint32_t lkey, uint32_t rkey);

/* The two flags by which kernels know these states. */
/* o2iblnd: frd_valid, frd_posted */
bool o2_frd_valid(const struct o2_frd_key *key);  /* the chain that is prepared was not used yet */
bool o2_frd_posted(const struct o2_frd_key *key); /* the chain was posted with the transfer's first message */

/* What a descriptor carries: rkey of a sink, lkey of a source. */
uint32_t o2_frd_published(const struct o2_frd_key *key);

/*
 * Each step below returns 0, or -EINVAL (rule "frd/<step>/state"; value: the state) when the state does not
 * allow it.  Nothing has changed then.
 */

/*
 * FRESH: a new key, to PREPARED.  IDLE_PREPARED: the same key and the same invalidate, to PREPARED.
 *
 * A source under invalidate last gathers through the lkey of the region that was made for it (o2_frd_gather),
 * and has nothing to bind: its chain is empty, so that it stays PREPARED, and the key that was counted up is
 * left for the next mapping.
 */
int o2_frd_map(struct o2_frd_key *key, enum o2_side side, struct o2_error *error);

/* PREPARED, a source under invalidate last: the lkey of this mapping. */
void o2_frd_gather(struct o2_frd_key *key, uint32_t lkey);

/* What the next post of the transfer has to begin with: in LIVE nothing.  From PREPARED and LIVE. */
int o2_frd_chain(const struct o2_frd_key *key, struct o2_frd_chain *chain, struct o2_error *error);

/*
 * The outcome of a post that began with the chain, on `queue`.  accepted: how many requests of the chain were
 * taken; ok: all of the post was.  PREPARED: to LIVE when ok; stays when none was accepted; else to SPENT.
 * LIVE has no chain, and stays whatever happened.  -EINVAL as well for more than the chain has, or ok with
 * less.
 */
int o2_frd_post_done(struct o2_frd_key *key, uint64_t queue, uint32_t accepted, bool ok,
		     struct o2_error *error);

/*
 * Invalidate last, from LIVE, or SPENT when the bind was accepted: *rkey has to be invalidated, on `queue`.
 * -EINVAL also for a queue pair other than the one that bound it.
 */
int o2_frd_invalidate(const struct o2_frd_key *key, uint64_t queue, uint32_t *rkey, struct o2_error *error);

/* It was posted, to INVALIDATING; or could not be, to DOOMED. */
int o2_frd_invalidate_posted(struct o2_frd_key *key, bool ok, struct o2_error *error);

/* It completed, to DEAD; or was flushed, to DOOMED. */
int o2_frd_invalidated(struct o2_frd_key *key, bool ok, struct o2_error *error);

/*
 * The mapping is given up.  PREPARED: to IDLE_PREPARED.  DEAD: to FRESH.  LIVE and SPENT: to FRESH, but under
 * invalidate last -EBUSY (rule "frd/unmap/key-alive") while the key is alive.  INVALIDATING, DOOMED: -EBUSY
 * likewise.
 */
int o2_frd_unmap(struct o2_frd_key *key, struct o2_error *error);

/*
 * The region was replaced by another, because its queue pair is in error.  From any state but FRESH and
 * IDLE_PREPARED, to FRESH.
 */
int o2_frd_replaced(struct o2_frd_key *key, uint32_t lkey, uint32_t rkey, struct o2_error *error);

/* --- pools of descriptors --- */

/*
 * Pools of fast-registration descriptors.  Source: docs/pools.md, "Descriptor pools".
 *
 * A descriptor is one region and the life of its key.  Idle ones stand in a queue: taken at the
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
 * unmap: the mapping ends, its key is dead or was never made alive.  When that fails the mapping stays, and map
 * or destroy has to end it first.  NULL for a device that leaves the list where it is until the next one.
 *
 * kernel: ib_alloc_mr, ib_alloc_fast_reg_mr
 */
struct o2_frd_ops {
	int (*create)(void *context, uint64_t device, uint32_t max_pages, bool gaps,
		      struct o2_frd_object *object, struct o2_error *error);
	void (*destroy)(void *context, void *handle);
	int (*map)(void *context, void *handle, const struct o2_frd_request *request, uint32_t *lkey,
		   struct o2_error *error);
	int (*unmap)(void *context, void *handle, struct o2_error *error);
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

/* Belongs to its pool; handle and key to the holder between o2_frd_take and o2_frd_put. */
/* o2iblnd: kib_fast_reg_descriptor */
struct o2_frd {
	struct o2_idle_element idle; /* stays the first member */
	struct o2_frd_pool *pool;
	void *handle;
	struct o2_frd_key key;
};

/* o2iblnd: kib_fmr_pool */
struct o2_frd_pool {
	struct o2_pool base; /* stays the first member */
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
 * taken; it stays with the caller then.  What ops->unmap failed with: the descriptor is given up all the same.
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
