/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_ARENAS_H
#define O2_PROPS_ARENAS_H

#include <stdbool.h>
#include <stdint.h>

#include "mem/arena.h"

/*
 * Arenas that live on from case to case, because making one takes longer than a case: hundreds of mappings
 * and a fault for each page.  What is taken looks as if it had just been made, whatever was done to it before.
 */

/* What a world may have in use at a time, of every size that it asks for in turn. */
#define O2_ARENAS 24u

struct o2_arenas_pair {
	struct o2_arena arena;
	struct o2_arena copy;	 /* as large: bytes that a shadow keeps (props/world/shadow.h) */
	uint32_t unmapped_every; /* as it was taken last */
	uint32_t takes;
	uint8_t *touched; /* a byte for each page, 1: it may hold something; where it is watched */
	bool watched, bounced;
	bool taken;
};

/* All zero is empty. */
struct o2_arenas {
	struct o2_arenas_pair pair[O2_ARENAS];
};

/*
 * An arena of so many pages, plain or with its views, and its copy.  unmapped_every: page 1 and each so many
 * pages on have no CPU mapping; 0: all have one.  It belongs to the arenas; at most O2_ARENAS are taken at a
 * time.  Returns 0 or -errno of making it.
 */
int o2_arenas_take(struct o2_arenas *arenas, uint32_t npages, bool plain, uint32_t unmapped_every,
		   struct o2_arenas_pair **taken, struct o2_error *error);
/*
 * Who has taken it, and has not written to it, keeps account of its pages: a byte for each, which becomes 1 before
 * the page or its copy is written to.  Then only those are zeroed when it is taken again, and what takes their
 * place for a device, if it bounces.  Every so often all is, so that what was written elsewhere does not stay.
 */
uint8_t *o2_arenas_watch(struct o2_arenas_pair *pair, bool bounced);
/* Nothing uses it any more.  NULL: does nothing. */
void o2_arenas_give(struct o2_arenas_pair *pair);
/* Everything has been given: back to the process. */
void o2_arenas_end(struct o2_arenas *arenas);

#endif
