/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "props/explain/explain_pen.h"

#define LINE_HEIGHT 18.0

static void mark(const struct o2_pen *pen, double x, double y, uint32_t number)
{
	fprintf(pen->out,
		"<circle cx=\"%.1f\" cy=\"%.1f\" r=\"9\" fill=\"#fff\" stroke=\"" RED "\" "
		"stroke-width=\"2\"/>\n",
		x, y);
	o2_pen_text(pen, x, y + 4, "number", "%" PRIu32, number);
}

/* Draw wrong bytes in solid red, with an arrow from their origin. */
static void draw_wrong(const struct o2_pen *pen)
{
	const struct o2_explain *explain = pen->explain;
	double y, h, from_y, from_h;

	for (uint32_t i = 0; i < explain->nwrong; i++) {
		const struct o2_explain_wrong *wrong = &explain->wrong[i];

		if (!o2_picture_page(pen->picture, O2_SINK, wrong->page, wrong->offset, wrong->length, &y,
				     &h))
			continue;
		o2_pen_fill(pen, SINK_X, y, PAGE_W, h, RED);
		if (i >= O2_LAYOUT_FEW)
			continue; /* red, without a number and an arrow */
		if (wrong->found == O2_FOUND_BEFORE && h > 16)
			o2_pen_text(pen, SINK_X + PAGE_W / 2 - 6, y + h / 2 + 4, "white", "never written");
		else if (!wrong->in_buffer && h > 16)
			o2_pen_text(pen, SINK_X + PAGE_W / 2 - 6, y + h / 2 + 4, "white", "overwritten");
		if (wrong->found == O2_FOUND_ORIGIN && wrong->origin.kind == O2_FILL_PAGE &&
		    o2_picture_page(pen->picture, O2_SOURCE, wrong->origin.id,
				    (uint32_t)wrong->origin.offset_bytes, wrong->length, &from_y, &from_h)) {
			o2_pen_rect(pen, SOURCE_X, from_y, PAGE_W, from_h,
				    "fill=\"" RED "\" fill-opacity=\".25\" stroke=\"" RED
				    "\" stroke-width=\"2.5\"");
			from_y += from_h * 0.8; /* lets the arrow cross less text */
			for (int halo = 1; halo >= 0; halo--)
				fprintf(pen->out,
					"<path d=\"M%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1f\" fill=\"none\" "
					"%s/>\n",
					SOURCE_X + PAGE_W, from_y, SOURCE_X + PAGE_W + 300, from_y,
					SINK_X - 300, y + h * 0.8, SINK_X - 2, y + h * 0.8,
					halo ? "stroke=\"#fff\" stroke-width=\"6\" opacity=\".8\""
					     : "stroke=\"" RED
					       "\" stroke-width=\"2.5\" marker-end=\"url(#tip)\"");
			mark(pen, SOURCE_X + PAGE_W, from_y, i + 1);
		}
		mark(pen, SINK_X + PAGE_W, y + h / 2, i + 1);
	}
}

/* Bytes of words that fit in a line of `most` characters: up to a space, or a part of a word that is longer. */
static size_t line_bytes(const char *words, size_t most)
{
	const size_t length = strlen(words);
	size_t cut = most;

	if (length <= most)
		return length;
	while (cut > 0 && words[cut] != ' ')
		cut--;
	if (cut > 0)
		return cut;
	for (cut = most; cut > 1 && (words[cut] & 0xc0) == 0x80; cut--)
		; /* not in the middle of a character */
	return cut;
}

