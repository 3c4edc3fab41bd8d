/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "oracle/compare.h"
#include "oracle/stream.h"
#include "props/check/check_picture.h"
#include "props/explain/explain.h"

/*
 * The picture of an implementation's answer: the answer replaces the reference's, and the work requests are
 * followed byte by byte to see what happens.
 */

#define PAGE	O2_SCENARIO_PAGE_BYTES
#define NOWHERE UINT32_MAX
#define BYTES	(O2_SCENARIO_PAGES * PAGE) /* of one side's memory */

struct answered {
	const struct o2_check_both *both;
	struct o2_scenario scenario;
	o2_check_pages pages[2];
	struct o2_dma_list segments[2]; /* of rdma_plan: the addresses that its fragments name */
	struct o2_reg_plan plan[2];
	struct o2_rdma_plan writes; /* writes of an rdma_chain */
	struct o2_stream from, to;
	uint64_t virtual_base[2]; /* mode user: virtual address of the first byte */
	char outcome[160];
	uint32_t got[BYTES]; /* for each byte of the sink: which source byte arrived there */
};

/* --- the stages' results that are replaced --- */

static void refuse(const struct answered *a, struct o2_explain *explain, enum o2_side side,
		   enum o2_explain_stage stage)
{
	struct o2_error error = {.code = -a->both->found.refusal.error, .rule = a->both->found.refusal.name};

	if (a->both->found.kind != O2_ANSWER_REFUSED)
		return;
	explain->given[side].refused = stage;
	explain->given[side].refusal = error;
}

static void give_sg(struct answered *a, struct o2_explain *explain)
{
	refuse(a, explain, O2_SOURCE, O2_EXPLAIN_SG);
	if (a->both->found.kind == O2_ANSWER_RESULT)
		explain->given[O2_SOURCE].list = &a->both->found.sg;
	/* Only mode fmr depends on the verdict on gaps. */
	if (a->both->found.kind == O2_ANSWER_RESULT && a->both->expected.kind == O2_ANSWER_RESULT &&
	    a->both->found.sg.gaps != a->both->expected.sg.gaps)
		explain->run.scenario.source.mode = O2_REG_FMR;
}

static void give_dma(struct answered *a, struct o2_explain *explain)
{
	struct o2_explain_given *given = &explain->given[O2_SOURCE];

	refuse(a, explain, O2_SOURCE, O2_EXPLAIN_DMA);
	given->device = &a->both->asked.dma.device.device;
	given->list = &a->both->asked.dma.list;
	if (a->both->found.kind == O2_ANSWER_RESULT)
		given->segments = &a->both->found.dma;
}

static void give_reg(struct answered *a, struct o2_explain *explain)
{
	const enum o2_side side = a->both->asked.reg.request.side;
	struct o2_explain_given *given = &explain->given[side];

	refuse(a, explain, side, O2_EXPLAIN_REG);
	given->page_addr = a->pages[side];
	given->segments = &a->both->asked.reg.list;
	a->virtual_base[side] = a->both->asked.reg.request.iova;
	if (a->both->found.kind == O2_ANSWER_RESULT)
		given->plan = &a->both->found.reg;
}

/* Store the fragments as the plan of a mode that registers nothing. */
static void give_desc(struct answered *a, struct o2_explain *explain, enum o2_side side,
		      const struct o2_rdma_desc *desc)
{
	struct o2_reg_plan *plan = &a->plan[side];
	struct o2_dma_list *segments = &a->segments[side];

	*plan = (struct o2_reg_plan){
		.mode = O2_REG_GLOBAL, .side = side, .page_bytes = PAGE, .nfrags = desc->rd_nfrags};
	memcpy(plan->frag, desc->rd_frags, desc->rd_nfrags * sizeof(plan->frag[0]));
	for (uint32_t i = 0; i < desc->rd_nfrags; i++)
		segments->segment[i] =
			(struct o2_dma_segment){desc->rd_frags[i].rf_addr, desc->rd_frags[i].rf_nob};
	segments->count = desc->rd_nfrags;
	explain->given[side].page_addr = a->pages[side];
	explain->given[side].segments = segments;
	explain->given[side].plan = plan;
}

