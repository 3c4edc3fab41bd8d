/* SPDX-License-Identifier: MIT */
#include "reg/pool/pool_frd.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

/* docs/pools.md, "Descriptor pools". */

static struct o2_frd_pool *frd_pool(struct o2_pool *pool)
{
	return (struct o2_frd_pool *)pool; /* its first member */
}

static void enqueue(struct o2_frd_pool *pool, struct o2_frd *frd)
{
	STAILQ_INSERT_TAIL(&pool->idle, frd, link);
	pool->nidle++;
}

static void free_frds(const struct o2_frd_config *config, struct o2_frd_pool *pool, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (pool->frd[i].handle != NULL)
			config->ops->destroy(config->context, pool->frd[i].handle);
	}
	free(pool);
}

static int create_pool(void *owner, uint64_t device, struct o2_pool **pool, struct o2_error *error)
{
	const struct o2_frd_config *config = &((const struct o2_frd_set *)owner)->config;
	struct o2_frd_pool *made;

	made = calloc(1, sizeof(*made) + config->pool_size * sizeof(made->frd[0]));
	if (made == NULL)
		return o2_refuse_value(error, -ENOMEM, "pool/frd/memory", "pool_size", config->pool_size,
				       O2_NO_LIMIT);
	STAILQ_INIT(&made->idle);
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
		enqueue(made, &made->frd[i]);
	}
	*pool = &made->base;
	return 0;
}

static void destroy_pool(void *owner, struct o2_pool *pool)
{
	const struct o2_frd_config *config = &((const struct o2_frd_set *)owner)->config;

	free_frds(config, frd_pool(pool), config->pool_size);
}

/* request: where the descriptor goes. */
static int take(void *owner, struct o2_pool *base, void *request, struct o2_error *error)
{
	struct o2_frd_pool *pool = frd_pool(base);
	struct o2_frd *frd = STAILQ_FIRST(&pool->idle);

	(void)owner;
	(void)error;
	if (frd == NULL)
		return O2_POOL_EXHAUSTED;
	STAILQ_REMOVE_HEAD(&pool->idle, link);
	pool->nidle--;
	*(struct o2_frd **)request = frd;
	return 0;
}

static int give(void *owner, struct o2_pool *pool, void *element)
{
	(void)owner;
	enqueue(frd_pool(pool), element); /* the state of its key said that it was in use */
	return 0;
}

static uint32_t idle(struct o2_pool *pool)
{
	return frd_pool(pool)->nidle;
}

static const struct o2_pool_kind frd_kind = {
	.create = create_pool,
	.destroy = destroy_pool,
	.take = take,
	.give = give,
	.exhausted_errno = -EAGAIN,
	.scan_is_use = true,
	.idle = idle,
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

static void end_mapping(const struct o2_frd_config *config, struct o2_frd *frd)
{
	if (config->ops->unmap != NULL)
		config->ops->unmap(config->context, frd->handle);
}

/* The request is wrong for any descriptor of this set. */
static int check_request(const struct o2_frd_config *config, const struct o2_frd_request *request,
			 struct o2_error *error)
{
	if (request->gaps && !config->gaps)
		return o2_refuse_value(error, -EPROTONOSUPPORT, "pool/frd/gaps", "gaps", 1, 0);
	if (request->side != O2_SINK && request->side != O2_SOURCE)
		return o2_refuse_value(error, -EINVAL, "pool/frd/side", "side", request->side, O2_SINK);
	if (request->entries == 0 || request->entries > config->max_pages)
		return o2_refuse_value(error, -EINVAL, "pool/frd/entries", "entries", request->entries,
				       config->max_pages);
	return 0;
}

/* Ask the device.  0, or -errno with nothing mapped. */
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
		end_mapping(config, frd);
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
	int rc = check_request(config, request, error);

	if (rc != 0)
		return rc;
	rc = o2_pool_set_take(&set->set, &taken, &pool, error);
	if (rc != 0)
		return rc;
	/* Idle keys are in one of the two states that allow it, and the side was checked. */
	rc = o2_frd_map(&taken->key, request->side, error);
	assert(rc == 0);
	rc = map_list(config, taken, request, error);
	if (rc == 0) {
		*frd = taken;
		return 0;
	}
	/* Both the descriptor and the pool's user were taken before the device was asked. */
	(void)o2_frd_unmap(&taken->key, NULL);
	(void)o2_pool_set_undo(&set->set, pool, taken, NULL);
	return rc;
}

int o2_frd_put(struct o2_frd_set *set, struct o2_frd *frd, struct o2_error *error)
{
	int rc;

	/* Idle states refuse, so a descriptor that is not taken does not get further. */
	rc = o2_frd_unmap(&frd->key, error);
	if (rc != 0)
		return rc;
	end_mapping(&set->config, frd);
	return o2_pool_set_put(&set->set, &frd->pool->base, frd, error);
}

int o2_frd_discard(struct o2_frd_set *set, struct o2_frd *frd, struct o2_error *error)
{
	const struct o2_frd_config *config = &set->config;
	struct o2_pool *pool = &frd->pool->base;
	struct o2_frd_object object = {0};
	int rc;

	/* The state says whether it is taken; the new keys come below. */
	rc = o2_frd_replaced(&frd->key, 0, 0, error);
	if (rc != 0)
		return rc;
	config->ops->destroy(config->context, frd->handle);
	frd->handle = NULL;
	/* On a failed pool nobody will need it again. */
	if (o2_pool_set_check(&set->set, pool, pool->device, NULL) == 0 &&
	    config->ops->create(config->context, pool->device, config->max_pages, config->gaps, &object,
				NULL) == 0) {
		frd->handle = object.handle;
		o2_frd_init(&frd->key, config->order, object.lkey, object.rkey);
	} else {
		o2_pool_set_retire(&set->set, pool);
	}
	return o2_pool_set_put(&set->set, pool, frd, error);
}