/* Draw a box with text: for a refusal, in place of the next stage. */
static void box_of_words(const struct o2_pen *pen, double x, double width, const char *title,
			 const char *words)
{
	const size_t per_line = (size_t)((width - 20) / 6.65);
	double y = O2_LAYOUT_TOP + 42;

	o2_pen_rect(pen, x, O2_LAYOUT_TOP, width, 118, "class=\"refused\"");
	o2_pen_text(pen, x + 10, O2_LAYOUT_TOP + 22, "red", "%s", title);
	while (*words != '\0' && y < O2_LAYOUT_TOP + 118) {
		const size_t cut = line_bytes(words, per_line);

		o2_pen_text(pen, x + 10, y, "mono", "%.*s", (int)cut, words);
		words += cut + strspn(words + cut, " ");
		y += 16;
	}
}

/* A given refusal has words of its own, and no field. */
static void refusal_text(const struct o2_error *error, char *text, size_t text_bytes)
{
	if (error->field == NULL)
		snprintf(text, text_bytes, "%s (%s)", error->rule, strerror(-error->code));
	else
		o2_error_text(error, text, text_bytes);
}

static void draw_refusals(const struct o2_pen *pen)
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
			refusal_text(&end->error, words, sizeof(words));
		box_of_words(pen, i == O2_SOURCE ? SOURCE_WIN_X : SINK_FRG_X, WIN_W + FRG_W,
			     stages[end->stage], words);
	}
	if (pen->explain->work_error.code != 0) {
		refusal_text(&pen->explain->work_error, words, sizeof(words));
		box_of_words(pen, WORK_X - 50, WORK_W + 100, "refused by rdma_plan", words);
	}
}

static void heading(const struct o2_pen *pen, double x, double w, const char *title, const char *below)
{
	o2_pen_text(pen, x + w / 2, O2_LAYOUT_TOP - 34, "head", "%s", title);
	o2_pen_text(pen, x + w / 2, O2_LAYOUT_TOP - 17, "note mid", "%s", below);
}

static void side_headings(const struct o2_pen *pen, enum o2_side side, double window_x, double fragment_x)
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

