/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_SET_MODEL_H
#define O2_PROPS_SET_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "props/model/pool_device.h"

/*
 * A model of a set of pools, as arrays of numbers, written from docs/pools.md without using ref/reg.  It predicts
 * when pools are created and destroyed, independent of their content (pool_model.h, fmr_model.h).
 */

enum o2_pool_fate { O2_POOL_LIVE, O2_POOL_FAILED, O2_POOL_GONE };

struct o2_set_model_pool {
	enum o2_pool_fate fate;
	uint64_t deadline_ms;
	uint32_t users;
};

struct o2_set_model {
	uint32_t size, cap;
	uint64_t device;
	uint64_t leaves_for; /* all pools fail over to this device while the next is created; 0: none does */
	const struct o2_pool_faults *faults;
	uint32_t next_element;
	uint64_t next_retry_ms, version, created, destroyed, failures;
	uint32_t all; /* pools created so far */
	uint32_t nlive, nfailed;
	uint32_t reaped;	      /* idle pools given up so far */
	uint32_t live[O2_POOL_POOLS]; /* indices of pool[], in order */
	struct o2_set_model_pool pool[O2_POOL_POOLS];
	uint32_t pool_of[O2_POOL_ELEMENTS];
};

/* Initialise a set without pools.  The caller fills in the members before next_element beforehand. */
void o2_set_model_init(struct o2_set_model *set);

/* Returns 0, or why no pool may be created now: -EBUSY at the cap, -EAGAIN too soon after a failure. */
int o2_set_model_may_grow(const struct o2_set_model *set);

/* Create pool number set->all, without elements.  False: the device fails, or is replaced meanwhile. */
bool o2_set_model_grow(struct o2_set_model *set);

/* Add an element to a pool; returns its number. */
uint32_t o2_set_model_element(struct o2_set_model *set, uint32_t pool);

/* A pool is used: extend its deadline. */
void o2_set_model_touch(struct o2_set_model *set, uint32_t pool);

/* A pool has one user less.  A failed pool is destroyed with its last user. */
void o2_set_model_leave(struct o2_set_model *set, uint32_t pool);

/* Destroy the pools, except the first, that have been idle past their deadline. */
void o2_set_model_sweep(struct o2_set_model *set);

/* Live pool live[at] fails: destroyed now, or with its last user.  Failover: all fail; new ones use `device`. */
void o2_set_model_fail(struct o2_set_model *set, uint32_t at);
void o2_set_model_failover(struct o2_set_model *set, uint64_t device);

/* Remove list[at]. */
void o2_model_remove_at(uint32_t *list, uint32_t *n, uint32_t at);

#endif
