/* SPDX-License-Identifier: MIT */
#include "oracle/gap_rules.h"

/* One entry of the list, during the walk over the buffer. */
struct step {
	uint64_t begin;	  /* offset in its page */
	uint64_t length;  /* bytes of this entry */
	uint64_t room;	  /* maximum length: IOV: to the page's end; KIOV: to the piece's end */
	uint64_t left;	  /* bytes of the transfer behind this entry */
	uint32_t visited; /* non-empty pieces that the walk entered before this piece */
	uint32_t entries; /* entries before this entry */
	uint32_t pieces;  /* non-empty pieces from this piece to the vector's end */
};

/* The entry is shorter than its room, and more than one piece remains, including this piece. */
static bool gap_g1(const struct step *step)
{
	return step->length < step->room && step->pieces > 1;
}

/* The entry is shorter than its room, does not belong to the first piece, and bytes remain. */
static bool gap_g2(const struct step *step)
{
	return step->length < step->room && step->visited > 0 && step->left > 0;
}

/* The entry starts inside a page and is not the first, or ends inside a page and is not the last. */
static bool gap_g3(const struct step *step, uint32_t page_bytes)
{
	return (step->entries > 0 && step->begin % page_bytes != 0) ||
	       (step->left > 0 && (step->begin + step->length) % page_bytes != 0);
}

static uint64_t piece_bytes(const struct o2_buffer *buffer, uint32_t piece)
{
	return buffer->kind == O2_IOV ? buffer->iov[piece].len : buffer->kiov[piece].len;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* The entry that starts `skip` bytes into a piece. */
static void make_step(const struct o2_buffer *buffer, uint32_t piece, uint64_t skip, uint64_t left,
		      uint32_t page_bytes, struct step *step)
{
	uint64_t rest = piece_bytes(buffer, piece) - skip;

	if (buffer->kind == O2_IOV) {
		step->begin = (buffer->iov[piece].base + skip) % page_bytes;
		step->room = page_bytes - step->begin;
	} else {
		step->begin = buffer->kiov[piece].offset + skip;
		step->room = rest;
	}
	step->length = least(least(rest, left), step->room);
	step->left = left - step->length;
}

bool o2_gap_verdict(enum o2_gap_rule rule, const struct o2_buffer *buffer, uint32_t page_bytes)
{
	struct step step = {0};
	uint64_t skip = buffer->offset;
	uint64_t left = buffer->nob;
	bool gap = false;

	for (uint32_t i = 0; i < buffer->count; i++)
		step.pieces += piece_bytes(buffer, i) > 0;
	for (uint32_t i = 0; i < buffer->count && left > 0 && !gap; i++) {
		uint64_t length = piece_bytes(buffer, i);

		if (length == 0)
			continue;
		if (skip >= length) {
			skip -= length;
			step.pieces--;
			continue;
		}
		for (; skip < length && left > 0; skip += step.length, left = step.left, step.entries++) {
			make_step(buffer, i, skip, left, page_bytes, &step);
			gap |= rule == O2_GAP_G1   ? gap_g1(&step)
			       : rule == O2_GAP_G2 ? gap_g2(&step)
						   : gap_g3(&step, page_bytes);
		}
		skip = 0;
		step.visited++;
		step.pieces--;
	}
	return gap;
}

bool o2_gap_exact(const struct o2_dma_list *segments, uint32_t page_bytes)
{
	for (uint32_t i = 1; i < segments->count; i++) {
		uint64_t end = segments->segment[i - 1].addr + segments->segment[i - 1].length;
		uint64_t start = segments->segment[i].addr;

		if (end != start && (end % page_bytes != 0 || start % page_bytes != 0))
			return true;
	}
	return false;
}
