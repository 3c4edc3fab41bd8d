/* SPDX-License-Identifier: MIT */
#ifndef O2_MEM_DMA_MAP_H
#define O2_MEM_DMA_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/limits.h"
#include "mem/sg_build.h"

/*
 * Second stage: scatter entries become segments of device addresses.  o2_dma_map is pure; behind it stand the
 * account of mappings, and buffers that stay mapped.  Source: docs/mapping.md, "dma_map".
 *
 * An address is only ever interpreted by the device that produced it; the peer may add to it, inside one
 * fragment, and nothing else.
 */

enum o2_dma_kind {
	O2_DMA_BUS,	/* device address = bus base + page * page size + offset */
	O2_DMA_VIRTUAL, /* device address = CPU address of the page + offset: software devices */
	O2_DMA_IOMMU,	/* device address = base + remapped page * page size + offset: may merge, may fail */
	O2_DMA_KINDS,
};

/* Which role the memory plays in the transfer. */
enum o2_side {
	O2_SOURCE, /* read by its own device: local key */
	O2_SINK,   /* written by the peer: remote key, published in a message */
};

/* Which way bytes go over a mapping. */
/* kernel: dma_data_direction */
enum o2_dma_direction {
	O2_DMA_TO_DEVICE,   /* the device reads: a source, a message that is sent */
	O2_DMA_FROM_DEVICE, /* the device writes: a sink, a message that is received */
	O2_DMA_DIRECTIONS,
};

/* The direction of a transfer's memory is that of its role. */
/* o2iblnd: tx_dmadir */
static inline enum o2_dma_direction o2_dma_direction_of(enum o2_side side)
{
	return side == O2_SOURCE ? O2_DMA_TO_DEVICE : O2_DMA_FROM_DEVICE;
}

/* How a remapping fails, if it does (docs/mapping.md, "Remapping"). */
/* o2iblnd: kiblnd_dma_mapping_error */
/* kernel: ib_dma_mapping_error */
enum o2_dma_fault {
	O2_DMA_NO_FAULT,
	O2_DMA_FAULT_EIO,     /* the mapping call fails */
	O2_DMA_FAULT_ENOMEM,  /* it finds no room for the addresses */
	O2_DMA_FAULT_NOTHING, /* it succeeds and has mapped no entry: -EIO, and nothing to unmap */
	O2_DMA_FAULTS,
};

/* Kind iommu: what the unit between device and memory does to this mapping. */
struct o2_dma_iommu {
	const uint32_t *device_page; /* by page: where it lies in the device's addresses; npages numbers */
	uint64_t merge;		     /* bit i % 64: entry i is merged with the one before, where they touch */
	enum o2_dma_fault fault;
};

struct o2_dma_device {
	enum o2_dma_kind kind;
	uint32_t page_bytes;
	uint32_t npages;
	uint64_t base;		   /* device address of page 0; a multiple of the page size */
	const uint8_t *unmapped;   /* bitmap by page, may be NULL: pages without a CPU mapping */
	struct o2_dma_iommu iommu; /* kind iommu only */
};

static inline bool o2_dma_has_cpu_mapping(const struct o2_dma_device *device, uint32_t page)
{
	return device->unmapped == NULL || (device->unmapped[page / 8] >> (page % 8) & 1) == 0;
}

/* length >= 1 contiguous bytes at a device address. */
/* o2iblnd: kiblnd_sg_dma_address, kiblnd_sg_dma_len */
struct o2_dma_segment {
	uint64_t addr;
	uint32_t length;
};

struct o2_dma_list {
	uint32_t count; /* segments: what registration counts, whatever number of entries went in */
	uint64_t nob;	/* sum of all lengths */
	struct o2_dma_segment segment[O2_MAX_FRAGS];
};

/*
 * Map every entry of `sg`, in order.  The kinds bus and virtual neither merge nor split entries; kind iommu
 * merges an entry with the one before it where its merge bit is set and the device addresses join up.
 *
 * Returns 0, or
 *   -EINVAL        no entries or too many, or one that leaves its page or names one that the device does not
 *                  know; its kind, page size or base is not legal; kind iommu has no table, or a wrong one
 *   -EFAULT        kind virtual, and a page has no CPU mapping
 *   -EIO, -ENOMEM  kind iommu: the mapping failed, or mapped nothing; there is nothing to unmap
 * o2iblnd: kiblnd_dma_map_sg
 * kernel: ib_dma_map_sg, ib_dma_virt_map_sg
 */
int o2_dma_map(const struct o2_sg_list *sg, const struct o2_dma_device *device, struct o2_dma_list *list,
	       struct o2_error *error);

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

/*
 * A buffer that is mapped once and used many times, in one direction: message buffers.  Source:
 * docs/mapping.md, "A device that bounces".
 *
 * In between it belongs to the CPU or to the device, and changes hands by a call.  On a device that does not
 * bounce both see the same memory, and the calls do nothing; on one that does, bytes get across in no other
 * way.
 */
struct o2_dma_single {
	uint8_t *cpu;	 /* the caller's memory */
	uint8_t *device; /* what the device works in: register this.  The same, or memory of this mapping */
	size_t bytes;	 /* 0: nothing is mapped */
	enum o2_dma_direction direction;
};

/*
 * Map it, when it was just made and holds zeros: so the device sees zeros, and nobody has to look.  Returns 0,
 * or -ENOMEM: then nothing is mapped.
 * o2iblnd: kiblnd_dma_map_single
 * kernel: ib_dma_map_single
 */
int o2_dma_map_single(void *cpu, size_t bytes, enum o2_dma_direction direction, bool bounce,
		      struct o2_dma_single *single, struct o2_error *error);

/*
 * Undo it, when the device is through with it and nothing of it is registered.  What the device has written and
 * the CPU was not given is gone.  Does nothing to what is not mapped.
 * o2iblnd: kiblnd_dma_unmap_single
 * kernel: ib_dma_unmap_single
 */
void o2_dma_unmap_single(struct o2_dma_single *single);

/*
 * The device may use these bytes of it from now on: what the CPU has written is there, if it is the CPU that
 * writes.
 * kernel: ib_dma_sync_single_for_device
 */
void o2_dma_sync_for_device(const struct o2_dma_single *single, size_t offset, size_t bytes);

/* The CPU may: what the device has written is there, if it is the device that writes. */
/* kernel: ib_dma_sync_single_for_cpu */
void o2_dma_sync_for_cpu(const struct o2_dma_single *single, size_t offset, size_t bytes);

#endif
