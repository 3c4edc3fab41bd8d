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
};

struct o2_dma_device {
	enum o2_dma_kind kind;
	uint32_t page_bytes;
	uint32_t npages;
	uint64_t base;		 /* device address of page 0; a multiple of the page size */
	const uint8_t *unmapped; /* bitmap by page, may be NULL: pages without a CPU mapping */
};

/* length >= 1 contiguous bytes at a device address. */
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
 * Map every entry of `sg`, in order.  The kinds bus and virtual neither merge nor split entries.
 *
 * Returns 0, or
 *   -EINVAL  the list is empty, or names a page that the device does not know, or the device's page size or
 * base is not legal -EFAULT  kind virtual, and a page has no CPU mapping
 */
int o2_dma_map(const struct o2_sg_list *sg, const struct o2_dma_device *device, struct o2_dma_list *list,
	       struct o2_error *error);

#endif
