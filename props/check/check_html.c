/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/markup.h"
#include "props/check/check.h"
#include "props/check/check_bytes.h"
#include "props/check/check_view.h"
#include "props/explain/explain.h"

/* A result as one HTML page without scripts or other files, to attach to a review. */

#define LOOK_AHEAD 64u /* how many lines ahead to search the other side for a line */

static const char style[] =
	"body{font:15px/1.5 sans-serif;margin:2em auto;max-width:75em;padding:0 "
	"1em;color:#222;background:#fff}table{border-collapse:collapse}td,th{border:1px solid "
	"#ccc;padding:.3em "
	".7em;text-align:left;vertical-align:top}th{white-space:nowrap}.name{white-space:normal;overflow-"
	"wrap:anywhere}.values td+td{overflow-wrap:anywhere}table{margin:.7em "
	"0}pre{background:#f6f6f6;padding:.7em;font-size:13px;line-height:1.35;margin:0;white-space:pre-wrap;"
	"overflow-wrap:anywhere}code{overflow-wrap:anywhere}.ok{background:#e4f5e4}.bad{background:#fbe3e3}."
	"none{color:#666}.sides{width:100%;table-layout:fixed;font:13px/1.35 monospace}.sides "
	"td{white-space:pre-wrap;overflow-wrap:anywhere;border-width:0 1px;padding:0 "
	".5em;background:#f6f6f6}.sides .mark,.bytes "
	".mark{background:#ffd7d7;font-weight:bold}h1,h2,h3,h4{overflow-wrap:anywhere}h3 "
	"code{font-size:1.1em}.tag{border-radius:.3em;padding:.1em "
	".5em;color:#fff;background:#b22}.tag.soft{background:#976400}.holds{max-width:55em}figure{margin:."
	"7em 0;overflow-x:auto}figcaption{position:sticky;left:0}figure "
	"svg{width:100%;min-width:60em;height:auto;overflow:hidden}.cause{border-top:3px solid "
	"#ccc;margin-top:2em;break-before:page}.also{margin-left:1.5em}@media(max-width:30em){body{padding:0 "
	".4em}td,th{padding:.3em .4em}.also{margin-left:.5em}}";

/* The decoded answer as text, one member per line. */
static char *lines_of(const json_t *answer)
{
	return json_dumps(answer, JSON_INDENT(1) | JSON_ENCODE_ANY);
}

static size_t line_bytes(const char *text)
{
	const char *end = strchr(text, '\n');

	return end == NULL ? strlen(text) : (size_t)(end - text);
}

static const char *next_line(const char *text)
{
	const size_t n = line_bytes(text);

	return text + n + (text[n] == '\n');
}

static bool same_line(const char *a, const char *b)
{
	const size_t n = line_bytes(a);

	return n == line_bytes(b) && memcmp(a, b, n) == 0;
}

/* How many lines ahead the other text has this line; 0: not among the next LOOK_AHEAD. */
static uint32_t lines_to(const char *text, const char *line)
{
	uint32_t n = 0;

	for (; *text != '\0' && n < LOOK_AHEAD; text = next_line(text), n++)
		if (same_line(text, line))
			return n;
	return 0;
}

static const char *put_line(const char *text, bool differs, FILE *out)
{
	fputs(differs ? "<td class=\"mark\">" : "<td>", out);
	o2_markup_text(text, line_bytes(text), out);
	fputs("</td>", out);
	return next_line(text);
}

/* Write both answers side by side: equal lines in one row, other lines beside an empty cell. */
static void put_rows(const char *a, const char *b, FILE *out)
{
	while (*a != '\0' || *b != '\0') {
		const bool same = *a != '\0' && *b != '\0' && same_line(a, b);
		const uint32_t b_behind = *a == '\0' || same ? 0 : lines_to(b, a);
		const uint32_t a_behind = *b == '\0' || same ? 0 : lines_to(a, b);

		fputs("<tr>", out);
		if (*a != '\0' && (b_behind == 0 || (a_behind > 0 && a_behind <= b_behind)))
			a = put_line(a, !same, out);
		else
			fputs("<td></td>", out);
		if (*b != '\0' && (same || a_behind == 0 || (b_behind > 0 && b_behind < a_behind)))
			b = put_line(b, !same, out);
		else
			fputs("<td></td>", out);
		fputs("</tr>\n", out);
	}
}

