/* SPDX-License-Identifier: MIT */
#include "cli/judge_page.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/markup.h"
#include "cli/ladder_html.h"

struct o2_judge_page {
	FILE *out, *body; /* body: the captures' sections */
	FILE *list;	  /* a table row for each capture, in memory */
	char *list_text;
	size_t list_bytes;
	unsigned int files;
	uint64_t times[O2_JUDGE_SEVERITIES];
	bool failed;
};

struct o2_judge_page *o2_judge_page_new(FILE *out)
{
	struct o2_judge_page *page = calloc(1, sizeof(*page));

	if (page == NULL)
		return NULL;
	page->out = out;
	page->body = tmpfile();
	page->list = open_memstream(&page->list_text, &page->list_bytes);
	if (page->body != NULL && page->list != NULL)
		return page;
	if (page->body != NULL)
		fclose(page->body);
	if (page->list != NULL)
		fclose(page->list);
	free(page->list_text);
	free(page);
	return NULL;
}

/* "1 must" and so on; counts other than 0 are marked. */
static void put_counts(const uint64_t times[O2_JUDGE_SEVERITIES], FILE *out)
{
	for (int severity = 0; severity < O2_JUDGE_SEVERITIES; severity++) {
		const char *name = o2_judge_severity_names[severity];

		fprintf(out, "<span class=\"tag %s\">%" PRIu64 " %s</span> ",
			times[severity] != 0 ? name : "none", times[severity], name);
	}
}

static void put_in_list(struct o2_judge_page *page, const struct o2_judge_result *result)
{
	fprintf(page->list, "<tr><td><a href=\"#f%u\">", page->files);
	o2_markup(page->list, "%s</a></td><td>", result->name);
	put_counts(result->report->times, page->list);
	o2_markup(page->list, "</td><td>%s</td></tr>\n", result->why != NULL ? result->why : "");
}

/* Links to those events of the page that show what the row is about. */
static void put_places(const struct o2_judge_row *row, const struct o2_ladder *ladder, unsigned int file,
		       FILE *out)
{
	uint64_t linked = 0;

	for (uint32_t i = 0; ladder != NULL && i < ladder->findings; i++) {
		const struct o2_ladder_finding *finding = &ladder->finding[i];
		char name[O2_LADDER_NAME_BYTES];

		if (!o2_judge_row_same(&finding->row, row) || finding->event == NULL)
			continue;
		o2_ladder_name(file, finding->event, name);
		fprintf(out, "%s<a href=\"#%s\">packet %" PRIu64 "</a>", linked++ == 0 ? "" : ", ", name,
			finding->row.number);
	}
	if (linked == 0)
		fprintf(out, "packet %" PRIu64 "%s", row->number, row->times > 1 ? " first" : "");
	if (row->times > linked && row->times > 1)
		fprintf(out, "; %" PRIu64 " times in all", row->times);
}

static void put_index_row(const struct o2_judge_row *row, const struct o2_ladder *ladder, unsigned int file,
			  FILE *out)
{
	const struct o2_judge_rule *rule = &o2_judge_rules[row->rule];
	const char *severity = o2_judge_severity_names[o2_judge_row_severity(row)];
	char who[O2_NID_TEXT_BYTES], peer[O2_NID_TEXT_BYTES];
	char what[O2_JUDGE_ROW_TEXT_BYTES], holds[O2_JUDGE_ROW_TEXT_BYTES];

	o2_judge_nid_text(row->who_nid, who);
	o2_judge_nid_text(row->peer_nid, peer);
	o2_judge_what(row->wire_rule, &row->error, what);
	o2_judge_row_rule(row, holds);
	o2_markup(out,
		  "<li class=\"%s\"><b class=\"tag %s\">%s</b> <code>%s</code> by <b>%s</b> towards %s: ",
		  severity, severity, severity, rule->id, who, peer);
	put_places(row, ladder, file, out);
	o2_markup(out, "<br><strong>%s</strong> <span class=\"so\">%s</span></li>\n", what, holds);
}

