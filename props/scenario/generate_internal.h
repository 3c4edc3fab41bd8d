/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_GENERATE_INTERNAL_H
#define O2_PROPS_GENERATE_INTERNAL_H

#include "props/scenario/scenario.h"

/* How to lay out the pieces of one side. */
struct o2_layout {
	struct o2_choice *choice;
	uint64_t nob;
	bool gapped;   /* pieces start and end anywhere; otherwise they meet on page boundaries */
	bool touching; /* IOV: each gapped piece begins where the previous one ended */
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
 * Add what a walk over the vector must handle: bytes and whole pieces before the transfer's first byte, room
 * after its last byte, empty pieces anywhere.
 */
void o2_layout_extras(struct o2_layout *layout, struct o2_scenario_side *side);

#endif
