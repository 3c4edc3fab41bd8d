/* SPDX-License-Identifier: MIT */
#include "reg/pool/frd_key.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>

/* States and steps: docs/pools.md, "The life of a key". */

static const char *const state_names[O2_FRD_STATES] = {
	[O2_FRD_FRESH] = "fresh", [O2_FRD_PREPARED] = "prepared", [O2_FRD_IDLE_PREPARED] = "idle-prepared",
	[O2_FRD_LIVE] = "live",	  [O2_FRD_SPENT] = "spent",	  [O2_FRD_INVALIDATING] = "invalidating",
	[O2_FRD_DEAD] = "dead",	  [O2_FRD_DOOMED] = "doomed",
};

const char *o2_frd_state_name(enum o2_frd_state state)
{
	return (unsigned int)state < O2_FRD_STATES ? state_names[state] : NULL;
}

uint32_t o2_frd_bump(uint32_t key)
{
	return (key & 0xffffff00u) | ((key + 1) & 0xffu);
}

void o2_frd_init(struct o2_frd_key *key, enum o2_frd_order order, uint32_t lkey, uint32_t rkey)
{
	*key = (struct o2_frd_key){.order = order, .lkey = lkey, .rkey = rkey};
}

bool o2_frd_valid(const struct o2_frd_key *key)
{
	return key->state == O2_FRD_PREPARED || key->state == O2_FRD_IDLE_PREPARED;
}

bool o2_frd_posted(const struct o2_frd_key *key)
{
	return key->state == O2_FRD_LIVE;
}

uint32_t o2_frd_published(const struct o2_frd_key *key)
{
	return key->side == O2_SINK ? key->rkey : key->lkey;
}

/* No limit: several states would allow the step. */
static int refuse_state(const struct o2_frd_key *key, const char *rule, struct o2_error *error)
{
	return o2_refuse_value(error, -EINVAL, rule, "state", key->state, O2_NO_LIMIT);
}

int o2_frd_map(struct o2_frd_key *key, enum o2_side side, struct o2_error *error)
{
	switch (key->state) {
	case O2_FRD_FRESH:
		key->old_rkey = key->rkey;
		key->rkey = o2_frd_bump(key->rkey);
		key->lkey = o2_frd_bump(key->lkey);
		break;
	case O2_FRD_IDLE_PREPARED:
		break; /* counted already, and the old key still waits to be invalidated */
	default:
		return refuse_state(key, "frd/map/state", error);
	}
	key->side = side;
	key->state = O2_FRD_PREPARED;
	return 0;
}

void o2_frd_gather(struct o2_frd_key *key, uint32_t lkey)
{
	assert(key->state == O2_FRD_PREPARED && key->side == O2_SOURCE &&
	       key->order == O2_FRD_INVALIDATE_LAST);
	key->lkey = lkey;
}

int o2_frd_chain(const struct o2_frd_key *key, struct o2_frd_chain *chain, struct o2_error *error)
{
	if (key->state != O2_FRD_PREPARED && key->state != O2_FRD_LIVE)
		return refuse_state(key, "frd/chain/state", error);
	*chain = (struct o2_frd_chain){0};
	if (key->state == O2_FRD_LIVE || (key->order == O2_FRD_INVALIDATE_LAST && key->side == O2_SOURCE))
		return 0;
	if (key->order == O2_FRD_INVALIDATE_FIRST) {
		chain->invalidate = true;
		chain->invalidate_rkey = key->old_rkey;
		chain->count++;
	}
	chain->bind = true;
	chain->bind_key = o2_frd_published(key);
	chain->count++;
	return 0;
}

int o2_frd_post_done(struct o2_frd_key *key, uint64_t queue, uint32_t accepted, bool ok,
		     struct o2_error *error)
{
	struct o2_frd_chain chain = {0};

	if (o2_frd_chain(key, &chain, NULL) != 0)
		return refuse_state(key, "frd/post/state", error);
	if (accepted > chain.count || (ok && accepted < chain.count))
		return o2_refuse_value(error, -EINVAL, "frd/post/accepted", "accepted", accepted,
				       chain.count);
	if (accepted == 0)
		return 0;
	key->queue = queue;
	/* What was accepted executes in order: first the old key dies, then the new one lives. */
	key->registered = accepted == chain.count;
	key->registered_key = key->registered ? chain.bind_key : 0;
	key->state = ok ? O2_FRD_LIVE : O2_FRD_SPENT;
	return 0;
}

int o2_frd_invalidate(const struct o2_frd_key *key, uint64_t queue, uint32_t *rkey, struct o2_error *error)
{
	const bool bound = key->state == O2_FRD_LIVE || (key->state == O2_FRD_SPENT && key->registered);

	if (key->order != O2_FRD_INVALIDATE_LAST)
		return o2_refuse_other(error, -EINVAL, "frd/invalidate/order", "order", key->order,
				       O2_FRD_INVALIDATE_LAST);
	if (!bound)
		return refuse_state(key, "frd/invalidate/state", error);
	if (queue != key->queue)
		return o2_refuse_other(error, -EINVAL, "frd/invalidate/queue", "queue", queue, key->queue);
	*rkey = key->rkey;
	return 0;
}

int o2_frd_invalidate_posted(struct o2_frd_key *key, bool ok, struct o2_error *error)
{
	uint32_t rkey;
	int rc = o2_frd_invalidate(key, key->queue, &rkey, error);

	if (rc != 0)
		return rc;
	key->state = ok ? O2_FRD_INVALIDATING : O2_FRD_DOOMED;
	return 0;
}

int o2_frd_invalidated(struct o2_frd_key *key, bool ok, struct o2_error *error)
{
	if (key->state != O2_FRD_INVALIDATING)
		return o2_refuse_other(error, -EINVAL, "frd/invalidated/state", "state", key->state,
				       O2_FRD_INVALIDATING);
	key->state = ok ? O2_FRD_DEAD : O2_FRD_DOOMED;
	if (ok)
		key->registered = false;
	return 0;
}

int o2_frd_unmap(struct o2_frd_key *key, struct o2_error *error)
{
	const bool must_die = key->order == O2_FRD_INVALIDATE_LAST && key->registered;

	switch (key->state) {
	case O2_FRD_FRESH:
	case O2_FRD_IDLE_PREPARED:
		return refuse_state(key, "frd/unmap/state", error);
	case O2_FRD_PREPARED:
		key->state = O2_FRD_IDLE_PREPARED;
		return 0;
	default:
		break;
	}
	if (must_die)
		return o2_refuse_other(error, -EBUSY, "frd/unmap/key-alive", "state", key->state,
				       O2_FRD_DEAD);
	key->state = O2_FRD_FRESH;
	return 0;
}

int o2_frd_replaced(struct o2_frd_key *key, uint32_t lkey, uint32_t rkey, struct o2_error *error)
{
	if (key->state == O2_FRD_FRESH || key->state == O2_FRD_IDLE_PREPARED)
		return refuse_state(key, "frd/replaced/state", error);
	o2_frd_init(key, key->order, lkey, rkey);
	return 0;
}
