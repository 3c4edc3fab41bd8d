/* SPDX-License-Identifier: MIT */
#include "reg/pool/pool_tx.h"

#include <assert.h>
#include <errno.h>
#include <stdalign.h>
#include <stdlib.h>

#include "base/limits.h"

/* docs/pools.md, "Transmit pools". */

uint64_t o2_tx_area_bytes(uint32_t pool_size, uint32_t page_bytes)
{
	const uint64_t bytes = (uint64_t)pool_size * O2_MSG_BYTES;

	return (bytes + page_bytes - 1) / page_bytes * page_bytes;
}

static size_t aligned(size_t bytes)
{
	const size_t unit = alignof(max_align_t);

	return (bytes + unit - 1) / unit * unit;
}

static size_t tx_stride(const struct o2_tx_config *config)
{
	return aligned(config->tx_bytes < sizeof(struct o2_pool_tx) ? sizeof(struct o2_pool_tx)
								    : config->tx_bytes);
}

static struct o2_pool_tx *tx_at(const struct o2_tx_config *config, const struct o2_tx_pool *pool, uint32_t i)
{
	return (struct o2_pool_tx *)(void *)(pool->tx + i * tx_stride(config));
}

/* Free a pool, which may be only partly made. */
static void free_pool(const struct o2_tx_config *config, struct o2_tx_pool *pool)
{
	while (pool->nmapped > 0) {
		const struct o2_pool_tx *tx = tx_at(config, pool, --pool->nmapped);

		config->ops->slot_unmap(config->context, pool->area_handle, tx->message, tx->message_addr);
	}
	if (pool->area_ready && config->ops->area_destroy != NULL)
		config->ops->area_destroy(config->context, pool->area_handle);
	free(pool->made);
	free(pool->storage);
	free(pool->tx);
	free(pool);
}

/* Allocate the memory of a pool.  Nothing is registered yet. */
static struct o2_tx_pool *alloc_pool(const struct o2_tx_config *config)
{
	const uint64_t area_bytes = o2_tx_area_bytes(config->pool_size, config->page_bytes);
	const size_t stride = aligned(config->storage_bytes);
	struct o2_tx_pool *pool = calloc(1, sizeof(*pool));

	if (pool == NULL)
		return NULL;
	STAILQ_INIT(&pool->base.idle);
	pool->tx = calloc(config->pool_size, tx_stride(config));
	/* Zeroed: no stale data may go over the wire.  The kernel allocates no page for unused slots. */
	pool->made = calloc(1, area_bytes + config->page_bytes);
	if (stride > 0)
		pool->storage = malloc(config->pool_size * stride);
	if (pool->tx == NULL || pool->made == NULL || (stride > 0 && pool->storage == NULL)) {
		free_pool(config, pool);
		return NULL;
	}
	/* The area begins at the first page boundary of the allocation. */
	pool->area = (char *)pool->made +
		     (config->page_bytes - (uintptr_t)pool->made % config->page_bytes) % config->page_bytes;
	for (uint32_t i = 0; i < config->pool_size; i++) {
		struct o2_pool_tx *tx = tx_at(config, pool, i);

		tx->pool = pool;
		tx->message = (char *)pool->area + (size_t)i * O2_MSG_BYTES;
		if (stride > 0)
			tx->storage = (char *)pool->storage + i * stride;
	}
	return pool;
}

