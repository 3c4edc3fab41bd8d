/* SPDX-License-Identifier: MIT */
#ifndef O2_CLI_JUDGE_SARIF_H
#define O2_CLI_JUDGE_SARIF_H

#include "cli/judge_report.h"

/*
 * What the judge found, as SARIF 2.1.0: one run over all captures, with the table of rules.  Source:
 * docs/judge.md, "For other programs".
 *
 * o2_judge_sarif_begin makes the log, which the caller owns.  NULL is a log for which memory ran out; _add
 * accepts it.  If memory runs out in _add, it frees the log and returns NULL.
 */

json_t *o2_judge_sarif_begin(const char *version);
json_t *o2_judge_sarif_add(json_t *log, const struct o2_judge_result *result);

#endif
