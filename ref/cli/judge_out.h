/* SPDX-License-Identifier: MIT */
#ifndef O2_CLI_JUDGE_OUT_H
#define O2_CLI_JUDGE_OUT_H

#include "cli/judge_report.h"

/*
 * The files that `o2ref judge` writes beside its text, each about all captures together.  Source:
 * docs/judge.md, "The page" and "For other programs".
 */

struct o2_judge_out_options {
	const char *junit, *sarif; /* paths; NULL: not wanted */
};

struct o2_judge_out;

/* Opens the files.  NULL after a line on stderr. */
struct o2_judge_out *o2_judge_out_open(const struct o2_judge_out_options *options);

/* A capture has come to its end, or could not be read. */
void o2_judge_out_add(struct o2_judge_out *out, const struct o2_judge_result *result);

/* Returns status, or O2_CLI_USAGE after a line on stderr for each file that could not be written. */
int o2_judge_out_close(struct o2_judge_out *out, int status);

#endif
