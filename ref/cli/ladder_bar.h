/* SPDX-License-Identifier: MIT */
#ifndef O2_CLI_LADDER_BAR_H
#define O2_CLI_LADDER_BAR_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "wire/msg.h"

/*
 * A bar that shows the memory that a descriptor offers, marks where fragments begin, and what is written of
 * it.  Drawn as SVG of 1000 by 14 units, stretched to the room that there is.
 */

struct o2_ladder_bar;

/* NULL: no memory. */
struct o2_ladder_bar *o2_ladder_bar_new(const struct o2_rdma_desc *desc);
void o2_ladder_bar_free(struct o2_ladder_bar *bar);

/* Draw the empty bar.  Its marks get the id `name`, unique on the page, to which the other functions refer. */
void o2_ladder_bar_offer(const struct o2_ladder_bar *bar, const char *name, FILE *out);

/* Where an RDMA WRITE goes: bytes [from, to) of all that is offered.  over: bytes that pass its fragment's end. */
struct o2_ladder_span {
	bool inside; /* it has bytes and begins in a fragment; else `over` counts all bytes */
	uint32_t frag, nfrags;
	uint64_t from, to, over, total;
};

struct o2_ladder_span o2_ladder_bar_span(const struct o2_ladder_bar *bar, uint64_t addr, uint64_t bytes);

/* Draw a WRITE on top of earlier ones, and remember it. */
void o2_ladder_bar_write(struct o2_ladder_bar *bar, const struct o2_ladder_span *span, const char *name,
			 FILE *out);

/* Draw all that is written, with a mark where the reported bytes end. */
void o2_ladder_bar_end(const struct o2_ladder_bar *bar, uint64_t reported_bytes, const char *name, FILE *out);
uint64_t o2_ladder_bar_total(const struct o2_ladder_bar *bar);
uint64_t o2_ladder_bar_filled(const struct o2_ladder_bar *bar);

#endif
