/* SPDX-License-Identifier: MIT */
#include "mem/arena.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* This seed must never change: recorded cases depend on the permutations that it gives. */
#define VIEW_SEED 0x6f32726566766965ull

/*
 * Pages that stay neighbours in a view.  View 0 is the identity (the memory itself), two views scatter every
 * page, and the last one keeps small runs together, so that lists with partly adjacent pages occur as well.
 */
static const uint32_t view_block_pages[O2_ARENA_VIEWS] = {UINT32_MAX, 1, 1, 8};

/* splitmix64: a fixed sequence from a fixed seed. */
static uint64_t next_number(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15ull);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

static uint64_t memory_bytes(const struct o2_arena *arena)
{
	return (uint64_t)arena->npages * arena->page_bytes;
}

/* A view's table has two halves: the page at each position, and the position of each page. */
static const uint32_t *positions(const struct o2_arena *arena, uint32_t view)
{
	return arena->view[view].page + arena->npages;
}

const uint32_t *o2_arena_iommu(const struct o2_arena *arena)
{
	return arena->nviews > O2_ARENA_IOMMU_VIEW ? positions(arena, O2_ARENA_IOMMU_VIEW) : NULL;
}

/* Shuffle blocks of neighbours; order[] holds the first page of each block, and is scratch. */
static void permute(uint32_t npages, uint32_t block_pages, uint64_t seed, uint32_t *order, uint32_t *page)
{
	uint32_t nblocks = (npages - 1) / block_pages + 1;
	uint32_t at = 0;

	for (uint32_t i = 0; i < nblocks; i++)
		order[i] = i * block_pages;
	for (uint32_t i = nblocks - 1; i > 0; i--) {
		uint32_t j = (uint32_t)(next_number(&seed) % ((uint64_t)i + 1));
		uint32_t first = order[i];

		order[i] = order[j];
		order[j] = first;
	}
	for (uint32_t i = 0; i < nblocks; i++)
		for (uint32_t p = order[i]; p < npages && p < order[i] + block_pages; p++)
			page[at++] = p;
}

/* Map the listed pages, counted from page `first`, side by side at `to`: one mmap per run of neighbours. */
static int map_pages(const struct o2_arena *arena, uint8_t *to, uint32_t first, const uint32_t *page,
		     uint32_t npages, const char *rule, struct o2_error *error)
{
	uint64_t page_bytes = arena->page_bytes;

	for (uint32_t i = 0, run; i < npages; i += run) {
		void *mapped;

		run = 1;
		while (i + run < npages && page[i + run] == page[i] + run)
			run++;
		mapped = mmap(to + i * page_bytes, run * page_bytes, PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_FIXED, arena->fd, (off_t)((first + page[i]) * page_bytes));
		if (mapped == MAP_FAILED)
			return o2_refuse(error, -errno, rule, "page[]", i, page[i], npages);
	}
	return 0;
}

