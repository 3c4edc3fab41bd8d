/* SPDX-License-Identifier: MIT */
#ifndef O2_LND_NI_COUNTS_H
#define O2_LND_NI_COUNTS_H

#include <stdint.h>

#include "lnd/ni/ni.h"

/* What an interface has, so that a test can say that nothing was lost (docs/pools.md, "Conservation"). */

enum o2_ni_pool_kind {
	O2_NI_POOL_FMR, /* in the order of enum o2_reg_pool_kind */
	O2_NI_POOL_FRD,
	O2_NI_POOL_FRD_GAPS,
	O2_NI_POOL_TX,
	O2_NI_POOL_KINDS,
};

/* Of one kind, over all CPU partitions. */
struct o2_ni_pool_counts {
	uint32_t sets;
	uint32_t live, failed; /* pools */
	uint64_t elements;     /* of both */
	uint64_t idle;	       /* of them in queues, ready to be taken; in mode fmr also dirty ones */
	uint64_t users;	       /* "map count"; more than elements are in use where a key is shared */
	uint64_t version;      /* how often the lists of live pools changed */
	uint64_t created, destroyed, create_failures; /* pools, ever */
};

struct o2_ni_counts {
	struct o2_ni_pool_counts pool[O2_NI_POOL_KINDS];
	uint32_t bindings;	 /* registrations that transfers hold */
	uint32_t mappings;	 /* of the ledger, alive */
	uint64_t mapped_entries; /* theirs */
	uint32_t wrong_unmaps;
	uint32_t kmaps; /* temporary mappings of the CPU, alive */
	uint32_t wrong_kunmaps;
	uint32_t arena_windows; /* slots in use */
	uint32_t idle_stagings;
	struct o2_reg_live live; /* regions, keys of mode fmr, memory windows, pinned bytes at the device */
};

/* Fill *counts.  For a moment in which no other thread uses the interface. */
/* o2iblnd: ibn_npeers, ibn_nconns */
void o2_ni_get_counts(struct o2_ni *ni, struct o2_ni_counts *counts);

/*
 * Is everything where it belongs while no transfer is open?  No binding, mapping or user; every element of
 * every pool in its queue; at the device exactly the regions of mode global, one for each transmit pool and
 * those that mode fmr keeps, and one memory window per descriptor; and as many arena windows as kept regions
 * may hold.  0, or -EBUSY with a rule "ni/counts/..." that names what is not, what it is and what it should
 * be.
 */
int o2_ni_check_idle(struct o2_ni *ni, struct o2_error *error);

#endif
