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
 * A set of pools, and when pools are made and given up: the same for every kind of pool.  Source:
 * docs/pools.md.
 *
 * What a pool holds is the business of its kind (pool_tx.h, pool_fmr.h, pool_frd.h), which embeds struct
 * o2_pool as the first member of its own.  There is one set per kind and CPU partition.
 *
 * Every function here may be called by several threads at once, but for init and close (docs/pools.md,
 * "Threads").  No device call is made with the lock of a set held: pools are created and destroyed outside of
 * it.
 */

/* Default of the tunable ntx, and the least that a pool of transmits has. */
#define O2_POOL_NTX	 512u
#define O2_POOL_TX_FLOOR 256u /* o2iblnd: IBLND_TX_POOL */

/* Default of fmr_pool_size, and the least that a registration pool has. */
#define O2_POOL_REG_SIZE  512u
#define O2_POOL_REG_FLOOR 256u /* o2iblnd: IBLND_FMR_POOL */

/* Default of fmr_flush_trigger, and the lowest watermark that tunables give. */
#define O2_POOL_FLUSH	    384u
#define O2_POOL_FLUSH_FLOOR 192u /* o2iblnd: IBLND_FMR_POOL_FLUSH */

/*
 * How long an idle pool is kept after it last gave an element; a registration pool, after it was last
 * searched.
 */
#define O2_POOL_LIFE_MS 300000u /* o2iblnd: IBLND_POOL_DEADLINE */

/* How long growth is not tried again after it has failed. */
#define O2_POOL_RETRY_MS 1000u /* o2iblnd: IBLND_POOL_RETRY */

/* Elements of one pool, at most.  Ours: it keeps byte counts of a pool far from overflow. */
#define O2_POOL_SIZE_MAX (1u << 20)

static_assert(O2_POOL_TX_FLOOR <= O2_POOL_NTX && O2_POOL_NTX <= O2_POOL_SIZE_MAX, "sizes of transmit pools");
static_assert(O2_POOL_REG_FLOOR <= O2_POOL_REG_SIZE && O2_POOL_REG_SIZE <= O2_POOL_SIZE_MAX,
	      "sizes of registration pools");
static_assert(O2_POOL_FLUSH_FLOOR <= O2_POOL_FLUSH && O2_POOL_FLUSH_FLOOR <= O2_POOL_REG_FLOOR &&
		      O2_POOL_FLUSH <= O2_POOL_REG_SIZE,
	      "more regions would have to be dirty than a pool has");
static_assert(O2_POOL_REG_SIZE >= O2_POOL_NTX / 4, "what o2_pool_sizes demands of the tunables");

/* What the kind's take() returns when a pool has nothing left; not an error, the next pool is searched. */
#define O2_POOL_EXHAUSTED 1

/* Tunables of one network interface, and what every CPU partition makes of them. */
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
 * Divide and apply the floors.  -EINVAL: ncpts is 0, or fmr_pool_size is below ntx / 4.
 * o2iblnd: kiblnd_tx_pool_size, kiblnd_fmr_pool_size, kiblnd_fmr_flush_trigger
 */
int o2_pool_sizes(const struct o2_pool_tunables *tunables, struct o2_pool_sizes *sizes,
		  struct o2_error *error);

/* What every pool has.  Read and written by poolset.c under the lock of the set, device excepted. */
/* o2iblnd: kib_pool */
struct o2_pool {
	TAILQ_ENTRY(o2_pool) link;
	uint64_t device;      /* the device it was built on; never changes */
	uint64_t deadline_ms; /* from then on it is destroyed when it has no users */
	uint32_t users;	      /* elements in use */
	bool failed;	      /* its device went away */
	/* Of kinds that keep theirs here. */
	STAILQ_HEAD(, o2_idle_element) idle;
};

/* What an element of such a kind begins with. */
struct o2_idle_element {
	STAILQ_ENTRY(o2_idle_element) link;
};

TAILQ_HEAD(o2_pool_list, o2_pool);

/*
 * What differs between kinds.  owner is what o2_pool_set_init was given.
 *
 * create: a new pool for `device`, or -errno and nothing left behind.  Called without the lock, by one thread
 *         at a time.
 *
 * destroy: called without the lock, when the pool has no users.
 *
 * take: an element of `pool` for `request`.  0, O2_POOL_EXHAUSTED, or -errno, which ends the search and
 *       becomes the result.  Called with the lock held, unless take_unlocked.
 *
 * give: put `element` back.  Called with the lock held; 0, or -errno when it was not in use (then nothing
 *       changed).  A kind that checks this before it calls o2_pool_set_put always returns 0.  NULL for a
 *       kind that does it under a lock of its own.
 *
 * idle: how many elements stand in the pool's own queues, for reports.  Called without the lock.  NULL: none.
 *
 * create and take fill *error, which may be NULL, when they fail.
 *
 * o2iblnd: kib_ps_pool_create_t, kib_ps_pool_destroy_t, kib_ps_node_init_t, kib_ps_node_fini_t
 */
