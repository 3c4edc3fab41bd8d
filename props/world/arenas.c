/* SPDX-License-Identifier: MIT */
#include "props/world/arenas.h"

#include <assert.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

/* Its arena has memory. */
static bool is_made(const struct o2_arenas_pair *pair)
{
	return pair->arena.memory != NULL;
}

/* Zero again what was ever touched; pages that were not take no memory, and need not begin to. */
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

static void renew(struct o2_arena *arena)
{
	clear_pages(arena);
	for (uint32_t page = 0; page < arena->npages; page++)
		if (!o2_arena_is_mapped(arena, page))
			o2_arena_set_mapped(arena, page, true);
	memset(arena->kmaps, 0, sizeof(*arena->kmaps));
}

static void unmake(struct o2_arenas_pair *pair)
{
	o2_arena_destroy(&pair->arena);
	o2_arena_destroy(&pair->copy);
}

static int make(struct o2_arenas_pair *pair, uint32_t npages, bool plain, struct o2_error *error)
{
	int rc = plain ? o2_arena_create_plain(npages, &pair->arena, error)
		       : o2_arena_create(npages, &pair->arena, error);

	if (rc != 0)
		return rc;
	rc = o2_arena_create_plain(npages, &pair->copy, error);
	if (rc != 0)
		o2_arena_destroy(&pair->arena);
	return rc;
}

int o2_arenas_take(struct o2_arenas *arenas, uint32_t npages, bool plain, struct o2_arenas_pair **taken,
		   struct o2_error *error)
{
	struct o2_arenas_pair *room = NULL;
	int rc;

	for (uint32_t i = 0; i < O2_ARENAS; i++) {
		struct o2_arenas_pair *pair = &arenas->pair[i];

		if (pair->taken)
			continue;
		if (is_made(pair) && pair->arena.npages == npages && (pair->arena.nviews == 1) == plain) {
			renew(&pair->arena);
			renew(&pair->copy);
			pair->taken = true;
			*taken = pair;
			return 0;
		}
		if (room == NULL || (is_made(room) && !is_made(pair)))
			room = pair;
	}
	assert(room != NULL && "no world has so many");
	if (is_made(room))
		unmake(room);
	rc = make(room, npages, plain, error);
	room->taken = rc == 0;
	*taken = rc == 0 ? room : NULL;
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
