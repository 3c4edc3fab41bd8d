/* SPDX-License-Identifier: MIT */
#include "tests/bench/beside.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/monotonic.h"

#define ROUNDS	   5
#define DEFAULT_MS 100
#define MOST_MS	   10000

/* Returns the nanoseconds that one call of run took, averaged over a batch. */
static double time_batch(void (*run)(void), unsigned int batch)
{
	const uint64_t start = o2_monotonic_ns();

	for (unsigned int i = 0; i < batch; i++)
		run();
	return (double)(o2_monotonic_ns() - start) / batch;
}

static double faster(double ns, double fastest_ns)
{
	return fastest_ns == 0 || ns < fastest_ns ? ns : fastest_ns;
}

static struct o2_beside one_round(void (*ours)(void), void (*yardstick)(void), unsigned int batch,
				  uint64_t min_ns)
{
	const uint64_t end_ns = o2_monotonic_ns() + min_ns;
	struct o2_beside figures = {0, 0, 0};

	do {
		figures.ours_ns = faster(time_batch(ours, batch), figures.ours_ns);
		figures.yardstick_ns = faster(time_batch(yardstick, batch), figures.yardstick_ns);
	} while (o2_monotonic_ns() < end_ns);
	figures.ratio = figures.ours_ns / figures.yardstick_ns;
	return figures;
}

static int by_ratio(const void *a, const void *b)
{
	const double x = ((const struct o2_beside *)a)->ratio, y = ((const struct o2_beside *)b)->ratio;

	return (x > y) - (x < y);
}

struct o2_beside o2_measure_beside(void (*ours)(void), void (*yardstick)(void), unsigned int batch,
				   uint64_t min_ns)
{
	struct o2_beside rounds[ROUNDS];

	one_round(ours, yardstick, batch, min_ns / ROUNDS);
	for (unsigned int i = 0; i < ROUNDS; i++)
		rounds[i] = one_round(ours, yardstick, batch, min_ns);
	qsort(rounds, ROUNDS, sizeof(rounds[0]), by_ratio);
	return rounds[ROUNDS / 2];
}

uint64_t o2_bench_ns(int argc, char **argv)
{
	char *end = NULL;
	const unsigned long ms = argc > 1 ? strtoul(argv[1], &end, 10) : DEFAULT_MS;

	if (argc > 2 || (argc == 2 && (*argv[1] == '\0' || *end != '\0' || ms == 0 || ms > MOST_MS))) {
		fprintf(stderr, "usage: %s [MILLISECONDS, 1 to %d]\n", argv[0], MOST_MS);
		exit(2);
	}
	return ms * O2_NS_PER_MS;
}
