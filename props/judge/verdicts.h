/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_VERDICTS_H
#define O2_PROPS_VERDICTS_H

#include "props/engine/property.h"
#include "props/engine/tally.h"
#include "props/judge/ends.h"
#include "props/judge/gaps.h"
#include "props/judge/hearing.h"

/*
 * The property: the judge finds exactly what is wrong with a conversation.  An honest conversation has no
 * finding, even when some of it is not heard.  One that exceeds a rule by a byte, a credit or a nanosecond
 * has the predicted finding (docs/properties.md, "The verdicts property").
 */

struct o2_verdicts_run {
	struct o2_tally tally; /* must be first: props/engine/tally.h */
	struct o2_hearing hearing;
	struct o2_ends ends;
	struct o2_gaps gaps;
	/* Make the nth allocation from now on fail, and ask whether it did; NULL: not possible. */
	void (*fail_allocation)(uint32_t nth);
	bool (*allocation_failed)(void);
};

/*
 * Run a conversation of which the judge hears all from the request on, over a lossy network: honest, or with one or
 * two scenes.  h->c, report, tap and log must be set, the rest zero.  tally: counts of situations, as in a run.
 */
void o2_verdicts_tell(struct o2_hearing *h, struct o2_tally *tally);

/* *run is the caller's and zeroed before the first use.  It is large: keep it off the stack. */
struct o2_property o2_verdicts_property(struct o2_verdicts_run *run);

#endif
