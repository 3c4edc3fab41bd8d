/* SPDX-License-Identifier: MIT */
#include "props/explain/explain_pen.h"

#include <inttypes.h>

static void left_out(const struct o2_pen *pen, const struct o2_box *box, double x)
{
	if (box->left_out > 0)
		o2_pen_text(pen, x, box->y - 10, "note mid", "\xe2\x80\xa6 %" PRIu32 " more \xe2\x80\xa6",
			    box->left_out);
}

/* A range of the transfer has the colour of the fragment that carries its first byte. */
static const char *colour_of(const struct o2_pen *pen, uint64_t byte)
{
	uint64_t run;

	return o2_pen_colour(o2_picture_fragment(pen->explain, byte, &run));
}

/* Fill a range of the transfer, divided where another fragment begins. */
static void fill_bytes(const struct o2_pen *pen, double x, double y, double w, double h, uint64_t byte,
		       uint64_t length)
{
	uint64_t done = 0, run;

	while (done < length) {
		uint32_t fragment = o2_picture_fragment(pen->explain, byte + done, &run);

		if (run > length - done)
			run = length - done;
		o2_pen_fill(pen, x, y + h * (double)done / (double)length, w,
			    h * (double)run / (double)length, o2_pen_colour(fragment));
		done += run;
	}
}

/* The next range of a page, from *at on, that is not in the buffer; false: no more. */
static bool next_outside(const struct o2_explain_end *end, uint32_t page, uint32_t *at, uint32_t *length)
{
	uint32_t next = end->page_bytes;

	for (uint32_t i = 0; i < end->npieces; i++) {
		const struct o2_extent *piece = &end->piece[i];

		if (piece->page != page || piece->offset + piece->length <= *at)
			continue;
		if (piece->offset <= *at) {
			*at = piece->offset + piece->length;
			next = end->page_bytes;
			i = UINT32_MAX; /* start again at the first piece */
		} else if (piece->offset < next) {
			next = piece->offset;
		}
	}
	*length = next - *at;
	return *at < end->page_bytes;
}

/* Draw the parts of a page outside the buffer: gaps in a source's page, red zones in a sink's. */
static void draw_outside(const struct o2_pen *pen, enum o2_side side, uint32_t page, double x, double y)
{
	const struct o2_explain_end *end = &pen->explain->end[side];
	uint32_t at = 0, length;

	for (; next_outside(end, page, &at, &length); at += length)
		o2_pen_rect(pen, x, y + at * O2_LAYOUT_PAGE_HEIGHT / end->page_bytes, PAGE_W,
			    length * O2_LAYOUT_PAGE_HEIGHT / end->page_bytes,
			    side == O2_SINK ? "class=\"zone\"" : "class=\"hole\"");
}

static void draw_pages(const struct o2_pen *pen, enum o2_side side, double x)
{
	const struct o2_layout_end *at = &pen->picture->end[side];
	const struct o2_explain_end *end = &pen->explain->end[side];
	uint64_t byte = 0;
	double y, h;

	for (uint32_t i = 0; i < at->npages; i++) {
		if (!at->page_box[i].shown)
			continue;
		left_out(pen, &at->page_box[i], x + PAGE_W / 2);
		draw_outside(pen, side, at->page[i], x, at->page_box[i].y);
		o2_pen_text(pen, side == O2_SINK ? x + PAGE_W + 8 : x - 8, at->page_box[i].y + 14,
			    side == O2_SINK ? "label" : "label end", "page %" PRIu32, at->page[i]);
	}
	for (uint32_t i = 0; i < end->npieces; i++) {
		const struct o2_extent *piece = &end->piece[i];

		if (o2_picture_page(pen->picture, side, piece->page, piece->offset, piece->length, &y, &h)) {
			fill_bytes(pen, x, y, PAGE_W, h, byte, piece->length);
			o2_pen_rect(pen, x, y, PAGE_W, h, "class=\"thin\"");
			if (h > 30)
				o2_pen_text(pen, x + PAGE_W / 2, y + h / 2 + 4, "mono mid",
					    "+%" PRIu32 "..%" PRIu32, piece->offset,
					    piece->offset + piece->length - 1);
		}
		byte += piece->length;
	}
	for (uint32_t i = 0; i < at->npages; i++)
		if (at->page_box[i].shown)
			o2_pen_rect(pen, x, at->page_box[i].y, PAGE_W, at->page_box[i].height,
				    "class=\"frame\"");
}

