/* SPDX-License-Identifier: MIT */
#ifndef O2_TEST_POOL_MODEL_H
#define O2_TEST_POOL_MODEL_H

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/*
 * A set of transmit or descriptor pools as arrays of numbers, written from docs/pools.md and without a look
 * at ref/reg: what comes next, and when pools come and go.  For test_pool_random.c.
 */

#define MODEL_SIZE  3u	 /* elements of a pool, at most */
#define MODEL_POOLS 256u /* live, or failed, at a time */
#define MODEL_IDS   8192u

struct model_pool {
	uint64_t deadline_ms;
	uint32_t users;
	uint32_t nidle;
	uint32_t idle[MODEL_SIZE]; /* element ids; [0] is taken next */
};

struct model {
	bool frd; /* else transmits */
	uint32_t size, cap;
	uint32_t next_id;
	uint64_t next_retry_ms, version, created, destroyed, failures, cookie;
	uint32_t nlive, nfailed, all;
	uint32_t live[MODEL_POOLS], failed[MODEL_POOLS]; /* indices of pool[] */
	struct model_pool pool[MODEL_IDS];
	uint32_t pool_of[MODEL_IDS]; /* by element id */
	uint32_t key[MODEL_IDS];
	bool valid[MODEL_IDS];
};

static void remove_at(uint32_t *list, uint32_t *n, uint32_t at)
{
	memmove(&list[at], &list[at + 1], (*n - at - 1) * sizeof(list[0]));
	(*n)--;
}

static void model_new_element(struct model *m, uint32_t pool, uint32_t id)
{
	m->pool_of[id] = pool;
	m->key[id] = id << 8;
	m->valid[id] = false;
}

static void model_idle(struct model *m, uint32_t id)
{
	struct model_pool *p = &m->pool[m->pool_of[id]];

	if (m->frd) { /* a queue */
		p->idle[p->nidle++] = id;
	} else { /* a stack */
		memmove(&p->idle[1], &p->idle[0], p->nidle++ * sizeof(p->idle[0]));
		p->idle[0] = id;
	}
}

static void model_grow(struct model *m, uint64_t now_ms, uint32_t fail_at)
{
	const uint32_t index = m->all;

	if (fail_at < m->size) {
		m->next_id += fail_at;
		m->failures++;
		m->next_retry_ms = now_ms + 1000;
		return;
	}
	m->all++;
	assert(m->all < MODEL_IDS && m->nlive < MODEL_POOLS);
	for (uint32_t i = 0; i < m->size; i++, m->next_id++) {
		assert(m->next_id < MODEL_IDS);
		model_new_element(m, index, m->next_id);
		model_idle(m, m->next_id);
	}
	m->pool[index].deadline_ms = now_ms + 300000;
	m->live[m->nlive++] = index;
	m->created++;
	m->version++;
}

static int model_take(struct model *m, uint64_t now_ms, uint32_t fail_at, uint32_t *id)
{
	for (;;) {
		for (uint32_t i = 0; i < m->nlive; i++) {
			struct model_pool *p = &m->pool[m->live[i]];

			if (m->frd || p->nidle > 0)
				p->deadline_ms = now_ms + 300000;
			if (p->nidle == 0)
				continue;
			*id = p->idle[0];
			remove_at(p->idle, &p->nidle, 0);
			p->users++;
			return 0;
		}
		if (m->cap != 0 && m->nlive >= m->cap)
			return -EBUSY;
		if (now_ms < m->next_retry_ms)
			return m->frd ? -EAGAIN : -ENOMEM;
		model_grow(m, now_ms, fail_at);
	}
}

static void model_put(struct model *m, uint64_t now_ms, uint32_t id, bool sweep)
{
	const uint32_t pool = m->pool_of[id];

	model_idle(m, id);
	m->pool[pool].users--;
	for (uint32_t i = 0; i < m->nfailed; i++) {
		if (m->failed[i] == pool && m->pool[pool].users == 0) {
			remove_at(m->failed, &m->nfailed, i);
			m->destroyed++;
			break;
		}
	}
	for (uint32_t i = 1; sweep && i < m->nlive;) {
		const struct model_pool *p = &m->pool[m->live[i]];

		if (p->users > 0 || now_ms < p->deadline_ms) {
			i++;
			continue;
		}
		remove_at(m->live, &m->nlive, i);
		m->destroyed++;
		m->version++;
	}
}

static void model_fail(struct model *m, uint32_t at)
{
	const uint32_t pool = m->live[at];

	remove_at(m->live, &m->nlive, at);
	m->version++;
	if (m->pool[pool].users > 0)
		m->failed[m->nfailed++] = pool;
	else
		m->destroyed++;
}

#endif
