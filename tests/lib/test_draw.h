/* SPDX-License-Identifier: MIT */
#ifndef O2_TEST_DRAW_H
#define O2_TEST_DRAW_H

#include <stdint.h>

/* Random numbers of a test: the same from the same seed, on every machine (the public xorshift scheme). */

static uint64_t draw_state;

/* Neighbouring seeds start far apart. */
static inline void draw_from(uint64_t seed)
{
	draw_state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
}

/* 0 to below - 1. */
static inline uint32_t draw(uint32_t below)
{
	draw_state ^= draw_state << 13;
	draw_state ^= draw_state >> 7;
	draw_state ^= draw_state << 17;
	return (uint32_t)(draw_state >> 33) % below;
}

#endif
