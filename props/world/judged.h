/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_JUDGED_H
#define O2_PROPS_JUDGED_H

#include <stdbool.h>
#include <stdint.h>

#include "judge/judge.h"
#include "lnd/ni/watch.h"
#include "props/engine/report.h"

/*
 * Common to all properties that tell their conversations to the judge (docs/judge.md, "The properties"):
 * whether it listens, what happens to a finding, and how much was heard.
 */

/* Called with true before the judge runs and with false afterwards; NULL: no call. */
extern void (*o2_judged_aside)(bool aside);
/* true: no judge listens, to measure the cost of judging. */
extern bool o2_judged_deaf;

/* Call o2_judged_aside: a defect that is deliberate in the ends must not affect the judge. */
void o2_judged_put_aside(bool aside);

struct o2_judged {
	uint64_t connections, messages, writes;
};

/* Totals of the closed judges of this process and of its ends' processes. */
extern struct o2_judged o2_judged_all;
void o2_judged_add(struct o2_judged *sum, const struct o2_judged *one);

/* Report a finding as judge/RULE, which fails the case; a note does not, unless it is asked for by name. */
void o2_judged_fail(struct o2_report *report, const struct o2_judge_finding *finding);

/* The first rule broken, for callers without a report; NULL: none.  Notes do not count.  error: the details. */
struct o2_judged_first {
	const char *broken;
	struct o2_error error;
};

void o2_judged_keep(struct o2_judged_first *first, const struct o2_judge_finding *finding);
/* Return ->broken and reset it; *error is set only if a rule was broken. */
const char *o2_judged_take(struct o2_judged_first *first, struct o2_error *error);

/* The form that a case wants of the messages of an end; the judge takes any. */
struct o2_judged_form {
	bool wanted;
	enum o2_byte_order order;
	enum o2_cksum_flavour flavour;
	uint32_t seen; /* messages in this form */
};

/* Compare a message that the end posts; another form is kept like a rule broken. */
void o2_judged_compare(struct o2_judged_form *form, const struct o2_watched *watched,
		       struct o2_judged_first *first);

/* Options of a judge that leaves timeouts to the properties, which know the settings. */
#define O2_JUDGED_OPTIONS ((struct o2_judge_options){.timeout_ms = 1000000000u})

#endif
