/* SPDX-License-Identifier: MIT */
/*
 * sg_build of a page vector: bytes, gap flag and verdict as the definitions say, for hostile pieces as well.
 * Draws: page size, limit of entries, pages; pieces (more?, shape, its numbers); window.
 */
#include "fuzz/common.h"
#include "props/scenario/draw.h"
#include "props/stage/sg.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct o2_case_sg drawn;
	static struct o2_sg_outcome outcome;
	struct o2_report report;

	o2_report_clear(&report);
	o2_draw_sg_kiov(o2_fuzz_choice(data, size), &drawn);
	o2_sg_check(&drawn.memory.buffer, &drawn.memory.space, drawn.max_entries, &outcome, &report);
	o2_fuzz_report("sg", &report);
	return 0;
}
