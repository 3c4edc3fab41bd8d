/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_CROSS_H
#define O2_PROPS_CROSS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "props/scenario/scenario.h"

/*
 * The cross table.  It counts transfers that moved byte-exact, by everything that must make no difference
 * (source mode, sink mode, both address kinds, PUT or GET, IOV or KIOV on both sides).  It also counts the
 * refusals of what no memory can make legal: mode user with a KIOV (docs/properties.md, "The cross table").
 */
struct o2_cross {
	/* [source mode][sink mode][source kind][sink kind][op][source vector][sink vector] */
	uint32_t moved[O2_REG_MODES][O2_REG_MODES][O2_DMA_KINDS][O2_DMA_KINDS][2][2][2];
	/* [side][kind of that side][op] */
	uint32_t user_kiov_refused[2][O2_DMA_KINDS][2];
};

/* Cells of one pair of modes, and of the table of refusals. */
#define O2_CROSS_PAIR_CELLS (O2_DMA_KINDS * O2_DMA_KINDS * 2u * 2u * 2u)
#define O2_CROSS_REFUSALS   (2u * O2_DMA_KINDS * 2u)

void o2_cross_moved(struct o2_cross *cross, const struct o2_scenario *scenario);

/* Count a refusal if the table has it: side refused a KIOV for mode user. */
void o2_cross_refused(struct o2_cross *cross, const struct o2_scenario *scenario, enum o2_side side);

/* A summary of some cells: how many can move, how many of them did, and the least count in one. */
struct o2_cross_pair {
	uint32_t cells;
	uint32_t met;
	uint32_t least;
};

struct o2_cross_pair o2_cross_of_pair(const struct o2_cross *cross, enum o2_reg_mode source,
				      enum o2_reg_mode sink);

/*
 * The polarity of a device: 1 if it uses the addresses that a mapping returned, 0 if it needs CPU addresses.
 * Source and sink make four pairs, <1,1> <1,0> <0,1> <0,0> (docs/mapping.md, "The four pairs").
 */
#define O2_POLARITY_PAIRS 4u

/* One of the four pairs, in the order above: the summary of its cells, and the transfers in all of them. */
struct o2_cross_polarity {
	const char *name; /* "<1,0>": the source's polarity, the sink's */
	struct o2_cross_pair pair;
	uint64_t moved;
};

struct o2_cross_polarity o2_cross_of_polarity(const struct o2_cross *cross, uint32_t which);

/* True if every cell and every refusal occurred. */
bool o2_cross_complete(const struct o2_cross *cross);

/*
 * A new object: "pairs" by source and sink mode, each {cells, met, least, kinds}, where kinds counts the
 * transfers that moved, by source and sink address kind; "polarity" by the names of the four pairs, each
 * {moved, cells, met, least}; and "user_kiov_refused".
 */
json_t *o2_cross_to_json(const struct o2_cross *cross);

#endif
