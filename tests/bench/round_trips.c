/* SPDX-License-Identifier: MIT */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/monotonic.h"
#include "tests/bench/bare.h"
#include "tests/bench/pair.h"

/*
 * Round trips, a PUT and then a GET of the same 64 KiB, one at a time, in every registration mode, beside a
 * bare loop that posts the same SENDs and WRITEs (tests/bench/bare.h).
 *
 * Both loops yield the processor while they have nothing to do: soft-RoCE works in kernel threads, and on a
 * machine with one processor a loop that only polls would starve them.
 *
 *   round_trips DEVICE DEVICE GID_INDEX TRIPS
 *
 * prints one line for each mode: mode, round trips a second, those of the bare loop, those of the bare loop
 * when it registers both sides of each transfer as well, RDMA WRITEs of each transfer.
 */

#define TRIP_BYTES  65536u
#define ARENA_PAGES (TRIP_BYTES / 4096 + 1)

struct bench {
	struct o2_bench_pair pair;
	struct o2_iov iov[2];
	enum o2_reg_mode mode;
	uint32_t ended; /* sides of the current transfer that have ended */
	struct o2_bare_shape shape;
	int failed;
};

static int match(void *context, const struct o2_msg *request, uint64_t sink_bytes,
		 struct o2_transfer_memory *memory)
{
	struct bench *bench = context;

	(void)request;
	(void)sink_bytes;
	o2_bench_describe(&bench->pair, 1, bench->mode, 0, TRIP_BYTES, &bench->iov[1], memory);
	return 0;
}

static void done(void *context, const struct o2_transfer_result *result)
{
	struct bench *bench = context;

	if (result->status != 0)
		bench->failed = result->status;
	if (result->side == O2_SOURCE)
		bench->shape.nwr = result->nwr;
	else
		bench->shape.nfrags = result->nfrags;
	bench->ended++;
}

/* Does one transfer and waits until it has ended at both ends. */
static int transfer(struct bench *bench, enum o2_lnet_type type, struct o2_error *error)
{
	struct o2_conn *conn = bench->pair.conn[0];
	struct o2_lnet_hdr hdr = o2_conn_lnet_hdr(conn, type, 0, TRIP_BYTES);
	struct o2_transfer_memory memory;
	int rc;

	bench->ended = 0;
	o2_bench_describe(&bench->pair, 0, bench->mode, 0, TRIP_BYTES, &bench->iov[0], &memory);
	if (type == O2_LNET_PUT)
		rc = o2_conn_put(conn, &hdr, &memory, NULL, error);
	else
		rc = o2_conn_get(conn, &hdr, &memory, NULL, error);
	while (rc >= 0 && bench->failed == 0 && bench->ended < 2) {
		rc = o2_bench_pair_progress(&bench->pair);
		if (rc == 0)
			sched_yield();
	}
	return rc < 0 ? rc : bench->failed;
}

static int run_trips(struct bench *bench, uint32_t trips, struct o2_error *error)
{
	int rc = 0;

	for (uint32_t i = 0; i < trips && rc == 0; i++) {
		rc = transfer(bench, O2_LNET_PUT, error);
		if (rc == 0)
			rc = transfer(bench, O2_LNET_GET, error);
	}
	return rc;
}

/* Returns the round trips a second of the bare loop, or -errno. */
static double run_bare(struct o2_bare *bare, const struct o2_bare_shape *shape, uint32_t trips)
{
	double start = o2_monotonic_seconds();
	int rc = 0;

	for (uint32_t i = 0; i < trips && rc == 0; i++) {
		rc = o2_bare_put(bare, shape);
		if (rc == 0)
			rc = o2_bare_get(bare, shape);
	}
	return rc != 0 ? rc : trips / (o2_monotonic_seconds() - start);
}

static int measure(struct bench *bench, struct o2_bare *bare, enum o2_reg_mode mode, uint32_t trips,
		   struct o2_error *error)
{
	double start = o2_monotonic_seconds(), ours, plain, registering;
	int rc;

	bench->mode = mode;
	bench->shape = (struct o2_bare_shape){.transfer_bytes = TRIP_BYTES};
	rc = run_trips(bench, trips, error);
	ours = trips / (o2_monotonic_seconds() - start);
	if (rc != 0)
		return rc;
	plain = run_bare(bare, &bench->shape, trips);
	bench->shape.registers = true;
	registering = run_bare(bare, &bench->shape, trips);
	if (bare->failed != 0)
		return bare->failed;
	printf("%s %.2f %.2f %.2f %u\n", o2_reg_mode_name(mode), ours, plain, registering, bench->shape.nwr);
	fflush(stdout);
	return 0;
}

int main(int argc, char **argv)
{
	static struct bench bench;
	static struct o2_bare bare;
	static const struct o2_conn_ops ops = {.match = match, .done = done};
	const struct o2_conn_config config = O2_CONN_DEFAULTS;
	struct o2_error error = {0};
	char text[200];
	int rc;

	if (argc != 5 || atoi(argv[4]) <= 0) {
		fprintf(stderr, "usage: round_trips DEVICE DEVICE GID_INDEX TRIPS\n");
		return 2;
	}
	rc = o2_bench_pair_open(&bench.pair, argv, ARENA_PAGES, &config, &ops, &bench, &error);
	if (rc == 0)
		rc = o2_bare_open(&bare, bench.pair.ni, &error);
	for (uint32_t mode = 0; mode < O2_REG_MODES && rc == 0; mode++)
		rc = measure(&bench, &bare, (enum o2_reg_mode)mode, (uint32_t)atoi(argv[4]), &error);
	if (rc != 0) {
		o2_error_text(&error, text, sizeof(text));
		fprintf(stderr, "round_trips: %s (%s)\n", strerror(-rc), text);
		return 1;
	}
	o2_bare_close(&bare);
	o2_bench_pair_close(&bench.pair);
	return 0;
}
