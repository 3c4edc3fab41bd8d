/* SPDX-License-Identifier: MIT */
#ifndef O2_REG_POOL_POOLSET_H
#define O2_REG_POOL_POOLSET_H

#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/clock.h"
#include "base/error.h"

/*
 * A set of pools: creates and destroys pools on demand, in the same way for every kind of pool.  Source:
 * docs/pools.md.
 *
 * The kind (pool_tx.h, pool_fmr.h, pool_frd.h) knows what a pool holds; its own struct has struct o2_pool as
 * the first member.  There is one set per kind and CPU partition.
 *
 * Several threads may call every function here at once, except init and close (docs/pools.md, "Threads").  No
 * device call is made with the lock of a set held: pools are created and destroyed without it.
 */

/* Default of the tunable ntx, and the smallest size of a transmit pool. */
#define O2_POOL_NTX	 512u
#define O2_POOL_TX_FLOOR 256u /* o2iblnd: IBLND_TX_POOL */

/* Default of the tunable fmr_pool_size, and the smallest size of a registration pool. */
#define O2_POOL_REG_SIZE  512u
#define O2_POOL_REG_FLOOR 256u /* o2iblnd: IBLND_FMR_POOL */

/* Default of the tunable fmr_flush_trigger, and the lowest watermark that results from the tunables. */
#define O2_POOL_FLUSH	    384u
#define O2_POOL_FLUSH_FLOOR 192u /* o2iblnd: IBLND_FMR_POOL_FLUSH */

/*
 * How long an idle pool is kept after an element was last taken from it; for a registration pool: after it
 * was last searched.
 */
#define O2_POOL_LIFE_MS 300000u /* o2iblnd: IBLND_POOL_DEADLINE */

/* How long after a failed growth no new attempt is made. */
#define O2_POOL_RETRY_MS 1000u /* o2iblnd: IBLND_POOL_RETRY */

/* Largest number of elements of one pool.  Our limit: it keeps byte counts of a pool far from overflow. */
#define O2_POOL_SIZE_MAX (1u << 20)

static_assert(O2_POOL_TX_FLOOR <= O2_POOL_NTX && O2_POOL_NTX <= O2_POOL_SIZE_MAX, "sizes of transmit pools");
static_assert(O2_POOL_REG_FLOOR <= O2_POOL_REG_SIZE && O2_POOL_REG_SIZE <= O2_POOL_SIZE_MAX,
	      "sizes of registration pools");
static_assert(O2_POOL_FLUSH_FLOOR <= O2_POOL_FLUSH && O2_POOL_FLUSH_FLOOR <= O2_POOL_REG_FLOOR &&
		      O2_POOL_FLUSH <= O2_POOL_REG_SIZE,
	      "more regions would have to be dirty than a pool has");
static_assert(O2_POOL_REG_SIZE >= O2_POOL_NTX / 4, "what o2_pool_sizes demands of the tunables");

/* Returned by the kind's take() when a pool has no free element.  Not an error: the next pool is searched. */
#define O2_POOL_EXHAUSTED 1

/* Tunables of one network interface.  o2_pool_sizes computes from them the sizes for each CPU partition. */
/* o2iblnd: ntx, fmr_pool_size, fmr_flush_trigger */
struct o2_pool_tunables {
	uint32_t ntx;
	uint32_t fmr_pool_size;
	uint32_t fmr_flush_trigger;
	uint32_t ncpts; /* CPU partitions of the interface, at least 1 */
};

struct o2_pool_sizes {
	uint32_t tx_size;	/* elements of a transmit pool */
	uint32_t reg_size;	/* elements of a registration pool */
	uint32_t flush_trigger; /* dirty watermark of a registration pool */
};

/*
 * Divide by ncpts and apply the minimums.  -EINVAL: ncpts is 0, or fmr_pool_size is below ntx / 4.
 * o2iblnd: kiblnd_tx_pool_size, kiblnd_fmr_pool_size, kiblnd_fmr_flush_trigger
 */
int o2_pool_sizes(const struct o2_pool_tunables *tunables, struct o2_pool_sizes *sizes,
		  struct o2_error *error);

/* The members common to all pools.  All but device are read and written by poolset.c, under the set's lock. */
/* o2iblnd: kib_pool */
struct o2_pool {
	TAILQ_ENTRY(o2_pool) link;
	uint64_t device;      /* the device that the pool was built on; never changes */
	uint64_t deadline_ms; /* from then on the pool is destroyed once it has no users */
	uint32_t users;	      /* elements in use */
	bool failed;	      /* its device went away */
	/* Idle elements, for kinds that keep them here. */
	STAILQ_HEAD(, o2_idle_element) idle;
};

/* First member of an element of such a kind. */
struct o2_idle_element {
	STAILQ_ENTRY(o2_idle_element) link;
};

TAILQ_HEAD(o2_pool_list, o2_pool);

/*
 * The operations of a kind of pool.  owner is the argument of o2_pool_set_init.
 *
 * create: make a pool for `device`; or -errno, with nothing left behind.  Called without the lock, by one
 * thread at a time.
 *
 * destroy: called without the lock, when the pool has no users.
 *
 *   take: take an element from `pool` for `request`.  0, O2_POOL_EXHAUSTED, or -errno, which ends the search
 *         and becomes the result.  Called with the lock held, unless take_unlocked.
 *
 *   give: put `element` back.  Called with the lock held; 0, or -errno when it was not in use (then nothing
 *         changed).  A kind that checks this before it calls o2_pool_set_put always returns 0.  NULL for a
 *         kind that puts elements back itself, under a lock of its own.
 *
 * idle: how many elements stand in the pool's own queues, for reports.  Called without the lock.  NULL: none.
 *
 * create and take fill *error, which may be NULL, when they fail.
 * o2iblnd: kib_ps_pool_create_t, kib_ps_pool_destroy_t, kib_ps_node_init_t, kib_ps_node_fini_t
 */