static void put_sides(const json_t *finding, FILE *out)
{
	char *reference = lines_of(json_object_get(finding, "reference"));
	char *implementation = lines_of(json_object_get(finding, "implementation"));

	if (reference != NULL && implementation != NULL) {
		fputs("<table class=\"sides\"><tr><th>reference</th><th>implementation</th></tr>\n", out);
		put_rows(reference, implementation, out);
		fputs("</table>\n", out);
	}
	free(reference);
	free(implementation);
}

/* Write the bytes of messages in the question and the answers. */
static void put_bytes(const json_t *finding, FILE *out)
{
	o2_check_put_bytes(json_object_get(finding, "question"), NULL, out);
	o2_check_put_bytes(json_object_get(finding, "reference"), json_object_get(finding, "implementation"),
			   out);
}

static void put_question(const json_t *finding, FILE *out)
{
	char *text = lines_of(json_object_get(finding, "question"));

	o2_markup(out, "<details open><summary>question</summary><pre>%s</pre></details>\n",
		  text == NULL ? "" : text);
	free(text);
}

/* Write the picture unescaped: it comes from o2ref explain. */
static void put_picture(const json_t *finding, FILE *out)
{
	const char *picture = json_string_value(json_object_get(finding, "picture"));
	const bool memory = strcmp(o2_view_text(finding, "picture_of"), "memory") == 0;

	const char *strip = json_string_value(json_object_get(finding, "strip"));
	const char *life = json_string_value(json_object_get(finding, "life"));
	const char *answer = json_string_value(json_object_get(finding, "answer_picture"));

	if (strip != NULL)
		fprintf(out, "<figure>%s</figure>\n", strip);
	if (life != NULL)
		fprintf(out, "<figure>%s</figure>\n", life);
	if (answer != NULL)
		fprintf(out,
			"<figure><figcaption>The implementation's answer%s, "
			"drawn</figcaption>\n%s\n</figure>\n",
			memory ? " in a transfer in which all else is the reference's" : "", answer);
	if (picture != NULL)
		fprintf(out,
			"<details><summary>What the reference does%s, drawn</summary>\n<figure>%s</figure>\n"
			"</details>\n",
			memory ? " with this memory as one side of a transfer" : "", picture);
}

static void put_head(const json_t *finding, const char *level, FILE *out)
{
	const char *known = json_string_value(json_object_get(finding, "known"));
	const char *since = o2_view_since(finding);

	fprintf(out, "<%s><span class=\"tag%s\">", level, o2_view_flag(finding, "counts") ? "" : " soft");
	o2_markup(out, "%s</span> ", known != NULL ? "known" : o2_view_text(finding, "severity"));
	if (since[0] != '\0')
		o2_markup(out, "<span class=\"tag soft\">%s</span> ", since);
	o2_markup(out, "<code>%s</code>", o2_view_text(finding, "check"));
	fprintf(out, "</%s>\n", level);
	o2_markup(out,
		  "<p class=\"holds\">%s</p>\n"
		  "<table "
		  "class=\"values\"><tr><th>field</th><th>reference</th><th>implementation</th></"
		  "tr><tr><td>%s</td><td>%s</td><td class=\"bad\">%s</td></tr></table>\n",
		  o2_view_text(finding, "holds"), o2_view_text(finding, "field"),
		  o2_view_text(finding, "expected"), o2_view_text(finding, "found"));
}

