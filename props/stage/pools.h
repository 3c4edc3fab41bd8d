/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_POOLS_H
#define O2_PROPS_POOLS_H

#include "props/engine/property.h"
#include "props/engine/tally.h"
#include "props/model/fmr_model.h"
#include "props/model/pool_device.h"
#include "props/model/pool_model.h"

/*
 * The property: pool sets of every kind, several at a time with one clock, behave as models made of arrays predict,
 * for any sequence of takes, puts, time steps, device failures and failovers (docs/properties.md, "The pools
 * property").  At the end of a case nothing is left.
 */

#define O2_POOL_SETS 3u	 /* most sets of a case */
#define O2_POOL_HELD 24u /* most elements of one set in use */

enum o2_pool_set_kind { O2_POOLS_TX, O2_POOLS_FRD, O2_POOLS_FMR, O2_POOLS_KINDS };

struct o2_pool_held {
	uint32_t element; /* its number in the model */
	void *object;	  /* struct o2_pool_tx, o2_frd or o2_fmr */
};

/* One set, its device, and its model. */
struct o2_pool_subject {
	enum o2_pool_set_kind kind;
	struct o2_pool_set *set;
	union {
		struct o2_tx_set tx;
		struct o2_frd_set frd;
		struct o2_fmr_set fmr;
	};
	struct o2_set_model pools;     /* model of the pools, of every kind; of their elements: */
	struct o2_pool_model model;    /* TX, FRD */
	struct o2_fmr_model fmr_model; /* FMR */
	struct o2_pool_device device;
	struct o2_pool_held held[O2_POOL_HELD];
	uint32_t nheld;
};

enum o2_pool_step_kind {
	O2_POOL_DO_TAKE,
	O2_POOL_DO_PUT,
	O2_POOL_DO_TIME,
	O2_POOL_DO_FAIL_CREATE,
	O2_POOL_DO_FAIL_UNMAP,
	O2_POOL_DO_FLUSH,
	O2_POOL_DO_FAILOVER,
	O2_POOL_DO_CHECK,
	O2_POOL_STEP_KINDS,
};

/* A step and its result, for the printed case. */
struct o2_pool_step {
	enum o2_pool_step_kind kind;
	uint32_t set;
	const char *how; /* the variant of the step; "": the plain one */
	uint64_t number; /* element, milliseconds, ... */
	int code;
};

#define O2_POOL_SEEN(ENTRY)                                                         \
	ENTRY(O2_POOL_SEEN_GROWN, "set_grown")                                      \
	ENTRY(O2_POOL_SEEN_GROWTH_FAILED, "growth_failed")                          \
	ENTRY(O2_POOL_SEEN_TOO_SOON, "take_refused_soon_after_growth_failed")       \
	ENTRY(O2_POOL_SEEN_CAP, "take_refused_at_the_cap")                          \
	ENTRY(O2_POOL_SEEN_REAPED, "idle_pool_given_up")                            \
	ENTRY(O2_POOL_SEEN_FAILED_WAITS, "failed_pool_waits_for_its_users")         \
	ENTRY(O2_POOL_SEEN_FAILED_GROWING, "failover_while_a_pool_is_made")         \
	ENTRY(O2_POOL_SEEN_FAILED_GONE, "failed_pool_gone_with_its_last_user")      \
	ENTRY(O2_POOL_SEEN_RETIRED, "pool_retired")                                 \
	ENTRY(O2_POOL_SEEN_REPLACED, "region_replaced")                             \
	ENTRY(O2_POOL_SEEN_SHORT_MAP, "short_map")                                  \
	ENTRY(O2_POOL_SEEN_MAP_ERROR, "map_failed")                                 \
	ENTRY(O2_POOL_SEEN_MAPPING_KEPT, "mapping_kept_by_the_device")              \
	ENTRY(O2_POOL_SEEN_KEPT_ENDED, "mapping_kept_until_the_next")               \
	ENTRY(O2_POOL_SEEN_GAPS_REFUSED, "gaps_refused")                            \
	ENTRY(O2_POOL_SEEN_BAD_REQUEST, "request_refused")                          \
	ENTRY(O2_POOL_SEEN_ABANDONED, "mapping_abandoned")                          \
	ENTRY(O2_POOL_SEEN_STILL_ALIVE, "put_refused_while_the_key_is_alive")       \
	ENTRY(O2_POOL_SEEN_CACHE_HIT, "mapping_found_in_the_cache")                 \
	ENTRY(O2_POOL_SEEN_CACHE_HIT_IDLE, "idle_region_found_in_the_cache")        \
	ENTRY(O2_POOL_SEEN_STRICT, "strict_mapping_undone")                         \
	ENTRY(O2_POOL_SEEN_STRICT_ALIVE, "strict_mapping_that_could_not_be_undone") \
	ENTRY(O2_POOL_SEEN_FLUSHED, "flush")                                        \
	ENTRY(O2_POOL_SEEN_FLUSH_FAILED, "flush_failed")                            \
	ENTRY(O2_POOL_SEEN_NOT_IDLE, "put_refused_of_what_is_not_idle")             \
	ENTRY(O2_POOL_SEEN_PUT_TWICE, "put_twice")                                  \
	ENTRY(O2_POOL_SEEN_POST_REFUSED, "post_refused_after_failover")             \
	ENTRY(O2_POOL_SEEN_CLOSE_REFUSED, "close_refused")                          \
	ENTRY(O2_POOL_SEEN_PARTITIONS, "several_partitions")                        \
	ENTRY(O2_POOL_SEEN_SIZES, "sizes")                                          \
	ENTRY(O2_POOL_SEEN_SIZES_REFUSED, "sizes_refused")

enum o2_pool_situation {
	O2_POOL_SEEN(O2_SITUATION_ID) O2_POOL_SITUATIONS,
};

struct o2_pools_run {
	struct o2_tally tally; /* first: props/engine/tally.h */
	struct o2_pool_faults faults;
	struct o2_clock clock; /* clock of the sets, set to faults.now_ms */
	struct o2_pool_subject subject[O2_POOL_SETS];
	uint32_t sets;
	struct o2_pool_step step[O2_POOL_STEPS];
	uint32_t steps;
};

/* *run: owned by the caller, zeroed before the first case. */
struct o2_property o2_pools_property(struct o2_pools_run *run);

#endif
