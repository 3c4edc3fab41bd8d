/* SPDX-License-Identifier: MIT */
#include "props/scenario/situations.h"

#include <stddef.h>

static const char *const names[O2_SITUATIONS] = {
	[O2_INTERIOR_GAP] = "interior_gap",
	[O2_GAP_AT_BOTH_ENDS] = "gap_at_both_ends",
	[O2_UNALIGNED_FIRST] = "unaligned_first_page",
	[O2_PAGES_255] = "pages_255",
	[O2_PAGES_256] = "pages_256",
	[O2_PAGES_257] = "pages_257",
	[O2_ONE_BYTE_FRAGMENT] = "one_byte_fragment",
	[O2_ZERO_LENGTH_PIECE] = "zero_length_piece",
	[O2_PAGE_USED_TWICE] = "page_used_twice",
	[O2_REVERSED_PAGES] = "reversed_pages",
	[O2_OFFSET_ON_BOUNDARY] = "offset_on_entry_boundary",
	[O2_PHYS_INSIDE_PAGE] = "phys_at_an_iova_inside_a_page",
};

const char *o2_situation_name(enum o2_situation situation)
{
	return (uint32_t)situation < O2_SITUATIONS ? names[situation] : NULL;
}

static uint32_t end_of(const struct o2_extent *extent)
{
	return extent->offset + extent->length;
}

/*
 * Is there a hole between two entries?  They do not touch, and the first ends or the second starts inside a page.
 */
static bool is_hole(const struct o2_extent *before, const struct o2_extent *behind)
{
	bool touch = before->page == behind->page && end_of(before) == behind->offset;

	return !touch && (end_of(before) % O2_SCENARIO_PAGE_BYTES != 0 || behind->offset != 0);
}

static uint32_t holes(const struct o2_extent *extent, uint32_t count)
{
	uint32_t found = 0;

	for (uint32_t i = 1; i + 2 < count; i++) {
		if (is_hole(&extent[i], &extent[i + 1]))
			found |= 1u << O2_INTERIOR_GAP;
	}
	if (count >= 3 && is_hole(&extent[0], &extent[1]) && is_hole(&extent[count - 2], &extent[count - 1]))
		found |= 1u << O2_GAP_AT_BOTH_ENDS;
	return found;
}

/* Does an entry add a page to the list?  Not if it starts inside the page listed last (docs/modes.md). */
static bool is_listed(const struct o2_extent *extent, uint32_t i)
{
	return i == 0 || extent[i].page != extent[i - 1].page || extent[i].offset == 0;
}

static uint32_t page_list(const struct o2_extent *extent, uint32_t count)
{
	bool seen[O2_SCENARIO_PAGES] = {false};
	bool reversed = true;
	uint32_t found = 0;
	uint32_t pages = 0;
	uint32_t last = 0;

	for (uint32_t i = 0; i < count; i++) {
		if (!is_listed(extent, i))
			continue;
		if (seen[extent[i].page])
			found |= 1u << O2_PAGE_USED_TWICE;
		seen[extent[i].page] = true;
		reversed = reversed && (pages == 0 || extent[i].page < last);
		last = extent[i].page;
		pages++;
	}
	if (pages >= 3 && reversed)
		found |= 1u << O2_REVERSED_PAGES;
	if (pages >= 255 && pages <= 257)
		found |= 1u << (O2_PAGES_255 + (pages - 255));
	return found;
}

static uint64_t piece_bytes(const struct o2_scenario_side *side, uint32_t i)
{
	return side->vector == O2_IOV ? side->iov[i].len : side->kiov[i].len;
}

static uint32_t pieces(const struct o2_scenario_side *side, uint64_t moved)
{
	uint64_t at = 0; /* offset in the vector of the piece's start */
	uint32_t found = 0;

	for (uint32_t i = 0; i < side->count; i++) {
		uint64_t bytes = piece_bytes(side, i);

		if (bytes == 0 && at > side->offset_bytes && at < side->offset_bytes + moved)
			found |= 1u << O2_ZERO_LENGTH_PIECE;
		if (bytes > 0 && at > 0 && at == side->offset_bytes)
			found |= 1u << O2_OFFSET_ON_BOUNDARY;
		at += bytes;
	}
	return found;
}

uint32_t o2_situations_of(const struct o2_scenario_side *side, const struct o2_extent *extent, uint32_t count)
{
	uint32_t found = holes(extent, count) | page_list(extent, count);
	uint64_t moved = 0;

	for (uint32_t i = 0; i < count; i++) {
		moved += extent[i].length;
		if (extent[i].length == 1 && count > 1)
			found |= 1u << O2_ONE_BYTE_FRAGMENT;
	}
	if (count > 0 && extent[0].offset != 0)
		found |= 1u << O2_UNALIGNED_FIRST;
	if (side->mode == O2_REG_PHYS && side->iova % O2_SCENARIO_PAGE_BYTES != 0)
		found |= 1u << O2_PHYS_INSIDE_PAGE;
	return found | pieces(side, moved);
}
