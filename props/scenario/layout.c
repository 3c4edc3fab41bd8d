/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "props/scenario/generate_internal.h"

#define PAGE	   ((uint64_t)O2_SCENARIO_PAGE_BYTES)
#define VIEW_BYTES ((uint64_t)O2_SCENARIO_PAGES * PAGE)

/* Most pieces that carry bytes; the rest of O2_SCENARIO_PIECES is left for the extras. */
#define CARRYING_PIECES ((uint64_t)O2_MAX_FRAGS + 4)

/* The number of pieces for nob bytes: a few, or many.  min and max: limits of the kind of vector. */
static uint32_t draw_count(struct o2_layout *layout, uint64_t min, uint64_t max)
{
	uint64_t most = max < O2_MAX_FRAGS ? max : O2_MAX_FRAGS;
	uint64_t few = min + 4 < most ? min + 4 : most;

	/* More than the table holds, to test the refusal. */
	if (layout->nob >= CARRYING_PIECES && o2_draw_bool(layout->choice, 31, 1))
		return (uint32_t)o2_draw_range(layout->choice, O2_MAX_FRAGS + 1, CARRYING_PIECES);
	if (most < min)
		most = min;
	if (few > most)
		few = most;
	return (uint32_t)o2_draw_range(layout->choice, min, o2_draw_bool(layout->choice, 2, 1) ? most : few);
}

/* The length of the next piece when left bytes and pieces (including this one) remain. */
static uint64_t draw_length(struct o2_layout *layout, uint64_t left, uint32_t pieces, uint64_t max)
{
	uint64_t others = pieces - 1;
	uint64_t low = left > others * max ? left - others * max : 1;
	uint64_t high = left - others < max ? left - others : max;

	return o2_draw_range(layout->choice, low, high);
}

static uint32_t page_of(const struct o2_layout *layout, uint32_t index)
{
	return (uint32_t)((layout->start_page + (uint64_t)index * layout->stride) % O2_SCENARIO_PAGES);
}

/* Pages in order, in reverse, or scattered. */
static void draw_page_order(struct o2_layout *layout)
{
	static const uint32_t weight[] = {2, 1, 2};

	layout->start_page = (uint32_t)o2_draw(layout->choice, O2_SCENARIO_PAGES - 1);
	layout->pages_used = 0;
	switch (o2_draw_weighted(layout->choice, weight, 3)) {
	case 0:
		layout->stride = 1;
		break;
	case 1:
		layout->stride = O2_SCENARIO_PAGES - 1;
		break;
	default:
		layout->stride = (uint32_t)o2_draw_range(layout->choice, 2, O2_SCENARIO_PAGES - 2);
		break;
	}
}

/* Draw the offset of a dense list's first byte in its page: 0 in half of the cases. */
static uint32_t draw_first_offset(struct o2_layout *layout)
{
	if (o2_draw_bool(layout->choice, 1, 1))
		return (uint32_t)o2_draw(layout->choice, PAGE - 1);
	return 0;
}

/* Draw an unused page, or (sources that alias) a used one. */
static uint32_t draw_page(struct o2_layout *layout)
{
	if (layout->alias && layout->pages_used > 0 && o2_draw_bool(layout->choice, 1, 1))
		return page_of(layout, (uint32_t)o2_draw(layout->choice, layout->pages_used - 1));
	return page_of(layout, layout->pages_used++);
}

static void kiov_dense(struct o2_layout *layout, struct o2_scenario_side *side)
{
	uint32_t offset = draw_first_offset(layout);
	uint64_t left = layout->nob;

	while (left > 0) {
		uint64_t take = left < PAGE - offset ? left : PAGE - offset;

		side->kiov[side->count++] = (struct o2_kiov){
			.page = draw_page(layout),
			.offset = offset,
			.len = (uint32_t)take,
		};
		left -= take;
		offset = 0;
	}
}

/* Place a piece: in an unused page, after the previous piece in its page, or (sources) in a used page. */
static void place_gapped(struct o2_layout *layout, struct o2_scenario_side *side, uint32_t length)
{
	const struct o2_kiov *before = side->count > 0 ? &side->kiov[side->count - 1] : NULL;
	struct o2_kiov *piece = &side->kiov[side->count++];

	piece->len = length;
	if (before != NULL && before->offset + before->len + length <= PAGE &&
	    o2_draw_bool(layout->choice, 3, 1)) {
		uint32_t end = before->offset + before->len;

		piece->page = before->page;
		piece->offset = end + (uint32_t)o2_draw(layout->choice, PAGE - end - length);
		return;
	}
	piece->page = draw_page(layout);
	piece->offset = (uint32_t)o2_draw(layout->choice, PAGE - length);
}

void o2_layout_kiov(struct o2_layout *layout, struct o2_scenario_side *side)
{
	uint64_t left = layout->nob;
	uint32_t pieces;

	draw_page_order(layout);
	if (!layout->gapped) {
		kiov_dense(layout, side);
		return;
	}
	pieces = draw_count(layout, (left + PAGE - 1) / PAGE, left);
	for (; pieces > 0; pieces--) {
		uint32_t length;

		o2_span_begin(layout->choice, O2_SPAN_PIECE);
		length = (uint32_t)draw_length(layout, left, pieces, PAGE);
		place_gapped(layout, side, length);
		o2_span_end(layout->choice);
		left -= length;
	}
}

