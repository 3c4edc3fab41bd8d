/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_FMR_MODEL_H
#define O2_PROPS_FMR_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "props/model/set_model.h"

/*
 * A set of FMR pools as arrays of numbers, written from docs/pools.md without using ref/reg: which region a
 * list of pages gets and under which key, and where every region is afterwards.
 */

#define O2_FMR_NO_LIST UINT32_MAX

struct o2_fmr_model_pool {
	uint32_t first;				/* element number of region 0; the others follow */
	uint32_t unused[O2_POOL_SIZE], nunused; /* regions, oldest first */
	uint32_t dirty[O2_POOL_SIZE], ndirty;
	bool wanted; /* a flush */
	/* By region. */
	uint32_t list[O2_POOL_SIZE]; /* that the cache knows, or O2_FMR_NO_LIST */
	bool strict[O2_POOL_SIZE];
	uint32_t refs[O2_POOL_SIZE];
	uint32_t remaps[O2_POOL_SIZE]; /* since the last flush: with any, a key is alive */
	uint32_t key[O2_POOL_SIZE];
};

struct o2_fmr_model {
	struct o2_set_model *set; /* the caller's */
	uint32_t max_remaps, watermark;
	bool cache, flush_on_demand;
	uint32_t next_key;
	uint32_t flushes, failed_flushes, hits, hits_idle;
	struct o2_fmr_model_pool pool[O2_POOL_POOLS];
};

/* A set with its first pool.  The caller fills the members before next_key first, and those of *set. */
void o2_fmr_model_init(struct o2_fmr_model *model);

/* What to map: a list by its number, and whether it is one that can be mapped. */
struct o2_fmr_model_request {
	uint32_t list;
	bool legal;
	bool strict;
};

/* 0 and the element, or -errno. */
int o2_fmr_model_take(struct o2_fmr_model *model, const struct o2_fmr_model_request *request,
		      uint32_t *element);

/* 0, or the errno with which a strict mapping could not be undone: it was put back all the same. */
int o2_fmr_model_put(struct o2_fmr_model *model, uint32_t element, bool transfer_failed);

/* The pools that want it, or all live ones, free regions included. */
void o2_fmr_model_flush(struct o2_fmr_model *model, bool all);

/* Regions that are not in use, of live and failed pools. */
uint64_t o2_fmr_model_idle(const struct o2_fmr_model *model);

#endif
