/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_FMR_MODEL_H
#define O2_PROPS_FMR_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "props/model/set_model.h"

/*
 * A model of a set of FMR pools, as arrays of numbers, written from docs/pools.md without using ref/reg.  It
 * predicts which region a page list gets, its key, and where every region is afterwards.
 */

#define O2_FMR_NO_LIST UINT32_MAX

struct o2_fmr_model_pool {
	uint32_t first;				/* element number of region 0; the others follow it */
	uint32_t unused[O2_POOL_SIZE], nunused; /* regions, oldest first */
	uint32_t dirty[O2_POOL_SIZE], ndirty;
	bool wanted; /* a flush is wanted */
	/* Per region: */
	uint32_t list[O2_POOL_SIZE]; /* page list in the cache, or O2_FMR_NO_LIST */
	bool strict[O2_POOL_SIZE];
	uint32_t refs[O2_POOL_SIZE];
	uint32_t remaps[O2_POOL_SIZE]; /* maps since the last flush; if not 0, a key is alive */
	uint32_t key[O2_POOL_SIZE];
};

struct o2_fmr_model {
	struct o2_set_model *set; /* owned by the caller */
	uint32_t max_remaps, watermark;
	bool cache, flush_on_demand;
	uint32_t next_key;
	uint32_t flushes, failed_flushes, hits, hits_idle;
	struct o2_fmr_model_pool pool[O2_POOL_POOLS];
};

/* Initialise a set with one pool.  The caller fills in the members before next_key, and *set, beforehand. */
void o2_fmr_model_init(struct o2_fmr_model *model);

/* A request to map a page list, by its number.  legal: the list is one that can be mapped. */
struct o2_fmr_model_request {
	uint32_t list;
	bool legal;
	bool strict;
};

/* Returns 0 and the element, or -errno. */
int o2_fmr_model_take(struct o2_fmr_model *model, const struct o2_fmr_model_request *request,
		      uint32_t *element);

/* Returns 0, or the errno with which unmapping a strict mapping failed; the element is put back in both cases. */
int o2_fmr_model_put(struct o2_fmr_model *model, uint32_t element, bool transfer_failed);

/* Flush the pools that want it, or (all) every live pool, free regions included. */
void o2_fmr_model_flush(struct o2_fmr_model *model, bool all);

/* Number of regions not in use, in live and failed pools. */
uint64_t o2_fmr_model_idle(const struct o2_fmr_model *model);

#endif
