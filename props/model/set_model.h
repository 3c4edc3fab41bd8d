/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_SET_MODEL_H
#define O2_PROPS_SET_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "props/model/pool_device.h"

/*
 * A set of pools as arrays of numbers, written from docs/pools.md and without a look at ref/reg: when pools
 * come and go, whatever is in them (pool_model.h, fmr_model.h).
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
	uint64_t leaves_for; /* while the next pool is made, all fail over to this one; 0: they do not */
	const struct o2_pool_faults *faults;
	uint32_t next_element;
	uint64_t next_retry_ms, version, created, destroyed, failures;
	uint32_t all; /* pools, ever */
	uint32_t nlive, nfailed;
	uint32_t reaped;	      /* idle pools given up, ever */
	uint32_t live[O2_POOL_POOLS]; /* indices of pool[], in order */
	struct o2_set_model_pool pool[O2_POOL_POOLS];
	uint32_t pool_of[O2_POOL_ELEMENTS];
};

/* A set without pools.  The caller fills the members before next_element first. */
void o2_set_model_init(struct o2_set_model *set);

/* 0, or why no pool may be made now: -EBUSY there are as many as may be, -EAGAIN it is too soon. */
int o2_set_model_may_grow(const struct o2_set_model *set);

/* Pool number set->all is made, still without elements; false when the device fails, or goes meanwhile. */
bool o2_set_model_grow(struct o2_set_model *set);

/* The number of a new element of a pool. */
uint32_t o2_set_model_element(struct o2_set_model *set, uint32_t pool);

/* A pool is used: it lives on. */
void o2_set_model_touch(struct o2_set_model *set, uint32_t pool);

/* One user less: a failed pool goes with its last one. */
void o2_set_model_leave(struct o2_set_model *set, uint32_t pool);

/* Pools that are idle for long go, but the first. */
void o2_set_model_sweep(struct o2_set_model *set);

/* The live pool at `at` fails: it goes, or waits for its users.  Every one does; new ones are on `device`. */
void o2_set_model_fail(struct o2_set_model *set, uint32_t at);
void o2_set_model_failover(struct o2_set_model *set, uint64_t device);

/* Take the number at `at` out of a list. */
void o2_model_remove_at(uint32_t *list, uint32_t *n, uint32_t at);

#endif
