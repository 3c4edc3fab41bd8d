/* SPDX-License-Identifier: MIT */
#ifndef O2_ORACLE_GAP_RULES_H
#define O2_ORACLE_GAP_RULES_H

#include <stdbool.h>

#include "mem/buffer.h"
#include "mem/dma_map.h"
#include "mem/sg_build.h"

/*
 * The verdicts on gaps that Lustre has had, for comparison (docs/mapping.md, "Gap rules").  sg_build applies
 * G3, and only that is used by anything here.  Pure.
 */
enum o2_gap_rule {
	O2_GAP_G1,    /* LU-10129: on page vectors it flags lists without gaps, and none with one */
	O2_GAP_G2,    /* LU-11064: never set for page vectors */
	O2_GAP_G3,    /* LU-20399: every seam must lie on page boundaries, on both sides */
	O2_GAP_RULES, /* how many */
};

/*
 * What the rule says of the bytes that buffer asks for; page_bytes as in sg_build.  The buffer is one that
 * sg_build accepts.  Empty pieces do not count: G1 and G2, which looked at the number of pieces left, are
 * taken over the pieces that carry bytes or follow the transfer.
 * o2iblnd: tx_gaps
 */
bool o2_gap_verdict(enum o2_gap_rule rule, const struct o2_buffer *buffer, uint32_t page_bytes);

/*
 * The exact answer, which needs addresses: is there a seam of two segments that a list of pages cannot
 * express, because they do not join up and one of the two sides lies inside a page?
 */
bool o2_gap_exact(const struct o2_dma_list *segments, uint32_t page_bytes);

#endif
