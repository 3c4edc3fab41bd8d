/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>

#include "oracle/compare.h"

/*
 * The comparison of work requests: the bytes that they move, their order, and the limits.  The division into
 * work requests is free (docs/mapping.md, "rdma_plan").  For transfers, they are executed on the two plans.
 */

/* Faults of the work requests by themselves. */
enum shape {
	SHAPE_INDEX,
	SHAPE_SGE_LIMIT,
	SHAPE_EMPTY,
	SHAPE_LENGTH,
	SHAPE_WR_LIMIT,
	SHAPES,
};

/* Each work request must use the next 1 to wrq_sge gather entries, and its length must be their sum. */
static bool check_shape(struct o2_comparison *comparison, const struct o2_rdma_plan *plan, uint32_t max_wrs,
			uint32_t wrq_sge, const enum o2_check_id *checks)
{
	uint32_t next = 0;

	if (plan->nwr > max_wrs)
		o2_differ(comparison, checks[SHAPE_WR_LIMIT], "nwr", O2_NO_INDEX, max_wrs, plan->nwr);
	for (uint32_t i = 0; i < plan->nwr; i++) {
		const struct o2_rdma_wr *wr = &plan->wr[i];
		uint64_t length = 0;

		if (wr->first_sge != next) {
			o2_differ(comparison, checks[SHAPE_INDEX], "wr[].first_sge", i, next, wr->first_sge);
			return false;
		}
		if (wr->num_sge > plan->nsge - next) {
			o2_differ(comparison, checks[SHAPE_INDEX], "wr[].num_sge", i, plan->nsge - next,
				  wr->num_sge);
			return false;
		}
		if (wr->num_sge == 0 || wr->num_sge > wrq_sge)
			o2_differ(comparison, checks[SHAPE_SGE_LIMIT], "wr[].num_sge", i, wrq_sge,
				  wr->num_sge);
		for (; next < wr->first_sge + wr->num_sge; next++) {
			if (plan->sge[next].length == 0)
				o2_differ(comparison, checks[SHAPE_EMPTY], "sge[].length", next, 1, 0);
			length += plan->sge[next].length;
		}
		if (length != wr->length) {
			o2_differ(comparison, checks[SHAPE_LENGTH], "wr[].length", i, length, wr->length);
			return false;
		}
	}
	o2_expect(comparison, checks[SHAPE_INDEX], "nsge", O2_NO_INDEX, next, plan->nsge);
	return true;
}

/* The stream of the first nob bytes of a descriptor, or of all its bytes if it has fewer. */
static void stream_of_desc(const struct o2_rdma_desc *desc, uint64_t nob, struct o2_stream *stream)
{
	o2_stream_clear(stream);
	for (uint32_t i = 0; i < desc->rd_nfrags && stream->nob < nob; i++) {
		const uint64_t left = nob - stream->nob;
		const uint32_t length = desc->rd_frags[i].rf_nob;

		o2_stream_add(stream, desc->rd_frags[i].rf_addr, length < left ? length : left);
	}
}

/* Each work request must stay within one fragment of the sink, the one that holds its first byte. */
static void check_fragments(struct o2_comparison *comparison, const struct o2_rdma_desc *sink,
			    const struct o2_rdma_plan *plan)
{
	uint64_t end = 0; /* of the fragment */
	uint64_t at = 0;
	uint32_t fragment = 0;

	for (uint32_t i = 0; i < plan->nwr; i++) {
		while (fragment < sink->rd_nfrags && end <= at)
			end += sink->rd_frags[fragment++].rf_nob;
		at += plan->wr[i].length;
		if (at > end) {
			o2_differ(comparison, O2_CHECK_RDMA_WR_LEAVES_FRAGMENT, "wr[].length", i,
				  plan->wr[i].length - (at - end), plan->wr[i].length);
			return;
		}
	}
}

