/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "props/scenario/generate_internal.h"
#include "props/scenario/scenario.h"
#include "rdma/rdma_plan.h"

/*
 * Draw the total length, by class, so that every order of magnitude is common: within a cache line or two,
 * within a page, a few pages, many pages, and a quarter mebibyte and more as in real bulk transfers.  The
 * page list's limits are met at the largest transfer: 256 pages, or 257 when it starts inside a page.  That
 * length and those of 255 or 256 pages have classes of their own, because chance would hardly meet them.
 */
static uint64_t draw_nob(struct o2_choice *choice, uint64_t max)
{
	static const struct {
		uint64_t lo, hi;
	} class[] = {
		{1, 64},
		{1, 4096},
		{1, 65536},
		{65537, 262143},
		{262144, O2_MAX_TRANSFER_BYTES},
		{O2_MAX_TRANSFER_BYTES, O2_MAX_TRANSFER_BYTES},
		{O2_MAX_TRANSFER_BYTES - O2_SCENARIO_PAGE_BYTES * 3 / 2,
		 O2_MAX_TRANSFER_BYTES - O2_SCENARIO_PAGE_BYTES},
	};
	static const uint32_t weight[] = {6, 9, 24, 6, 5, 2, 2};
	size_t which = o2_draw_weighted(choice, weight, 7);
	uint64_t lo = class[which].lo < max ? class[which].lo : max;
	uint64_t hi = class[which].hi < max ? class[which].hi : max;

	/*
	 * The draw takes equally many bytes in each class, so that a shrinker can try a smaller class with
	 * the same bytes.
	 */
	return lo + o2_draw(choice, O2_MAX_TRANSFER_BYTES - 1) % (hi - lo + 1);
}

static enum o2_reg_mode draw_mode(struct o2_choice *choice, const struct o2_scenario_space *space)
{
	return (enum o2_reg_mode)o2_draw_weighted(choice, space->mode_weight, O2_REG_MODES);
}

/* Modes fastreg and phys cannot register gapped lists, so for them such lists are drawn rarely, only to test
 * the refusal. */
static bool draw_gapped(struct o2_choice *choice, enum o2_reg_mode mode)
{
	return mode == O2_REG_FASTREG || mode == O2_REG_PHYS ? o2_draw_bool(choice, 14, 1)
							     : o2_draw_bool(choice, 2, 3);
}

/* Draw the address kind.  An IOMMU merges everything possible, nothing, or some; rarely its mapping fails. */
static void draw_kind(struct o2_choice *choice, struct o2_scenario_side *side)
{
	static const uint32_t merge_weight[] = {2, 1, 2};

	side->kind = (enum o2_dma_kind)o2_draw(choice, O2_DMA_KINDS - 1);
	side->merge = 0;
	side->fault = O2_DMA_NO_FAULT;
	if (side->kind != O2_DMA_IOMMU)
		return;
	switch (o2_draw_weighted(choice, merge_weight, 3)) {
	case 0:
		side->merge = UINT64_MAX;
		break;
	case 1:
		break;
	default:
		side->merge = o2_draw(choice, UINT64_MAX - 1);
		break;
	}
	if (o2_draw_bool(choice, 9, 1))
		side->fault = (enum o2_dma_fault)o2_draw_range(choice, 1, O2_DMA_FAULTS - 1);
}

/* Draw the mode's parameters other than the memory. */
static void draw_mode_options(struct o2_choice *choice, struct o2_scenario_side *side)
{
	/*
	 * The last two are refused: one lies inside a page (unless the first byte has the same offset), the
	 * other leaves no room for any but the shortest transfers.
	 */
	static const uint64_t iova[] = {0,
					O2_SCENARIO_PAGE_BYTES,
					UINT64_C(0x7fff00000000),
					UINT64_C(1) << 63,
					O2_SCENARIO_PAGE_BYTES / 2,
					UINT64_MAX - (O2_SCENARIO_PAGE_BYTES - 1)};
	static const uint32_t iova_weight[] = {9, 6, 6, 6, 2, 3};

	side->iova = 0;
	side->staging = false;
	side->per_segment = side->mode == O2_REG_FMR && o2_draw_bool(choice, 7, 1);
	side->lazy = side->mode == O2_REG_FMR && o2_draw_bool(choice, 1, 1);
	if (side->mode == O2_REG_PHYS)
		side->iova = iova[o2_draw_weighted(choice, iova_weight, 6)];
	if (side->mode == O2_REG_FASTREG_GAPS)
		side->staging = o2_draw_bool(choice, 1, 1);
}

/* Offset in its page of the transfer's first byte. */
static uint64_t first_in_page(const struct o2_scenario_side *side)
{
	uint64_t skip = side->offset_bytes;

	for (uint32_t i = 0; i < side->count; i++) {
		const bool iov = side->vector == O2_IOV;
		const uint64_t bytes = iov ? side->iov[i].len : side->kiov[i].len;

		if (skip < bytes)
			return ((iov ? side->iov[i].base : side->kiov[i].offset) + skip) %
			       O2_SCENARIO_PAGE_BYTES;
		skip -= bytes;
	}
	return 0;
}

