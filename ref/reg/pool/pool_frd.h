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
 * The life of one fast-registration key, as a state machine without I/O.  Source: docs/pools.md, "The life of
 * a key".  Pure: the caller posts what the state machine asks for, and tells it the outcome.
 *
 * Not thread-safe: a key is used only by the holder of its descriptor.
 */

/* When the key of a mapping is invalidated. */
enum o2_frd_order {
	/*
	 * As kernels do: the chain in front of the first message is {invalidate the old key, register the new
	 * key}; a released key stays alive until the next chain.
	 */
	O2_FRD_INVALIDATE_FIRST,
	/*
	 * As user-space verbs need it: the chain is {bind the new key}.  When the transfer is over the key is
	 * invalidated on the queue pair that bound it, and only then released.
	 */
	O2_FRD_INVALIDATE_LAST,
};

enum o2_frd_state {
	O2_FRD_FRESH,	      /* idle; the next mapping takes a new key */
	O2_FRD_PREPARED,      /* mapped: the chain has to be posted before the key is used */
	O2_FRD_IDLE_PREPARED, /* idle; the last mapping was not posted, so the next one uses its key */
	O2_FRD_LIVE,	      /* mapped and posted */
	O2_FRD_SPENT,	      /* mapped; a post failed after part of the chain: never posted again */
	O2_FRD_INVALIDATING,  /* invalidate last: the invalidate is posted, not completed */
	O2_FRD_DEAD,	      /* invalidate last: the invalidate has completed */
	O2_FRD_DOOMED,	      /* invalidate last: the invalidate failed; o2_frd_replaced only */
	O2_FRD_STATES,
};

struct o2_frd_key {
	enum o2_frd_order order;
	enum o2_frd_state state;
	enum o2_side side;   /* side of the current or last mapping */
	uint32_t lkey, rkey; /* keys of the current or next registration */
	uint32_t old_rkey;   /* PREPARED and IDLE_PREPARED: the previous key */
	bool registered;     /* the accepted requests make registered_key valid */
	uint32_t registered_key;
	uint64_t queue; /* the caller's name for the queue pair that accepted the chain */
};

/* The requests to post in front of a message, in this order. */
struct o2_frd_chain {
	uint32_t count; /* number of requests: 0, 1 or 2 */
	bool invalidate;
	uint32_t invalidate_rkey;
	bool bind;
	uint32_t bind_key; /* rkey of a sink, lkey of a source */
};

/* The next key: the low byte is incremented modulo 256; the other bits name the region and stay. */
/* kernel: ib_inc_rkey, ib_update_fast_reg_key */
uint32_t o2_frd_bump(uint32_t key);

/* Initialize *key for a region that was just allocated. */
void o2_frd_init(struct o2_frd_key *key, enum o2_frd_order order, uint32_t lkey, uint32_t rkey);

/* The two flags in which kernels keep these states. */
/* o2iblnd: frd_valid, frd_posted */
bool o2_frd_valid(const struct o2_frd_key *key);  /* the prepared chain was not posted yet */
bool o2_frd_posted(const struct o2_frd_key *key); /* the chain was posted with the transfer's first message */

/* The key that a descriptor carries: rkey of a sink, lkey of a source. */
uint32_t o2_frd_published(const struct o2_frd_key *key);

/*
 * Each step below returns 0, or -EINVAL (rule "frd/<step>/state"; value: the state) when the current state
 * does not allow the step; then nothing has changed.
 */

/*
 * FRESH: make a new key.  IDLE_PREPARED: keep the key and the key to invalidate.  Both go to PREPARED.
 *
 * A source under invalidate last gathers through the lkey of the region that is made for its mapping
 * (o2_frd_gather) and has nothing to bind.  Its chain is empty, so the key stays PREPARED, and the next
 * mapping uses the key that was made here.
 */
int o2_frd_map(struct o2_frd_key *key, enum o2_side side, struct o2_error *error);

/* PREPARED, a source under invalidate last: set the lkey of this mapping. */
void o2_frd_gather(struct o2_frd_key *key, uint32_t lkey);

/* The requests that the next post of the transfer must begin with; none in LIVE.  From PREPARED and LIVE. */
int o2_frd_chain(const struct o2_frd_key *key, struct o2_frd_chain *chain, struct o2_error *error);

/*
 * Record the outcome of a post that began with the chain, on `queue`.  accepted: how many requests of the
 * chain were accepted; ok: the whole post was accepted.  PREPARED stays if accepted is 0, also after an empty
 * chain; else it goes to LIVE if ok, and to SPENT if not.  LIVE has no chain and stays in any case.  Also
 * -EINVAL if accepted is more than the chain has, or less although ok.
 */
int o2_frd_post_done(struct o2_frd_key *key, uint64_t queue, uint32_t accepted, bool ok,
		     struct o2_error *error);

/*
 * Invalidate last, from LIVE, or from SPENT if the bind was accepted: *rkey must be invalidated, on `queue`.
 * Also -EINVAL for a queue pair other than the one that bound the key.
 */
int o2_frd_invalidate(const struct o2_frd_key *key, uint64_t queue, uint32_t *rkey, struct o2_error *error);

