/* SPDX-License-Identifier: MIT */
#ifndef O2_MEM_ARENA_H
#define O2_MEM_ARENA_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/limits.h"
#include "mem/buffer.h"
#include "mem/dma_map.h"

/*
 * Memory that behaves like a machine's: numbered pages (a memfd), a "physical" mapping of all of them in
 * order, and views, ranges of virtual addresses behind which the pages lie in some other order. Source:
 * docs/mapping.md, "The arena"; memfd_create(2), mmap(2).
 *
 * An IOV points into a view: its bytes are virtually contiguous and physically scattered.  A KIOV names
 * pages. What a device sees is decided by the o2_dma_device, not by the arena.
 *
 * Behind its pages an arena has two more sets of as many, one per direction: what a device that bounces works
 * in (mem/kmap.h).  They take memory only when they are used.
 *
 * o2iblnd: none, its pages are the machine's
 */

/* View 0 has the pages in order; the others are fixed permutations, so that a case replays anywhere. */
#define O2_ARENA_VIEWS 4u

/*
 * Windows that may be in use at the same time.  A full queue of transfers would need more: up to 255 of ours
 * and twice as many of a peer's.  But a window takes up to O2_MAX_FRAGS mappings, and a process has only so
 * many: vm.max_map_count of sysctl(8), by default 65530 (docs/mapping.md, "Limits").  Windows may have half
 * of them, for two interfaces, because both ends of a test are in one process; the rest is for views, queues
 * and libraries.  Transfers wait for a window (docs/transport.md, "Windows").
 */
#define O2_ARENA_MAPPINGS 65530u
#define O2_ARENA_WINDOWS  (O2_ARENA_MAPPINGS / 2 / 2 / O2_MAX_FRAGS)

/* The view that stands for an IOMMU: its order of pages is that of the device's addresses. */
#define O2_ARENA_IOMMU_VIEW 3u
static_assert(O2_ARENA_IOMMU_VIEW < O2_ARENA_VIEWS, "it is one of the views");

static_assert(O2_ARENA_WINDOWS >= 2, "one window of ours, and one that is kept for the peers");
static_assert(2 * O2_ARENA_WINDOWS * O2_MAX_FRAGS <= O2_ARENA_MAPPINGS / 2, "two interfaces in a process");

/* Temporary mappings of pages (mem/kmap.h). */
struct o2_kmap_account {
	_Atomic uint32_t live;	    /* 0 when everything was handed back */
	_Atomic uint32_t wrong;	    /* undone more than once.  Never goes down. */
	_Atomic uint64_t temporary; /* made so far, of pages without a mapping of their own */
};

/* It has no lock: one thread at a time opens and closes windows.  A registration domain sees to that. */
struct o2_arena {
	uint32_t page_bytes; /* the host's */
	uint32_t npages;
	uint64_t file_pages; /* with those of a device that bounces */
	int fd;
	uint8_t *memory; /* page n at memory + n * page_bytes: what the harness and device-wide regions use */
	/* The bounced pages in the order of O2_ARENA_IOMMU_VIEW, once o2_arena_map_bounced was called. */
	uint8_t *bounce_view[O2_DMA_DIRECTIONS];
	bool bounce_mapped[O2_DMA_DIRECTIONS];
	uint32_t nviews;		       /* 1: the memory itself and nothing else, or O2_ARENA_VIEWS */
	struct o2_vrange view[O2_ARENA_VIEWS]; /* 1 to 3: only addresses, until o2_arena_map_view */
	bool view_mapped[O2_ARENA_VIEWS];      /* unused for 0, which always is */
	uint8_t *unmapped; /* bitmap: pages without a CPU mapping, for o2_dma_device.unmapped */
	/* What the CPU has of the pages, in order: those without a CPU mapping cannot be touched there. */
	uint8_t *linear;
	struct o2_kmap_account *kmaps;
	uint8_t *window_area; /* O2_ARENA_WINDOWS slots of O2_MAX_FRAGS pages each */
	uint64_t slot_bytes;
	bool window_used[O2_ARENA_WINDOWS];
	uint32_t nwindows;	 /* slots that may be used, O2_ARENA_WINDOWS unless the user makes it less */
	uint32_t windows_in_use; /* of nwindows; the others are free */
	uint32_t windows_kept;	 /* slots that opening a window leaves free; the user sets it, 0 at first */
};

