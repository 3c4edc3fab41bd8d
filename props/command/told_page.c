/* SPDX-License-Identifier: MIT */
/* The page of a capture: docs/judge.md, "The page". */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "props/command/told_internal.h"
#include "props/command/told_page.h"
#include "wire/msg_type.h"

#define BEFORE 10u
#define AFTER  5u
#define EACH   4u /* findings of a row that stand at their events */
#define A_RUN  6u

const struct o2_rdma_desc *o2_page_desc(const struct o2_page *page, uint32_t i)
{
	const struct o2_msg *msg = o2_page_step(page, i)->msg;

	return msg == NULL || o2_page_step(page, i)->kind != O2_JUDGE_MESSAGE ? NULL : o2_msg_desc(msg);
}

/* --- what goes back to what --- */

/* Does a WRITE touch what lies between the ends of the descriptor? */
static bool touches(const struct o2_rdma_desc *desc, const struct o2_told_step *write)
{
	uint64_t low = UINT64_MAX, high = 0;

	for (uint32_t i = 0; i < desc->rd_nfrags; i++) {
		const uint64_t from = desc->rd_frags[i].rf_addr, to = from + desc->rd_frags[i].rf_nob;

		low = from < low ? from : low;
		high = to > high ? to : high;
	}
	return write->addr < high && write->addr + write->bytes > low;
}

static bool answers(const struct o2_msg *msg, const struct o2_msg *asked)
{
	switch (msg->ibm_type) {
	case O2_MSG_PUT_ACK:
		return asked->ibm_type == O2_MSG_PUT_REQ &&
		       asked->u.putreq.ibprm_cookie == msg->u.putack.ibpam_src_cookie;
	case O2_MSG_PUT_NAK:
		return asked->ibm_type == O2_MSG_PUT_REQ &&
		       asked->u.putreq.ibprm_cookie == msg->u.completion.ibcm_cookie;
	case O2_MSG_PUT_DONE:
		return asked->ibm_type == O2_MSG_PUT_ACK &&
		       asked->u.putack.ibpam_dst_cookie == msg->u.completion.ibcm_cookie;
	case O2_MSG_GET_DONE:
		return asked->ibm_type == O2_MSG_GET_REQ &&
		       asked->u.get.ibgm_cookie == msg->u.completion.ibcm_cookie;
	default:
		return false;
	}
}

static uint32_t find_cause(const struct o2_page *page, uint32_t at)
{
	const struct o2_told_step *step = o2_page_step(page, at);
	uint32_t missed = O2_PAGE_NONE;

	for (uint32_t i = at; i-- > 0;) {
		const struct o2_told_step *earlier = o2_page_step(page, i);
		const struct o2_rdma_desc *desc = o2_page_desc(page, i);

		if (earlier->from == step->from)
			continue;
		if (step->kind == O2_JUDGE_WRITE) {
			const bool of_key = desc != NULL && desc->rd_key == step->rkey;

			if (of_key && touches(desc, step))
				return i;
			missed = of_key && missed == O2_PAGE_NONE ? i : missed;
		} else if (step->kind == O2_JUDGE_REPLY) {
			if (earlier->kind == O2_JUDGE_REQUEST)
				return i;
		} else if (step->msg != NULL && earlier->msg != NULL && answers(step->msg, earlier->msg)) {
			return i;
		}
	}
	return missed;
}

static void keep(struct o2_page *page, int64_t first, int64_t last)
{
	for (int64_t i = first < 0 ? 0 : first; i <= last && i < page->steps; i++)
		for (uint32_t k = (uint32_t)i; k != O2_PAGE_NONE && !page->kept[k]; k = page->cause[k])
			page->kept[k] = true;
}

uint32_t o2_page_at(const struct o2_page *page, uint64_t packet)
{
	for (uint32_t i = page->steps; i-- > 0;)
		if (o2_page_step(page, i)->packet == packet)
			return i;
	return O2_PAGE_NONE;
}

