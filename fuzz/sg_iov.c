/* SPDX-License-Identifier: MIT */
/*
 * sg_build of an IOV over a page table: cut at page boundaries, pages found, bytes, gap flag and verdict.
 * Draws: page size, limit of entries, pages; ranges (more?, base, pages, order); pieces (more?, shape, its
 * numbers); window.
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
	if (o2_draw_sg_iov(o2_fuzz_choice(data, size), &drawn))
		o2_sg_check(&drawn.memory.buffer, &drawn.memory.space, drawn.max_entries, &outcome, &report);
	o2_fuzz_report("sg", &report);
	return 0;
}
