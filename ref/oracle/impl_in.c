/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <string.h>

#include "oracle/stage_ops.h"

/* The public header repeats these limits, because other projects include it without the library's headers. */
static_assert(O2_IMPL_MAX_FRAGS == O2_MAX_FRAGS && O2_IMPL_MAX_WRQ_SGE == O2_MAX_WRQ_SGE, "lists");
static_assert(O2_IMPL_MSG_BYTES == O2_MSG_BYTES &&
		      O2_IMPL_PAYLOAD_BYTES == O2_MSG_BYTES - O2_MSG_HEADER_BYTES - O2_LNET_HDR_BYTES,
	      "messages");
static_assert(O2_IMPL_TRANSFER_BYTES == O2_MAX_TRANSFER_BYTES, "transfers");

/* Fill a slot with a case: the input structs of o2ref/impl.h, and the arrays for the answer. */

static struct o2_impl_wire_options put_options(const struct o2_wire_options *options)
{
	return (struct o2_impl_wire_options){
		.max_frags = options->max_frags,
		.require_checksum = options->require_checksum,
		.any_lnd = options->any_lnd,
		.tolerate_immediate_checksum = options->tolerate_immediate_checksum,
	};
}

const uint8_t *o2_impl_put_bytes(struct o2_impl_slot *slot, const uint8_t *bytes, size_t length_bytes)
{
	uint8_t *at = slot->part[O2_PART_BYTES] + o2_impl_part_bytes(O2_PART_BYTES) - length_bytes;

	memcpy(at, bytes, length_bytes);
	return at;
}

static void put_decode(const struct o2_case_msg_decode *asked, struct o2_impl_slot *slot)
{
	struct o2_impl_msg *out = &slot->out->msg_decode;

	slot->in->msg_decode = (struct o2_impl_msg_decode_in){
		.options = put_options(&asked->options),
		.bytes = o2_impl_put_bytes(slot, asked->bytes, asked->length_bytes),
		.length_bytes = asked->length_bytes,
	};
	out->rd.capacity = O2_IMPL_MAX_FRAGS;
	out->rd.rd_frags = o2_impl_slot_array(slot, O2_PART_A, "rd_frags", O2_IMPL_MAX_FRAGS,
					      sizeof(struct o2_impl_frag));
	out->payload_capacity_bytes = O2_IMPL_PAYLOAD_BYTES;
	out->payload = o2_impl_slot_array(slot, O2_PART_B, "payload", O2_IMPL_PAYLOAD_BYTES, 1);
}

void o2_impl_put_frags(struct o2_impl_slot *slot, const struct o2_rdma_desc *desc, struct o2_impl_desc *out)
{
	const uint32_t count = desc->rd_nfrags < O2_MAX_FRAGS ? desc->rd_nfrags : O2_MAX_FRAGS;

	out->rd_key = desc->rd_key;
	out->rd_nfrags = desc->rd_nfrags;
	out->capacity = count;
	out->rd_frags = o2_impl_slot_input(slot, count * sizeof(out->rd_frags[0]));
	for (uint32_t i = 0; i < count; i++)
		out->rd_frags[i] = (struct o2_impl_frag){.rf_addr = desc->rd_frags[i].rf_addr,
							 .rf_nob = desc->rd_frags[i].rf_nob};
}

static void put_encode(const struct o2_case_msg_encode *asked, struct o2_impl_slot *slot)
{
	struct o2_impl_msg *out = &slot->in->msg_encode.msg;

	memset(&slot->in->msg_encode, 0, sizeof(slot->in->msg_encode));
	slot->in->msg_encode.options = put_options(&asked->options);
	o2_impl_put_msg(&asked->msg, out);
	out->ibm_nob = 0; /* the encoder computes it */
	if (o2_msg_desc(&asked->msg) != NULL)
		o2_impl_put_frags(slot, o2_msg_desc(&asked->msg), &out->rd);
	if (asked->msg.ibm_type == O2_MSG_IMMEDIATE) {
		out->payload_capacity_bytes = sizeof(asked->payload);
		out->payload = o2_impl_slot_copy(slot, asked->payload, sizeof(asked->payload));
	}
	slot->out->msg_encode.capacity_bytes = asked->capacity_bytes;
	slot->out->msg_encode.bytes = o2_impl_slot_array(slot, O2_PART_A, "bytes", asked->capacity_bytes, 1);
}

static void put_buffer(struct o2_impl_slot *slot, const struct o2_case_buffer *memory,
		       struct o2_impl_buffer *buffer, struct o2_impl_space *space)
{
	const struct o2_buffer *from = &memory->buffer;
	struct o2_impl_kiov *kiov;
	struct o2_impl_iov *iov;
	struct o2_impl_vrange *range;

