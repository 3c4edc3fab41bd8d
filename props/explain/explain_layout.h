/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_EXPLAIN_LAYOUT_H
#define O2_PROPS_EXPLAIN_LAYOUT_H

#include "props/explain/explain.h"

/* Positions in the picture of an explanation, in pixels. */

#define O2_LAYOUT_TOP	      132.0 /* of all columns */
#define O2_LAYOUT_PAGE_HEIGHT 68.0
#define O2_LAYOUT_FEW	      8u /* entries drawn at each end of a long list */

struct o2_box {
	double y, height;
	bool keep;	   /* must be drawn, however long the list is */
	bool shown;	   /* is drawn */
	uint32_t left_out; /* boxes left out just before this one */
};

struct o2_layout_end {
	uint32_t page[O2_SCENARIO_PAGES]; /* by first use; then pages that only wrong bytes name */
	struct o2_box page_box[O2_SCENARIO_PAGES];
	uint32_t npages;
	struct o2_box slot_box[O2_MAX_FRAGS];
	uint32_t piece_slot[O2_SCENARIO_EXTENTS]; /* slot of each piece; O2_NO_INDEX: none */
};

struct o2_picture {
	const struct o2_explain *explain;
	struct o2_layout_end end[2];
	struct o2_box entry_box[O2_MAX_FRAGS]; /* of the source's list */
	struct o2_box wr_box[O2_MAX_FRAGS];
	double bottom; /* lower edge of the columns */
};

void o2_picture_place(const struct o2_explain *explain, struct o2_picture *picture);

/* The position of a part of a page; false: the page is not drawn. */
bool o2_picture_page(const struct o2_picture *picture, enum o2_side side, uint32_t page, uint32_t offset,
		     uint32_t length, double *y, double *height);

/* The position of a range of addresses under a side's key; false: nothing of it is drawn. */
bool o2_picture_range(const struct o2_picture *picture, enum o2_side side, uint64_t addr, uint64_t length,
		      double *y, double *height);

/*
 * The fragment that carries a byte of the transfer, and in *run the bytes from there to its end; UINT32_MAX: the
 * byte does not move.
 */
uint32_t o2_picture_fragment(const struct o2_explain *explain, uint64_t byte, uint64_t *run);

#endif
