/* SPDX-License-Identifier: MIT */
#ifndef O2_BASE_MONOTONIC_H
#define O2_BASE_MONOTONIC_H

#include <stdint.h>
#include <time.h>

/*
 * Time on a clock that never goes back, from some moment before the program started.  For loops, deadlines
 * and measurements of programs; the engine is told the time (docs/transport.md).  Source: clock_gettime(2).
 */

static inline uint64_t o2_monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline uint64_t o2_monotonic_ms(void)
{
	return o2_monotonic_ns() / 1000000u;
}

/* Nanoseconds of the wall clock since 1970, which may go back: for stamps that other programs read. */
static inline uint64_t o2_wall_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline double o2_monotonic_seconds(void)
{
	return (double)o2_monotonic_ns() / 1e9;
}

#endif
