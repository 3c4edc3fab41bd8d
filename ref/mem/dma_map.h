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
 * Second stage: map scatter entries to segments of device addresses.  o2_dma_map is pure; the ledger of
 * mappings and buffers that stay mapped follow below it.  Source: docs/mapping.md, "dma_map".
 *
 * Only the device that produced an address may interpret it.  The peer may only add to it, inside one
 * fragment.
 */

enum o2_dma_kind {
	O2_DMA_BUS,	/* device address = bus base + page * page size + offset */
	O2_DMA_VIRTUAL, /* device address = page's CPU address + offset: software devices */
	O2_DMA_IOMMU,	/* device address = base + remapped page * page size + offset: may merge, may fail */
	O2_DMA_KINDS,
};

/* The role of the memory in the transfer. */
enum o2_side {
	O2_SOURCE, /* read by its own device: local key */
	O2_SINK,   /* written by the peer: remote key, published in a message */
};

/* The direction of the data of a mapping. */
/* kernel: dma_data_direction */
enum o2_dma_direction {
	O2_DMA_TO_DEVICE,   /* the device reads: a source, a message that is sent */
	O2_DMA_FROM_DEVICE, /* the device writes: a sink, a message that is received */
	O2_DMA_DIRECTIONS,
};

/* The direction of a transfer's memory, by its role. */
/* o2iblnd: tx_dmadir */
static inline enum o2_dma_direction o2_dma_direction_of(enum o2_side side)
{
	return side == O2_SOURCE ? O2_DMA_TO_DEVICE : O2_DMA_FROM_DEVICE;
}

/* Simulated failure of an IOMMU mapping (docs/mapping.md, "Remapping"). */
/* o2iblnd: kiblnd_dma_mapping_error */
/* kernel: ib_dma_mapping_error */
enum o2_dma_fault {
	O2_DMA_NO_FAULT,
	O2_DMA_FAULT_EIO,     /* the mapping call fails */
	O2_DMA_FAULT_ENOMEM,  /* there is no room for the addresses */
	O2_DMA_FAULT_NOTHING, /* it succeeds but maps no entry: -EIO, and nothing to unmap */
	O2_DMA_FAULTS,
};

/* Kind iommu: how the IOMMU remaps this mapping. */
struct o2_dma_iommu {
	const uint32_t *device_page; /* device page number of each page; npages numbers */
	uint64_t merge;		     /* bit i % 64: merge entry i with entry i - 1, if they touch */
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
	uint32_t count; /* segments, which registration counts; at most the entries passed in */
	uint64_t nob;	/* sum of all lengths */
	struct o2_dma_segment segment[O2_MAX_FRAGS];
};

/*
 * Map every entry of `sg`, in order.  The kinds bus and virtual neither merge nor split entries; kind iommu
 * merges an entry with the previous one if its merge bit is set and the device addresses are contiguous.
 *
 * Returns 0, or
 *   -EINVAL        no entries or too many; an entry that leaves its page or names a page that the device does
 *                  not have; an illegal kind, page size or base; kind iommu without a table or with a bad one
 *   -EFAULT        kind virtual, and a page has no CPU mapping
 *   -EIO, -ENOMEM  kind iommu: the mapping failed, or mapped nothing; there is nothing to unmap
 * o2iblnd: kiblnd_dma_map_sg
 * kernel: ib_dma_map_sg, ib_dma_virt_map_sg
 */
int o2_dma_map(const struct o2_sg_list *sg, const struct o2_dma_device *device, struct o2_dma_list *list,
	       struct o2_error *error);

/*
 * The ledger of mappings checks that each mapping is undone exactly once, with the number of entries that was
 * passed in, not the number of segments that came out, and in the direction in which it was mapped
 * (docs/mapping.md, "The ledger").
 *
 * A kernel's map call takes references and, behind an IOMMU, addresses: a missing unmap leaks both, and a
 * second unmap frees what belongs to another mapping.  In user space a mapping takes nothing, so neither
 * mistake would show; the ledger makes both visible.
 */