/* Reserve address space; touching it is a fault until pages are mapped there. */
static int reserve(uint64_t length_bytes, uint8_t **area, const char *rule, const char *field, uint64_t value,
		   struct o2_error *error)
{
	void *made = mmap(NULL, length_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	*area = made == MAP_FAILED ? NULL : made;
	return made == MAP_FAILED ? o2_fail(error, -errno, rule, field, value) : 0;
}

/* Reserve addresses for a view of all pages. */
static int reserve_view(const struct o2_arena *arena, uint8_t **base, struct o2_error *error)
{
	return reserve(memory_bytes(arena), base, "arena/view-reserve", "npages", arena->npages, error);
}

static int make_view(struct o2_arena *arena, uint32_t view, struct o2_error *error)
{
	uint32_t npages = arena->npages;
	uint32_t *table = calloc(2 * (size_t)npages, sizeof(*table));
	uint8_t *base = arena->memory;
	int rc = 0;

	if (table == NULL)
		return o2_fail(error, -ENOMEM, "arena/view-table", "npages", npages);
	arena->view[view].page = table;
	permute(npages, view_block_pages[view], VIEW_SEED + view, table + npages, table);
	for (uint32_t i = 0; i < npages; i++)
		table[npages + table[i]] = i;
	if (view != 0)
		rc = reserve_view(arena, &base, error);
	arena->view[view].base = (uintptr_t)base;
	arena->view[view].npages = npages;
	return rc;
}

int o2_arena_map_view(struct o2_arena *arena, uint32_t view, struct o2_error *error)
{
	int rc;

	assert(view < arena->nviews);
	if (view == 0 || arena->view_mapped[view])
		return 0;
	rc = map_pages(arena, (uint8_t *)(uintptr_t)arena->view[view].base, 0, arena->view[view].page,
		       arena->npages, "arena/view-map", error);
	arena->view_mapped[view] = rc == 0;
	return rc;
}

int o2_arena_map_bounced(struct o2_arena *arena, struct o2_error *error)
{
	int rc = 0;

	assert(arena->nviews > O2_ARENA_IOMMU_VIEW);
	for (int d = 0; rc == 0 && d < O2_DMA_DIRECTIONS; d++) {
		if (arena->bounce_mapped[d])
			continue;
		rc = map_pages(arena, arena->bounce_view[d],
			       o2_arena_bounce(arena, (enum o2_dma_direction)d, 0),
			       arena->view[O2_ARENA_IOMMU_VIEW].page, arena->npages, "arena/view-map", error);
		arena->bounce_mapped[d] = rc == 0;
	}
	return rc;
}

static int make_memory(struct o2_arena *arena, struct o2_error *error)
{
	uint64_t length_bytes = arena->file_pages * arena->page_bytes;
	void *memory;

	arena->fd = memfd_create("o2ref-arena", MFD_CLOEXEC);
	if (arena->fd < 0)
		return o2_fail(error, -errno, "arena/memfd", "npages", arena->npages);
	if (ftruncate(arena->fd, (off_t)length_bytes) != 0)
		return o2_fail(error, -errno, "arena/size", "npages", arena->npages);
	memory = mmap(NULL, length_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, arena->fd, 0);
	if (memory == MAP_FAILED)
		return o2_fail(error, -errno, "arena/map", "npages", arena->npages);
	arena->memory = memory;
	memory = mmap(NULL, memory_bytes(arena), PROT_READ | PROT_WRITE, MAP_SHARED, arena->fd, 0);
	if (memory == MAP_FAILED)
		return o2_fail(error, -errno, "arena/map", "npages", arena->npages);
	arena->linear = memory;
	arena->kmaps = calloc(1, sizeof(*arena->kmaps));
	arena->unmapped = calloc(((size_t)arena->npages + 7) / 8, 1);
	if (arena->unmapped == NULL || arena->kmaps == NULL)
		return o2_fail(error, -ENOMEM, "arena/bitmap", "npages", arena->npages);
	return reserve(O2_ARENA_WINDOWS * arena->slot_bytes, &arena->window_area, "arena/windows", "slots",
		       O2_ARENA_WINDOWS, error);
}

static int create(uint32_t npages, uint32_t nviews, struct o2_arena *arena, struct o2_error *error)
{
	int rc;

	memset(arena, 0, sizeof(*arena));
	arena->fd = -1;
	arena->page_bytes = (uint32_t)sysconf(_SC_PAGESIZE);
	arena->npages = npages;
	arena->file_pages = (uint64_t)npages * (1 + O2_DMA_DIRECTIONS);
	arena->slot_bytes = (uint64_t)O2_MAX_FRAGS * arena->page_bytes;
	arena->nviews = nviews;
	arena->nwindows = O2_ARENA_WINDOWS;
	if (npages == 0)
		return o2_refuse_value(error, -EINVAL, "arena/no-pages", "npages", 0, 1);
	rc = make_memory(arena, error);
	for (uint32_t view = 0; rc == 0 && view < nviews; view++)
		rc = make_view(arena, view, error);
	for (int d = 0; rc == 0 && nviews > O2_ARENA_IOMMU_VIEW && d < O2_DMA_DIRECTIONS; d++)
		rc = reserve_view(arena, &arena->bounce_view[d], error);
	if (rc != 0)
		o2_arena_destroy(arena);
	return rc;
}

int o2_arena_create(uint32_t npages, struct o2_arena *arena, struct o2_error *error)
{
	return create(npages, O2_ARENA_VIEWS, arena, error);
}

int o2_arena_create_plain(uint32_t npages, struct o2_arena *arena, struct o2_error *error)
{
	return create(npages, 1, arena, error);
}

void o2_arena_destroy(struct o2_arena *arena)
{
	for (uint32_t view = 0; view < O2_ARENA_VIEWS; view++) {
		if (view != 0 && arena->view[view].base != 0)
			munmap((void *)(uintptr_t)arena->view[view].base, memory_bytes(arena));
		free((void *)(uintptr_t)arena->view[view].page);
	}
	if (arena->window_area != NULL)
		munmap(arena->window_area, O2_ARENA_WINDOWS * arena->slot_bytes);
	for (int d = 0; d < O2_DMA_DIRECTIONS; d++)
		if (arena->bounce_view[d] != NULL)
			munmap(arena->bounce_view[d], memory_bytes(arena));
	if (arena->memory != NULL)
		munmap(arena->memory, arena->file_pages * arena->page_bytes);
	if (arena->linear != NULL)
		munmap(arena->linear, memory_bytes(arena));
	free(arena->kmaps);
	free(arena->unmapped);
	if (arena->page_bytes != 0 && arena->fd >= 0)
		close(arena->fd);
	memset(arena, 0, sizeof(*arena));
	arena->fd = -1;
}

void o2_arena_set_mapped(struct o2_arena *arena, uint32_t page, bool mapped)
{
	uint8_t bit = (uint8_t)(1u << (page % 8));

	if (page >= arena->npages)
		return;
	if (mapped)
		arena->unmapped[page / 8] &= (uint8_t)~bit;
	else
		arena->unmapped[page / 8] |= bit;
	/* If this fails the page can still be touched: nothing breaks, but a forbidden access goes unnoticed. */
	(void)mprotect(arena->linear + (uint64_t)page * arena->page_bytes, arena->page_bytes,
		       mapped ? PROT_READ | PROT_WRITE : PROT_NONE);
}

struct o2_address_space o2_arena_space(const struct o2_arena *arena)
{
	return (struct o2_address_space){
		.page_bytes = arena->page_bytes,
		.npages = arena->npages,
		.nranges = arena->nviews,
		.range = arena->view,
	};
}

/* The address in the physical mapping of a list of neighbouring pages; NULL if they are not neighbours. */
static uint8_t *find_run(const struct o2_arena *arena, const uint32_t *page, uint32_t npages)
{
	for (uint32_t i = 1; i < npages; i++)
		if (page[i] != page[0] + i)
			return NULL;
	return o2_arena_page(arena, page[0]);
}

/*
 * The address at which the view has the listed pages side by side, or NULL.  Only the first page's position
 * can match: no search is needed.  Bounce pages never match: a view has other pages at that position.
 */
static uint8_t *find_in_view(const struct o2_arena *arena, uint32_t view, const uint32_t *page,
			     uint32_t npages)
{
	uint32_t at = positions(arena, view)[page[0] % arena->npages];

	if (npages > arena->npages - at ||
	    memcmp(&arena->view[view].page[at], page, npages * sizeof(*page)) != 0)
		return NULL;
	return (uint8_t *)(uintptr_t)arena->view[view].base + (uint64_t)at * arena->page_bytes;
}

static int map_slot(struct o2_arena *arena, const uint32_t *page, uint32_t npages,
		    struct o2_arena_window *window, struct o2_error *error)
{
	uint8_t *addr;
	int32_t slot = 0;
	int rc;

