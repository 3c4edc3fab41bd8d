/* SPDX-License-Identifier: MIT */
#include "props/model/pool_model.h"

#include <errno.h>
#include <string.h>

#define LIFE_MS	 300000u
#define RETRY_MS 1000u

static void remove_at(uint32_t *list, uint32_t *n, uint32_t at)
{
	memmove(&list[at], &list[at + 1], (*n - at - 1) * sizeof(list[0]));
	(*n)--;
}

static void make_idle(struct o2_pool_model *m, uint32_t element)
{
	struct o2_pool_model_pool *p = &m->pool[m->pool_of[element]];

	if (m->descriptors) { /* a queue */
		p->idle[p->nidle++] = element;
	} else { /* a stack */
		memmove(&p->idle[1], &p->idle[0], p->nidle++ * sizeof(p->idle[0]));
		p->idle[0] = element;
	}
}

static uint32_t new_element(struct o2_pool_model *m, uint32_t pool)
{
	const uint32_t element = m->next_element++;

	m->pool_of[element] = pool;
	o2_key_model_init(&m->key[element], m->invalidate_last, element, 0);
	return element;
}

static void grow(struct o2_pool_model *m)
{
	struct o2_pool_model_pool *p = &m->pool[m->all];

	if (m->faults->create_at < m->size) {
		m->next_element += m->faults->create_at;
		m->failures++;
		m->next_retry_ms = m->faults->now_ms + RETRY_MS;
		return;
	}
	*p = (struct o2_pool_model_pool){.device = m->device, .deadline_ms = m->faults->now_ms + LIFE_MS};
	for (uint32_t i = 0; i < m->size; i++)
		make_idle(m, new_element(m, m->all));
	m->live[m->nlive++] = m->all++;
	m->created++;
	m->version++;
}

void o2_pool_model_init(struct o2_pool_model *m)
{
	m->next_element = 0;
	m->next_retry_ms = m->version = m->created = m->destroyed = m->failures = m->cookie = 0;
	m->all = m->nlive = m->nfailed = m->reaped = 0;
	grow(m);
}

int o2_pool_model_take(struct o2_pool_model *m, uint32_t *element)
{
	for (;;) {
		for (uint32_t i = 0; i < m->nlive; i++) {
			struct o2_pool_model_pool *p = &m->pool[m->live[i]];

			if (m->descriptors || p->nidle > 0)
				p->deadline_ms = m->faults->now_ms + LIFE_MS;
			if (p->nidle == 0)
				continue;
			*element = p->idle[0];
			remove_at(p->idle, &p->nidle, 0);
			p->users++;
			return 0;
		}
		if (m->cap != 0 && m->nlive >= m->cap)
			return -EBUSY;
		if (m->faults->now_ms < m->next_retry_ms)
			return m->descriptors ? -EAGAIN : -ENOMEM;
		grow(m);
	}
}

static void sweep_idle(struct o2_pool_model *m)
{
	for (uint32_t i = 1; i < m->nlive;) {
		struct o2_pool_model_pool *p = &m->pool[m->live[i]];

		if (p->users > 0 || m->faults->now_ms < p->deadline_ms) {
			i++;
			continue;
		}
		p->fate = O2_POOL_GONE;
		remove_at(m->live, &m->nlive, i);
		m->reaped++;
		m->destroyed++;
		m->version++;
	}
}

void o2_pool_model_put(struct o2_pool_model *m, uint32_t element, bool sweep)
{
	struct o2_pool_model_pool *p = &m->pool[m->pool_of[element]];

	make_idle(m, element);
	p->users--;
	if (p->fate == O2_POOL_FAILED && p->users == 0) {
		p->fate = O2_POOL_GONE;
		m->nfailed--;
		m->destroyed++;
	}
	if (sweep)
		sweep_idle(m);
}

static void fail_at(struct o2_pool_model *m, uint32_t at)
{
	struct o2_pool_model_pool *p = &m->pool[m->live[at]];

	remove_at(m->live, &m->nlive, at);
	m->version++;
	p->fate = p->users > 0 ? O2_POOL_FAILED : O2_POOL_GONE;
	m->nfailed += p->users > 0;
	m->destroyed += p->users == 0;
}

void o2_pool_model_discard(struct o2_pool_model *m, uint32_t element)
{
	const uint32_t pool = m->pool_of[element];
	uint32_t at = 0;

	while (at < m->nlive && m->live[at] != pool)
		at++;
	if (at < m->nlive && m->faults->create_at == 0)
		fail_at(m, at);
	else if (at < m->nlive)
		element = new_element(m, pool);
	o2_pool_model_put(m, element, true);
}

void o2_pool_model_failover(struct o2_pool_model *m, uint64_t device)
{
	m->device = device;
	while (m->nlive > 0)
		fail_at(m, 0);
}

uint64_t o2_pool_model_idle(const struct o2_pool_model *m)
{
	uint64_t idle = 0;

	for (uint32_t i = 0; i < m->all; i++)
		idle += m->pool[i].fate == O2_POOL_GONE ? 0 : m->pool[i].nidle;
	return idle;
}
