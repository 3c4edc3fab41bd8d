/* SPDX-License-Identifier: MIT */
#include "mem/gap_rules.h"
#include "props/stage/sg.h"

/* The rules on gaps of docs/mapping.md, "Gap rules", asked of each entry of a list whose bytes are right. */

static uint64_t length_of(const struct o2_buffer *buffer, uint32_t piece)
{
	return buffer->kind == O2_IOV ? buffer->iov[piece].len : buffer->kiov[piece].len;
}

/* The piece that a byte of the vector is in, and how many bytes it has from that one on. */
static uint32_t piece_at(const struct o2_buffer *buffer, uint64_t byte, uint64_t *rest)
{
	uint32_t piece = 0;

	while (byte >= length_of(buffer, piece))
		byte -= length_of(buffer, piece++);
	*rest = length_of(buffer, piece) - byte;
	return piece;
}

static uint32_t pieces_from(const struct o2_buffer *buffer, uint32_t piece)
{
	uint32_t with_bytes = 0;

	for (; piece < buffer->count; piece++)
		with_bytes += length_of(buffer, piece) > 0;
	return with_bytes;
}

void o2_sg_check_gaps(const struct o2_buffer *buffer, const struct o2_sg_list *list, uint32_t page_bytes,
		      struct o2_report *report)
{
	uint64_t at = buffer->offset, rest;
	const uint64_t end = at + list->nob;
	const uint32_t first = piece_at(buffer, at, &rest);
	bool expected[O2_GAP_RULES] = {false, false, list->gaps};

	for (uint32_t i = 0; i < list->count; i++) {
		const struct o2_sg_entry *entry = &list->entry[i];
		const uint32_t piece = piece_at(buffer, at, &rest);
		const uint64_t room = buffer->kind == O2_IOV ? page_bytes - entry->offset : rest;
		const bool is_short = entry->length < room;

		at += entry->length;
		expected[O2_GAP_G1] |= is_short && pieces_from(buffer, piece) > 1;
		expected[O2_GAP_G2] |= is_short && piece != first && at < end;
	}
	for (int rule = 0; rule < O2_GAP_RULES; rule++)
		if (o2_gap_verdict((enum o2_gap_rule)rule, buffer, page_bytes) != expected[rule])
			o2_report_fail(report, "sg/gap-rule", "rule G%d says %s of a list of %u entries",
				       rule + 1, expected[rule] ? "no gap" : "a gap", list->count);
}
