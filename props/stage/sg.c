/* SPDX-License-Identifier: MIT */
#include "props/stage/sg.h"

#include <inttypes.h>
#include <string.h>

#include "props/scenario/draw.h"

#define SITUATION_LIST(ENTRY)                                          \
	ENTRY(IOV, "iov")                                              \
	ENTRY(KIOV, "kiov")                                            \
	ENTRY(PAGES_4K, "pages_of_4096")                               \
	ENTRY(PAGES_16K, "pages_of_16384")                             \
	ENTRY(PAGES_64K, "pages_of_65536")                             \
	ENTRY(GAP, "gap")                                              \
	ENTRY(DENSE, "several_entries_without_a_gap")                  \
	ENTRY(ENTRIES_254, "entries_254")                              \
	ENTRY(ENTRIES_255, "entries_255")                              \
	ENTRY(ENTRIES_256, "entries_256")                              \
	ENTRY(ENTRIES_257, "entries_257")                              \
	ENTRY(ENTRIES_256_OF_256, "entries_256_where_256_are_allowed") \
	ENTRY(CUT_AT_PAGES, "piece_cut_at_page_boundaries")            \
	ENTRY(EMPTY_PIECE, "empty_piece_between_others")               \
	ENTRY(OFFSET_ENDS_A_PIECE, "offset_ends_with_a_piece")         \
	ENTRY(BEGINS_INSIDE_A_PIECE, "begins_inside_a_piece")          \
	ENTRY(ENDS_INSIDE_A_PIECE, "ends_inside_a_piece")              \
	ENTRY(ONE_BYTE, "one_byte")                                    \
	ENTRY(MIB, "a_mebibyte")                                       \
	ENTRY(MIB_LESS_ONE, "a_mebibyte_less_one")                     \
	ENTRY(MIB_AND_ONE, "a_mebibyte_and_one_refused")               \
	ENTRY(KIB64_LESS_ONE, "bytes_65535")                           \
	ENTRY(KIB64, "bytes_65536")

enum situation {
	REFUSED, /* followed by the other rules */
	LAST_REFUSED = REFUSED + 9 - 1,
	SITUATION_LIST(O2_SITUATION_ID) SITUATIONS,
};

static const char *const rules[IOV - REFUSED] = {
	"sg/page-size",	       "sg/max-entries",       "sg/nob",
	"sg/iov/wraps",	       "sg/kiov/no-such-page", "sg/kiov/entry-past-page",
	"sg/vector-too-short", "sg/too-many-entries",  "sg/iov/no-page",
};

static const char *const situations[SITUATIONS] = {"refused_page_size",
						   "refused_max_entries",
						   "refused_nob",
						   "refused_iov_wraps",
						   "refused_no_such_page",
						   "refused_entry_past_page",
						   "refused_vector_too_short",
						   "refused_too_many_entries",
						   "refused_no_page",
						   SITUATION_LIST(O2_SITUATION_NAME)};

/* Count where the transfer begins and ends within the pieces of an accepted buffer. */
static void count_pieces(uint64_t *seen, const struct o2_buffer *buffer)
{
	const uint64_t end = buffer->offset + buffer->nob;
	uint64_t at = 0;

	for (uint32_t i = 0; i < buffer->count && at < end; i++) {
		const uint64_t length = o2_sg_piece_bytes(buffer, i);

		seen[EMPTY_PIECE] += length == 0 && at > buffer->offset;
		seen[OFFSET_ENDS_A_PIECE] += length != 0 && at + length == buffer->offset;
		seen[BEGINS_INSIDE_A_PIECE] += at < buffer->offset && at + length > buffer->offset;
		seen[ENDS_INSIDE_A_PIECE] += at + length > end;
		at += length;
	}
}

