/* SPDX-License-Identifier: MIT */
/* The HTML page of a capture: docs/judge.md, "The page". */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "props/command/told_internal.h"
#include "props/command/told_page.h"

#define BEFORE 10u
#define AFTER  5u
#define EACH   4u /* findings per row that are shown at their events */
#define A_RUN  6u

#define NO_RULE "<p>No rule was broken in what could be seen.</p>\n"
#define LEGEND                                                                                           \
	" Times are seconds since the first one. The strips beside the life lines are the credits that " \
	"each "                                                                                          \
	"side has; a line opens on its bytes.</p>\n"

const struct o2_rdma_desc *o2_page_desc(const struct o2_page *page, uint32_t i)
{
	const struct o2_msg *msg = o2_page_step(page, i)->msg;

	return msg == NULL || o2_page_step(page, i)->kind != O2_JUDGE_MESSAGE ? NULL : o2_msg_desc(msg);
}

/* --- which step answers which --- */

/* Does a WRITE overlap the range from the first to the last address of the descriptor? */
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
		} else if (step->kind == O2_JUDGE_REPLY || step->kind == O2_JUDGE_REJECT) {
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
	bool *kept = page->kept[page->conn];

	for (int64_t i = first < 0 ? 0 : first; i <= last && i < page->steps; i++)
		for (uint32_t k = (uint32_t)i; k != O2_PAGE_NONE && !kept[k]; k = page->cause[k])
			kept[k] = true;
}

uint32_t o2_page_at(const struct o2_page *page, uint64_t packet)
{
	for (uint32_t i = page->steps; i-- > 0;)
		if (o2_page_step(page, i)->packet - page->told->ntwins == packet)
			return i;
	return O2_PAGE_NONE;
}

uint32_t o2_page_of(const struct o2_page *page, const struct o2_told_found *found)
{
	const uint32_t at = o2_page_at(page, found->packet);
	const struct o2_told_step *step = at == O2_PAGE_NONE ? NULL : o2_page_step(page, at);

	return step != NULL && step->kind == O2_JUDGE_LOST && step->from != found->who ? at - 1 : at;
}

/* Show a finding at its event, unless its row has EACH of them; count: per row. */
static void place(struct o2_page *page, uint32_t i, uint32_t *count)
{
	const struct o2_told_report *report = page->report;
	const struct o2_told_found *found = &report->found[i];
	const uint32_t at = o2_page_of(page, found);
	uint32_t row = 0;

	while (!o2_told_is_of(report, i, row))
		row++;
	if (count[row]++ >= EACH)
		return;
	page->placed[page->conn][i] = true;
	page->shown[page->nshown].found = i;
	page->shown[page->nshown++].conn = page->conn;
	keep(page, (int64_t)at - BEFORE, (int64_t)at + AFTER);
	if (found->earlier != 0)
		keep(page, o2_page_at(page, found->earlier), o2_page_at(page, found->earlier));
}

/* Findings are made step by step, and within a step per conversation; those at the end likewise. */
static void choose(struct o2_page *page, uint64_t first)
{
	uint32_t count[O2_HEARING_LOG] = {0}, from = 0;

	for (uint32_t i = 0; i < page->steps; i++)
		page->cause[i] = find_cause(page, i);
	for (uint32_t i = 0; i < page->steps; i++)
		for (page->conn = 0; page->conn < page->conns; page->conn++)
			if (o2_page_id(page, i) <= first)
				keep(page, i, i);
	for (uint32_t step = 0; step <= page->steps; step++) {
		const uint32_t to =
			step < page->steps ? o2_page_step(page, step)->found : page->report->nfound;

		for (page->conn = 0; page->conn < page->conns; page->conn++)
			for (uint32_t i = from; i < to; i++)
				place(page, i, count);
		from = to;
	}
}

/* --- a connection --- */

