/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain.h"
#include "props/check/check.h"
#include "props/check/check_view.h"

/* A result as a table and a list of findings, for a terminal. */

#define NAME_BYTES     24u
#define QUESTION_BYTES 600u /* bytes of a question that are shown */

static const char *colour(bool color, const char *code)
{
	return color ? code : "";
}

#define RED    "\033[31m"
#define GREEN  "\033[32m"
#define YELLOW "\033[33m"
#define BOLD   "\033[1m"
#define PLAIN  "\033[0m"

static void print_cell(const json_t *stage, int width, bool color, FILE *out)
{
	const uint64_t asked = o2_view_number(stage, "asked");
	char cell[O2_VIEW_CELL_BYTES];

	o2_view_cell(stage, cell);
	fprintf(out, "  %s%-*s%s",
		colour(color, o2_view_number(stage, "differed") > 0		 ? RED
			      : asked > o2_view_number(stage, "not_implemented") ? GREEN
										 : YELLOW),
		width, cell, colour(color, PLAIN));
}

/* The width of an implementation's column, in which the longest cell has room. */
static int width_of(const json_t *one)
{
	const json_t *stage;
	char cell[O2_VIEW_CELL_BYTES];
	size_t width = NAME_BYTES, i;

	json_array_foreach(json_object_get(one, "stages"), i, stage) {
		o2_view_cell(stage, cell);
		width = strlen(cell) > width ? strlen(cell) : width;
	}
	return (int)width;
}

/* Shorten a long name to its end, which tells more than its beginning. */
static const char *short_name(const char *name)
{
	const size_t length = strlen(name);
	const char *at = length > NAME_BYTES ? name + length - NAME_BYTES : name;

	/* Not from inside a character of several bytes. */
	while ((*at & 0xc0) == 0x80)
		at++;
	return at;
}

/* Print stages as rows and implementations as columns. */
static void print_table(const json_t *list, bool color, FILE *out)
{
	const json_t *first = json_object_get(json_array_get(list, 0), "stages");
	const json_t *one;
	size_t i, k;

	fprintf(out, "%-12s", "");
	json_array_foreach(list, i, one)
		fprintf(out, "  %-*s", width_of(one), short_name(o2_view_text(one, "name")));
	fputc('\n', out);
	for (k = 0; k < json_array_size(first); k++) {
		fprintf(out, "%-12s", o2_view_text(json_array_get(first, k), "stage"));
		json_array_foreach(list, i, one)
			print_cell(json_array_get(json_object_get(one, "stages"), k), width_of(one), color,
				   out);
		fputc('\n', out);
	}
}

static void print_question(const json_t *finding, FILE *out)
{
	char *text = json_dumps(json_object_get(finding, "question"), JSON_COMPACT | JSON_ENCODE_ANY);

	if (text == NULL)
		return;
	fprintf(out, "    question   %.*s%s\n", (int)QUESTION_BYTES, text,
		strlen(text) > QUESTION_BYTES ? " ..." : "");
	free(text);
}

static void print_finding(const json_t *finding, bool color, FILE *out)
{
	const bool counts = o2_view_flag(finding, "counts");
	const char *known = json_string_value(json_object_get(finding, "known"));
	const bool since = o2_view_since(finding)[0] != '\0';
	const json_t *call;
	size_t i;

	fprintf(out, "\n  %s%s%s  %s%s%s  (%s%s%s, seen in %" PRIu64 " cases)\n",
		colour(color, counts ? RED : YELLOW),
		known != NULL ? "known" : o2_view_text(finding, "severity"), colour(color, PLAIN),
		colour(color, BOLD), o2_view_text(finding, "check"), colour(color, PLAIN),
		o2_view_since(finding), since ? ", " : "", o2_view_text(finding, "stage"),
		o2_view_number(finding, "seen"));
	fprintf(out, "    holds      %s\n", o2_view_text(finding, "holds"));
	fprintf(out, "    %s: reference %s, implementation %s\n", o2_view_text(finding, "field"),
		o2_view_text(finding, "expected"), o2_view_text(finding, "found"));
	json_array_foreach(json_object_get(finding, "backtrace"), i, call)
		fprintf(out, "    %-10s %s\n", i == 0 ? "in" : "called by", json_string_value(call));
	if (known != NULL)
		fprintf(out, "    known      %s\n", known);
	fprintf(out, "    first      %s, answer %" PRIu64, o2_view_text(finding, "origin"),
		o2_view_number(json_object_get(finding, "first_seen"), "answers"));
	o2_view_shrunk(finding, out);
	fputc('\n', out);
	print_question(finding, out);
	fprintf(out, "    replay     %s\n", o2_view_text(finding, "replay"));
	if (o2_view_text(finding, "reproducer")[0] != '\0')
		fprintf(out, "    in C       %s\n", o2_view_text(finding, "reproducer"));
}

