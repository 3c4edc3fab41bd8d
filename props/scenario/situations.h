/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_SITUATIONS_H
#define O2_PROPS_SITUATIONS_H

#include "props/scenario/scenario.h"

/*
 * Special properties of the memory of one side, for the bytes that move.  Runs count them; a run that is long
 * enough and never met one of them fails (docs/properties.md, "Counters").
 */
enum o2_situation {
	O2_INTERIOR_GAP,     /* a hole with a whole entry on either side */
	O2_GAP_AT_BOTH_ENDS, /* a hole after the first entry, and another before the last */
	O2_UNALIGNED_FIRST,  /* the first byte is inside a page */
	O2_PAGES_255,	     /* a page list of this many pages */
	O2_PAGES_256,
	O2_PAGES_257,
	O2_ONE_BYTE_FRAGMENT,  /* an entry of one byte that is not the only entry */
	O2_ZERO_LENGTH_PIECE,  /* an empty piece between two that are not */
	O2_PAGE_USED_TWICE,    /* a page that occurs twice in the page list; sources only */
	O2_REVERSED_PAGES,     /* 3 pages or more, in descending order */
	O2_OFFSET_ON_BOUNDARY, /* pieces are skipped, and the transfer begins at the first byte of one */
	O2_PHYS_INSIDE_PAGE,   /* mode phys at an iova that is not page-aligned */
	O2_SITUATIONS,
};

/* The name, e.g. "interior_gap"; NULL when situation is out of range. */
const char *o2_situation_name(enum o2_situation situation);

/*
 * The situations of one side as a mask: bit (1 << situation) for each.  extent[0..count-1]: the bytes that
 * move, in order, cut at page boundaries (o2_scenario_extents).
 */
uint32_t o2_situations_of(const struct o2_scenario_side *side, const struct o2_extent *extent,
			  uint32_t count);

#endif
