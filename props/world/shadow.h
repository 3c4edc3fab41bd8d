/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_SHADOW_H
#define O2_PROPS_SHADOW_H

#include <stdbool.h>
#include <stdint.h>

#include "mem/arena.h"
#include "props/engine/report.h"
#include "props/pattern/pattern.h"

/*
 * The expected contents of an arena: a copy that no device accesses and that only these functions change.
 * Properties with several ends check bytes with it: bytes that an operation moved are moved in the copies
 * too, and then arena and copy must be equal.
 */

struct o2_shadow {
	const struct o2_arena *arena; /* NULL: closed */
	uint8_t *bytes;		      /* as large as the arena */
	bool owned;		      /* the shadow allocated bytes */
	uint32_t node;		      /* owner of the arena, for findings */
	bool bounces;		      /* its device uses bounce memory (mem/kmap.h) */
	uint8_t *touched;	      /* NULL: not recorded; else a byte for each page, 1: it was filled */
};

/* Open a shadow of an arena that is all zero and outlives it.  0 or -ENOMEM. */
int o2_shadow_open(struct o2_shadow *shadow, const struct o2_arena *arena, uint32_t node);
/* The same, in memory that is all zero, as large as the arena, and outlives the shadow. */
void o2_shadow_open_over(struct o2_shadow *shadow, const struct o2_arena *arena, uint8_t *bytes,
			 uint32_t node);
void o2_shadow_close(struct o2_shadow *shadow);

/* Record that these bytes of arena and copy change other than by the functions below. */
void o2_shadow_touch(struct o2_shadow *shadow, uint64_t at, uint64_t length_bytes);

/* Write length_bytes of the pattern from origin on to arena and copy, at byte `at`. */
void o2_shadow_fill(struct o2_shadow *shadow, uint64_t at, uint64_t length_bytes, uint64_t seed,
		    struct o2_origin origin);
/* These bytes are undefined: accept their present values. */
void o2_shadow_accept(struct o2_shadow *shadow, uint64_t at, uint64_t length_bytes);
/* Check that these bytes of the arena equal the copy; otherwise report a finding, as below. */
void o2_shadow_check_bytes(const struct o2_shadow *shadow, uint64_t at, uint64_t length_bytes,
			   struct o2_report *report, const char *signature, const char *when);
/* Check that the pages equal the copy; otherwise report a finding with the place and the time (when). */
void o2_shadow_check(const struct o2_shadow *shadow, uint32_t first_page, uint32_t npages,
		     struct o2_report *report, const char *signature, const char *when);

#endif