	*buffer = (struct o2_impl_buffer){
		.kind = from->kind, .count = from->count, .offset = from->offset, .nob = from->nob};
	if (from->kind == O2_IOV) {
		iov = o2_impl_slot_input(slot, from->count * sizeof(*iov));
		for (uint32_t i = 0; i < from->count; i++)
			iov[i] = (struct o2_impl_iov){.base = from->iov[i].base, .len = from->iov[i].len};
		buffer->iov = iov;
	} else {
		kiov = o2_impl_slot_input(slot, from->count * sizeof(*kiov));
		for (uint32_t i = 0; i < from->count; i++)
			kiov[i] = (struct o2_impl_kiov){.page = from->kiov[i].page,
							.offset = from->kiov[i].offset,
							.len = from->kiov[i].len};
		buffer->kiov = kiov;
	}
	range = o2_impl_slot_input(slot, memory->space.nranges * sizeof(*range));
	for (uint32_t i = 0; i < memory->space.nranges; i++) {
		const struct o2_vrange *known = &memory->space.range[i];

		range[i] = (struct o2_impl_vrange){
			.base = known->base,
			.npages = known->npages,
			.page = o2_impl_slot_copy(slot, known->page, known->npages * sizeof(known->page[0]))};
	}
	*space = (struct o2_impl_space){.page_bytes = memory->space.page_bytes,
					.npages = memory->space.npages,
					.nranges = memory->space.nranges,
					.range = range};
}

static void put_device(struct o2_impl_slot *slot, const struct o2_dma_device *from,
		       struct o2_impl_device *device)
{
	*device = (struct o2_impl_device){
		.kind = from->kind,
		.page_bytes = from->page_bytes,
		.npages = from->npages,
		.base = from->base,
	};
	if (from->unmapped != NULL)
		device->unmapped = o2_impl_slot_copy(slot, from->unmapped, (from->npages + 7) / 8);
	if (from->kind != O2_DMA_IOMMU)
		return;
	device->fault = from->iommu.fault;
	device->merge = from->iommu.merge;
	device->device_page = o2_impl_slot_copy(slot, from->iommu.device_page,
						from->npages * sizeof(from->iommu.device_page[0]));
}

static void put_segments(struct o2_impl_slot *slot, const struct o2_dma_list *from,
			 struct o2_impl_dma_list *list)
{
	*list = (struct o2_impl_dma_list){.count = from->count, .capacity = from->count, .nob = from->nob};
	list->segment = o2_impl_slot_input(slot, from->count * sizeof(list->segment[0]));
	for (uint32_t i = 0; i < from->count; i++)
		list->segment[i] = (struct o2_impl_segment){.addr = from->segment[i].addr,
							    .length = from->segment[i].length};
}

static void put_dma(const struct o2_case_dma *asked, struct o2_impl_slot *slot)
{
	struct o2_impl_sg_list *list = &slot->in->dma.list;

	*list = (struct o2_impl_sg_list){.count = asked->list.count,
					 .capacity = asked->list.count,
					 .gaps = asked->list.gaps,
					 .nob = asked->list.nob};
	list->entry = o2_impl_slot_input(slot, list->count * sizeof(list->entry[0]));
	for (uint32_t i = 0; i < list->count; i++)
		list->entry[i] = (struct o2_impl_sg_entry){.page = asked->list.entry[i].page,
							   .offset = asked->list.entry[i].offset,
							   .length = asked->list.entry[i].length};
	put_device(slot, &asked->device.device, &slot->in->dma.device);
	slot->out->dma.capacity = O2_IMPL_MAX_FRAGS;
	slot->out->dma.segment = o2_impl_slot_array(slot, O2_PART_A, "segment", O2_IMPL_MAX_FRAGS,
						    sizeof(struct o2_impl_segment));
}

static void put_reg(const struct o2_case_reg *asked, struct o2_impl_slot *slot)
{
	const struct o2_reg_request *request = &asked->request;

	slot->in->reg.request = (struct o2_impl_reg_request){
		.mode = request->mode,
		.side = request->side,
		.page_bytes = request->page_bytes,
		.max_pages = request->max_pages,
		.peer_max_frags = request->peer_max_frags,
		.gaps = request->gaps,
		.iova = request->iova,
		.contiguous = request->contiguous,
	};
	put_segments(slot, &asked->list, &slot->in->reg.list);
}

void o2_impl_plan_arrays(struct o2_impl_slot *slot, struct o2_impl_reg_plan *plan, enum o2_impl_part first,
			 const char *const *names)
{
	plan->page_capacity = O2_IMPL_MAX_FRAGS;
	plan->page = o2_impl_slot_array(slot, first, names[0], O2_IMPL_MAX_FRAGS, sizeof(plan->page[0]));
	plan->entry_capacity = O2_IMPL_MAX_FRAGS;
	plan->entry =
		o2_impl_slot_array(slot, first + 1, names[1], O2_IMPL_MAX_FRAGS, sizeof(plan->entry[0]));
	plan->frag_capacity = O2_IMPL_MAX_FRAGS;
	plan->frag = o2_impl_slot_array(slot, first + 2, names[2], O2_IMPL_MAX_FRAGS, sizeof(plan->frag[0]));
}

