/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_GENERATE_INTERNAL_H
#define O2_PROPS_GENERATE_INTERNAL_H

#include "props/scenario/scenario.h"

/* How the pieces of one side are to be laid out. */
struct o2_layout {
	struct o2_choice *choice;
	uint64_t nob;
	bool gapped;   /* pieces start and end anywhere; else they meet on page boundaries */
	bool touching; /* IOV: gapped pieces all the same begin where the one before ended */
	bool alias;    /* sources only: pieces may name the same memory twice */
	/* KIOV: piece i lies in page (start + i * stride) mod O2_SCENARIO_PAGES */
	uint32_t start_page;
	uint32_t stride;
	uint32_t pages_used;
	/* IOV: the first byte of the view that no piece uses yet */
	uint64_t next_base;
};

/* Labels of the spans that mark list elements for the shrinker. */
enum o2_span_label {
	O2_SPAN_PIECE = 1,
};

void o2_layout_kiov(struct o2_layout *layout, struct o2_scenario_side *side);
void o2_layout_iov(struct o2_layout *layout, struct o2_scenario_side *side);

/*
 * What a walk over the vector must cope with: bytes and whole pieces before the transfer's first byte, room
 * after its last, empty pieces anywhere.
 */
void o2_layout_extras(struct o2_layout *layout, struct o2_scenario_side *side);

/*
 * How many pieces to cut nob bytes into: a few, or many.  min and max: what the kind of vector allows.
 */
uint32_t o2_layout_count(struct o2_layout *layout, uint64_t min, uint64_t max);

/* Length of the next piece when left bytes and pieces (this one included) remain; no piece exceeds max. */
uint64_t o2_layout_length(struct o2_layout *layout, uint64_t left, uint32_t pieces, uint64_t max);

#endif
