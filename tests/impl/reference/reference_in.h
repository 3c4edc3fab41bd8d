/* SPDX-License-Identifier: MIT */
#ifndef O2_TESTS_ORACLE_REFERENCE_IN_H
#define O2_TESTS_ORACLE_REFERENCE_IN_H

#include <string.h>

#include "o2ref/impl.h"
#include "oracle/case.h"

/* Questions of o2ref/impl.h as those of the reference: what a wrapper around a library has to do. */

static void get_options(const struct o2_impl_wire_options *from, struct o2_wire_options *options)
{
	*options = (struct o2_wire_options){
		.max_frags = from->max_frags,
		.require_checksum = from->require_checksum != 0,
		.any_lnd = from->any_lnd != 0,
		.tolerate_immediate_checksum = from->tolerate_immediate_checksum != 0,
	};
}

static void get_lnet(const struct o2_impl_lnet_hdr *from, struct o2_lnet_hdr *hdr)
{
	const struct o2_lnet_handle wmd = {.wh_interface_cookie = from->wmd_interface_cookie,
					   .wh_object_cookie = from->wmd_object_cookie};

	hdr->dest_nid = from->dest_nid;
	hdr->src_nid = from->src_nid;
	hdr->dest_pid = from->dest_pid;
	hdr->src_pid = from->src_pid;
	hdr->type = from->type;
	hdr->payload_length = from->payload_length;
	if (from->type == O2_LNET_ACK) {
		hdr->msg.ack.dst_wmd = wmd;
		hdr->msg.ack.match_bits = from->match_bits;
		hdr->msg.ack.mlength = from->mlength;
	} else if (from->type == O2_LNET_PUT) {
		hdr->msg.put.ack_wmd = wmd;
		hdr->msg.put.match_bits = from->match_bits;
		hdr->msg.put.hdr_data = from->hdr_data;
		hdr->msg.put.ptl_index = from->ptl_index;
		hdr->msg.put.offset = from->offset;
	} else if (from->type == O2_LNET_GET) {
		hdr->msg.get.return_wmd = wmd;
		hdr->msg.get.match_bits = from->match_bits;
		hdr->msg.get.ptl_index = from->ptl_index;
		hdr->msg.get.src_offset = from->src_offset;
		hdr->msg.get.sink_length = from->sink_length;
	} else if (from->type == O2_LNET_REPLY) {
		hdr->msg.reply.dst_wmd = wmd;
	}
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
	memset(msg, 0, sizeof(*msg));
	msg->order = from->big_endian ? O2_BIG_ENDIAN : O2_LITTLE_ENDIAN;
	msg->ibm_version = from->ibm_version;
	msg->ibm_type = from->ibm_type;
	msg->ibm_credits = from->ibm_credits;
	msg->cksum_flavour = (enum o2_cksum_flavour)from->cksum_flavour;
	msg->ibm_srcnid = from->ibm_srcnid;
	msg->ibm_srcstamp = from->ibm_srcstamp;
	msg->ibm_dstnid = from->ibm_dstnid;
	msg->ibm_dststamp = from->ibm_dststamp;
	switch (from->ibm_type) {
	case O2_MSG_CONNREQ:
	case O2_MSG_CONNACK:
		msg->u.connparams.ibcp_queue_depth = from->ibcp_queue_depth;
		msg->u.connparams.ibcp_max_frags = from->ibcp_max_frags;
		msg->u.connparams.ibcp_max_msg_size = from->ibcp_max_msg_size;
		break;
	case O2_MSG_IMMEDIATE:
		get_lnet(&from->hdr, &msg->u.immediate.hdr);
		msg->u.immediate.payload = from->payload;
		break;
	case O2_MSG_PUT_REQ:
		get_lnet(&from->hdr, &msg->u.putreq.hdr);
		msg->u.putreq.ibprm_cookie = from->cookie;
		break;
	case O2_MSG_PUT_ACK:
		msg->u.putack.ibpam_src_cookie = from->ibpam_src_cookie;
		msg->u.putack.ibpam_dst_cookie = from->ibpam_dst_cookie;
		get_desc(&from->rd, &msg->u.putack.ibpam_rd);
		break;
	case O2_MSG_GET_REQ:
		get_lnet(&from->hdr, &msg->u.get.hdr);
		msg->u.get.ibgm_cookie = from->cookie;
		get_desc(&from->rd, &msg->u.get.ibgm_rd);
		break;
	default:
		msg->u.completion.ibcm_cookie = from->cookie;
		msg->u.completion.ibcm_status = from->ibcm_status;
		break;
	}
}

/* Kiovs and ranges have a member more than the reference's, so they are copied; iovs are the same. */
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