static void work_arrays(struct o2_impl_slot *slot, struct o2_impl_rdma_plan *plan)
{
	plan->wr_capacity = O2_IMPL_MAX_FRAGS;
	plan->wr = o2_impl_slot_array(slot, O2_PART_WR, "wr", O2_IMPL_MAX_FRAGS, sizeof(plan->wr[0]));
	plan->sge_capacity = O2_IMPL_MAX_FRAGS * O2_IMPL_MAX_WRQ_SGE;
	plan->sge = o2_impl_slot_array(slot, O2_PART_SGE, "sge", plan->sge_capacity, sizeof(plan->sge[0]));
}

void o2_impl_put_rdma(const struct o2_rdma_input *asked, struct o2_impl_slot *slot,
		      struct o2_impl_rdma_in *in)
{
	o2_impl_put_frags(slot, &asked->source, &in->source);
	o2_impl_put_frags(slot, &asked->sink, &in->sink);
	in->nob = asked->nob;
	in->limits = (struct o2_impl_rdma_limits){.max_wrs = asked->limits.max_wrs,
						  .wrq_sge = asked->limits.wrq_sge};
}

void o2_impl_put_node(const struct o2_case_node *node, struct o2_impl_slot *slot,
		      struct o2_impl_memory *memory)
{
	put_buffer(slot, &node->memory, &memory->buffer, &memory->space);
	put_device(slot, &node->device.device, &memory->device);
	memory->mode = node->mode;
	memory->max_pages = node->max_pages;
	memory->iova = node->iova;
	memory->key = node->key;
}

static void put_transfer(const struct o2_case_transfer *asked, struct o2_impl_slot *slot)
{
	static const char *const names[2][3] = {{"source.page", "source.entry", "source.frag"},
						{"sink.page", "sink.entry", "sink.frag"}};
	struct o2_impl_transfer_in *in = &slot->in->transfer;
	struct o2_impl_memory *memory[] = {&in->source, &in->sink};

	memset(in, 0, sizeof(*in));
	in->op = asked->get ? O2_IMPL_GET : O2_IMPL_PUT;
	in->max_frags = asked->max_frags;
	in->wrq_sge = asked->wrq_sge;
	for (uint32_t i = 0; i < 2; i++)
		o2_impl_put_node(&asked->node[i], slot, memory[i]);
	o2_impl_plan_arrays(slot, &slot->out->transfer.source, O2_PART_A, names[0]);
	o2_impl_plan_arrays(slot, &slot->out->transfer.sink, O2_PART_D, names[1]);
	work_arrays(slot, &slot->out->transfer.plan);
}

void o2_impl_put_case(const struct o2_case *asked, struct o2_impl_slot *slot)
{
	static const char *const names[] = {"page", "entry", "frag"};

	o2_impl_slot_reset(slot);
	if (o2_stage_ops(asked->stage) != NULL) {
		o2_stage_ops(asked->stage)->put(asked, slot);
		return;
	}
	switch (asked->stage) {
	case O2_STAGE_MSG_DECODE:
		put_decode(&asked->msg_decode, slot);
		break;
	case O2_STAGE_MSG_ENCODE:
		put_encode(&asked->msg_encode, slot);
		break;
	case O2_STAGE_SG_BUILD:
		slot->in->sg.max_entries = asked->sg.max_entries;
		slot->in->sg.reserved = 0;
		put_buffer(slot, &asked->sg.memory, &slot->in->sg.buffer, &slot->in->sg.space);
		slot->out->sg.capacity = O2_IMPL_MAX_FRAGS;
		slot->out->sg.entry = o2_impl_slot_array(slot, O2_PART_A, "entry", O2_IMPL_MAX_FRAGS,
							 sizeof(struct o2_impl_sg_entry));
		break;
	case O2_STAGE_DMA_MAP:
		put_dma(&asked->dma, slot);
		break;
	case O2_STAGE_REG_PLAN:
		put_reg(&asked->reg, slot);
		o2_impl_plan_arrays(slot, &slot->out->reg, O2_PART_A, names);
		break;
	case O2_STAGE_RDMA_PLAN:
		o2_impl_put_rdma(&asked->rdma, slot, &slot->in->rdma);
		work_arrays(slot, &slot->out->rdma);
		break;
	case O2_STAGE_TRANSFER:
	default:
		put_transfer(&asked->transfer, slot);
		break;
	}
}
