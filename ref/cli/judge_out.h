/* SPDX-License-Identifier: MIT */
#ifndef O2_CLI_JUDGE_OUT_H
#define O2_CLI_JUDGE_OUT_H

#include "cli/judge_report.h"

/*
 * The files that `o2ref judge` writes besides its text.  Each file covers all captures.  Source:
 * docs/judge.md, "The page" and "For other programs".
 */

struct o2_judge_out_options {
	const char *html, *junit, *sarif; /* paths; NULL: not wanted */
	uint32_t first_events;		  /* how many of each capture's first events the page shows */
	char *const *captures;		  /* paths of the input, which must not be overwritten */
	uint32_t ncaptures;
};

struct o2_judge_out;

/* Open and empty the files, unless one is a capture or another output.  Returns NULL after a line on stderr. */
struct o2_judge_out *o2_judge_out_open(const struct o2_judge_out_options *options);

/*
 * Begin a capture, which `judge` will hear.  Call _hear for each event before the judge is told of it, and
 * _find for each finding.  Returns false when memory runs out.
 */
bool o2_judge_out_begin(struct o2_judge_out *out, struct o2_judge *judge, const struct o2_wire_options *wire);
void o2_judge_out_hear(struct o2_judge_out *out, const struct o2_event *event);
void o2_judge_out_find(struct o2_judge_out *out, const struct o2_judge_finding *finding);

/* Add the result of a capture that has ended or could not be read. */
void o2_judge_out_add(struct o2_judge_out *out, const struct o2_judge_result *result);

/* Returns status, or O2_CLI_USAGE after a line on stderr for each file that could not be written. */
int o2_judge_out_close(struct o2_judge_out *out, int status);

#endif
