/* SPDX-License-Identifier: MIT */
/*
 * sg_build of a page vector: bytes, gap flag and verdict as the definitions say, for hostile pieces as well.
 * Draws: page size, limit of entries, pages; pieces (more?, shape, its numbers); window.
 */
#include "fuzz/common.h"
#include "fuzz/sg_oracle.h"

static const uint32_t shapes[] = {16, 16, 8, 2, 1};

static void draw_piece(struct o2_choice *c, const struct o2_address_space *space, struct o2_kiov *piece)
{
	const size_t shape = o2_draw_weighted(c, shapes, 5);
	const uint32_t page_bytes = space->page_bytes;

	if (shape == 4) { /* any numbers */
		piece->page = (uint32_t)o2_fuzz_draw_wild(c);
		piece->offset = (uint32_t)o2_fuzz_draw_wild(c);
		piece->len = (uint32_t)o2_fuzz_draw_wild(c);
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct o2_kiov piece[O2_FUZZ_MAX_PIECES];
	struct o2_choice *c = o2_fuzz_choice(data, size);
	struct o2_address_space space = {.page_bytes = o2_fuzz_draw_page_bytes(c)};
	const uint32_t max_entries = o2_fuzz_draw_max_entries(c);
	struct o2_buffer buffer = {.kind = O2_KIOV, .kiov = piece};
	uint64_t total = 0;

	space.npages = (uint32_t)o2_draw(c, UINT8_MAX);
	while (o2_draw_more(c, buffer.count, 1, O2_FUZZ_MAX_PIECES, 31)) {
		draw_piece(c, &space, &piece[buffer.count]);
		total += piece[buffer.count++].len;
	}
	o2_fuzz_draw_window(c, total, &buffer);
	o2_fuzz_check_sg(&buffer, &space, max_entries);
	return 0;
}
