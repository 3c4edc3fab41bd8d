/* SPDX-License-Identifier: MIT */
#include "reg/pool/pool_fmr.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"

/* docs/pools.md, "FMR pools". */

/* Most regions passed to one unmap call. */
#define FLUSH_BATCH 64u

static struct o2_fmr_pool *fmr_pool(struct o2_pool *pool)
{
	return (struct o2_fmr_pool *)pool; /* its first member */
}

static void append(struct o2_fmr_queue *queue, struct o2_fmr *fmr, enum o2_fmr_place place)
{
	fmr->place = place;
	TAILQ_INSERT_TAIL(&queue->list, fmr, link);
	queue->count++;
}

static void take_out(struct o2_fmr_queue *queue, struct o2_fmr *fmr)
{
	TAILQ_REMOVE(&queue->list, fmr, link);
	queue->count--;
}

/*
 * The cache: which region of a pool is mapped to a list of pages (docs/pools.md, "FMR pools").  The kernel's
 * FMR pools have such a cache inside.  All functions are called with the pool's lock held.
 *
 * The hash is of the first page of a list; then the whole list is compared.
 */
static uint32_t bucket_of(uint32_t page_bytes, uint64_t first_page)
{
	const uint64_t number = first_page / page_bytes;

	return (uint32_t)((number ^ number >> 8 ^ number >> 24) % O2_FMR_BUCKETS);
}

static bool same_list(const struct o2_fmr *fmr, const struct o2_fmr_request *request)
{
	const struct o2_fmr_request *mapped = &fmr->mapped;

	return mapped->iova == request->iova && mapped->npages == request->npages &&
	       mapped->page_offset == request->page_offset && mapped->length == request->length &&
	       mapped->access == request->access &&
	       memcmp(fmr->pages, request->pages, request->npages * sizeof(uint64_t)) == 0;
}

/* Find the cached region that is mapped to exactly this list, whatever its state; or NULL. */
static struct o2_fmr *cache_find(const struct o2_fmr_config *config, struct o2_fmr_pool *pool,
				 const struct o2_fmr_request *request)
{
	struct o2_fmr *fmr = LIST_FIRST(&pool->bucket[bucket_of(config->page_bytes, request->pages[0])]);

	while (fmr != NULL && !same_list(fmr, request))
		fmr = LIST_NEXT(fmr, cached_link);
	return fmr;
}

static void cache_add(const struct o2_fmr_config *config, struct o2_fmr_pool *pool, struct o2_fmr *fmr,
		      const struct o2_fmr_request *request)
{
	memcpy(fmr->pages, request->pages, request->npages * sizeof(uint64_t));
	LIST_INSERT_HEAD(&pool->bucket[bucket_of(config->page_bytes, request->pages[0])], fmr, cached_link);
	fmr->cached = true;
}

static void cache_drop(struct o2_fmr *fmr)
{
	if (fmr->cached)
		LIST_REMOVE(fmr, cached_link);
	fmr->cached = false;
}

/* The request that the pool set passes to take(), and the result. */
struct request {
	const struct o2_fmr_request *list;
	struct o2_fmr *fmr;
};

/* Whether several transfers may share a mapping of this list, also after its release. */
static bool cacheable(const struct o2_fmr_config *config, const struct o2_fmr_request *request)
{
	return config->cache && !request->strict;
}

/* Called without any lock, because it calls the device. */
static int map_one(const struct o2_fmr_config *config, struct o2_fmr_pool *pool, struct o2_fmr *fmr,
		   const struct o2_fmr_request *request, struct o2_error *error)
{
	uint32_t lkey = 0, rkey = 0;
	int rc;

	o2_error_clear(error);
	rc = config->ops->map(config->context, fmr->handle, request, &lkey, &rkey, error);
	pthread_mutex_lock(&pool->lock);
	if (rc != 0) {
		fmr->place = O2_FMR_FREE;
		TAILQ_INSERT_HEAD(&pool->free.list, fmr, link);
		pool->free.count++;
	} else {
		fmr->place = O2_FMR_USED;
		fmr->refs = 1;
		fmr->remaps++;
		fmr->lkey = lkey;
		fmr->rkey = rkey;
		fmr->mapped = *request;
		fmr->mapped.pages = NULL; /* they belong to the caller */
		if (cacheable(config, request))
			cache_add(config, pool, fmr, request);
	}
	pthread_mutex_unlock(&pool->lock);
	return rc == 0 ? 0
		       : o2_pool_refuse_op(error, rc, "pool/fmr/map", "npages", O2_NO_INDEX, request->npages,
					   config->max_pages);
}

