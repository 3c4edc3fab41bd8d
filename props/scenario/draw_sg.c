/* SPDX-License-Identifier: MIT */
#include "props/scenario/draw.h"

/*
 * Draws vectors for sg_build.  Committed corpora are strings of these draws: the order of the draws is part
 * of the files' meaning.
 */

#define MAX_RANGES	3u
#define RANGE_BASE	0x7f0000000000u
#define MAX_RANGE_PAGES 300u /* more than a transfer of 1 MiB needs */

uint64_t o2_draw_wild(struct o2_choice *c)
{
	static const uint64_t edge[] = {
		0,
		1,
		4095,
		4096,
		4097,
		UINT16_MAX,
		O2_MAX_TRANSFER_BYTES,
		INT32_MAX,
		UINT32_MAX,
		(uint64_t)UINT32_MAX + 1,
		INT64_MAX,
		UINT64_MAX - 4095,
		UINT64_MAX,
	};
	const size_t n = sizeof(edge) / sizeof(edge[0]);
	const size_t pick = o2_draw_pick(c, n + 1);

	return pick < n ? edge[pick] : o2_draw(c, UINT64_MAX);
}

/* Draw a legal page size, or rarely any number. */
static uint32_t draw_page_bytes(struct o2_choice *c)
{
	static const uint32_t legal[] = {4096, 16384, 65536};
	static const uint32_t weights[] = {40, 10, 10, 1};
	const size_t pick = o2_draw_weighted(c, weights, 4);

	return pick < 3 ? legal[pick] : (uint32_t)o2_draw_wild(c);
}

/* Draw a legal limit of entries, or rarely any number. */
static uint32_t draw_max_entries(struct o2_choice *c)
{
	static const uint32_t weights[] = {30, 30, 1};
	const size_t pick = o2_draw_weighted(c, weights, 3);

	if (pick == 2)
		return (uint32_t)o2_draw_wild(c);
	return pick == 0 ? O2_MAX_FRAGS : O2_MAX_FRAGS_LEGACY;
}

/* Draw which of the pieces' `total` bytes to transfer: mostly some of them, sometimes too many. */
static void draw_window(struct o2_choice *c, uint64_t total, struct o2_buffer *buffer)
{
	static const uint32_t weights[] = {8, 16, 1};
	uint64_t room;

	switch (o2_draw_weighted(c, weights, 3)) {
	case 0: /* all of it */
		buffer->offset = 0;
		buffer->nob = total;
		break;
	case 1: /* a part, and sometimes one byte too many */
		buffer->offset = o2_draw(c, total);
		room = total - buffer->offset;
		buffer->nob = o2_draw(c, room < UINT64_MAX ? room + 1 : room);
		break;
	default:
		buffer->offset = o2_draw_wild(c);
		buffer->nob = o2_draw_wild(c);
	}
}

static void draw_kiov(struct o2_choice *c, const struct o2_address_space *space, struct o2_kiov *piece)
{
	static const uint32_t shapes[] = {16, 16, 8, 2, 1};
	const size_t shape = o2_draw_weighted(c, shapes, 5);
	const uint32_t page_bytes = space->page_bytes;

	if (shape == 4) { /* any numbers */
		piece->page = (uint32_t)o2_draw_wild(c);
		piece->offset = (uint32_t)o2_draw_wild(c);
		piece->len = (uint32_t)o2_draw_wild(c);
		return;
	}
	piece->page = (uint32_t)o2_draw(c, space->npages == 0 ? 0 : space->npages - 1);
	piece->offset = 0;
	piece->len = page_bytes; /* 0: a whole page */
	if (shape == 1)		 /* a part of a page */
		piece->offset = (uint32_t)o2_draw(c, page_bytes);
	if (shape == 1 || shape == 2) /* a page's beginning */
		piece->len = (uint32_t)o2_draw(c, page_bytes - piece->offset);
	if (shape == 3) /* nothing */
		piece->len = 0;
}

void o2_draw_sg_kiov(struct o2_choice *c, struct o2_case_sg *drawn)
{
	struct o2_address_space *space = &drawn->memory.space;
	struct o2_buffer *buffer = &drawn->memory.buffer;
	struct o2_kiov *piece = drawn->memory.kiov;
	uint64_t total = 0;

	*space = (struct o2_address_space){.page_bytes = draw_page_bytes(c)};
	drawn->max_entries = draw_max_entries(c);
	*buffer = (struct o2_buffer){.kind = O2_KIOV, .kiov = piece};
	space->npages = (uint32_t)o2_draw(c, UINT8_MAX);
	while (o2_draw_more(c, buffer->count, 1, O2_DRAW_MAX_PIECES, 31)) {
		draw_kiov(c, space, &piece[buffer->count]);
		total += piece[buffer->count++].len;
	}
	draw_window(c, total, buffer);
}

/*
 * The ranges never overlap: one is in user space, one at address 0, one at the end of the address space.
 * Page i has number (start + i * stride) modulo the number of pages, or modulo one more: that extra page does
 * not exist.
 */