/* Number of consecutive WRITEs of one side into one descriptor, from `at` on, without findings behind the first. */
static uint32_t run_length(const struct o2_page *page, uint32_t at)
{
	const struct o2_told_step *first = o2_page_step(page, at);
	uint32_t i = at + 1;

	while (first->kind == O2_JUDGE_WRITE && i < page->steps && page->kept[page->conn][i] &&
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

		if (!page->kept[page->conn][i])
			continue;
		gap(page, i - shown);
		page->gap = i != shown ? i : page->gap;
		o2_page_row(page, i);
		/* The lost packet may have been a WRITE. */
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
	const struct o2_told *told = page->told;
	const bool is_twin = page->conn < told->ntwins;
	const uint32_t pair = is_twin && told->twin[page->conn].elsewhere ? page->conn + 1 : 0;
	char address[O2_CAPTURE_ADDRESS];

	o2_capture_address_of(told->file, pair, (int)side, address);
	fprintf(page->out, "<span class=\"head\"><b>%s</b><small>%s", page->report->nid[side], address);
	/* The queue pair of the other side is in its answer. */
	if (side == O2_JUDGE_A || told->answered)
		fprintf(page->out, " qp 0x%" PRIx32,
			is_twin ? told->twin[page->conn].qp[side] : told->qp[side]);
	fputs("</small></span>", page->out);
}

static void connection(struct o2_page *page)
{
	const struct o2_judge_view *view = &page->told->view;
	FILE *out = page->out;

	fprintf(out, "<section class=\"conn\"><h3>Connection %" PRIu32 "</h3>\n<p class=\"facts\">",
		page->conn + 1);
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

static void index_row(struct o2_page *page, uint32_t k)
{
	const struct o2_told_row *row_of = &page->report->row[k];
	const struct o2_told_found *first = &page->report->found[row_of->first];
	const char *severity = o2_judge_severity_names[first->severity];
	uint64_t linked = 0;
	FILE *out = page->out;

	fprintf(out, "<li class=\"%s\"><b class=\"tag %s\">%s</b> <code>%s</code> by <b>%s</b> towards %s: ",
		severity, severity, severity, first->rule->id, page->report->nid[first->who],
		page->report->nid[1 - (int)first->who]);
	for (uint32_t i = 0; i < page->nshown; i++) {
		const struct o2_told_found *found = &page->report->found[page->shown[i].found];

		page->conn = page->shown[i].conn;
		if (o2_told_is_of(page->report, page->shown[i].found, k))
			fprintf(out, "%s<a href=\"#f%" PRIu32 "-e%" PRIu64 "\">packet %" PRIu64 "</a>",
				linked++ == 0 ? "" : ", ", page->file,
				o2_page_id(page, o2_page_of(page, found)),
				o2_page_packet(page, found->packet));
	}
	if (row_of->times > linked)
		fprintf(out, "; %" PRIu64 " times in all", row_of->times);
	fputs("<br><strong>", out);
	o2_told_escaped(out, first->what);
	fputs("</strong> <span class=\"so\">", out);
	o2_told_holds(out, first);
	fputs("</span></li>\n", out);
}

static void counts(FILE *out, const uint64_t times[O2_JUDGE_SEVERITIES])
{
	for (int i = 0; i < O2_JUDGE_SEVERITIES; i++)
		fprintf(out, "<span class=\"tag %s\">%" PRIu64 " %s</span> ",
			times[i] == 0 ? "none" : o2_judge_severity_names[i], times[i],
			o2_judge_severity_names[i]);
}

static void index_rows(struct o2_page *page)
{
	const struct o2_told_report *report = page->report;

	if (report->nrows == 0) {
		fputs(NO_RULE, page->out);
		return;
	}
	fputs("<ul class=\"index\">\n", page->out);
	for (int severity = 0; severity < O2_JUDGE_SEVERITIES; severity++)
		for (uint32_t i = 0; i < report->nrows; i++)
			if ((int)report->found[report->row[i].first].severity == severity)
				index_row(page, i);
	fputs("</ul>\n", page->out);
}

static void seen(const struct o2_page *page)
{
	char *text = NULL;
	size_t bytes;
	FILE *lines = o2_told_open(&text, &bytes);

	o2_told_seen(lines, page->report);
	fclose(lines);
	fprintf(page->out, "<p class=\"seen\">%s</p>\n", text);
	free(text);
}

static void how_much(const struct o2_page *page, uint64_t first)
{
	const uint32_t events = page->steps * page->conns;
	uint32_t kept = 0;

	for (uint32_t conn = 0; conn < page->conns; conn++)
		for (uint32_t i = 0; i < page->steps; i++)
			kept += page->kept[conn][i];
	fputs("<p class=\"facts\">", page->out);
	if (kept == events)
		fprintf(page->out, "All %" PRIu32 " events are on this page.", kept);
	else
		fprintf(page->out,
			"%" PRIu32 " of %" PRIu32 " events are on this page: the first %" PRIu64
			", and those around findings (--events).",
			kept, events, first);
	fputs(LEGEND, page->out);
}

/* Leave out a connection whose events are all left out. */
static void connections(struct o2_page *page)
{
	for (page->conn = 0; page->conn < page->conns; page->conn++) {
		for (uint32_t i = 0; i < page->steps; i++) {
			page->sink[i].filled = 0;
			page->sink[i].nspans = 0;
		}
		for (uint32_t i = 0; i < page->steps; i++)
			if (page->kept[page->conn][i]) {
				connection(page);
				break;
			}
	}
}

/* The file is no capture, or does not exist. */
static void no_capture(FILE *out, const struct o2_told_file *file)
{
	const uint64_t none[O2_JUDGE_SEVERITIES] = {0};

	counts(out, none);
	fprintf(out, "</p>\n<p class=\"why\">It was not judged to its end: %s.</p>\n", file->why);
	if (file->opened)
		fprintf(out,
			"<p class=\"seen\">0 packets: 0 messages and 0 WRITEs (0 bytes) on 0 "
			"connections\n</p>\n"
			"%s<p class=\"facts\">All 0 events are on this page.%s",
			NO_RULE, LEGEND);
}

static void section(struct o2_page *page, uint64_t first)
{
	const struct o2_told_file *file = &page->report->file[page->file - 1];

	fprintf(page->out, "<section class=\"file\" id=\"f%" PRIu32 "\"><h2>%s</h2>\n<p class=\"verdict\">",
		page->file, file->name);
	if (file->why != NULL) {
		no_capture(page->out, file);
	} else {
		counts(page->out, page->report->times);
		fputs("</p>\n", page->out);
		seen(page);
		index_rows(page);
		how_much(page, first);
		connections(page);
	}
	fputs("</section>\n", page->out);
}

/* Write the table of all files. */
static void files(const struct o2_page *page)
{
	const struct o2_told_report *report = page->report;
	uint64_t times[O2_JUDGE_SEVERITIES] = {0};
	const uint64_t none[O2_JUDGE_SEVERITIES] = {0};

	for (uint32_t i = 0; i < report->nfiles; i++)
		for (int k = 0; k < O2_JUDGE_SEVERITIES; k++)
			times[k] += report->file[i].why == NULL ? report->times[k] : 0;
	fputs("<p class=\"verdict\">", page->out);
	counts(page->out, times);
	fprintf(page->out, "in %" PRIu32 " captures</p>\n<table class=\"files\">\n", report->nfiles);
	for (uint32_t i = 0; i < report->nfiles; i++) {
		const struct o2_told_file *file = &report->file[i];

		fprintf(page->out, "<tr><td><a href=\"#f%" PRIu32 "\">%s</a></td><td>", i + 1, file->name);
		counts(page->out, file->why == NULL ? report->times : none);
		fprintf(page->out, "</td><td>%s</td></tr>\n", file->why == NULL ? "" : file->why);
	}
	fputs("</table>\n", page->out);
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
	page->conns = report->told->ntwins + 1;
	for (uint32_t i = 0; i < page->steps; i++) {
		const struct o2_rdma_desc *desc = o2_page_desc(page, i);

		for (uint32_t k = 0; desc != NULL && k < desc->rd_nfrags; k++)
			page->sink[i].total += desc->rd_frags[k].rf_nob;
	}
	choose(page, first);
	fputs("<h1>o2ref judge</h1>\n", out);
	if (report->nfiles > 1)
		files(page);
	for (page->file = 1; page->file <= report->nfiles; page->file++)
		section(page, first);
	fputs("</body></html>\n", out);
	free(page);
}
