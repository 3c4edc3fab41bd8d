/* SPDX-License-Identifier: MIT */
#include "second.h"

/* transfer: docs/transport.md, "PUT" and "GET", without the messages and the devices. */

/* Arrays for the data that the stages of one side pass on. */
struct lists {
	struct o2_impl_sg_entry entry[O2_IMPL_MAX_FRAGS];
	struct o2_impl_segment segment[O2_IMPL_MAX_FRAGS];
};

/* Mode USER: whether the transfer's bytes are one range of virtual addresses; *addr: its first address. */
static bool one_range(const struct o2_impl_buffer *buffer, uint64_t *addr)
{
	uint64_t skip = buffer->offset, left = buffer->nob, end = 0;

	for (uint32_t i = 0; buffer->kind == O2_IMPL_IOV && left && i < buffer->count; i++) {
		uint64_t from = skip < buffer->iov[i].len ? skip : buffer->iov[i].len;
		uint64_t part = buffer->iov[i].len - from < left ? buffer->iov[i].len - from : left;
		uint64_t begin = buffer->iov[i].base + from;

		skip -= from;
		if (part == 0)
			continue;
		if (left == buffer->nob)
			*addr = begin;
		else if (begin != end)
			return false;
		end = begin + part;
		left -= part;
	}
	return left == 0;
}

int32_t second_prepare(const struct o2_impl_memory *memory, uint32_t side, uint64_t nob, uint32_t max_frags,
		       struct o2_impl_reg_plan *out, struct o2_impl_refusal *refusal)
{
	struct lists lists;
	struct o2_impl_sg_in sg = {
		.max_entries = memory->max_pages, .buffer = memory->buffer, .space = memory->space};
	struct o2_impl_dma_in dma = {.device = memory->device,
				     .list = {.capacity = O2_IMPL_MAX_FRAGS, .entry = lists.entry}};
	struct o2_impl_reg_in reg = {.list = {.capacity = O2_IMPL_MAX_FRAGS, .segment = lists.segment}};
	int32_t status;

	sg.buffer.nob = nob;
	status = second_sg_build(&sg, &dma.list, refusal);
	if (status == O2_IMPL_OK)
		status = second_dma_map(&dma, &reg.list, refusal);
	if (status == O2_IMPL_OK) {
		reg.request = (struct o2_impl_reg_request){.mode = memory->mode,
							   .side = side,
							   .page_bytes = memory->space.page_bytes,
							   .max_pages = memory->max_pages,
							   .peer_max_frags = max_frags,
							   .gaps = dma.list.gaps,
							   .iova = memory->iova};
		if (memory->mode == O2_IMPL_USER)
			reg.request.contiguous = one_range(&sg.buffer, &reg.request.iova);
		status = second_reg_plan(&reg, out, refusal);
	}
	if (status == O2_IMPL_REFUSED)
		refusal->where = side == O2_IMPL_SINK ? O2_IMPL_WHERE_SINK : O2_IMPL_WHERE_SOURCE;
	return status;
}

static struct o2_impl_desc describe(const struct o2_impl_memory *memory, const struct o2_impl_reg_plan *plan)
{
	return (struct o2_impl_desc){.rd_key = memory->key,
				     .rd_nfrags = plan->nfrags,
				     .capacity = plan->frag_capacity,
				     .rd_frags = plan->frag};
}

int32_t second_transfer(const struct o2_impl_transfer_in *in, struct o2_impl_transfer_out *out,
			struct o2_impl_refusal *refusal)
{
	uint64_t source_nob = in->source.buffer.nob, sink_nob = in->sink.buffer.nob;
	uint64_t moved = source_nob < sink_nob ? source_nob : sink_nob;
	struct o2_impl_rdma_in rdma = {.nob = moved,
				       .limits = {.max_wrs = in->max_frags, .wrq_sge = in->wrq_sge}};
	int32_t status;

	if (in->op == O2_IMPL_PUT) {
		status = second_prepare(&in->source, O2_IMPL_SOURCE, source_nob, in->max_frags, &out->source,
					refusal);
		if (status == O2_IMPL_OK)
			status = second_prepare(&in->sink, O2_IMPL_SINK, moved, in->max_frags, &out->sink,
						refusal);
	} else {
		status =
			second_prepare(&in->sink, O2_IMPL_SINK, sink_nob, in->max_frags, &out->sink, refusal);
		if (status == O2_IMPL_OK)
			status = second_prepare(&in->source, O2_IMPL_SOURCE, moved, in->max_frags,
						&out->source, refusal);
	}
	if (status != O2_IMPL_OK)
		return status;
	rdma.source = describe(&in->source, &out->source);
	rdma.sink = describe(&in->sink, &out->sink);
	status = second_rdma_plan(&rdma, &out->plan, refusal);
	if (status == O2_IMPL_REFUSED)
		refusal->where = O2_IMPL_WHERE_WRITES;
	return status;
}
