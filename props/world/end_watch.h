/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_END_WATCH_H
#define O2_PROPS_END_WATCH_H

#include "judge/end/end_judge.h"
#include "props/world/judged.h"

/*
 * Judges an end of a case by what it sends and receives, on any device (docs/judge.md, "At an end of ours").
 * Each end has its own watch, because two ends observe the same events in different orders.
 */

struct o2_end_watch;

/*
 * now_ms: the clock of the case, NULL: the machine's.  report: the case's, which a finding fails; NULL: keep
 * the first finding for o2_end_watch_broken.  Returns NULL without memory.
 */
struct o2_end_watch *o2_end_watch_new(const uint64_t *now_ms, struct o2_report *report);
/* Free a watch after its interface was closed; NULL is allowed. */
void o2_end_watch_free(struct o2_end_watch *watch);

/* The hook for the configuration of the interface. */
const struct o2_watch *o2_end_watch_hook(const struct o2_end_watch *watch);

/* The form that the messages of this end must have; the caller may set it. */
struct o2_judged_form *o2_end_watch_form(struct o2_end_watch *watch);

/* The first rule broken since the last call; see o2_judged_take. */
const char *o2_end_watch_broken(struct o2_end_watch *watch, struct o2_error *error);

#endif
