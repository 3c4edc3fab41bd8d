/* SPDX-License-Identifier: MIT */
#include "cli/ladder_html.h"

#include <inttypes.h>

#include "base/markup.h"
#include "cli/ladder_row.h"

#define RUN_LEAST 6u /* WRITEs in a row, from which on the middle ones are folded */

/* Does the event follow `before` directly, as a WRITE into the same descriptor, and show no finding? */
static bool goes_on(const struct o2_ladder_page *page, const struct o2_ladder_event *event,
		    const struct o2_ladder_event *before)
{
	return event != NULL && event->kind == O2_JUDGE_WRITE && before->kind == O2_JUDGE_WRITE &&
	       event->place == before->place + 1 && event->from == before->from &&
	       o2_ladder_cause(event) == o2_ladder_cause(before) &&
	       o2_ladder_severity(page->ladder, event) == O2_JUDGE_SEVERITIES;
}

/* Put an event; if it begins a long run of WRITEs, the whole run, its middle folded.  Returns the last one put. */
static struct o2_ladder_event *put_run(struct o2_ladder_page *page, struct o2_ladder_event *first)
{
	struct o2_ladder_event *event = first, *next = TAILQ_NEXT(first, of_conn);
	uint32_t count = 1;

	o2_ladder_row_html(page, first);
	for (; goes_on(page, next, event); count++) {
		event = next;
		next = TAILQ_NEXT(event, of_conn);
	}
	if (count < RUN_LEAST)
		return first;
	fprintf(page->out, "<details class=\"run\"><summary>%" PRIu32 " WRITEs more</summary>\n", count - 2);
	for (event = TAILQ_NEXT(first, of_conn); count-- > 2; event = TAILQ_NEXT(event, of_conn))
		o2_ladder_row_html(page, event);
	fputs("</details>\n", page->out);
	o2_ladder_row_html(page, event);
	return event;
}

static void put_gap(struct o2_ladder_page *page, const struct o2_ladder_event *event, uint64_t events)
{
	if (events == 0)
		return;
	fprintf(page->out, "<div class=\"gap\">%" PRIu64 " event%s that %s not on this page</div>\n", events,
		events == 1 ? "" : "s", events == 1 ? "is" : "are");
	if (event != NULL)
		page->gap_place = event->place;
}

static void put_head(const struct o2_ladder_page *page, const struct o2_ladder_conn *conn,
		     enum o2_judge_side side)
{
	char nid[O2_NID_TEXT_BYTES], address[O2_ROCE_ADDRESS_TEXT_BYTES] = "";

	o2_judge_nid_text(conn->view.nid[side], nid);
	if (conn->has_addr)
		o2_roce_address_text(&conn->addr[side], address);
	o2_markup(page->out, "<span class=\"head\"><b>%s</b><small>%s", nid, address);
	if (conn->has_qp[side])
		fprintf(page->out, " qp 0x%" PRIx32, conn->qp[side]);
	fputs("</small></span>", page->out);
}

static const char *seen_text(const struct o2_ladder_conn *conn)
{
	const enum o2_judge_seen seen = conn->seen == O2_JUDGE_WHOLE ? conn->seen : conn->view.seen;
	static const char *const texts[] = {[O2_JUDGE_WHOLE] = "seen from its request on",
					    [O2_JUDGE_LATER] = "its beginning is not seen",
					    [O2_JUDGE_ONE_WAY] = "only one way of it is seen"};

	/* Whether its beginning was seen is not known any more. */
	return seen == O2_JUDGE_LATER && conn->later ? "packets of it are missing" : texts[seen];
}

static void put_conn(struct o2_ladder_page *page, const struct o2_ladder_conn *conn)
{
	struct o2_ladder_event *event;
	uint64_t place = 0;
	FILE *out = page->out;

	fprintf(out, "<section class=\"conn\"><h3>Connection %" PRIu64 "</h3>\n<p class=\"facts\">",
		conn->view.id);
	if (conn->view.queue_depth != 0)
		fprintf(out, "version 0x%x, depth %" PRIu32 ", at most %" PRIu32 " fragments; ",
			conn->view.version, conn->view.queue_depth, conn->view.max_frags);
	fprintf(out, "%s; %" PRIu64 " event%s</p>\n<div class=\"ladder\"><div class=\"heads\">",
		seen_text(conn), conn->view.heard, conn->view.heard == 1 ? "" : "s");
	put_head(page, conn, O2_JUDGE_A);
	put_head(page, conn, O2_JUDGE_B);
	fputs("</div>\n", out);
	page->gap_place = 0;
	TAILQ_FOREACH(event, &conn->events, of_conn) {
		put_gap(page, event, event->place - place - 1);
		event = put_run(page, event);
		place = event->place;
		if (event->kind == O2_JUDGE_LOST)
			page->gap_place = event->place;
	}
	put_gap(page, NULL, conn->view.heard - place);
	fputs("</div></section>\n", out);
}

void o2_ladder_html(struct o2_ladder *ladder, unsigned int file, FILE *out)
{
	struct o2_ladder_page page = {.ladder = ladder, .file = file, .out = out};
	const struct o2_ladder_conn *conn;

	TAILQ_FOREACH(conn, &ladder->conns, link)
		put_conn(&page, conn);
}
