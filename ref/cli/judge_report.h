/* SPDX-License-Identifier: MIT */
#ifndef O2_CLI_JUDGE_REPORT_H
#define O2_CLI_JUDGE_REPORT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/links.h"
#include "judge/judge.h"
#include "wire/nid.h"

/*
 * The findings of a judge: one row for each rule that a node has broken towards another.
 * Source: docs/judge.md, "The command".
 */

#define O2_JUDGE_ROWS_MAX 256u

struct o2_judge_row {
	enum o2_judge_rule_id rule;
	const char *wire_rule;	    /* rule message/wire: the codec's rule; else NULL */
	uint64_t who_nid, peer_nid; /* 0: not known */
	uint64_t conn;		    /* of the first time: the connection's id */
	uint64_t times;
	bool unproven;
	/* Of the first time: packet number, time, earlier packet that it refers to (0: none). */
	uint64_t number, time_ns, earlier;
	struct o2_error error;
};

struct o2_judge_report {
	uint32_t count;
	struct o2_judge_row row[O2_JUDGE_ROWS_MAX];
	uint64_t more;			     /* findings for which no row was left */
	enum o2_judge_severity rest;	     /* the severest of those, if there are any */
	uint64_t times[O2_JUDGE_SEVERITIES]; /* by severity; unproven ones are notes */
};

/* An o2_judge_sink: context is the report. */
void o2_judge_report_add(void *context, const struct o2_judge_finding *finding);

/* The severest of the findings without a row; O2_JUDGE_SEVERITIES: all have one. */
enum o2_judge_severity o2_judge_report_rest(const struct o2_judge_report *report);

/* A finding as a row of its own, and whether two rows belong in one row of a report. */
struct o2_judge_row o2_judge_row_of(const struct o2_judge_finding *finding);
bool o2_judge_row_same(const struct o2_judge_row *a, const struct o2_judge_row *b);

/* The severity of the row's rule; an unproven finding is a note. */
enum o2_judge_severity o2_judge_row_severity(const struct o2_judge_row *row);

/* Parts of reports as text: a NID; who broke a rule in which packet; what was seen there ("": nothing). */
#define O2_JUDGE_ROW_TEXT_BYTES 320u
#define O2_JUDGE_UNPROVEN_TEXT	"not proven: packets may be missing that would show otherwise"
#define O2_JUDGE_MORE_TEXT	"more findings did not fit into this report"
void o2_judge_nid_text(uint64_t nid, char text[O2_NID_TEXT_BYTES]);
/* A finding as one line, without a newline. */
void o2_judge_row_line(const struct o2_judge_row *row, FILE *out);
void o2_judge_row_where(const struct o2_judge_row *row, char text[O2_JUDGE_ROW_TEXT_BYTES]);
/* The rule's sentence with its source, and whether the finding is proven. */
void o2_judge_row_rule(const struct o2_judge_row *row, char text[O2_JUDGE_ROW_TEXT_BYTES]);
void o2_judge_what(const char *wire_rule, const struct o2_error *error, char text[O2_JUDGE_ROW_TEXT_BYTES]);

/* What a capture consists of, as far as it could be seen. */
struct o2_judge_seen_totals {
	struct o2_walk_totals walk;
	struct o2_links_totals links;
};

/* The first lines of the text: what was seen, and what was not. */
void o2_judge_seen_print(const struct o2_judge_seen_totals *totals, FILE *out);

/* The report as text, the severest findings first. */
void o2_judge_report_print(const struct o2_judge_report *report, const struct o2_judge_seen_totals *totals,
			   FILE *out);

/* The result of one capture, from which text, JSON and files are made. */
struct o2_judge_result {
	const char *name; /* path, or "standard input" */
	const struct o2_judge_report *report;
	const struct o2_judge_seen_totals *totals;
	const char *why; /* why it was not judged to its end; NULL: it was */
};

/* One row as it is in o2ref/judge/output.  All of these: NULL when memory runs out; the caller owns the object. */
json_t *o2_judge_row_to_json(const struct o2_judge_row *row);
/* The same row as the form o2ref/judge/finding. */
json_t *o2_judge_finding_to_json(const struct o2_judge_row *row);
/* All rows of a report, as an array; a result as the form o2ref/judge/output. */
json_t *o2_judge_rows_to_json(const struct o2_judge_report *report);
json_t *o2_judge_report_to_json(const struct o2_judge_result *result);

#endif
