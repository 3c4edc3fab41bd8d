/* SPDX-License-Identifier: MIT */
#ifndef O2_CLI_LADDER_ROW_H
#define O2_CLI_LADDER_ROW_H

#include "cli/ladder_bytes.h"
#include "cli/ladder_html.h"

/* One event of a ladder as HTML: packet number and time, arrow, bar, bytes, and findings. */

/* The capture that is being written. */
struct o2_ladder_page {
	struct o2_ladder *ladder;
	unsigned int file;
	FILE *out;
	struct o2_ladder_said said; /* by the current event */
	uint64_t gap_place;	    /* events are missing before this one of the connection; 0: none is */
};

void o2_ladder_row_html(struct o2_ladder_page *page, struct o2_ladder_event *event);

/* The worst severity of the findings shown at the event; O2_JUDGE_SEVERITIES: none. */
int o2_ladder_severity(const struct o2_ladder *ladder, const struct o2_ladder_event *event);

#endif
