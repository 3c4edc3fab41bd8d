/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>

#include "props/stage/rdma.h"

/* Most fragments of a descriptor, whatever its count says. */
#define MAX_FRAGS 257u

/* Bytes that a descriptor describes. */
static uint64_t bytes_of(const struct o2_rdma_desc *desc)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < desc->rd_nfrags && i < MAX_FRAGS; i++)
		sum += desc->rd_frags[i].rf_nob;
	return sum;
}

/* Map the first `nob` bytes of a descriptor. */
static void map_descriptor(const struct o2_rdma_desc *desc, uint64_t nob, struct o2_place_map *map)
{
	o2_place_clear(map);
	for (uint32_t i = 0; i < desc->rd_nfrags && map->nob < nob; i++) {
		const uint64_t left = nob - map->nob;

		o2_place_add(map, desc->rd_frags[i].rf_addr,
			     desc->rd_frags[i].rf_nob < left ? desc->rd_frags[i].rf_nob : left);
	}
}

/* Every sink fragment takes the source pieces that reach it, wrq_sge of them per work request. */
static uint64_t work_requests_needed(const struct o2_place_map *source, const struct o2_place_map *sink,
				     uint32_t wrq_sge)
{
	uint64_t needed = 0;
	uint32_t s = 0;

	for (uint32_t i = 0; i < sink->count; i++) {
		const uint64_t end = o2_place_end(sink, i);
		uint32_t pieces = 1;

		for (; o2_place_end(source, s) < end; s++)
			pieces++;
		if (o2_place_end(source, s) == end)
			s++;
		needed += (pieces + wrq_sge - 1) / wrq_sge;
	}
	return needed;
}

/* Refusals of figures that no transfer can have. */
static void judge_figures(const struct o2_rdma_input *asked, struct o2_refusals *refusals)
{
	const struct o2_rdma_limits *limits = &asked->limits;

	if (limits->max_wrs == 0 || limits->max_wrs > MAX_FRAGS)
		o2_refusals_add(refusals, -EINVAL, "rdma/max-wrs", O2_NO_INDEX, limits->max_wrs, MAX_FRAGS);
	if (limits->wrq_sge == 0 || limits->wrq_sge > 32)
		o2_refusals_add(refusals, -EINVAL, "rdma/wrq-sge", O2_NO_INDEX, limits->wrq_sge, 32);
	if (asked->source.rd_nfrags > MAX_FRAGS)
		o2_refusals_add(refusals, -EINVAL, "rdma/source-nfrags", O2_NO_INDEX, asked->source.rd_nfrags,
				MAX_FRAGS);
	if (asked->sink.rd_nfrags > MAX_FRAGS)
		o2_refusals_add(refusals, -EINVAL, "rdma/sink-nfrags", O2_NO_INDEX, asked->sink.rd_nfrags,
				MAX_FRAGS);
	if (asked->nob > 1u << 20)
		o2_refusals_add(refusals, -EINVAL, "rdma/nob", O2_NO_INDEX, asked->nob, 1u << 20);
}

void o2_rdma_expect(const struct o2_rdma_input *asked, struct o2_rdma_expected *e)
{
	const uint64_t source_bytes = bytes_of(&asked->source);
	const uint64_t sink_bytes = bytes_of(&asked->sink);
	const uint64_t least = source_bytes < sink_bytes ? source_bytes : sink_bytes;
	const uint64_t moved = asked->nob < least ? asked->nob : least;

	e->refusals.count = 0;
	e->nwr = 0;
	judge_figures(asked, &e->refusals);
	if (e->refusals.count > 0)
		return;
	map_descriptor(&asked->source, moved, &e->source);
	map_descriptor(&asked->sink, moved, &e->sink);
	e->nwr = work_requests_needed(&e->source, &e->sink, asked->limits.wrq_sge);
	/* The descriptor that ends first is named. */
	if (least < asked->nob && source_bytes == least)
		o2_refusals_add(&e->refusals, -EPROTO, "rdma/source-too-small", O2_NO_INDEX, asked->nob,
				least);
	if (least < asked->nob && sink_bytes == least)
		o2_refusals_add(&e->refusals, -EPROTO, "rdma/sink-too-small", O2_NO_INDEX, asked->nob, least);
	if (e->nwr > asked->limits.max_wrs)
		o2_refusals_add(&e->refusals, -EMSGSIZE, "rdma/too-many-work-requests", O2_NO_INDEX,
				(uint64_t)asked->limits.max_wrs + 1, asked->limits.max_wrs);
}

