/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_SIM_EXPLORE_H
#define O2_PROPS_SIM_EXPLORE_H

#include <stdint.h>

/*
 * All orders of events of a small conversation, each state once (docs/simulation.md, "All states"): two PUTs
 * and a GET at queue depth 2, started by each of the two ends in every way that is not another one mirrored.
 *
 * max_states: for each conversation, or 0 for no bound.  Prints states and edges of each.  Returns 0 when all
 * held and nothing was left out, 1 when something failed, 3 when the bound was reached.
 */
int o2_sim_explore(uint64_t max_states);

#endif
