/* SPDX-License-Identifier: MIT */
#ifndef O2_TESTS_BENCH_BESIDE_H
#define O2_TESTS_BENCH_BESIDE_H

#include <stdint.h>

/*
 * Two functions measured side by side: batches of both in turn, the fastest batch of each in a round, and of
 * five rounds the one with the median ratio.  What else the machine does only ever slows one down, and hits
 * both.
 */
struct o2_beside {
	double ours_ns;	     /* of one call */
	double yardstick_ns; /* of one call */
	double ratio;	     /* ours_ns / yardstick_ns */
};

/* batch: calls between two looks at the clock.  min_ns: of each round; there are six, one to warm up. */
struct o2_beside o2_measure_beside(void (*ours)(void), void (*yardstick)(void), unsigned int batch,
				   uint64_t min_ns);

/* Milliseconds from the command line, 1 to 10000: argv[1], or 100.  Ends the program with usage and 2. */
uint64_t o2_bench_ns(int argc, char **argv);

/* Memory may have changed: nothing that was computed from it before is known any more. */
static inline void o2_bench_forget(void *memory)
{
	__asm__ volatile("" : : "r"(memory) : "memory");
}

#endif
