/* SPDX-License-Identifier: MIT */
#ifndef O2_TESTS_BENCH_BESIDE_H
#define O2_TESTS_BENCH_BESIDE_H

#include <stdint.h>

/*
 * Measures two functions side by side.  A round runs batches of both in turn and keeps the fastest of each;
 * the result is the round with the median ratio of five.  Other load only slows batches down, and hits both.
 */
struct o2_beside {
	double ours_ns;	     /* of one call */
	double yardstick_ns; /* of one call */
	double ratio;	     /* ours_ns / yardstick_ns */
};

/* batch: calls between two clock reads.  min_ns: length of a round; a warm-up of a fifth of it comes first. */
struct o2_beside o2_measure_beside(void (*ours)(void), void (*yardstick)(void), unsigned int batch,
				   uint64_t min_ns);

/* Milliseconds from argv[1], 1 to 10000, default 100, in ns.  Bad value: prints usage, exits with 2. */
uint64_t o2_bench_ns(int argc, char **argv);

/* Tells the compiler that memory may have changed, so it must recompute what it derived from the old
 * bytes. */
static inline void o2_bench_forget(void *memory)
{
	__asm__ volatile("" : : "r"(memory) : "memory");
}

#endif
