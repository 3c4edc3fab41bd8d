/* SPDX-License-Identifier: MIT */
#include "props/explain/explain.h"

#include "mem/virtual_range.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mem/sg_build.h"
#include "props/transfer/transfer_internal.h"

#define BUS_BASE     UINT64_C(0x240000000)
#define VIRTUAL_BASE UINT64_C(0xffff888000000000) /* where x86-64 kernels map all memory, as an example */
#define VIEW_BASE    UINT64_C(0x7f0000000000)
#define VIEW_STEP    UINT64_C(0x10000000) /* above the size of a view */
#define SOURCE_KEY   0x51u
#define SINK_KEY     0x52u

/* The rung's own operations but for the transfer, after which the sink's memory is copied. */
struct tap {
	struct o2_rung_ops ops; /* first: the rung's ops pointer is our address */
	const struct o2_rung_ops *inner;
	uint8_t *copy; /* of the sink's arena, after the transfer */
	uint64_t copy_bytes;
	bool copied;
};

uint64_t o2_explain_base(enum o2_dma_kind kind)
{
	return kind == O2_DMA_VIRTUAL ? VIRTUAL_BASE : BUS_BASE;
}

const char *o2_explain_kind_name(enum o2_dma_kind kind)
{
	return kind == O2_DMA_VIRTUAL ? "virtual" : kind == O2_DMA_BUS ? "bus" : "remapped";
}

static int tapped_transfer(struct o2_rung *rung, const struct o2_scenario *scenario,
			   struct o2_observed *observed, struct o2_error *error)
{
	struct tap *tap = (struct tap *)rung->ops;
	const struct o2_arena *arena = tap->inner->arena(rung, O2_SINK, scenario->sink.kind);
	int rc = tap->inner->transfer(rung, scenario, observed, error);

	memcpy(tap->copy, arena->memory, tap->copy_bytes);
	tap->copied = true;
	return rc;
}

static struct o2_arena *arena_of(const struct o2_explain *explain, enum o2_side side)
{
	return explain->run.image[side][explain->end[side].memory->kind]->arena;
}

/* The page behind a device address; a remapping is looked up backwards. */
static uint32_t page_behind(const struct o2_explain_end *end, uint64_t device_addr)
{
	uint64_t page = (device_addr - o2_explain_base(end->memory->kind)) / end->page_bytes;

	if (page >= O2_SCENARIO_PAGES)
		return O2_NO_INDEX;
	if (end->memory->kind != O2_DMA_IOMMU)
		return (uint32_t)page;
	for (uint32_t i = 0; i < O2_SCENARIO_PAGES; i++)
		if (end->device_page[i] == page)
			return i;
	return O2_NO_INDEX;
}

static bool in_a_slot(const struct o2_explain_end *end, uint64_t addr)
{
	for (uint32_t i = 0; i < end->nslots; i++)
		if (addr >= end->slot[i].addr && addr - end->slot[i].addr < end->slot[i].length)
			return true;
	return false;
}

static void add_slot(struct o2_explain_end *end, uint64_t addr, uint32_t length, uint32_t page)
{
	if (end->nslots < O2_MAX_FRAGS && !in_a_slot(end, addr))
		end->slot[end->nslots++] =
			(struct o2_explain_slot){.addr = addr, .length = length, .page = page};
}

/* Mode global registers nothing: the pages that segments are in, each once. */
static void find_global_slots(struct o2_explain_end *end)
{
	for (uint32_t i = 0; i < end->segments.count; i++) {
		const uint64_t first = end->segments.segment[i].addr;
		const uint64_t last = first + end->segments.segment[i].length - 1;

		for (uint64_t at = first - first % end->page_bytes; at <= last; at += end->page_bytes)
			add_slot(end, at, end->page_bytes, page_behind(end, at));
	}
}

/*
 * A registered page list: one slot a page.  Byte ranges with gaps: one slot each, which begins and ends where
 * the range does and so is no page.  What is published in neither gets a slot of its own.
 */
static void find_slots(struct o2_explain_end *end)
{
	const struct o2_reg_plan *plan = &end->plan;
	uint64_t addr = plan->iova;

	end->nslots = 0;
	for (uint32_t i = 0; i < plan->npages; i++)
		add_slot(end, plan->iova - plan->page_offset + (uint64_t)i * end->page_bytes, end->page_bytes,
			 page_behind(end, plan->page[i]));
	for (uint32_t i = 0; i < plan->nentries; i++) {
		add_slot(end, addr, plan->entry[i].length, O2_NO_INDEX);
		addr += plan->entry[i].length;
	}
	if (plan->mode == O2_REG_GLOBAL)
		find_global_slots(end);
	for (uint32_t i = 0; i < plan->nfrags; i++)
		add_slot(end, plan->frag[i].rf_addr, plan->frag[i].rf_nob, O2_NO_INDEX);
}

