/* SPDX-License-Identifier: MIT */
#ifndef O2_MEM_KMAP_H
#define O2_MEM_KMAP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "mem/arena.h"
#include "mem/sg_build.h"

/*
 * How the CPU gets at a page: a mapping for a moment.  Source: docs/mapping.md, "Temporary mappings".
 *
 * A page with a CPU mapping is where that has it; one without is mapped for as long as this lasts, and
 * nowhere before and after.  All of ref/ that reads or writes the bytes of pages does it in this way, whatever
 * the page.  A thread has few of these at a time, and gives them back in reverse, as kernels ask; the arena
 * counts them, and not their order.
 *
 * o2iblnd: none, LNet's copy functions and the kernel's swiotlb do it
 */

/* At a time, of one thread. */
#define O2_KMAPS_MAX 16u

/* Its owner keeps it where it is until it is unmapped.  All zero: nothing was mapped. */
struct o2_kmapping {
	const struct o2_arena *arena;
	uint8_t *addr;	/* of the page's first byte; NULL: not mapped, or not any more */
	bool temporary; /* the page has no mapping of its own */
};

/*
 * Map a page of the arena.  Returns 0; -ENOSPC: the thread has O2_KMAPS_MAX; -ENOMEM: no room for a mapping.
 * kernel: kmap_local_page
 */
int o2_kmap(const struct o2_arena *arena, uint32_t page, struct o2_kmapping *mapping, struct o2_error *error);

/* Undo it.  What is not mapped any more is counted as wrong. */
/* kernel: kunmap_local */
void o2_kunmap(struct o2_kmapping *mapping);

/* Copy bytes that lie in one page.  Returns 0, or what o2_kmap refuses: then nothing was copied. */
/* kernel: memcpy_from_page */
int o2_kmap_read(const struct o2_arena *arena, uint32_t page, uint32_t offset, void *to, uint32_t length,
		 struct o2_error *error);
/* kernel: memcpy_to_page */
int o2_kmap_write(const struct o2_arena *arena, uint32_t page, uint32_t offset, const void *from,
		  uint32_t length, struct o2_error *error);

/*
 * Between plain bytes and a buffer in pieces, by the CPU: what an IMMEDIATE's payload takes.
 * Source: docs/mapping.md, "Buffers".
 *
 * The bytes are those that the buffer asks for: buffer->nob of them, from buffer->offset on.  nob 0 copies
 * nothing.  Both return 0, or what o2_sg_build refuses (-EINVAL, -EFAULT), and then nothing was copied; or
 * what o2_kmap does (-ENOMEM, -ENOSPC).
 * LNet: lnet_copy_flat2kiov, lnet_copy_flat2iov
 */
int o2_copy_to_buffer(const struct o2_arena *arena, const struct o2_buffer *buffer, const uint8_t *bytes,
		      struct o2_error *error);
/* LNet: lnet_copy_kiov2flat, lnet_copy_iov2flat */
int o2_copy_from_buffer(const struct o2_arena *arena, const struct o2_buffer *buffer, uint8_t *bytes,
			struct o2_error *error);

/*
 * A device that bounces: it works in memory of its own, and the bytes of a mapping are copied between that
 * and the pages when it is made and undone, by its direction.  Source: docs/mapping.md, "A device that
 * bounces"; the kernel's swiotlb.
 *
 * The device's memory lies behind the arena's pages (o2_arena_bounce).  What is registered for a source lies
 * in that of TO_DEVICE, for a sink in that of FROM_DEVICE, so a mapping in the wrong direction moves nothing.
 *
 * o2_bounce_map: the entries were mapped, and the device sees what the pages hold.  Also in direction
 * FROM_DEVICE, because the device may write less than was mapped, and all of it is copied back.
 * o2_bounce_unmap: they are unmapped, and what the device wrote is in the pages, if it was to write.
 * Both return 0, or what o2_kmap refuses.
 */
int o2_bounce_map(const struct o2_arena *arena, const struct o2_sg_list *sg, enum o2_dma_direction direction,
		  struct o2_error *error);
int o2_bounce_unmap(const struct o2_arena *arena, const struct o2_sg_list *sg,
		    enum o2_dma_direction direction, struct o2_error *error);

#endif
