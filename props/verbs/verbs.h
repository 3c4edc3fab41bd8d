/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_VERBS_H
#define O2_PROPS_VERBS_H

#include "props/engine/property.h"
#include "props/engine/tally.h"

/*
 * The property: for any sequence of verbs calls, the in-process devices return, complete, write and count what the
 * verbs API and docs/loopverbs.md specify (docs/properties.md, "The verbs property").
 *
 * A case is a random program over both devices: domains, regions of each kind, windows, queue pairs of each type,
 * lists, valid and invalid requests, faults, timers, events, and objects destroyed in any order.  The model sees
 * only the case, and predicts each result, completion, event, counter and byte.
 */

struct o2_verbs_world;

struct o2_verbs_run {
	struct o2_tally tally;	      /* first: props/engine/tally.h */
	struct o2_verbs_world *world; /* created by the first case; NULL before */
	/* Fail the nth allocation; has it failed; live allocations: props/talk/wrap/alloc_fault.h.  NULL: none. */
	void (*fail_allocation)(uint32_t nth);
	bool (*allocation_failed)(void);
	int64_t (*allocated)(void);
};

/* *run: owned by the caller, zeroed before the first case. */
struct o2_property o2_verbs_property(struct o2_verbs_run *run);

#endif
