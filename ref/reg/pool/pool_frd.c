/* SPDX-License-Identifier: MIT */
#include "reg/pool/pool_frd.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

/* --- the life of a key: docs/pools.md, "The life of a key", has states and steps --- */

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

/* The refusal names no limit, because several states would allow the step. */
static int refuse_state(const struct o2_frd_key *key, const char *rule, struct o2_error *error)
{
	return o2_fail(error, -EINVAL, rule, "state", key->state);
}

int o2_frd_map(struct o2_frd_key *key, enum o2_side side, struct o2_error *error)
{
	if (key->state != O2_FRD_FRESH && key->state != O2_FRD_IDLE_PREPARED)
		return refuse_state(key, "frd/map/state", error);
	/* In IDLE_PREPARED the key was incremented already, and its old key still has to be invalidated. */
	if (key->state == O2_FRD_FRESH) {
		key->old_rkey = key->rkey;
		key->rkey = o2_frd_bump(key->rkey);
		key->lkey = o2_frd_bump(key->lkey);
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
	/* Accepted requests execute in order: first the old key dies, then the new one becomes valid. */
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

	if (key->state == O2_FRD_FRESH || key->state == O2_FRD_IDLE_PREPARED)
		return refuse_state(key, "frd/unmap/state", error);
	if (key->state == O2_FRD_PREPARED) {
		key->state = O2_FRD_IDLE_PREPARED;
		return 0;
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

/* --- the pool: docs/pools.md, "Descriptor pools" --- */

static void free_frds(const struct o2_frd_config *config, struct o2_frd_pool *pool, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (pool->frd[i].handle != NULL)
			config->ops->destroy(config->context, pool->frd[i].handle);
	free(pool);
}

static int create_pool(void *owner, uint64_t device, struct o2_pool **pool, struct o2_error *error)
{
	const struct o2_frd_config *config = &((const struct o2_frd_set *)owner)->config;
	struct o2_frd_pool *made;

	made = calloc(1, sizeof(*made) + config->pool_size * sizeof(made->frd[0]));
	if (made == NULL)
		return o2_fail(error, -ENOMEM, "pool/frd/memory", "pool_size", config->pool_size);
	STAILQ_INIT(&made->base.idle);
	for (uint32_t i = 0; i < config->pool_size; i++) {
		struct o2_frd_object object = {0};
		int rc;

		o2_error_clear(error);
		rc = config->ops->create(config->context, device, config->max_pages, config->gaps, &object,
					 error);
		if (rc != 0) {
			free_frds(config, made, i);
			return o2_pool_refuse_op(error, rc, "pool/frd/create", "descriptors", i, i,
						 config->pool_size);
		}
		made->frd[i].handle = object.handle;
		made->frd[i].pool = made;
		o2_frd_init(&made->frd[i].key, config->order, object.lkey, object.rkey);
		STAILQ_INSERT_TAIL(&made->base.idle, &made->frd[i].idle, link);
	}
	*pool = &made->base;
	return 0;
}

static void destroy_pool(void *owner, struct o2_pool *pool)
{
	const struct o2_frd_config *config = &((const struct o2_frd_set *)owner)->config;

	free_frds(config, (struct o2_frd_pool *)pool, config->pool_size);
}

/* request: a struct o2_frd **, set to the descriptor. */
static int take(void *owner, struct o2_pool *pool, void *request, struct o2_error *error)
{
	struct o2_idle_element *first = STAILQ_FIRST(&pool->idle);

	(void)owner;
	(void)error;
	if (first == NULL)
		return O2_POOL_EXHAUSTED;
	STAILQ_REMOVE_HEAD(&pool->idle, link);
	*(struct o2_frd **)request = (struct o2_frd *)first;
	return 0;
}

static int give(void *owner, struct o2_pool *pool, void *element)
{
	(void)owner;
	/* The callers have checked by the state of the key that the descriptor was in use. */
	STAILQ_INSERT_TAIL(&pool->idle, (struct o2_idle_element *)element, link);
	return 0;
}

static const struct o2_pool_kind frd_kind = {
	.create = create_pool,
	.destroy = destroy_pool,
	.take = take,
	.give = give,
	.exhausted_errno = -EAGAIN,
	.scan_is_use = true,
};

int o2_frd_set_init(struct o2_frd_set *set, const struct o2_frd_config *config, struct o2_error *error)
{
	if (config->pool_size == 0 || config->pool_size > O2_POOL_SIZE_MAX)
		return o2_refuse_value(error, -EINVAL, "pool/frd/pool-size", "pool_size", config->pool_size,
				       O2_POOL_SIZE_MAX);
	if (config->max_pages != O2_MAX_FRAGS && config->max_pages != O2_MAX_FRAGS_LEGACY)
		return o2_refuse_value(error, -EINVAL, "pool/frd/max-pages", "max_pages", config->max_pages,
				       O2_MAX_FRAGS);
	set->config = *config;
	return o2_pool_set_init(&set->set, &frd_kind, set, &config->set, error);
}

static int end_mapping(const struct o2_frd_config *config, struct o2_frd *frd, struct o2_error *error)
{
	int rc;

	o2_error_clear(error);
	rc = config->ops->unmap == NULL ? 0 : config->ops->unmap(config->context, frd->handle, error);
	return rc == 0 ? 0 : o2_pool_refuse_op(error, rc, "pool/frd/unmap", "mappings", O2_NO_INDEX, 1, 0);
}

/* Map the list on the device.  Returns 0, or -errno with nothing mapped. */
static int map_list(const struct o2_frd_config *config, struct o2_frd *frd,
		    const struct o2_frd_request *request, struct o2_error *error)
{
	uint32_t lkey = frd->key.lkey;
	int rc;

	o2_error_clear(error);
	rc = config->ops->map(config->context, frd->handle, request, &lkey, error);
	if (rc < 0)
		return o2_pool_refuse_op(error, rc, "pool/frd/map", "entries", O2_NO_INDEX, request->entries,
					 config->max_pages);
	if ((uint32_t)rc != request->entries) {
		(void)end_mapping(config, frd, NULL);
		return o2_refuse_value(error, -EINVAL, "pool/frd/short-map", "entries", (uint64_t)rc,
				       request->entries);
	}
	if (config->order == O2_FRD_INVALIDATE_LAST && request->side == O2_SOURCE)
		o2_frd_gather(&frd->key, lkey);
	return 0;
}

int o2_frd_take(struct o2_frd_set *set, const struct o2_frd_request *request, struct o2_frd **frd,
		struct o2_error *error)
{
	const struct o2_frd_config *config = &set->config;
	struct o2_pool *pool;
	struct o2_frd *taken;
	int rc;

	/* Refuse what no descriptor of this set can map. */
	if (request->gaps && !config->gaps)
		return o2_refuse_value(error, -EPROTONOSUPPORT, "pool/frd/gaps", "gaps", 1, 0);
	if (request->side != O2_SINK && request->side != O2_SOURCE)
		return o2_refuse_value(error, -EINVAL, "pool/frd/side", "side", request->side, O2_SINK);
	if (request->entries == 0 || request->entries > config->max_pages)
		return o2_refuse_value(error, -EINVAL, "pool/frd/entries", "entries", request->entries,
				       config->max_pages);
	rc = o2_pool_set_take(&set->set, &taken, &pool, error);
	if (rc != 0)
		return rc;
	/* An idle descriptor's key is in one of the two states that allow mapping, and the side was checked. */
	rc = o2_frd_map(&taken->key, request->side, error);
	assert(rc == 0);
	rc = map_list(config, taken, request, error);
	if (rc == 0) {
		*frd = taken;
		return 0;
	}
	/* Undo the take: the descriptor and the pool's user. */
	(void)o2_frd_unmap(&taken->key, NULL);
	(void)o2_pool_set_put(&set->set, pool, taken, false, NULL);
	return rc;
}

int o2_frd_put(struct o2_frd_set *set, struct o2_frd *frd, struct o2_error *error)
{
	int unmapped, rc;

	/* o2_frd_unmap refuses idle states, and so a descriptor that is not taken. */
	rc = o2_frd_unmap(&frd->key, error);
	if (rc != 0)
		return rc;
	unmapped = end_mapping(&set->config, frd, error);
	rc = o2_pool_set_put(&set->set, &frd->pool->base, frd, true, error);
	return rc == 0 ? unmapped : rc;
}

int o2_frd_discard(struct o2_frd_set *set, struct o2_frd *frd, struct o2_error *error)
{
	const struct o2_frd_config *config = &set->config;
	struct o2_pool *pool = &frd->pool->base;
	struct o2_frd_object object = {0};
	/* This checks the state, i.e. whether the descriptor is taken; the real keys are set below. */
	int rc = o2_frd_replaced(&frd->key, 0, 0, error);

	if (rc != 0)
		return rc;
	config->ops->destroy(config->context, frd->handle);
	frd->handle = NULL;
	/* A failed pool needs no new region: none of its descriptors will be taken again. */
	if (o2_pool_set_check(&set->set, pool, pool->device, NULL) == 0 &&
	    config->ops->create(config->context, pool->device, config->max_pages, config->gaps, &object,
				NULL) == 0) {
		frd->handle = object.handle;
		o2_frd_init(&frd->key, config->order, object.lkey, object.rkey);
	} else {
		o2_pool_set_retire(&set->set, pool);
	}
	return o2_pool_set_put(&set->set, pool, frd, true, error);
}