static void put_history(const json_t *finding, FILE *out)
{
	const char *known = json_string_value(json_object_get(finding, "known"));
	const json_t *call;
	size_t i;

	fputs("<p>", out);
	json_array_foreach(json_object_get(finding, "backtrace"), i, call)
		o2_markup(out, "%s <code>%s</code><br>", i == 0 ? "In" : "Called by",
			  json_string_value(call));
	if (known != NULL)
		o2_markup(out, "Known: %s<br>", known);
	fprintf(out, "Seen in %" PRIu64 " cases of ", o2_view_number(finding, "seen"));
	o2_markup(out, "%s, first in %s", o2_view_text(finding, "stage"), o2_view_text(finding, "origin"));
	o2_view_shrunk(finding, out);
	o2_markup(out, ".<br>Replay: <code>%s</code>", o2_view_text(finding, "replay"));
	if (o2_view_text(finding, "reproducer")[0] != '\0')
		o2_markup(out, "<br>As a program in C: <code>%s</code>", o2_view_text(finding, "reproducer"));
	fputs("</p>\n", out);
}

static void put_finding(const json_t *finding, FILE *out)
{
	put_history(finding, out);
	put_picture(finding, out);
	put_sides(finding, out);
	put_question(finding, out);
	put_bytes(finding, out);
}

/* Write a cause: the finding that stands for it in full, the others folded. */
static void put_cause(const json_t *findings, uint64_t cause, size_t page, FILE *out)
{
	const json_t *finding;
	size_t i;

	fprintf(out, "<section class=\"cause\" id=\"i%zu-c%" PRIu64 "\">\n", page, cause);
	json_array_foreach(findings, i, finding) {
		if (o2_view_number(finding, "cause") != cause)
			continue;
		if (o2_view_flag(finding, "stands_for_it")) {
			put_head(finding, "h3", out);
			put_finding(finding, out);
			continue;
		}
		fputs("<div class=\"also\">\n", out);
		put_head(finding, "h4", out);
		fputs("<details><summary>this one in full</summary>\n", out);
		put_finding(finding, out);
		fputs("</details></div>\n", out);
	}
	fputs("</section>\n", out);
}

static void put_cell(const json_t *stage, FILE *out)
{
	const bool answered = o2_view_number(stage, "asked") > o2_view_number(stage, "not_implemented");
	char cell[O2_VIEW_CELL_BYTES];

	o2_view_cell(stage, cell);
	o2_markup(out, "<td class=\"%s\">%s</td>",
		  o2_view_number(stage, "differed") > 0 ? "bad"
		  : answered				? "ok"
							: "none",
		  cell);
}

static void put_table(const json_t *list, FILE *out)
{
	const json_t *first = json_object_get(json_array_get(list, 0), "stages");
	const json_t *one;
	size_t i;

	fputs("<table><tr><th>stage</th>", out);
	json_array_foreach(list, i, one)
		o2_markup(out, "<th class=\"name\">%s</th>", o2_view_text(one, "name"));
	fputs("</tr>\n", out);
	for (size_t k = 0; k < json_array_size(first); k++) {
		o2_markup(out, "<tr><td>%s</td>", o2_view_text(json_array_get(first, k), "stage"));
		json_array_foreach(list, i, one)
			put_cell(json_array_get(json_object_get(one, "stages"), k), out);
		fputs("</tr>\n", out);
	}
	fputs("</table>\n", out);
}