/* Print one more difference with the same cause. */
static void print_further(const json_t *finding, FILE *out)
{
	const char *since = o2_view_since(finding);

	fprintf(out, "    also       %s, %s: reference %s, implementation %s (%s%s%" PRIu64 " cases)\n",
		o2_view_text(finding, "check"), o2_view_text(finding, "field"),
		o2_view_text(finding, "expected"), o2_view_text(finding, "found"), since,
		since[0] == '\0' ? "" : ", ", o2_view_number(finding, "seen"));
	fprintf(out, "      replay   %s\n", o2_view_text(finding, "replay"));
}

/* Print what the profile does not demand: whoever relies on it should know. */
static void print_accepted(const json_t *one, FILE *out)
{
	const json_t *accepted = json_object_get(one, "accepted");
	const json_t *broken = json_object_get(accepted, "broken");
	const json_t *item;
	size_t i;

	if (o2_view_number(accepted, "not_asked_for") == 0)
		return;
	fprintf(out, "\n  note: %" PRIu64 " checks are not asked for by this profile, %zu of them broken%s",
		o2_view_number(accepted, "not_asked_for"), json_array_size(broken),
		json_array_size(broken) > 0 ? ":" : "");
	json_array_foreach(broken, i, item)
		fprintf(out, "%s %s (%" PRIu64 " cases)", i == 0 ? "" : ",", o2_view_text(item, "check"),
			o2_view_number(item, "seen"));
	if (o2_view_number(accepted, "not_given") > 0)
		fprintf(out, "; %" PRIu64 " questions that no caller gives were not asked",
			o2_view_number(accepted, "not_given"));
	fputc('\n', out);
}

/* Print causes of the earlier result that are gone. */
static void print_gone(const json_t *one, bool color, FILE *out)
{
	const json_t *item;
	size_t i;

	json_array_foreach(json_object_get(one, "gone"), i, item)
		fprintf(out, "\n  %s%s%s  %s  (%s): %s\n", colour(color, GREEN),
			o2_view_flag(item, "asked") ? "gone" : "not asked", colour(color, PLAIN),
			o2_view_text(item, "check"), o2_view_text(item, "stage"),
			o2_view_text(item, "reason"));
}

static void print_since(const json_t *one, const json_t *since, FILE *out)
{
	const json_t *findings = json_object_get(one, "findings");
	const json_t *finding;
	uint64_t fresh = 0, same = 0;
	size_t i;

	if (since == NULL)
		return;
	json_array_foreach(findings, i, finding) {
		if (!o2_view_flag(finding, "stands_for_it"))
			continue;
		if (strcmp(o2_view_cause_since(findings, o2_view_number(finding, "cause")), "new") == 0)
			fresh++;
		else
			same++;
	}
	fprintf(out, "  since %s%s%s: %" PRIu64 " %s new, %" PRIu64 " the same, %zu gone\n",
		o2_view_text(since, "file"), o2_view_text(since, "label")[0] == '\0' ? "" : ", ",
		o2_view_text(since, "label"), fresh, fresh == 1 ? "cause is" : "causes are", same,
		json_array_size(json_object_get(one, "gone")));
}

/* Print how much is not in the list: who mends what is there may meet more. */
static void print_not_kept(const json_t *one, FILE *out)
{
	const json_t *list = json_object_get(one, "not_kept");
	const json_t *item;
	size_t i;

	if (o2_view_number(one, "causes_not_kept") == 0)
		return;
	fprintf(out, "\n  note: %" PRIu64 " %s not kept", o2_view_number(one, "causes_not_kept"),
		o2_view_number(one, "causes_not_kept") == 1 ? "difference has a further reason, which is"
							    : "differences have further reasons, which are");
	json_array_foreach(list, i, item)
		fprintf(out, "%s %s (%s, %" PRIu64 " cases)", i == 0 ? "; of those that count:" : ",",
			o2_view_text(item, "check"), o2_view_text(item, "stage"),
			o2_view_number(item, "seen"));
	fputc('\n', out);
}

