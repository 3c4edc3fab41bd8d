/* SPDX-License-Identifier: MIT */
#include "fuzz/plan_oracle.h"

#include <errno.h>

#include "fuzz/common.h"

/* Bytes that a descriptor describes; fragments past O2_MAX_FRAGS do not count. */
static uint64_t desc_bytes(const struct o2_rdma_desc *desc)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < desc->rd_nfrags && i < O2_MAX_FRAGS; i++)
		sum += desc->rd_frags[i].rf_nob;
	return sum;
}

/* The first `nob` bytes of a descriptor. */
static void map_descriptor(const struct o2_rdma_desc *desc, uint64_t nob, struct o2_fuzz_map *map)
{
	o2_fuzz_map_clear(map);
	for (uint32_t i = 0; i < desc->rd_nfrags && map->nob < nob; i++) {
		const uint64_t left = nob - map->nob;

		o2_fuzz_map_add(map, desc->rd_frags[i].rf_addr,
				desc->rd_frags[i].rf_nob < left ? desc->rd_frags[i].rf_nob : left);
	}
}

/* Every sink fragment takes the source pieces that reach it, wrq_sge to a work request. */
static uint64_t work_requests_needed(const struct o2_fuzz_map *source, const struct o2_fuzz_map *sink,
				     uint32_t wrq_sge)
{
	uint64_t needed = 0;
	uint32_t s = 0;

	for (uint32_t i = 0; i < sink->count; i++) {
		const uint64_t end = o2_fuzz_map_end(sink, i);
		uint32_t pieces = 1;

		for (; o2_fuzz_map_end(source, s) < end; s++)
			pieces++;
		if (o2_fuzz_map_end(source, s) == end)
			s++;
		needed += (pieces + wrq_sge - 1) / wrq_sge;
	}
	return needed;
}

/* The plan's work requests as maps, with everything checked that is not about places. */
static void map_plan(const struct o2_rdma_plan *plan, const struct o2_rdma_limits *limits,
		     const struct o2_fuzz_map *sink, struct o2_fuzz_map *from, struct o2_fuzz_map *to)
{
	uint32_t sge = 0;
	uint32_t fragment = 0;

	o2_fuzz_map_clear(from);
	o2_fuzz_map_clear(to);
	for (uint32_t i = 0; i < plan->nwr; i++) {
		const struct o2_rdma_wr *wr = &plan->wr[i];
		const uint64_t begin = from->nob;

		if (wr->num_sge == 0 || wr->num_sge > limits->wrq_sge || wr->first_sge != sge ||
		    wr->num_sge > plan->nsge - sge)
			o2_fuzz_fail("plan: work request %u has entries %u + %u of %u, limit %u", i,
				     wr->first_sge, wr->num_sge, plan->nsge, limits->wrq_sge);
		for (; sge < wr->first_sge + wr->num_sge; sge++) {
			if (plan->sge[sge].length == 0)
				o2_fuzz_fail("plan: gather entry %u is empty", sge);
			o2_fuzz_map_add(from, plan->sge[sge].addr, plan->sge[sge].length);
		}
		if (wr->length != from->nob - begin)
			o2_fuzz_fail("plan: work request %u says %u bytes, gathers %llu", i, wr->length,
				     (unsigned long long)(from->nob - begin));
		o2_fuzz_map_add(to, wr->remote_addr, wr->length);
		while (fragment < sink->count && o2_fuzz_map_end(sink, fragment) <= begin)
			fragment++;
		if (fragment == sink->count || to->nob > o2_fuzz_map_end(sink, fragment))
			o2_fuzz_fail("plan: work request %u leaves sink fragment run %u", i, fragment);
	}
	if (sge != plan->nsge)
		o2_fuzz_fail("plan: %u gather entries, %u used", plan->nsge, sge);
}

void o2_fuzz_check_plan(const struct o2_rdma_desc *source, const struct o2_rdma_desc *sink, uint64_t nob,
			const struct o2_rdma_limits *limits)
{
	static struct o2_rdma_plan plan;
	static struct o2_fuzz_map want_from, want_to, from, to;
	struct o2_fuzz_refusals refusals = {0};
	struct o2_error error = {0};
	const int rc = o2_rdma_plan(source, sink, nob, limits, &plan, &error);
	uint64_t needed = 0;

	if (limits->max_wrs == 0 || limits->max_wrs > O2_MAX_FRAGS || limits->wrq_sge == 0 ||
	    limits->wrq_sge > O2_MAX_WRQ_SGE || source->rd_nfrags > O2_MAX_FRAGS ||
	    sink->rd_nfrags > O2_MAX_FRAGS || nob > O2_MAX_TRANSFER_BYTES) {
		o2_fuzz_expect(&refusals, -EINVAL);
	} else {
		const uint64_t source_bytes = desc_bytes(source);
		const uint64_t sink_bytes = desc_bytes(sink);
		const uint64_t least = source_bytes < sink_bytes ? source_bytes : sink_bytes;

		map_descriptor(source, nob < least ? nob : least, &want_from);
		map_descriptor(sink, nob < least ? nob : least, &want_to);
		needed = work_requests_needed(&want_from, &want_to, limits->wrq_sge);
		if (least < nob)
			o2_fuzz_expect(&refusals, -EPROTO);
		if (needed > limits->max_wrs)
			o2_fuzz_expect(&refusals, -EMSGSIZE);
	}
	if (!o2_fuzz_check_verdict(rc, &error, &refusals))
		return;
	if (plan.lkey != source->rd_key || plan.rkey != sink->rd_key || plan.nob != nob || plan.nwr != needed)
		o2_fuzz_fail("plan: keys 0x%x 0x%x, nob %llu of %llu, %u work requests, %llu needed",
			     plan.lkey, plan.rkey, (unsigned long long)plan.nob, (unsigned long long)nob,
			     plan.nwr, (unsigned long long)needed);
	map_plan(&plan, limits, &want_to, &from, &to);
	o2_fuzz_map_check_equal(&from, &want_from, "plan, source");
	o2_fuzz_map_check_equal(&to, &want_to, "plan, sink");
}