	if (arena->nwindows - arena->windows_in_use <= arena->windows_kept)
		return o2_refuse_value(error, -ENOBUFS, "arena/window/all-in-use", "windows",
				       arena->windows_in_use + UINT64_C(1),
				       arena->nwindows - arena->windows_kept);
	while (arena->window_used[slot])
		slot++;
	addr = arena->window_area + (uint64_t)slot * arena->slot_bytes;
	rc = map_pages(arena, addr, 0, page, npages, "arena/window/map", error);
	if (rc != 0)
		return rc;
	*window = (struct o2_arena_window){.addr = addr, .slot = slot};
	arena->window_used[slot] = true;
	arena->windows_in_use++;
	return 0;
}

int o2_arena_window_open(struct o2_arena *arena, const uint32_t *page, uint32_t npages,
			 struct o2_arena_window *window, struct o2_error *error)
{
	uint8_t *addr;
	int rc = 0;

	if (npages == 0 || npages > O2_MAX_FRAGS)
		return o2_refuse_value(error, -EINVAL, "arena/window/npages", "npages", npages, O2_MAX_FRAGS);
	for (uint32_t i = 0; i < npages; i++)
		if (page[i] >= arena->file_pages)
			return o2_refuse(error, -EINVAL, "arena/window/no-such-page", "page[]", i, page[i],
					 arena->file_pages - 1);
	addr = find_run(arena, page, npages);
	for (uint32_t view = 1; addr == NULL && view < arena->nviews; view++) {
		addr = find_in_view(arena, view, page, npages);
		if (addr != NULL)
			rc = o2_arena_map_view(arena, view, error);
	}
	if (rc != 0)
		return rc;
	if (addr == NULL)
		return map_slot(arena, page, npages, window, error);
	*window = (struct o2_arena_window){.addr = addr, .slot = -1};
	return 0;
}

void o2_arena_window_close(struct o2_arena *arena, struct o2_arena_window *window)
{
	if (window->addr != NULL && window->slot >= 0) {
		arena->window_used[window->slot] = false;
		arena->windows_in_use--;
	}
	*window = (struct o2_arena_window){.addr = NULL, .slot = -1};
}
