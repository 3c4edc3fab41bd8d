/* SPDX-License-Identifier: MIT */
#ifndef O2_MEM_LEDGER_H
#define O2_MEM_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "mem/dma_map.h"

/*
 * The account of mappings: what was mapped for a device is unmapped exactly once, with the number of entries
 * that was handed in, not the number that came out, and in the direction that it was mapped in
 * (docs/mapping.md, "The ledger").
 *
 * A kernel's map call takes references and, behind an IOMMU, addresses; forgetting the unmap leaks both,
 * unmapping twice gives away what belongs to another mapping.  In user space a mapping takes nothing, so
 * neither mistake would be noticed; the ledger makes both visible.
 */
struct o2_dma_ledger {
	uint64_t maps;	       /* mappings made */
	uint64_t unmaps;       /* mappings undone */
	uint64_t live_entries; /* entries of mappings that are alive: 0 when everything was handed back */
	uint32_t live;	       /* mappings alive */
	uint32_t wrong_unmaps; /* refused: not mapped (any more), or not by this ledger, or in another
				  direction.  Never goes down. */
};

/* One mapping; its owner keeps it where it is until it is unmapped.  All zero: nothing is mapped. */
struct o2_dma_mapping {
	const struct o2_dma_ledger *ledger; /* NULL: nothing is mapped */
	uint32_t entries;		    /* that went into dma_map */
	enum o2_dma_direction direction;
};

/*
 * Note that `entries` scatter entries were mapped.  Only after o2_dma_map succeeded: a mapping that failed
 * left nothing to unmap.  Returns 0; -EBUSY when *mapping is mapped already; -EINVAL for no entries.
 */
int o2_ledger_map(struct o2_dma_ledger *ledger, uint32_t entries, enum o2_dma_direction direction,
		  struct o2_dma_mapping *mapping, struct o2_error *error);

/*
 * Undo it.  Returns 0, or -EINVAL, which the ledger remembers: there is nothing to undo, or (rule
 * "ledger/direction") it was mapped in the other direction, and is undone all the same.
 * o2iblnd: kiblnd_dma_unmap_sg
 * kernel: ib_dma_unmap_sg
 */
int o2_ledger_unmap(struct o2_dma_ledger *ledger, enum o2_dma_direction direction,
		    struct o2_dma_mapping *mapping, struct o2_error *error);

/* Everything that was mapped was unmapped, and nothing else. */
bool o2_ledger_balanced(const struct o2_dma_ledger *ledger);

#endif
