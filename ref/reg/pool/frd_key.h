/* SPDX-License-Identifier: MIT */
#ifndef O2_REG_POOL_FRD_KEY_H
#define O2_REG_POOL_FRD_KEY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "mem/dma_map.h"

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

/*
 * The low byte counts, modulo 256; the other bits name the region and stay.
 * kernel: ib_inc_rkey, ib_update_fast_reg_key
 */
uint32_t o2_frd_bump(uint32_t key);

/* Start with a region that was just allocated. */
void o2_frd_init(struct o2_frd_key *key, enum o2_frd_order order, uint32_t lkey, uint32_t rkey);

/*
 * The two flags by which kernels know these states.
 * o2iblnd: frd_valid, frd_posted
 */
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

/* "fresh", "prepared", ...; NULL for a value that is not a state. */
const char *o2_frd_state_name(enum o2_frd_state state);

#endif
