/* SPDX-License-Identifier: MIT */
/*
 * sg_build of a page vector: bytes, gap flag and verdict as the definitions say, for hostile pieces as well.
 * Draws: page size, limit of entries, pages; pieces (more?, shape, its numbers); window.
 */
#include "fuzz/common.h"
#include "fuzz/sg_oracle.h"
#include "props/draw.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct o2_case_sg drawn;

	o2_draw_sg_kiov(o2_fuzz_choice(data, size), &drawn);
	o2_fuzz_check_sg(&drawn.memory.buffer, &drawn.memory.space, drawn.max_entries);
	return 0;
}
