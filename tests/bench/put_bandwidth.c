/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/monotonic.h"
#include "tests/bench/pair.h"

/*
 * Bandwidth of 1 MiB PUTs from and to virtually contiguous buffers, eight in flight, in every registration
 * mode.  Mode global is measured twice: first with buffers whose pages lie apart for the device, so that a
 * PUT takes 256 fragments and 256 WRITEs ("global-pages"), then behind a remapping that merges, so that the
 * buffers are contiguous for the device too ("global"):
 *
 *   put_bandwidth SOURCE_DEVICE SINK_DEVICE GID_INDEX PUTS
 *
 * prints one line "mode MiB/s" each.  Both ends live in this process, as they do in the properties.  ci/bench
 * prints figures for comparison, measured in the same guest (docs/performance.md).
 */

#define PUT_BYTES   O2_MAX_TRANSFER_BYTES
#define DEPTH	    8u
#define ARENA_PAGES (DEPTH * (PUT_BYTES / 4096) + 1)

struct bench {
	struct o2_bench_pair pair;
	struct o2_iov source_iov[DEPTH];
	struct o2_iov sink_iov[DEPTH];
	enum o2_reg_mode mode;
	uint32_t open;
	uint32_t done;
	uint32_t matched;
	int failed;
};

static int match(void *context, const struct o2_msg *request, uint64_t sink_bytes,
		 struct o2_transfer_memory *memory)
{
	struct bench *bench = context;
	uint32_t slot = bench->matched++ % DEPTH;

	(void)request;
	(void)sink_bytes;
	o2_bench_describe(&bench->pair, 1, bench->mode, (uint64_t)slot * PUT_BYTES, PUT_BYTES,
			  &bench->sink_iov[slot], memory);
	return 0;
}

static void done(void *context, const struct o2_transfer_result *result)
{
	struct bench *bench = context;

	if (result->status != 0)
		bench->failed = result->status;
	if (!result->initiator)
		return;
	bench->open--;
	bench->done++;
}

static int start_put(struct bench *bench, uint32_t number, const struct o2_lnet_hdr *hdr,
		     struct o2_error *error)
{
	struct o2_transfer_memory memory;
	uint32_t slot = number % DEPTH;
	int rc;

	o2_bench_describe(&bench->pair, 0, bench->mode, (uint64_t)slot * PUT_BYTES, PUT_BYTES,
			  &bench->source_iov[slot], &memory);
	rc = o2_conn_put(bench->pair.conn[0], hdr, &memory, NULL, error);
	if (rc == 0)
		bench->open++;
	return rc;
}

static int measure(struct bench *bench, const char *name, enum o2_reg_mode mode, uint32_t puts,
		   struct o2_error *error)
{
	struct o2_lnet_hdr hdr = o2_conn_lnet_hdr(bench->pair.conn[0], O2_LNET_PUT, 0, PUT_BYTES);
	double start = o2_monotonic_seconds();
	uint32_t started = 0;
	int rc = 0;

	bench->mode = mode;
	bench->done = 0;
	while (rc >= 0 && bench->done < puts && bench->failed == 0) {
		while (rc >= 0 && started < puts && bench->open < DEPTH)
			rc = start_put(bench, started++, &hdr, error);
		if (rc >= 0)
			rc = o2_bench_pair_progress(&bench->pair);
	}
	if (rc < 0 || bench->failed != 0)
		return rc < 0 ? rc : bench->failed;
	printf("%s %.2f\n", name, (double)puts / (o2_monotonic_seconds() - start));
	fflush(stdout);
	return 0;
}

int main(int argc, char **argv)
{
	static struct bench bench;
	static const struct o2_conn_ops ops = {.match = match, .done = done};
	struct o2_conn_config config = O2_CONN_DEFAULTS;
	struct o2_error error = {0};
	uint32_t puts;
	char text[200];
	int rc;

	if (argc != 5 || atoi(argv[4]) <= 0) {
		fprintf(stderr, "usage: put_bandwidth SOURCE_DEVICE SINK_DEVICE GID_INDEX PUTS\n");
		return 2;
	}
	puts = (uint32_t)atoi(argv[4]);
	config.queue_depth = DEPTH;
	rc = o2_bench_pair_open(&bench.pair, argv, ARENA_PAGES, &config, &ops, &bench, &error);
	for (enum o2_reg_mode mode = 0; mode < O2_REG_MODES && rc == 0; mode++)
		rc = measure(&bench, mode == O2_REG_GLOBAL ? "global-pages" : o2_reg_mode_name(mode), mode,
			     puts, &error);
	if (rc == 0)
		rc = o2_bench_pair_remap(&bench.pair, &error);
	if (rc == 0)
		rc = measure(&bench, "global", O2_REG_GLOBAL, puts, &error);
	if (rc != 0) {
		o2_error_text(&error, text, sizeof(text));
		fprintf(stderr, "put_bandwidth: %s (%s)\n", strerror(-rc), text);
		return 1;
	}
	o2_bench_pair_close(&bench.pair);
	return 0;
}