static bool is_sound(const struct o2_rdma_plan *plan)
{
	for (uint32_t i = 0; i < plan->nwr; i++)
		if (plan->wr[i].length == 0 || plan->wr[i].first_sge > plan->nsge ||
		    plan->wr[i].num_sge > plan->nsge - plan->wr[i].first_sge)
			return false;
	return true;
}

static void give_work(struct answered *a, struct o2_explain *explain, const struct o2_rdma_plan *work)
{
	if (a->both->found.kind == O2_ANSWER_REFUSED)
		explain->work_refusal = (struct o2_error){.code = -a->both->found.refusal.error,
							  .rule = a->both->found.refusal.name};
	else if (!is_sound(work))
		explain->work_refusal = (struct o2_error){
			.code = -EINVAL,
			.rule = "work requests that take what is no gather entry, or nothing"};
	else
		explain->given_work = work;
}

static void give_rdma(struct answered *a, struct o2_explain *explain, const struct o2_rdma_input *asked,
		      const struct o2_rdma_plan *work)
{
	give_desc(a, explain, O2_SOURCE, &asked->source);
	give_desc(a, explain, O2_SINK, &asked->sink);
	give_work(a, explain, work);
}

/* Use the chain's writes.  False: the chain is not just writes in front of the message. */
static bool give_chain(struct answered *a, struct o2_explain *explain)
{
	if (a->both->found.kind == O2_ANSWER_RESULT &&
	    !o2_chain_writes(&a->both->asked.chain, &a->both->found.chain, &a->writes))
		return false;
	give_rdma(a, explain, &a->both->asked.chain.rdma, &a->writes);
	return true;
}

static void give_transfer(struct answered *a, struct o2_explain *explain)
{
	for (int i = 0; i < 2; i++) {
		const struct o2_case_node *node = &a->both->asked.transfer.node[i];

		explain->given[i].device = &node->device.device;
		explain->given[i].plan = &a->both->found.transfer.node[i];
		a->virtual_base[i] = a->both->expected.kind == O2_ANSWER_RESULT
					     ? a->both->expected.transfer.node[i].iova
					     : a->both->found.transfer.node[i].iova;
	}
	give_work(a, explain, &a->both->found.transfer.plan);
}

/* False: nothing of the answer can be drawn. */
static bool give(struct answered *a, struct o2_explain *explain)
{
	explain->run.scenario = a->scenario;
	explain->outcome = a->outcome;
	switch (a->both->asked.stage) {
	case O2_STAGE_SG_BUILD:
		give_sg(a, explain);
		return true;
	case O2_STAGE_DMA_MAP:
		give_dma(a, explain);
		return true;
	case O2_STAGE_REG_PLAN:
		give_reg(a, explain);
		return true;
	case O2_STAGE_RDMA_PLAN:
		give_rdma(a, explain, &a->both->asked.rdma, &a->both->found.rdma);
		return true;
	case O2_STAGE_RDMA_CHAIN:
		return give_chain(a, explain);
	case O2_STAGE_TRANSFER:
		if (a->both->found.kind != O2_ANSWER_RESULT)
			return false;
		give_transfer(a, explain);
		return true;
	default:
		return false;
	}
}

/* --- what happens to the bytes --- */

/* The arena byte at a place of a side's stream, and in *left the contiguous bytes from there on. */
static uint32_t byte_at(const struct answered *a, const struct o2_explain_end *end, enum o2_side side,
			uint64_t place, uint64_t *left)
{
	uint64_t at = place - a->virtual_base[side];
	uint32_t page;

	if (end->plan.mode != O2_REG_USER) {
		page = o2_explain_page(end, place);
		if (page == O2_NO_INDEX) {
			*left = 1;
			return NOWHERE;
		}
		at = place - end->page_addr[page];
		*left = PAGE - at;
		return page * PAGE + (uint32_t)at;
	}
	for (uint32_t i = 0; i < end->npieces; at -= end->piece[i++].length)
		if (at < end->piece[i].length) {
			*left = end->piece[i].length - at;
			return end->piece[i].page * PAGE + end->piece[i].offset + (uint32_t)at;
		}
	*left = 1;
	return NOWHERE;
}