static int take(void *owner, struct o2_pool *base, void *argument, struct o2_error *error)
{
	const struct o2_fmr_config *config = &((const struct o2_fmr_set *)owner)->config;
	struct o2_fmr_pool *pool = fmr_pool(base);
	struct request *answer = argument;
	const struct o2_fmr_request *request = answer->list;
	struct o2_fmr *fmr;

	if (request->npages == 0 || request->npages > config->max_pages)
		return o2_refuse_value(error, -EINVAL, "pool/fmr/npages", "npages", request->npages,
				       config->max_pages);
	if (request->iova % config->page_bytes != 0)
		return o2_refuse_multiple(error, -EINVAL, "pool/fmr/iova", "iova", request->iova,
					  config->page_bytes);
	pthread_mutex_lock(&pool->lock);
	fmr = cacheable(config, request) ? cache_find(config, pool, request) : NULL;
	if (fmr != NULL) {
		if (fmr->refs++ == 0)
			take_out(fmr->place == O2_FMR_FREE ? &pool->free : &pool->dirty, fmr);
		fmr->place = O2_FMR_USED;
		pthread_mutex_unlock(&pool->lock);
		answer->fmr = fmr;
		return 0;
	}
	fmr = TAILQ_FIRST(&pool->free.list);
	if (fmr != NULL) {
		take_out(&pool->free, fmr);
		cache_drop(fmr);
		fmr->place = O2_FMR_MAPPING;
	}
	pthread_mutex_unlock(&pool->lock);
	if (fmr == NULL)
		return O2_POOL_EXHAUSTED;
	answer->fmr = fmr;
	return map_one(config, pool, fmr, request, error);
}

/* Unmap the listed regions, all FLUSHING; move them to the free or dirty queue.  First errno, or 0. */
static int flush_list(const struct o2_fmr_config *config, struct o2_fmr_pool *pool, struct o2_fmr_list *list)
{
	int first = 0;

	while (!TAILQ_EMPTY(list)) {
		struct o2_fmr *batch[FLUSH_BATCH];
		void *handles[FLUSH_BATCH];
		uint32_t n = 0;
		int rc;

		for (; n < FLUSH_BATCH && !TAILQ_EMPTY(list); n++) {
			batch[n] = TAILQ_FIRST(list);
			handles[n] = batch[n]->handle;
			TAILQ_REMOVE(list, batch[n], link);
		}
		rc = config->ops->unmap(config->context, handles, n);
		pthread_mutex_lock(&pool->lock);
		for (uint32_t i = 0; i < n; i++) {
			if (rc == 0)
				batch[i]->remaps = 0;
			append(rc == 0 ? &pool->free : &pool->dirty, batch[i],
			       rc == 0 ? O2_FMR_FREE : O2_FMR_DIRTY);
		}
		/* Their keys may be alive: unmap these regions before they are mapped again. */
		if (rc != 0)
			pool->flush_wanted = true;
		pthread_mutex_unlock(&pool->lock);
		if (first == 0)
			first = rc;
	}
	return first;
}

/* Unmap the dirty regions; all: also the free regions that are still mapped. */
static void flush_pool(const struct o2_fmr_config *config, struct o2_fmr_pool *pool, bool all)
{
	struct o2_fmr_list list = TAILQ_HEAD_INITIALIZER(list);
	struct o2_fmr *fmr, *next;

	pthread_mutex_lock(&pool->lock);
	for (fmr = all ? TAILQ_FIRST(&pool->free.list) : NULL; fmr != NULL; fmr = next) {
		next = TAILQ_NEXT(fmr, link);
		if (fmr->remaps == 0)
			continue;
		take_out(&pool->free, fmr);
		append(&pool->dirty, fmr, O2_FMR_DIRTY);
	}
	TAILQ_FOREACH(fmr, &pool->dirty.list, link) {
		cache_drop(fmr);
		fmr->place = O2_FMR_FLUSHING;
	}
	TAILQ_CONCAT(&list, &pool->dirty.list, link);
	pool->dirty.count = 0;
	pool->flush_wanted = false;
	pthread_mutex_unlock(&pool->lock);
	(void)flush_list(config, pool, &list);
}

