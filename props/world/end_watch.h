/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_END_WATCH_H
#define O2_PROPS_END_WATCH_H

#include "judge/end/end_judge.h"
#include "props/world/judged.h"

/*
 * An end of a case, judged by what it sends and receives itself, on any device (docs/judge.md, "At an end of
 * ours").  Each end has a watch of its own: two ends hear the same in another order.
 */

struct o2_end_watch;

/*
 * now_ms: the clock of the case, NULL: the machine's.  report: its own, whose case a finding fails; NULL: the
 * first is kept for o2_end_watch_broken.  NULL: no memory.
 */
struct o2_end_watch *o2_end_watch_new(const uint64_t *now_ms, struct o2_report *report);
/* The interface is closed; may be NULL. */
void o2_end_watch_free(struct o2_end_watch *watch);

/* For the configuration of the interface. */
const struct o2_watch *o2_end_watch_hook(const struct o2_end_watch *watch);

/* The first rule that was broken since the last call, as o2_judged_take has it. */
const char *o2_end_watch_broken(struct o2_end_watch *watch, struct o2_error *error);

struct o2_judged o2_end_watch_judged(const struct o2_end_watch *watch);

#endif
