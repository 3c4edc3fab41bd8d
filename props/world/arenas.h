/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_ARENAS_H
#define O2_PROPS_ARENAS_H

#include <stdbool.h>
#include <stdint.h>

#include "mem/arena.h"

/*
 * Arenas that are kept from case to case, because creating one takes longer than a case: hundreds of mappings, and
 * a fault for each page.  An arena that is taken looks newly created, whatever was done to it before.
 */

/* The most arenas of any sizes that a world has in use at a time. */
#define O2_ARENAS 24u

struct o2_arenas_pair {
	struct o2_arena arena;
	struct o2_arena copy;	 /* of the same size: the bytes of a shadow (props/world/shadow.h) */
	uint32_t unmapped_every; /* value of the last take */
	uint32_t takes;
	uint8_t *touched; /* if watched: a byte for each page, 1: it may hold something */
	bool watched, bounced;
	bool taken;
};

/* Zeroed memory is a valid empty object. */
struct o2_arenas {
	struct o2_arenas_pair pair[O2_ARENAS];
};

/*
 * Take an arena of npages pages, plain or with its views, and its copy.  unmapped_every: page 1 and every
 * unmapped_every-th page after it have no CPU mapping; 0: all have one.  The arenas own it; at most O2_ARENAS
 * are taken at a time.  Returns 0 or -errno of creating it.
 */
int o2_arenas_take(struct o2_arenas *arenas, uint32_t npages, bool plain, uint32_t unmapped_every,
		   struct o2_arenas_pair **taken, struct o2_error *error);
/*
 * Returns an array of one byte per page, for a holder that has not yet written to the arena.  The holder sets a
 * byte to 1 before the page or its copy is written.  At the next take only those pages are zeroed, and their bounce
 * pages if bounced.  From time to time all pages are zeroed, so that unrecorded writes do not persist.
 */
uint8_t *o2_arenas_watch(struct o2_arenas_pair *pair, bool bounced);
/* Give back an arena that nothing uses any more.  NULL: does nothing. */
void o2_arenas_give(struct o2_arenas_pair *pair);
/* Free all arenas; all must have been given back. */
void o2_arenas_end(struct o2_arenas *arenas);

#endif
