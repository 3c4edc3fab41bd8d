/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include "props/command/told_page.h"

#define LINES 160u /* lines of a table of bytes, at most */

/* --- findings --- */

static void finding(const struct o2_page *page, uint32_t i)
{
	const struct o2_told_found *found = &page->report->found[i];
	const char *severity = o2_judge_severity_names[found->severity];
	FILE *out = page->out;

	fprintf(out, "<div class=\"finding %s\"><b class=\"tag %s\">%s</b> <code>%s</code> by %s%s<strong>",
		severity, severity, severity, found->rule->id, page->report->nid[found->who],
		found->what[0] == '\0' ? "" : ": ");
	o2_told_escaped(out, found->what);
	fputs("</strong>", out);
	if (found->earlier != 0)
		fprintf(out, ". It refers to <a href=\"#f%" PRIu32 "-e%" PRIu64 "\">packet %" PRIu64 "</a>",
			page->file, o2_page_id(page, o2_page_at(page, found->earlier)),
			o2_page_packet(page, found->earlier));
	fputs(".<br><span class=\"so\">", out);
	o2_told_holds(out, found);
	fputs("</span></div>", out);
}

static void findings(const struct o2_page *page, uint32_t at)
{
	for (uint32_t i = 0; i < page->report->nfound; i++) {
		const struct o2_told_found *found = &page->report->found[i];

		if (page->placed[page->conn][i] && o2_page_of(page, found) == at)
			finding(page, i);
		if (page->placed[page->conn][i] && found->earlier != 0 &&
		    o2_page_at(page, found->earlier) == at)
			fprintf(page->out,
				"<div class=\"finding back %s\"> <a href=\"#f%" PRIu32 "-e%" PRIu64
				"\">packet %" PRIu64 "</a> refers to this packet: <code>%s</code></div>",
				o2_judge_severity_names[found->severity], page->file,
				o2_page_id(page, o2_page_of(page, found)),
				o2_page_packet(page, found->packet), found->rule->id);
	}
}

int o2_page_severest(const struct o2_page *page, uint32_t at)
{
	int severest = O2_JUDGE_SEVERITIES;

	for (uint32_t i = 0; i < page->report->nfound; i++)
		if (page->placed[page->conn][i] && o2_page_of(page, &page->report->found[i]) == at)
			severest = O2_PAGE_LEAST(severest, (int)page->report->found[i].severity);
	return severest;
}

static bool is_gone_back_to(const struct o2_page *page, uint32_t at)
{
	for (uint32_t i = 0; i < page->report->nfound; i++) {
		const struct o2_told_found *found = &page->report->found[i];

		if (page->placed[page->conn][i] && found->earlier != 0 && found->severity != O2_JUDGE_NOTE &&
		    o2_page_at(page, found->earlier) == at)
			return true;
	}
	return false;
}

/* --- an event's bytes --- */

/* Do all parts of the name, or its last ones, say what the field's name says? */
static bool is_named(const char *name, const char *field)
{
	static const char *const cookies[] = {"ibprm_cookie", "ibgm_cookie", "ibpam_src_cookie",
					      "ibcm_cookie"};
	const char *part = name;

	for (size_t i = 0; strcmp(field, "cookie") == 0 && i < sizeof(cookies) / sizeof(cookies[0]); i++)
		if (strcmp(name, cookies[i]) == 0)
			return true;
	if (strcmp(field, "bytes written") == 0)
		return strcmp(name, "ibcm_status") == 0;
	/* The line where the payload begins, whichever byte is wrong. */
	if (strstr(field, "payload[]") != NULL)
		return strcmp(name, "payload") == 0;
	if (strcmp(field, "hdr.msg.ack.dst_wmd") == 0)
		return strncmp(name, "hdr.dst_wmd.", 12) == 0;
	if (strncmp(field, "hdr.msg.", 8) == 0 || strncmp(field, "rd_frags[]", 10) == 0)
		field = strrchr(field, '.') + 1;
	while (strcmp(part, field) != 0) {
		part = strchr(part, '.');
		if (part == NULL)
			return false;
		part++;
	}
	return true;
}

static bool is_accused(const struct o2_page *page, uint32_t at, const char *name)
{
	for (uint32_t i = 0; i < page->report->nfound; i++) {
		const struct o2_told_found *found = &page->report->found[i];
		const char *field = found->finding->error.field;

		if (!page->placed[page->conn][i] || field == NULL || o2_page_of(page, found) != at)
			continue;
		if (is_named(name, field))
			return true;
	}
	return false;
}

#define LINE_END 255 /* end of the last cell */

