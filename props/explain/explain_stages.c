/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "mem/sg_build.h"
#include "props/explain/explain.h"
#include "props/transfer/transfer_internal.h"
#include "wire/desc_codec.h"

/* Both sides' memory, stage by stage, up to the work requests. */

#define BUS_BASE     UINT64_C(0x240000000)
#define VIRTUAL_BASE UINT64_C(0xffff888000000000) /* example: where x86-64 kernels map all memory */
#define VIEW_BASE    UINT64_C(0x7f0000000000)
#define VIEW_STEP    UINT64_C(0x10000000) /* greater than the size of a view */
#define SOURCE_KEY   0x51u
#define SINK_KEY     0x52u

uint64_t o2_explain_base(enum o2_dma_kind kind)
{
	return kind == O2_DMA_VIRTUAL ? VIRTUAL_BASE : BUS_BASE;
}

const char *o2_explain_kind_name(enum o2_dma_kind kind)
{
	return kind == O2_DMA_VIRTUAL ? "virtual" : kind == O2_DMA_BUS ? "bus" : "remapped";
}

struct o2_arena *o2_explain_arena(const struct o2_explain *explain, enum o2_side side)
{
	return explain->run.image[side][explain->end[side].memory->kind]->arena;
}

static void find_page_addrs(struct o2_explain_end *end, const struct o2_explain_given *given,
			    const struct o2_dma_device *device)
{
	for (uint32_t i = 0; i < O2_SCENARIO_PAGES; i++)
		end->page_addr[i] = given->page_addr != NULL ? given->page_addr[i]
				    : i >= device->npages
					    ? UINT64_MAX
					    : device->base + (uint64_t)device->page_bytes *
								     (device->kind == O2_DMA_IOMMU
									      ? device->iommu.device_page[i]
									      : i);
}

