/* SPDX-License-Identifier: MIT */
#include "props/explain/explain_layout.h"

#define PAGE_GAP    14.0
#define ENTRY_MIN   18.0
#define ENTRY_GAP   4.0
#define NOTE_HEIGHT 26.0 /* height of "... 241 more ..." */
#define THINNEST    3.0

/* Choose which boxes of a list are drawn. */
static void choose(struct o2_box *box, uint32_t n)
{
	uint32_t left_out = 0;

	for (uint32_t i = 0; i < n; i++) {
		box[i].shown = n <= 2 * O2_LAYOUT_FEW + 1 || i < O2_LAYOUT_FEW || i >= n - O2_LAYOUT_FEW ||
			       box[i].keep;
		box[i].left_out = box[i].shown ? left_out : 0;
		left_out = box[i].shown ? 0 : left_out + 1;
	}
}

/* Place a box at *y, or at `wanted` if that is lower; then move *y below the box. */
static void put(struct o2_box *box, double wanted, double gap, double *y)
{
	if (box->left_out > 0)
		*y += NOTE_HEIGHT;
	box->y = wanted > *y ? wanted : *y;
	*y = box->y + box->height + gap;
}

static double scaled(const struct o2_explain_end *end, uint64_t bytes)
{
	return (double)bytes * O2_LAYOUT_PAGE_HEIGHT / end->page_bytes;
}

static struct o2_box *page_box(struct o2_layout_end *at, uint32_t page)
{
	for (uint32_t i = 0; i < at->npages; i++)
		if (at->page[i] == page)
			return &at->page_box[i];
	if (at->npages == O2_SCENARIO_PAGES)
		return &at->page_box[0];
	at->page[at->npages] = page;
	return &at->page_box[at->npages++];
}

static void place_pages(const struct o2_explain *explain, enum o2_side side, struct o2_layout_end *at)
{
	const struct o2_explain_end *end = &explain->end[side];
	double y = O2_LAYOUT_TOP;

	for (uint32_t i = 0; i < end->npieces; i++)
		page_box(at, end->piece[i].page);
	for (uint32_t i = 0; i < explain->nwrong && i < O2_LAYOUT_FEW; i++) {
		const struct o2_explain_wrong *wrong = &explain->wrong[i];

		if (side == O2_SINK)
			page_box(at, wrong->page)->keep = true;
		else if (wrong->found == O2_FOUND_ORIGIN && wrong->origin.kind == O2_FILL_PAGE)
			page_box(at, wrong->origin.id)->keep = true;
	}
	choose(at->page_box, at->npages);
	for (uint32_t i = 0; i < at->npages; i++) {
		at->page_box[i].height = O2_LAYOUT_PAGE_HEIGHT;
		if (at->page_box[i].shown)
			put(&at->page_box[i], 0, PAGE_GAP, &y);
	}
}

/* Find the slot of each piece; a piece that continues in the same page keeps the slot of the one before. */
static void find_piece_slots(const struct o2_explain_end *end, struct o2_layout_end *at)
{
	uint32_t slot = O2_NO_INDEX;

	for (uint32_t i = 0; i < end->npieces; i++) {
		const struct o2_extent *piece = &end->piece[i];
		const bool listed = end->plan.npages > 0;
		uint32_t tries = 0;

		at->piece_slot[i] = O2_NO_INDEX;
		if (end->stage != O2_EXPLAIN_READY || end->nslots == 0)
			continue;
		if (slot == O2_NO_INDEX)
			slot = 0;
		else if (end->slot[slot].page != piece->page || (listed && piece->offset == 0))
			slot = (slot + 1) % end->nslots;
		while (tries < end->nslots && end->slot[slot].page != piece->page) {
			slot = (slot + 1) % end->nslots;
			tries++;
		}
		if (tries < end->nslots)
			at->piece_slot[i] = slot;
	}
}

static void place_slots(const struct o2_explain_end *end, struct o2_layout_end *at)
{
	double y = O2_LAYOUT_TOP;

	find_piece_slots(end, at);
	if (end->stage != O2_EXPLAIN_READY)
		return;
	for (uint32_t i = 0; i < end->npieces; i++)
		for (uint32_t k = 0; k < at->npages && at->piece_slot[i] != O2_NO_INDEX; k++)
			if (at->page[k] == end->piece[i].page && at->page_box[k].keep)
				at->slot_box[at->piece_slot[i]].keep = true;
	choose(at->slot_box, end->nslots);
	for (uint32_t i = 0; i < end->nslots; i++) {
		bool runs_on = i + 1 < end->nslots &&
			       end->slot[i].addr + end->slot[i].length == end->slot[i + 1].addr;
		double height = scaled(end, end->slot[i].length);

		at->slot_box[i].height = height > 2 * O2_LAYOUT_PAGE_HEIGHT ? 2 * O2_LAYOUT_PAGE_HEIGHT
					 : height < ENTRY_MIN		    ? ENTRY_MIN
									    : height;
		if (at->slot_box[i].shown)
			put(&at->slot_box[i], 0, runs_on ? 0 : PAGE_GAP, &y);
	}
}

