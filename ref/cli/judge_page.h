/* SPDX-License-Identifier: MIT */
#ifndef O2_CLI_JUDGE_PAGE_H
#define O2_CLI_JUDGE_PAGE_H

#include "cli/judge_report.h"
#include "cli/ladder.h"

/*
 * What the judge found, as one HTML page without scripts or other files: an index of findings, and the
 * ladders of each capture.  Source: docs/judge.md, "The page".
 *
 * The top of the page is known last, so the captures wait in a temporary file.
 */

struct o2_judge_page;

/* NULL with errno: no temporary file, or no memory.  Nothing is written to out before o2_judge_page_end. */
struct o2_judge_page *o2_judge_page_new(FILE *out);

/* ladder: NULL if the capture was not judged. */
void o2_judge_page_add(struct o2_judge_page *page, const struct o2_judge_result *result,
		       struct o2_ladder *ladder);

/* Write and free the page.  Returns false if a part of it is missing; errors of writing are left in `out`. */
bool o2_judge_page_end(struct o2_judge_page *page);

extern const char o2_judge_page_style[];

#endif