uint32_t o2_explain_page(const struct o2_explain_end *end, uint64_t device_addr)
{
	for (uint32_t i = 0; i < O2_SCENARIO_PAGES; i++)
		if (end->page_addr[i] <= device_addr && device_addr - end->page_addr[i] < end->page_bytes)
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

/* Mode global registers nothing: use the pages that the segments lie in, each once. */
static void find_global_slots(struct o2_explain_end *end)
{
	for (uint32_t i = 0; i < end->segments.count; i++) {
		const uint64_t first = end->segments.segment[i].addr;
		const uint64_t last = first + end->segments.segment[i].length - 1;

		/* Count pages, not addresses: behind the last page the address would overflow. */
		for (uint64_t page = first / end->page_bytes; page <= last / end->page_bytes; page++)
			add_slot(end, page * end->page_bytes, end->page_bytes,
				 o2_explain_page(end, page * end->page_bytes));
	}
}

/*
 * Slots of a registered page list: one per page. Of byte ranges with gaps: one per range, from its first to its
 * last byte, so it is no page. A published range outside of both gets its own slot.
 */
static void find_slots(struct o2_explain_end *end)
{
	const struct o2_reg_plan *plan = &end->plan;
	uint64_t addr = plan->iova;

	end->nslots = 0;
	for (uint32_t i = 0; i < plan->npages; i++)
		add_slot(end, plan->iova - plan->page_offset + (uint64_t)i * end->page_bytes, end->page_bytes,
			 o2_explain_page(end, plan->page[i]));
	for (uint32_t i = 0; i < plan->nentries; i++) {
		add_slot(end, addr, plan->entry[i].length, O2_NO_INDEX);
		addr += plan->entry[i].length;
	}
	if (plan->mode == O2_REG_GLOBAL)
		find_global_slots(end);
	for (uint32_t i = 0; i < plan->nfrags; i++)
		add_slot(end, plan->frag[i].rf_addr, plan->frag[i].rf_nob, O2_NO_INDEX);
}

/* Use the given result of a stage, or compute it.  A refusal is stored in `error`, whichever it is. */
static bool has_list(struct o2_explain_end *end, const struct o2_explain_given *given,
		     const struct o2_buffer *buffer, const struct o2_address_space *space)
{
	end->stage = O2_EXPLAIN_SG;
	end->error = given->refusal;
	if (given->list != NULL)
		end->sg = *given->list;
	return given->refused != end->stage &&
	       (given->list != NULL || o2_sg_build(buffer, space, O2_MAX_FRAGS, &end->sg, &end->error) == 0);
}

static bool has_segments(struct o2_explain_end *end, const struct o2_explain_given *given,
			 const struct o2_dma_device *device)
{
	end->stage = O2_EXPLAIN_DMA;
	if (given->segments != NULL)
		end->segments = *given->segments;
	return given->refused != end->stage &&
	       (given->segments != NULL ||
		o2_dma_map(&end->sg, given->device != NULL ? given->device : device, &end->segments,
			   &end->error) == 0);
}

static bool has_plan(struct o2_explain_end *end, const struct o2_explain_given *given,
		     const struct o2_reg_request *request)
{
	end->stage = O2_EXPLAIN_REG;
	if (given->plan != NULL)
		end->plan = *given->plan;
	return given->refused != end->stage &&
	       (given->plan != NULL || o2_reg_plan(request, &end->segments, &end->plan, &end->error) == 0);
}

/* Map a buffer to a descriptor, stage by stage; end->stage tells which stage ended it. */
static bool map_end(struct o2_explain *explain, enum o2_side which, uint64_t nob)
{
	struct o2_explain_end *end = &explain->end[which];
	const struct o2_explain_given *given = &explain->given[which];
	struct o2_arena shown =
		*o2_explain_arena(explain, which); /* the same pages at the addresses shown here */
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

	find_page_addrs(end, given, given->device != NULL ? given->device : &device);
	for (uint32_t i = 0; i < O2_ARENA_VIEWS; i++)
		shown.view[i].base = VIEW_BASE + i * VIEW_STEP;
	space = o2_arena_space(&shown);
	o2_scenario_buffer(end->memory, &shown, iov, &buffer);
	buffer.nob = end->nob = nob;
	end->max_pages = request.max_pages;
	if (!has_list(end, given, &buffer, &space) || !has_segments(end, given, &device))
		return false;
	request.gaps = end->sg.gaps || end->memory->per_segment;
	request.iova = end->memory->iova;
	if (end->memory->mode == O2_REG_USER)
		request.contiguous = o2_virtual_range(&buffer, &request.iova);
	if (!has_plan(end, given, &request))
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
			o2_arena_set_mapped(o2_explain_arena(explain, (enum o2_side)i),
					    explain->end[i].memory->unmapped_page, mapped);
}

/* Number of bytes that move: fewer if an answer lost some. */
static uint64_t moved(const struct o2_explain *explain)
{
	uint64_t nob = o2_scenario_moved(&explain->run.scenario);

	for (int i = 0; i < 2 && explain->outcome != NULL; i++)
		if (o2_desc_bytes(&explain->end[i].desc) < nob)
			nob = o2_desc_bytes(&explain->end[i].desc);
	return nob;
}

static bool plan_work(struct o2_explain *explain, const struct o2_rdma_limits *limits)
{
	explain->work_error = explain->work_refusal;
	if (explain->given_work != NULL)
		explain->work = *explain->given_work;
	return explain->work_error.code == 0 &&
	       (explain->given_work != NULL ||
		o2_rdma_plan(&explain->end[O2_SOURCE].desc, &explain->end[O2_SINK].desc, moved(explain),
			     limits, &explain->work, &explain->work_error) == 0);
}

/* The initiator maps all that it offers, the other side what will move; the source plans the writes. */
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
		explain->planned = plan_work(explain, &limits);
	set_unmapped(explain, true);
}

int o2_explain_stages(struct o2_explain *explain)
{
	struct o2_transfer_run *run = &explain->run;

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
		end->page_bytes = o2_explain_arena(explain, (enum o2_side)i)->page_bytes;
		if (n < 0)
			return -EINVAL;
		end->npieces = (uint32_t)n;
	}
	walk_stages(explain);
	return 0;
}
