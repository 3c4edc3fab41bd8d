/* SPDX-License-Identifier: MIT */
/* A fuzz target that overflows its stack on any input but an empty one. */
#include "fuzz/common.h"

static uint32_t go_down(uint32_t levels)
{
	volatile uint8_t room[4096];

	room[0] = (uint8_t)levels;
	return levels == 0 ? 0 : go_down(levels - 1) + room[0];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	(void)data;
	return go_down(size == 0 ? 0 : UINT32_MAX) == 1;
}
