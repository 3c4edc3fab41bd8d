/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_LST_H
#define O2_PROPS_LST_H

#include "props/engine/property.h"
#include "props/engine/tally.h"

/*
 * The property: over a network that loses, doubles, delays and changes what it carries, a test node of LNet selftest
 * answers any console, and a console makes of any node's answers, what an account of the letters and the clock says;
 * bytes go where they belong, and at the end nothing is left (docs/properties.md, "The lst property").
 */

struct o2_lst_case;

struct o2_lst_run {
	struct o2_tally tally;	      /* first: props/engine/tally.h */
	struct o2_lst_case *the_case; /* the case at hand, made before the first; NULL: none yet */
	/* The nth allocation fails; did it; how many are there (props/talk/wrap/alloc_fault.h).  NULL: none can. */
	void (*fail_allocation)(uint32_t nth);
	bool (*allocation_failed)(void);
	int64_t (*allocated)(void);
};

/* *run: zeros at first, the caller's.  NULL: to speak of the property. */
struct o2_property o2_lst_property(struct o2_lst_run *run);

#endif
