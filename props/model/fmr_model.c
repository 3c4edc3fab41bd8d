/* SPDX-License-Identifier: MIT */
#include "props/model/fmr_model.h"

#include <errno.h>
#include <string.h>

#define LIFE_MS	 300000u
#define RETRY_MS 1000u

static void remove_at(uint32_t *list, uint32_t *n, uint32_t at)
{
	memmove(&list[at], &list[at + 1], (*n - at - 1) * sizeof(list[0]));
	(*n)--;
}

static void remove_value(uint32_t *list, uint32_t *n, uint32_t value)
{
	for (uint32_t at = 0; at < *n; at++) {
		if (list[at] == value) {
			remove_at(list, n, at);
			return;
		}
	}
}

static void flush(struct o2_fmr_model *m, struct o2_fmr_model_pool *p, bool all)
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
		p->list[p->dirty[i]] = O2_FMR_NO_LIST;
	p->wanted = p->ndirty > 0 && m->faults->unmap_error != 0;
	m->failed_flushes += p->wanted;
	if (p->ndirty == 0 || p->wanted)
		return;
	m->flushes++;
	for (uint32_t i = 0; i < p->ndirty; i++) {
		p->remaps[p->dirty[i]] = 0;
		p->unused[p->nunused++] = p->dirty[i];
	}
	p->ndirty = 0;
}

static void grow(struct o2_fmr_model *m)
{
	struct o2_fmr_model_pool *p = &m->pool[m->all];

	if (m->faults->create_at < m->size) {
		m->next_element += m->faults->create_at;
		m->failures++;
		m->next_retry_ms = m->faults->now_ms + RETRY_MS;
		return;
	}
	*p = (struct o2_fmr_model_pool){.device = m->device,
					.deadline_ms = m->faults->now_ms + LIFE_MS,
					.first = m->next_element,
					.nunused = m->size};
	for (uint32_t i = 0; i < m->size; i++) {
		p->unused[i] = i;
		p->list[i] = O2_FMR_NO_LIST;
		m->pool_of[m->next_element++] = m->all;
	}
	m->live[m->nlive++] = m->all++;
	m->created++;
	m->version++;
}

void o2_fmr_model_init(struct o2_fmr_model *m)
{
	m->next_element = m->next_key = 0;
	m->next_retry_ms = m->version = m->created = m->destroyed = m->failures = 0;
	m->all = m->nlive = m->nfailed = 0;
	m->reaped = m->flushes = m->failed_flushes = m->hits = m->hits_idle = 0;
	grow(m);
}

/* 0 and the region; 1 when the pool is exhausted; or -errno. */
static int take_from(struct o2_fmr_model *m, struct o2_fmr_model_pool *p,
		     const struct o2_fmr_model_request *request, uint32_t *region)
{
	uint32_t i = m->cache && !request->strict ? 0 : m->size;

	if (!request->legal)
		return -EINVAL;
	while (i < m->size && p->list[i] != request->list)
		i++;
	if (i < m->size) {
		m->hits++;
		m->hits_idle += p->refs[i] == 0;
		remove_value(p->unused, &p->nunused, i);
		remove_value(p->dirty, &p->ndirty, i);
	} else {
		if (p->nunused == 0)
			return 1;
		i = p->unused[0];
		p->list[i] = O2_FMR_NO_LIST;
		if (m->faults->map_error != 0)
			return m->faults->map_error;
		remove_at(p->unused, &p->nunused, 0);
		p->list[i] = request->strict ? O2_FMR_NO_LIST : request->list;
		p->strict[i] = request->strict;
		p->remaps[i]++;
		p->key[i] = ++m->next_key;
	}
	p->refs[i]++;
	p->users++;
	*region = i;
	return 0;
}

int o2_fmr_model_take(struct o2_fmr_model *m, const struct o2_fmr_model_request *request, uint32_t *element)
{
	for (;;) {
		for (uint32_t i = 0; i < m->nlive; i++) {
			struct o2_fmr_model_pool *p = &m->pool[m->live[i]];
			uint32_t region = 0;
			int rc = take_from(m, p, request, &region);

			p->deadline_ms = m->faults->now_ms + LIFE_MS;
			*element = p->first + region;
			if (rc <= 0)
				return rc;
		}
		if (m->cap != 0 && m->nlive >= m->cap)
			return -EBUSY;
		if (m->faults->now_ms < m->next_retry_ms)
			return -EAGAIN;
		grow(m);
	}
}

static void sweep_idle(struct o2_fmr_model *m)
{
	for (uint32_t i = 1; i < m->nlive;) {
		struct o2_fmr_model_pool *p = &m->pool[m->live[i]];

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

/* The last user of a strict mapping lets go: it is undone at once. */
static int undo(struct o2_fmr_model *m, struct o2_fmr_model_pool *p, uint32_t i)
{
	if (m->faults->unmap_error != 0) {
		p->dirty[p->ndirty++] = i;
		p->wanted = true;
		return m->faults->unmap_error;
	}
	p->remaps[i] = 0;
	p->unused[p->nunused++] = i;
	return 0;
}

int o2_fmr_model_put(struct o2_fmr_model *m, uint32_t element, bool transfer_failed)
{
	struct o2_fmr_model_pool *p = &m->pool[m->pool_of[element]];
	const uint32_t i = element - p->first;
	bool wanted = p->wanted;
	int rc = 0;

	if (--p->refs[i] == 0 && p->strict[i]) {
		rc = undo(m, p, i);
	} else if (p->refs[i] == 0) {
		if (p->remaps[i] < m->max_remaps)
			p->unused[p->nunused++] = i;
		else
			p->dirty[p->ndirty++] = i;
		if (p->ndirty >= m->watermark)
			wanted = p->wanted = true;
	}
	if (transfer_failed || (wanted && !m->flush_on_demand))
		flush(m, p, transfer_failed);
	p->users--;
	if (p->fate == O2_POOL_FAILED && p->users == 0) {
		p->fate = O2_POOL_GONE;
		m->nfailed--;
		m->destroyed++;
	}
	sweep_idle(m);
	return rc;
}

void o2_fmr_model_flush(struct o2_fmr_model *m, bool all)
{
	for (uint32_t i = 0; i < m->nlive; i++) {
		struct o2_fmr_model_pool *p = &m->pool[m->live[i]];

		if (all || p->wanted)
			flush(m, p, all);
	}
}

void o2_fmr_model_failover(struct o2_fmr_model *m, uint64_t device)
{
	m->device = device;
	for (uint32_t i = 0; i < m->nlive; i++) {
		struct o2_fmr_model_pool *p = &m->pool[m->live[i]];

		p->fate = p->users > 0 ? O2_POOL_FAILED : O2_POOL_GONE;
		m->nfailed += p->users > 0;
		m->destroyed += p->users == 0;
		m->version++;
	}
	m->nlive = 0;
}

uint64_t o2_fmr_model_idle(const struct o2_fmr_model *m)
{
	uint64_t idle = 0;

	for (uint32_t i = 0; i < m->all; i++)
		if (m->pool[i].fate != O2_POOL_GONE)
			idle += m->pool[i].nunused + m->pool[i].ndirty;
	return idle;
}
