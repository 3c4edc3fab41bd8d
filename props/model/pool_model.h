/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_POOL_MODEL_H
#define O2_PROPS_POOL_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "props/model/keys_model.h"
#include "props/model/set_model.h"

/*
 * A set of transmit or descriptor pools as arrays of numbers, written from docs/pools.md without using
 * ref/reg: which element comes next.
 */

struct o2_pool_model_pool {
	uint32_t nidle;
	uint32_t idle[O2_POOL_SIZE]; /* element numbers; [0] is taken next */
};

struct o2_pool_model {
	struct o2_set_model *set; /* the caller's */
	bool descriptors;	  /* else transmits */
	bool invalidate_last;
	uint64_t cookie;
	struct o2_pool_model_pool pool[O2_POOL_POOLS];
	struct o2_key_model key[O2_POOL_ELEMENTS]; /* descriptors */
};

/* A set with its first pool.  The caller fills the members before cookie first, and those of *set. */
void o2_pool_model_init(struct o2_pool_model *model);

/* 0 and the element, or -errno. */
int o2_pool_model_take(struct o2_pool_model *model, uint32_t *element);

/* sweep: also give up what is idle. */
void o2_pool_model_put(struct o2_pool_model *model, uint32_t element, bool sweep);

/* The region of an element in use is replaced and the element put back, or its pool fails. */
void o2_pool_model_discard(struct o2_pool_model *model, uint32_t element);

/* Elements that are not in use, of live and failed pools. */
uint64_t o2_pool_model_idle(const struct o2_pool_model *model);

#endif
