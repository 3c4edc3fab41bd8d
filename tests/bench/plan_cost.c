/* SPDX-License-Identifier: MIT */
/*
 * The cost of a fragment in the pure stages: sg_build, dma_map and reg_plan of both sides, and rdma_plan.
 * Compares lists of 256 fragments with lists of 64, in every mode and every layout that it takes.
 *
 *   bench_plan_cost [MILLISECONDS]     of each measurement, default 100
 *
 * The ratio must be at most 1.2 (docs/performance.md).  Prints figures; exits with 1 when a stage refuses.
 */
#include <stdio.h>
#include <stdlib.h>

#include "mem/dma_map.h"
#include "mem/sg_build.h"
#include "rdma/rdma_plan.h"
#include "reg/plan.h"
#include "tests/bench/beside.h"

#define BATCH 20u
#define PAGE  4096u
#define MANY  256u
#define FEW   64u
#define PAGES 1024u
#define BASE  UINT64_C(0x240000000)

enum layout {
	DENSE,	/* whole pages */
	GAPPED, /* a piece inside each page */
	RANGE,	/* one range of virtual addresses */
};

static const char *const layout_names[] = {[DENSE] = "dense", [GAPPED] = "gapped", [RANGE] = "one range"};

/* The layouts that each mode takes. */
static const struct row {
	enum o2_reg_mode mode;
	enum layout layout;
} rows[] = {
	{O2_REG_GLOBAL, DENSE},	      {O2_REG_GLOBAL, GAPPED},	     {O2_REG_FMR, DENSE},
	{O2_REG_FMR, GAPPED},	      {O2_REG_FASTREG, DENSE},	     {O2_REG_PHYS, DENSE},
	{O2_REG_FASTREG_GAPS, DENSE}, {O2_REG_FASTREG_GAPS, GAPPED}, {O2_REG_USER, RANGE},
};

static struct row now; /* the row that is being measured */
static uint32_t page_table[PAGES];
static struct o2_kiov kiov[2][MANY];
static struct o2_sg_list sg;
static struct o2_dma_list dma;
static struct o2_reg_plan reg;
static struct o2_rdma_desc desc[2];
static struct o2_rdma_plan rdma;

static const struct o2_vrange range = {.base = 0, .npages = PAGES, .page = page_table};
static const struct o2_address_space space = {
	.page_bytes = PAGE, .npages = PAGES, .nranges = 1, .range = &range};
static const struct o2_dma_device device = {
	.kind = O2_DMA_BUS, .page_bytes = PAGE, .npages = PAGES, .base = BASE};

static void check(int rc, const struct o2_error *error)
{
	if (rc == 0)
		return;
	fprintf(stderr, "bench_plan_cost: refused by %s\n", error->rule);
	exit(1);
}

static struct o2_buffer buffer_of(enum o2_side side, uint32_t count, struct o2_iov *iov)
{
	struct o2_buffer buffer = {.kind = O2_KIOV, .count = count, .nob = (uint64_t)count * PAGE};

	buffer.kiov = kiov[side];
	if (now.layout == GAPPED)
		buffer.nob = (uint64_t)count * kiov[side][0].len;
	if (now.layout == RANGE) {
		*iov = (struct o2_iov){.base = side * MANY * PAGE, .len = buffer.nob};
		buffer.kind = O2_IOV;
		buffer.count = 1;
		buffer.iov = iov;
	}
	return buffer;
}

static uint64_t map_side(enum o2_side side, uint32_t count)
{
	struct o2_reg_request request = {
		.mode = now.mode,
		.side = side,
		.page_bytes = PAGE,
		.max_pages = O2_MAX_FRAGS,
		.peer_max_frags = O2_MAX_FRAGS,
	};
	struct o2_iov iov;
	struct o2_buffer buffer = buffer_of(side, count, &iov);
	struct o2_error error;

	check(o2_sg_build(&buffer, &space, O2_MAX_FRAGS, &sg, &error), &error);
	check(o2_dma_map(&sg, &device, &dma, &error), &error);
	request.gaps = sg.gaps;
	if (now.mode == O2_REG_USER)
		request.contiguous = o2_virtual_range(&buffer, &request.iova);
	check(o2_reg_plan(&request, &dma, &reg, &error), &error);
	desc[side].rd_nfrags = reg.nfrags;
	for (uint32_t i = 0; i < reg.nfrags; i++)
		desc[side].rd_frags[i] = reg.frag[i];
	return buffer.nob;
}

static void run(uint32_t count)
{
	static const struct o2_rdma_limits limits = {O2_MAX_FRAGS, O2_DEFAULT_WRQ_SGE};
	struct o2_error error;
	uint64_t nob = map_side(O2_SOURCE, count);

	map_side(O2_SINK, count);
	check(o2_rdma_plan(&desc[O2_SOURCE], &desc[O2_SINK], nob, &limits, &rdma, &error), &error);
	o2_bench_forget(&rdma);
}

static void run_many(void)
{
	run(MANY);
}

static void run_few(void)
{
	run(FEW);
}

/* Lays out pages far apart, so that no two are contiguous. */
static void lay_out(enum layout layout)
{
	for (uint32_t i = 0; i < MANY; i++) {
		for (uint32_t side = 0; side < 2; side++) {
			kiov[side][i] = (struct o2_kiov){.page = (i * 389 + side * 7) % PAGES, .len = PAGE};
			if (layout == GAPPED) {
				kiov[side][i].offset = 64;
				kiov[side][i].len = PAGE - 128;
			}
		}
	}
	for (uint32_t i = 0; i < PAGES; i++)
		page_table[i] = i * 389 % PAGES;
}

int main(int argc, char **argv)
{
	const uint64_t min_ns = o2_bench_ns(argc, argv);
	double worst = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct o2_beside figures;
		double ratio;

		now = rows[i];
		lay_out(now.layout);
		figures = o2_measure_beside(run_many, run_few, BATCH, min_ns);
		ratio = figures.ratio * FEW / MANY;
		worst = ratio > worst ? ratio : worst;
		printf("%-12s %-9s %6.1f ns a fragment at %u, %6.1f ns at %u, ratio %.2f\n",
		       o2_reg_mode_name(now.mode), layout_names[now.layout], figures.ours_ns / MANY, MANY,
		       figures.yardstick_ns / FEW, FEW, ratio);
	}
	printf("largest ratio %.2f, limit 1.2\n", worst);
	return 0;
}
