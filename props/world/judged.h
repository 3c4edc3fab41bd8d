/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_JUDGED_H
#define O2_PROPS_JUDGED_H

#include <stdbool.h>
#include <stdint.h>

#include "judge/judge.h"
#include "props/engine/report.h"

/*
 * What is the same wherever a property's conversations are told to the judge (docs/judge.md, "The properties"):
 * whether it listens, what becomes of a finding, and how much was heard.
 */

/* Called with true before the judge looks, and with false afterwards; NULL: nobody. */
extern void (*o2_judged_aside)(bool aside);
/* Nobody listens: what the judge costs. */
extern bool o2_judged_deaf;

/* What is broken on purpose in the ends must not be broken in who judges them. */
void o2_judged_put_aside(bool aside);

struct o2_judged {
	uint64_t connections, messages, writes;
};

/* What judges of this process have heard that are gone, and those of its ends' processes. */
extern struct o2_judged o2_judged_all;
void o2_judged_add(struct o2_judged *sum, const struct o2_judged *one);

/* A finding fails the case as judge/RULE; a note does not, unless it is asked for by name. */
void o2_judged_fail(struct o2_report *report, const struct o2_judge_finding *finding);

/* For who has no report: the first rule that was broken; NULL: none, and a note is none.  error: how. */
struct o2_judged_first {
	const char *broken;
	struct o2_error error;
};

void o2_judged_keep(struct o2_judged_first *first, const struct o2_judge_finding *finding);
/* Hand it out, and forget it: ->broken.  *error is set if there is one. */
const char *o2_judged_take(struct o2_judged_first *first, struct o2_error *error);

/* Options of a judge where time is left to the properties, which know the settings. */
#define O2_JUDGED_OPTIONS ((struct o2_judge_options){.timeout_ms = 1000000000u})

#endif