/* Place the next piece of an IOV: after all others, or (sources) at the start of an earlier one. */
static void place_iov(struct o2_layout *layout, struct o2_scenario_side *side, uint64_t length)
{
	uint64_t base = layout->next_base;
	uint64_t room = VIEW_BYTES - base - length;

	if (layout->alias && side->count > 0 && o2_draw_bool(layout->choice, 1, 1)) {
		uint64_t earlier = side->iov[o2_draw(layout->choice, side->count - 1)].base;

		if (earlier + length <= VIEW_BYTES)
			base = earlier;
	} else if (layout->gapped && !layout->touching && side->count > 0) {
		uint64_t gap = o2_draw(layout->choice, PAGE - 1);

		/* Touching, a few bytes apart, or a page apart. */
		if (o2_draw_bool(layout->choice, 2, 1))
			gap %= 64;
		base += gap < room ? gap : 0;
	}
	side->iov[side->count++] = (struct o2_iov){.base = base, .len = length};
	if (base + length > layout->next_base)
		layout->next_base = base + length;
}

/* Draw the length of a dense piece: all but the last piece end on a page boundary. */
static uint64_t dense_length(struct o2_layout *layout, uint64_t left, uint32_t pieces)
{
	uint64_t to_boundary = PAGE - layout->next_base % PAGE;
	uint64_t pages;

	if (pieces == 1 || left <= to_boundary)
		return left;
	pages = o2_draw(layout->choice, (left - to_boundary - 1) / PAGE);
	return to_boundary + pages * PAGE;
}

void o2_layout_iov(struct o2_layout *layout, struct o2_scenario_side *side)
{
	uint64_t entries = layout->nob / PAGE + 2;
	/* Each piece may need two more entries than its pages; leave room for them in the table. */
	uint64_t most = entries + 2 < O2_MAX_FRAGS ? 1 + (O2_MAX_FRAGS - entries) / 2 : 1;
	uint64_t left = layout->nob;
	uint32_t pieces = draw_count(layout, 1, most < left ? most : left);

	layout->next_base = o2_draw(layout->choice, 100) * PAGE + draw_first_offset(layout);
	for (; left > 0; pieces--) {
		uint64_t length;

		o2_span_begin(layout->choice, O2_SPAN_PIECE);
		length = layout->gapped ? draw_length(layout, left, pieces, left)
					: dense_length(layout, left, pieces);
		place_iov(layout, side, length);
		o2_span_end(layout->choice);
		left -= length;
	}
}

static void insert_piece(struct o2_scenario_side *side, uint32_t at)
{
	if (side->vector == O2_IOV) {
		memmove(&side->iov[at + 1], &side->iov[at], (side->count - at) * sizeof(side->iov[0]));
		side->iov[at] = (struct o2_iov){0};
	} else {
		memmove(&side->kiov[at + 1], &side->kiov[at], (side->count - at) * sizeof(side->kiov[0]));
		side->kiov[at] = (struct o2_kiov){0};
	}
	side->count++;
}

/* Add bytes of the first piece, or a whole piece, before the transfer. */
static void draw_lead(struct o2_layout *layout, struct o2_scenario_side *side)
{
	uint64_t room = side->vector == O2_IOV ? side->iov[0].base : side->kiov[0].offset;
	uint64_t lead;

	/* Leave a source that uses memory twice unchanged: its pieces may depend on each other's places. */
	if (layout->alias)
		return;
	if (room > PAGE - 1)
		room = PAGE - 1;
	lead = o2_draw(layout->choice, room);
	side->offset_bytes = lead;
	if (side->vector == O2_IOV) {
		side->iov[0].base -= lead;
		side->iov[0].len += lead;
	} else {
		side->kiov[0].offset -= (uint32_t)lead;
		side->kiov[0].len += (uint32_t)lead;
	}
	if (!o2_draw_bool(layout->choice, 1, 1) || side->count >= O2_SCENARIO_PIECES - 4)
		return;
	/* Insert a whole piece first: the offset then ends after an entry's boundary, or on it when lead is 0. */
	insert_piece(side, 0);
	if (side->vector == O2_IOV)
		side->iov[0] = (struct o2_iov){.base = layout->next_base, .len = PAGE};
	else
		side->kiov[0] = (struct o2_kiov){.page = page_of(layout, layout->pages_used++), .len = PAGE};
	if (side->vector == O2_IOV)
		layout->next_base += PAGE;
	side->offset_bytes += PAGE;
}

static void draw_tail(struct o2_layout *layout, struct o2_scenario_side *side)
{
	uint64_t room;

	if (layout->alias)
		return;
	if (side->vector == O2_KIOV) {
		struct o2_kiov *last = &side->kiov[side->count - 1];

		last->len += (uint32_t)o2_draw(layout->choice, PAGE - last->offset - last->len);
		return;
	}
	room = VIEW_BYTES - layout->next_base;
	if (side->iov[side->count - 1].base + side->iov[side->count - 1].len == layout->next_base) {
		uint64_t tail = o2_draw(layout->choice, room < PAGE ? room : PAGE);

		side->iov[side->count - 1].len += tail;
		layout->next_base += tail;
	}
}

void o2_layout_extras(struct o2_layout *layout, struct o2_scenario_side *side)
{
	if (o2_draw_bool(layout->choice, 3, 1))
		draw_tail(layout, side);
	if (o2_draw_bool(layout->choice, 3, 1))
		draw_lead(layout, side);
	if (o2_draw_bool(layout->choice, 7, 1)) {
		uint32_t empty = (uint32_t)o2_draw_range(layout->choice, 1, 3);

		for (; empty > 0 && side->count < O2_SCENARIO_PIECES; empty--)
			insert_piece(side, (uint32_t)o2_draw(layout->choice, side->count));
	}
}
