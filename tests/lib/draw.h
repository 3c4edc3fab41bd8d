/* SPDX-License-Identifier: MIT */
#ifndef O2_TESTS_DRAW_H
#define O2_TESTS_DRAW_H

#include <stdint.h>

/* Random numbers for tests (xorshift): the same seed gives the same numbers on every machine.  A program has one
 * sequence. */

/* Start the sequence.  Neighbouring seeds give unrelated sequences. */
void draw_from(uint64_t seed);

/* The next random number, from 0 to below - 1. */
uint32_t draw(uint32_t below);

#endif
