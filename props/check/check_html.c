/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/markup.h"
#include "props/check/check.h"
#include "props/check/check_view.h"

/* A result as one page without scripts or other files: what to attach to a review. */

static const char style[] =
	"body{font:15px/1.5 sans-serif;margin:2em auto;max-width:75em;padding:0 1em;color:#222}"
	"table{border-collapse:collapse}td,th{border:1px solid #ccc;padding:.3em "
	".7em;text-align:left;vertical-align:top}"
	"pre{background:#f6f6f6;padding:.7em;overflow-x:auto;font-size:13px;line-height:1.35;margin:0}"
	".ok{background:#e4f5e4}.bad{background:#fbe3e3}.none{color:#888}"
	".sides{display:grid;grid-template-columns:1fr 1fr;gap:1em}.mark{background:#ffd7d7;font-weight:bold}"
	"h3 code{font-size:1.1em}.tag{border-radius:.3em;padding:.1em .5em;color:#fff;background:#b22}"
	".tag.soft{background:#976400}.holds{max-width:55em}svg{max-width:100%;height:auto}";

/* The answer, decoded, one member a line. */
static char *lines_of(const json_t *answer)
{
	return json_dumps(answer, JSON_INDENT(1) | JSON_ENCODE_ANY);
}

static size_t line_bytes(const char *text)
{
	const char *end = strchr(text, '\n');

	return end == NULL ? strlen(text) : (size_t)(end - text);
}

/* Whether another text has this line at all. */
static bool has_line(const char *text, const char *line, size_t length)
{
	while (*text != '\0') {
		const size_t n = line_bytes(text);

		if (n == length && memcmp(text, line, n) == 0)
			return true;
		text += n + (text[n] == '\n');
	}
	return false;
}

/*
 * One side, with the lines marked that differ: line by line where both have as many, else those that the
 * other side does not have.
 */
static void put_side(const char *title, const char *text, const char *other, bool same_lines, FILE *out)
{
	const char *beside = other;

	o2_markup(out, "<div><b>%s</b><pre>", title);
	while (*text != '\0') {
		const size_t n = line_bytes(text);
		const size_t m = line_bytes(beside);
		const bool differs =
			same_lines ? n != m || memcmp(text, beside, n) != 0 : !has_line(other, text, n);

		fputs(differs ? "<span class=\"mark\">" : "", out);
		o2_markup_text(text, n, out);
		fputs(differs ? "</span>\n" : "\n", out);
		text += n + (text[n] == '\n');
		beside += m + (beside[m] == '\n');
	}
	fputs("</pre></div>\n", out);
}

static size_t count_lines(const char *text)
{
	size_t count = 0;

	for (; *text != '\0'; text++)
		count += *text == '\n';
	return count;
}

static void put_sides(const json_t *finding, FILE *out)
{
	char *reference = lines_of(json_object_get(finding, "reference"));
	char *implementation = lines_of(json_object_get(finding, "implementation"));

	if (reference != NULL && implementation != NULL) {
		const bool same = count_lines(reference) == count_lines(implementation);

		fputs("<div class=\"sides\">\n", out);
		put_side("reference", reference, implementation, same, out);
		put_side("implementation", implementation, reference, same, out);
		fputs("</div>\n", out);
	}
	free(reference);
	free(implementation);
}

static void put_question(const json_t *finding, FILE *out)
{
	char *text = lines_of(json_object_get(finding, "question"));

	o2_markup(out, "<details open><summary>question</summary><pre>%s</pre></details>\n",
		  text == NULL ? "" : text);
	free(text);
}

/* Our own text, drawn by o2ref explain. */
static void put_picture(const json_t *finding, FILE *out)
{
	const char *picture = json_string_value(json_object_get(finding, "picture"));
	const bool memory = strcmp(o2_view_text(finding, "picture_of"), "memory") == 0;

	if (picture != NULL)
		fprintf(out, "<p>What the reference does%s, drawn:</p>\n%s\n",
			memory ? " with this memory as one side of a transfer" : "", picture);
}