/* Buffer to descriptor, stage by stage; where it ends stays in end->stage. */
static bool map_end(struct o2_explain *explain, enum o2_side which, uint64_t nob)
{
	struct o2_explain_end *end = &explain->end[which];
	struct o2_arena shown = *arena_of(explain, which); /* the same pages under the addresses we show */
	struct o2_address_space space;
	struct o2_dma_device device = {
		.kind = end->memory->kind,
		.page_bytes = shown.page_bytes,
		.npages = shown.npages,
		.base = o2_explain_base(end->memory->kind),
		.unmapped = shown.unmapped,
		.iommu = {.device_page = o2_arena_iommu(&shown),
			  .merge = end->memory->merge,
			  .fault = end->memory->fault},
	};
	struct o2_reg_request request = {
		.mode = end->memory->mode,
		.side = which,
		.page_bytes = shown.page_bytes,
		.max_pages = O2_MAX_FRAGS,
		.peer_max_frags = explain->run.scenario.max_frags,
	};
	struct o2_iov iov[O2_SCENARIO_PIECES];
	struct o2_buffer buffer;

	end->device_page = o2_arena_iommu(&shown);
	for (uint32_t i = 0; i < O2_ARENA_VIEWS; i++)
		shown.view[i].base = VIEW_BASE + i * VIEW_STEP;
	space = o2_arena_space(&shown);
	o2_scenario_buffer(end->memory, &shown, iov, &buffer);
	buffer.nob = end->nob = nob;
	end->max_pages = request.max_pages;
	end->stage = O2_EXPLAIN_SG;
	if (o2_sg_build(&buffer, &space, O2_MAX_FRAGS, &end->sg, &end->error) != 0)
		return false;
	end->stage = O2_EXPLAIN_DMA;
	if (o2_dma_map(&end->sg, &device, &end->segments, &end->error) != 0)
		return false;
	end->stage = O2_EXPLAIN_REG;
	request.gaps = end->sg.gaps || end->memory->per_segment;
	request.iova = end->memory->iova;
	if (end->memory->mode == O2_REG_USER)
		request.contiguous = o2_virtual_range(&buffer, &request.iova);
	if (o2_reg_plan(&request, &end->segments, &end->plan, &end->error) != 0)
		return false;
	end->stage = O2_EXPLAIN_READY;
	end->desc.rd_key = which == O2_SOURCE ? SOURCE_KEY : SINK_KEY;
	end->desc.rd_nfrags = end->plan.nfrags;
	memcpy(end->desc.rd_frags, end->plan.frag, end->plan.nfrags * sizeof(end->plan.frag[0]));
	find_slots(end);
	return true;
}

static void set_unmapped(struct o2_explain *explain, bool mapped)
{
	for (int i = 0; i < 2; i++)
		if (explain->end[i].memory->has_unmapped)
			o2_arena_set_mapped(arena_of(explain, (enum o2_side)i),
					    explain->end[i].memory->unmapped_page, mapped);
}

/* The initiator maps all that it offers, the other side what will move, and the source plans the writes. */
static void walk_stages(struct o2_explain *explain)
{
	const struct o2_scenario *scenario = &explain->run.scenario;
	const enum o2_side first = scenario->op == O2_OP_PUT ? O2_SOURCE : O2_SINK;
	const enum o2_side second = first == O2_SOURCE ? O2_SINK : O2_SOURCE;
	const struct o2_rdma_limits limits = {
		.max_wrs = scenario->max_frags,
		.wrq_sge = scenario->wrq_sge,
	};

	set_unmapped(explain, false);
	if (map_end(explain, first, explain->end[first].memory->nob) &&
	    map_end(explain, second, o2_scenario_moved(scenario)))
		explain->planned = o2_rdma_plan(&explain->end[O2_SOURCE].desc, &explain->end[O2_SINK].desc,
						o2_scenario_moved(scenario), &limits, &explain->work,
						&explain->work_error) == 0;
	set_unmapped(explain, true);
}

