/* SPDX-License-Identifier: MIT */
#include "reg/pool/poolset.h"

#include <errno.h>
#include <stddef.h>

/* Pool sizes, and how a set grows and shrinks: docs/pools.md. */

static uint32_t share(uint32_t total, uint32_t ncpts, uint32_t floor)
{
	return total / ncpts > floor ? total / ncpts : floor;
}

int o2_pool_sizes(const struct o2_pool_tunables *tunables, struct o2_pool_sizes *sizes,
		  struct o2_error *error)
{
	if (tunables->ncpts == 0)
		return o2_refuse_value(error, -EINVAL, "pool/sizes/ncpts", "ncpts", 0, 1);
	if (tunables->fmr_pool_size < tunables->ntx / 4)
		return o2_refuse_value(error, -EINVAL, "pool/sizes/fmr-pool-size", "fmr_pool_size",
				       tunables->fmr_pool_size, tunables->ntx / 4);
	sizes->tx_size = share(tunables->ntx, tunables->ncpts, O2_POOL_TX_FLOOR);
	sizes->reg_size = share(tunables->fmr_pool_size, tunables->ncpts, O2_POOL_REG_FLOOR);
	sizes->flush_trigger = share(tunables->fmr_flush_trigger, tunables->ncpts, O2_POOL_FLUSH_FLOOR);
	return 0;
}

static uint64_t now_ms(const struct o2_pool_set *set)
{
	return o2_clock_ms(set->config.clock);
}

/* The time delay_ms from now, at most UINT64_MAX. */
static uint64_t later(const struct o2_pool_set *set, uint32_t delay_ms)
{
	const uint64_t now = now_ms(set);

	return now > UINT64_MAX - delay_ms ? UINT64_MAX : now + delay_ms;
}

/* Destroy pools that are on no list of the set any more.  Called without the lock. */
static void destroy_all(struct o2_pool_set *set, struct o2_pool_list *doomed)
{
	struct o2_pool *pool;

	while ((pool = TAILQ_FIRST(doomed)) != NULL) {
		TAILQ_REMOVE(doomed, pool, link);
		set->kind->destroy(set->owner, pool);
		pthread_mutex_lock(&set->lock);
		set->destroyed++;
		pthread_mutex_unlock(&set->lock);
	}
}

/* Remove one user.  If it was the last user of a failed pool, the pool moves to doomed. */
static void leave(struct o2_pool_set *set, struct o2_pool *pool, struct o2_pool_list *doomed)
{
	assert(pool->users > 0);
	pool->users--;
	if (!pool->failed || pool->users > 0)
		return;
	TAILQ_REMOVE(&set->failed, pool, link);
	TAILQ_INSERT_HEAD(doomed, pool, link);
}

/* Try to take from each live pool in turn.  Called with the lock held. */
static int scan(struct o2_pool_set *set, void *request, struct o2_pool **from, struct o2_pool_list *doomed,
		struct o2_error *error)
{
	struct o2_pool *pool = TAILQ_FIRST(&set->live);

	while (pool != NULL) {
		const uint64_t version = set->version;
		const uint64_t deadline_ms = later(set, O2_POOL_LIFE_MS);
		int rc;

		pool->users++;
		if (set->kind->take_unlocked)
			pthread_mutex_unlock(&set->lock);
		rc = set->kind->take(set->owner, pool, request, error);
		if (set->kind->take_unlocked)
			pthread_mutex_lock(&set->lock);
		if (rc == 0 || set->kind->scan_is_use)
			pool->deadline_ms = deadline_ms;
		if (rc == 0) {
			*from = pool;
			return 0;
		}
		/* If the list changed meanwhile, start again: next is stale, and a pool may be new. */
		struct o2_pool *next =
			version == set->version ? TAILQ_NEXT(pool, link) : TAILQ_FIRST(&set->live);

		leave(set, pool, doomed);
		if (rc != O2_POOL_EXHAUSTED)
			return rc;
		pool = next;
	}
	return O2_POOL_EXHAUSTED;
}

static uint32_t count(const struct o2_pool_list *list, uint64_t *users)
{
	const struct o2_pool *pool;
	uint32_t n = 0;

	*users = 0;
	TAILQ_FOREACH(pool, list, link) {
		*users += pool->users;
		n++;
	}
	return n;
}

/*
 * Make one pool.  Called with the lock held, which is dropped meanwhile.  If the device has changed while the
 * pool was made, the pool goes to doomed.
 */
static int grow(struct o2_pool_set *set, struct o2_pool_list *doomed, struct o2_error *error)
{
	const uint64_t device = set->config.device;
	struct o2_pool *pool = NULL;
	int rc;

	set->growing = true;
	pthread_mutex_unlock(&set->lock);
	rc = set->kind->create(set->owner, device, &pool, error);
	pthread_mutex_lock(&set->lock);
	set->growing = false;
	pthread_cond_broadcast(&set->grown);
	if (rc != 0) {
		set->create_failures++;
		set->next_retry_ms = later(set, O2_POOL_RETRY_MS);
		return rc;
	}
	set->created++;
	pool->device = device;
	pool->users = 0;
	pool->failed = false;
	if (device != set->config.device) {
		TAILQ_INSERT_HEAD(doomed, pool, link);
		return 0;
	}
	pool->deadline_ms = later(set, O2_POOL_LIFE_MS);
	TAILQ_INSERT_TAIL(&set->live, pool, link);
	set->version++;
	return 0;
}

