/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_LST_H
#define O2_PROPS_LST_H

#include "props/engine/property.h"
#include "props/engine/tally.h"

/*
 * The property covers both sides of LNet selftest, over a network that loses, duplicates, delays and changes
 * messages.  A test node answers any console, and a console judges any node's answers, as predicted from messages
 * and clock.  All bytes go where they belong; at the end nothing is left (docs/properties.md, "The lst property").
 */

struct o2_lst_case;

struct o2_lst_run {
	struct o2_tally tally;	      /* first: props/engine/tally.h */
	struct o2_lst_case *the_case; /* the current case, created before the first; NULL: not yet */
	/* Fail the nth allocation; has it failed; live allocations: props/talk/wrap/alloc_fault.h.  NULL: none. */
	void (*fail_allocation)(uint32_t nth);
	bool (*allocation_failed)(void);
	int64_t (*allocated)(void);
};

/* *run: owned by the caller, zeroed before the first case.  NULL: only list the property, do not run it. */
struct o2_property o2_lst_property(struct o2_lst_run *run);

#endif
