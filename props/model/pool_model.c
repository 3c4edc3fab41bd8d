/* SPDX-License-Identifier: MIT */
#include "props/model/pool_model.h"

#include <errno.h>
#include <string.h>

static void make_idle(struct o2_pool_model *m, uint32_t element)
{
	struct o2_pool_model_pool *p = &m->pool[m->set->pool_of[element]];

	if (m->descriptors) { /* a queue */
		p->idle[p->nidle++] = element;
	} else { /* a stack */
		memmove(&p->idle[1], &p->idle[0], p->nidle++ * sizeof(p->idle[0]));
		p->idle[0] = element;
	}
}

static uint32_t new_element(struct o2_pool_model *m, uint32_t pool)
{
	const uint32_t element = o2_set_model_element(m->set, pool);

	o2_key_model_init(&m->key[element], m->invalidate_last, element, 0);
	return element;
}

static void grow(struct o2_pool_model *m)
{
	const uint32_t pool = m->set->all;

	if (!o2_set_model_grow(m->set))
		return;
	m->pool[pool].nidle = 0;
	for (uint32_t i = 0; i < m->set->size; i++)
		make_idle(m, new_element(m, pool));
}

void o2_pool_model_init(struct o2_pool_model *m)
{
	m->cookie = 0;
	o2_set_model_init(m->set);
	grow(m);
}

int o2_pool_model_take(struct o2_pool_model *m, uint32_t *element)
{
	for (;;) {
		int rc;

		for (uint32_t i = 0; i < m->set->nlive; i++) {
			const uint32_t pool = m->set->live[i];
			struct o2_pool_model_pool *p = &m->pool[pool];

			if (m->descriptors || p->nidle > 0)
				o2_set_model_touch(m->set, pool);
			if (p->nidle == 0)
				continue;
			*element = p->idle[0];
			o2_model_remove_at(p->idle, &p->nidle, 0);
			m->set->pool[pool].users++;
			return 0;
		}
		rc = o2_set_model_may_grow(m->set);
		if (rc != 0)
			return rc == -EAGAIN && !m->descriptors ? -ENOMEM : rc;
		grow(m);
	}
}

void o2_pool_model_put(struct o2_pool_model *m, uint32_t element, bool sweep)
{
	make_idle(m, element);
	o2_set_model_leave(m->set, m->set->pool_of[element]);
	if (sweep)
		o2_set_model_sweep(m->set);
}

void o2_pool_model_discard(struct o2_pool_model *m, uint32_t element)
{
	const uint32_t pool = m->set->pool_of[element];
	uint32_t at = 0;

	while (at < m->set->nlive && m->set->live[at] != pool)
		at++;
	if (at < m->set->nlive && m->set->faults->create_at == 0)
		o2_set_model_fail(m->set, at);
	else if (at < m->set->nlive)
		element = new_element(m, pool);
	o2_pool_model_put(m, element, true);
}

uint64_t o2_pool_model_idle(const struct o2_pool_model *m)
{
	uint64_t idle = 0;

	for (uint32_t i = 0; i < m->set->all; i++)
		idle += m->set->pool[i].fate == O2_POOL_GONE ? 0 : m->pool[i].nidle;
	return idle;
}
