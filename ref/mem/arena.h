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
 * Memory that behaves like a machine's: numbered pages (a memfd), a "physical" mapping of all pages in order,
 * and views, which are ranges of virtual addresses that have the pages in another order. Source:
 * docs/mapping.md, "The arena"; memfd_create(2), mmap(2).
 *
 * An IOV points into a view: its bytes are virtually contiguous and physically scattered.  A KIOV names
 * pages. The o2_dma_device, not the arena, decides at which addresses a device sees the pages.
 *
 * Behind its pages an arena has two more sets of npages pages, one per direction: the bounce pages, in which
 * a device that bounces works (mem/kmap.h).  They take memory only when they are used.
 * o2iblnd: none, its pages are the machine's
 */

/* View 0 has the pages in order; the others are fixed permutations, so that a case replays anywhere. */
#define O2_ARENA_VIEWS 4u

/*
 * Largest number of windows in use at the same time.  A full queue of transfers needs more: up to 255 of our
 * own and twice as many of a peer.  But a window takes up to O2_MAX_FRAGS mappings, and their number is
 * limited for a process: vm.max_map_count of sysctl(8), by default 65530 (docs/mapping.md, "Limits").
 * Windows may use half of these, shared by two interfaces, because a test has both ends in one process; the
 * rest is for views, queues and libraries.  Transfers wait for a free window (docs/transport.md, "Windows").
 */
#define O2_ARENA_MAPPINGS 65530u
#define O2_ARENA_WINDOWS  (O2_ARENA_MAPPINGS / 2 / 2 / O2_MAX_FRAGS)

/* The view that stands for an IOMMU: its page order is the order of the device addresses. */
#define O2_ARENA_IOMMU_VIEW 3u
static_assert(O2_ARENA_IOMMU_VIEW < O2_ARENA_VIEWS, "it is one of the views");

static_assert(O2_ARENA_WINDOWS >= 2, "one window of ours, and one that is kept for the peers");
static_assert(2 * O2_ARENA_WINDOWS * O2_MAX_FRAGS <= O2_ARENA_MAPPINGS / 2, "two interfaces in a process");

/* Temporary mappings of pages (mem/kmap.h). */
struct o2_kmap_account {
	_Atomic uint32_t live;	    /* mappings alive: 0 when all were undone */
	_Atomic uint32_t wrong;	    /* attempts to undo a mapping again; never goes down */
	_Atomic uint64_t temporary; /* made so far, for pages without a CPU mapping */
};

/* No lock: only one thread at a time may open or close windows.  A registration domain ensures that. */
struct o2_arena {
	uint32_t page_bytes; /* the host's page size */
	uint32_t npages;
	uint64_t file_pages; /* all pages of the memfd, bounce pages included */
	int fd;
	uint8_t *memory; /* page n at memory + n * page_bytes, for the harness and the device */
	/* The bounce pages in the order of O2_ARENA_IOMMU_VIEW, mapped by o2_arena_map_bounced. */
	uint8_t *bounce_view[O2_DMA_DIRECTIONS];
	bool bounce_mapped[O2_DMA_DIRECTIONS];
	uint32_t nviews;		       /* 1 (only the memory itself) or O2_ARENA_VIEWS */
	struct o2_vrange view[O2_ARENA_VIEWS]; /* 1 to 3: reserved addresses until o2_arena_map_view */
	bool view_mapped[O2_ARENA_VIEWS];      /* unused for view 0, which is always mapped */
	uint8_t *unmapped; /* bitmap: pages without a CPU mapping, for o2_dma_device.unmapped */
	/* The CPU's mapping of the pages, in order; pages without a CPU mapping cannot be touched here. */
	uint8_t *linear;
	struct o2_kmap_account *kmaps;
	uint8_t *window_area; /* O2_ARENA_WINDOWS slots of O2_MAX_FRAGS pages each */
	uint64_t slot_bytes;
	bool window_used[O2_ARENA_WINDOWS];
	uint32_t nwindows;	 /* usable slots: O2_ARENA_WINDOWS; the user may set fewer */
	uint32_t windows_in_use; /* used slots; nwindows less these are free */
	uint32_t windows_kept; /* slots that o2_arena_window_open leaves free; set by the user, at first 0 */
};

/*
 * Create an arena of npages pages of the host's size, all zero, all with a CPU mapping.
 * Returns 0 or -errno of the system call that failed; -EINVAL when npages is 0.  Free with o2_arena_destroy.
 */
int o2_arena_create(uint32_t npages, struct o2_arena *arena, struct o2_error *error);

/*
 * The same without the views that scatter pages: each takes a mapping of the process for nearly every page,
 * too many for a large arena.  Such an arena cannot stand for an IOMMU.
 */
int o2_arena_create_plain(uint32_t npages, struct o2_arena *arena, struct o2_error *error);
void o2_arena_destroy(struct o2_arena *arena);

/*
 * Map the pages at the addresses of a view.  Must be called before an address in the view is touched (until
 * then that is a fault) or registered.  A view takes a mapping for nearly every page, and most uses of an
 * arena need at most one view.  A mapped view stays mapped.  Returns 0, or -errno of mmap ("arena/view-map").
 */
int o2_arena_map_view(struct o2_arena *arena, uint32_t view, struct o2_error *error);

/* The same for both directions of bounce_view.  The arena must have the view that stands for an IOMMU. */
int o2_arena_map_bounced(struct o2_arena *arena, struct o2_error *error);

/* Set whether a page has a CPU mapping.  For the harness, while nothing of the page is mapped. */
void o2_arena_set_mapped(struct o2_arena *arena, uint32_t page, bool mapped);

static inline bool o2_arena_is_mapped(const struct o2_arena *arena, uint32_t page)
{
	return (arena->unmapped[page / 8] >> (page % 8) & 1) == 0;
}

/* The arena as sg_build needs it: page size, number of pages, and the views as address ranges. */
struct o2_address_space o2_arena_space(const struct o2_arena *arena);

/*
 * For each page its position in the view that stands for an IOMMU, for o2_dma_iommu.device_page: npages
 * numbers, owned by the arena.  NULL: the arena has no such view.
 */
const uint32_t *o2_arena_iommu(const struct o2_arena *arena);

/*
 * The address of a page's first byte in the physical mapping, which the harness and devices use; the library
 * itself reads and writes pages through o2_kmap.
 */
static inline uint8_t *o2_arena_page(const struct o2_arena *arena, uint32_t page)
{
	return arena->memory + (uint64_t)page * arena->page_bytes;
}

/* The number of the bounce page that a device that bounces uses in place of this page. */
static inline uint32_t o2_arena_bounce(const struct o2_arena *arena, enum o2_dma_direction direction,
				       uint32_t page)
{
	return arena->npages * (1 + (uint32_t)direction) + page;
}

/* Virtually contiguous memory that maps the pages of a list, in the order of the list. */
struct o2_arena_window {
	uint8_t *addr;
	int32_t slot; /* -1: part of a view, nothing to give back */
};

/*
 * Make a window over npages pages, which may be bounce pages.  If a view already has them in this order, the
 * window is a part of that view; else a window slot is mapped, by one mmap per run of neighbours. Returns 0;
 * -EINVAL (no such page, too many pages), -ENOBUFS (only the windows_kept slots are free), or -errno of mmap.
 */
int o2_arena_window_open(struct o2_arena *arena, const uint32_t *page, uint32_t npages,
			 struct o2_arena_window *window, struct o2_error *error);

/* Free the slot.  The memory may stay mapped, but must not be used any more. */
void o2_arena_window_close(struct o2_arena *arena, struct o2_arena_window *window);

#endif