static void print_one(const json_t *one, bool several, bool color, FILE *out)
{
	const json_t *findings = json_object_get(one, "findings");
	const json_t *stale = json_object_get(one, "stale");
	const json_t *item;
	size_t i;

	if (several && (json_array_size(findings) > 0 || json_array_size(stale) > 0))
		fprintf(out, "\n%s\n", o2_view_text(one, "name"));
	json_array_foreach(findings, i, item) {
		if (o2_view_flag(item, "stands_for_it"))
			print_finding(item, color, out);
		else
			print_further(item, out);
	}
	json_array_foreach(stale, i, item)
		fprintf(out,
			"\n  %sstale%s  %s is listed as a known difference (%s) and does not occur any "
			"more\n",
			colour(color, RED), colour(color, PLAIN), o2_view_text(item, "check"),
			o2_view_text(item, "reason"));
	print_gone(one, color, out);
	print_not_kept(one, out);
	if (o2_view_number(one, "late") > 0)
		fprintf(out,
			"\n  note: %" PRIu64
			" answers came too late once, and in time when asked for again\n",
			o2_view_number(one, "late"));
	if (o2_view_number(one, "misframed") > 0)
		fprintf(out,
			"\n  note: %" PRIu64
			" answers are not framed rightly; try `o2ref check --selftest -- %s ...`\n",
			o2_view_number(one, "misframed"), o2_view_text(one, "name"));
	if (o2_view_number(one, "unmapped_names") > 0)
		fprintf(out,
			"\n  note: %" PRIu64
			" refusals carry names that no error map knows; only their errno was compared\n",
			o2_view_number(one, "unmapped_names"));
	print_accepted(one, out);
}

static uint64_t asked_by(const json_t *one)
{
	const json_t *stages = json_object_get(one, "stages");
	const json_t *stage;
	uint64_t sum = 0;
	size_t i;

	json_array_foreach(stages, i, stage)
		sum += o2_view_number(stage, "asked") - o2_view_number(stage, "not_implemented");
	return sum;
}

/* Replace control characters in texts of answers, names and files, so that they cannot add lines. */
static void make_plain(json_t *value)
{
	const char *key;
	json_t *item;
	size_t i;

	if (json_is_string(value)) {
		char *text = strdup(json_string_value(value));

		if (text != NULL)
			o2_make_plain(text);
		json_string_set_nocheck(value, text != NULL ? text : "?");
		free(text);
	}
	json_array_foreach(value, i, item)
		make_plain(item);
	json_object_foreach(value, key, item)
		make_plain(item);
}

static void print(const json_t *result, bool color, FILE *out)
{
	const json_t *list = json_object_get(result, "implementations");
	const json_t *one;
	size_t i;

	print_table(list, color, out);
	json_array_foreach(list, i, one)
		print_one(one, json_array_size(list) > 1, color, out);
	fputc('\n', out);
	json_array_foreach(list, i, one) {
		const bool agrees = o2_view_flag(one, "agrees");
		const char *label = o2_view_text(one, "label");
		const size_t count = json_array_size(json_object_get(one, "findings"));
		const uint64_t causes = o2_view_number(one, "causes");
		const double seconds = json_real_value(json_object_get(one, "seconds"));

		fprintf(out,
			"%s%s%s%s: %s%s%s: %zu %s of %" PRIu64 " %s in %" PRIu64
			" answers, %.1f s (profile %s, seed %s)\n",
			o2_view_text(one, "name"), label[0] == '\0' ? "" : " (", label,
			label[0] == '\0' ? "" : ")", colour(color, agrees ? GREEN : RED),
			agrees ? "agrees" : "differs", colour(color, PLAIN), count,
			count == 1 ? "finding" : "findings", causes, causes == 1 ? "cause" : "causes",
			asked_by(one), seconds, o2_view_text(result, "profile"),
			o2_view_text(result, "seed"));
		print_since(one, json_object_get(result, "since"), out);
	}
}

void o2_check_print(const json_t *result, bool color, FILE *out)
{
	json_t *copy = json_deep_copy(result);

	if (copy == NULL) {
		fputs("not enough memory for the text\n", out);
		return;
	}
	make_plain(copy);
	print(copy, color, out);
	json_decref(copy);
}
