/* SPDX-License-Identifier: MIT */
#ifndef O2_MEM_KMAP_H
#define O2_MEM_KMAP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "mem/arena.h"
#include "mem/sg_build.h"

/*
 * Temporary mappings: how the CPU accesses a page.  Source: docs/mapping.md, "Temporary mappings".
 *
 * A page with a CPU mapping is accessed there; a page without one is mapped only until o2_kunmap.  All code
 * of ref/ that reads or writes the bytes of pages does it in this way.  A thread holds few of these mappings
 * at a time and undoes them in reverse order, as kernels require; the arena counts them, but does not check
 * the order.
 * o2iblnd: none, LNet's copy functions and the kernel's swiotlb do it
 */

/* Mappings that one thread may hold at a time. */
#define O2_KMAPS_MAX 16u

/* One temporary mapping.  Its owner must not move it in memory while it is mapped.  All zero: never mapped. */
struct o2_kmapping {
	const struct o2_arena *arena;
	uint8_t *addr;	/* address of the page's first byte; NULL: not mapped */
	bool temporary; /* the page has no CPU mapping of its own */
};

/*
 * Map a page of the arena.  Returns 0; -ENOSPC: the thread holds O2_KMAPS_MAX already; -ENOMEM: mmap failed.
 * kernel: kmap_local_page
 */
int o2_kmap(const struct o2_arena *arena, uint32_t page, struct o2_kmapping *mapping, struct o2_error *error);

/* Undo a mapping that o2_kmap has filled in.  If it is not mapped any more, o2_kmap_account.wrong counts it. */
/* kernel: kunmap_local */
void o2_kunmap(struct o2_kmapping *mapping);

/* Copy bytes inside one page.  Returns 0, or the error of o2_kmap: then nothing was copied. */
/* kernel: memcpy_from_page */
int o2_kmap_read(const struct o2_arena *arena, uint32_t page, uint32_t offset, void *to, uint32_t length,
		 struct o2_error *error);
/* kernel: memcpy_to_page */
int o2_kmap_write(const struct o2_arena *arena, uint32_t page, uint32_t offset, const void *from,
		  uint32_t length, struct o2_error *error);

/*
 * Copy between contiguous bytes and a buffer in pieces, by the CPU, as for an IMMEDIATE's payload. Source:
 * docs/mapping.md, "Buffers".
 *
 * The bytes copied are buffer->nob bytes from buffer->offset on.  nob 0 copies nothing.  Both return 0; the
 * error of o2_sg_build (-EINVAL, -EFAULT): then nothing was copied; or the error of o2_kmap (-ENOMEM,
 * -ENOSPC).
 * LNet: lnet_copy_flat2kiov, lnet_copy_flat2iov
 */
int o2_copy_to_buffer(const struct o2_arena *arena, const struct o2_buffer *buffer, const uint8_t *bytes,
		      struct o2_error *error);
/* LNet: lnet_copy_kiov2flat, lnet_copy_iov2flat */
int o2_copy_from_buffer(const struct o2_arena *arena, const struct o2_buffer *buffer, uint8_t *bytes,
			struct o2_error *error);

/*
 * A device that bounces works in memory of its own.  Mapping and unmapping copy bytes between that memory and
 * the pages, by direction.  Source: docs/mapping.md, "A device that bounces"; the kernel's swiotlb.
 *
 * The device's memory is the bounce pages behind the arena's pages (o2_arena_bounce).  Regions for a source
 * lie in those of TO_DEVICE, for a sink in those of FROM_DEVICE, so a mapping in the wrong direction moves
 * nothing.
 *
 * o2_bounce_map: after mapping the entries, copy the pages to the device's memory.  Also in direction
 * FROM_DEVICE, because the device may write less than was mapped, and unmapping copies all of it back.
 * o2_bounce_unmap: in direction FROM_DEVICE, copy what the device wrote back to the pages. Both return 0, or
 * the error of o2_kmap.
 */
int o2_bounce_map(const struct o2_arena *arena, const struct o2_sg_list *sg, enum o2_dma_direction direction,
		  struct o2_error *error);
int o2_bounce_unmap(const struct o2_arena *arena, const struct o2_sg_list *sg,
		    enum o2_dma_direction direction, struct o2_error *error);

#endif
