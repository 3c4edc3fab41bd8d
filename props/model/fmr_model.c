/* SPDX-License-Identifier: MIT */
#include "props/model/fmr_model.h"

#include <errno.h>

static void remove_value(uint32_t *list, uint32_t *n, uint32_t value)
{
	for (uint32_t at = 0; at < *n; at++) {
		if (list[at] == value) {
			o2_model_remove_at(list, n, at);
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
	p->wanted = p->ndirty > 0 && m->set->faults->unmap_error != 0;
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
	const uint32_t pool = m->set->all;
	struct o2_fmr_model_pool *p = &m->pool[pool];

	if (!o2_set_model_grow(m->set))
		return;
	*p = (struct o2_fmr_model_pool){.first = m->set->next_element, .nunused = m->set->size};
	for (uint32_t i = 0; i < m->set->size; i++) {
		p->unused[i] = i;
		p->list[i] = O2_FMR_NO_LIST;
		o2_set_model_element(m->set, pool);
	}
}

void o2_fmr_model_init(struct o2_fmr_model *m)
{
	m->next_key = 0;
	m->flushes = m->failed_flushes = m->hits = m->hits_idle = 0;
	o2_set_model_init(m->set);
	grow(m);
}

/* Returns 0 and the region; 1 when the pool is exhausted; or -errno. */
static int take_from(struct o2_fmr_model *m, struct o2_fmr_model_pool *p,
		     const struct o2_fmr_model_request *request, uint32_t *region)
{
	uint32_t i = m->cache && !request->strict ? 0 : m->set->size;

	if (!request->legal)
		return -EINVAL;
	while (i < m->set->size && p->list[i] != request->list)
		i++;
	if (i < m->set->size) {
		m->hits++;
		m->hits_idle += p->refs[i] == 0;
		remove_value(p->unused, &p->nunused, i);
		remove_value(p->dirty, &p->ndirty, i);
	} else {
		if (p->nunused == 0)
			return 1;
		i = p->unused[0];
		p->list[i] = O2_FMR_NO_LIST;
		if (m->set->faults->map_error != 0)
			return m->set->faults->map_error;
		o2_model_remove_at(p->unused, &p->nunused, 0);
		p->list[i] = request->strict ? O2_FMR_NO_LIST : request->list;
		p->strict[i] = request->strict;
		p->remaps[i]++;
		p->key[i] = ++m->next_key;
	}
	p->refs[i]++;
	*region = i;
	return 0;
}

int o2_fmr_model_take(struct o2_fmr_model *m, const struct o2_fmr_model_request *request, uint32_t *element)
{
	struct o2_set_model *set = m->set;

	for (;;) {
		int rc;

		for (uint32_t i = 0; i < set->nlive; i++) {
			const uint32_t pool = set->live[i];
			uint32_t region = 0;

			rc = take_from(m, &m->pool[pool], request, &region);
			o2_set_model_touch(set, pool);
			*element = m->pool[pool].first + region;
			set->pool[pool].users += rc == 0;
			if (rc <= 0)
				return rc;
		}
		rc = o2_set_model_may_grow(set);
		if (rc != 0)
			return rc;
		grow(m);
	}
}

/* The last user of a strict mapping releases it: unmap it at once. */
static int undo(struct o2_fmr_model *m, struct o2_fmr_model_pool *p, uint32_t i)
{
	if (m->set->faults->unmap_error != 0) {
		p->dirty[p->ndirty++] = i;
		p->wanted = true;
		return m->set->faults->unmap_error;
	}
	p->remaps[i] = 0;
	p->unused[p->nunused++] = i;
	return 0;
}

int o2_fmr_model_put(struct o2_fmr_model *m, uint32_t element, bool transfer_failed)
{
	const uint32_t pool = m->set->pool_of[element];
	struct o2_fmr_model_pool *p = &m->pool[pool];
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
	o2_set_model_leave(m->set, pool);
	o2_set_model_sweep(m->set);
	return rc;
}

void o2_fmr_model_flush(struct o2_fmr_model *m, bool all)
{
	for (uint32_t i = 0; i < m->set->nlive; i++) {
		struct o2_fmr_model_pool *p = &m->pool[m->set->live[i]];

		if (all || p->wanted)
			flush(m, p, all);
	}
}

uint64_t o2_fmr_model_idle(const struct o2_fmr_model *m)
{
	uint64_t idle = 0;

	for (uint32_t i = 0; i < m->set->all; i++)
		if (m->set->pool[i].fate != O2_POOL_GONE)
			idle += m->pool[i].nunused + m->pool[i].ndirty;
	return idle;
}
