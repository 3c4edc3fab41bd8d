/* SPDX-License-Identifier: MIT */
#ifndef O2_CLI_JUDGE_JUNIT_H
#define O2_CLI_JUDGE_JUNIT_H

#include "cli/judge_report.h"

/*
 * What the judge found, as JUnit: a suite for each capture, a case for each rule.  Source: docs/judge.md,
 * "For other programs".  Write errors are left in the stream's error indicator.
 */

void o2_judge_junit_begin(FILE *out);
void o2_judge_junit_add(const struct o2_judge_result *result, FILE *out);
void o2_judge_junit_end(FILE *out);

#endif