/* Draw the entries of the source's list, each joined with its page and its slot. */
static void draw_entries(const struct o2_pen *pen)
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
				o2_pen_band(pen, SOURCE_X + PAGE_W, y, h, ENTRY_X, box->y, box->height,
					    colour_of(pen, byte));
			fill_bytes(pen, ENTRY_X, box->y, ENTRY_W, box->height, byte, entry->length);
			o2_pen_rect(pen, ENTRY_X, box->y, ENTRY_W, box->height, "class=\"frame\"");
			o2_pen_text(pen, ENTRY_X + ENTRY_W / 2, box->y + box->height / 2 + 4, "mono mid",
				    "[%" PRIu32 "] %" PRIu32 " bytes", i, entry->length);
			if (i + 1 < end->sg.count &&
			    ((entry->offset + entry->length) % end->page_bytes != 0 ||
			     end->sg.entry[i + 1].offset != 0))
				o2_pen_text(pen, ENTRY_X + ENTRY_W + 3, box->y + box->height + 4, "gap",
					    "gap");
		}
		byte += entry->length;
	}
}

static void draw_window(const struct o2_pen *pen, enum o2_side side, double x, double other_x)
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
		o2_pen_rect(pen, x, at->slot_box[i].y, WIN_W, at->slot_box[i].height, "class=\"hole\"");
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
			o2_pen_band(pen, other_x, pen->picture->entry_box[i].y,
				    pen->picture->entry_box[i].height, x, y, h, colour_of(pen, byte));
		else if (!source && o2_picture_page(pen->picture, side, piece->page, piece->offset,
						    piece->length, &page_y, &page_h))
			o2_pen_band(pen, x + WIN_W, y, h, other_x, page_y, page_h, colour_of(pen, byte));
	}
	for (uint32_t i = 0; i < end->nslots; i++) {
		if (!at->slot_box[i].shown)
			continue;
		o2_pen_rect(pen, x, at->slot_box[i].y, WIN_W, at->slot_box[i].height, "class=\"frame\"");
		o2_pen_text(pen, x + 6, at->slot_box[i].y + 13, "mono",
			    end->slot[i].addr >> 32 == 0 ? "%s %" PRIu32 ": 0x%" PRIx64 : "%s %" PRIu32,
			    end->plan.npages > 0 ? "slot" : "page",
			    end->plan.npages > 0 ? i : end->slot[i].page, end->slot[i].addr);
		if (end->slot[i].addr >> 32 != 0 && at->slot_box[i].height > 28)
			o2_pen_text(pen, x + 6, at->slot_box[i].y + 26, "mono", "0x%" PRIx64,
				    end->slot[i].addr);
	}
}

/* Mark bytes of a fragment that lie in a gap of the window: the peer reaches memory outside the buffer. */
static void draw_reached_gaps(const struct o2_pen *pen, enum o2_side side, const struct o2_rdma_frag *frag,
			      double x)
{
	const struct o2_explain_end *end = &pen->explain->end[side];
	double y, h;

	for (uint32_t i = 0; i < end->nslots && end->plan.npages > 0; i++) {
		uint32_t at = 0, length;

		if (!pen->picture->end[side].slot_box[i].shown)
			continue;

		for (; next_outside(end, end->slot[i].page, &at, &length); at += length) {
			uint64_t from = end->slot[i].addr + at, to = from + length;

			from = from > frag->rf_addr ? from : frag->rf_addr;
			to = to < frag->rf_addr + frag->rf_nob ? to : frag->rf_addr + frag->rf_nob;
			if (from >= to || !o2_picture_range(pen->picture, side, from, to - from, &y, &h))
				continue;
			o2_pen_rect(pen, x + 2, y, FRG_W - 4, h, "class=\"zone\"");
			if (h > 14)
				o2_pen_text(pen, x + FRG_W / 2, y + h / 2 + 4, "red mid", "takes in the gap");
		}
	}
}