static void put_finding(const json_t *finding, size_t page, size_t index, FILE *out)
{
	const char *known = json_string_value(json_object_get(finding, "known"));
	const json_t *call;
	size_t i;

	fprintf(out, "<section id=\"i%zu-f%zu\">", page, index);
	o2_markup(out,
		  "<h3><span class=\"tag%s\">%s</span> <code>%s</code></h3>\n"
		  "<p class=\"holds\">%s</p>\n"
		  "<table><tr><th>field</th><th>reference</th><th>implementation</th></tr>"
		  "<tr><td>%s</td><td>%s</td><td class=\"bad\">%s</td></tr></table>\n<p>",
		  o2_view_flag(finding, "counts") ? "" : " soft",
		  known != NULL ? "known" : o2_view_text(finding, "severity"), o2_view_text(finding, "check"),
		  o2_view_text(finding, "holds"), o2_view_text(finding, "field"),
		  o2_view_text(finding, "expected"), o2_view_text(finding, "found"));
	json_array_foreach(json_object_get(finding, "backtrace"), i, call)
		o2_markup(out, "%s <code>%s</code><br>", i == 0 ? "In" : "Called by",
			  json_string_value(call));
	if (known != NULL)
		o2_markup(out, "Known: %s<br>", known);
	fprintf(out, "Seen in %" PRIu64 " cases of ", o2_view_number(finding, "seen"));
	o2_markup(out, "%s, first in %s", o2_view_text(finding, "stage"), o2_view_text(finding, "origin"));
	o2_view_shrunk(finding, out);
	o2_markup(out, ".<br>Replay: <code>%s</code></p>\n", o2_view_text(finding, "replay"));
	put_question(finding, out);
	put_sides(finding, out);
	put_picture(finding, out);
	fputs("</section>\n", out);
}

static void put_cell(const json_t *stage, FILE *out)
{
	const uint64_t asked = o2_view_number(stage, "asked") - o2_view_number(stage, "not_implemented");
	const uint64_t differed = o2_view_number(stage, "differed");

	if (asked == 0)
		fputs("<td class=\"none\">not implemented</td>", out);
	else if (differed == 0)
		fprintf(out, "<td class=\"ok\">%" PRIu64 " agree</td>", asked);
	else
		fprintf(out, "<td class=\"bad\">%" PRIu64 " of %" PRIu64 " differ</td>", differed, asked);
}

static void put_table(const json_t *list, FILE *out)
{
	const json_t *first = json_object_get(json_array_get(list, 0), "stages");
	const json_t *one;
	size_t i;

	fputs("<table><tr><th>stage</th>", out);
	json_array_foreach(list, i, one)
		o2_markup(out, "<th>%s</th>", o2_view_text(one, "name"));
	fputs("</tr>\n", out);
	for (size_t k = 0; k < json_array_size(first); k++) {
		o2_markup(out, "<tr><td>%s</td>", o2_view_text(json_array_get(first, k), "stage"));
		json_array_foreach(list, i, one)
			put_cell(json_array_get(json_object_get(one, "stages"), k), out);
		fputs("</tr>\n", out);
	}
	fputs("</table>\n", out);
}

/* What there is, by cause. */
static void put_index(const json_t *findings, size_t page, FILE *out)
{
	const json_t *finding;
	size_t i;

	if (json_array_size(findings) == 0)
		return;
	fputs("<table><tr><th>cause</th><th>stage</th><th>severity</th><th>check</th><th>cases</th></tr>\n",
	      out);
	json_array_foreach(findings, i, finding) {
		const bool first = o2_view_flag(finding, "stands_for_it");

		fprintf(out, "<tr><td>");
		if (first)
			fprintf(out, "%" PRIu64, o2_view_number(finding, "cause"));
		o2_markup(out, "</td><td>%s</td><td>%s</td><td>%s", o2_view_text(finding, "stage"),
			  o2_view_text(finding, "severity"), first ? "" : "also ");
		fprintf(out, "<a href=\"#i%zu-f%zu\">", page, i);
		o2_markup(out, "<code>%s</code></a>, %s</td>", o2_view_text(finding, "check"),
			  o2_view_text(finding, "reason"));
		fprintf(out, "<td>%" PRIu64 "</td></tr>\n", o2_view_number(finding, "seen"));
	}
	fputs("</table>\n", out);
}

/* page: index of the implementation, for the names of places. */
static void put_one(const json_t *one, size_t page, FILE *out)
{
	const json_t *findings = json_object_get(one, "findings");
	const json_t *stale = json_object_get(one, "stale");
	const json_t *item;
	size_t i;

	o2_markup(out, "<h2>%s: %s</h2>\n", o2_view_text(one, "name"),
		  o2_view_flag(one, "agrees") ? "agrees" : "differs");
	json_array_foreach(stale, i, item)
		o2_markup(out,
			  "<p>Listed as a known difference, and does not occur any more: "
			  "<code>%s</code>.</p>\n",
			  o2_view_text(item, "check"));
	put_index(findings, page, out);
	json_array_foreach(findings, i, item)
		put_finding(item, page, i, out);
}

void o2_check_html(const json_t *result, FILE *out)
{
	const json_t *list = json_object_get(result, "implementations");
	const json_t *one;
	size_t i;

	fprintf(out,
		"<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>o2ref check</title>"
		"<style>%s</style></head><body>\n",
		style);
	o2_markup(out, "<h1>o2ref check</h1>\n<p>Profile %s, seed %s.</p>\n", o2_view_text(result, "profile"),
		  o2_view_text(result, "seed"));
	put_table(list, out);
	json_array_foreach(list, i, one)
		put_one(one, i, out);
	fputs("</body></html>\n", out);
}