/* Write the index rows of one stage and one severity. */
static void put_index_rows(const json_t *findings, const char *stage, bool counts, size_t page, FILE *out)
{
	const json_t *finding;
	size_t i;

	json_array_foreach(findings, i, finding) {
		if (!o2_view_flag(finding, "stands_for_it") || o2_view_flag(finding, "counts") != counts ||
		    strcmp(o2_view_text(finding, "stage"), stage) != 0)
			continue;
		o2_markup(out, "<tr><td>%s</td><td>%s</td>", stage,
			  json_is_string(json_object_get(finding, "known"))
				  ? "known"
				  : o2_view_text(finding, "severity"));
		if (o2_view_since(finding)[0] != '\0')
			o2_markup(out, "<td>%s</td>",
				  o2_view_cause_since(findings, o2_view_number(finding, "cause")));
		fprintf(out, "<td><a href=\"#i%zu-c%" PRIu64 "\">", page, o2_view_number(finding, "cause"));
		o2_markup(out, "<code>%s</code></a>, %s</td>", o2_view_text(finding, "check"),
			  o2_view_text(finding, "reason"));
		fprintf(out, "<td>%" PRIu64 "</td></tr>\n", o2_view_number(finding, "seen"));
	}
}

/* Write the index of findings by stage; in each stage those that count come first. */
static void put_index(const json_t *one, size_t page, FILE *out)
{
	const json_t *findings = json_object_get(one, "findings");
	const bool since = o2_view_since(json_array_get(findings, 0))[0] != '\0';
	const json_t *stage;
	size_t i;

	if (json_array_size(findings) == 0)
		return;
	fprintf(out,
		"<table "
		"class=\"index\"><tr><th>stage</th><th>severity</th>%s<th>cause</th><th>cases</th></tr>\n",
		since ? "<th>since</th>" : "");
	json_array_foreach(json_object_get(one, "stages"), i, stage) {
		put_index_rows(findings, o2_view_text(stage, "stage"), true, page, out);
		put_index_rows(findings, o2_view_text(stage, "stage"), false, page, out);
	}
	fputs("</table>\n", out);
}

static void put_gone(const json_t *one, FILE *out)
{
	const json_t *item;
	size_t i;

	json_array_foreach(json_object_get(one, "gone"), i, item)
		o2_markup(out, "<p>%s: <code>%s</code>, %s, %s.</p>\n",
			  o2_view_flag(item, "asked") ? "Gone" : "Not asked", o2_view_text(item, "check"),
			  o2_view_text(item, "stage"), o2_view_text(item, "reason"));
}

/* page: index of the implementation, to make link targets unique. */
static void put_one(const json_t *one, size_t page, FILE *out)
{
	const json_t *findings = json_object_get(one, "findings");
	const json_t *stale = json_object_get(one, "stale");
	const json_t *item;
	size_t i;

	o2_markup(out, "<h2><bdi>%s%s%s</bdi>: %s</h2>\n", o2_view_text(one, "name"),
		  o2_view_text(one, "label")[0] == '\0' ? "" : ", ", o2_view_text(one, "label"),
		  o2_view_flag(one, "agrees") ? "agrees" : "differs");
	json_array_foreach(stale, i, item)
		o2_markup(out,
			  "<p>Listed as a known difference, and does not occur any more: "
			  "<code>%s</code>.</p>\n",
			  o2_view_text(item, "check"));
	put_gone(one, out);
	put_index(one, page, out);
	for (uint64_t cause = 1; cause <= o2_view_number(one, "causes"); cause++)
		put_cause(findings, cause, page, out);
}

void o2_check_html(const json_t *result, FILE *out)
{
	const json_t *list = json_object_get(result, "implementations");
	const json_t *one;
	size_t i;

	fprintf(out,
		"<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
		"content=\"width=device-width\"><title>o2ref check</title><style>%s</style></head><body>\n",
		style);
	o2_markup(out, "<h1>o2ref check</h1>\n<p>Profile %s, seed %s.</p>\n", o2_view_text(result, "profile"),
		  o2_view_text(result, "seed"));
	/* Browsers take the first of several definitions, and it draws nothing while it is folded. */
	fputs("<svg width=\"0\" height=\"0\" style=\"position:absolute\" aria-hidden=\"true\">", out);
	o2_explain_svg_defs(out);
	fputs("</svg>\n", out);
	put_table(list, out);
	json_array_foreach(list, i, one)
		put_one(one, i, out);
	fputs("</body></html>\n", out);
}