/* Mark bytes of the buffer that no fragment covers. */
static void draw_missed(const struct o2_pen *pen, enum o2_side side, double x)
{
	const struct o2_explain_end *end = &pen->explain->end[side];
	double y, h;

	for (uint32_t i = 0; i < end->npieces; i++) {
		const struct o2_extent *piece = &end->piece[i];
		const uint32_t slot = pen->picture->end[side].piece_slot[i];
		uint64_t from, to;

		if (slot == O2_NO_INDEX)
			continue;
		from = end->slot[slot].addr + piece->offset;
		to = from + piece->length;
		for (uint32_t k = 0; k < end->desc.rd_nfrags && from < to; k++) {
			const struct o2_rdma_frag *frag = &end->desc.rd_frags[k];

			if (from < frag->rf_addr || from - frag->rf_addr >= frag->rf_nob)
				continue;
			if (frag->rf_addr + frag->rf_nob <= from)
				return; /* the end of the address space */
			from = frag->rf_addr + frag->rf_nob;
			k = UINT32_MAX; /* start again at the first fragment */
		}
		if (from >= to || !o2_picture_range(pen->picture, side, from, to - from, &y, &h))
			continue;
		o2_pen_rect(pen, x + 2, y + 1, FRG_W - 4, h, "class=\"missed\"");
		if (h > 14)
			o2_pen_text(pen, x + FRG_W / 2, y + h / 2 + 4, "red mid", "left out");
	}
}

/* Draw the fragments beside the window, on its scale of addresses. */
static void draw_fragments(const struct o2_pen *pen, enum o2_side side, double x)
{
	const struct o2_explain_end *end = &pen->explain->end[side];
	double y, h, middle, last = 0;

	for (uint32_t i = 0; end->stage == O2_EXPLAIN_READY && i < end->desc.rd_nfrags; i++) {
		const struct o2_rdma_frag *frag = &end->desc.rd_frags[i];
		char style[96];

		if (!o2_picture_range(pen->picture, side, frag->rf_addr, frag->rf_nob, &y, &h))
			continue;
		snprintf(style, sizeof(style), "fill=\"%s\" class=\"fragment\"", o2_pen_colour(i));
		o2_pen_rect(pen, x + 2, y + 1, FRG_W - 4, h > 4 ? h - 2 : h, style);
		draw_reached_gaps(pen, side, frag, x);
		/* If a bar is too thin for text, put the text below it. */
		middle = h < 12 ? y + h + 6 : y + h / 2;
		if (middle - last < 11 && last - middle < 11)
			continue;
		last = middle;
		o2_pen_text(pen, x + FRG_W / 2, middle + (h > 30 ? -2 : 4), "mono mid",
			    "[%" PRIu32 "] %" PRIu32 " bytes", i, frag->rf_nob);
		if (h > 30)
			o2_pen_text(pen, x + FRG_W / 2, y + h / 2 + 12, "mono mid", "0x%" PRIx64,
				    frag->rf_addr);
	}
	if (end->stage == O2_EXPLAIN_READY)
		draw_missed(pen, side, x);
}

static void draw_work(const struct o2_pen *pen)
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
				o2_pen_band(pen, SOURCE_FRG_X + FRG_W, y, h, WORK_X,
					    box->y + box->height * (double)done / wr->length, part, paint);
			done += sge->length;
		}
		if (o2_picture_range(pen->picture, O2_SINK, wr->remote_addr, wr->length, &y, &h))
			o2_pen_band(pen, WORK_X + WORK_W, box->y, box->height, SINK_FRG_X, y, h, paint);
		snprintf(style, sizeof(style), "fill=\"%s\" class=\"fragment\" rx=\"8\"", paint);
		o2_pen_rect(pen, WORK_X, box->y, WORK_W, box->height, style);
		o2_pen_text(pen, WORK_X + WORK_W / 2, box->y + box->height / 2 - 2, "mono mid",
			    "write %" PRIu32, i);
		o2_pen_text(pen, WORK_X + WORK_W / 2, box->y + box->height / 2 + 11, "mono mid",
			    "%" PRIu32 " bytes", wr->length);
	}
}

void o2_pen_columns(const struct o2_pen *pen)
{
	draw_pages(pen, O2_SOURCE, SOURCE_X);
	draw_pages(pen, O2_SINK, SINK_X);
	draw_entries(pen);
	draw_window(pen, O2_SOURCE, SOURCE_WIN_X, ENTRY_X + ENTRY_W);
	draw_window(pen, O2_SINK, SINK_WIN_X, SINK_X);
	draw_work(pen);
	draw_fragments(pen, O2_SOURCE, SOURCE_FRG_X);
	draw_fragments(pen, O2_SINK, SINK_FRG_X);
}
