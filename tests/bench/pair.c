/* SPDX-License-Identifier: MIT */
#include "tests/bench/pair.h"

#include <stdlib.h>

#include "base/monotonic.h"
#include "lnd/ni/counts.h"

#define BUS_BASE UINT64_C(0x240000000)
#define SETTLE_S 20 /* longer than all retries of soft-RoCE */

int o2_bench_pair_open(struct o2_bench_pair *pair, char **argv, uint32_t arena_pages,
		       const struct o2_conn_config *config, const struct o2_conn_ops *ops, void *context,
		       struct o2_error *error)
{
	struct o2_conn_address address[2];
	int rc = 0;

	for (int i = 0; i < 2 && rc == 0; i++) {
		struct o2_ni_config ni = {
			.device = argv[1 + i],
			.port = 1,
			.gid_index = (uint8_t)atoi(argv[3]),
			.nid = UINT64_C(0x000500000a4d0001) + (uint64_t)i,
			.incarnation = 1 + (uint64_t)i,
			.dma_kind = O2_DMA_BUS,
			.dma_base = BUS_BASE,
			.arena_pages = arena_pages,
		};

		rc = o2_ni_open(&ni, &pair->ni[i], error);
		if (rc == 0)
			rc = o2_conn_create(&pair->ni[i], config, ops, context, &pair->conn[i], error);
		if (rc == 0)
			o2_conn_get_address(pair->conn[i], &address[i]);
	}
	for (int i = 0; i < 2 && rc == 0; i++)
		rc = o2_conn_connect(pair->conn[i], &address[1 - i], error);
	return rc;
}

void o2_bench_pair_close(struct o2_bench_pair *pair)
{
	for (int i = 0; i < 2; i++) {
		o2_conn_destroy(pair->conn[i]);
		o2_ni_close(&pair->ni[i]);
	}
}

/* The last operation has ended at its initiator; wait until both ends have their resources back. */
static int settle(struct o2_bench_pair *pair, struct o2_error *error)
{
	const double end = o2_monotonic_seconds() + SETTLE_S;
	int rc, busy;

	do {
		rc = o2_bench_pair_progress(pair);
		busy = o2_ni_check_idle(&pair->ni[0], error);
		if (busy == 0)
			busy = o2_ni_check_idle(&pair->ni[1], error);
	} while (rc >= 0 && busy != 0 && o2_monotonic_seconds() < end);
	return rc < 0 ? rc : busy;
}

int o2_bench_pair_remap(struct o2_bench_pair *pair, struct o2_error *error)
{
	int rc = settle(pair, error);

	for (int i = 0; i < 2 && rc == 0; i++) {
		rc = o2_ni_set_dma(&pair->ni[i], O2_DMA_IOMMU, BUS_BASE, error);
		pair->ni[i].domain.dma.iommu.merge = UINT64_MAX;
	}
	return rc;
}

int o2_bench_pair_progress(struct o2_bench_pair *pair)
{
	int handled = 0;

	for (int i = 0; i < 2; i++) {
		int rc = o2_conn_progress(pair->conn[i]);

		if (rc < 0)
			return rc;
		handled += rc;
	}
	return handled;
}

void o2_bench_describe(const struct o2_bench_pair *pair, int end, enum o2_reg_mode mode, uint64_t offset,
		       uint32_t nob, struct o2_iov *iov, struct o2_transfer_memory *memory)
{
	const uint32_t view = pair->ni[end].domain.dma.kind == O2_DMA_IOMMU ? O2_ARENA_IOMMU_VIEW : 0;

	iov->base = pair->ni[end].arena.view[view].base + offset;
	iov->len = nob;
	*memory = (struct o2_transfer_memory){
		.mode = mode,
		.buffer = {.kind = O2_IOV, .count = 1, .nob = nob, .iov = iov},
	};
}
