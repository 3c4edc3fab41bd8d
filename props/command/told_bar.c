/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "props/command/told_page.h"

#define WIDTH 1000u

static double x_of(const struct o2_page_sink *sink, uint64_t offset)
{
	if (sink->total == 0)
		return 0;
	return (double)(offset < sink->total ? offset : sink->total) * WIDTH / (double)sink->total;
}

/* Draw a rectangle, at least 3 wide and not past the right end. */
static void rectangle(const struct o2_page *page, const struct o2_page_sink *sink, const char *class,
		      uint64_t from, uint64_t to)
{
	const double x = x_of(sink, from), width = x_of(sink, to) - x;

	fprintf(page->out, "<rect class=\"%s\" x=\"%.1f\" y=\"0\" width=\"%.1f\" height=\"14\"/>", class,
		x > 997 ? 997.0 : x, width < 3 ? 3.0 : width);
}

static void bar_begin(const struct o2_page *page, const struct o2_page_sink *sink)
{
	fputs("<svg class=\"bar\" viewBox=\"0 0 1000 14\" preserveAspectRatio=\"none\" aria-hidden=\"true\">"
	      "<rect class=\"sink\" x=\"0\" y=\"0\" width=\"1000\" height=\"14\"/>",
	      page->out);
	for (uint32_t i = 0; i < sink->nspans; i++)
		rectangle(page, sink, "had", sink->from[i], sink->to[i]);
}

static void bar_end(const struct o2_page *page, uint32_t of)
{
	fprintf(page->out, "<use href=\"#f%" PRIu32 "-e%" PRIu64 "d\"/></svg>", page->file,
		o2_page_id(page, of));
}

static void bar_offer(const struct o2_page *page, uint32_t at)
{
	const struct o2_rdma_desc *desc = o2_page_desc(page, at);
	const int top = desc->rd_nfrags > 40 ? 11 : 0;
	uint64_t offset = 0;

	bar_begin(page, &page->sink[at]);
	fprintf(page->out, "<path class=\"marks\" id=\"f%" PRIu32 "-e%" PRIu64 "d\" d=\"M0 %dV14", page->file,
		o2_page_id(page, at), top);
	for (uint32_t i = 0; i < desc->rd_nfrags; i++) {
		offset += desc->rd_frags[i].rf_nob;
		fprintf(page->out, "M%.1f %dV14", x_of(&page->sink[at], offset), top);
	}
	fputs("\"/></svg>", page->out);
}

/*
 * The fragment in which a WRITE begins, or rd_nfrags: none.  *from: where it begins in the sink; *inside: its
 * bytes in the fragment.
 */
static uint32_t fragment_of(const struct o2_rdma_desc *desc, const struct o2_told_step *step, uint64_t *from,
			    uint64_t *inside)
{
	uint64_t before = 0;

	*from = *inside = 0;
	for (uint32_t i = 0; i < desc->rd_nfrags; before += desc->rd_frags[i++].rf_nob) {
		const uint64_t first = desc->rd_frags[i].rf_addr, nob = desc->rd_frags[i].rf_nob;

		if (step->addr < first || step->addr >= first + nob)
			continue;
		*from = before + step->addr - first;
		*inside = O2_PAGE_LEAST(first + nob - step->addr, step->bytes);
		return i;
	}
	return desc->rd_nfrags;
}

static void write_text(const struct o2_page *page, const struct o2_told_step *step, uint32_t of)
{
	const struct o2_rdma_desc *desc = o2_page_desc(page, of);
	uint64_t from, inside;
	const uint32_t frag = fragment_of(desc, step, &from, &inside);

	fputs(": ", page->out);
	if (frag == desc->rd_nfrags) {
		if (step->bytes != 0)
			fprintf(page->out, "<em>%" PRIu64 " bytes outside</em>", step->bytes);
		return;
	}
	fprintf(page->out,
		"fragment %" PRIu32 " of %" PRIu32 ", bytes %" PRIu64 " to %" PRIu64 " of %" PRIu64, frag + 1,
		desc->rd_nfrags, from, from + inside - (inside != 0), page->sink[of].total);
	if (inside != step->bytes)
		fprintf(page->out, ", <em>%" PRIu64 " bytes outside</em>", step->bytes - inside);
}

static void fill(struct o2_page_sink *sink, uint64_t from, uint64_t to)
{
	uint32_t i = 0;

	sink->filled += to - from;
	while (i < sink->nspans && (from > sink->to[i] || to < sink->from[i]))
		i++;
	if (i == O2_PAGE_SPANS)
		return;
	if (i == sink->nspans) {
		sink->from[sink->nspans] = from;
		sink->to[sink->nspans++] = to;
		return;
	}
	sink->from[i] = O2_PAGE_LEAST(from, sink->from[i]);
	sink->to[i] = to > sink->to[i] ? to : sink->to[i];
}

static void bar_write(struct o2_page *page, const struct o2_told_step *step, uint32_t of)
{
	const struct o2_rdma_desc *desc = o2_page_desc(page, of);
	struct o2_page_sink *sink = &page->sink[of];
	uint64_t from, inside;
	const uint32_t frag = fragment_of(desc, step, &from, &inside);

	bar_begin(page, sink);
	if (frag == desc->rd_nfrags) {
		if (step->bytes != 0)
			rectangle(page, sink, "over", 0, sink->total);
		bar_end(page, of);
		return;
	}
	rectangle(page, sink, "now", from, from + inside);
	for (uint32_t i = 0; i < sink->nspans; i++)
		if (from < sink->to[i] && from + inside > sink->from[i])
			rectangle(page, sink, "again", from > sink->from[i] ? from : sink->from[i],
				  O2_PAGE_LEAST(from + inside, sink->to[i]));
	if (inside != step->bytes)
		rectangle(page, sink, "over", from + inside,
			  step->bytes - inside < sink->total ? from + step->bytes : sink->total);
	bar_end(page, of);
	fill(sink, from, from + inside);
}

/* Does the message end a transfer that moved bytes, and whose WRITEs are all on the page? */
static bool tells_filled(const struct o2_page *page, const struct o2_told_step *step, uint32_t of)
{
	return step->msg->u.completion.ibcm_status >= 0 && (page->gap == O2_PAGE_NONE || page->gap <= of);
}

static void bar_done(const struct o2_page *page, const struct o2_told_step *step, uint32_t of)
{
	const struct o2_page_sink *sink = &page->sink[of];
	const uint32_t status = (uint32_t)step->msg->u.completion.ibcm_status;

	bar_begin(page, sink);
	rectangle(page, sink, status == sink->filled ? "status" : "status over", status, status);
	bar_end(page, of);
}

void o2_page_bar_text(const struct o2_page *page, uint32_t at, uint32_t of)
{
	const struct o2_told_step *step = o2_page_step(page, at);

	if (step->kind == O2_JUDGE_WRITE)
		write_text(page, step, of);
	else if (of != at && tells_filled(page, step, of))
		fprintf(page->out,
			": %" PRIu64 " bytes written of %" PRIu64 " that are offered, %" PRId32 " reported",
			page->sink[of].filled, page->sink[of].total, step->msg->u.completion.ibcm_status);
}

void o2_page_bar(struct o2_page *page, uint32_t at, uint32_t of)
{
	const struct o2_told_step *step = o2_page_step(page, at);

	if (of == at)
		bar_offer(page, at);
	else if (step->kind == O2_JUDGE_WRITE)
		bar_write(page, step, of);
	else if (tells_filled(page, step, of))
		bar_done(page, step, of);
}
