/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_CROSS_H
#define O2_PROPS_CROSS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "props/scenario/scenario.h"

/*
 * The cross table: transfers that moved byte-exact, by everything that modes must not depend on (source mode,
 * sink mode, both address kinds, PUT or GET, IOV or KIOV on both sides), and the refusals of what cannot move
 * whatever the memory: mode user with a KIOV (docs/properties.md, "The cross table").
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

/* Count a refusal, if it is one that the table has: side refused a KIOV for mode user. */
void o2_cross_refused(struct o2_cross *cross, const struct o2_scenario *scenario, enum o2_side side);

/* Of one pair of modes: cells that can move, how many of them did, and the least count in one. */
struct o2_cross_pair {
	uint32_t cells;
	uint32_t met;
	uint32_t least;
};

struct o2_cross_pair o2_cross_of_pair(const struct o2_cross *cross, enum o2_reg_mode source,
				      enum o2_reg_mode sink);

/* Did every cell occur, and every refusal? */
bool o2_cross_complete(const struct o2_cross *cross);

/* A new object: "pairs" by source and sink mode, each {cells, met, least}, and "user_kiov_refused". */
json_t *o2_cross_to_json(const struct o2_cross *cross);

#endif
