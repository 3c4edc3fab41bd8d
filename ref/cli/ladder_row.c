/* SPDX-License-Identifier: MIT */
#include "cli/ladder_row.h"

#include <inttypes.h>
#include <string.h>

#include "base/markup.h"
#include "base/monotonic.h"
#include "cli/ladder_bar.h"
#include "cli/ladder_bytes.h"
#include "cli/summary.h"
#include "wire/msg_type.h"

void o2_ladder_name(unsigned int file, const struct o2_ladder_event *event, char name[O2_LADDER_NAME_BYTES])
{
	snprintf(name, O2_LADDER_NAME_BYTES, "f%u-e%" PRIu64, file, event->id);
}

static void put_link(const struct o2_ladder_page *page, const struct o2_ladder_event *event,
		     const char *before)
{
	char name[O2_LADDER_NAME_BYTES];

	o2_ladder_name(page->file, event, name);
	fprintf(page->out, " <a href=\"#%s\">%s%" PRIu64 "</a>", name, before, event->number);
}

/* --- the row --- */

static const char *side_class(enum o2_judge_side from)
{
	return from == O2_JUDGE_A ? "ab" : "ba";
}

static const char *kind_class(enum o2_judge_event_kind kind)
{
	static const char *const names[] = {
		[O2_JUDGE_REQUEST] = "cm",  [O2_JUDGE_REPLY] = "cm",	  [O2_JUDGE_REJECT] = "cm",
		[O2_JUDGE_MESSAGE] = "msg", [O2_JUDGE_WRITE] = "write",	  [O2_JUDGE_LOST] = "lost",
		[O2_JUDGE_NAK] = "nak",	    [O2_JUDGE_DISCONNECT] = "cm",
	};

	return names[kind];
}

int o2_ladder_severity(const struct o2_ladder *ladder, const struct o2_ladder_event *event)
{
	int severest = O2_JUDGE_SEVERITIES;

	for (uint32_t i = 0; i < ladder->findings; i++) {
		const int severity = (int)o2_judge_row_severity(&ladder->finding[i].row);

		if (ladder->finding[i].event == event && severity < severest)
			severest = severity;
	}
	return severest;
}

static void put_credits(const struct o2_ladder_page *page, const struct o2_ladder_event *event,
			enum o2_judge_side side)
{
	const uint32_t least = event->least_credits[side], most = event->most_credits[side];
	const uint32_t depth = event->conn->view.queue_depth;
	FILE *out = page->out;

	fprintf(out, "<span class=\"cr %c\"", side == O2_JUDGE_A ? 'a' : 'b');
	if (least != O2_JUDGE_CREDITS_UNKNOWN && most != O2_JUDGE_CREDITS_UNKNOWN && depth != 0)
		fprintf(out, " style=\"--c:%" PRIu32 "%%;--m:%" PRIu32 "%%\"",
			least < depth ? least * 100 / depth : 100, most < depth ? most * 100 / depth : 100);
	putc('>', out);
	if (least != O2_JUDGE_CREDITS_UNKNOWN && most == O2_JUDGE_CREDITS_UNKNOWN)
		fprintf(out, "%s%" PRIu32, "\xe2\x89\xa5", least);
	else if (least != O2_JUDGE_CREDITS_UNKNOWN && least != most)
		fprintf(out, "%" PRIu32 "%s%" PRIu32, least, "\xe2\x80\x93", most);
	else if (least != O2_JUDGE_CREDITS_UNKNOWN)
		fprintf(out, "%" PRIu32, least);
	fputs("</span>", out);
}

/* --- what it carries --- */

static void put_words(const struct o2_ladder_page *page, const char *text)
{
	const size_t first = strcspn(text, " ");

	fputs("<b>", page->out);
	o2_markup_text(text, first, page->out);
	fputs("</b>", page->out);
	o2_markup_text(text + first, strlen(text + first), page->out);
}

static void put_said(const struct o2_ladder_page *page)
{
	char text[O2_SUMMARY_TEXT_BYTES];

	if (page->said.msg != NULL) {
		o2_msg_summary(page->said.msg, text);
		put_words(page, text);
	} else if (page->said.reject != NULL) {
		o2_reject_summary(page->said.reject, text);
		put_words(page, text);
	} else if (page->said.refused.code != 0) {
		o2_error_text(&page->said.refused, text, sizeof(text));
		o2_markup(page->out, "<b>refused</b> %s", text);
	}
}

