/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_POOL_MODEL_H
#define O2_PROPS_POOL_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "props/model/keys_model.h"
#include "props/model/set_model.h"

/*
 * A model of a set of transmit or descriptor pools, as arrays of numbers, written from docs/pools.md without using
 * ref/reg.  It predicts which element is taken next.
 */

struct o2_pool_model_pool {
	uint32_t nidle;
	uint32_t idle[O2_POOL_SIZE]; /* element numbers; [0] is taken next */
};

struct o2_pool_model {
	struct o2_set_model *set; /* owned by the caller */
	bool descriptors;	  /* true: descriptors; false: transmits */
	bool invalidate_last;
	uint64_t cookie;
	struct o2_pool_model_pool pool[O2_POOL_POOLS];
	struct o2_key_model key[O2_POOL_ELEMENTS]; /* descriptors only */
};

/* Initialise a set with one pool.  The caller fills in the members before cookie, and *set, beforehand. */
void o2_pool_model_init(struct o2_pool_model *model);

/* Returns 0 and the element, or -errno. */
int o2_pool_model_take(struct o2_pool_model *model, uint32_t *element);

/* Put an element back.  sweep: also give up idle pools. */
void o2_pool_model_put(struct o2_pool_model *model, uint32_t element, bool sweep);

/* Replace the region of an element in use and put it back; or, if replacing fails, its pool fails. */
void o2_pool_model_discard(struct o2_pool_model *model, uint32_t element);

/* Number of elements not in use, in live and failed pools. */
uint64_t o2_pool_model_idle(const struct o2_pool_model *model);

#endif
