/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "props/check/check_picture.h"
#include "props/explain/explain.h"
#include "props/scenario/scenario_io.h"

/*
 * A picture for the question of a single stage: its memory becomes one side of a transfer (both sides for
 * rdma_plan), the other side is memory without gaps, and `explain` draws that transfer.
 */

#define PAGE O2_SCENARIO_PAGE_BYTES

/* A range of device addresses. */
struct stretch {
	uint64_t addr;
	uint32_t length;
};

static void set_plain(struct o2_scenario_side *side, uint64_t nob)
{
	memset(side, 0, sizeof(*side));
	side->vector = O2_KIOV;
	side->nob = nob;
	for (uint64_t done = 0; done < nob && side->count < O2_SCENARIO_PIECES; side->count++) {
		const uint64_t left = nob - done;
		const uint32_t length = left < PAGE ? (uint32_t)left : PAGE;

		side->kiov[side->count] = (struct o2_kiov){.page = side->count + 1, .len = length};
		done += length;
	}
}

static bool add_piece(struct o2_scenario_side *side, uint32_t page, uint32_t offset, uint32_t length)
{
	if (side->count == O2_SCENARIO_PIECES)
		return false;
	side->kiov[side->count++] = (struct o2_kiov){.page = page, .offset = offset, .len = length};
	side->nob += length;
	return true;
}