static void draw_range(struct o2_choice *c, const struct o2_address_space *space, uint32_t index,
		       struct o2_vrange *range, uint32_t *pages)
{
	const uint32_t start = (uint32_t)o2_draw(c, UINT8_MAX);
	const uint32_t stride = (uint32_t)o2_draw(c, UINT8_MAX);
	const uint32_t modulus = space->npages + o2_draw_bool(c, 15, 1);

	range->npages = (uint32_t)o2_draw(c, MAX_RANGE_PAGES);
	range->page = pages;
	range->base = index == 0 ? RANGE_BASE : 0;
	if (index == 2)
		range->base -= (uint64_t)range->npages * space->page_bytes;
	for (uint32_t i = 0; i < range->npages; i++)
		pages[i] = modulus == 0 ? 0 : (start + i * stride) % modulus;
}

static void draw_iov(struct o2_choice *c, const struct o2_address_space *space, uint64_t previous_end,
		     struct o2_iov *piece)
{
	static const uint32_t shapes[] = {16, 16, 2, 1};
	const size_t shape = o2_draw_weighted(c, shapes, 4);
	uint64_t range_bytes;
	size_t r;

	if (shape == 3) { /* any numbers */
		piece->base = o2_draw_wild(c);
		piece->len = o2_draw_wild(c);
		return;
	}
	if (shape == 0) { /* on a page boundary: the end of the previous piece, rounded up */
		piece->base = (previous_end + space->page_bytes - 1) / space->page_bytes * space->page_bytes;
		piece->len = (1 + o2_draw(c, 15)) * space->page_bytes;
		return;
	}
	r = o2_draw_pick(c, space->nranges);
	range_bytes = space->nranges == 0 ? 0 : (uint64_t)space->range[r].npages * space->page_bytes;
	piece->base = (space->nranges == 0 ? 0 : space->range[r].base) + o2_draw(c, range_bytes);
	piece->len = shape == 2 ? 0 : o2_draw(c, UINT16_MAX);
}

bool o2_draw_sg_iov(struct o2_choice *c, struct o2_case_sg *drawn)
{
	struct o2_address_space *space = &drawn->memory.space;
	struct o2_buffer *buffer = &drawn->memory.buffer;
	struct o2_iov *piece = drawn->memory.iov;
	uint64_t end = RANGE_BASE;
	uint64_t total = 0;

	*space = (struct o2_address_space){.page_bytes = draw_page_bytes(c), .range = drawn->memory.range};
	drawn->max_entries = draw_max_entries(c);
	*buffer = (struct o2_buffer){.kind = O2_IOV, .iov = piece};
	if (space->page_bytes == 0)
		return false; /* nothing to align to; page vectors cover this case */
	space->npages = (uint32_t)o2_draw(c, UINT8_MAX);
	while (o2_draw_more(c, space->nranges, 0, MAX_RANGES, 3)) {
		draw_range(c, space, space->nranges, &drawn->memory.range[space->nranges],
			   drawn->memory.page[space->nranges]);
		space->nranges++;
	}
	while (o2_draw_more(c, buffer->count, 1, O2_DRAW_MAX_PIECES, 31)) {
		draw_iov(c, space, end, &piece[buffer->count]);
		end = piece[buffer->count].base + piece[buffer->count].len;
		if (total + piece[buffer->count].len >= total)
			total += piece[buffer->count].len;
		buffer->count++;
	}
	draw_window(c, total, buffer);
	return true;
}

/*
 * Whole pages, except at the start and the end of the transfer; as many pieces as the table has entries, or
 * one more or less.
 */
void o2_draw_sg_full(struct o2_choice *c, struct o2_case_sg *drawn)
{
	const uint32_t page_bytes = 4096;
	struct o2_buffer *buffer = &drawn->memory.buffer;
	struct o2_kiov *piece = drawn->memory.kiov;
	uint32_t skip;

	drawn->max_entries = o2_draw_bool(c, 1, 1) ? O2_MAX_FRAGS_LEGACY : O2_MAX_FRAGS;
	drawn->memory.space = (struct o2_address_space){.page_bytes = page_bytes, .npages = UINT8_MAX};
	*buffer = (struct o2_buffer){.kind = O2_KIOV, .kiov = piece};
	buffer->count = o2_draw_byte_end(c, O2_MAX_FRAGS + 1);
	for (uint32_t i = 0; i < buffer->count; i++)
		piece[i] = (struct o2_kiov){.page = i % UINT8_MAX, .len = page_bytes};
	skip = (uint32_t)o2_draw(c, page_bytes - 1);
	buffer->offset = skip;
	buffer->nob = (uint64_t)buffer->count * page_bytes - skip - o2_draw(c, page_bytes - 1);
	/* The transfer's limit of bytes is checked before the limit of entries. */
	if (buffer->nob > O2_MAX_TRANSFER_BYTES)
		buffer->nob = O2_MAX_TRANSFER_BYTES;
	if (o2_draw_bool(c, 1, 1))
		buffer->nob = o2_draw_edge_bytes(c);
}