/* Nothing is free: grow, or wait for growth.  0: scan again.  Called with the lock held; may drop it. */
static int grow_or_wait(struct o2_pool_set *set, struct o2_pool_list *doomed, struct o2_error *error)
{
	const uint32_t cap = set->config.max_pools;
	uint64_t users, now;

	if (set->growing) {
		set->waits++;
		while (set->growing)
			pthread_cond_wait(&set->grown, &set->lock);
		return 0;
	}
	if (cap != 0 && count(&set->live, &users) >= cap)
		return o2_refuse_value(error, -EBUSY, "pool/cap", "max_pools", (uint64_t)cap + 1, cap);
	now = now_ms(set);
	if (now < set->next_retry_ms)
		return o2_refuse_value(error, set->kind->exhausted_errno, "pool/exhausted", "now_ms", now,
				       set->next_retry_ms);
	/* If growth fails and the next scan finds nothing, the next round refuses: it is too soon to retry. */
	(void)grow(set, doomed, NULL);
	return 0;
}

int o2_pool_set_take(struct o2_pool_set *set, void *request, struct o2_pool **from, struct o2_error *error)
{
	struct o2_pool_list doomed = TAILQ_HEAD_INITIALIZER(doomed);
	int rc;

	pthread_mutex_lock(&set->lock);
	do {
		rc = scan(set, request, from, &doomed, error);
		if (rc == O2_POOL_EXHAUSTED && (rc = grow_or_wait(set, &doomed, error)) == 0)
			rc = O2_POOL_EXHAUSTED;
	} while (rc == O2_POOL_EXHAUSTED);
	pthread_mutex_unlock(&set->lock);
	destroy_all(set, &doomed);
	return rc;
}

/* Move all pools that have been idle too long to doomed, except the first of the list. */
static void sweep(struct o2_pool_set *set, struct o2_pool_list *doomed)
{
	const uint64_t now = now_ms(set);
	struct o2_pool *pool, *next;

	if (TAILQ_EMPTY(&set->live))
		return;
	for (pool = TAILQ_NEXT(TAILQ_FIRST(&set->live), link); pool != NULL; pool = next) {
		next = TAILQ_NEXT(pool, link);
		if (pool->users > 0 || now < pool->deadline_ms)
			continue;
		TAILQ_REMOVE(&set->live, pool, link);
		set->version++;
		TAILQ_INSERT_HEAD(doomed, pool, link);
	}
}

int o2_pool_set_put(struct o2_pool_set *set, struct o2_pool *pool, void *element, bool used,
		    struct o2_error *error)
{
	struct o2_pool_list doomed = TAILQ_HEAD_INITIALIZER(doomed);
	int rc = -EINVAL;

	pthread_mutex_lock(&set->lock);
	if (pool->users > 0)
		rc = set->kind->give != NULL ? set->kind->give(set->owner, pool, element) : 0;
	if (rc != 0) {
		pthread_mutex_unlock(&set->lock);
		return o2_refuse_value(error, rc, "pool/put/not-in-use", "element", 0, 1);
	}
	leave(set, pool, &doomed);
	if (used)
		sweep(set, &doomed);
	pthread_mutex_unlock(&set->lock);
	destroy_all(set, &doomed);
	return 0;
}

/* Take the pool off the list of live pools and mark it as failed.  Called with the lock held. */
static void fail_pool(struct o2_pool_set *set, struct o2_pool *pool, struct o2_pool_list *doomed)
{
	TAILQ_REMOVE(&set->live, pool, link);
	set->version++;
	pool->failed = true;
	if (pool->users > 0)
		TAILQ_INSERT_TAIL(&set->failed, pool, link);
	else
		TAILQ_INSERT_HEAD(doomed, pool, link);
}

uint32_t o2_pool_set_fail(struct o2_pool_set *set, uint64_t device)
{
	struct o2_pool_list doomed = TAILQ_HEAD_INITIALIZER(doomed);
	uint64_t users;
	uint32_t waiting;

	pthread_mutex_lock(&set->lock);
	set->config.device = device;
	while (!TAILQ_EMPTY(&set->live))
		fail_pool(set, TAILQ_FIRST(&set->live), &doomed);
	waiting = count(&set->failed, &users);
	pthread_mutex_unlock(&set->lock);
	destroy_all(set, &doomed);
	return waiting;
}

void o2_pool_set_retire(struct o2_pool_set *set, struct o2_pool *pool)
{
	struct o2_pool_list doomed = TAILQ_HEAD_INITIALIZER(doomed);

	pthread_mutex_lock(&set->lock);
	assert(pool->users > 0);
	if (!pool->failed)
		fail_pool(set, pool, &doomed);
	pthread_mutex_unlock(&set->lock);
	assert(TAILQ_EMPTY(&doomed));
}

