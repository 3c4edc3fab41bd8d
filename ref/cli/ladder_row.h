/* SPDX-License-Identifier: MIT */
#ifndef O2_CLI_LADDER_ROW_H
#define O2_CLI_LADDER_ROW_H

#include "cli/ladder_bytes.h"
#include "cli/ladder_html.h"

/* One event of a ladder as HTML: its place, its arrow, its bar, its bytes, and what was found there. */

/* A capture at work. */
struct o2_ladder_page {
	struct o2_ladder *ladder;
	unsigned int file;
	FILE *out;
	struct o2_ladder_said said; /* by the event at hand */
	uint64_t gap_place; /* events of the connection before this one are not all there; 0: they are */
};

void o2_ladder_row_html(struct o2_ladder_page *page, struct o2_ladder_event *event);

/* The severest of the findings that the event shows; O2_JUDGE_SEVERITIES: none. */
int o2_ladder_severity(const struct o2_ladder *ladder, const struct o2_ladder_event *event);

#endif
