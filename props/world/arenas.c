/* SPDX-License-Identifier: MIT */
#include "props/world/arenas.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

/* After this many takes, the whole arena is zeroed once. */
#define SWEEP_EVERY 64u

/* True if the arena has memory. */
static bool is_made(const struct o2_arenas_pair *pair)
{
	return pair->arena.memory != NULL;
}

static bool is_like(const struct o2_arenas_pair *pair, uint32_t npages, bool plain)
{
	return is_made(pair) && pair->arena.npages == npages && (pair->arena.nviews == 1) == plain;
}

/*
 * Zero all pages ever touched; untouched pages occupy no memory and stay that way.  arena->memory reaches
 * every page, with or without a CPU mapping.
 */
static void clear_pages(const struct o2_arena *arena)
{
	off_t at = 0, end;

	while ((at = lseek(arena->fd, at, SEEK_DATA)) >= 0) {
		end = lseek(arena->fd, at, SEEK_HOLE);
		assert(end > at && "there is a hole at the end of every file");
		memset(arena->memory + at, 0, (size_t)(end - at));
		at = end;
	}
}

static void set_mapped(struct o2_arenas_pair *pair, uint32_t unmapped_every)
{
	for (uint32_t page = 0; page < pair->arena.npages; page++) {
		const bool mapped = unmapped_every == 0 || page % unmapped_every != 1 % unmapped_every;

		if (o2_arena_is_mapped(&pair->arena, page) != mapped)
			o2_arena_set_mapped(&pair->arena, page, mapped);
	}
	pair->unmapped_every = unmapped_every;
}

static void clear_run(const struct o2_arena *arena, uint32_t page, uint32_t npages)
{
	memset(o2_arena_page(arena, page), 0, (size_t)npages * arena->page_bytes);
}

/* Zero the touched pages, and their bounce pages if the device bounces. */
static void clear_touched(const struct o2_arena *arena, const uint8_t *touched, bool bounced)
{
	for (uint32_t page = 0, run; page < arena->npages; page += run) {
		run = 1;
		while (page + run < arena->npages && touched[page + run] == touched[page])
			run++;
		if (touched[page] == 0)
			continue;
		clear_run(arena, page, run);
		for (int d = 0; d < O2_DMA_DIRECTIONS && bounced; d++)
			clear_run(arena, o2_arena_bounce(arena, (enum o2_dma_direction)d, page), run);
	}
}

static void renew(struct o2_arenas_pair *pair)
{
	if (!pair->watched || ++pair->takes % SWEEP_EVERY == 0) {
		clear_pages(&pair->arena);
		clear_pages(&pair->copy);
	} else {
		clear_touched(&pair->arena, pair->touched, pair->bounced);
		clear_touched(&pair->copy, pair->touched, false);
	}
	pair->watched = false;
	memset(pair->arena.kmaps, 0, sizeof(*pair->arena.kmaps));
}

uint8_t *o2_arenas_watch(struct o2_arenas_pair *pair, bool bounced)
{
	pair->watched = true;
	pair->bounced = bounced;
	return memset(pair->touched, 0, pair->arena.npages);
}

static void unmake(struct o2_arenas_pair *pair)
{
	o2_arena_destroy(&pair->arena);
	o2_arena_destroy(&pair->copy);
	free(pair->touched);
	pair->touched = NULL;
}

static int make(struct o2_arenas_pair *pair, uint32_t npages, bool plain, struct o2_error *error)
{
	int rc = plain ? o2_arena_create_plain(npages, &pair->arena, error)
		       : o2_arena_create(npages, &pair->arena, error);

	if (rc != 0)
		return rc;
	rc = o2_arena_create_plain(npages, &pair->copy, error);
	pair->watched = false;
	pair->touched = rc == 0 ? malloc(npages) : NULL;
	if (rc == 0 && pair->touched == NULL) {
		rc = o2_refuse_value(error, -ENOMEM, "arenas/touched", "npages", npages, O2_NO_LIMIT);
		o2_arena_destroy(&pair->copy);
	}
	if (rc != 0)
		o2_arena_destroy(&pair->arena);
	return rc;
}

/* Choose an arena: one that matches in everything, else an empty place, else one alike, else any. */
static struct o2_arenas_pair *choose(struct o2_arenas *arenas, uint32_t npages, bool plain,
				     uint32_t unmapped_every)
{
	struct o2_arenas_pair *room = NULL, *alike = NULL;

	for (uint32_t i = 0; i < O2_ARENAS; i++) {
		struct o2_arenas_pair *pair = &arenas->pair[i];

		if (pair->taken)
			continue;
		if (is_like(pair, npages, plain) && pair->unmapped_every == unmapped_every)
			return pair;
		if (is_like(pair, npages, plain))
			alike = pair;
		if (room == NULL || (is_made(room) && !is_made(pair)))
			room = pair;
	}
	assert(room != NULL && "no world has so many");
	return alike != NULL && is_made(room) ? alike : room;
}

int o2_arenas_take(struct o2_arenas *arenas, uint32_t npages, bool plain, uint32_t unmapped_every,
		   struct o2_arenas_pair **taken, struct o2_error *error)
{
	struct o2_arenas_pair *pair = choose(arenas, npages, plain, unmapped_every);
	int rc = 0;

	if (is_like(pair, npages, plain)) {
		renew(pair);
	} else {
		if (is_made(pair))
			unmake(pair);
		rc = make(pair, npages, plain, error);
	}
	if (rc == 0)
		set_mapped(pair, unmapped_every);
	pair->taken = rc == 0;
	*taken = rc == 0 ? pair : NULL;
	return rc;
}

void o2_arenas_give(struct o2_arenas_pair *pair)
{
	if (pair != NULL)
		pair->taken = false;
}

void o2_arenas_end(struct o2_arenas *arenas)
{
	for (uint32_t i = 0; i < O2_ARENAS; i++) {
		assert(!arenas->pair[i].taken && "a world that is closed has given everything");
		if (is_made(&arenas->pair[i]))
			unmake(&arenas->pair[i]);
	}
}
