/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_VERBS_H
#define O2_PROPS_VERBS_H

#include "props/engine/property.h"
#include "props/engine/tally.h"

/*
 * The property: whatever a program does with verbs, the in-process devices answer, complete, write and count
 * as verbs and docs/loopverbs.md have it (docs/properties.md, "The verbs property").
 *
 * A random program over both devices: domains, regions of each kind, windows, queue pairs of each type, lists,
 * requests right and wrong, faults, timers, events, objects destroyed in any order.  The model knows the case
 * alone, and foretells each result, completion, event, counter and byte.
 */

struct o2_verbs_world;

struct o2_verbs_run {
	struct o2_tally tally;	      /* first: props/engine/tally.h */
	struct o2_verbs_world *world; /* made by the first case; NULL: none */
	/* The nth allocation fails; did it; how many are there (props/talk/wrap/alloc_fault.h).  NULL: none can. */
	void (*fail_allocation)(uint32_t nth);
	bool (*allocation_failed)(void);
	int64_t (*allocated)(void);
};

/* *run: zeros at first, the caller's. */
struct o2_property o2_verbs_property(struct o2_verbs_run *run);

#endif
