/* SPDX-License-Identifier: MIT */
/*
 * Transfers of 64 KiB on loopverbs, one at a time, beside memcpy of the same bytes: the cost of the transport
 * when the network costs nothing.
 *
 *   bench_loop_transfers [MILLISECONDS]     of each measurement, default 100
 *
 * Prints one line for each mode, with figures for PUT and GET.  It gives no verdict.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "props/world/rung.h"
#include "rdma/rdma_plan.h"
#include "tests/bench/beside.h"

#define BATCH 10u
#define PAGES 16u
#define BYTES (PAGES * O2_SCENARIO_PAGE_BYTES)

static struct o2_rung *rung;
static struct o2_scenario scenario;
static struct o2_observed observed;

static void run_transfer(void)
{
	struct o2_error error = {0};

	if (rung->ops->transfer(rung, &scenario, &observed, &error) == 0 && observed.initiator.status == 0)
		return;
	fprintf(stderr, "bench_loop_transfers: status %d, %s\n", observed.initiator.status,
		error.rule != NULL ? error.rule : "");
	exit(1);
}

/* Copies as many bytes from one arena to the other, in the order of their pages. */
static void run_copy(void)
{
	struct o2_arena *from = rung->ops->arena(rung, O2_SOURCE, O2_DMA_BUS);
	struct o2_arena *to = rung->ops->arena(rung, O2_SINK, O2_DMA_BUS);

	memcpy(to->memory, from->memory, BYTES);
	o2_bench_forget(to->memory);
}

static void set_side(struct o2_scenario_side *side, enum o2_reg_mode mode)
{
	*side = (struct o2_scenario_side){
		.mode = mode,
		.kind = O2_DMA_BUS,
		.vector = O2_IOV,
		.count = 1,
		.nob = BYTES,
		.iov = {{.base = 0, .len = BYTES}},
	};
}

/* Fails if the bytes did not arrive: a transfer that moves nothing would look fast. */
static void check_moved(uint8_t byte)
{
	struct o2_arena *from = rung->ops->arena(rung, O2_SOURCE, O2_DMA_BUS);
	struct o2_arena *to = rung->ops->arena(rung, O2_SINK, O2_DMA_BUS);

	memset(from->memory, byte, BYTES);
	run_transfer();
	if (memcmp(to->memory, from->memory, BYTES) == 0)
		return;
	fprintf(stderr, "bench_loop_transfers: wrong bytes\n");
	exit(1);
}

static void print_one(enum o2_reg_mode mode, enum o2_transfer_op op, uint64_t min_ns)
{
	struct o2_beside figures;

	scenario = (struct o2_scenario){
		.op = op,
		.max_frags = O2_MAX_FRAGS,
		.wrq_sge = O2_DEFAULT_WRQ_SGE,
	};
	set_side(&scenario.source, mode);
	set_side(&scenario.sink, mode);
	check_moved((uint8_t)(1 + mode * 2 + op));
	figures = o2_measure_beside(run_transfer, run_copy, BATCH, min_ns);
	printf("%-12s %s %8.0f transfers/s, %8.0f copies/s, 1/%.1f of its speed\n", o2_reg_mode_name(mode),
	       op == O2_OP_PUT ? "PUT" : "GET", 1e9 / figures.ours_ns, 1e9 / figures.yardstick_ns,
	       figures.ratio);
}

int main(int argc, char **argv)
{
	const uint64_t min_ns = o2_bench_ns(argc, argv);
	struct o2_error error = {0};

	if (o2_rung_open_verbs("loop0", "loop1", 1, &rung, &error) != 0) {
		fprintf(stderr, "bench_loop_transfers: %s\n", error.rule);
		return 1;
	}
	for (uint32_t i = 0; i < O2_REG_MODES; i++) {
		print_one((enum o2_reg_mode)i, O2_OP_PUT, min_ns);
		print_one((enum o2_reg_mode)i, O2_OP_GET, min_ns);
	}
	rung->ops->close(rung);
	return 0;
}
