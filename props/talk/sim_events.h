/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_SIM_EVENTS_H
#define O2_PROPS_SIM_EVENTS_H

#include "props/talk/sim_internal.h"

/* Events of chosen ends, in a chosen order. */

/* The device executes one work request of this end.  False: none is left. */
bool o2_sim_execute_of(struct o2_sim *sim, const struct o2_sim_end *end);

/* The next event in fair order: the device, then each end that is awake.  False: no event is possible. */
bool o2_sim_fair(struct o2_sim *sim, uint32_t *turn);

/*
 * One end GETs as often as its depth, the other one PUTs as often.  The answers to all arrive before the first
 * end handles one of them; then its device executes nothing until all are handled: so as many invalidates are due as
 * there can be (docs/transport.md, "Sizes").
 */
void o2_sim_pile(struct o2_sim *sim);

#endif