/*
 * Create an arena of npages pages of the host's size, all zero, all with a CPU mapping.
 * Returns 0 or -errno of the system call that failed; -EINVAL when npages is 0.  Free with o2_arena_destroy.
 */
int o2_arena_create(uint32_t npages, struct o2_arena *arena, struct o2_error *error);

/*
 * The same without the views that scatter pages: each takes a mapping of the process for nearly every page,
 * which a large arena cannot afford.  Such an arena cannot stand for an IOMMU.
 */
int o2_arena_create_plain(uint32_t npages, struct o2_arena *arena, struct o2_error *error);
void o2_arena_destroy(struct o2_arena *arena);

/*
 * Put the pages behind the addresses of a view.  To be called before an address in it is touched or
 * registered; until then a touch is a fault.  A view takes a mapping for nearly every page, and most uses of
 * an arena need one view or none.  Mapped once, it stays.  Returns 0, or -errno of mmap ("arena/view-map").
 */
int o2_arena_map_view(struct o2_arena *arena, uint32_t view, struct o2_error *error);

/* The same for both directions of bounce_view.  The arena has the view that stands for an IOMMU. */
int o2_arena_map_bounced(struct o2_arena *arena, struct o2_error *error);

/* Say whether a page has a CPU mapping.  It is for the harness: nothing of it is mapped at the time. */
void o2_arena_set_mapped(struct o2_arena *arena, uint32_t page, bool mapped);

static inline bool o2_arena_is_mapped(const struct o2_arena *arena, uint32_t page)
{
	return (arena->unmapped[page / 8] >> (page % 8) & 1) == 0;
}

/* What sg_build needs to know: page size, pages, and the views as address ranges. */
struct o2_address_space o2_arena_space(const struct o2_arena *arena);

/*
 * For each page its place in the view that stands for an IOMMU, for o2_dma_iommu.device_page: npages numbers,
 * which belong to the arena.  NULL: it has no such view.
 */
const uint32_t *o2_arena_iommu(const struct o2_arena *arena);

/*
 * The address of a page's first byte in the physical mapping, where the harness and devices see it; the CPU's
 * way is o2_kmap.
 */
static inline uint8_t *o2_arena_page(const struct o2_arena *arena, uint32_t page)
{
	return arena->memory + (uint64_t)page * arena->page_bytes;
}

/* The number of the page that takes this one's place for a device that bounces. */
static inline uint32_t o2_arena_bounce(const struct o2_arena *arena, enum o2_dma_direction direction,
				       uint32_t page)
{
	return arena->npages * (1 + (uint32_t)direction) + page;
}

/* Virtually contiguous memory behind which the pages of a list lie, in the order of the list. */
struct o2_arena_window {
	uint8_t *addr;
	int32_t slot; /* -1: part of a view, nothing to give back */
};

/*
 * Make a window over npages pages, which may be bounced ones.  Where a view already has them in this order
 * that view is used; else a window slot is mapped, one mmap per run of neighbours. Returns 0; -EINVAL (page
 * does not exist, too many pages), -ENOBUFS (no slot is free but those that are kept), or -errno of mmap.
 */
int o2_arena_window_open(struct o2_arena *arena, const uint32_t *page, uint32_t npages,
			 struct o2_arena_window *window, struct o2_error *error);

/* Give the slot back.  The memory may stay mapped, but must not be used any more. */
void o2_arena_window_close(struct o2_arena *arena, struct o2_arena_window *window);

#endif
