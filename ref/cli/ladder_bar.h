/* SPDX-License-Identifier: MIT */
#ifndef O2_CLI_LADDER_BAR_H
#define O2_CLI_LADDER_BAR_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "wire/msg.h"

/*
 * The memory that a descriptor offers, as a bar with a mark where a fragment begins, and what is written of it.
 * As SVG of 1000 by 14, which is stretched to the room that there is.
 */

struct o2_ladder_bar;

/* NULL: no memory. */
struct o2_ladder_bar *o2_ladder_bar_new(const struct o2_rdma_desc *desc);
void o2_ladder_bar_free(struct o2_ladder_bar *bar);

/* Draw it empty, with its marks under a name that the others use: there is one for each bar of a page. */
void o2_ladder_bar_offer(const struct o2_ladder_bar *bar, const char *name, FILE *out);

/* Where an RDMA WRITE goes: bytes from..to-1 of all that is offered; over: those behind its fragment. */
struct o2_ladder_span {
	bool inside; /* it begins in a fragment; else all is over */
	uint32_t frag, nfrags;
	uint64_t from, to, over, total;
};

struct o2_ladder_span o2_ladder_bar_span(const struct o2_ladder_bar *bar, uint64_t addr, uint64_t bytes);

/* Draw a WRITE over what was written before, and add it. */
void o2_ladder_bar_write(struct o2_ladder_bar *bar, const struct o2_ladder_span *span, const char *name,
			 FILE *out);

/* Draw all that is written, and how far the status says. */
void o2_ladder_bar_end(const struct o2_ladder_bar *bar, uint64_t reported_bytes, const char *name, FILE *out);
uint64_t o2_ladder_bar_total(const struct o2_ladder_bar *bar);
uint64_t o2_ladder_bar_filled(const struct o2_ladder_bar *bar);

#endif
