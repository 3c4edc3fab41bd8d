/* SPDX-License-Identifier: MIT */
#ifndef O2_CLI_JUDGE_REPORT_H
#define O2_CLI_JUDGE_REPORT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/links.h"
#include "judge/judge.h"

/*
 * The findings of a judge, gathered: one row for each rule that a node has broken towards another.
 * Source: docs/judge.md, "The command".
 */

#define O2_JUDGE_ROWS_MAX 256u

struct o2_judge_row {
	enum o2_judge_rule_id rule;
	const char *wire_rule;	    /* message/wire: the codec's; else NULL */
	uint64_t who_nid, peer_nid; /* 0: not known */
	uint64_t times;
	bool unproven;
	/* The first time. */
	uint64_t number, time_ns, earlier;
	struct o2_error error;
};

struct o2_judge_report {
	uint32_t count;
	struct o2_judge_row row[O2_JUDGE_ROWS_MAX];
	uint64_t more;			     /* findings for which there was no row */
	uint64_t times[O2_JUDGE_SEVERITIES]; /* what is not proven is a note */
};

/* An o2_judge_sink: context is the report. */
void o2_judge_report_add(void *context, const struct o2_judge_finding *finding);

/* What a capture was made of, as far as it could be seen. */
struct o2_judge_seen_totals {
	struct o2_walk_totals walk;
	struct o2_links_totals links;
};

/* As text, the severest first. */
void o2_judge_report_print(const struct o2_judge_report *report, const struct o2_judge_seen_totals *totals,
			   FILE *out);

/* As the form o2ref/judge/output.  NULL when memory runs out; the caller owns it. */
json_t *o2_judge_report_to_json(const struct o2_judge_report *report, const char *file,
				const struct o2_judge_seen_totals *totals);

#endif
