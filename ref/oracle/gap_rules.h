/* SPDX-License-Identifier: MIT */
#ifndef O2_ORACLE_GAP_RULES_H
#define O2_ORACLE_GAP_RULES_H

#include <stdbool.h>

#include "mem/buffer.h"
#include "mem/dma_map.h"
#include "mem/sg_build.h"

/*
 * The gap rules of past Lustre versions, for comparison (docs/mapping.md, "Gap rules").  sg_build applies G3;
 * nothing in this library uses the other rules.  The functions are pure.
 */
enum o2_gap_rule {
	O2_GAP_G1,    /* LU-10129: for page vectors it flags lists without gaps, and misses all real gaps */
	O2_GAP_G2,    /* LU-11064: never flags a page vector */
	O2_GAP_G3,    /* LU-20399: each seam between entries must be at page boundaries on both sides */
	O2_GAP_RULES, /* number of rules */
};

/*
 * The verdict of the rule on the bytes that the buffer covers; page_bytes as in sg_build.  The buffer must be
 * one that sg_build accepts.  G1 and G2 depend on the number of remaining pieces.  Empty pieces are not
 * counted; the pieces that carry bytes of the transfer, or follow it, are.
 * o2iblnd: tx_gaps
 */
bool o2_gap_verdict(enum o2_gap_rule rule, const struct o2_buffer *buffer, uint32_t page_bytes);

/*
 * The exact rule, which needs device addresses.  Returns true if a page list cannot express the segments: two
 * consecutive segments are not adjacent, and one of the two ends at their seam lies inside a page.
 */
bool o2_gap_exact(const struct o2_dma_list *segments, uint32_t page_bytes);

#endif