static void put_what(const struct o2_ladder_page *page, const struct o2_ladder_event *event)
{
	static const char *const asked[] = {
		[O2_JUDGE_REQUEST] = "REQ", [O2_JUDGE_REPLY] = "REP", [O2_JUDGE_REJECT] = "REJ"};
	FILE *out = page->out;

	switch (event->kind) {
	case O2_JUDGE_REQUEST:
	case O2_JUDGE_REPLY:
	case O2_JUDGE_REJECT:
		fprintf(out, "<i>CM %s</i> ", asked[event->kind]);
		put_said(page);
		break;
	case O2_JUDGE_MESSAGE:
		put_said(page);
		fprintf(out, " <small>%" PRIu64 " B</small>", event->bytes);
		break;
	case O2_JUDGE_WRITE:
		fprintf(out, "<b>WRITE</b> %" PRIu64 " bytes key 0x%" PRIx32 " addr 0x%" PRIx64, event->bytes,
			event->rkey, event->addr);
		break;
	case O2_JUDGE_LOST:
		fputs("something that was sent before this packet is not in the capture", out);
		break;
	case O2_JUDGE_NAK:
		fputs("<b>NAK</b> the receiver rejected a packet", out);
		break;
	case O2_JUDGE_DISCONNECT:
		fputs("<i>CM DREQ</i> the connection ends", out);
		break;
	case O2_JUDGE_PART: /* a ladder has none: the whole WRITE is an event */
		break;
	}
}

/* --- bars --- */

/* The bar of the event's descriptor; NULL: no descriptor, or no memory. */
static struct o2_ladder_bar *bar_of(const struct o2_ladder_page *page, struct o2_ladder_event *event)
{
	struct o2_ladder_said said;

	if (event == NULL || !event->has_desc)
		return NULL;
	if (event->bar == NULL && o2_ladder_say(page->ladder, event, &said) && said.msg != NULL) {
		event->bar = o2_ladder_bar_new(o2_msg_desc(said.msg));
		page->ladder->failed = page->ladder->failed || event->bar == NULL;
	}
	return event->bar;
}

/* The event whose descriptor the bar shows: the event itself, or its cause; NULL: none. */
static struct o2_ladder_event *sink_of(struct o2_ladder_event *event, struct o2_ladder_event *cause)
{
	if (event->has_desc)
		return event;
	return cause != NULL && cause->has_desc ? cause : NULL;
}

/* The status that ends the transfer; negative: it moved nothing, or events that may have are missing. */
static int32_t status_of(const struct o2_ladder_page *page, const struct o2_ladder_event *sink)
{
	return page->said.msg == NULL || page->gap_place > sink->place
		       ? -1
		       : page->said.msg->u.completion.ibcm_status;
}

/* Which part of the offered memory a WRITE goes to; at the end of a transfer, how much was written. */
static void put_place(const struct o2_ladder_page *page, const struct o2_ladder_event *event,
		      const struct o2_ladder_event *sink, const struct o2_ladder_bar *bar)
{
	FILE *out = page->out;

	if (event->kind == O2_JUDGE_WRITE) {
		const struct o2_ladder_span span = o2_ladder_bar_span(bar, event->addr, event->bytes);

		if (event->bytes != 0)
			fputs(": ", out);
		if (span.inside)
			fprintf(out,
				"fragment %" PRIu32 " of %" PRIu32 ", bytes %" PRIu64 " to %" PRIu64
				" of %" PRIu64,
				span.frag + 1, span.nfrags, span.from, span.to - 1, span.total);
		if (span.over != 0)
			fprintf(out, "%s<em>%" PRIu64 " bytes outside</em>", span.inside ? ", " : "",
				span.over);
	} else if (!event->has_desc && status_of(page, sink) >= 0) {
		fprintf(out,
			": %" PRIu64 " bytes written of %" PRIu64 " that are offered, %" PRId32 " reported",
			o2_ladder_bar_filled(bar), o2_ladder_bar_total(bar), status_of(page, sink));
	}
}

static void put_bar(const struct o2_ladder_page *page, const struct o2_ladder_event *event,
		    const struct o2_ladder_event *sink, struct o2_ladder_bar *bar)
{
	char name[O2_LADDER_NAME_BYTES + 2];

	o2_ladder_name(page->file, sink, name);
	strcat(name, "d");
	if (event->kind == O2_JUDGE_WRITE) {
		const struct o2_ladder_span span = o2_ladder_bar_span(bar, event->addr, event->bytes);

		o2_ladder_bar_write(bar, &span, name, page->out);
	} else if (event->has_desc) {
		o2_ladder_bar_offer(bar, name, page->out);
	} else if (status_of(page, sink) >= 0) {
		o2_ladder_bar_end(bar, (uint32_t)status_of(page, sink), name, page->out);
	}
}

/* --- findings --- */

