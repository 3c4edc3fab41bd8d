/* SPDX-License-Identifier: MIT */
#ifndef O2_BASE_MONOTONIC_H
#define O2_BASE_MONOTONIC_H

#include <stdint.h>
#include <time.h>

/*
 * Monotonic time since some moment before the program started.  For loops, deadlines and measurements of
 * programs; the engine is told the time instead (docs/transport.md).  Source: clock_gettime(2).
 */

#define O2_MS_PER_S  UINT64_C(1000)
#define O2_NS_PER_US UINT64_C(1000)
#define O2_NS_PER_MS UINT64_C(1000000)
#define O2_NS_PER_S  UINT64_C(1000000000)

static inline uint64_t o2_monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * O2_NS_PER_S + (uint64_t)now.tv_nsec;
}

static inline uint64_t o2_monotonic_ms(void)
{
	return o2_monotonic_ns() / O2_NS_PER_MS;
}

/* Nanoseconds of the wall clock since 1970, which may go back: for stamps that other programs read. */
static inline uint64_t o2_wall_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * O2_NS_PER_S + (uint64_t)now.tv_nsec;
}

static inline double o2_monotonic_seconds(void)
{
	return (double)o2_monotonic_ns() / 1e9;
}

#endif