static int create_pool(void *owner, uint64_t device, struct o2_pool **made, struct o2_error *error)
{
	const struct o2_tx_config *config = &((const struct o2_tx_set *)owner)->config;
	struct o2_tx_pool *pool = alloc_pool(config);
	int rc;

	if (pool == NULL)
		return o2_fail(error, -ENOMEM, "pool/tx/memory", "pool_size", config->pool_size);
	if (config->ops->area_create != NULL) {
		o2_error_clear(error);
		rc = config->ops->area_create(config->context, device, pool->area,
					      o2_tx_area_bytes(config->pool_size, config->page_bytes),
					      &pool->area_handle, error);
		if (rc != 0) {
			free_pool(config, pool);
			return o2_pool_refuse_op(error, rc, "pool/tx/area", "pool_size", O2_NO_INDEX,
						 config->pool_size, O2_POOL_SIZE_MAX);
		}
	}
	pool->area_ready = true;
	for (uint32_t i = 0; i < config->pool_size; i++) {
		struct o2_pool_tx *tx = tx_at(config, pool, i);

		rc = config->ops->slot_map(config->context, pool->area_handle, tx->message,
					   &tx->message_addr);
		if (rc != 0) {
			free_pool(config, pool);
			return o2_refuse(error, rc, "pool/tx/slot", "slots", i, i, O2_NO_LIMIT);
		}
		pool->nmapped++;
		STAILQ_INSERT_HEAD(&pool->base.idle, &tx->idle, link);
	}
	*made = &pool->base;
	return 0;
}

static void destroy_pool(void *owner, struct o2_pool *pool)
{
	free_pool(&((const struct o2_tx_set *)owner)->config, (struct o2_tx_pool *)pool);
}

/* request: a struct o2_pool_tx **, set to the transmit. */
static int take(void *owner, struct o2_pool *pool, void *request, struct o2_error *error)
{
	struct o2_tx_set *set = owner;
	struct o2_pool_tx *tx = (struct o2_pool_tx *)STAILQ_FIRST(&pool->idle);

	(void)error;
	if (tx == NULL)
		return O2_POOL_EXHAUSTED;
	assert(!tx->taken && tx->held == 0);
	STAILQ_REMOVE_HEAD(&pool->idle, link);
	tx->taken = true;
	tx->cookie = set->next_cookie++;
	*(struct o2_pool_tx **)request = tx;
	return 0;
}

static int give(void *owner, struct o2_pool *pool, void *element)
{
	struct o2_pool_tx *tx = element;

	(void)owner;
	if (!tx->taken)
		return -EINVAL;
	tx->taken = false;
	STAILQ_INSERT_HEAD(&pool->idle, &tx->idle, link);
	return 0;
}

static const struct o2_pool_kind tx_kind = {
	.create = create_pool,
	.destroy = destroy_pool,
	.take = take,
	.give = give,
	.exhausted_errno = -ENOMEM,
};

int o2_tx_set_init(struct o2_tx_set *set, const struct o2_tx_config *config, struct o2_error *error)
{
	if (config->pool_size == 0 || config->pool_size > O2_POOL_SIZE_MAX)
		return o2_refuse_value(error, -EINVAL, "pool/tx/pool-size", "pool_size", config->pool_size,
				       O2_POOL_SIZE_MAX);
	if (!o2_page_bytes_legal(config->page_bytes))
		return o2_refuse_value(error, -EINVAL, "pool/tx/page-size", "page_bytes", config->page_bytes,
				       O2_PAGE_BYTES_MAX);
	if (config->tx_bytes > O2_TX_BYTES_MAX)
		return o2_refuse_value(error, -EINVAL, "pool/tx/bytes", "tx_bytes", config->tx_bytes,
				       O2_TX_BYTES_MAX);
	if (config->storage_bytes > O2_TX_BYTES_MAX)
		return o2_refuse_value(error, -EINVAL, "pool/tx/storage", "storage_bytes",
				       config->storage_bytes, O2_TX_BYTES_MAX);
	set->config = *config;
	set->next_cookie = 0;
	return o2_pool_set_init(&set->set, &tx_kind, set, &config->set, error);
}

int o2_tx_take(struct o2_tx_set *set, struct o2_pool_tx **tx, struct o2_error *error)
{
	struct o2_pool *pool;

	return o2_pool_set_take(&set->set, tx, &pool, error);
}

int o2_tx_put(struct o2_tx_set *set, struct o2_pool_tx *tx, struct o2_error *error)
{
	if (tx->held != 0)
		return o2_refuse_value(error, -EINVAL, "tx/idle", "held", tx->held, 0);
	return o2_pool_set_put(&set->set, &tx->pool->base, tx, true, error);
}
