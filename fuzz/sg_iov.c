/* SPDX-License-Identifier: MIT */
/*
 * sg_build of an IOV over a page table: cut at page boundaries, pages found, bytes, gap flag and verdict.
 * Draws: page size, limit of entries, pages; ranges (more?, base, pages, order); pieces (more?, shape, its
 * numbers); window.
 */
#include "fuzz/common.h"
#include "fuzz/sg_oracle.h"
#include "props/draw.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct o2_case_sg drawn;

	if (o2_draw_sg_iov(o2_fuzz_choice(data, size), &drawn))
		o2_fuzz_check_sg(&drawn.memory.buffer, &drawn.memory.space, drawn.max_entries);
	return 0;
}