static void draw_side(struct o2_choice *choice, const struct o2_scenario_space *space, bool is_source,
		      uint64_t nob, struct o2_scenario_side *side)
{
	struct o2_layout layout;
	bool one_range; /* one range of virtual addresses, for mode user */
	uint32_t seldom;

	side->mode = draw_mode(choice, space);
	draw_kind(choice, side);
	draw_mode_options(choice, side);
	one_range = side->mode == O2_REG_USER && !o2_draw_bool(choice, 11, 1);
	if (one_range)
		side->vector = O2_IOV;
	else
		side->vector = o2_draw_bool(choice, 1, 1) ? O2_IOV : O2_KIOV;
	side->view = 0;
	side->nob = nob;
	side->count = 0;
	side->offset_bytes = 0;
	layout.choice = choice;
	layout.nob = nob;
	layout.gapped = draw_gapped(choice, side->mode);
	layout.touching = one_range;
	layout.alias = is_source && !one_range && o2_draw_bool(choice, 15, 1);
	if (side->vector == O2_IOV) {
		side->view = (uint32_t)o2_draw(choice, O2_ARENA_VIEWS - 1);
		o2_layout_iov(&layout, side);
	} else {
		o2_layout_kiov(&layout, side);
	}
	o2_layout_extras(&layout, side);
	/* The iova may be that of the first page or of the first byte. */
	if (side->mode == O2_REG_PHYS && side->iova % O2_SCENARIO_PAGE_BYTES == 0 &&
	    o2_draw_bool(choice, 1, 1))
		side->iova += first_in_page(side);
	/* Only kind virtual refuses an unmapped page; elsewhere the CPU must map it temporarily to copy. */
	seldom = side->kind == O2_DMA_VIRTUAL ? 11 : 63;
	side->has_unmapped = o2_draw_bool(choice, side->staging ? 3 : seldom, 1);
	side->unmapped_page = 0;
	if (side->has_unmapped && side->vector == O2_KIOV)
		side->unmapped_page = side->kiov[o2_draw(choice, side->count - 1)].page;
	else if (side->has_unmapped)
		side->unmapped_page = (uint32_t)o2_draw(choice, O2_SCENARIO_PAGES - 1);
}

/* The responder may have room for more, or more to give, up to the rest of its vector. */
static void draw_more(struct o2_choice *choice, struct o2_scenario_side *side)
{
	uint64_t left = 0;

	for (uint32_t i = 0; i < side->count; i++)
		left += side->vector == O2_IOV ? side->iov[i].len : side->kiov[i].len;
	left -= side->offset_bytes + side->nob;
	if (left > O2_MAX_TRANSFER_BYTES - side->nob)
		left = O2_MAX_TRANSFER_BYTES - side->nob;
	if (left > 0 && o2_draw_bool(choice, 1, 1))
		side->nob += o2_draw_range(choice, 1, left);
}

void o2_scenario_draw(struct o2_choice *choice, const struct o2_scenario_space *space,
		      struct o2_scenario *scenario)
{
	static const uint32_t max_frags[] = {O2_MAX_FRAGS, O2_MAX_FRAGS_LEGACY, 64, 8};
	static const uint32_t max_frags_weight[] = {24, 2, 2, 2};
	static const uint32_t wrq_sge[] = {O2_DEFAULT_WRQ_SGE, 1, 3, O2_MAX_WRQ_SGE};
	static const uint32_t wrq_sge_weight[] = {10, 2, 2, 2};
	uint64_t nob, other;

	memset(scenario, 0, sizeof(*scenario));
	scenario->op = o2_draw_bool(choice, 1, 1) ? O2_OP_GET : O2_OP_PUT;
	nob = draw_nob(choice, space->max_nob);
	/* The responder may have room for less (a short PUT) or have less to give (a short GET). */
	other = o2_draw_bool(choice, 3, 1) ? nob - o2_draw(choice, nob - 1) : nob;
	scenario->max_frags = max_frags[o2_draw_weighted(choice, max_frags_weight, 4)];
	scenario->wrq_sge = wrq_sge[o2_draw_weighted(choice, wrq_sge_weight, 4)];
	scenario->order = o2_draw_bool(choice, 3, 1) ? O2_BIG_ENDIAN : O2_LITTLE_ENDIAN;
	scenario->cksum_flavour = (enum o2_cksum_flavour)o2_draw(choice, O2_CKSUM_SIGNED);
	scenario->pattern_seed = o2_draw(choice, UINT16_MAX);
	draw_side(choice, space, true, scenario->op == O2_OP_PUT ? nob : other, &scenario->source);
	draw_side(choice, space, false, scenario->op == O2_OP_PUT ? other : nob, &scenario->sink);
	scenario->stale_key = scenario->op == O2_OP_GET && o2_draw_bool(choice, 31, 1);
	/* Drawn last, so that cases from before bounce existed keep their meaning. */
	scenario->source.bounce = o2_draw_bool(choice, 5, 1);
	scenario->sink.bounce = o2_draw_bool(choice, 5, 1);
	draw_more(choice, scenario->op == O2_OP_PUT ? &scenario->sink : &scenario->source);
}

void o2_scenario_buffer(const struct o2_scenario_side *side, const struct o2_arena *arena, struct o2_iov *iov,
			struct o2_buffer *buffer)
{
	buffer->kind = side->vector;
	buffer->count = side->count;
	buffer->offset = side->offset_bytes;
	buffer->nob = side->nob;
	if (side->vector == O2_KIOV) {
		buffer->kiov = side->kiov;
		return;
	}
	for (uint32_t i = 0; i < side->count; i++) {
		iov[i].base = arena->view[side->view].base + side->iov[i].base;
		iov[i].len = side->iov[i].len;
	}
	buffer->iov = iov;
}
