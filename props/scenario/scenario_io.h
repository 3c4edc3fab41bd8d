/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_SCENARIO_IO_H
#define O2_PROPS_SCENARIO_IO_H

#include <jansson.h>
#include <stdio.h>

#include "base/error.h"
#include "props/scenario/scenario.h"

/* Scenarios as JSON ("form": "o2ref/scenario", "version": 1) and as text (docs/properties.md, "Scenarios"). */

/* Returns a new object that the caller owns; NULL when memory runs out. */
json_t *o2_scenario_to_json(const struct o2_scenario *scenario);

/*
 * Read a scenario.  Everything that o2_scenario_draw guarantees is checked: pieces inside pages and views,
 * counts, ranges, sink pieces disjoint.  Returns 0, or -EINVAL with the field in *error.
 */
int o2_scenario_from_json(const json_t *object, struct o2_scenario *scenario, struct o2_error *error);

/*
 * Print a scenario for people: one line on the transfer, then each side with its pieces, at most max_pieces
 * of each (the rest is only counted), e.g.
 *   PUT of 9000 bytes, fmr -> fastreg, 257 fragments, 2 sge, little-endian, no checksum
 *   source: KIOV, bus addresses, offset 0, 9000 bytes in 3 pieces, gaps
 *     [0] page 12 +3584, 512 bytes
 */
void o2_scenario_print(const struct o2_scenario *scenario, uint32_t max_pieces, FILE *out);

#endif
