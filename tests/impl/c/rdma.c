/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "second.h"

/*
 * rdma_plan: docs/mapping.md, "rdma_plan".  Source and sink are two rulers (second.h).  A run of the sink
 * gives work requests; the ticks of the source in that run divide them into gather entries.
 */

static int32_t check_input(const struct o2_impl_rdma_in *in, struct o2_impl_refusal *refusal)
{
	if (in->limits.max_wrs == 0 || in->limits.max_wrs > O2_IMPL_MAX_FRAGS)
		return refuse(refusal, EINVAL, "rdma/max-wrs", NO_INDEX);
	if (in->limits.wrq_sge == 0 || in->limits.wrq_sge > O2_IMPL_MAX_WRQ_SGE)
		return refuse(refusal, EINVAL, "rdma/wrq-sge", NO_INDEX);
	if (in->source.rd_nfrags > O2_IMPL_MAX_FRAGS)
		return refuse(refusal, EINVAL, "rdma/source-nfrags", NO_INDEX);
	if (in->sink.rd_nfrags > O2_IMPL_MAX_FRAGS)
		return refuse(refusal, EINVAL, "rdma/sink-nfrags", NO_INDEX);
	if (in->nob > O2_IMPL_TRANSFER_BYTES)
		return refuse(refusal, EINVAL, "rdma/nob", NO_INDEX);
	return O2_IMPL_OK;
}

static void make_ruler(const struct o2_impl_desc *desc, struct ruler *ruler)
{
	ruler->count = 0;
	ruler->tick[0] = 0;
	for (uint32_t i = 0; i < desc->rd_nfrags; i++)
		if (desc->rd_frags[i].rf_nob)
			ruler_add(ruler, desc->rd_frags[i].rf_addr, desc->rd_frags[i].rf_nob);
}

/* The run of the ruler that contains byte `at`. */
static uint32_t run_of(const struct ruler *ruler, uint64_t at)
{
	uint32_t low = 0, high = ruler->count;

	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (ruler->tick[middle] <= at)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* Add a work request for the bytes from `at` to `end`, or to where its gather entries run out. */
static uint64_t add_request(const struct ruler *source, uint64_t at, uint64_t end, uint64_t remote_addr,
			    uint32_t wrq_sge, struct o2_impl_rdma_plan *out)
{
	struct o2_impl_wr *wr = &out->wr[out->nwr++];

	*wr = (struct o2_impl_wr){.remote_addr = remote_addr, .first_sge = out->nsge};
	for (uint32_t run = run_of(source, at); at < end && wr->num_sge < wrq_sge; run++) {
		uint64_t stop = source->tick[run + 1] < end ? source->tick[run + 1] : end;

		out->sge[out->nsge++] = (struct o2_impl_segment){
			.addr = source->addr[run] + (at - source->tick[run]), .length = stop - at};
		wr->length += stop - at;
		wr->num_sge++;
		at = stop;
	}
	return at;
}

int32_t second_rdma_plan(const struct o2_impl_rdma_in *in, struct o2_impl_rdma_plan *out,
			 struct o2_impl_refusal *refusal)
{
	struct ruler source, sink;
	uint64_t at = 0, end, have_source, have_sink;
	int32_t status = check_input(in, refusal);

	if (status != O2_IMPL_OK)
		return status;
	make_ruler(&in->source, &source);
	make_ruler(&in->sink, &sink);
	have_source = source.tick[source.count];
	have_sink = sink.tick[sink.count];
	end = have_source < have_sink ? have_source : have_sink;
	end = in->nob < end ? in->nob : end;
	out->lkey = in->source.rd_key;
	out->rkey = in->sink.rd_key;
	out->nob = in->nob;
	out->nwr = out->nsge = 0;
	for (uint32_t run = 0; at < end; run++) {
		uint64_t stop = sink.tick[run + 1] < end ? sink.tick[run + 1] : end;

		while (at < stop) {
			if (out->nwr == in->limits.max_wrs)
				return refuse(refusal, EMSGSIZE, "rdma/too-many-work-requests", NO_INDEX);
			at = add_request(&source, at, stop, sink.addr[run] + (at - sink.tick[run]),
					 in->limits.wrq_sge, out);
		}
	}
	if (end < in->nob && have_source == end)
		return refuse(refusal, EPROTO, "rdma/source-too-small", NO_INDEX);
	if (end < in->nob)
		return refuse(refusal, EPROTO, "rdma/sink-too-small", NO_INDEX);
	return O2_IMPL_OK;
}
