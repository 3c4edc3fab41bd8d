/* SPDX-License-Identifier: MIT */
#ifndef O2_TEST_POOL_FMR_MODEL_H
#define O2_TEST_POOL_FMR_MODEL_H

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "reg/pool_fmr.h"

/*
 * A set of FMR pools as arrays of numbers, written from docs/pools.md and without a look at ref/reg: which
 * region a list gets, and where every region is afterwards.  For test_pool_fmr_random.c.
 */

#define POOLS	256u
#define SIZE	4u /* regions of a pool, at most */
#define NEVER	UINT32_MAX
#define NO_LIST UINT32_MAX

/* What the clock says and what will go wrong: the same for the device and for the model. */
struct faults {
	uint64_t now_ms;
	uint32_t fail_at; /* region of a pool that cannot be created, or NEVER */
	int map_error, unmap_error;
};

struct model_pool {
	uint32_t first; /* region number; the others follow */
	uint64_t deadline_ms;
	uint32_t users;
	uint32_t unused[SIZE], nunused; /* oldest first */
	uint32_t dirty[SIZE], ndirty;
	bool wanted;
	uint32_t list[SIZE]; /* that is known, or NO_LIST */
	uint32_t refs[SIZE], remaps[SIZE], key[SIZE];
	bool strict[SIZE];
};

struct model {
	struct o2_fmr_config config;
	uint64_t next_retry_ms;
	uint32_t created; /* regions */
	uint32_t next_key;
	struct model_pool live[POOLS], failed[POOLS];
	uint32_t nlive, nfailed;
	struct faults faults;
	uint32_t hits, flushes, kills; /* how often */
};

static void drop(uint32_t *list, uint32_t *n, uint32_t value)
{
	uint32_t at = 0;

	while (at < *n && list[at] != value)
		at++;
	if (at == *n)
		return;
	memmove(&list[at], &list[at + 1], (*n - at - 1) * sizeof(list[0]));
	(*n)--;
}

static void model_flush(struct model *m, struct model_pool *p, bool all)
{
	uint32_t keep = 0;

	for (uint32_t i = 0; all && i < p->nunused; i++) {
		if (p->remaps[p->unused[i]] != 0)
			p->dirty[p->ndirty++] = p->unused[i];
		else
			p->unused[keep++] = p->unused[i];
	}
	if (all)
		p->nunused = keep;
	for (uint32_t i = 0; i < p->ndirty; i++)
		p->list[p->dirty[i]] = NO_LIST;
	p->wanted = false;
	m->flushes++;
	if (p->ndirty == 0)
		return;
	if (m->faults.unmap_error != 0) {
		p->wanted = true;
		return;
	}
	for (uint32_t i = 0; i < p->ndirty; i++) {
		p->remaps[p->dirty[i]] = 0;
		p->unused[p->nunused++] = p->dirty[i];
	}
	p->ndirty = 0;
}

static void model_grow(struct model *m)
{
	struct model_pool *p = &m->live[m->nlive];

	if (m->faults.fail_at < m->config.pool_size) {
		m->created += m->faults.fail_at;
		m->next_retry_ms = m->faults.now_ms + 1000;
		return;
	}
	m->nlive++;
	assert(m->nlive < POOLS);
	memset(p, 0, sizeof(*p));
	p->first = m->created;
	p->deadline_ms = m->faults.now_ms + 300000;
	m->created += m->config.pool_size;
	for (uint32_t i = 0; i < m->config.pool_size; i++) {
		p->unused[p->nunused++] = i;
		p->list[i] = NO_LIST;
	}
}

/* 0 and the region number; 1 when the pool is exhausted; or -errno. */
static int model_take_from(struct model *m, struct model_pool *p, uint32_t list, bool strict,
			   uint32_t *region)
{
	uint32_t i;

	p->deadline_ms = m->faults.now_ms + 300000;
	for (i = 0; i < m->config.pool_size && (!m->config.cache || strict || p->list[i] != list); i++)
		;
	if (i < m->config.pool_size) {
		drop(p->unused, &p->nunused, i);
		drop(p->dirty, &p->ndirty, i);
		m->hits++;
	} else {
		if (p->nunused == 0)
			return 1;
		i = p->unused[0];
		p->list[i] = NO_LIST;
		if (m->faults.map_error != 0)
			return m->faults.map_error;
		drop(p->unused, &p->nunused, i);
		p->list[i] = strict ? NO_LIST : list;
		p->strict[i] = strict;
		p->remaps[i]++;
		p->key[i] = ++m->next_key;
	}
	p->refs[i]++;
	p->users++;
	*region = p->first + i;
	return 0;
}

static int model_take(struct model *m, uint32_t list, bool strict, uint32_t *region)
{
	for (;;) {
		for (uint32_t i = 0; i < m->nlive; i++) {
			int rc = model_take_from(m, &m->live[i], list, strict, region);

			if (rc <= 0)
				return rc;
		}
		if (m->faults.now_ms < m->next_retry_ms)
			return -EAGAIN;
		model_grow(m);
	}
}

static struct model_pool *model_find(struct model *m, uint32_t region, bool *failed)
{
	for (uint32_t i = 0; i < m->nlive; i++) {
		*failed = false;
		if (region - m->live[i].first < m->config.pool_size)
			return &m->live[i];
	}
	for (uint32_t i = 0; i < m->nfailed; i++) {
		*failed = true;
		if (region - m->failed[i].first < m->config.pool_size)
			return &m->failed[i];
	}
	assert(!"every region that is held is somewhere");
	return NULL;
}

static void model_remove(struct model_pool *list, uint32_t *n, struct model_pool *p)
{
	memmove(p, p + 1, (size_t)(&list[*n] - (p + 1)) * sizeof(*p));
	(*n)--;
}

/* A strict mapping is undone in the put, at once: what its put says. */
static int model_unmap(struct model *m, struct model_pool *p, uint32_t i)
{
	if (m->faults.unmap_error != 0) {
		p->dirty[p->ndirty++] = i;
		p->wanted = true;
		return m->faults.unmap_error;
	}
	p->remaps[i] = 0;
	p->unused[p->nunused++] = i;
	m->kills++;
	return 0;
}

static int model_put(struct model *m, uint32_t region, bool transfer_failed)
{
	bool failed;
	struct model_pool *p = model_find(m, region, &failed);
	const uint32_t i = region - p->first;
	bool flush = p->wanted;
	int rc = 0;

	if (--p->refs[i] == 0 && p->strict[i]) {
		rc = model_unmap(m, p, i);
	} else if (p->refs[i] == 0) {
		if (p->remaps[i] < m->config.max_remaps)
			p->unused[p->nunused++] = i;
		else
			p->dirty[p->ndirty++] = i;
		if (p->ndirty >= m->config.watermark)
			p->wanted = flush = true;
	}
	if (transfer_failed || (flush && !m->config.flush_on_demand))
		model_flush(m, p, transfer_failed);
	p->users--;
	if (failed && p->users == 0)
		model_remove(m->failed, &m->nfailed, p);
	for (uint32_t k = 1; k < m->nlive;) {
		if (m->live[k].users == 0 && m->faults.now_ms >= m->live[k].deadline_ms)
			model_remove(m->live, &m->nlive, &m->live[k]);
		else
			k++;
	}
	return rc;
}

static void model_fail(struct model *m)
{
	for (uint32_t i = 0; i < m->nlive; i++) {
		if (m->live[i].users > 0)
			m->failed[m->nfailed++] = m->live[i];
	}
	m->nlive = 0;
}

#endif