/* Which byte of a side's transfer a place in memory is, if any. */
static bool byte_of_place(const struct o2_explain_end *end, uint32_t page, uint64_t offset, uint64_t *byte)
{
	uint64_t at = 0;

	for (uint32_t i = 0; i < end->npieces; i++) {
		const struct o2_extent *piece = &end->piece[i];

		if (piece->page == page && offset >= piece->offset &&
		    offset - piece->offset < piece->length) {
			*byte = at + offset - piece->offset;
			return true;
		}
		at += piece->length;
	}
	return false;
}

static void keep_wrong(struct o2_explain *explain, const struct o2_diff_run *run, uint64_t place)
{
	struct o2_explain_wrong *wrong;
	const uint64_t page_bytes = explain->end[O2_SINK].page_bytes;

	explain->nwrong_all++;
	if (explain->nwrong == O2_EXPLAIN_WRONGS)
		return;
	wrong = &explain->wrong[explain->nwrong++];
	*wrong = (struct o2_explain_wrong){
		.page = (uint32_t)(place / page_bytes),
		.offset = (uint32_t)(place % page_bytes),
		.length = (uint32_t)run->length_bytes,
		.expected = run->expected,
		.found = run->found,
		.origin = run->origin,
		.got = run->got,
		.want = run->want,
	};
	wrong->in_buffer =
		run->expected.kind == O2_FILL_PAGE &&
		byte_of_place(&explain->end[O2_SINK], wrong->page, wrong->offset, &wrong->transfer_byte);
	if (run->found == O2_FOUND_ORIGIN && run->origin.kind == O2_FILL_PAGE)
		wrong->origin_in_buffer = byte_of_place(&explain->end[O2_SOURCE], run->origin.id,
							run->origin.offset_bytes, &wrong->origin_byte);
}

/* Compare stretches of the copy; every wrong run is kept. */
static void compare(struct o2_explain *explain, const struct tap *tap, const struct o2_expect *expect,
		    uint32_t n)
{
	struct o2_transfer_scratch *s = explain->run.scratch;
	const struct o2_image *source = explain->run.image[O2_SOURCE][explain->end[O2_SOURCE].memory->kind];
	const uint64_t seed = source->page[s->source_page[0]].seed; /* of the case's data and poison */
	struct o2_diff_run *found = explain->found;
	size_t all;

	for (uint32_t i = 0; i < s->nsource_pages; i++)
		s->range[i] = (struct o2_origin_range){
			.from = {.kind = O2_FILL_PAGE, .id = s->source_page[i]},
			.length_bytes = explain->end[O2_SOURCE].page_bytes,
		};
	s->range[s->nsource_pages] = (struct o2_origin_range){
		.from = {.kind = O2_FILL_POISON, .id = explain->run.epoch},
		.length_bytes = tap->copy_bytes,
	};
	all = o2_pattern_diff(expect, n, seed, s->range, s->nsource_pages + 1, found, O2_EXPLAIN_WRONGS);
	for (size_t i = 0; i < all && i < O2_EXPLAIN_WRONGS; i++)
		keep_wrong(explain, &found[i],
			   (uint64_t)(expect[found[i].expect_index].actual - tap->copy) +
				   found[i].offset_bytes);
	explain->nwrong_all += all > O2_EXPLAIN_WRONGS ? all - O2_EXPLAIN_WRONGS : 0;
}

/* A page that no transfer names, and that changed all the same: from the first to the last changed byte. */
static void compare_red_page(struct o2_explain *explain, const struct tap *tap, uint32_t page)
{
	const struct o2_image *image = explain->run.image[O2_SINK][explain->end[O2_SINK].memory->kind];
	const struct o2_page_state *state = &image->page[page];
	const uint32_t page_bytes = explain->end[O2_SINK].page_bytes;
	const uint8_t *actual = tap->copy + (uint64_t)page * page_bytes;
	size_t first = o2_fill_match(actual, page_bytes, state->seed, state->origin), last = page_bytes;
	struct o2_expect expect;

	while (last > first) {
		struct o2_origin origin = state->origin;

		origin.offset_bytes += last - 1;
		if (o2_fill_match(actual + last - 1, 1, state->seed, origin) == 0)
			break;
		last--;
	}
	if (first >= last)
		return;
	expect = (struct o2_expect){.actual = actual + first, .length_bytes = last - first};
	/* Red bytes have a seed of their own; by that of the case any data is told from poison. */
	expect.expected = (struct o2_origin){
		.kind = O2_FILL_POISON,
		.id = explain->run.epoch,
		.offset_bytes = (uint64_t)page * page_bytes + first,
	};
	expect.before = expect.expected;
	compare(explain, tap, &expect, 1);
}

