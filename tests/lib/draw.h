/* SPDX-License-Identifier: MIT */
#ifndef O2_TESTS_DRAW_H
#define O2_TESTS_DRAW_H

#include <stdint.h>

/* Random numbers of a test: the same from the same seed, on every machine (the public xorshift scheme).
 * One sequence a program. */

/* Neighbouring seeds start far apart. */
void draw_from(uint64_t seed);

/* 0 to below - 1. */
uint32_t draw(uint32_t below);

#endif
