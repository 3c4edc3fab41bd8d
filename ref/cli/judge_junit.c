/* SPDX-License-Identifier: MIT */
#include "cli/judge_junit.h"

#include <inttypes.h>

#include "base/markup.h"

static void put_row(const struct o2_judge_row *row, FILE *out)
{
	const struct o2_judge_rule *rule = &o2_judge_rules[row->rule];
	char where[O2_JUDGE_ROW_TEXT_BYTES], what[O2_JUDGE_ROW_TEXT_BYTES];

	o2_judge_row_where(row, where);
	o2_judge_what(row->wire_rule, &row->error, what);
	o2_markup(out, "%s\n%s%s", where, what, what[0] != '\0' ? "\n" : "");
	if (row->unproven)
		o2_markup(out, "%s\n", O2_JUDGE_UNPROVEN_TEXT);
	o2_markup(out, "rule: %s (%s)\n", rule->sentence, rule->source);
}

/* Put those rows of a rule that are notes, or those that are not.  Returns how many there are. */
static uint32_t put_rows(const struct o2_judge_report *report, enum o2_judge_rule_id rule, bool notes,
			 FILE *out)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < report->count; i++) {
		const struct o2_judge_row *row = &report->row[i];
		const bool is_note = o2_judge_row_severity(row) == O2_JUDGE_NOTE;

		if (row->rule != rule || is_note != notes)
			continue;
		if (count++ == 0 && notes) {
			fputs("<system-out>", out);
		} else if (count == 1) {
			char where[O2_JUDGE_ROW_TEXT_BYTES], what[O2_JUDGE_ROW_TEXT_BYTES];

			o2_judge_row_where(row, where);
			o2_judge_what(row->wire_rule, &row->error, what);
			o2_markup(out, "<failure type=\"%s\" message=\"%s: %s\">",
				  o2_judge_severity_names[o2_judge_row_severity(row)], where,
				  what[0] != '\0' ? what : o2_judge_rules[rule].sentence);
		}
		put_row(row, out);
	}
	if (count != 0)
		fputs(notes ? "</system-out>" : "</failure>", out);
	return count;
}

static bool failed(const struct o2_judge_report *report, enum o2_judge_rule_id rule)
{
	for (uint32_t i = 0; i < report->count; i++)
		if (report->row[i].rule == rule && o2_judge_row_severity(&report->row[i]) != O2_JUDGE_NOTE)
			return true;
	return false;
}

/* Findings that have no row in the report may be of any rule: the case of the capture has their number. */
static void put_more(const struct o2_judge_report *report, FILE *out)
{
	const enum o2_judge_severity severity = o2_judge_report_rest(report);

	if (report->more == 0)
		return;
	if (severity < O2_JUDGE_NOTE)
		fprintf(out, "<failure type=\"%s\" message=\"%" PRIu64 " " O2_JUDGE_MORE_TEXT "\"/>",
			o2_judge_severity_names[severity], report->more);
	else
		fprintf(out, "<system-out>%" PRIu64 " " O2_JUDGE_MORE_TEXT "</system-out>", report->more);
}

void o2_judge_junit_begin(FILE *out)
{
	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"o2ref judge\">\n", out);
}

void o2_judge_junit_add(const struct o2_judge_result *result, FILE *out)
{
	uint32_t failures = o2_judge_report_rest(result->report) < O2_JUDGE_NOTE;

	for (int rule = 0; rule < O2_JUDGE_RULES; rule++)
		failures += failed(result->report, (enum o2_judge_rule_id)rule);
	o2_markup(out, " <testsuite name=\"%s\"", result->name);
	fprintf(out, " tests=\"%u\" failures=\"%" PRIu32 "\" errors=\"%u\" skipped=\"0\">\n",
		O2_JUDGE_RULES + 1u, failures, result->why != NULL);
	fputs("  <testcase classname=\"o2ref.judge\" name=\"capture\">", out);
	if (result->why != NULL)
		o2_markup(out, "<error type=\"capture\" message=\"%s\"/>", result->why);
	put_more(result->report, out);
	fputs("</testcase>\n", out);
	for (int id = 0; id < O2_JUDGE_RULES; id++) {
		const enum o2_judge_rule_id rule = (enum o2_judge_rule_id)id;

		o2_markup(out, "  <testcase classname=\"o2ref.judge\" name=\"%s\">", o2_judge_rules[id].id);
		put_rows(result->report, rule, false, out);
		put_rows(result->report, rule, true, out);
		fputs("</testcase>\n", out);
	}
	fputs(" </testsuite>\n", out);
}

void o2_judge_junit_end(FILE *out)
{
	fputs("</testsuites>\n", out);
}