static void put_index(const struct o2_judge_report *report, const struct o2_ladder *ladder, unsigned int file,
		      FILE *out)
{
	if (report->count == 0) {
		fputs("<p>No rule was broken in what could be seen.</p>\n", out);
		return;
	}
	fputs("<ul class=\"index\">\n", out);
	for (int severity = 0; severity < O2_JUDGE_SEVERITIES; severity++)
		for (uint32_t i = 0; i < report->count; i++)
			if ((int)o2_judge_row_severity(&report->row[i]) == severity)
				put_index_row(&report->row[i], ladder, file, out);
	fputs("</ul>\n", out);
	if (report->more != 0)
		fprintf(out, "<p>%" PRIu64 " " O2_JUDGE_MORE_TEXT ".</p>\n", report->more);
}

/* The first lines of the text report, as a paragraph. */
static void put_seen(struct o2_judge_page *page, const struct o2_judge_result *result)
{
	char *text = NULL;
	size_t bytes;
	FILE *lines = open_memstream(&text, &bytes);

	if (lines == NULL) {
		page->failed = true;
		return;
	}
	o2_judge_seen_print(result->totals, lines);
	fclose(lines);
	o2_markup(page->body, "<p class=\"seen\">%s</p>\n", text);
	free(text);
}

static void put_held(const struct o2_ladder *ladder, FILE *out)
{
	if (ladder->kept == ladder->heard)
		fprintf(out, "<p class=\"facts\">All %" PRIu64 " events are on this page.", ladder->heard);
	else
		fprintf(out,
			"<p class=\"facts\">%" PRIu64 " of %" PRIu64 " events are on this page: the first "
			"%" PRIu32 ", and those around findings (--events).",
			ladder->kept, ladder->heard, ladder->first);
	fputs(" Times are seconds since the first one. The strips beside the life lines are the credits that "
	      "each side has; a line opens on its bytes.</p>\n",
	      out);
}

void o2_judge_page_add(struct o2_judge_page *page, const struct o2_judge_result *result,
		       struct o2_ladder *ladder)
{
	FILE *out = page->body;

	page->files++;
	for (int severity = 0; severity < O2_JUDGE_SEVERITIES; severity++)
		page->times[severity] += result->report->times[severity];
	put_in_list(page, result);
	if (ladder != NULL)
		o2_ladder_end(ladder);
	fprintf(out, "<section class=\"file\" id=\"f%u\">", page->files);
	o2_markup(out, "<h2>%s</h2>\n<p class=\"verdict\">", result->name);
	put_counts(result->report->times, out);
	fputs("</p>\n", out);
	if (result->why != NULL)
		o2_markup(out, "<p class=\"why\">It was not judged to its end: %s.</p>\n", result->why);
	if (ladder != NULL) {
		put_seen(page, result);
		put_index(result->report, ladder, page->files, out);
		put_held(ladder, out);
		o2_ladder_html(ladder, page->files, out);
		page->failed = page->failed || ladder->failed;
	}
	fputs("</section>\n", out);
}

static void put_top(const struct o2_judge_page *page)
{
	fprintf(page->out,
		"<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
		"<meta http-equiv=\"Content-Security-Policy\" "
		"content=\"default-src 'none'; style-src 'unsafe-inline'\">"
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
		"<meta name=\"color-scheme\" content=\"light dark\">"
		"<title>o2ref judge</title>\n<style>%s</style></head><body>\n<h1>o2ref judge</h1>\n",
		o2_judge_page_style);
	if (page->files < 2)
		return;
	fputs("<p class=\"verdict\">", page->out);
	put_counts(page->times, page->out);
	fprintf(page->out, "in %u captures</p>\n<table class=\"files\">\n", page->files);
	fwrite(page->list_text, 1, page->list_bytes, page->out);
	fputs("</table>\n", page->out);
}

/* Returns whether all of the file was read. */
static bool copy(FILE *from, FILE *to)
{
	char bytes[65536];
	size_t count;

	rewind(from);
	while ((count = fread(bytes, 1, sizeof(bytes), from)) != 0)
		if (fwrite(bytes, 1, count, to) != count)
			break;
	return !ferror(from);
}

bool o2_judge_page_end(struct o2_judge_page *page)
{
	bool good = fclose(page->list) == 0 && !page->failed;

	/* Look before copy() rewinds, which clears the error indicator. */
	good = fflush(page->body) == 0 && !ferror(page->body) && good;
	put_top(page);
	good = copy(page->body, page->out) && good;
	fputs("</body></html>\n", page->out);
	fclose(page->body);
	free(page->list_text);
	free(page);
	return good;
}