void o2_compare_rdma(struct o2_comparison *comparison, const struct o2_rdma_input *asked,
		     const struct o2_rdma_plan *expected, const struct o2_rdma_plan *found)
{
	static const enum o2_check_id shape[SHAPES] = {
		[SHAPE_INDEX] = O2_CHECK_RDMA_SGE_INDEX,
		[SHAPE_SGE_LIMIT] = O2_CHECK_RDMA_SGE_OVER_LIMIT,
		[SHAPE_EMPTY] = O2_CHECK_RDMA_EMPTY_SGE,
		[SHAPE_LENGTH] = O2_CHECK_RDMA_WR_LENGTH,
		[SHAPE_WR_LIMIT] = O2_CHECK_RDMA_WR_OVER_LIMIT,
	};

	if (found->nsge > 0)
		o2_expect_hex(comparison, O2_CHECK_RDMA_LKEY, "lkey", O2_NO_INDEX, expected->lkey,
			      found->lkey);
	if (found->nwr > 0)
		o2_expect_hex(comparison, O2_CHECK_RDMA_RKEY, "rkey", O2_NO_INDEX, expected->rkey,
			      found->rkey);
	o2_expect(comparison, O2_CHECK_RDMA_BYTES_MOVED, "nob", O2_NO_INDEX, expected->nob, found->nob);
	if (!check_shape(comparison, found, asked->limits.max_wrs, asked->limits.wrq_sge, shape))
		return;
	o2_stream_clear(&comparison->found_from);
	o2_stream_clear(&comparison->found_to);
	for (uint32_t i = 0; i < found->nsge; i++)
		o2_stream_add(&comparison->found_from, found->sge[i].addr, found->sge[i].length);
	for (uint32_t i = 0; i < found->nwr; i++)
		o2_stream_add(&comparison->found_to, found->wr[i].remote_addr, found->wr[i].length);
	stream_of_desc(&asked->source, asked->nob, &comparison->expected_from);
	stream_of_desc(&asked->sink, asked->nob, &comparison->expected_to);
	o2_differ_stream(comparison, O2_CHECK_RDMA_SOURCE_BYTES, "source", &comparison->expected_from,
			 &comparison->found_from);
	o2_differ_stream(comparison, O2_CHECK_RDMA_SINK_BYTES, "sink", &comparison->expected_to,
			 &comparison->found_to);
	check_fragments(comparison, &asked->sink, found);
	o2_expect(comparison, O2_CHECK_RDMA_WORK_REQUESTS, "nwr", O2_NO_INDEX, expected->nwr, found->nwr);
}

/* --- whole transfers --- */

static void leaves_region(struct o2_comparison *comparison, const char *what, uint32_t index, uint64_t addr)
{
	struct o2_difference *item = o2_differ_text(comparison, O2_CHECK_TRANSFER_OUTSIDE_REGION, what, "");

	if (item == NULL)
		return;
	snprintf(item->field, sizeof(item->field), "plan.%s[%u]", what, index);
	snprintf(item->expected, sizeof(item->expected), "inside what the plan registers");
	snprintf(item->found, sizeof(item->found), "0x%" PRIx64 " is outside", addr);
}

/* Resolve source and sink places of all bytes, as a device that has registered the two plans would. */
static bool carry_out(struct o2_comparison *comparison, const struct o2_answer_transfer *transfer,
		      struct o2_stream *from, struct o2_stream *to)
{
	const struct o2_rdma_plan *plan = &transfer->plan;
	uint64_t bad = 0;

	o2_stream_clear(from);
	o2_stream_clear(to);
	for (uint32_t i = 0; i < plan->nsge; i++) {
		if (!o2_stream_of_region(&transfer->node[O2_SOURCE], plan->sge[i].addr, plan->sge[i].length,
					 from, &bad)) {
			leaves_region(comparison, "sge", i, bad);
			return false;
		}
	}
	for (uint32_t i = 0; i < plan->nwr; i++) {
		if (!o2_stream_of_region(&transfer->node[O2_SINK], plan->wr[i].remote_addr,
					 plan->wr[i].length, to, &bad)) {
			leaves_region(comparison, "wr", i, bad);
			return false;
		}
	}
	return true;
}

