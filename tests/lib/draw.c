/* SPDX-License-Identifier: MIT */
#include "tests/lib/draw.h"

static uint64_t draw_state;

void draw_from(uint64_t seed)
{
	draw_state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
}

uint32_t draw(uint32_t below)
{
	draw_state ^= draw_state << 13;
	draw_state ^= draw_state >> 7;
	draw_state ^= draw_state << 17;
	return (uint32_t)(draw_state >> 33) % below;
}