/* Follow the work requests up to the first that leaves the registered memory; `outcome` then names it. */
static void follow(struct answered *a, const struct o2_explain *explain)
{
	const struct o2_rdma_plan *work = &explain->work;
	uint64_t bad = 0;

	o2_stream_clear(&a->from);
	o2_stream_clear(&a->to);
	for (uint32_t i = 0; i < work->nwr; i++)
		for (uint32_t k = 0; k < work->wr[i].num_sge; k++) {
			const struct o2_rdma_sge *sge = &work->sge[work->wr[i].first_sge + k];

			if (o2_stream_of_region(&explain->end[O2_SOURCE].plan, sge->addr, sge->length,
						&a->from, &bad))
				continue;
			snprintf(a->outcome, sizeof(a->outcome),
				 "a gather entry leaves what the source registers, at 0x%" PRIx64, bad);
			return;
		}
	for (uint32_t i = 0; i < work->nwr; i++)
		if (!o2_stream_of_region(&explain->end[O2_SINK].plan, work->wr[i].remote_addr,
					 work->wr[i].length, &a->to, &bad)) {
			snprintf(a->outcome, sizeof(a->outcome),
				 "a work request leaves what the sink registers, at 0x%" PRIx64, bad);
			return;
		}
}

/* Contiguous bytes from `byte` on.  *run: the run with that byte; only moves forward. */
static uint64_t left_of(const struct o2_stream *stream, uint32_t *run, uint64_t byte)
{
	while (*run + 1 < stream->count && stream->run[*run + 1].start <= byte)
		(*run)++;
	return (*run + 1 < stream->count ? stream->run[*run + 1].start : stream->nob) - byte;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Carry the bytes to the sink.  Returns how many go to no page of the sink. */
static uint64_t carry(struct answered *a, const struct o2_explain *explain)
{
	const uint64_t nob = least(a->from.nob, a->to.nob);
	uint32_t run[2] = {0};
	uint64_t lost = 0, length;

	for (uint64_t byte = 0; byte < nob; byte += length) {
		const uint64_t in_one =
			least(left_of(&a->from, &run[0], byte), left_of(&a->to, &run[1], byte));
		const struct o2_stream_run *source = &a->from.run[run[0]], *sink = &a->to.run[run[1]];
		uint64_t from_left, to_left;
		const uint32_t from = byte_at(a, &explain->end[O2_SOURCE], O2_SOURCE,
					      source->place + (byte - source->start), &from_left);
		const uint32_t to = byte_at(a, &explain->end[O2_SINK], O2_SINK,
					    sink->place + (byte - sink->start), &to_left);

		length = least(least(from_left, to_left), least(in_one, nob - byte));
		if (to == NOWHERE)
			lost += length;
		for (uint32_t i = 0; i < length && to != NOWHERE; i++)
			a->got[to + i] = from == NOWHERE ? BYTES : from + i;
	}
	return lost;
}

/* Add a wrong byte of the sink to the run before it, or begin a new run. */
static void add_wrong(struct o2_explain *explain, struct o2_explain_wrong *run, uint32_t to, uint32_t from,
		      uint32_t should)
{
	const struct o2_explain_wrong wrong = {
		.page = to / PAGE,
		.offset = to % PAGE,
		.length = 1,
		.expected = {.kind = should == NOWHERE ? O2_FILL_RED : O2_FILL_PAGE,
			     .id = should / PAGE,
			     .offset_bytes = should % PAGE},
		.found = from == NOWHERE ? O2_FOUND_BEFORE
			 : from == BYTES ? O2_FOUND_UNKNOWN
					 : O2_FOUND_ORIGIN,
		.origin = {.kind = O2_FILL_PAGE, .id = from / PAGE, .offset_bytes = from % PAGE},
	};
	const bool goes_on = run->length > 0 && run->page == wrong.page &&
			     run->offset + run->length == wrong.offset && run->found == wrong.found &&
			     run->expected.kind == wrong.expected.kind &&
			     (should == NOWHERE ||
			      run->expected.id * PAGE + run->expected.offset_bytes + run->length == should) &&
			     (wrong.found != O2_FOUND_ORIGIN ||
			      run->origin.id * PAGE + run->origin.offset_bytes + run->length == from);

	if (goes_on) {
		run->length++;
		return;
	}
	if (run->length > 0)
		o2_explain_keep_wrong(explain, run);
	*run = wrong;
}

static uint32_t place_of(const struct o2_explain_end *end, uint32_t *piece, uint64_t *start, uint64_t byte)
{
	while (*piece < end->npieces && byte - *start >= end->piece[*piece].length)
		*start += end->piece[(*piece)++].length;
	return *piece == end->npieces ? NOWHERE
				      : end->piece[*piece].page * PAGE + end->piece[*piece].offset +
						(uint32_t)(byte - *start);
}

static uint64_t find_wrong(struct answered *a, struct o2_explain *explain)
{
	struct o2_explain_wrong run = {.length = 0};
	uint64_t start[2] = {0}, wrong = 0;
	uint32_t piece[2] = {0};

	for (uint64_t byte = 0; byte < o2_scenario_moved(&a->scenario); byte++) {
		const uint32_t from = place_of(&explain->end[O2_SOURCE], &piece[0], &start[0], byte);
		const uint32_t to = place_of(&explain->end[O2_SINK], &piece[1], &start[1], byte);

		if (to == NOWHERE)
			break;
		if (a->got[to] != from) {
			add_wrong(explain, &run, to, a->got[to], from);
			wrong++;
		}
		a->got[to] = NOWHERE;
	}
	for (uint32_t to = 0; to < BYTES; to++)
		if (a->got[to] != NOWHERE) {
			add_wrong(explain, &run, to, a->got[to], NOWHERE);
			wrong++;
		}
	if (run.length > 0)
		o2_explain_keep_wrong(explain, &run);
	return wrong;
}

static void work_out(struct answered *a, struct o2_explain *explain)
{
	uint64_t lost, wrong;

	if (!explain->planned) {
		snprintf(a->outcome, sizeof(a->outcome), "nothing moves: it is refused");
		return;
	}
	memset(a->got, 0xff, sizeof(a->got));
	follow(a, explain);
	lost = carry(a, explain);
	wrong = find_wrong(a, explain);
	if (a->outcome[0] != '\0')
		return;
	if (lost + wrong == 0)
		snprintf(a->outcome, sizeof(a->outcome),
			 "each byte of this transfer comes to its place; what differs is told above");
	else
		snprintf(a->outcome, sizeof(a->outcome),
			 "wrong bytes in the sink's memory: %" PRIu64
			 "; bytes that go to no page of it: %" PRIu64,
			 wrong, lost);
}

static bool prepare(struct answered *a, const struct o2_check_both *both, const struct o2_scenario *scenario)
{
	a->both = both;
	if (both->found.kind != O2_ANSWER_RESULT && both->found.kind != O2_ANSWER_REFUSED)
		return false;
	if (scenario == NULL)
		return o2_check_scenario_at(&both->asked, &a->scenario, a->pages);
	a->scenario = *scenario;
	return true;
}

json_t *o2_check_answer_picture(const struct o2_check_both *both, const struct o2_scenario *scenario)
{
	struct answered *a = calloc(1, sizeof(*a));
	struct o2_explain *explain = NULL;
	struct o2_error error = {0};
	json_t *text = NULL;

	if (a != NULL && prepare(a, both, scenario) && o2_explain_open(&explain, &error) == 0) {
		if (give(a, explain) && o2_explain_stages(explain) == 0) {
			work_out(a, explain);
			text = o2_check_drawn(explain);
		}
		o2_explain_close(explain);
	}
	free(a);
	return text == NULL ? json_null() : text;
}
