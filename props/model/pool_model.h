/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_POOL_MODEL_H
#define O2_PROPS_POOL_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "props/model/keys_model.h"
#include "props/model/pool_device.h"

/*
 * A set of transmit or descriptor pools as arrays of numbers, written from docs/pools.md and without a look
 * at ref/reg: which element comes next, and when pools come and go.
 */

enum o2_pool_fate { O2_POOL_LIVE, O2_POOL_FAILED, O2_POOL_GONE };

struct o2_pool_model_pool {
	enum o2_pool_fate fate;
	uint64_t device;
	uint64_t deadline_ms;
	uint32_t users;
	uint32_t nidle;
	uint32_t idle[O2_POOL_SIZE]; /* element numbers; [0] is taken next */
};

struct o2_pool_model {
	bool descriptors; /* else transmits */
	bool invalidate_last;
	uint32_t size, cap;
	uint64_t device;
	const struct o2_pool_faults *faults;
	uint32_t next_element;
	uint64_t next_retry_ms, version, created, destroyed, failures, cookie;
	uint32_t all; /* pools, ever */
	uint32_t nlive, nfailed;
	uint32_t live[O2_POOL_POOLS]; /* indices of pool[], in order */
	uint32_t reaped;	      /* idle pools given up, ever */
	struct o2_pool_model_pool pool[O2_POOL_POOLS];
	uint32_t pool_of[O2_POOL_ELEMENTS];
	struct o2_key_model key[O2_POOL_ELEMENTS]; /* descriptors */
};

/* A set with its first pool.  The caller fills the members before next_element first. */
void o2_pool_model_init(struct o2_pool_model *model);

/* 0 and the element, or -errno. */
int o2_pool_model_take(struct o2_pool_model *model, uint32_t *element);

/* sweep: also give up what is idle. */
void o2_pool_model_put(struct o2_pool_model *model, uint32_t element, bool sweep);

/* The region of an element in use is replaced and the element put back, or its pool fails. */
void o2_pool_model_discard(struct o2_pool_model *model, uint32_t element);

/* Every live pool fails; new ones are made on `device`. */
void o2_pool_model_failover(struct o2_pool_model *model, uint64_t device);

/* Elements that are not in use, of live and failed pools. */
uint64_t o2_pool_model_idle(const struct o2_pool_model *model);

#endif
