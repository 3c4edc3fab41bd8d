/* SPDX-License-Identifier: MIT */
#ifndef O2_BASE_MIX_H
#define O2_BASE_MIX_H

#include <stdint.h>

/* The golden ratio in 64 bits.  The step is odd, so counting in such steps visits every number once. */
#define O2_MIX_STEP UINT64_C(0x9e3779b97f4a7c15)

/* Its product with O2_MIX_STEP is 1. */
#define O2_MIX_STEP_INVERSE UINT64_C(0xf1de83e19937733d)

/*
 * A bijection of 64-bit numbers that spreads every input bit over the whole output (the mixer of the public
 * SplitMix64 scheme).  Not for secrets.
 */
static inline uint64_t o2_mix64(uint64_t x)
{
	x ^= x >> 30;
	x *= UINT64_C(0xbf58476d1ce4e5b9);
	x ^= x >> 27;
	x *= UINT64_C(0x94d049bb133111eb);
	x ^= x >> 31;
	return x;
}

/* The inverse of o2_mix64. */
static inline uint64_t o2_unmix64(uint64_t x)
{
	x ^= x >> 31 ^ x >> 62;
	x *= UINT64_C(0x319642b2d24d8ec3);
	x ^= x >> 27 ^ x >> 54;
	x *= UINT64_C(0x96de1b173f119089);
	x ^= x >> 30 ^ x >> 60;
	return x;
}

#endif