static void put_finding(const struct o2_ladder_finding *finding, unsigned int file, FILE *out)
{
	const struct o2_judge_row *row = &finding->row;
	const struct o2_judge_rule *rule = &o2_judge_rules[row->rule];
	char who[O2_NID_TEXT_BYTES], what[O2_JUDGE_ROW_TEXT_BYTES], name[O2_LADDER_NAME_BYTES];
	const char *severity = o2_judge_severity_names[o2_judge_row_severity(row)];

	o2_judge_nid_text(row->who_nid, who);
	o2_judge_what(row->wire_rule, &row->error, what);
	o2_markup(out,
		  "<div class=\"finding %s\"><b class=\"tag %s\">%s</b> <code>%s</code> by "
		  "%s%s<strong>%s</strong>",
		  severity, severity, severity, rule->id, who, what[0] != '\0' ? ": " : "", what);
	if (finding->earlier != NULL) {
		o2_ladder_name(file, finding->earlier, name);
		fprintf(out, ". It refers to <a href=\"#%s\">packet %" PRIu64 "</a>", name, row->earlier);
	} else if (row->earlier != 0) {
		fprintf(out, ". It refers to packet %" PRIu64 ", which is not on this page", row->earlier);
	}
	o2_judge_row_rule(row, what);
	o2_markup(out, ".<br><span class=\"so\">%s</span></div>", what);
}

static void put_findings(const struct o2_ladder_page *page, const struct o2_ladder_event *event)
{
	for (uint32_t i = 0; i < page->ladder->findings; i++) {
		const struct o2_ladder_finding *finding = &page->ladder->finding[i];
		const char *severity = o2_judge_severity_names[o2_judge_row_severity(&finding->row)];

		if (finding->event == event)
			put_finding(finding, page->file, page->out);
		if (finding->earlier != event || finding->event == NULL)
			continue;
		fprintf(page->out, "<div class=\"finding back %s\">", severity);
		put_link(page, finding->event, "packet ");
		o2_markup(page->out, " refers to this packet: <code>%s</code></div>",
			  o2_judge_rules[finding->row.rule].id);
	}
}

/* --- a connection --- */

static bool is_back(const struct o2_ladder *ladder, const struct o2_ladder_event *event)
{
	for (uint32_t i = 0; i < ladder->findings; i++)
		if (ladder->finding[i].earlier == event &&
		    o2_judge_row_severity(&ladder->finding[i].row) != O2_JUDGE_NOTE)
			return true;
	return false;
}

/* Seconds since the first event that has a time; 0 is the time of a packet without one. */
static void put_time(const struct o2_ladder_page *page, uint64_t time_ns)
{
	const uint64_t start_ns = page->ladder->start_ns;
	const bool backwards = time_ns < start_ns;
	const uint64_t apart_ns = backwards ? start_ns - time_ns : time_ns - start_ns;

	fputs("<span class=\"t\">", page->out);
	if (time_ns == 0)
		putc('?', page->out);
	else
		fprintf(page->out, "%s%" PRIu64 ".%06" PRIu64, backwards ? "-" : "", apart_ns / O2_NS_PER_S,
			apart_ns % O2_NS_PER_S / O2_NS_PER_US);
	fputs("</span>", page->out);
}

/* The beginning of a row: the packet's number and time. */
static void put_where(const struct o2_ladder_page *page, const struct o2_ladder_event *event)
{
	const int severity = o2_ladder_severity(page->ladder, event);
	char name[O2_LADDER_NAME_BYTES];

	o2_ladder_name(page->file, event, name);
	fprintf(page->out,
		"<div class=\"row %s %s%s%s%s\" id=\"%s\"><details><summary><span class=\"no\">%" PRIu64
		"</span>",
		side_class(event->from), kind_class(event->kind),
		severity < O2_JUDGE_SEVERITIES ? " shows " : "",
		severity < O2_JUDGE_SEVERITIES ? o2_judge_severity_names[severity] : "",
		is_back(page->ladder, event) ? " earlier" : "", name, event->number);
	put_time(page, event->time_ns);
}

void o2_ladder_row_html(struct o2_ladder_page *page, struct o2_ladder_event *event)
{
	struct o2_ladder_event *cause = o2_ladder_cause(event), *sink = sink_of(event, cause);
	/* Before the event's own message is decoded, because o2_ladder_say has one buffer. */
	struct o2_ladder_bar *bar = bar_of(page, sink);
	FILE *out = page->out;

	o2_ladder_say(page->ladder, event, &page->said);
	put_where(page, event);
	put_credits(page, event, O2_JUDGE_A);
	fputs("<span class=\"lane\"><span class=\"what\">", out);
	put_what(page, event);
	if (bar != NULL)
		put_place(page, event, sink, bar);
	if (cause != NULL)
		put_link(page, cause, event->kind == O2_JUDGE_WRITE ? "into " : "answers ");
	fputs("</span><span class=\"arrow\"></span>", out);
	if (bar != NULL)
		put_bar(page, event, sink, bar);
	fputs("</span>", out);
	put_credits(page, event, O2_JUDGE_B);
	fputs("</summary>", out);
	o2_ladder_bytes_html(page->ladder, event, out);
	fputs("</details>", out);
	put_findings(page, event);
	fputs("</div>\n", out);
}
