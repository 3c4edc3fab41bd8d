/* SPDX-License-Identifier: MIT */
#include "props/world/rung_side.h"

#include <string.h>

#include "mem/kmap.h"
#include "reg/region.h"

#define LOOK_BYTES 16u /* fewer may be equal by chance */

const struct o2_scenario_side *o2_rung_side(const struct o2_scenario *scenario, enum o2_side side)
{
	return side == O2_SOURCE ? &scenario->source : &scenario->sink;
}

enum o2_side o2_rung_initiator(const struct o2_scenario *scenario)
{
	return scenario->op == O2_OP_PUT ? O2_SOURCE : O2_SINK;
}

void o2_rung_memory(const struct o2_scenario_side *side, const struct o2_arena *arena, uint64_t nob,
		    struct o2_iov *iov, struct o2_transfer_memory *memory)
{
	*memory = (struct o2_transfer_memory){.mode = side->mode, .iova = side->iova};
	o2_scenario_buffer(side, arena, iov, &memory->buffer);
	memory->buffer.nob = nob;
}

int o2_rung_tell_device(const struct o2_scenario_side *side, struct o2_ni *ni, struct o2_error *error)
{
	struct o2_reg_domain *domain = &ni->domain;

	domain->dma.iommu.merge = side->merge;
	domain->dma.iommu.fault = side->fault;
	domain->gaps_by_staging = side->staging;
	domain->fmr_per_segment = side->per_segment;
	domain->fmr_lazy = side->lazy;
	ni->arena.kmaps->temporary = 0;
	/* A buffer that is idle afterwards has been used; every second transfer finds a used one. */
	if (side->mode == O2_REG_FASTREG_GAPS && side->nob % 2 == 0)
		o2_reg_staging_close(domain);
	if (side->vector == O2_IOV) {
		const int rc = o2_arena_map_view(&ni->arena, side->view, error);

		if (rc != 0)
			return rc;
	}
	return domain->bounce != side->bounce ? o2_ni_set_bounce(ni, side->bounce, error) : 0;
}

struct o2_conn_config o2_rung_limits(const struct o2_scenario *scenario)
{
	struct o2_conn_config config = O2_CONN_DEFAULTS;

	config.max_frags = scenario->max_frags;
	config.wrq_sge = scenario->wrq_sge;
	config.order = scenario->order;
	config.cksum_flavour = scenario->cksum_flavour;
	return config;
}

struct o2_judged_form o2_rung_form(const struct o2_scenario *scenario)
{
	return (struct o2_judged_form){
		.wanted = true, .order = scenario->order, .flavour = scenario->cksum_flavour};
}

/* Does the memory of the device, which only mapping and the device itself write, hold the first bytes? */
static bool is_bounced(const struct o2_scenario_side *side, uint64_t moved, enum o2_dma_direction direction,
		       const struct o2_arena *arena)
{
	const uint32_t *view_page = side->vector == O2_IOV ? arena->view[side->view].page : NULL;
	struct o2_extent extent[O2_SCENARIO_PIECES];
	const int count = moved < LOOK_BYTES ? 0
					     : o2_scenario_extents(side, view_page, side->offset_bytes,
								   LOOK_BYTES, extent, O2_SCENARIO_PIECES);

	for (int i = 0; i < count; i++)
		if (memcmp(o2_arena_page(arena, extent[i].page) + extent[i].offset,
			   o2_arena_page(arena, o2_arena_bounce(arena, direction, extent[i].page)) +
				   extent[i].offset,
			   extent[i].length) != 0)
			return false;
	return count > 0;
}

uint32_t o2_rung_ways(const struct o2_scenario *scenario, enum o2_side side, const struct o2_ni *ni)
{
	const struct o2_scenario_side *memory = o2_rung_side(scenario, side);
	const enum o2_dma_direction direction = side == O2_SOURCE ? O2_DMA_TO_DEVICE : O2_DMA_FROM_DEVICE;
	uint32_t ways = 0;

	if (memory->bounce && is_bounced(memory, o2_scenario_moved(scenario), direction, &ni->arena))
		ways |= O2_WAY_BOUNCED;
	if (memory->mode == O2_REG_FASTREG_GAPS && memory->nob % 2 == 0 && ni->domain.nidle_staging > 0)
		ways |= O2_WAY_STAGED;
	if (memory->lazy && ni->domain.live.fmr_regions > 0)
		ways |= O2_WAY_KEPT;
	if (ni->arena.kmaps->temporary > 0)
		ways |= O2_WAY_KMAPPED;
	return ways;
}

struct o2_observed_end o2_rung_saw(const struct o2_transfer_result *result, const struct o2_ni *ni)
{
	return (struct o2_observed_end){
		.involved = true,
		.status = result->status,
		.nob = result->nob,
		.fault = result->fault,
		.mapped = ni->ledger.live > 0,
	};
}

void o2_rung_add_ledger(struct o2_dma_ledger *sum, const struct o2_dma_ledger *one)
{
	sum->maps += one->maps;
	sum->unmaps += one->unmaps;
	sum->live += one->live;
	sum->live_entries += one->live_entries;
	sum->wrong_unmaps += one->wrong_unmaps;
}

bool o2_rung_tries_key(const struct o2_scenario *scenario)
{
	const struct o2_scenario_side *sink = &scenario->sink;

	return scenario->stale_key && scenario->op == O2_OP_GET && sink->mode != O2_REG_GLOBAL &&
	       !(sink->mode == O2_REG_FMR && sink->lazy);
}
