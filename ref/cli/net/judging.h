/* SPDX-License-Identifier: MIT */
#ifndef O2_CLI_NET_JUDGING_H
#define O2_CLI_NET_JUDGING_H

#include <jansson.h>

#include "cli/net/options.h"
#include "judge/end/end_judge.h"

/*
 * --judge: tells the judge what our end sends and receives.  Each finding is a line on stderr.
 * Source: docs/judge.md, "At an end of ours".
 */

struct o2_net_judging;

/* options: those of the command.  Returns NULL, after a line on stderr, if there is not enough memory. */
struct o2_net_judging *o2_net_judging_new(const struct o2_net_options *options);
/*
 * The same, but findings go to `sink`, and nothing is printed.  It is ended with o2_net_judging_free, which
 * accepts NULL.
 */
struct o2_net_judging *o2_net_judging_tell(const struct o2_net_options *options, o2_judge_sink sink,
					   void *context);
void o2_net_judging_free(struct o2_net_judging *judging);

/* The judge of our end. */
const struct o2_end_judge *o2_net_judging_end_judge(const struct o2_net_judging *judging);

/* The watch for an interface's configuration, which tells the judge; NULL for NULL. */
const struct o2_watch *o2_net_judging_watch(const struct o2_net_judging *judging);

/* The findings so far.  NULL when memory runs out. */
json_t *o2_net_judging_to_json(const struct o2_net_judging *judging);

/* Keep the command's JSON object (NULL: memory ran out), now owned: connections that end may add findings. */
void o2_net_judging_keep(struct o2_net_judging *judging, json_t *object);

/*
 * End the judging: print the totals, or the object that was kept with the findings, and free.  May be NULL.  Returns the command's
 * exit status, at least O2_CLI_REFUSED if a rule that must hold was broken, or if memory ran out, so that not
 * all was heard (which this reports).
 */
int o2_net_judging_end(struct o2_net_judging *judging, int status);

#endif