struct o2_pool_kind {
	int (*create)(void *owner, uint64_t device, struct o2_pool **pool, struct o2_error *error);
	void (*destroy)(void *owner, struct o2_pool *pool);
	int (*take)(void *owner, struct o2_pool *pool, void *request, struct o2_error *error);
	int (*give)(void *owner, struct o2_pool *pool, void *element);
	int exhausted_errno; /* -ENOMEM or -EAGAIN: nothing is free and a recent growth failed */
	bool scan_is_use;    /* searching a pool, even an exhausted one, extends its deadline */
	bool take_unlocked;  /* take() calls the device */
	uint32_t (*idle)(struct o2_pool *pool);
};

struct o2_pool_set_config {
	const struct o2_clock *clock; /* the caller's */
	uint64_t device;	      /* the caller's name for the device that pools are built on */
	uint32_t max_pools;	      /* cap on live pools, or 0 for none */
};

/* o2iblnd: kib_poolset */
struct o2_pool_set {
	const struct o2_pool_kind *kind;
	void *owner;
	struct o2_pool_set_config config; /* config.device: the current device */
	pthread_mutex_t lock;
	pthread_cond_t grown;	    /* signalled when growing becomes false */
	struct o2_pool_list live;   /* in order of creation */
	struct o2_pool_list failed; /* pools that have failed and are still in use */
	bool growing;		    /* some thread is creating a pool */
	uint64_t next_retry_ms;	    /* no growth before this time */
	uint64_t version;	    /* incremented when the list of live pools changes */
	uint64_t created, destroyed, create_failures, waits;
};

/* A snapshot, for reports and checks. */
struct o2_pool_counts {
	uint32_t live, failed; /* pools */
	uint64_t live_users, failed_users;
	uint64_t version;
	uint64_t created, destroyed; /* pools in total; they differ by live + failed + being destroyed */
	uint64_t create_failures;
	uint64_t waits; /* times that a thread waited while another thread made a pool */
};

/*
 * Make a set with its first pool.  kind must outlive the set.  Returns 0, -EINVAL (no clock), -errno if the
 * lock could not be made, or the error of create(); on failure nothing is left behind.
 * o2iblnd: kiblnd_init_poolset
 */
int o2_pool_set_init(struct o2_pool_set *set, const struct o2_pool_kind *kind, void *owner,
		     const struct o2_pool_set_config *config, struct o2_error *error);

/*
 * Take an element.  request is passed to the kind's take().  On success *from is its pool, with one more
 * user.
 *
 *   -EBUSY            nothing is free and the set has max_pools live pools
 *   -ENOMEM, -EAGAIN  (the kind's exhausted_errno) nothing is free, and growth failed now or less than
 *                     O2_POOL_RETRY_MS ago
 *   others            the error of take()
 * o2iblnd: kiblnd_pool_alloc_node
 */
int o2_pool_set_take(struct o2_pool_set *set, void *request, struct o2_pool **from, struct o2_error *error);

/*
 * Put an element back; then, if used, destroy pools that were idle too long.  used: false if the use never
 * began (a failed mapping).  Returns 0; -EINVAL when the pool has no users, or the error of give(): nothing
 * has changed then.  After 0 the caller must not use pool: it may be destroyed.
 * o2iblnd: kiblnd_pool_free_node
 */
int o2_pool_set_put(struct o2_pool_set *set, struct o2_pool *pool, void *element, bool used,
		    struct o2_error *error);

/*
 * Failover: mark every live pool as failed.  Pools in use go to the failed list until their last user leaves;
 * the others are destroyed at once.  New pools are built on `device`.  Returns the length of the failed list.
 * o2iblnd: kiblnd_fail_poolset, kiblnd_fail_fmr_poolset
 */
uint32_t o2_pool_set_fail(struct o2_pool_set *set, uint64_t device);

/* Mark one pool, of which the caller holds an element, as failed for a reason other than failover. */
void o2_pool_set_retire(struct o2_pool_set *set, struct o2_pool *pool);

/* Whether elements of `pool` may be posted to a connection on `device`: 0, or -ENETDOWN. */
int o2_pool_set_check(struct o2_pool_set *set, const struct o2_pool *pool, uint64_t device,
		      struct o2_error *error);

/*
 * Call visit() for each live pool, without the lock.  The pool counts as used meanwhile, so it is not
 * destroyed.  Deadlines do not change.
 */
void o2_pool_set_visit(struct o2_pool_set *set, void (*visit)(void *context, struct o2_pool *pool),
		       void *context);

/* Fill *counts, under the lock of the set. */
void o2_pool_set_counts(struct o2_pool_set *set, struct o2_pool_counts *counts);

/*
 * How many idle elements all pools of the set hold, failed pools included.  To be called while no thread
 * takes or puts.
 */
uint64_t o2_pool_set_idle(struct o2_pool_set *set);

/*
 * For the kinds: report that a device call failed with `code`.  *error must have been clear before that call.
 * If the device call has filled *error, it stays; else the other arguments are written there.  Returns code.
 */
int o2_pool_refuse_op(struct o2_error *error, int code, const char *rule, const char *field, uint32_t index,
		      uint64_t value, uint64_t limit);

/* Destroy the set and its pools.  -EBUSY while an element is in use: then nothing has changed. */
/* o2iblnd: kiblnd_fini_poolset */
int o2_pool_set_close(struct o2_pool_set *set, struct o2_error *error);

#endif
