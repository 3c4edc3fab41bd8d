/* SPDX-License-Identifier: MIT */
#ifndef O2_LND_NI_COUNTS_H
#define O2_LND_NI_COUNTS_H

#include <stdint.h>

#include "lnd/ni/ni.h"

/* Counts of an interface's resources, by which tests check that none was lost (docs/pools.md, "Conservation"). */

enum o2_ni_pool_kind {
	O2_NI_POOL_FMR, /* in the order of enum o2_reg_pool_kind */
	O2_NI_POOL_FRD,
	O2_NI_POOL_FRD_GAPS,
	O2_NI_POOL_TX,
	O2_NI_POOL_KINDS,
};

/* Counts of one kind of pool, summed over all CPU partitions. */
struct o2_ni_pool_counts {
	uint32_t sets;
	uint32_t live, failed; /* pools */
	uint64_t elements;     /* elements of live and failed pools */
	uint64_t idle;	       /* elements in queues, ready to be taken; in mode fmr also dirty ones */
	uint64_t users;	       /* "map count"; greater than the elements in use where users share a key */
	uint64_t version;      /* how often the lists of live pools changed */
	uint64_t created, destroyed, create_failures; /* pools, ever */
};

struct o2_ni_counts {
	struct o2_ni_pool_counts pool[O2_NI_POOL_KINDS];
	uint32_t bindings;	 /* registrations that transfers hold */
	uint32_t mappings;	 /* live mappings of the ledger */
	uint64_t mapped_entries; /* entries of these mappings */
	uint32_t wrong_unmaps;
	uint32_t kmaps; /* live temporary CPU mappings */
	uint32_t wrong_kunmaps;
	uint32_t arena_windows; /* window slots in use */
	uint32_t idle_stagings;
	struct o2_reg_live live; /* at the device: regions, keys of mode fmr, memory windows, pinned bytes */
};

/* Fill *counts.  No other thread may use the interface during the call. */
/* o2iblnd: ibn_npeers, ibn_nconns */
void o2_ni_get_counts(struct o2_ni *ni, struct o2_ni_counts *counts);

/*
 * Check that nothing is left in use.  To be called while no transfer is open.  There must be no binding, mapping,
 * user or failed pool; every element of every pool must be in its queue; the device must have exactly the regions
 * of mode global, one region for each transmit pool, the regions that mode fmr keeps, and for each descriptor one
 * memory window (in the kernel's order one region); no more arena windows may be in use than regions are kept, and
 * no unmap was wrong.  Returns 0, or -EBUSY with a rule "ni/counts/..." and the count, its value and the expected.
 */
int o2_ni_check_idle(struct o2_ni *ni, struct o2_error *error);

#endif