/* Write a cell of a dump line without its padding.  The last cell has none, and may end with a blank. */
static void cell(FILE *out, const char *line, size_t from, size_t to)
{
	char text[256];
	size_t length = strcspn(line, "\n");

	length = from > length ? 0 : O2_PAGE_LEAST(length, to) - from;
	while (to != LINE_END && length > 0 && line[from + length - 1] == ' ')
		length--;
	snprintf(text, sizeof(text), "%.*s", (int)length, line + from);
	fputs("<td>", out);
	o2_told_escaped(out, text);
	fputs("</td>", out);
}

/* Write a dump line as cells; mark the lines of a field that a finding names. */
static void bytes_line(const struct o2_page *page, uint32_t at, const char *line, uint32_t number)
{
	char name[40];
	size_t length = 34;
	bool bad;

	snprintf(name, sizeof(name), "%.34s", line + 33);
	while (length > 0 && name[length - 1] == ' ')
		name[--length] = '\0';
	bad = length != 0 && is_accused(page, at, name);
	if (number > LINES && !bad)
		return;
	fputs(bad ? "<tr class=\"bad\">" : "<tr>", page->out);
	cell(page->out, line, 2, 6);
	cell(page->out, line, 8, 31);
	cell(page->out, line, 33, 67);
	cell(page->out, line, 69, LINE_END);
	fputs("</tr>", page->out);
}

static void bytes_of_message(const struct o2_page *page, uint32_t at)
{
	const struct o2_told_step *step = o2_page_step(page, at);
	FILE *out = page->out;
	unsigned int place = 0;
	uint32_t lines = 0;

	fputs("<table class=\"bytes\">", out);
	for (const char *line = step->dump; *line != '\0'; line += strcspn(line, "\n") + 1) {
		lines++;
		if (strncmp(line, "        ... and ", 16) == 0) {
			fprintf(out, "<tr><td>%04x</td><td></td><td></td><td>%.*s</td></tr>", place + 8,
				(int)(strstr(line, " (--all") - line - 8), line + 8);
			continue;
		}
		sscanf(line, "%x", &place);
		bytes_line(page, at, line, lines);
	}
	if (step->behind != 0)
		fprintf(out,
			"<tr><td>%04x</td><td>00 00 00 00 00 00 00 ..</td><td>(after nob)</td><td>%" PRIu32
			" zero bytes, ignored</td></tr>",
			step->msg->ibm_nob, step->behind);
	if (lines > LINES)
		fprintf(out, "<tr><td></td><td></td><td></td><td>%" PRIu32 " lines in all</td></tr>", lines);
	fputs("</table>", out);
}

/* Whether a finding at the event is about that field of a WRITE. */
static const char *write_mark(const struct o2_page *page, uint32_t at, const char *field)
{
	return is_accused(page, at, field) ? " class=\"bad\"" : "";
}

static void bytes_of(const struct o2_page *page, uint32_t at)
{
	const struct o2_told_step *step = o2_page_step(page, at);

	if (step->dump != NULL)
		bytes_of_message(page, at);
	else if (step->kind == O2_JUDGE_WRITE)
		fprintf(page->out,
			"<table class=\"bytes\">"
			"<tr%s><td></td><td></td><td>virtual address</td><td>0x%" PRIx64 "</td></tr>"
			"<tr%s><td></td><td></td><td>R_Key</td><td>0x%" PRIx32 "</td></tr>"
			"<tr><td></td><td></td><td>DMA length</td><td>%" PRIu32 "</td></tr>"
			"<tr%s><td></td><td></td><td>bytes that came</td><td>%" PRIu64 "</td></tr></table>",
			write_mark(page, at, "va"), step->addr, write_mark(page, at, "rkey"), step->rkey,
			step->announced, write_mark(page, at, "bytes"), step->bytes);
	else
		fputs("<p class=\"bytes\">No o2iblnd data was captured for this event.</p>", page->out);
}

/* --- rows --- */

static void credits(const struct o2_page *page, const struct o2_told_step *step, enum o2_judge_side side)
{
	const uint32_t least = step->least[side], most = step->most[side],
		       depth = page->told->view.queue_depth;
	FILE *out = page->out;

	fprintf(out, "<span class=\"cr %c\"", "ab"[side]);
	if (most != O2_JUDGE_CREDITS_UNKNOWN && depth != 0)
		fprintf(out, " style=\"--c:%" PRIu32 "%%;--m:%" PRIu32 "%%\"",
			O2_PAGE_LEAST(least, depth) * 100 / depth, O2_PAGE_LEAST(most, depth) * 100 / depth);
	fputc('>', out);
	if (least != O2_JUDGE_CREDITS_UNKNOWN)
		fprintf(out, most == O2_JUDGE_CREDITS_UNKNOWN ? "≥%" PRIu32 : "%" PRIu32, least);
	if (most != least && most != O2_JUDGE_CREDITS_UNKNOWN)
		fprintf(out, "–%" PRIu32, most);
	fputs("</span>", out);
}