static void place_entries(struct o2_picture *picture)
{
	const struct o2_explain_end *end = &picture->explain->end[O2_SOURCE];
	double y = O2_LAYOUT_TOP;

	if (end->stage <= O2_EXPLAIN_SG)
		return;
	choose(picture->entry_box, end->sg.count);
	for (uint32_t i = 0; i < end->sg.count; i++) {
		const struct o2_sg_entry *entry = &end->sg.entry[i];
		struct o2_box *box = &picture->entry_box[i];
		double beside = 0, height;

		box->height = scaled(end, entry->length);
		if (box->height < ENTRY_MIN)
			box->height = ENTRY_MIN;
		o2_picture_page(picture, O2_SOURCE, entry->page, entry->offset, entry->length, &beside,
				&height);
		if (box->shown)
			put(box, beside, ENTRY_GAP, &y);
	}
}

static void place_work(struct o2_picture *picture)
{
	const struct o2_rdma_plan *work = &picture->explain->work;
	double y = O2_LAYOUT_TOP;

	choose(picture->wr_box, work->nwr);
	for (uint32_t i = 0; i < work->nwr; i++) {
		struct o2_box *box = &picture->wr_box[i];
		double beside = 0, height = 0;

		o2_picture_range(picture, O2_SINK, work->wr[i].remote_addr, work->wr[i].length, &beside,
				 &height);
		box->height = height > 2 * ENTRY_MIN ? height - ENTRY_GAP : 2 * ENTRY_MIN - ENTRY_GAP;
		if (box->shown)
			put(box, beside, ENTRY_GAP, &y);
	}
}

static double lowest(const struct o2_box *box, uint32_t n, double bottom)
{
	for (uint32_t i = 0; i < n; i++)
		if (box[i].shown && box[i].y + box[i].height > bottom)
			bottom = box[i].y + box[i].height;
	return bottom;
}

void o2_picture_place(const struct o2_explain *explain, struct o2_picture *picture)
{
	picture->explain = explain;
	for (int i = 0; i < 2; i++) {
		place_pages(explain, (enum o2_side)i, &picture->end[i]);
		place_slots(&explain->end[i], &picture->end[i]);
	}
	place_entries(picture);
	if (explain->planned)
		place_work(picture);
	picture->bottom = O2_LAYOUT_TOP + 2 * O2_LAYOUT_PAGE_HEIGHT;
	for (int i = 0; i < 2; i++) {
		picture->bottom = lowest(picture->end[i].page_box, picture->end[i].npages, picture->bottom);
		picture->bottom = lowest(picture->end[i].slot_box, O2_MAX_FRAGS, picture->bottom);
	}
	picture->bottom = lowest(picture->entry_box, O2_MAX_FRAGS, picture->bottom);
	picture->bottom = lowest(picture->wr_box, O2_MAX_FRAGS, picture->bottom);
}

bool o2_picture_page(const struct o2_picture *picture, enum o2_side side, uint32_t page, uint32_t offset,
		     uint32_t length, double *y, double *height)
{
	const struct o2_layout_end *at = &picture->end[side];
	const struct o2_explain_end *end = &picture->explain->end[side];

	for (uint32_t i = 0; i < at->npages; i++) {
		if (at->page[i] != page || !at->page_box[i].shown)
			continue;
		*y = at->page_box[i].y + scaled(end, offset);
		*height = scaled(end, length) < THINNEST ? THINNEST : scaled(end, length);
		return true;
	}
	return false;
}

bool o2_picture_range(const struct o2_picture *picture, enum o2_side side, uint64_t addr, uint64_t length,
		      double *y, double *height)
{
	const struct o2_explain_end *end = &picture->explain->end[side];
	double top = 0, bottom = -1;

	for (uint32_t i = 0; i < end->nslots; i++) {
		const struct o2_explain_slot *slot = &end->slot[i];
		const struct o2_box *box = &picture->end[side].slot_box[i];
		uint64_t from = addr > slot->addr ? addr : slot->addr;
		uint64_t to =
			addr + length < slot->addr + slot->length ? addr + length : slot->addr + slot->length;

		if (!box->shown || from >= to)
			continue;
		if (bottom < 0)
			top = box->y + (double)(from - slot->addr) / slot->length * box->height;
		bottom = box->y + (double)(to - slot->addr) / slot->length * box->height;
	}
	*y = top;
	*height = bottom - top < THINNEST ? THINNEST : bottom - top;
	return bottom >= 0;
}

uint32_t o2_picture_fragment(const struct o2_explain *explain, uint64_t byte, uint64_t *run)
{
	const struct o2_explain_end *end = explain->end[O2_SINK].stage == O2_EXPLAIN_READY
						   ? &explain->end[O2_SINK]
						   : &explain->end[O2_SOURCE];
	uint64_t moved = o2_scenario_moved(&explain->run.scenario), at = 0;

	*run = UINT64_MAX;
	if (byte >= moved || end->stage != O2_EXPLAIN_READY)
		return UINT32_MAX;
	for (uint32_t i = 0; i < end->desc.rd_nfrags; i++) {
		at += end->desc.rd_frags[i].rf_nob;
		if (byte < at) {
			*run = (at < moved ? at : moved) - byte;
			return i;
		}
	}
	return UINT32_MAX;
}
