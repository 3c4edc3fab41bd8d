/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "props/scenario/draw.h"
#include "props/stage/reg_plan.h"

/*
 * Draws requests and segments for the reg_plan property.  Lists without gaps are drawn on purpose, because
 * independent segments almost always have gaps.
 */

#define LABEL_SEGMENT 1u

enum style { DENSE, PARTS, MERGED, ANYTHING, STYLES };

static void draw_request(struct o2_reg_request *r, struct o2_choice *c)
{
	static const uint32_t modes[] = {8, 8, 8, 8, 8, 8, 1};
	static const uint32_t pages[] = {30, 5, 5, 1};
	static const uint32_t page_bytes[] = {4096, 16384, 65536, 8192};
	static const uint32_t limits[] = {12, 12, 1};
	static const uint32_t max_pages[] = {257, 256, 255};
	static const uint32_t iovas[] = {6, 6, 2, 1};

	r->mode = (enum o2_reg_mode)o2_draw_weighted(c, modes, 7);
	r->side = o2_draw_bool(c, 1, 1) ? O2_SOURCE : O2_SINK;
	if (o2_draw_bool(c, 60, 1))
		r->side = (enum o2_side)2;
	r->page_bytes = page_bytes[o2_draw_weighted(c, pages, 4)];
	r->max_pages = max_pages[o2_draw_weighted(c, limits, 3)];
	r->peer_max_frags = O2_MAX_FRAGS;
	if (o2_draw_bool(c, 1, 1))
		r->peer_max_frags = (uint32_t)o2_draw(c, o2_draw_bool(c, 3, 1) ? O2_MAX_FRAGS + 1 : 8);
	r->contiguous = !o2_draw_bool(c, 3, 1);
	switch (o2_draw_weighted(c, iovas, 4)) {
	case 1:
		r->iova = o2_draw(c, UINT16_MAX) * r->page_bytes;
		break;
	case 2:
		r->iova = o2_draw(c, UINT32_MAX);
		break;
	case 3: /* near the end of the address space */
		r->iova = -(o2_draw(c, 300) * r->page_bytes);
		break;
	default:
		r->iova = 0;
		break;
	}
}

/* Draw a segment of whole pages, part of a page, several pages, or any size. */
static void draw_segment(const struct o2_plan_run *run, struct o2_choice *c, enum style style, uint32_t i,
			 struct o2_dma_segment *segment)
{
	static const uint32_t wheres[] = {4, 2, 2};
	const uint32_t page_bytes = run->request.page_bytes;
	const struct o2_dma_segment *before = segment - 1;
	const uint64_t end = i == 0 ? 0 : before->addr + before->length;
	uint64_t longest = page_bytes;

	if (style == DENSE) {
		segment->addr = o2_draw(c, UINT8_MAX) * page_bytes;
		if (o2_draw_bool(c, 15, 1)) /* not far from the end of the address space */
			segment->addr = -segment->addr - 2ull * page_bytes;
		segment->length = page_bytes;
		return;
	}
	switch (o2_draw_weighted(c, wheres, 3)) {
	case 1: /* where the one before ended */
		segment->addr = end;
		break;
	case 2: /* in the page where it ended */
		segment->addr = end / page_bytes * page_bytes + o2_draw(c, page_bytes - 1);
		break;
	default:
		segment->addr = o2_draw(c, UINT8_MAX) * page_bytes;
		if (o2_draw_bool(c, 1, 1))
			segment->addr += o2_draw(c, page_bytes - 1);
		break;
	}
	if (style == MERGED)
		longest = 3ull * page_bytes;
	else if (style == PARTS)
		longest = page_bytes - segment->addr % page_bytes;
	segment->length = (uint32_t)(o2_draw_bool(c, 1, 1) ? 1 + o2_draw(c, longest - 1) : longest);
	if (style == ANYTHING && o2_draw_bool(c, 31, 1)) {
		static const uint64_t longests[] = {UINT16_MAX, UINT32_MAX, 0};

		segment->addr = -(o2_draw(c, UINT16_MAX));
		segment->length = (uint32_t)o2_draw(c, longests[o2_draw_pick(c, 3)]);
	}
}

/* A list without gaps may begin and end inside a page. */
static void cut_ends(struct o2_plan_run *run, struct o2_choice *c)
{
	struct o2_dma_segment *first = &run->list.segment[0];
	struct o2_dma_segment *last = &run->list.segment[run->list.count - 1];
	const uint32_t offset = (uint32_t)o2_draw(c, run->request.page_bytes - 1);

	first->addr += offset;
	first->length -= offset;
	last->length -= (uint32_t)o2_draw(c, last->length - 1);
}

static void draw_segments(struct o2_plan_run *run, struct o2_choice *c)
{
	static const uint32_t styles[STYLES] = {8, 4, 4, 2};
	static const uint32_t sizes[] = {16, 3, 3};
	const enum style style = (enum style)o2_draw_weighted(c, styles, STYLES);
	const size_t size = o2_draw_weighted(c, sizes, 3);
	const uint32_t least = size == 1 ? o2_draw_byte_end(c, O2_MAX_FRAGS) : 1;
	struct o2_dma_list *list = &run->list;
	bool more = true;

	list->count = 0;
	while (more) {
		o2_span_begin(c, LABEL_SEGMENT);
		more = o2_draw_more(c, list->count, least,
				    size == 2	 ? O2_MAX_FRAGS
				    : least > 12 ? least
						 : 12,
				    7);
		if (more) {
			draw_segment(run, c, style, list->count, &list->segment[list->count]);
			list->count++;
		}
		o2_span_end(c);
	}
	if (list->count == 0) { /* a case whose draws ran out may have none */
		list->segment[list->count++] = (struct o2_dma_segment){0, 1};
	}
	if (style == DENSE && o2_draw_bool(c, 1, 1))
		cut_ends(run, c);
	if (o2_draw_bool(c, 63, 1)) /* one segment near a limit on bytes */
		*list = (struct o2_dma_list){
			.count = 1,
			.segment = {{list->segment[0].addr & UINT32_MAX, (uint32_t)o2_draw_edge_bytes(c)}}};
	list->nob = 0;
	for (uint32_t i = 0; i < list->count; i++) {
		/* Mostly at most as many bytes as a transfer may have. */
		if (style != ANYTHING && list->nob + list->segment[i].length > O2_MAX_TRANSFER_BYTES &&
		    i > 0) {
			list->count = i;
			break;
		}
		list->nob += list->segment[i].length;
	}
}

/* In mode phys the iova may be that of the first byte; values next to it are invalid. */
static void draw_inside(struct o2_plan_run *run, struct o2_choice *c)
{
	static const uint32_t wheres[] = {4, 3, 1};
	const size_t where = o2_draw_weighted(c, wheres, 3);

	if (run->request.mode != O2_REG_PHYS || where == 0)
		return;
	run->request.iova -= run->request.iova % run->request.page_bytes;
	run->request.iova += run->list.segment[0].addr % run->request.page_bytes;
	run->request.iova += where == 2;
}

void o2_plan_draw(struct o2_plan_run *run, struct o2_choice *c)
{
	draw_request(&run->request, c);
	draw_segments(run, c);
	draw_inside(run, c);
	/* Mostly true; sometimes a gap is declared that does not exist, or one is not declared. */
	run->request.gaps = !o2_plan_is_dense(run);
	if (o2_draw_bool(c, 9, 1))
		run->request.gaps = !run->request.gaps;
	if (o2_draw_bool(c, 30, 1)) /* an invalid count */
		run->list.count = o2_draw_bool(c, 1, 1) ? O2_MAX_FRAGS + 1 : 0;
}