/* The invalidate was posted (ok): to INVALIDATING.  It could not be posted: to DOOMED. */
int o2_frd_invalidate_posted(struct o2_frd_key *key, bool ok, struct o2_error *error);

/* The invalidate completed (ok): to DEAD.  It was flushed with an error: to DOOMED. */
int o2_frd_invalidated(struct o2_frd_key *key, bool ok, struct o2_error *error);

/*
 * Give up the mapping.  PREPARED: to IDLE_PREPARED.  DEAD: to FRESH.  LIVE and SPENT: to FRESH, but under
 * invalidate last -EBUSY (rule "frd/unmap/key-alive") while the key is alive.  INVALIDATING and DOOMED: the
 * same -EBUSY.
 */
int o2_frd_unmap(struct o2_frd_key *key, struct o2_error *error);

/*
 * The region was replaced by a new one with these keys, because its queue pair is in error.  From any state
 * but FRESH and IDLE_PREPARED, to FRESH.
 */
int o2_frd_replaced(struct o2_frd_key *key, uint32_t lkey, uint32_t rkey, struct o2_error *error);

/* --- pools of descriptors --- */

/*
 * Pools of fast-registration descriptors.  Source: docs/pools.md, "Descriptor pools".
 *
 * A descriptor is one region and the state of its key.  Idle descriptors stand in a queue: taken at the head,
 * put back at the tail, so that as much time as possible passes before a descriptor's key is incremented and
 * used again.
 */

/* The device object of one descriptor. */
struct o2_frd_object {
	void *handle;
	uint32_t lkey, rkey;
};

/* What to map. */
struct o2_frd_request {
	enum o2_side side;
	bool gaps;	  /* the list has gaps, as found by sg_build */
	uint32_t entries; /* entries of the list after dma_map: 1 to max_pages */
	const void *list; /* passed on to ops->map */
};

/*
 * The device calls of these pools.  They return -errno on failure, with nothing left behind; *error, which
 * may be NULL, may say more.  None is called with a lock held.  map and unmap are called only for the thread
 * that holds the descriptor.
 *
 * create: a region for max_pages entries; gaps: of the kind that holds lists with gaps.
 *
 * map: store the list that the next registration of `handle` uses.  Returns how many of its entries it took.
 * *lkey holds the descriptor's lkey; under O2_FRD_INVALIDATE_LAST map stores there the lkey of this mapping,
 * which a source uses.
 *
 * unmap: end the mapping, whose key is dead or was never made alive.  After a failure the mapping stays, and
 * map or destroy must end it first.  NULL for a device that keeps the list until the next one is mapped.
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
	void *context; /* first argument of the ops */
	enum o2_frd_order order;
	uint32_t pool_size; /* descriptors per pool, 1 to O2_POOL_SIZE_MAX */
	uint32_t max_pages; /* O2_MAX_FRAGS or O2_MAX_FRAGS_LEGACY */
	bool gaps;	    /* allocate regions for lists with gaps */
};

struct o2_frd_pool;

/* Owned by its pool.  Between o2_frd_take and o2_frd_put the holder owns handle and key. */
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
	struct o2_frd frd[]; /* pool_size descriptors */
};

/* o2iblnd: kib_fmr_poolset */
struct o2_frd_set {
	struct o2_pool_set set;
	struct o2_frd_config config;
};

/*
 * Make a set with its first pool.  Close it with o2_pool_set_close.  Returns 0, -EINVAL (the config is not
 * legal), -ENOMEM, or the errno of ops->create.
 * o2iblnd: kiblnd_init_fmr_poolset
 */
int o2_frd_set_init(struct o2_frd_set *set, const struct o2_frd_config *config, struct o2_error *error);

/*
 * Take a descriptor and map a list.  On success (*frd)->key is PREPARED.  On failure the descriptor is back
 * in its queue, and the pool has as many users as before.
 *
 *   -EPROTONOSUPPORT  the list has gaps, which this set's regions cannot hold; no pool was touched
 *   -EINVAL           the request is not legal; or a short map: ops->map took fewer entries than there are
 *   -EAGAIN, -EBUSY   from o2_pool_set_take
 *   others            the errno of ops->map
 */
int o2_frd_take(struct o2_frd_set *set, const struct o2_frd_request *request, struct o2_frd **frd,
		struct o2_error *error);

/*
 * End the mapping and put the descriptor back.  -EBUSY while the key is alive (o2_frd_unmap) or -EINVAL for a
 * descriptor that is not taken: the caller keeps it.  After an error of ops->unmap it was put back.
 */
int o2_frd_put(struct o2_frd_set *set, struct o2_frd *frd, struct o2_error *error);

/*
 * Put a descriptor back although its key may be alive, because its queue pair is in error: the region is
 * destroyed and replaced by a new one.  Must be called before the queue pair is destroyed.  When no new
 * region can be made, the pool is retired: the descriptor is put back nevertheless, and the pool is destroyed
 * with its last user.  -EINVAL for a descriptor that is not taken.
 */
int o2_frd_discard(struct o2_frd_set *set, struct o2_frd *frd, struct o2_error *error);

#endif
