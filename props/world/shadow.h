/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_SHADOW_H
#define O2_PROPS_SHADOW_H

#include <stdbool.h>
#include <stdint.h>

#include "mem/arena.h"
#include "props/engine/report.h"
#include "props/pattern/pattern.h"

/*
 * What an arena should hold: a copy of it that no device knows, and that changes by these functions alone.
 * Properties with several ends judge bytes by it: what an operation has moved is moved in the copies too,
 * and then arena and copy must be equal.
 */

struct o2_shadow {
	const struct o2_arena *arena; /* NULL: not open */
	uint8_t *bytes;		      /* as large as the arena */
	bool owned;		      /* bytes are */
	uint32_t node;		      /* whose arena it is, for findings */
	bool bounces;		      /* its device works in other memory (mem/kmap.h) */
	uint8_t *touched;	      /* NULL: nobody asks; else a byte for each page, 1: it was filled */
};

/* Of an arena that is all zero and outlives it.  0 or -ENOMEM. */
int o2_shadow_open(struct o2_shadow *shadow, const struct o2_arena *arena, uint32_t node);
/* The same in memory that is all zero, as large as the arena, and outlives the shadow. */
void o2_shadow_open_over(struct o2_shadow *shadow, const struct o2_arena *arena, uint8_t *bytes,
			 uint32_t node);
void o2_shadow_close(struct o2_shadow *shadow);

/* These bytes of arena and copy change in another way than by what follows. */
void o2_shadow_touch(struct o2_shadow *shadow, uint64_t at, uint64_t length_bytes);

/* The pattern's bytes from origin on into length bytes of the arena, from byte `at` of it on. */
void o2_shadow_fill(struct o2_shadow *shadow, uint64_t at, uint64_t length_bytes, uint64_t seed,
		    struct o2_origin origin);
/* These bytes are undefined: take what is there now for right. */
void o2_shadow_accept(struct o2_shadow *shadow, uint64_t at, uint64_t length_bytes);
/* Do these bytes of the arena hold what they should?  If not, a finding, as below. */
void o2_shadow_check_bytes(const struct o2_shadow *shadow, uint64_t at, uint64_t length_bytes,
			   struct o2_report *report, const char *signature, const char *when);
/* Do the pages hold what they should?  If not, a finding that says where, and when it was noticed. */
void o2_shadow_check(const struct o2_shadow *shadow, uint32_t first_page, uint32_t npages,
		     struct o2_report *report, const char *signature, const char *when);

#endif
