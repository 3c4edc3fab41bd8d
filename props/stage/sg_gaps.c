/* SPDX-License-Identifier: MIT */
#include "oracle/gap_rules.h"
#include "props/stage/sg.h"

/* The rules of docs/mapping.md, "Gap rules", evaluated for each entry of a list whose bytes are correct. */

/* Position of the walk.  It counts down, because offset + nob may exceed 2^64 if the pieces are that long. */
struct place {
	uint32_t piece;
	uint64_t rest; /* bytes left in the piece */
	uint64_t left; /* bytes left in the transfer */
};

/* Advance by `bytes`, and past pieces that end there, as long as another one follows. */
static void advance(const struct o2_buffer *buffer, uint64_t bytes, struct place *at)
{
	while (at->rest <= bytes && at->piece + 1 < buffer->count) {
		bytes -= at->rest;
		at->rest = o2_sg_piece_bytes(buffer, ++at->piece);
	}
	at->rest -= bytes;
}

static uint32_t pieces_from(const struct o2_buffer *buffer, uint32_t piece)
{
	uint32_t with_bytes = 0;

	for (; piece < buffer->count; piece++)
		with_bytes += o2_sg_piece_bytes(buffer, piece) > 0;
	return with_bytes;
}

void o2_sg_check_gaps(const struct o2_buffer *buffer, const struct o2_sg_list *list, uint32_t page_bytes,
		      struct o2_report *report)
{
	struct place at = {.rest = o2_sg_piece_bytes(buffer, 0), .left = list->nob};
	bool expected[O2_GAP_RULES] = {false, false, list->gaps};
	uint32_t first;

	advance(buffer, buffer->offset, &at);
	first = at.piece;
	for (uint32_t i = 0; i < list->count; i++) {
		const struct o2_sg_entry *entry = &list->entry[i];
		const uint64_t room = buffer->kind == O2_IOV ? page_bytes - entry->offset : at.rest;
		const bool is_short = entry->length < room;

		at.left -= entry->length;
		expected[O2_GAP_G1] |= is_short && pieces_from(buffer, at.piece) > 1;
		expected[O2_GAP_G2] |= is_short && at.piece != first && at.left > 0;
		advance(buffer, entry->length, &at);
	}
	for (int rule = 0; rule < O2_GAP_RULES; rule++)
		if (o2_gap_verdict((enum o2_gap_rule)rule, buffer, page_bytes) != expected[rule])
			o2_report_fail(report, "sg/gap-rule", "rule G%d says %s of a list of %u entries",
				       rule + 1, expected[rule] ? "no gap" : "a gap", list->count);
}
