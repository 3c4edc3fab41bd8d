/* SPDX-License-Identifier: MIT */
#include "props/model/set_model.h"

#include <errno.h>
#include <string.h>

#define LIFE_MS	 300000u
#define RETRY_MS 1000u

void o2_model_remove_at(uint32_t *list, uint32_t *n, uint32_t at)
{
	memmove(&list[at], &list[at + 1], (*n - at - 1) * sizeof(list[0]));
	(*n)--;
}

void o2_set_model_init(struct o2_set_model *set)
{
	set->next_element = 0;
	set->next_retry_ms = set->version = set->created = set->destroyed = set->failures = 0;
	set->all = set->nlive = set->nfailed = set->reaped = 0;
}

int o2_set_model_may_grow(const struct o2_set_model *set)
{
	if (set->cap != 0 && set->nlive >= set->cap)
		return -EBUSY;
	return set->faults->now_ms < set->next_retry_ms ? -EAGAIN : 0;
}

bool o2_set_model_grow(struct o2_set_model *set)
{
	const bool leaves = set->leaves_for != 0;

	if (leaves)
		o2_set_model_failover(set, set->leaves_for);
	set->leaves_for = 0;
	if (set->faults->create_at < set->size) {
		set->next_element += set->faults->create_at;
		set->failures++;
		set->next_retry_ms = set->faults->now_ms + RETRY_MS;
		return false;
	}
	/* Elements created on the old device are useless. */
	if (leaves) {
		set->next_element += set->size;
		set->created++;
		set->destroyed++;
		return false;
	}
	set->pool[set->all] = (struct o2_set_model_pool){.deadline_ms = set->faults->now_ms + LIFE_MS};
	set->live[set->nlive++] = set->all++;
	set->created++;
	set->version++;
	return true;
}

uint32_t o2_set_model_element(struct o2_set_model *set, uint32_t pool)
{
	set->pool_of[set->next_element] = pool;
	return set->next_element++;
}

void o2_set_model_touch(struct o2_set_model *set, uint32_t pool)
{
	set->pool[pool].deadline_ms = set->faults->now_ms + LIFE_MS;
}

void o2_set_model_leave(struct o2_set_model *set, uint32_t pool)
{
	struct o2_set_model_pool *p = &set->pool[pool];

	p->users--;
	if (p->fate != O2_POOL_FAILED || p->users > 0)
		return;
	p->fate = O2_POOL_GONE;
	set->nfailed--;
	set->destroyed++;
}

void o2_set_model_sweep(struct o2_set_model *set)
{
	for (uint32_t i = 1; i < set->nlive;) {
		struct o2_set_model_pool *p = &set->pool[set->live[i]];

		if (p->users > 0 || set->faults->now_ms < p->deadline_ms) {
			i++;
			continue;
		}
		p->fate = O2_POOL_GONE;
		o2_model_remove_at(set->live, &set->nlive, i);
		set->reaped++;
		set->destroyed++;
		set->version++;
	}
}

void o2_set_model_fail(struct o2_set_model *set, uint32_t at)
{
	struct o2_set_model_pool *p = &set->pool[set->live[at]];

	o2_model_remove_at(set->live, &set->nlive, at);
	set->version++;
	p->fate = p->users > 0 ? O2_POOL_FAILED : O2_POOL_GONE;
	set->nfailed += p->users > 0;
	set->destroyed += p->users == 0;
}

void o2_set_model_failover(struct o2_set_model *set, uint64_t device)
{
	set->device = device;
	while (set->nlive > 0)
		o2_set_model_fail(set, 0);
}