static void choose(struct o2_page *page, uint64_t first)
{
	const struct o2_told_report *report = page->report;

	for (uint32_t i = 0; i < page->steps; i++)
		page->cause[i] = find_cause(page, i);
	keep(page, 0, (int64_t)first - 1);
	for (uint32_t row = 0; row < report->nrows; row++) {
		uint32_t count = 0;

		for (uint32_t i = 0; i < report->nfound && count < EACH; i++) {
			const struct o2_told_found *found = &report->found[i];
			const uint32_t at = o2_page_at(page, found->packet);

			if (!o2_told_is_of(report, i, row))
				continue;
			count++;
			page->placed[i] = true;
			keep(page, (int64_t)at - BEFORE, (int64_t)at + AFTER);
			if (found->earlier != 0)
				keep(page, o2_page_at(page, found->earlier),
				     o2_page_at(page, found->earlier));
		}
	}
}

/* --- a connection --- */

/* How many events from this one on are WRITEs of one side into one descriptor; in those behind it nothing was found. */
static uint32_t run_length(const struct o2_page *page, uint32_t at)
{
	const struct o2_told_step *first = o2_page_step(page, at);
	uint32_t i = at + 1;

	while (first->kind == O2_JUDGE_WRITE && i < page->steps && page->kept[i] &&
	       o2_page_step(page, i)->kind == O2_JUDGE_WRITE && o2_page_step(page, i)->from == first->from &&
	       page->cause[i] == page->cause[at] && o2_page_severest(page, i) == O2_JUDGE_SEVERITIES)
		i++;
	return i - at;
}

static void gap(struct o2_page *page, uint32_t events)
{
	if (events != 0)
		fprintf(page->out, "<div class=\"gap\">%" PRIu32 " event%s that %s not on this page</div>\n",
			events, events == 1 ? "" : "s", events == 1 ? "is" : "are");
}

static void ladder(struct o2_page *page)
{
	uint32_t shown = 0;

	page->gap = O2_PAGE_NONE;
	for (uint32_t i = 0; i < page->steps; i++) {
		const uint32_t run = run_length(page, i);

		if (!page->kept[i])
			continue;
		gap(page, i - shown);
		page->gap = i != shown ? i : page->gap;
		o2_page_row(page, i);
		/* What was lost may have been a WRITE. */
		page->gap = o2_page_step(page, i)->kind == O2_JUDGE_LOST ? i : page->gap;
		if (run >= A_RUN) {
			fprintf(page->out,
				"<details class=\"run\"><summary>%" PRIu32 " WRITEs more</summary>\n",
				run - 2);
			for (uint32_t k = 1; k + 1 < run; k++)
				o2_page_row(page, i + k);
			fputs("</details>\n", page->out);
			i += run - 1;
			o2_page_row(page, i);
		}
		shown = i + 1;
	}
	gap(page, page->steps - shown);
}

static void head(const struct o2_page *page, enum o2_judge_side side)
{
	fprintf(page->out, "<span class=\"head\"><b>%s</b><small>%s", page->report->nid[side],
		o2_capture_address(page->told->file, (int)side));
	/* The other side's is in its answer. */
	if (side == O2_JUDGE_A || page->told->answered)
		fprintf(page->out, " qp 0x%" PRIx32, page->told->qp[side]);
	fputs("</small></span>", page->out);
}

static void connection(struct o2_page *page)
{
	const struct o2_judge_view *view = &page->told->view;
	FILE *out = page->out;

	fputs("<section class=\"conn\"><h3>Connection 1</h3>\n<p class=\"facts\">", out);
	if (view->queue_depth != 0)
		fprintf(out, "version 0x%x, depth %" PRIu32 ", at most %" PRIu32 " fragments; ",
			view->version, view->queue_depth, view->max_frags);
	fprintf(out,
		"seen from its request on; %" PRIu32 " event%s</p>\n<div class=\"ladder\"><div "
		"class=\"heads\">",
		page->steps, page->steps == 1 ? "" : "s");
	head(page, O2_JUDGE_A);
	head(page, O2_JUDGE_B);
	fputs("</div>\n", out);
	ladder(page);
	fputs("</div></section>\n", out);
}

/* --- the top --- */

