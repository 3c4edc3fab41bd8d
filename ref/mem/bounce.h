/* SPDX-License-Identifier: MIT */
#ifndef O2_MEM_BOUNCE_H
#define O2_MEM_BOUNCE_H

#include "mem/arena.h"
#include "mem/dma_map.h"
#include "mem/sg_build.h"

/*
 * A device that bounces: it works in memory of its own, and the bytes of a mapping are copied between that
 * and the pages when it is made and undone, by its direction.  Source: docs/mapping.md, "A device that
 * bounces"; the kernel's swiotlb.
 *
 * The device's memory is the arena's second half (o2_arena_bounce).  What is registered for a source lies in
 * that of TO_DEVICE, for a sink in that of FROM_DEVICE, so a mapping in the wrong direction moves nothing.
 *
 * o2iblnd: none, the kernel's mapping calls do it
 */

/*
 * The entries were mapped: the device sees what the pages hold.  Also in direction FROM_DEVICE, because the
 * device may write less than was mapped, and all of it is copied back.  0, or what o2_kmap refuses.
 */
int o2_bounce_map(const struct o2_arena *arena, const struct o2_sg_list *sg, enum o2_dma_direction direction,
		  struct o2_error *error);

/* They are unmapped: what the device wrote is in the pages, if it was to write.  0, or what o2_kmap refuses. */
int o2_bounce_unmap(const struct o2_arena *arena, const struct o2_sg_list *sg,
		    enum o2_dma_direction direction, struct o2_error *error);

#endif
