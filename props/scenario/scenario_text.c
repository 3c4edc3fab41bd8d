/* SPDX-License-Identifier: MIT */
#include "props/scenario/scenario_io.h"

#include <inttypes.h>

#include "props/scenario/predict.h"

static const char *cksum_text(enum o2_cksum_flavour flavour)
{
	switch (flavour) {
	case O2_CKSUM_UNSIGNED:
		return "checksum of unsigned bytes";
	case O2_CKSUM_SIGNED:
		return "checksum of signed bytes";
	default:
		return "no checksum";
	}
}

static const char *mode_text(enum o2_reg_mode mode)
{
	const char *name = o2_reg_mode_name(mode);

	return name == NULL ? "?" : name;
}

static const char *const kind_name[] = {
	[O2_DMA_BUS] = "bus", [O2_DMA_VIRTUAL] = "virtual", [O2_DMA_IOMMU] = "remapped"};

static void print_piece(const struct o2_scenario_side *side, uint32_t i, FILE *out)
{
	if (side->vector == O2_KIOV)
		fprintf(out, "  [%" PRIu32 "] page %" PRIu32 " +%" PRIu32 ", %" PRIu32 " bytes\n", i,
			side->kiov[i].page, side->kiov[i].offset, side->kiov[i].len);
	else
		fprintf(out, "  [%" PRIu32 "] view page %" PRIu64 " +%" PRIu64 ", %" PRIu64 " bytes\n", i,
			side->iov[i].base / O2_SCENARIO_PAGE_BYTES,
			side->iov[i].base % O2_SCENARIO_PAGE_BYTES, side->iov[i].len);
}

static void print_side(const char *name, const struct o2_scenario_side *side, bool gaps, uint32_t max_pieces,
		       FILE *out)
{
	uint32_t shown = side->count < max_pieces ? side->count : max_pieces;

	if (side->vector == O2_KIOV)
		fprintf(out, "%s: KIOV", name);
	else
		fprintf(out, "%s: IOV in view %" PRIu32, name, side->view);
	fprintf(out, ", %s addresses, offset %" PRIu64 ", %" PRIu64 " bytes in %" PRIu32 " pieces%s\n",
		kind_name[side->kind], side->offset_bytes, side->nob, side->count, gaps ? ", gaps" : "");
	if (side->per_segment)
		fprintf(out, "  one fragment per segment\n");
	if (side->lazy)
		fprintf(out, "  its region is kept when the transfer is over\n");
	if (side->mode == O2_REG_PHYS)
		fprintf(out, "  region from 0x%" PRIx64 "\n", side->iova);
	if (side->mode == O2_REG_FASTREG_GAPS && side->staging)
		fprintf(out, "  by way of a contiguous region\n");
	if (side->kind == O2_DMA_IOMMU)
		fprintf(out, "  merges 0x%" PRIx64 "%s\n", side->merge,
			side->fault != O2_DMA_NO_FAULT ? ", the mapping fails" : "");
	if (side->bounce)
		fprintf(out, "  its device bounces\n");
	if (side->has_unmapped)
		fprintf(out, "  page %" PRIu32 " has no CPU mapping\n", side->unmapped_page);
	for (uint32_t i = 0; i < shown; i++)
		print_piece(side, i, out);
	if (shown < side->count)
		fprintf(out, "  and %" PRIu32 " more\n", side->count - shown);
}

void o2_scenario_print(const struct o2_scenario *scenario, uint32_t max_pieces, FILE *out)
{
	struct o2_prediction prediction;

	/* Gaps depend on offsets within pages, not on the pages' addresses. */
	o2_predict(scenario, NULL, NULL, NULL, &prediction);
	fprintf(out, "%s of %" PRIu64 " bytes, %s -> %s, %" PRIu32 " fragments, %" PRIu32 " sge, %s, %s\n",
		scenario->op == O2_OP_PUT ? "PUT" : "GET", o2_scenario_moved(scenario),
		mode_text(scenario->source.mode), mode_text(scenario->sink.mode), scenario->max_frags,
		scenario->wrq_sge, scenario->order == O2_LITTLE_ENDIAN ? "little-endian" : "big-endian",
		cksum_text(scenario->cksum_flavour));
	if (scenario->stale_key)
		fprintf(out, "when it is over, the sink's key is used once more\n");
	print_side("source", &scenario->source, prediction.source_gaps, max_pieces, out);
	print_side("sink", &scenario->sink, prediction.sink_gaps, max_pieces, out);
}