static void free_pool(const struct o2_fmr_config *config, struct o2_fmr_pool *pool, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		config->ops->destroy(config->context, pool->fmr[i].handle);
	pthread_mutex_destroy(&pool->lock);
	free(pool->pages);
	free(pool);
}

static struct o2_fmr_pool *alloc_pool(const struct o2_fmr_config *config)
{
	struct o2_fmr_pool *pool = calloc(1, sizeof(*pool) + config->pool_size * sizeof(pool->fmr[0]));

	if (pool == NULL)
		return NULL;
	if (config->cache)
		pool->pages = calloc((size_t)config->pool_size * config->max_pages, sizeof(uint64_t));
	if ((config->cache && pool->pages == NULL) || pthread_mutex_init(&pool->lock, NULL) != 0) {
		free(pool->pages);
		free(pool);
		return NULL;
	}
	TAILQ_INIT(&pool->free.list);
	TAILQ_INIT(&pool->dirty.list);
	for (uint32_t i = 0; i < O2_FMR_BUCKETS; i++)
		LIST_INIT(&pool->bucket[i]);
	return pool;
}

static int create_pool(void *owner, uint64_t device, struct o2_pool **made, struct o2_error *error)
{
	const struct o2_fmr_config *config = &((const struct o2_fmr_set *)owner)->config;
	struct o2_fmr_pool *pool = alloc_pool(config);

	if (pool == NULL)
		return o2_fail(error, -ENOMEM, "pool/fmr/memory", "pool_size", config->pool_size);
	for (uint32_t i = 0; i < config->pool_size; i++) {
		struct o2_fmr *fmr = &pool->fmr[i];
		int rc;

		o2_error_clear(error);
		rc = config->ops->create(config->context, device, config->max_pages, config->page_bytes,
					 &fmr->handle, error);
		if (rc != 0) {
			free_pool(config, pool, i);
			return o2_pool_refuse_op(error, rc, "pool/fmr/create", "regions", i, i,
						 config->pool_size);
		}
		fmr->pool = pool;
		if (config->cache)
			fmr->pages = &pool->pages[(size_t)i * config->max_pages];
		append(&pool->free, fmr, O2_FMR_FREE);
	}
	*made = &pool->base;
	return 0;
}

static void destroy_pool(void *owner, struct o2_pool *base)
{
	const struct o2_fmr_config *config = &((const struct o2_fmr_set *)owner)->config;
	struct o2_fmr_pool *pool = fmr_pool(base);

	/* A region that cannot be unmapped is destroyed nevertheless. */
	flush_pool(config, pool, true);
	free_pool(config, pool, config->pool_size);
}

/* Dirty regions count as idle too: no transfer uses them. */
static uint32_t idle(struct o2_pool *base)
{
	struct o2_fmr_pool *pool = fmr_pool(base);
	uint32_t n;

	pthread_mutex_lock(&pool->lock);
	n = pool->free.count + pool->dirty.count;
	pthread_mutex_unlock(&pool->lock);
	return n;
}

static const struct o2_pool_kind fmr_kind = {
	.create = create_pool,
	.destroy = destroy_pool,
	.take = take,
	.exhausted_errno = -EAGAIN,
	.scan_is_use = true,
	.take_unlocked = true,
	.idle = idle,
};

