/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_VERDICTS_H
#define O2_PROPS_VERDICTS_H

#include "props/engine/property.h"
#include "props/engine/tally.h"
#include "props/judge/ends.h"
#include "props/judge/gaps.h"
#include "props/judge/hearing.h"

/*
 * The property: the judge finds in a conversation what is wrong with it, and nothing else: an honest one has no
 * finding, also when some of it is missing, and one that goes a byte, a credit or a nanosecond further has the one
 * that is foretold (docs/properties.md, "The verdicts property").
 */

struct o2_verdicts_run {
	struct o2_tally tally; /* first: props/engine/tally.h */
	struct o2_hearing hearing;
	struct o2_ends ends;
	struct o2_gaps gaps;
	/* Where allocations of the program can fail: the nth from now on, and whether it has; NULL: nowhere. */
	void (*fail_allocation)(uint32_t nth);
	bool (*allocation_failed)(void);
};

/*
 * A conversation of which all is heard from the request on, over what may lose packets: honest, or with a scene
 * or two.  h->c, report, tap and log are set, the rest is zero; counts: of situations, as the run's.
 */
void o2_verdicts_tell(struct o2_hearing *h, struct o2_tally *tally);

/* *run: zeros at first, the caller's.  It is large: keep it off the stack. */
struct o2_property o2_verdicts_property(struct o2_verdicts_run *run);

#endif
