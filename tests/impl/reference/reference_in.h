/* SPDX-License-Identifier: MIT */
#ifndef O2_TESTS_ORACLE_REFERENCE_IN_H
#define O2_TESTS_ORACLE_REFERENCE_IN_H

#include <string.h>

#include "o2ref/impl.h"
#include "oracle/case.h"
#include "oracle/impl_slot.h"
#include "wire/msg_type.h"

/* Convert questions of o2ref/impl.h to the reference's structs, as a wrapper around a library must do. */

static void get_options(const struct o2_impl_wire_options *from, struct o2_wire_options *options)
{
	*options = (struct o2_wire_options){
		.max_frags = from->max_frags,
		.require_checksum = from->require_checksum != 0,
		.any_lnd = from->any_lnd != 0,
		.tolerate_immediate_checksum = from->tolerate_immediate_checksum != 0,
	};
}

static void get_desc(const struct o2_impl_desc *from, struct o2_rdma_desc *desc)
{
	desc->rd_key = from->rd_key;
	desc->rd_nfrags = from->rd_nfrags;
	for (uint32_t i = 0; i < from->rd_nfrags && i < O2_MAX_FRAGS; i++)
		desc->rd_frags[i] = (struct o2_rdma_frag){.rf_nob = from->rd_frags[i].rf_nob,
							  .rf_addr = from->rd_frags[i].rf_addr};
}

static void get_message(const struct o2_impl_msg *from, struct o2_msg *msg)
{
	o2_impl_get_msg(from, msg);
	if (msg->ibm_type == O2_MSG_PUT_ACK)
		get_desc(&from->rd, &msg->u.putack.ibpam_rd);
	if (msg->ibm_type == O2_MSG_GET_REQ)
		get_desc(&from->rd, &msg->u.get.ibgm_rd);
	if (msg->ibm_type == O2_MSG_IMMEDIATE)
		msg->u.immediate.payload = from->payload;
}

/* Copy the arrays element by element, because the structs of the ABI differ from those of the reference. */
static void get_memory(const struct o2_impl_buffer *from, const struct o2_impl_space *space,
		       struct o2_case_buffer *memory)
{
	memory->buffer = (struct o2_buffer){.kind = (enum o2_vector_kind)from->kind,
					    .count = from->count,
					    .offset = from->offset,
					    .nob = from->nob};
	if (from->kind == O2_IMPL_IOV) {
		for (uint32_t i = 0; i < from->count; i++)
			memory->iov[i] = (struct o2_iov){.base = from->iov[i].base, .len = from->iov[i].len};
		memory->buffer.iov = memory->iov;
	} else {
		for (uint32_t i = 0; i < from->count; i++)
			memory->kiov[i] = (struct o2_kiov){.page = from->kiov[i].page,
							   .offset = from->kiov[i].offset,
							   .len = from->kiov[i].len};
		memory->buffer.kiov = memory->kiov;
	}
	for (uint32_t i = 0; i < space->nranges; i++)
		memory->range[i] = (struct o2_vrange){.base = space->range[i].base,
						      .npages = space->range[i].npages,
						      .page = space->range[i].page};
	memory->space = (struct o2_address_space){.page_bytes = space->page_bytes,
						  .npages = space->npages,
						  .nranges = space->nranges,
						  .range = memory->range};
}

static void get_device(const struct o2_impl_device *from, struct o2_dma_device *device)
{
	*device = (struct o2_dma_device){
		.kind = (enum o2_dma_kind)from->kind,
		.page_bytes = from->page_bytes,
		.npages = from->npages,
		.base = from->base,
		.unmapped = from->unmapped,
		.iommu = {.device_page = from->device_page,
			  .merge = from->merge,
			  .fault = (enum o2_dma_fault)from->fault},
	};
}

static void get_list(const struct o2_impl_sg_list *from, struct o2_sg_list *list)
{
	list->count = from->count;
	list->gaps = from->gaps != 0;
	list->nob = from->nob;
	for (uint32_t i = 0; i < from->count; i++)
		list->entry[i] = (struct o2_sg_entry){.page = from->entry[i].page,
						      .offset = from->entry[i].offset,
						      .length = from->entry[i].length};
}

static void get_reg(const struct o2_impl_reg_in *in, struct o2_case_reg *reg)
{
	reg->request = (struct o2_reg_request){
		.mode = (enum o2_reg_mode)in->request.mode,
		.side = (enum o2_side)in->request.side,
		.page_bytes = in->request.page_bytes,
		.max_pages = in->request.max_pages,
		.peer_max_frags = in->request.peer_max_frags,
		.gaps = in->request.gaps != 0,
		.iova = in->request.iova,
		.contiguous = in->request.contiguous != 0,
	};
	reg->list.count = in->list.count;
	reg->list.nob = in->list.nob;
	for (uint32_t i = 0; i < in->list.count; i++)
		reg->list.segment[i] = (struct o2_dma_segment){.addr = in->list.segment[i].addr,
							       .length = in->list.segment[i].length};
}

static void get_rdma(const struct o2_impl_rdma_in *in, struct o2_rdma_input *rdma)
{
	get_desc(&in->source, &rdma->source);
	get_desc(&in->sink, &rdma->sink);
	rdma->nob = in->nob;
	rdma->limits = (struct o2_rdma_limits){.max_wrs = in->limits.max_wrs, .wrq_sge = in->limits.wrq_sge};
}

static void get_node(const struct o2_impl_memory *from, struct o2_case_node *node)
{
	get_memory(&from->buffer, &from->space, &node->memory);
	get_device(&from->device, &node->device.device);
	node->mode = (enum o2_reg_mode)from->mode;
	node->max_pages = from->max_pages;
	node->iova = from->iova;
	node->key = from->key;
}

#endif
