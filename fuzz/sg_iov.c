/* SPDX-License-Identifier: MIT */
/*
 * sg_build of an IOV over a page table: cut at page boundaries, pages found, bytes, gap flag and verdict.
 * Draws: page size, limit of entries, pages; ranges (more?, base, pages, order); pieces (more?, shape, its
 * numbers); window.
 */
#include "fuzz/common.h"
#include "fuzz/sg_oracle.h"

#define MAX_RANGES	3u
#define RANGE_BASE	0x7f0000000000u
#define MAX_RANGE_PAGES 300u /* more than a transfer of 1 MiB needs */

static uint32_t pages[MAX_RANGES][MAX_RANGE_PAGES];
static const uint32_t shapes[] = {16, 16, 2, 1};

/*
 * The ranges never overlap: one lies where user space is, one at address 0, one up to the end of the address
 * space. Page i is number (start + i * stride) modulo the number of pages, or of one more: that page does not
 * exist.
 */
static void draw_range(struct o2_choice *c, const struct o2_address_space *space, uint32_t index,
		       struct o2_vrange *range)
{
	const uint32_t start = (uint32_t)o2_draw(c, UINT8_MAX);
	const uint32_t stride = (uint32_t)o2_draw(c, UINT8_MAX);
	const uint32_t modulus = space->npages + o2_draw_bool(c, 15, 1);

	range->npages = (uint32_t)o2_draw(c, MAX_RANGE_PAGES);
	range->page = pages[index];
	range->base = index == 0 ? RANGE_BASE : 0;
	if (index == 2)
		range->base -= (uint64_t)range->npages * space->page_bytes;
	for (uint32_t i = 0; i < range->npages; i++)
		pages[index][i] = modulus == 0 ? 0 : (start + i * stride) % modulus;
}

static void draw_piece(struct o2_choice *c, const struct o2_address_space *space, uint64_t previous_end,
		       struct o2_iov *piece)
{
	const size_t shape = o2_draw_weighted(c, shapes, 4);
	uint64_t range_bytes;
	size_t r;

	if (shape == 3) { /* any numbers */
		piece->base = o2_fuzz_draw_wild(c);
		piece->len = o2_fuzz_draw_wild(c);
		return;
	}
	if (shape == 0) { /* on a page boundary: where the piece before ended, rounded up */
		piece->base = (previous_end + space->page_bytes - 1) / space->page_bytes * space->page_bytes;
		piece->len = (1 + o2_draw(c, 15)) * space->page_bytes;
		return;
	}
	r = o2_draw_pick(c, space->nranges);
	range_bytes = space->nranges == 0 ? 0 : (uint64_t)space->range[r].npages * space->page_bytes;
	piece->base = (space->nranges == 0 ? 0 : space->range[r].base) + o2_draw(c, range_bytes);
	piece->len = shape == 2 ? 0 : o2_draw(c, UINT16_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct o2_iov piece[O2_FUZZ_MAX_PIECES];
	static struct o2_vrange range[MAX_RANGES];
	struct o2_choice *c = o2_fuzz_choice(data, size);
	struct o2_address_space space = {.page_bytes = o2_fuzz_draw_page_bytes(c), .range = range};
	const uint32_t max_entries = o2_fuzz_draw_max_entries(c);
	struct o2_buffer buffer = {.kind = O2_IOV, .iov = piece};
	uint64_t end = RANGE_BASE;
	uint64_t total = 0;

	if (space.page_bytes == 0)
		return 0; /* nothing to align to; sg_kiov tries it */
	space.npages = (uint32_t)o2_draw(c, UINT8_MAX);
	while (o2_draw_more(c, space.nranges, 0, MAX_RANGES, 3)) {
		draw_range(c, &space, space.nranges, &range[space.nranges]);
		space.nranges++;
	}
	while (o2_draw_more(c, buffer.count, 1, O2_FUZZ_MAX_PIECES, 31)) {
		draw_piece(c, &space, end, &piece[buffer.count]);
		end = piece[buffer.count].base + piece[buffer.count].len;
		if (total + piece[buffer.count].len >= total)
			total += piece[buffer.count].len;
		buffer.count++;
	}
	o2_fuzz_draw_window(c, total, &buffer);
	o2_fuzz_check_sg(&buffer, &space, max_entries);
	return 0;
}