struct o2_dma_ledger {
	uint64_t maps;	       /* mappings made */
	uint64_t unmaps;       /* mappings undone */
	uint64_t live_entries; /* entries mapped less entries unmapped */
	uint32_t live;	       /* mappings alive */
	uint32_t wrong_unmaps; /* refused unmaps: not mapped (any more), mapped by another ledger,
				  or in the other direction.  Never goes down. */
};

/* One mapping.  Its owner must not move it in memory while it is mapped.  All zero: nothing is mapped. */
struct o2_dma_mapping {
	const struct o2_dma_ledger *ledger; /* NULL: nothing is mapped */
	enum o2_dma_direction direction;
};

/*
 * Record that `entries` scatter entries were mapped.  Call it only after o2_dma_map succeeded: a failed
 * mapping leaves nothing to unmap.  Returns 0; -EBUSY if *mapping is mapped already; -EINVAL for no entries.
 */
int o2_ledger_map(struct o2_dma_ledger *ledger, uint32_t entries, enum o2_dma_direction direction,
		  struct o2_dma_mapping *mapping, struct o2_error *error);

/*
 * Record the unmap.  Returns 0; or -EINVAL, counted in wrong_unmaps: this ledger has not mapped it, or (rule
 * "ledger/direction") it was mapped in the other direction, and is unmapped nevertheless.  Another number of
 * entries than was mapped stays in live_entries.
 * o2iblnd: kiblnd_dma_unmap_sg
 * kernel: ib_dma_unmap_sg
 */
int o2_ledger_unmap(struct o2_dma_ledger *ledger, uint32_t entries, enum o2_dma_direction direction,
		    struct o2_dma_mapping *mapping, struct o2_error *error);

/* Whether every mapping was undone and no unmap was wrong. */
bool o2_ledger_balanced(const struct o2_dma_ledger *ledger);

/*
 * A buffer that is mapped once and used many times, in one direction: message buffers.  Source:
 * docs/mapping.md, "A device that bounces".
 *
 * While mapped it belongs to the CPU or to the device; the sync calls change the owner.  If the device does
 * not bounce, both use the same memory, and the calls do nothing; if it bounces, only these calls copy bytes
 * between them.
 */
struct o2_dma_single {
	uint8_t *cpu;	 /* the caller's memory */
	uint8_t *device; /* memory that the device uses, to be registered: cpu, or the mapping's own */
	size_t bytes;	 /* 0: nothing is mapped */
	enum o2_dma_direction direction;
};

/*
 * Map a buffer that was just allocated and holds zeros; device memory is zeroed too, so nothing is copied.
 * Returns 0, or -ENOMEM: then nothing is mapped.
 * o2iblnd: kiblnd_dma_map_single
 * kernel: ib_dma_map_single
 */
int o2_dma_map_single(void *cpu, size_t bytes, enum o2_dma_direction direction, bool bounce,
		      struct o2_dma_single *single, struct o2_error *error);

/*
 * Unmap a buffer that the device has finished with and that is not registered.  Bytes that the device wrote
 * and that were not synced for the CPU are lost.  Does nothing if nothing is mapped.
 * o2iblnd: kiblnd_dma_unmap_single
 * kernel: ib_dma_unmap_single
 */
void o2_dma_unmap_single(struct o2_dma_single *single);

/*
 * Give these bytes to the device: in direction TO_DEVICE, what the CPU has written becomes visible to the
 * device.
 * kernel: ib_dma_sync_single_for_device
 */
void o2_dma_sync_for_device(const struct o2_dma_single *single, size_t offset, size_t bytes);

/* Give these bytes to the CPU: in direction FROM_DEVICE, what the device wrote becomes visible to the CPU. */
/* kernel: ib_dma_sync_single_for_cpu */
void o2_dma_sync_for_cpu(const struct o2_dma_single *single, size_t offset, size_t bytes);

#endif