/* A side must not publish more bytes than are due, because the peer could access memory beyond the transfer. */
static void compare_published(struct o2_comparison *comparison, const struct o2_case_transfer *asked,
			      const struct o2_reg_plan *plan, enum o2_side side)
{
	const uint64_t due = o2_case_published(asked, side);
	uint64_t found = 0;

	for (uint32_t i = 0; i < plan->nfrags; i++)
		found += plan->frag[i].rf_nob;
	o2_expect(comparison, O2_CHECK_TRANSFER_PUBLISHED, side == O2_SINK ? "sink.frags" : "source.frags",
		  O2_NO_INDEX, due, found);
}

static void compare_nodes(struct o2_comparison *comparison, const struct o2_case_transfer *asked,
			  const struct o2_answer_transfer *expected, const struct o2_answer_transfer *found)
{
	static const char *const of[] = {"source.", "sink."};
	static const struct o2_plan_checks checks = {
		.peer_limit = O2_CHECK_TRANSFER_PEER_LIMIT,
		.access = O2_CHECK_TRANSFER_ACCESS,
		.source_access = O2_CHECK_TRANSFER_SOURCE_ACCESS,
		.sink_fragments = O2_CHECK_TRANSFER_SINK_FRAGMENTS,
		.range = O2_CHECK_TRANSFER_RANGE,
		.range_in_pages = O2_CHECK_TRANSFER_RANGE_IN_PAGES,
		.pages = O2_CHECK_TRANSFER_PAGES,
		.iova = O2_CHECK_TRANSFER_IOVA,
		.entries = O2_CHECK_TRANSFER_ENTRIES,
	};

	for (uint32_t i = 0; i < 2; i++) {
		const struct o2_plan_terms terms = {.of = of[i],
						    .mode = asked->node[i].mode,
						    .side = (enum o2_side)i,
						    .page_bytes = asked->node[i].memory.space.page_bytes,
						    .max_pages = asked->node[i].max_pages,
						    .max_frags = asked->max_frags,
						    .checks = &checks};

		compare_published(comparison, asked, &found->node[i], (enum o2_side)i);
		o2_compare_terms(comparison, &terms, &expected->node[i], &found->node[i]);
	}
}

void o2_compare_transfer(struct o2_comparison *comparison, const struct o2_case_transfer *asked,
			 const struct o2_answer_transfer *expected, const struct o2_answer_transfer *found)
{
	static const enum o2_check_id shape[SHAPES] = {
		O2_CHECK_TRANSFER_WORK_REQUESTS, O2_CHECK_TRANSFER_WORK_REQUESTS,
		O2_CHECK_TRANSFER_WORK_REQUESTS, O2_CHECK_TRANSFER_WORK_REQUESTS,
		O2_CHECK_TRANSFER_WORK_REQUESTS,
	};
	const struct o2_rdma_plan *plan = &found->plan;

	compare_nodes(comparison, asked, expected, found);
	o2_expect_hex(comparison, O2_CHECK_TRANSFER_KEYS, "plan.lkey", O2_NO_INDEX,
		      asked->node[O2_SOURCE].key, plan->lkey);
	o2_expect_hex(comparison, O2_CHECK_TRANSFER_KEYS, "plan.rkey", O2_NO_INDEX, asked->node[O2_SINK].key,
		      plan->rkey);
	o2_expect(comparison, O2_CHECK_TRANSFER_NOB, "plan.nob", O2_NO_INDEX, expected->plan.nob, plan->nob);
	if (!check_shape(comparison, plan, asked->max_frags, asked->wrq_sge, shape) ||
	    !carry_out(comparison, found, &comparison->found_from, &comparison->found_to) ||
	    !carry_out(comparison, expected, &comparison->expected_from, &comparison->expected_to))
		return;
	o2_differ_stream(comparison, O2_CHECK_TRANSFER_BYTES, "source", &comparison->expected_from,
			 &comparison->found_from);
	o2_differ_stream(comparison, O2_CHECK_TRANSFER_BYTES, "sink", &comparison->expected_to,
			 &comparison->found_to);
}