int o2_fmr_set_init(struct o2_fmr_set *set, const struct o2_fmr_config *config, struct o2_error *error)
{
	if (config->pool_size == 0 || config->pool_size > O2_POOL_SIZE_MAX)
		return o2_refuse_value(error, -EINVAL, "pool/fmr/pool-size", "pool_size", config->pool_size,
				       O2_POOL_SIZE_MAX);
	if (config->max_pages != O2_MAX_FRAGS && config->max_pages != O2_MAX_FRAGS_LEGACY)
		return o2_refuse_value(error, -EINVAL, "pool/fmr/max-pages", "max_pages", config->max_pages,
				       O2_MAX_FRAGS);
	if (!o2_page_bytes_legal(config->page_bytes))
		return o2_refuse_value(error, -EINVAL, "pool/fmr/page-size", "page_bytes", config->page_bytes,
				       O2_PAGE_BYTES_MAX);
	/* With a higher watermark all regions could be dirty before a flush is due. */
	if (config->watermark == 0 || config->watermark > config->pool_size)
		return o2_refuse_value(error, -EINVAL, "pool/fmr/watermark", "watermark", config->watermark,
				       config->pool_size);
	set->config = *config;
	if (set->config.max_remaps == 0)
		set->config.max_remaps = O2_FMR_MAX_REMAPS;
	return o2_pool_set_init(&set->set, &fmr_kind, set, &config->set, error);
}

int o2_fmr_take(struct o2_fmr_set *set, const struct o2_fmr_request *request, struct o2_fmr **fmr,
		struct o2_error *error)
{
	struct request answer = {.list = request};
	struct o2_pool *pool;
	int rc = o2_pool_set_take(&set->set, &answer, &pool, error);

	if (rc == 0)
		*fmr = answer.fmr;
	return rc;
}

/* The last user has released the region: move it to its new state.  Called with the pool's lock held. */
static void release(const struct o2_fmr_config *config, struct o2_fmr_pool *pool, struct o2_fmr *fmr,
		    struct o2_fmr_list *dying)
{
	if (fmr->mapped.strict) {
		fmr->place = O2_FMR_FLUSHING;
		TAILQ_INSERT_TAIL(dying, fmr, link);
	} else if (fmr->remaps < config->max_remaps) {
		append(&pool->free, fmr, O2_FMR_FREE);
	} else {
		append(&pool->dirty, fmr, O2_FMR_DIRTY);
		if (pool->dirty.count >= config->watermark)
			pool->flush_wanted = true;
	}
}

int o2_fmr_put(struct o2_fmr_set *set, struct o2_fmr *fmr, bool transfer_failed, struct o2_error *error)
{
	const struct o2_fmr_config *config = &set->config;
	struct o2_fmr_list dying = TAILQ_HEAD_INITIALIZER(dying);
	struct o2_fmr_pool *pool = fmr->pool;
	bool flush;
	int unmapped, rc;

	pthread_mutex_lock(&pool->lock);
	if (fmr->refs == 0) {
		pthread_mutex_unlock(&pool->lock);
		return o2_refuse_value(error, -EINVAL, "pool/put/not-in-use", "refs", 0, 1);
	}
	if (--fmr->refs == 0)
		release(config, pool, fmr, &dying);
	flush = pool->flush_wanted && !config->flush_on_demand;
	pthread_mutex_unlock(&pool->lock);
	unmapped = flush_list(config, pool, &dying);
	if (transfer_failed || flush)
		flush_pool(config, pool, transfer_failed);
	rc = o2_pool_set_put(&set->set, &pool->base, NULL, true, error);
	if (rc == 0 && unmapped != 0)
		rc = o2_refuse_value(error, unmapped, "pool/fmr/key-alive", "regions", 1, 0);
	return rc;
}

struct flush_visit {
	const struct o2_fmr_config *config;
	bool all;
};

static void visit_flush(void *context, struct o2_pool *base)
{
	const struct flush_visit *visit = context;
	struct o2_fmr_pool *pool = fmr_pool(base);
	bool wanted;

	pthread_mutex_lock(&pool->lock);
	wanted = pool->flush_wanted;
	pthread_mutex_unlock(&pool->lock);
	if (visit->all || wanted)
		flush_pool(visit->config, pool, visit->all);
}

void o2_fmr_set_flush(struct o2_fmr_set *set, bool all)
{
	struct flush_visit visit = {.config = &set->config, .all = all};

	o2_pool_set_visit(&set->set, visit_flush, &visit);
}