static void draw_headings(const struct o2_pen *pen, const char *defect)
{
	const struct o2_explain *explain = pen->explain;
	const struct o2_scenario *scenario = &explain->run.scenario;
	const struct o2_explain_end *source = &explain->end[O2_SOURCE];
	uint64_t wrong = 0;
	char below[80] = "";

	o2_pen_text(pen, 24, 34, "title", "%s of %" PRIu64 " bytes, %s to %s%s%s",
		    scenario->op == O2_OP_PUT ? "PUT" : "GET", o2_scenario_moved(scenario),
		    o2_reg_mode_name(scenario->source.mode), o2_reg_mode_name(scenario->sink.mode),
		    defect == NULL ? "" : ", with the deliberate defect ", defect == NULL ? "" : defect);
	for (uint32_t i = 0; i < explain->nwrong; i++)
		wrong += explain->wrong[i].length;
	if (explain->outcome != NULL)
		o2_pen_text(pen, 24, 62, wrong > 0 ? "outcome red" : "outcome", "%s", explain->outcome);
	else if (!explain->held && wrong > 0)
		o2_pen_text(pen, 24, 62, "outcome red",
			    "FAILED: %" PRIu64 " bytes of the sink's memory are wrong", wrong);
	else if (!explain->held)
		o2_pen_text(pen, 24, 62, "outcome red", "FAILED: %s", explain->report.signature);
	else if (explain->of_reference)
		o2_pen_text(pen, 24, 62, "outcome", "what the reference does; not what was found");
	else if (explain->run.prediction.verdict != O2_MOVES)
		o2_pen_text(pen, 24, 62, "outcome green", "held: refused as foretold, no byte changed (%s)",
			    explain->run.prediction.reason);
	else
		o2_pen_text(pen, 24, 62, "outcome green", "held: every byte is right, no other changed");
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

static void draw_legend(const struct o2_pen *pen, double y)
{
	static const struct {
		const char *style, *words;
		double width;
	} item[] = {
		{"fill=\"#8ecae6\" class=\"frame\"",
		 "bytes of the transfer, one colour for each sink fragment", 395},
		{"class=\"hole\"", "gap: in the page, not in the buffer", 255},
		{"class=\"zone\"", "red zone: must not change", 200},
		{"fill=\"" RED "\"", "wrong bytes, with an arrow from where they were taken", 395},
	};
	double x = 24;

	for (size_t i = 0; i < sizeof(item) / sizeof(item[0]); i++) {
		o2_pen_rect(pen, x, y - 12, 26, 15, item[i].style);
		o2_pen_text(pen, x + 34, y, "label", "%s", item[i].words);
		x += item[i].width + 20;
	}
}

void o2_explain_svg_defs(FILE *out)
{
	fputs("<defs><pattern id=\"hatch\" width=\"7\" height=\"7\" patternUnits=\"userSpaceOnUse\" "
	      "patternTransform=\"rotate(45)\"><rect width=\"7\" height=\"7\" fill=\"#f6f6f6\"/>"
	      "<path d=\"M0 0V7\" stroke=\"#aaa\" stroke-width=\"2\"/></pattern>"
	      "<pattern id=\"redhatch\" width=\"7\" height=\"7\" patternUnits=\"userSpaceOnUse\" "
	      "patternTransform=\"rotate(45)\"><rect width=\"7\" height=\"7\" fill=\"#fff\"/>"
	      "<path d=\"M0 0V7\" stroke=\"#eda5a5\" stroke-width=\"2\"/></pattern>"
	      "<marker id=\"tip\" markerWidth=\"9\" markerHeight=\"8\" refX=\"8\" refY=\"4\" "
	      "orient=\"auto\" "
	      "markerUnits=\"userSpaceOnUse\"><path d=\"M0 0L9 4L0 8Z\" fill=\"" RED "\"/></marker></defs>\n",
	      out);
}

static void open_document(const struct o2_pen *pen, double height)
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
		".missed{fill:none;stroke:" RED ";stroke-width:2;stroke-dasharray:6 4}"
		".refused{fill:#fff3f3;stroke:" RED ";stroke-width:2}</style>\n",
		WIDTH, height, WIDTH, height);
	o2_explain_svg_defs(pen->out);
	fputs("<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n", pen->out);
}

/* Describe the wrong runs, with the picture's numbers.  Returns the y where the next text goes. */
static double draw_words(const struct o2_pen *pen, double y)
{
	const struct o2_explain *explain = pen->explain;
	char words[400];

	for (uint32_t i = 0; i < explain->nwrong && i < O2_LAYOUT_FEW; i++) {
		o2_explain_wrong_text(&explain->wrong[i], words, sizeof(words));
		mark(pen, 34, y - 4, i + 1);
		o2_pen_text(pen, 52, y, "label", "%s", words);
		y += LINE_HEIGHT + 4;
	}
	if (explain->nwrong_all > O2_LAYOUT_FEW) {
		o2_pen_text(pen, 52, y, "label", "and %zu more", explain->nwrong_all - O2_LAYOUT_FEW);
		y += LINE_HEIGHT;
	}
	return y;
}

void o2_explain_svg(const struct o2_explain *explain, const char *defect, FILE *out)
{
	struct o2_picture *picture = calloc(1, sizeof(*picture));
	struct o2_pen pen = {.explain = explain, .picture = picture, .out = out};
	uint32_t lines = explain->nwrong < O2_LAYOUT_FEW ? explain->nwrong : O2_LAYOUT_FEW + 1;
	double y;

	if (picture == NULL)
		return;
	o2_picture_place(explain, picture);
	y = picture->bottom + 40;
	open_document(&pen, y + lines * (LINE_HEIGHT + 4) + 36);
	draw_headings(&pen, defect);
	o2_pen_columns(&pen);
	draw_refusals(&pen);
	draw_wrong(&pen);
	y = draw_words(&pen, y);
	draw_legend(&pen, y + 10);
	fputs("</svg>\n", out);
	free(picture);
}
