/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "props/explain_layout.h"

/* Columns: left edge and width. */
#define WIDTH	     1560.0
#define SOURCE_X     100.0
#define PAGE_W	     120.0
#define ENTRY_X	     264.0
#define ENTRY_W	     116.0
#define SOURCE_WIN_X 424.0
#define WIN_W	     130.0
#define SOURCE_FRG_X 558.0
#define FRG_W	     136.0
#define WORK_X	     742.0
#define WORK_W	     96.0
#define SINK_FRG_X   886.0
#define SINK_WIN_X   1026.0
#define SINK_X	     1330.0
#define LINE_HEIGHT  18.0

/* Bytes that do not move, beside the buffer or beyond what moves. */
#define IDLE "#e4e4e4"
#define RED  "#d00000"

struct pen {
	const struct o2_explain *explain;
	const struct o2_picture *picture;
	FILE *out;
};

static const char *colour(uint32_t fragment)
{
	static const char *const palette[] = {"#8ecae6", "#ffc971", "#a3d9a5", "#cdb4db",
					      "#90d5c9", "#e0d68a", "#b8c4e0", "#d8b79a"};

	return fragment == UINT32_MAX ? IDLE : palette[fragment % (sizeof(palette) / sizeof(palette[0]))];
}

static void text(const struct pen *pen, double x, double y, const char *class, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

static void text(const struct pen *pen, double x, double y, const char *class, const char *format, ...)
{
	char words[400];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(words, sizeof(words), format, arguments);
	va_end(arguments);
	fprintf(pen->out, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">", x, y, class);
	for (const char *c = words; *c != '\0'; c++) {
		if (*c == '<')
			fputs("&lt;", pen->out);
		else if (*c == '>')
			fputs("&gt;", pen->out);
		else if (*c == '&')
			fputs("&amp;", pen->out);
		else
			fputc(*c, pen->out);
	}
	fputs("</text>\n", pen->out);
}

static void rect(const struct pen *pen, double x, double y, double w, double h, const char *style)
{
	fprintf(pen->out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" %s/>\n", x, y, w, h,
		style);
}

static void fill(const struct pen *pen, double x, double y, double w, double h, const char *paint)
{
	char style[64];

	snprintf(style, sizeof(style), "fill=\"%s\"", paint);
	rect(pen, x, y, w, h, style);
}

/* A stretch on the left and what it is on the right. */
static void band(const struct pen *pen, double x1, double y1, double h1, double x2, double y2, double h2,
		 const char *paint)
{
	double middle = (x1 + x2) / 2;

	fprintf(pen->out,
		"<path d=\"M%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1fV%.1fC%.1f %.1f %.1f %.1f %.1f %.1fZ\" "
		"fill=\"%s\" opacity=\".35\"/>\n",
		x1, y1, middle, y1, middle, y2, x2, y2, y2 + h2, middle, y2 + h2, middle, y1 + h1, x1,
		y1 + h1, paint);
}

static void left_out(const struct pen *pen, const struct o2_box *box, double x)
{
	if (box->left_out > 0)
		text(pen, x, box->y - 10, "note mid", "\xe2\x80\xa6 %" PRIu32 " more \xe2\x80\xa6",
		     box->left_out);
}

/* The colour of a stretch of the transfer is that of the fragment that carries its first byte. */
static const char *colour_of(const struct pen *pen, uint64_t byte)
{
	uint64_t run;

	return colour(o2_picture_fragment(pen->explain, byte, &run));
}

/* A stretch of the transfer, cut where another fragment begins. */
static void fill_bytes(const struct pen *pen, double x, double y, double w, double h, uint64_t byte,
		       uint64_t length)
{
	uint64_t done = 0, run;

	while (done < length) {
		uint32_t fragment = o2_picture_fragment(pen->explain, byte + done, &run);

		if (run > length - done)
			run = length - done;
		fill(pen, x, y + h * (double)done / (double)length, w, h * (double)run / (double)length,
		     colour(fragment));
		done += run;
	}
}

static void draw_pages(const struct pen *pen, enum o2_side side, double x)
{
	const struct o2_layout_end *at = &pen->picture->end[side];
	const struct o2_explain_end *end = &pen->explain->end[side];
	uint64_t byte = 0;
	double y, h;

	for (uint32_t i = 0; i < at->npages; i++) {
		if (!at->page_box[i].shown)
			continue;
		left_out(pen, &at->page_box[i], x + PAGE_W / 2);
		rect(pen, x, at->page_box[i].y, PAGE_W, at->page_box[i].height,
		     side == O2_SINK ? "class=\"zone\"" : "class=\"hole\"");
		text(pen, side == O2_SINK ? x + PAGE_W + 8 : x - 8, at->page_box[i].y + 14,
		     side == O2_SINK ? "label" : "label end", "page %" PRIu32, at->page[i]);
	}
	for (uint32_t i = 0; i < end->npieces; i++) {
		const struct o2_extent *piece = &end->piece[i];

		if (o2_picture_page(pen->picture, side, piece->page, piece->offset, piece->length, &y, &h)) {
			fill_bytes(pen, x, y, PAGE_W, h, byte, piece->length);
			rect(pen, x, y, PAGE_W, h, "class=\"thin\"");
			if (h > 30)
				text(pen, x + PAGE_W / 2, y + h / 2 + 4, "mono mid", "+%" PRIu32 "..%" PRIu32,
				     piece->offset, piece->offset + piece->length - 1);
		}
		byte += piece->length;
	}
	for (uint32_t i = 0; i < at->npages; i++)
		if (at->page_box[i].shown)
			rect(pen, x, at->page_box[i].y, PAGE_W, at->page_box[i].height, "class=\"frame\"");
}

/* Entries of the source's list, each joined with its page and its slot. */
static void draw_entries(const struct pen *pen)
{
	const struct o2_explain_end *end = &pen->explain->end[O2_SOURCE];
	uint64_t byte = 0;
	double y, h;

	for (uint32_t i = 0; end->stage > O2_EXPLAIN_SG && i < end->sg.count; i++) {
		const struct o2_sg_entry *entry = &end->sg.entry[i];
		const struct o2_box *box = &pen->picture->entry_box[i];

		if (box->shown) {
			left_out(pen, box, ENTRY_X + ENTRY_W / 2);
			if (o2_picture_page(pen->picture, O2_SOURCE, entry->page, entry->offset,
					    entry->length, &y, &h))
				band(pen, SOURCE_X + PAGE_W, y, h, ENTRY_X, box->y, box->height,
				     colour_of(pen, byte));
			fill_bytes(pen, ENTRY_X, box->y, ENTRY_W, box->height, byte, entry->length);
			rect(pen, ENTRY_X, box->y, ENTRY_W, box->height, "class=\"frame\"");
			text(pen, ENTRY_X + ENTRY_W / 2, box->y + box->height / 2 + 4, "mono mid",
			     "[%" PRIu32 "] %" PRIu32 " bytes", i, entry->length);
			if (i + 1 < end->sg.count &&
			    ((entry->offset + entry->length) % end->page_bytes != 0 ||
			     end->sg.entry[i + 1].offset != 0))
				text(pen, ENTRY_X + ENTRY_W + 3, box->y + box->height + 4, "gap", "gap");
		}
		byte += entry->length;
	}
}

static void draw_window(const struct pen *pen, enum o2_side side, double x, double other_x)
{
	const struct o2_explain_end *end = &pen->explain->end[side];
	const struct o2_layout_end *at = &pen->picture->end[side];
	const bool source = side == O2_SOURCE;
	uint64_t byte = 0;
	double y, h, page_y, page_h;

	for (uint32_t i = 0; i < end->nslots; i++) {
		if (!at->slot_box[i].shown)
			continue;
		left_out(pen, &at->slot_box[i], x + WIN_W / 2);
		rect(pen, x, at->slot_box[i].y, WIN_W, at->slot_box[i].height, "class=\"hole\"");
	}
	for (uint32_t i = 0; i < end->npieces; byte += end->piece[i++].length) {
		const struct o2_extent *piece = &end->piece[i];
		const struct o2_explain_slot *slot;

		if (at->piece_slot[i] == O2_NO_INDEX)
			continue;
		slot = &end->slot[at->piece_slot[i]];
		if (!o2_picture_range(pen->picture, side, slot->addr + piece->offset, piece->length, &y, &h))
			continue;
		fill_bytes(pen, x, y, WIN_W, h, byte, piece->length);
		if (source && i < end->sg.count && pen->picture->entry_box[i].shown)
			band(pen, other_x, pen->picture->entry_box[i].y, pen->picture->entry_box[i].height, x,
			     y, h, colour_of(pen, byte));
		else if (!source && o2_picture_page(pen->picture, side, piece->page, piece->offset,
						    piece->length, &page_y, &page_h))
			band(pen, x + WIN_W, y, h, other_x, page_y, page_h, colour_of(pen, byte));
	}
	for (uint32_t i = 0; i < end->nslots; i++) {
		if (!at->slot_box[i].shown)
			continue;
		rect(pen, x, at->slot_box[i].y, WIN_W, at->slot_box[i].height, "class=\"frame\"");
		text(pen, x + 6, at->slot_box[i].y + 13, "mono", "%s%" PRIu32,
		     end->plan.npages > 0 ? "slot " : "page ", end->plan.npages > 0 ? i : end->slot[i].page);
		if (at->slot_box[i].height > 28)
			text(pen, x + 6, at->slot_box[i].y + 26, "mono", "0x%" PRIx64, end->slot[i].addr);
	}
}

/* Fragments stand beside the window, on its scale of addresses. */
static void draw_fragments(const struct pen *pen, enum o2_side side, double x)
{
	const struct o2_explain_end *end = &pen->explain->end[side];
	double y, h, last = 0;

	for (uint32_t i = 0; end->stage == O2_EXPLAIN_READY && i < end->desc.rd_nfrags; i++) {
		const struct o2_rdma_frag *frag = &end->desc.rd_frags[i];
		char style[96];

		if (!o2_picture_range(pen->picture, side, frag->rf_addr, frag->rf_nob, &y, &h))
			continue;
		snprintf(style, sizeof(style), "fill=\"%s\" class=\"fragment\"", colour(i));
		rect(pen, x + 2, y + 1, FRG_W - 4, h > 4 ? h - 2 : h, style);
		if (y + h / 2 - last < 11)
			continue;
		last = y + h / 2;
		text(pen, x + FRG_W / 2, y + h / 2 + (h > 30 ? -2 : 4), "mono mid",
		     "[%" PRIu32 "] %" PRIu32 " bytes", i, frag->rf_nob);
		if (h > 30)
			text(pen, x + FRG_W / 2, y + h / 2 + 12, "mono mid", "0x%" PRIx64, frag->rf_addr);
	}
}

static void draw_work(const struct pen *pen)
{
	const struct o2_rdma_plan *work = &pen->explain->work;
	uint64_t byte = 0;
	double y, h;

	for (uint32_t i = 0; pen->explain->planned && i < work->nwr; byte += work->wr[i++].length) {
		const struct o2_rdma_wr *wr = &work->wr[i];
		const struct o2_box *box = &pen->picture->wr_box[i];
		const char *paint = colour_of(pen, byte);
		uint64_t done = 0;
		char style[64];

		if (!box->shown)
			continue;
		left_out(pen, box, WORK_X + WORK_W / 2);
		for (uint32_t k = 0; k < wr->num_sge; k++) {
			const struct o2_rdma_sge *sge = &work->sge[wr->first_sge + k];
			double part = box->height * sge->length / wr->length;

			if (o2_picture_range(pen->picture, O2_SOURCE, sge->addr, sge->length, &y, &h))
				band(pen, SOURCE_FRG_X + FRG_W, y, h, WORK_X,
				     box->y + box->height * (double)done / wr->length, part, paint);
			done += sge->length;
		}
		if (o2_picture_range(pen->picture, O2_SINK, wr->remote_addr, wr->length, &y, &h))
			band(pen, WORK_X + WORK_W, box->y, box->height, SINK_FRG_X, y, h, paint);
		snprintf(style, sizeof(style), "fill=\"%s\" class=\"fragment\" rx=\"8\"", paint);
		rect(pen, WORK_X, box->y, WORK_W, box->height, style);
		text(pen, WORK_X + WORK_W / 2, box->y + box->height / 2 - 2, "mono mid", "write %" PRIu32, i);
		text(pen, WORK_X + WORK_W / 2, box->y + box->height / 2 + 11, "mono mid", "%" PRIu32 " bytes",
		     wr->length);
	}
}

static void mark(const struct pen *pen, double x, double y, uint32_t number)
{
	fprintf(pen->out,
		"<circle cx=\"%.1f\" cy=\"%.1f\" r=\"9\" fill=\"#fff\" stroke=\"" RED "\" "
		"stroke-width=\"2\"/>\n",
		x, y);
	text(pen, x, y + 4, "number", "%" PRIu32, number);
}

/* Wrong bytes in solid red, and an arrow from where they were taken. */
static void draw_wrong(const struct pen *pen)
{
	const struct o2_explain *explain = pen->explain;
	double y, h, from_y, from_h;

	for (uint32_t i = 0; i < explain->nwrong && i < O2_LAYOUT_FEW; i++) {
		const struct o2_explain_wrong *wrong = &explain->wrong[i];

		if (!o2_picture_page(pen->picture, O2_SINK, wrong->page, wrong->offset, wrong->length, &y,
				     &h))
			continue;
		fill(pen, SINK_X, y, PAGE_W, h, RED);
		if (wrong->found == O2_FOUND_BEFORE && h > 16)
			text(pen, SINK_X + PAGE_W / 2, y + h / 2 + 4, "white", "never written");
		else if (!wrong->in_buffer && h > 16)
			text(pen, SINK_X + PAGE_W / 2, y + h / 2 + 4, "white", "overwritten");
		if (wrong->found == O2_FOUND_ORIGIN && wrong->origin.kind == O2_FILL_PAGE &&
		    o2_picture_page(pen->picture, O2_SOURCE, wrong->origin.id,
				    (uint32_t)wrong->origin.offset_bytes, wrong->length, &from_y, &from_h)) {
			rect(pen, SOURCE_X, from_y, PAGE_W, from_h,
			     "fill=\"" RED "\" fill-opacity=\".25\" stroke=\"" RED "\" stroke-width=\"2.5\"");
			from_y += from_h / 2;
			for (int halo = 1; halo >= 0; halo--)
				fprintf(pen->out,
					"<path d=\"M%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1f\" fill=\"none\" "
					"%s/>\n",
					SOURCE_X + PAGE_W, from_y, SOURCE_X + PAGE_W + 300, from_y,
					SINK_X - 300, y + h / 2, SINK_X - 2, y + h / 2,
					halo ? "stroke=\"#fff\" stroke-width=\"6\" opacity=\".8\""
					     : "stroke=\"" RED
					       "\" stroke-width=\"2.5\" marker-end=\"url(#tip)\"");
			mark(pen, SOURCE_X + PAGE_W, from_y, i + 1);
		}
		mark(pen, SINK_X + PAGE_W, y + h / 2, i + 1);
	}
}

/* Words in a box: for a refusal, where the next stage would have been. */
static void box_of_words(const struct pen *pen, double x, double width, const char *title, const char *words)
{
	const size_t per_line = (size_t)(width / 6.4);
	double y = O2_LAYOUT_TOP + 42;

	rect(pen, x, O2_LAYOUT_TOP, width, 118, "class=\"refused\"");
	text(pen, x + 10, O2_LAYOUT_TOP + 22, "red", "%s", title);
	while (*words != '\0' && y < O2_LAYOUT_TOP + 118) {
		size_t n = strlen(words), cut;

		for (cut = n < per_line ? n : per_line; cut < n && cut > 1 && words[cut] != ' '; cut--)
			;
		text(pen, x + 10, y, "mono", "%.*s", (int)cut, words);
		words += cut + strspn(words + cut, " ");
		y += 16;
	}
}

static void draw_refusals(const struct pen *pen)
{
	static const char *const stages[] = {"not asked", "refused by sg_build", "refused by dma_map",
					     "refused by reg_plan", ""};
	char words[200];

	for (int i = 0; i < 2; i++) {
		const struct o2_explain_end *end = &pen->explain->end[i];

		if (end->stage == O2_EXPLAIN_READY)
			continue;
		snprintf(words, sizeof(words), "the other side refused before");
		if (end->stage != O2_EXPLAIN_NOT_ASKED)
			o2_error_text(&end->error, words, sizeof(words));
		box_of_words(pen, i == O2_SOURCE ? SOURCE_WIN_X : SINK_FRG_X, WIN_W + FRG_W,
			     stages[end->stage], words);
	}
	if (pen->explain->work_error.code != 0) {
		o2_error_text(&pen->explain->work_error, words, sizeof(words));
		box_of_words(pen, WORK_X - 50, WORK_W + 100, "refused by rdma_plan", words);
	}
}

static void heading(const struct pen *pen, double x, double w, const char *title, const char *below)
{
	text(pen, x + w / 2, O2_LAYOUT_TOP - 34, "head", "%s", title);
	text(pen, x + w / 2, O2_LAYOUT_TOP - 17, "note mid", "%s", below);
}

static void side_headings(const struct pen *pen, enum o2_side side, double window_x, double fragment_x)
{
	const struct o2_explain_end *end = &pen->explain->end[side];
	char below[80];

	snprintf(below, sizeof(below), "mode %s", o2_reg_mode_name(end->memory->mode));
	if (end->stage == O2_EXPLAIN_READY && end->plan.npages > 0)
		snprintf(below, sizeof(below), "%s, %" PRIu32 " pages", o2_reg_mode_name(end->memory->mode),
			 end->plan.npages);
	heading(pen, window_x, WIN_W, side == O2_SOURCE ? "registered" : "sink window", below);
	snprintf(below, sizeof(below), "%s%" PRIu32, side == O2_SINK ? "published: " : "gathered from: ",
		 end->stage == O2_EXPLAIN_READY ? end->desc.rd_nfrags : 0);
	heading(pen, fragment_x, FRG_W, "fragments", below);
}

static void draw_headings(const struct pen *pen, const char *defect)
{
	const struct o2_explain *explain = pen->explain;
	const struct o2_scenario *scenario = &explain->run.scenario;
	const struct o2_explain_end *source = &explain->end[O2_SOURCE];
	uint64_t wrong = 0;
	char below[80] = "";

	text(pen, 24, 34, "title", "%s of %" PRIu64 " bytes, %s to %s%s%s",
	     scenario->op == O2_OP_PUT ? "PUT" : "GET", o2_scenario_moved(scenario),
	     o2_reg_mode_name(scenario->source.mode), o2_reg_mode_name(scenario->sink.mode),
	     defect == NULL ? "" : ", with the deliberate defect ", defect == NULL ? "" : defect);
	for (uint32_t i = 0; i < explain->nwrong; i++)
		wrong += explain->wrong[i].length;
	if (!explain->held && wrong > 0)
		text(pen, 24, 62, "outcome red", "FAILED: %" PRIu64 " bytes of the sink's memory are wrong",
		     wrong);
	else if (!explain->held)
		text(pen, 24, 62, "outcome red", "FAILED: %s", explain->report.signature);
	else if (explain->run.prediction.verdict != O2_MOVES)
		text(pen, 24, 62, "outcome green", "held: refused as foretold, no byte changed (%s)",
		     explain->run.prediction.reason);
	else
		text(pen, 24, 62, "outcome green", "held: every byte is right, no other changed");
	if (source->stage > O2_EXPLAIN_SG)
		snprintf(below, sizeof(below), "%" PRIu32 " entries, %s", source->sg.count,
			 source->sg.gaps ? "gaps" : "no gaps");
	heading(pen, SOURCE_X, PAGE_W, "source pages", "");
	heading(pen, ENTRY_X, ENTRY_W, "scatter list", below);
	side_headings(pen, O2_SOURCE, SOURCE_WIN_X, SOURCE_FRG_X);
	snprintf(below, sizeof(below), "RDMA WRITE: %" PRIu32, explain->planned ? explain->work.nwr : 0);
	heading(pen, WORK_X, WORK_W, "work requests", below);
	side_headings(pen, O2_SINK, SINK_WIN_X, SINK_FRG_X);
	heading(pen, SINK_X, PAGE_W, "sink pages", "after the transfer");
}

static void draw_legend(const struct pen *pen, double y)
{
	static const struct {
		const char *style, *words;
		double width;
	} item[] = {
		{"fill=\"#8ecae6\" class=\"frame\"",
		 "bytes of the transfer, one colour for each sink fragment", 360},
		{"class=\"hole\"", "gap: in the page, not in the buffer", 255},
		{"class=\"zone\"", "red zone: must not change", 200},
		{"fill=\"" RED "\"", "wrong bytes, with an arrow from where they were taken", 360},
	};
	double x = 24;

	for (size_t i = 0; i < sizeof(item) / sizeof(item[0]); i++) {
		rect(pen, x, y - 12, 26, 15, item[i].style);
		text(pen, x + 34, y, "label", "%s", item[i].words);
		x += item[i].width + 20;
	}
}

static void open_document(const struct pen *pen, double height)
{
	fprintf(pen->out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" "
		"height=\"%.0f\" font-family=\"sans-serif\" font-size=\"13\" fill=\"#222\">\n"
		"<style>.mono{font:11px monospace}.mid,.head,.number,.white{text-anchor:middle}"
		".end{text-anchor:end}.title{font-size:20px;font-weight:bold}.head{font-weight:bold}"
		".outcome{font-size:16px;font-weight:bold}.note{font-size:12px;fill:#666}"
		".red{fill:" RED ";font-weight:bold}.green{fill:#1b7a34}.gap{font-size:12px;fill:#b35c00;"
		"font-weight:bold}.number{font-size:12px;font-weight:bold;fill:" RED "}"
		".white{fill:#fff;font-weight:bold}.frame{stroke:#333;stroke-width:1.2}"
		"rect.frame:not([fill]){fill:none}.thin{fill:none;stroke:#333;stroke-width:.5}"
		".hole{fill:url(#hatch);stroke:#999}.zone{fill:url(#redhatch);stroke:" RED
		";stroke-width:2.5}.fragment{stroke:#333;stroke-width:1.5}"
		".refused{fill:#fff3f3;stroke:" RED ";stroke-width:2}</style>\n"
		"<defs><pattern id=\"hatch\" width=\"7\" height=\"7\" patternUnits=\"userSpaceOnUse\" "
		"patternTransform=\"rotate(45)\"><rect width=\"7\" height=\"7\" fill=\"#f6f6f6\"/>"
		"<path d=\"M0 0V7\" stroke=\"#aaa\" stroke-width=\"2\"/></pattern>"
		"<pattern id=\"redhatch\" width=\"7\" height=\"7\" patternUnits=\"userSpaceOnUse\" "
		"patternTransform=\"rotate(45)\"><rect width=\"7\" height=\"7\" fill=\"#fff\"/>"
		"<path d=\"M0 0V7\" stroke=\"#eda5a5\" stroke-width=\"2\"/></pattern>"
		"<marker id=\"tip\" markerWidth=\"9\" markerHeight=\"8\" refX=\"8\" refY=\"4\" "
		"orient=\"auto\" "
		"markerUnits=\"userSpaceOnUse\"><path d=\"M0 0L9 4L0 8Z\" fill=\"" RED
		"\"/></marker></defs>\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
		WIDTH, height, WIDTH, height);
}

/* The wrong runs in words, numbered as in the picture.  Returns where to go on. */
static double draw_words(const struct pen *pen, double y)
{
	const struct o2_explain *explain = pen->explain;
	char words[400];

	for (uint32_t i = 0; i < explain->nwrong && i < O2_LAYOUT_FEW; i++) {
		o2_explain_wrong_text(&explain->wrong[i], words, sizeof(words));
		mark(pen, 34, y - 4, i + 1);
		text(pen, 52, y, "label", "%s", words);
		y += LINE_HEIGHT + 4;
	}
	if (explain->nwrong_all > O2_LAYOUT_FEW) {
		text(pen, 52, y, "label", "and %zu more", explain->nwrong_all - O2_LAYOUT_FEW);
		y += LINE_HEIGHT;
	}
	return y;
}

void o2_explain_svg(const struct o2_explain *explain, const char *defect, FILE *out)
{
	struct o2_picture *picture = calloc(1, sizeof(*picture));
	struct pen pen = {.explain = explain, .picture = picture, .out = out};
	uint32_t lines = explain->nwrong < O2_LAYOUT_FEW ? explain->nwrong : O2_LAYOUT_FEW + 1;
	double y;

	if (picture == NULL)
		return;
	o2_picture_place(explain, picture);
	y = picture->bottom + 40;
	open_document(&pen, y + lines * (LINE_HEIGHT + 4) + 36);
	draw_headings(&pen, defect);
	draw_pages(&pen, O2_SOURCE, SOURCE_X);
	draw_pages(&pen, O2_SINK, SINK_X);
	draw_entries(&pen);
	draw_window(&pen, O2_SOURCE, SOURCE_WIN_X, ENTRY_X + ENTRY_W);
	draw_window(&pen, O2_SINK, SINK_WIN_X, SINK_X);
	draw_work(&pen);
	draw_fragments(&pen, O2_SOURCE, SOURCE_FRG_X);
	draw_fragments(&pen, O2_SINK, SINK_FRG_X);
	draw_refusals(&pen);
	draw_wrong(&pen);
	y = draw_words(&pen, y);
	draw_legend(&pen, y + 10);
	fputs("</svg>\n", out);
	free(picture);
}