struct o2_pool_kind {
	int (*create)(void *owner, uint64_t device, struct o2_pool **pool, struct o2_error *error);
	void (*destroy)(void *owner, struct o2_pool *pool);
	int (*take)(void *owner, struct o2_pool *pool, void *request, struct o2_error *error);
	int (*give)(void *owner, struct o2_pool *pool, void *element);
	int exhausted_errno; /* -ENOMEM or -EAGAIN: nothing is free and growth failed a moment ago */
	bool scan_is_use;    /* also pools that turn out to be exhausted count as used */
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
	struct o2_pool_set_config config; /* config.device: the current one */
	pthread_mutex_t lock;
	pthread_cond_t grown;	    /* growing became false */
	struct o2_pool_list live;   /* in the order of their creation */
	struct o2_pool_list failed; /* in use when their device went away */
	bool growing;		    /* some thread is creating a pool */
	uint64_t next_retry_ms;	    /* no growth before that */
	uint64_t version;	    /* changes with the list of live pools */
	uint64_t created, destroyed, create_failures, waits;
};

/* A snapshot, for reports and checks. */
struct o2_pool_counts {
	uint32_t live, failed; /* pools */
	uint64_t live_users, failed_users;
	uint64_t version;
	uint64_t created, destroyed; /* pools, ever; the difference is live + failed, but while one is made */
	uint64_t create_failures;
	uint64_t waits; /* times that a thread waited for the growth that another had begun */
};

/*
 * Make a set with its first pool.  kind must outlive the set.  Returns 0, -EINVAL (no clock), -errno of
 * making the lock, or what create() failed with; nothing is left behind then.
 * o2iblnd: kiblnd_init_poolset
 */
int o2_pool_set_init(struct o2_pool_set *set, const struct o2_pool_kind *kind, void *owner,
		     const struct o2_pool_set_config *config, struct o2_error *error);

/*
 * Take an element.  request goes to the kind's take().  On success *from is the pool, with one more user.
 *
 *   -EBUSY            nothing is free and the set has max_pools live pools
 *   -ENOMEM, -EAGAIN  (the kind's exhausted_errno) nothing is free, and growth failed now or less than
 *                     O2_POOL_RETRY_MS ago
 *   others            what take() said
 * o2iblnd: kiblnd_pool_alloc_node
 */
int o2_pool_set_take(struct o2_pool_set *set, void *request, struct o2_pool **from, struct o2_error *error);

/*
 * Put an element back, then give up what is idle; but not after an element whose use never began (a failed
 * mapping): used is false then.  Returns 0; -EINVAL when nothing of `pool` is in use, or what the kind's give()
 * says when `element` is not: nothing changed then.  pool must not be used after a 0: it may be gone.
 * o2iblnd: kiblnd_pool_free_node
 */
int o2_pool_set_put(struct o2_pool_set *set, struct o2_pool *pool, void *element, bool used,
		    struct o2_error *error);

/*
 * Failover: every live pool has failed; those in use wait on the failed list for their last user, the others
 * go at once.  New pools are built on `device`, on demand.  Returns how many pools are waiting.
 * o2iblnd: kiblnd_fail_poolset, kiblnd_fail_fmr_poolset
 */
uint32_t o2_pool_set_fail(struct o2_pool_set *set, uint64_t device);

/* One pool, which the caller is using, has failed for a reason of its own. */
void o2_pool_set_retire(struct o2_pool_set *set, struct o2_pool *pool);

/* May what belongs to `pool` be posted to a connection on `device`?  0, or -ENETDOWN. */
int o2_pool_set_check(struct o2_pool_set *set, const struct o2_pool *pool, uint64_t device,
		      struct o2_error *error);

/*
 * Call visit() for each live pool, without the lock; the pool counts as used meanwhile, so it stays.
 * Deadlines do not change.
 */
void o2_pool_set_visit(struct o2_pool_set *set, void (*visit)(void *context, struct o2_pool *pool),
		       void *context);

/* Fill *counts, under the lock. */
void o2_pool_set_counts(struct o2_pool_set *set, struct o2_pool_counts *counts);

/*
 * How many elements stand in the queues of all its pools, failed ones included.  To be called while no thread
 * takes or puts.
 */
uint64_t o2_pool_set_idle(struct o2_pool_set *set);

/*
 * For the kinds: a call of the device failed with `code`.  When the device has said why in *error, which was
 * clear before the call, that stays; else the rest is written there.  Returns code.
 */
int o2_pool_refuse_op(struct o2_error *error, int code, const char *rule, const char *field, uint32_t index,
		      uint64_t value, uint64_t limit);

/* Destroy all.  -EBUSY while anything is in use: nothing happened then. */
/* o2iblnd: kiblnd_fini_poolset */
int o2_pool_set_close(struct o2_pool_set *set, struct o2_error *error);

#endif
