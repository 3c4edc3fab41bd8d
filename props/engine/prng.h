/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_PRNG_H
#define O2_PROPS_PRNG_H

#include <stdint.h>

#include "base/mix.h"

/*
 * The only source of randomness: a counter run through a 64-bit mixer (the public SplitMix64 scheme).
 *
 * Same seed, same numbers, on every machine.  Not for secrets.  Plain data: copy it to fork a stream.
 */
struct o2_prng {
	uint64_t state;
};

/*
 * Start a stream.  Streams of one seed are independent of each other: case number i of a run is
 * o2_prng_init(seed, i), so that any case of a run can be repeated without the ones before it.
 */
struct o2_prng o2_prng_init(uint64_t seed, uint64_t stream);

/* The next 64 bits. */
uint64_t o2_prng_next(struct o2_prng *prng);

/* Uniform in 0..max, both included, without modulo bias. */
uint64_t o2_prng_upto(struct o2_prng *prng, uint64_t max);

#endif
