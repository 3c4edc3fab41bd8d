/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_SITUATIONS_H
#define O2_PROPS_SITUATIONS_H

#include "props/scenario/scenario.h"

/*
 * What can be special about the memory of one side, as far as bytes of it move.  Runs count these, and a run
 * that is long enough and never met one fails (docs/properties.md, "Counters").
 */
enum o2_situation {
	O2_INTERIOR_GAP,     /* a hole with a whole entry before it and one behind it */
	O2_GAP_AT_BOTH_ENDS, /* a hole behind the first entry, and another before the last */
	O2_UNALIGNED_FIRST,  /* the first byte is inside a page */
	O2_PAGES_255,	     /* a page list of so many pages */
	O2_PAGES_256,
	O2_PAGES_257,
	O2_ONE_BYTE_FRAGMENT,  /* an entry of one byte, and not the only one */
	O2_ZERO_LENGTH_PIECE,  /* a piece without bytes between two with some */
	O2_PAGE_USED_TWICE,    /* a page that two places of the page list name; sources only */
	O2_REVERSED_PAGES,     /* 3 pages or more, each before the one listed before it */
	O2_OFFSET_ON_BOUNDARY, /* pieces are skipped, and the transfer begins with the first byte of one */
	O2_PHYS_INSIDE_PAGE,   /* phys at an iova that is not page-aligned */
	O2_SITUATIONS,
};

/* "interior_gap"; NULL when situation is not one. */
const char *o2_situation_name(enum o2_situation situation);

/*
 * The situations of one side: bit (1 << situation) for each.  extent: the bytes that move, in order, cut at
 * page boundaries, count of them (o2_scenario_extents).
 */
uint32_t o2_situations_of(const struct o2_scenario_side *side, const struct o2_extent *extent,
			  uint32_t count);

#endif