/* Map one work request: its entries must be the next ones, within the limit, and add up to its length. */
static void map_work_request(const struct o2_rdma_plan *plan, uint32_t i, uint32_t wrq_sge, uint32_t *sge,
			     struct o2_place_map *from, struct o2_report *report)
{
	const struct o2_rdma_wr *wr = &plan->wr[i];
	const uint64_t begin = from->nob;

	if (wr->num_sge == 0 || wr->num_sge > wrq_sge || wr->first_sge != *sge ||
	    wr->num_sge > plan->nsge - *sge) {
		o2_report_fail(report, "rdma/entries",
			       "work request %" PRIu32 " has entries %" PRIu32 " + %" PRIu32 " of %" PRIu32
			       ", limit %" PRIu32,
			       i, wr->first_sge, wr->num_sge, plan->nsge, wrq_sge);
		return;
	}
	for (; *sge < wr->first_sge + wr->num_sge; (*sge)++) {
		if (plan->sge[*sge].length == 0)
			o2_report_fail(report, "rdma/empty-entry", "gather entry %" PRIu32 " is empty", *sge);
		o2_place_add(from, plan->sge[*sge].addr, plan->sge[*sge].length);
	}
	if (wr->length != from->nob - begin)
		o2_report_fail(report, "rdma/length",
			       "work request %" PRIu32 " says %" PRIu32 " bytes, gathers %" PRIu64, i,
			       wr->length, from->nob - begin);
}

/* Map the plan's work requests, and check everything that is not about places. */
static void map_plan(const struct o2_rdma_plan *plan, uint32_t wrq_sge, const struct o2_place_map *sink,
		     struct o2_place_map *from, struct o2_place_map *to, struct o2_report *report)
{
	uint32_t sge = 0;
	uint32_t fragment = 0;

	o2_place_clear(from);
	o2_place_clear(to);
	for (uint32_t i = 0; i < plan->nwr && !report->failed; i++) {
		const uint64_t begin = to->nob;

		map_work_request(plan, i, wrq_sge, &sge, from, report);
		o2_place_add(to, plan->wr[i].remote_addr, plan->wr[i].length);
		while (fragment < sink->count && o2_place_end(sink, fragment) <= begin)
			fragment++;
		if (fragment == sink->count || to->nob > o2_place_end(sink, fragment))
			o2_report_fail(report, "rdma/across-fragments",
				       "work request %" PRIu32 " leaves fragment %" PRIu32 " of the sink", i,
				       fragment);
	}
	if (sge != plan->nsge)
		o2_report_fail(report, "rdma/entries", "%" PRIu32 " gather entries, %" PRIu32 " used",
			       plan->nsge, sge);
}

void o2_rdma_check_plan(const struct o2_rdma_input *asked, const struct o2_rdma_outcome *outcome,
			struct o2_report *report)
{
	static struct o2_place_map from, to;
	const struct o2_rdma_expected *e = &outcome->expected;
	const struct o2_rdma_plan *plan = &outcome->plan;

	if (plan->lkey != asked->source.rd_key || plan->rkey != asked->sink.rd_key ||
	    plan->nob != asked->nob || plan->nwr != e->nwr) {
		o2_report_fail(report, "rdma/plan",
			       "keys 0x%" PRIx32 " 0x%" PRIx32 ", nob %" PRIu64 " of %" PRIu64 ", %" PRIu32
			       " work requests, %" PRIu64 " needed",
			       plan->lkey, plan->rkey, plan->nob, asked->nob, plan->nwr, e->nwr);
		return;
	}
	map_plan(plan, asked->limits.wrq_sge, &e->sink, &from, &to, report);
	if (report->failed)
		return;
	o2_place_compare(&from, &e->source, "rdma/source-bytes", report);
	o2_place_compare(&to, &e->sink, "rdma/sink-bytes", report);
}

void o2_rdma_check(const struct o2_rdma_input *asked, struct o2_rdma_outcome *outcome,
		   struct o2_report *report)
{
	int rc;

	o2_error_clear(&outcome->error);
	rc = o2_rdma_plan(&asked->source, &asked->sink, asked->nob, &asked->limits, &outcome->plan,
			  &outcome->error);
	o2_rdma_expect(asked, &outcome->expected);
	o2_refusals_check(&outcome->expected.refusals, rc, &outcome->error, "rdma", report);
	if (rc == 0 && !report->failed)
		o2_rdma_check_plan(asked, outcome, report);
}
