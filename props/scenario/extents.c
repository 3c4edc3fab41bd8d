/* SPDX-License-Identifier: MIT */
#include "props/scenario/scenario.h"

#include <errno.h>

/* The output extents, and the part of the vector still to be taken. */
struct walk {
	const uint32_t *view_page; /* NULL: the pages in order, as in view 0 */
	uint64_t skip;		   /* bytes before the first wanted byte */
	uint64_t left;		   /* bytes still wanted */
	struct o2_extent *extent;
	uint32_t count;
	uint32_t max;
};

static int emit(struct walk *walk, uint32_t page, uint32_t offset, uint32_t length)
{
	if (walk->count == walk->max)
		return -EINVAL;
	walk->extent[walk->count++] = (struct o2_extent){.page = page, .offset = offset, .length = length};
	return 0;
}

/* Reduce a piece of *length bytes to its wanted part; returns the offset of that part in the piece. */
static uint64_t narrow(struct walk *walk, uint64_t *length)
{
	uint64_t skipped = walk->skip < *length ? walk->skip : *length;

	walk->skip -= skipped;
	*length -= skipped;
	if (*length > walk->left)
		*length = walk->left;
	walk->left -= *length;
	return skipped;
}

static int walk_kiov(struct walk *walk, const struct o2_kiov *piece)
{
	uint64_t length = piece->len;
	uint64_t skipped = narrow(walk, &length);

	if (length == 0)
		return 0;
	return emit(walk, piece->page, (uint32_t)(piece->offset + skipped), (uint32_t)length);
}

static int walk_iov(struct walk *walk, const struct o2_iov *piece)
{
	uint64_t length = piece->len;
	uint64_t at = piece->base + narrow(walk, &length);

	while (length > 0) {
		uint64_t number = at / O2_SCENARIO_PAGE_BYTES;
		uint32_t offset = (uint32_t)(at % O2_SCENARIO_PAGE_BYTES);
		uint32_t take = O2_SCENARIO_PAGE_BYTES - offset;
		uint32_t page;
		int rc;

		if (number >= O2_SCENARIO_PAGES)
			return -EINVAL;
		page = walk->view_page == NULL ? (uint32_t)number : walk->view_page[number];
		if (take > length)
			take = (uint32_t)length;
		rc = emit(walk, page, offset, take);
		if (rc != 0)
			return rc;
		at += take;
		length -= take;
	}
	return 0;
}

int o2_scenario_extents(const struct o2_scenario_side *side, const uint32_t *view_page, uint64_t first,
			uint64_t nob, struct o2_extent *extent, uint32_t max)
{
	struct walk walk = {
		.view_page = view_page,
		.skip = first,
		.left = nob,
		.extent = extent,
		.max = max,
	};

	for (uint32_t i = 0; i < side->count && walk.left > 0; i++) {
		int rc = side->vector == O2_IOV ? walk_iov(&walk, &side->iov[i])
						: walk_kiov(&walk, &side->kiov[i]);

		if (rc != 0)
			return rc;
	}
	return walk.left > 0 ? -EINVAL : (int)walk.count;
}
