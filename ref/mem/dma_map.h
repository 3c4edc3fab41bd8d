/* SPDX-License-Identifier: MIT */
#ifndef O2_MEM_DMA_MAP_H
#define O2_MEM_DMA_MAP_H

#include <stdint.h>

#include "base/error.h"
#include "base/limits.h"
#include "mem/sg_build.h"

/*
 * Second stage: scatter entries become segments of device addresses.
 * Source: docs/mapping.md, "dma_map".  Pure.
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

/*
 * Which way bytes go over a mapping.
 * kernel: dma_data_direction
 */
enum o2_dma_direction {
	O2_DMA_TO_DEVICE,   /* the device reads: a source, a message that is sent */
	O2_DMA_FROM_DEVICE, /* the device writes: a sink, a message that is received */
	O2_DMA_DIRECTIONS,
};

/*
 * The direction of a transfer's memory is that of its role.
 * o2iblnd: tx_dmadir
 */
static inline enum o2_dma_direction o2_dma_direction_of(enum o2_side side)
{
	return side == O2_SOURCE ? O2_DMA_TO_DEVICE : O2_DMA_FROM_DEVICE;
}

/*
 * How a remapping fails, if it does (docs/mapping.md, "Remapping").
 * o2iblnd: kiblnd_dma_mapping_error
 * kernel: ib_dma_mapping_error
 */
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

/*
 * length >= 1 contiguous bytes at a device address.
 * o2iblnd: kiblnd_sg_dma_address, kiblnd_sg_dma_len
 */
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
 *   -EINVAL        the list is empty, or names a page that the device does not know; the device's page size
 *                  or base is not legal; kind iommu has no table, or one that leaves the device
 *   -EFAULT        kind virtual, and a page has no CPU mapping
 *   -EIO, -ENOMEM  kind iommu: the mapping failed, or mapped nothing; there is nothing to unmap
 * o2iblnd: kiblnd_dma_map_sg
 * kernel: ib_dma_map_sg, ib_dma_virt_map_sg
 */
int o2_dma_map(const struct o2_sg_list *sg, const struct o2_dma_device *device, struct o2_dma_list *list,
	       struct o2_error *error);

#endif
