/* SPDX-License-Identifier: MIT */
#ifndef O2_CLI_NET_JUDGING_H
#define O2_CLI_NET_JUDGING_H

#include <jansson.h>

#include "cli/net/options.h"
#include "judge/end/end_judge.h"

/*
 * --judge: what our end sends and receives, told to the judge.  Each finding is a line on stderr.
 * Source: docs/judge.md, "At an end of ours".
 */

struct o2_net_judging;

/* options: those of the command.  NULL, and has complained: not enough memory. */
struct o2_net_judging *o2_net_judging_new(const struct o2_net_options *options);
/*
 * The same, with findings told to sink instead of people, who gets nothing printed: to be ended by
 * o2_net_judging_free, which may be told NULL.
 */
struct o2_net_judging *o2_net_judging_tell(const struct o2_net_options *options, o2_judge_sink sink,
					   void *context);
void o2_net_judging_free(struct o2_net_judging *judging);

/* What hears it. */
const struct o2_end_judge *o2_net_judging_end_judge(const struct o2_net_judging *judging);

/* For the configuration of an interface; NULL for NULL. */
const struct o2_watch *o2_net_judging_watch(const struct o2_net_judging *judging);

/* What was found so far, for the command's own form.  NULL when memory runs out. */
json_t *o2_net_judging_to_json(const struct o2_net_judging *judging);

/*
 * Nothing more will be heard: say what was, unless options want JSON, and free.  May be NULL.  Returns the
 * command's exit status, which is O2_CLI_REFUSED at least if a rule was broken that must hold, or memory ran
 * out, so that not all was heard: that is said.
 */
int o2_net_judging_end(struct o2_net_judging *judging, int status);

#endif