static int by_number(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a;
	const uint64_t y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Number device pages in ascending order: adjacent pages get adjacent numbers, others do not. */
static uint32_t number_of(const uint64_t *pages, uint32_t count, uint64_t page)
{
	uint32_t number = 1;

	for (uint32_t i = 1; i < count && pages[i] <= page; i++)
		if (pages[i] != pages[i - 1])
			number += pages[i] == pages[i - 1] + 1 ? 1 : 2;
	return number;
}

/* Convert address ranges to pieces of numbered pages.  whole: no range may leave its page. */
static bool set_stretches(struct o2_scenario_side *side, const struct stretch *stretch, uint32_t count,
			  bool whole, uint64_t *page_addr)
{
	static uint64_t pages[2 * O2_SCENARIO_PIECES];
	uint32_t n = 0;

	memset(side, 0, sizeof(*side));
	side->vector = O2_KIOV;
	for (uint32_t i = 0; i < count; i++) {
		uint64_t last = stretch[i].addr + stretch[i].length - 1;

		if (stretch[i].length == 0 || last < stretch[i].addr ||
		    (whole && last / PAGE != stretch[i].addr / PAGE))
			return false;
		for (uint64_t page = stretch[i].addr / PAGE; page <= last / PAGE; page++) {
			if (n == sizeof(pages) / sizeof(pages[0]))
				return false;
			pages[n++] = page;
		}
	}
	qsort(pages, n, sizeof(pages[0]), by_number);
	for (uint32_t i = 0; i < n; i++)
		if (number_of(pages, n, pages[i]) < O2_SCENARIO_PAGES)
			page_addr[number_of(pages, n, pages[i])] = pages[i] * PAGE;
	for (uint32_t i = 0; i < count; i++) {
		uint64_t addr = stretch[i].addr;
		uint32_t left = stretch[i].length;

		while (left > 0) {
			const uint32_t offset = (uint32_t)(addr % PAGE);
			const uint32_t take = left < PAGE - offset ? left : PAGE - offset;

			if (!add_piece(side, number_of(pages, n, addr / PAGE), offset, take))
				return false;
			addr += take;
			left -= take;
		}
	}
	return true;
}

/* Copy a scatter list. */
static bool set_list(struct o2_scenario_side *side, const struct o2_sg_list *list)
{
	memset(side, 0, sizeof(*side));
	side->vector = O2_KIOV;
	for (uint32_t i = 0; i < list->count; i++)
		if (!add_piece(side, list->entry[i].page, list->entry[i].offset, list->entry[i].length))
			return false;
	return true;
}

static bool from_sg(const struct o2_case_sg *asked, struct o2_scenario *scenario)
{
	const struct o2_buffer *buffer = &asked->memory.buffer;
	struct o2_sg_list list;

	if (asked->memory.space.page_bytes != PAGE)
		return false;
	if (buffer->kind == O2_KIOV && buffer->count <= O2_SCENARIO_PIECES) {
		set_plain(&scenario->source, 0);
		for (uint32_t i = 0; i < buffer->count; i++)
			scenario->source.kiov[i] = buffer->kiov[i];
		scenario->source.count = buffer->count;
		scenario->source.offset_bytes = buffer->offset;
		scenario->source.nob = buffer->nob;
		return true;
	}
	/* For virtual addresses: the pages behind them. */
	return o2_sg_build(buffer, &asked->memory.space, asked->max_entries, &list, NULL) == 0 &&
	       set_list(&scenario->source, &list);
}

static bool from_dma(const struct o2_case_dma *asked, struct o2_scenario *scenario)
{
	if (asked->device.device.page_bytes != PAGE || !set_list(&scenario->source, &asked->list))
		return false;
	scenario->source.kind = asked->device.device.kind;
	scenario->source.merge = asked->device.device.iommu.merge;
	scenario->source.fault = asked->device.device.iommu.fault;
	return true;
}

static bool from_reg(const struct o2_case_reg *asked, struct o2_scenario *scenario, o2_check_pages pages[2])
{
	const struct o2_reg_request *request = &asked->request;
	struct o2_scenario_side *side = request->side == O2_SINK ? &scenario->sink : &scenario->source;
	struct stretch stretch[O2_MAX_FRAGS];

	if (request->page_bytes != PAGE)
		return false;
	for (uint32_t i = 0; i < asked->list.count; i++)
		stretch[i] = (struct stretch){asked->list.segment[i].addr, asked->list.segment[i].length};
	if (!set_stretches(side, stretch, asked->list.count, false, pages[request->side]))
		return false;
	side->mode = request->mode;
	side->iova = request->mode == O2_REG_PHYS ? request->iova : 0;
	if (request->mode == O2_REG_USER) {
		/* One range of virtual addresses, or two that are not adjacent. */
		const uint64_t nob = side->nob;
		const uint64_t first = request->contiguous ? nob : (nob + 1) / 2;

		memset(side, 0, sizeof(*side));
		side->mode = O2_REG_USER;
		side->vector = O2_IOV;
		side->nob = nob;
		side->count = first < nob ? 2 : 1;
		side->iov[0] = (struct o2_iov){.base = PAGE + request->iova % PAGE, .len = first};
		side->iov[1] =
			(struct o2_iov){.base = 3 * PAGE + request->iova % PAGE + first, .len = nob - first};
	}
	if (request->side == O2_SINK)
		scenario->max_frags = request->peer_max_frags;
	return true;
}

static bool from_desc(const struct o2_rdma_desc *desc, uint64_t nob, struct o2_scenario_side *side,
		      uint64_t *page_addr)
{
	struct stretch stretch[O2_MAX_FRAGS];

	for (uint32_t i = 0; i < desc->rd_nfrags; i++)
		stretch[i] = (struct stretch){desc->rd_frags[i].rf_addr, desc->rd_frags[i].rf_nob};
	if (!set_stretches(side, stretch, desc->rd_nfrags, true, page_addr) || side->nob < nob)
		return false;
	side->nob = nob;
	return true;
}

static bool from_rdma(const struct o2_rdma_input *asked, struct o2_scenario *scenario,
		      o2_check_pages pages[2])
{
	scenario->max_frags = asked->limits.max_wrs;
	scenario->wrq_sge = asked->limits.wrq_sge;
	return from_desc(&asked->source, asked->nob, &scenario->source, pages[O2_SOURCE]) &&
	       from_desc(&asked->sink, asked->nob, &scenario->sink, pages[O2_SINK]);
}

bool o2_check_scenario(const struct o2_case *asked, struct o2_scenario *scenario)
{
	o2_check_pages pages[2];

	return o2_check_scenario_at(asked, scenario, pages);
}

bool o2_check_scenario_at(const struct o2_case *asked, struct o2_scenario *scenario, o2_check_pages pages[2])
{
	struct o2_error error;
	json_t *object;
	bool made;

	memset(pages, 0xff, 2 * sizeof(pages[0]));
	memset(scenario, 0, sizeof(*scenario));
	scenario->max_frags = O2_MAX_FRAGS;
	scenario->wrq_sge = O2_DEFAULT_WRQ_SGE;
	scenario->pattern_seed = 1;
	made = asked->stage == O2_STAGE_SG_BUILD     ? from_sg(&asked->sg, scenario)
	       : asked->stage == O2_STAGE_DMA_MAP    ? from_dma(&asked->dma, scenario)
	       : asked->stage == O2_STAGE_REG_PLAN   ? from_reg(&asked->reg, scenario, pages)
	       : asked->stage == O2_STAGE_RDMA_PLAN  ? from_rdma(&asked->rdma, scenario, pages)
	       : asked->stage == O2_STAGE_RDMA_CHAIN ? from_rdma(&asked->chain.rdma, scenario, pages)
						     : false;
	if (!made)
		return false;
	if (scenario->sink.nob == 0)
		set_plain(&scenario->sink, scenario->source.nob);
	if (scenario->source.nob == 0)
		set_plain(&scenario->source, scenario->sink.nob);
	/* The reader of scenarios checks that this one is valid. */
	object = o2_scenario_to_json(scenario);
	made = object != NULL && o2_scenario_from_json(object, scenario, &error) == 0;
	json_decref(object);
	return made;
}

json_t *o2_check_drawn(const struct o2_explain *explain)
{
	char *bytes = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&bytes, &length);
	json_t *text = NULL;

	if (out != NULL)
		o2_explain_svg(explain, NULL, out);
	if (out != NULL && fclose(out) == 0 && length > 0)
		text = json_stringn_nocheck(bytes, length);
	free(bytes);
	return text == NULL ? json_null() : text;
}

json_t *o2_check_picture(const struct o2_scenario *scenario)
{
	struct o2_explain *explain;
	struct o2_error error = {0};
	json_t *text;

	if (o2_explain_open(&explain, &error) != 0)
		return json_null();
	explain->run.scenario = *scenario;
	explain->of_reference = true;
	text = o2_explain_scenario(explain) == 0 ? o2_check_drawn(explain) : json_null();
	o2_explain_close(explain);
	return text;
}