static void count(struct o2_sg_run *run)
{
	const struct o2_buffer *buffer = &run->asked.memory.buffer;
	const struct o2_sg_outcome *outcome = &run->outcome;
	const uint32_t page_bytes = run->asked.memory.space.page_bytes;
	uint64_t *seen = run->tally.seen;

	if (outcome->error.code != 0) {
		for (uint32_t i = 0; i < IOV - REFUSED; i++)
			seen[REFUSED + i] += strcmp(outcome->error.rule, rules[i]) == 0;
		seen[MIB_AND_ONE] +=
			strcmp(outcome->error.rule, "sg/nob") == 0 && buffer->nob == (1u << 20) + 1;
		return;
	}
	seen[buffer->kind == O2_IOV ? IOV : KIOV]++;
	seen[PAGES_4K] += page_bytes == 4096;
	seen[PAGES_16K] += page_bytes == 16384;
	seen[PAGES_64K] += page_bytes == 65536;
	seen[GAP] += outcome->list.gaps;
	seen[DENSE] += !outcome->list.gaps && outcome->list.count > 1;
	if (outcome->list.count >= 254)
		seen[ENTRIES_254 + outcome->list.count - 254]++;
	seen[ENTRIES_256_OF_256] += outcome->list.count == 256 && run->asked.max_entries == 256;
	seen[CUT_AT_PAGES] += outcome->list.count > buffer->count;
	seen[ONE_BYTE] += buffer->nob == 1;
	seen[MIB] += buffer->nob == 1u << 20;
	seen[MIB_LESS_ONE] += buffer->nob == (1u << 20) - 1;
	seen[KIB64_LESS_ONE] += buffer->nob == 65535;
	seen[KIB64] += buffer->nob == 65536;
	count_pieces(seen, buffer);
}

static bool draw(struct o2_sg_run *run, struct o2_choice *choice)
{
	static const uint32_t kinds[] = {O2_DRAW_SG_KIOV_WEIGHT, O2_DRAW_SG_IOV_WEIGHT, 1};

	switch (o2_draw_weighted(choice, kinds, 3)) {
	case 0:
		o2_draw_sg_kiov(choice, &run->asked);
		return true;
	case 1:
		return o2_draw_sg_iov(choice, &run->asked);
	default:
		o2_draw_sg_full(choice, &run->asked);
		return true;
	}
}

static enum o2_status run_case(void *context, struct o2_choice *choice, struct o2_report *report)
{
	struct o2_sg_run *run = context;

	o2_report_clear(report);
	memset(&run->asked, 0, sizeof(run->asked));
	if (!draw(run, choice))
		return o2_choice_status(choice, O2_STATUS_INVALID);
	if (!o2_choice_ok(choice))
		return o2_choice_status(choice, O2_STATUS_VALID);
	o2_sg_check(&run->asked.memory.buffer, &run->asked.memory.space, run->asked.max_entries,
		    &run->outcome, report);
	if (!report->failed)
		count(run);
	return o2_tally_case(&run->tally, choice, report);
}

static void print(const void *context, uint32_t pieces, FILE *out)
{
	const struct o2_sg_run *run = context;
	const struct o2_buffer *buffer = &run->asked.memory.buffer;
	const struct o2_address_space *space = &run->asked.memory.space;
	const uint32_t shown = buffer->count < pieces ? buffer->count : pieces;

	fprintf(out,
		"%s, offset %" PRIu64 ", %" PRIu64 " bytes, at most %" PRIu32 " entries; %" PRIu32
		" pages of %" PRIu32 ", %" PRIu32 " ranges of addresses\n",
		buffer->kind == O2_IOV ? "IOV" : "KIOV", buffer->offset, buffer->nob, run->asked.max_entries,
		space->npages, space->page_bytes, space->nranges);
	for (uint32_t i = 0; i < space->nranges; i++)
		fprintf(out, "  range at 0x%" PRIx64 ", %" PRIu32 " pages\n", space->range[i].base,
			space->range[i].npages);
	for (uint32_t i = 0; i < shown; i++) {
		if (buffer->kind == O2_IOV)
			fprintf(out, "  [%" PRIu32 "] 0x%" PRIx64 ", %" PRIu64 " bytes\n", i,
				buffer->iov[i].base, buffer->iov[i].len);
		else
			fprintf(out, "  [%" PRIu32 "] page %" PRIu32 " +%" PRIu32 ", %" PRIu32 " bytes\n", i,
				buffer->kiov[i].page, buffer->kiov[i].offset, buffer->kiov[i].len);
	}
	if (shown < buffer->count)
		fprintf(out, "  ... %" PRIu32 " more\n", buffer->count - shown);
}

static void print_held(const void *context, FILE *out)
{
	const struct o2_sg_run *run = context;

	if (run->outcome.error.code != 0)
		fprintf(out, "held: refused by %s\n", run->outcome.error.rule);
	else
		fprintf(out, "held: %" PRIu32 " entries, %s\n", run->outcome.list.count,
			run->outcome.list.gaps ? "gaps" : "no gap");
}

struct o2_property o2_sg_property(struct o2_sg_run *run)
{
	static const struct o2_property_ops ops = {
		O2_TALLY_PROPERTY("sg", "sg_build lists each byte where the buffer has it, with the verdict "
					"on gaps, or refuses by a broken rule")};

	return o2_tally_property(&ops, run, situations, SITUATIONS, 50000);
}