/* What has come from elsewhere says more than what is missing. */
static int by_interest(const void *a, const void *b)
{
	const struct o2_explain_wrong *x = a, *y = b;

	if ((x->found == O2_FOUND_ORIGIN) != (y->found == O2_FOUND_ORIGIN))
		return x->found == O2_FOUND_ORIGIN ? -1 : 1;
	if (x->in_buffer != y->in_buffer)
		return x->in_buffer ? 1 : -1;
	if (x->in_buffer && x->transfer_byte != y->transfer_byte)
		return x->transfer_byte < y->transfer_byte ? -1 : 1;
	if (x->page != y->page)
		return x->page < y->page ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static void find_wrong(struct o2_explain *explain, const struct tap *tap)
{
	struct o2_transfer_scratch *s = explain->run.scratch;
	const struct o2_arena *arena = arena_of(explain, O2_SINK);
	uint8_t named[O2_SCENARIO_PAGES] = {0};

	/* The property has put the expectations together; the memory itself was cleaned since. */
	for (uint32_t i = 0; i < s->nexpect; i++)
		s->expect[i].actual = tap->copy + (s->expect[i].actual - arena->memory);
	compare(explain, tap, s->expect, s->nexpect);
	for (uint32_t i = 0; i < s->nsink_pages; i++)
		named[s->sink_page[i]] = 1;
	for (uint32_t page = 0; page < O2_SCENARIO_PAGES; page++)
		if (!named[page])
			compare_red_page(explain, tap, page);
	qsort(explain->wrong, explain->nwrong, sizeof(explain->wrong[0]), by_interest);
}

int o2_explain_open(struct o2_explain **explain, struct o2_error *error)
{
	struct o2_explain *made = calloc(1, sizeof(*made));
	struct o2_rung *rung = NULL;
	int rc = made == NULL ? -ENOMEM : o2_rung_open_model(&rung, error);

	if (rc == 0)
		rc = o2_transfer_run_open(rung, 1, &made->run);
	if (rc != 0) {
		if (rung != NULL)
			rung->ops->close(rung);
		free(made);
		return rc;
	}
	made->run.sweep_always = true;
	*explain = made;
	return 0;
}

void o2_explain_close(struct o2_explain *explain)
{
	struct o2_rung *rung = explain->run.rung;

	o2_transfer_run_close(&explain->run);
	rung->ops->close(rung);
	free(explain);
}

int o2_explain_scenario(struct o2_explain *explain)
{
	struct o2_transfer_run *run = &explain->run;
	struct tap tap = {.ops = *run->rung->ops, .inner = run->rung->ops};
	enum o2_status status;

	explain->end[O2_SOURCE].memory = &run->scenario.source;
	explain->end[O2_SINK].memory = &run->scenario.sink;
	for (int i = 0; i < 2; i++) {
		struct o2_explain_end *end = &explain->end[i];
		int n = o2_scenario_extents(end->memory, o2_transfer_view_page(run, (enum o2_side)i),
					    end->memory->offset_bytes,
					    i == (run->scenario.op == O2_OP_PUT ? O2_SOURCE : O2_SINK)
						    ? end->memory->nob
						    : o2_scenario_moved(&run->scenario),
					    end->piece, O2_SCENARIO_EXTENTS);

		end->name = i == O2_SOURCE ? "source" : "sink";
		end->page_bytes = arena_of(explain, (enum o2_side)i)->page_bytes;
		if (n < 0)
			return -EINVAL;
		end->npieces = (uint32_t)n;
	}
	walk_stages(explain);
	tap.ops.transfer = tapped_transfer;
	tap.copy_bytes = (uint64_t)O2_SCENARIO_PAGES * explain->end[O2_SINK].page_bytes;
	tap.copy = malloc(tap.copy_bytes);
	if (tap.copy == NULL)
		return -ENOMEM;
	run->rung->ops = &tap.ops;
	status = o2_transfer_scenario(run, &explain->report);
	run->rung->ops = tap.inner;
	explain->held = status == O2_STATUS_VALID;
	if (status == O2_STATUS_INTERESTING && tap.copied)
		find_wrong(explain, &tap);
	free(tap.copy);
	return status == O2_STATUS_VALID || status == O2_STATUS_INTERESTING ? 0 : -EINVAL;
}
