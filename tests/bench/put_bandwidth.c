/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lnd/conn.h"

/*
 * Bandwidth of 1 MiB PUTs from and to virtually contiguous buffers, several in flight, in every registration
 * mode:
 *
 *   put_bandwidth SOURCE_DEVICE SINK_DEVICE GID_INDEX PUTS
 *
 * prints one line "mode MiB/s" each.  Both ends live in this process, as they do in the properties.  What to
 * hold the figures against is printed by ci/bench in the same guest (docs/performance.md).
 */

#define PUT_BYTES   O2_MAX_TRANSFER_BYTES
#define DEPTH	    4u
#define ARENA_PAGES (DEPTH * (PUT_BYTES / 4096) + 1)
#define BUS_BASE    UINT64_C(0x240000000)

struct bench {
	struct o2_ni ni[2];
	struct o2_conn *conn[2];
	struct o2_iov sink_iov[DEPTH];
	enum o2_reg_mode mode;
	uint32_t open;
	uint32_t done;
	uint32_t matched;
	int failed;
};

static void describe(const struct bench *bench, enum o2_side side, uint32_t slot, struct o2_iov *iov,
		     struct o2_transfer_memory *memory)
{
	iov->base = bench->ni[side].arena.view[0].base + (uint64_t)slot * PUT_BYTES;
	iov->len = PUT_BYTES;
	*memory = (struct o2_transfer_memory){
		.mode = bench->mode,
		.buffer = {.kind = O2_IOV, .count = 1, .nob = PUT_BYTES, .iov = iov},
	};
}

static int match(void *context, const struct o2_msg *request, uint64_t sink_bytes,
		 struct o2_transfer_memory *memory)
{
	struct bench *bench = context;
	uint32_t slot = bench->matched++ % DEPTH;

	(void)request;
	(void)sink_bytes;
	describe(bench, O2_SINK, slot, &bench->sink_iov[slot], memory);
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

static int open_ends(struct bench *bench, char **argv, struct o2_error *error)
{
	static const struct o2_conn_ops ops = {.match = match, .done = done};
	struct o2_conn_config config = O2_CONN_DEFAULTS;
	struct o2_conn_address address[2];
	int rc = 0;

	config.queue_depth = DEPTH;
	for (int i = 0; i < 2 && rc == 0; i++) {
		struct o2_ni_config ni = {
			.device = argv[1 + i],
			.port = 1,
			.gid_index = (uint8_t)atoi(argv[3]),
			.nid = UINT64_C(0x000500000a4d0001) + (uint64_t)i,
			.incarnation = 1 + (uint64_t)i,
			.dma_kind = O2_DMA_BUS,
			.dma_base = BUS_BASE,
			.arena_pages = ARENA_PAGES,
		};

		rc = o2_ni_open(&ni, &bench->ni[i], error);
		if (rc == 0)
			rc = o2_conn_create(&bench->ni[i], &config, &ops, bench, &bench->conn[i], error);
		if (rc == 0)
			o2_conn_get_address(bench->conn[i], &address[i]);
	}
	for (int i = 0; i < 2 && rc == 0; i++)
		rc = o2_conn_connect(bench->conn[i], &address[1 - i], error);
	return rc;
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int measure(struct bench *bench, enum o2_reg_mode mode, uint32_t puts, struct o2_error *error)
{
	struct o2_lnet_hdr hdr = o2_conn_lnet_hdr(bench->conn[0], O2_LNET_PUT, 0, PUT_BYTES);
	double start = seconds();
	uint32_t started = 0;

	bench->mode = mode;
	bench->done = 0;
	while (bench->done < puts && bench->failed == 0) {
		while (started < puts && bench->open < DEPTH) {
			struct o2_transfer_memory memory;
			struct o2_iov iov;
			int rc;

			describe(bench, O2_SOURCE, started % DEPTH, &iov, &memory);
			rc = o2_conn_put(bench->conn[0], &hdr, &memory, NULL, error);
			if (rc != 0)
				return rc;
			bench->open++;
			started++;
		}
		o2_conn_progress(bench->conn[0]);
		o2_conn_progress(bench->conn[1]);
	}
	if (bench->failed != 0)
		return bench->failed;
	printf("%s %.2f\n", o2_reg_mode_name(mode), (double)puts / (seconds() - start));
	fflush(stdout);
	return 0;
}

int main(int argc, char **argv)
{
	static struct bench bench;
	struct o2_error error = {0};
	char text[200];
	int rc;

	if (argc != 5 || atoi(argv[4]) <= 0) {
		fprintf(stderr, "usage: put_bandwidth SOURCE_DEVICE SINK_DEVICE GID_INDEX PUTS\n");
		return 2;
	}
	rc = open_ends(&bench, argv, &error);
	for (uint32_t mode = 0; mode < O2_REG_MODES && rc == 0; mode++)
		rc = measure(&bench, (enum o2_reg_mode)mode, (uint32_t)atoi(argv[4]), &error);
	if (rc != 0) {
		o2_error_text(&error, text, sizeof(text));
		fprintf(stderr, "put_bandwidth: %s (%s)\n", strerror(-rc), text);
		return 1;
	}
	for (int i = 0; i < 2; i++) {
		o2_conn_destroy(bench.conn[i]);
		o2_ni_close(&bench.ni[i]);
	}
	return 0;
}