static void what(const struct o2_page *page, const struct o2_told_step *step)
{
	static const char *const carriers[] = {
		[O2_JUDGE_REQUEST] = "<i>CM REQ</i> ",
		[O2_JUDGE_REPLY] = "<i>CM REP</i> ",
		[O2_JUDGE_REJECT] = "<i>CM REJ</i> ",
		[O2_JUDGE_MESSAGE] = "",
		[O2_JUDGE_LOST] = "something that was sent before this packet is not in the capture",
		[O2_JUDGE_NAK] = "<b>NAK</b> the receiver rejected a packet",
		[O2_JUDGE_DISCONNECT] = "<i>CM DREQ</i> the connection ends",
	};
	FILE *out = page->out;

	if (step->kind == O2_JUDGE_WRITE) {
		fprintf(out, "<b>WRITE</b> %" PRIu64 " bytes key 0x%" PRIx32 " addr 0x%" PRIx64, step->bytes,
			step->rkey, step->addr);
		return;
	}
	fputs(carriers[step->kind], out);
	if (step->summary != NULL) {
		const size_t first = strcspn(step->summary, " ");

		fprintf(out, "<b>%.*s</b>", (int)first, step->summary);
		o2_told_escaped(out, step->summary + first);
	}
	if (step->kind == O2_JUDGE_MESSAGE)
		fprintf(out, " <small>%" PRIu64 " B</small>", step->bytes);
}

/* The step with the descriptor of the row's bar; O2_PAGE_NONE: no bar. */
static uint32_t sink_of(const struct o2_page *page, uint32_t at)
{
	const uint32_t cause = page->cause[at];

	if (o2_page_desc(page, at) != NULL)
		return at;
	return cause != O2_PAGE_NONE && o2_page_desc(page, cause) != NULL ? cause : O2_PAGE_NONE;
}

static void lane(struct o2_page *page, uint32_t at)
{
	const struct o2_told_step *step = o2_page_step(page, at);
	const uint32_t cause = page->cause[at], of = sink_of(page, at);
	FILE *out = page->out;

	fputs("<span class=\"lane\"><span class=\"what\">", out);
	what(page, step);
	if (of != O2_PAGE_NONE)
		o2_page_bar_text(page, at, of);
	if (cause != O2_PAGE_NONE)
		fprintf(out, " <a href=\"#f%" PRIu32 "-e%" PRIu64 "\">%s%" PRIu64 "</a>", page->file,
			o2_page_id(page, cause), step->kind == O2_JUDGE_WRITE ? "into " : "answers ",
			o2_page_packet(page, o2_page_step(page, cause)->packet - page->told->ntwins));
	fputs("</span><span class=\"arrow\"></span>", out);
	if (of != O2_PAGE_NONE)
		o2_page_bar(page, at, of);
	fputs("</span>", out);
}

/* Times count from the first event that has one. */
static void when(const struct o2_page *page, uint64_t time_ns)
{
	uint64_t since_us;
	uint32_t first = 0;

	if (time_ns == 0) {
		fputc('?', page->out);
		return;
	}
	while (o2_page_step(page, first)->time_ns == 0)
		first++;
	since_us = (time_ns - o2_page_step(page, first)->time_ns) / 1000;
	fprintf(page->out, "%" PRIu64 ".%06" PRIu64, since_us / 1000000, since_us % 1000000);
}

void o2_page_row(struct o2_page *page, uint32_t at)
{
	static const char *const kinds[] = {
		[O2_JUDGE_REQUEST] = "cm",  [O2_JUDGE_REPLY] = "cm",	 [O2_JUDGE_MESSAGE] = "msg",
		[O2_JUDGE_WRITE] = "write", [O2_JUDGE_LOST] = "lost",	 [O2_JUDGE_NAK] = "nak",
		[O2_JUDGE_REJECT] = "cm",   [O2_JUDGE_DISCONNECT] = "cm"};
	const struct o2_told_step *step = o2_page_step(page, at);
	const int severity = o2_page_severest(page, at);
	FILE *out = page->out;

	fprintf(out, "<div class=\"row %s %s", step->from == O2_JUDGE_A ? "ab" : "ba", kinds[step->kind]);
	if (severity != O2_JUDGE_SEVERITIES)
		fprintf(out, " shows %s", o2_judge_severity_names[severity]);
	fprintf(out,
		"%s\" id=\"f%" PRIu32 "-e%" PRIu64 "\"><details><summary><span class=\"no\">%" PRIu64
		"</span><span class=\"t\">",
		is_gone_back_to(page, at) ? " earlier" : "", page->file, o2_page_id(page, at),
		o2_page_packet(page, step->packet - page->told->ntwins));
	when(page, step->time_ns);
	fputs("</span>", out);
	credits(page, step, O2_JUDGE_A);
	lane(page, at);
	credits(page, step, O2_JUDGE_B);
	fputs("</summary>", out);
	bytes_of(page, at);
	fputs("</details>", out);
	findings(page, at);
	fputs("</div>\n", out);
}
