/* SPDX-License-Identifier: MIT */
#ifndef O2_MEM_DMA_SINGLE_H
#define O2_MEM_DMA_SINGLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "mem/dma_map.h"

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

/*
 * The CPU may: what the device has written is there, if it is the device that writes.
 * kernel: ib_dma_sync_single_for_cpu
 */
void o2_dma_sync_for_cpu(const struct o2_dma_single *single, size_t offset, size_t bytes);

#endif