static void index_row(const struct o2_page *page, uint32_t k)
{
	const struct o2_told_row *row_of = &page->report->row[k];
	const struct o2_told_found *first = &page->report->found[row_of->first];
	const char *severity = o2_judge_severity_names[first->severity];
	uint64_t linked = 0;
	FILE *out = page->out;

	fprintf(out, "<li class=\"%s\"><b class=\"tag %s\">%s</b> <code>%s</code> by <b>%s</b> towards %s: ",
		severity, severity, severity, first->rule->id, page->report->nid[first->who],
		page->report->nid[1 - (int)first->who]);
	for (uint32_t i = 0; i < page->report->nfound; i++) {
		const struct o2_told_found *found = &page->report->found[i];

		if (page->placed[i] && o2_told_is_of(page->report, i, k))
			fprintf(out, "%s<a href=\"#f1-e%" PRIu32 "\">packet %" PRIu64 "</a>",
				linked++ == 0 ? "" : ", ", o2_page_at(page, found->packet) + 1,
				found->packet);
	}
	if (row_of->times > linked)
		fprintf(out, "; %" PRIu64 " times in all", row_of->times);
	fputs("<br><strong>", out);
	o2_told_escaped(out, first->what);
	fputs("</strong> <span class=\"so\">", out);
	o2_told_holds(out, first);
	fputs("</span></li>\n", out);
}

static void top(const struct o2_page *page)
{
	const struct o2_told_report *report = page->report;
	FILE *out = page->out;
	char *seen = NULL;
	size_t bytes;
	FILE *lines = o2_told_open(&seen, &bytes);

	o2_told_seen(lines, report);
	fclose(lines);
	fputs("<h1>o2ref judge</h1>\n<section class=\"file\" id=\"f1\"><h2>standard input</h2>\n<p "
	      "class=\"verdict\">",
	      out);
	for (int i = 0; i < O2_JUDGE_SEVERITIES; i++)
		fprintf(out, "<span class=\"tag %s\">%" PRIu64 " %s</span> ",
			report->times[i] == 0 ? "none" : o2_judge_severity_names[i], report->times[i],
			o2_judge_severity_names[i]);
	fprintf(out, "</p>\n<p class=\"seen\">%s</p>\n", seen);
	free(seen);
	if (report->nrows == 0)
		fputs("<p>No rule was broken in what could be seen.</p>\n", out);
	else
		fputs("<ul class=\"index\">\n", out);
	for (int severity = 0; severity < O2_JUDGE_SEVERITIES; severity++)
		for (uint32_t i = 0; i < report->nrows; i++)
			if ((int)report->found[report->row[i].first].severity == severity)
				index_row(page, i);
	if (report->nrows != 0)
		fputs("</ul>\n", out);
}

static void how_much(const struct o2_page *page, uint64_t first)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < page->steps; i++)
		kept += page->kept[i];
	fputs("<p class=\"facts\">", page->out);
	if (kept == page->steps)
		fprintf(page->out, "All %" PRIu32 " events are on this page.", kept);
	else
		fprintf(page->out,
			"%" PRIu32 " of %" PRIu32 " events are on this page: the first %" PRIu64
			", and those around findings (--events).",
			kept, page->steps, first);
	fputs(" Times are seconds since the first one. The strips beside the life lines are the credits that "
	      "each side has; a line opens on its bytes.</p>\n",
	      page->out);
}

void o2_told_page(FILE *out, const struct o2_told_report *report, uint64_t first)
{
	struct o2_page *page = calloc(1, sizeof(*page));

	if (page == NULL)
		abort();
	page->out = out;
	page->report = report;
	page->told = report->told;
	page->steps = report->told->nsteps;
	for (uint32_t i = 0; i < page->steps; i++) {
		const struct o2_rdma_desc *desc = o2_page_desc(page, i);

		for (uint32_t k = 0; desc != NULL && k < desc->rd_nfrags; k++)
			page->sink[i].total += desc->rd_frags[k].rf_nob;
	}
	choose(page, first);
	top(page);
	how_much(page, first);
	/* One of which no event is left is not there. */
	for (uint32_t i = 0; i < page->steps; i++)
		if (page->kept[i]) {
			connection(page);
			break;
		}
	fputs("</section>\n</body></html>\n", out);
	free(page);
}
