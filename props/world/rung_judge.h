/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_RUNG_JUDGE_H
#define O2_PROPS_RUNG_JUDGE_H

#include "props/world/judged.h"

/*
 * Tells connections with both ends in this process to the judge, on any device: each end reports what it
 * posts, including RDMA WRITEs, and a message is posted after everything that it answers (docs/judge.md, "The
 * properties").
 */

struct o2_rung_judge;

/* NULL: no memory.  The judge outlives the interfaces that have its watch. */
struct o2_rung_judge *o2_rung_judge_new(void);
void o2_rung_judge_free(struct o2_rung_judge *judge);
const struct o2_watch *o2_rung_judge_watch(struct o2_rung_judge *judge);

/* Announce a connection; conn[side]: the names of its ends, valid until either is gone.  Returns 0 or -ENOMEM. */
int o2_rung_judge_met(struct o2_rung_judge *judge, const void *const conn[O2_JUDGE_SIDES],
		      const struct o2_judge_terms *terms);

/* The form that messages of all connections must have; the caller may set it. */
struct o2_judged_form *o2_rung_judge_form(struct o2_rung_judge *judge);

/* The first rule broken since the last call, or NULL; notes do not count.  *error: the details. */
const char *o2_rung_judge_broken(struct o2_rung_judge *judge, struct o2_error *error);

#endif