static void visit_list(struct o2_pool_set *set, struct o2_pool_list *list,
		       void (*visit)(void *context, struct o2_pool *pool), void *context)
{
	struct o2_pool_list doomed = TAILQ_HEAD_INITIALIZER(doomed);
	struct o2_pool *pool;

	pthread_mutex_lock(&set->lock);
	for (pool = TAILQ_FIRST(list); pool != NULL;) {
		const uint64_t version = set->version;
		struct o2_pool *next;

		pool->users++;
		pthread_mutex_unlock(&set->lock);
		visit(context, pool);
		pthread_mutex_lock(&set->lock);
		/* If the list changed, start again: some pools are visited twice, but none is missed. */
		next = version == set->version ? TAILQ_NEXT(pool, link) : TAILQ_FIRST(list);
		leave(set, pool, &doomed);
		pool = next;
	}
	pthread_mutex_unlock(&set->lock);
	destroy_all(set, &doomed);
}

void o2_pool_set_visit(struct o2_pool_set *set, void (*visit)(void *context, struct o2_pool *pool),
		       void *context)
{
	visit_list(set, &set->live, visit, context);
}

void o2_pool_set_counts(struct o2_pool_set *set, struct o2_pool_counts *counts)
{
	pthread_mutex_lock(&set->lock);
	*counts = (struct o2_pool_counts){
		.version = set->version,
		.created = set->created,
		.destroyed = set->destroyed,
		.create_failures = set->create_failures,
		.waits = set->waits,
	};
	counts->live = count(&set->live, &counts->live_users);
	counts->failed = count(&set->failed, &counts->failed_users);
	pthread_mutex_unlock(&set->lock);
}

int o2_pool_set_check(struct o2_pool_set *set, const struct o2_pool *pool, uint64_t device,
		      struct o2_error *error)
{
	bool failed;

	pthread_mutex_lock(&set->lock);
	failed = pool->failed;
	pthread_mutex_unlock(&set->lock);
	if (failed)
		return o2_fail(error, -ENETDOWN, "pool/failed", "failed", 1);
	if (pool->device != device)
		return o2_refuse_other(error, -ENETDOWN, "pool/other-device", "device", pool->device, device);
	return 0;
}

int o2_pool_refuse_op(struct o2_error *error, int code, const char *rule, const char *field, uint32_t index,
		      uint64_t value, uint64_t limit)
{
	if (error != NULL && error->code == code)
		return code;
	return o2_refuse(error, code, rule, field, index, value, limit);
}

struct idle_visit {
	const struct o2_pool_kind *kind;
	uint64_t total;
};

static void visit_idle(void *context, struct o2_pool *pool)
{
	struct idle_visit *visit = context;
	const struct o2_idle_element *element;

	if (visit->kind->idle != NULL)
		visit->total += visit->kind->idle(pool);
	STAILQ_FOREACH(element, &pool->idle, link)
		visit->total++;
}

uint64_t o2_pool_set_idle(struct o2_pool_set *set)
{
	struct idle_visit visit = {.kind = set->kind};

	visit_list(set, &set->live, visit_idle, &visit);
	visit_list(set, &set->failed, visit_idle, &visit);
	return visit.total;
}

int o2_pool_set_init(struct o2_pool_set *set, const struct o2_pool_kind *kind, void *owner,
		     const struct o2_pool_set_config *config, struct o2_error *error)
{
	struct o2_pool_list doomed = TAILQ_HEAD_INITIALIZER(doomed);
	int rc;

	if (config->clock == NULL)
		return o2_refuse_value(error, -EINVAL, "pool/config/clock", "clock", 0, 1);
	*set = (struct o2_pool_set){.kind = kind, .owner = owner, .config = *config};
	TAILQ_INIT(&set->live);
	TAILQ_INIT(&set->failed);
	rc = pthread_mutex_init(&set->lock, NULL);
	if (rc != 0)
		return o2_fail(error, -rc, "pool/init/lock", "lock", 0);
	rc = pthread_cond_init(&set->grown, NULL);
	if (rc != 0) {
		pthread_mutex_destroy(&set->lock);
		return o2_fail(error, -rc, "pool/init/lock", "grown", 0);
	}
	pthread_mutex_lock(&set->lock);
	rc = grow(set, &doomed, error);
	pthread_mutex_unlock(&set->lock);
	if (rc != 0) {
		pthread_cond_destroy(&set->grown);
		pthread_mutex_destroy(&set->lock);
	}
	return rc;
}

int o2_pool_set_close(struct o2_pool_set *set, struct o2_error *error)
{
	struct o2_pool_counts counts;

	o2_pool_set_counts(set, &counts);
	if (counts.live_users + counts.failed_users > 0)
		return o2_refuse_value(error, -EBUSY, "pool/close/in-use", "users",
				       counts.live_users + counts.failed_users, 0);
	(void)o2_pool_set_fail(set, set->config.device);
	pthread_cond_destroy(&set->grown);
	pthread_mutex_destroy(&set->lock);
	return 0;
}
