/* SPDX-License-Identifier: MIT */
#ifndef O2_CLI_JUDGE_OUT_H
#define O2_CLI_JUDGE_OUT_H

#include "cli/judge_report.h"

/*
 * The files that `o2ref judge` writes beside its text, each about all captures together.  Source:
 * docs/judge.md, "The page" and "For other programs".
 */

struct o2_judge_out_options {
	const char *html, *junit, *sarif; /* paths; NULL: not wanted */
	uint32_t first_events;		  /* of each capture, on the page */
	char *const *captures;		  /* paths of what is read: none of them is written to */
	uint32_t ncaptures;
};

struct o2_judge_out;

/* Opens the files, and empties them once each of them is known to be nothing but its own.  NULL after a line on stderr. */
struct o2_judge_out *o2_judge_out_open(const struct o2_judge_out_options *options);

/*
 * Another capture, that the judge will hear: each event is told before it is told the judge, and each finding.
 * Returns false when memory runs out.
 */
bool o2_judge_out_begin(struct o2_judge_out *out, struct o2_judge *judge, const struct o2_wire_options *wire);
void o2_judge_out_hear(struct o2_judge_out *out, const struct o2_event *event);
void o2_judge_out_find(struct o2_judge_out *out, const struct o2_judge_finding *finding);

/* A capture has come to its end, or could not be read. */
void o2_judge_out_add(struct o2_judge_out *out, const struct o2_judge_result *result);

/* Returns status, or O2_CLI_USAGE after a line on stderr for each file that could not be written. */
int o2_judge_out_close(struct o2_judge_out *out, int status);

#endif
