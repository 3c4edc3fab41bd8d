/* SPDX-License-Identifier: MIT */
#include "props/engine/prng.h"

struct o2_prng o2_prng_init(uint64_t seed, uint64_t stream)
{
	/* Mix twice, so that neighbouring seeds and streams do not start near each other. */
	const uint64_t start = o2_mix64(seed + O2_MIX_STEP) ^ o2_mix64(~stream * O2_MIX_STEP);

	return (struct o2_prng){.state = o2_mix64(start)};
}

uint64_t o2_prng_next(struct o2_prng *prng)
{
	prng->state += O2_MIX_STEP;
	return o2_mix64(prng->state);
}

uint64_t o2_prng_upto(struct o2_prng *prng, uint64_t max)
{
	const uint64_t values = max + 1; /* 0 means 2^64 */
	uint64_t skip, r;

	if (values == 0)
		return o2_prng_next(prng);
	skip = -values % values; /* 2^64 modulo values: this many numbers would be too likely */
	do {
		r = o2_prng_next(prng);
	} while (r < skip);
	return r % values;
}
