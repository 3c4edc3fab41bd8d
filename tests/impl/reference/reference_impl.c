/* SPDX-License-Identifier: MIT */
/*
 * The reference behind o2ref/impl.h, as a shared object: `o2ref check` of it compares the reference with
 * itself, by way of everything that stands between (tests/system/test_oracle.py, tests/bench).  Built with
 * the deliberate defects of tests/mutants/ it is as many wrong implementations; the environment variable
 * O2_MUTANT chooses one.
 */
#include <stdio.h>
#include <stdlib.h>

#include "oracle/answer.h"
#include "props/engine/mutant.h"
#include "tests/impl/reference/reference_in.h"

/* One question at a time: the functions are not called from several threads. */
static struct o2_case asked;
static struct o2_answer answer;

/* Ask the reference; true when there is a result to be copied, else *status is what to return. */
static bool ask(enum o2_stage stage, struct o2_impl_refusal *refusal, int32_t *status)
{
	asked.stage = stage;
	o2_answer_of_reference(&asked, &answer);
	*status = O2_IMPL_OK;
	if (answer.kind == O2_ANSWER_RESULT)
		return true;
	*status = O2_IMPL_REFUSED;
	refusal->error = (uint32_t)answer.refusal.error;
	refusal->cost = answer.refusal.cost;
	refusal->where = answer.refusal.where;
	refusal->index = answer.refusal.index;
	snprintf(refusal->name, sizeof(refusal->name), "%s", answer.refusal.name);
	return false;
}

static void put_lnet(const struct o2_lnet_hdr *from, struct o2_impl_lnet_hdr *hdr)
{
	const struct o2_lnet_handle *wmd = &from->msg.reply.dst_wmd;

	hdr->dest_nid = from->dest_nid;
	hdr->src_nid = from->src_nid;
	hdr->dest_pid = from->dest_pid;
	hdr->src_pid = from->src_pid;
	hdr->type = from->type;
	hdr->payload_length = from->payload_length;
	if (from->type == O2_LNET_ACK) {
		wmd = &from->msg.ack.dst_wmd;
		hdr->match_bits = from->msg.ack.match_bits;
		hdr->mlength = from->msg.ack.mlength;
	} else if (from->type == O2_LNET_PUT) {
		wmd = &from->msg.put.ack_wmd;
		hdr->match_bits = from->msg.put.match_bits;
		hdr->hdr_data = from->msg.put.hdr_data;
		hdr->ptl_index = from->msg.put.ptl_index;
		hdr->offset = from->msg.put.offset;
	} else if (from->type == O2_LNET_GET) {
		wmd = &from->msg.get.return_wmd;
		hdr->match_bits = from->msg.get.match_bits;
		hdr->ptl_index = from->msg.get.ptl_index;
		hdr->src_offset = from->msg.get.src_offset;
		hdr->sink_length = from->msg.get.sink_length;
	}
	hdr->wmd_interface_cookie = wmd->wh_interface_cookie;
	hdr->wmd_object_cookie = wmd->wh_object_cookie;
}

static void put_frags(const struct o2_rdma_frag *from, uint32_t count, struct o2_impl_frag *frag)
{
	for (uint32_t i = 0; i < count; i++)
		frag[i] = (struct o2_impl_frag){.rf_addr = from[i].rf_addr, .rf_nob = from[i].rf_nob};
}

static void put_desc(const struct o2_rdma_desc *from, struct o2_impl_desc *desc)
{
	desc->rd_key = from->rd_key;
	desc->rd_nfrags = from->rd_nfrags;
	put_frags(from->rd_frags, from->rd_nfrags, desc->rd_frags);
}

static void put_body(const struct o2_msg *msg, struct o2_impl_msg *out)
{
	switch (msg->ibm_type) {
	case O2_MSG_CONNREQ:
	case O2_MSG_CONNACK:
		out->ibcp_queue_depth = msg->u.connparams.ibcp_queue_depth;
		out->ibcp_max_frags = msg->u.connparams.ibcp_max_frags;
		out->ibcp_max_msg_size = msg->u.connparams.ibcp_max_msg_size;
		break;
	case O2_MSG_IMMEDIATE:
		put_lnet(&msg->u.immediate.hdr, &out->hdr);
		memcpy(out->payload, msg->u.immediate.payload, msg->u.immediate.hdr.payload_length);
		break;
	case O2_MSG_PUT_REQ:
		put_lnet(&msg->u.putreq.hdr, &out->hdr);
		out->cookie = msg->u.putreq.ibprm_cookie;
		break;
	case O2_MSG_PUT_ACK:
		out->ibpam_src_cookie = msg->u.putack.ibpam_src_cookie;
		out->ibpam_dst_cookie = msg->u.putack.ibpam_dst_cookie;
		put_desc(&msg->u.putack.ibpam_rd, &out->rd);
		break;
	case O2_MSG_GET_REQ:
		put_lnet(&msg->u.get.hdr, &out->hdr);
		out->cookie = msg->u.get.ibgm_cookie;
		put_desc(&msg->u.get.ibgm_rd, &out->rd);
		break;
	default:
		out->cookie = msg->u.completion.ibcm_cookie;
		out->ibcm_status = msg->u.completion.ibcm_status;
		break;
	}
}

static int32_t msg_decode(const struct o2_impl_msg_decode_in *in, struct o2_impl_msg *out,
			  struct o2_impl_refusal *refusal)
{
	const struct o2_msg *msg = &answer.msg_decode.msg;
	int32_t status;

	get_options(&in->options, &asked.msg_decode.options);
	asked.msg_decode.length_bytes = (uint32_t)in->length_bytes;
	memcpy(asked.msg_decode.bytes, in->bytes, in->length_bytes);
	if (!ask(O2_STAGE_MSG_DECODE, refusal, &status))
		return status;
	out->big_endian = msg->order == O2_BIG_ENDIAN;
	out->ibm_version = msg->ibm_version;
	out->ibm_type = msg->ibm_type;
	out->ibm_credits = msg->ibm_credits;
	out->ibm_nob = msg->ibm_nob;
	out->cksum_flavour = (uint8_t)msg->cksum_flavour;
	out->ibm_srcnid = msg->ibm_srcnid;
	out->ibm_srcstamp = msg->ibm_srcstamp;
	out->ibm_dstnid = msg->ibm_dstnid;
	out->ibm_dststamp = msg->ibm_dststamp;
	put_body(msg, out);
	return status;
}

static int32_t msg_encode(const struct o2_impl_msg_encode_in *in, struct o2_impl_bytes *out,
			  struct o2_impl_refusal *refusal)
{
	int32_t status;

	get_options(&in->options, &asked.msg_encode.options);
	get_message(&in->msg, &asked.msg_encode.msg);
	asked.msg_encode.capacity_bytes = (uint32_t)out->capacity_bytes;
	if (!ask(O2_STAGE_MSG_ENCODE, refusal, &status))
		return status;
	out->length_bytes = answer.msg_encode.length_bytes;
	memcpy(out->bytes, answer.msg_encode.bytes, out->length_bytes);
	return status;
}

static int32_t sg_build(const struct o2_impl_sg_in *in, struct o2_impl_sg_list *out,
			struct o2_impl_refusal *refusal)
{
	int32_t status;

	asked.sg.max_entries = in->max_entries;
	get_memory(&in->buffer, &in->space, &asked.sg.memory);
	if (!ask(O2_STAGE_SG_BUILD, refusal, &status))
		return status;
	out->count = answer.sg.count;
	out->gaps = answer.sg.gaps;
	out->nob = answer.sg.nob;
	for (uint32_t i = 0; i < out->count; i++)
		out->entry[i] = (struct o2_impl_sg_entry){.page = answer.sg.entry[i].page,
							  .offset = answer.sg.entry[i].offset,
							  .length = answer.sg.entry[i].length};
	return status;
}

static int32_t dma_map(const struct o2_impl_dma_in *in, struct o2_impl_dma_list *out,
		       struct o2_impl_refusal *refusal)
{
	int32_t status;

	get_list(&in->list, &asked.dma.list);
	get_device(&in->device, &asked.dma.device.device);
	if (!ask(O2_STAGE_DMA_MAP, refusal, &status))
		return status;
	out->count = answer.dma.count;
	out->nob = answer.dma.nob;
	for (uint32_t i = 0; i < out->count; i++)
		out->segment[i] = (struct o2_impl_segment){.addr = answer.dma.segment[i].addr,
							   .length = answer.dma.segment[i].length};
	return status;
}

static void put_plan(const struct o2_reg_plan *plan, struct o2_impl_reg_plan *out)
{
	out->remote_write = (plan->access & O2_ACCESS_REMOTE_WRITE) != 0;
	out->page_offset = plan->page_offset;
	out->iova = plan->iova;
	out->length = plan->length;
	out->npages = plan->npages;
	memcpy(out->page, plan->page, plan->npages * sizeof(plan->page[0]));
	out->nentries = plan->nentries;
	for (uint32_t i = 0; i < plan->nentries; i++)
		out->entry[i] = (struct o2_impl_segment){.addr = plan->entry[i].addr,
							 .length = plan->entry[i].length};
	out->nfrags = plan->nfrags;
	put_frags(plan->frag, plan->nfrags, out->frag);
}

static int32_t reg_plan(const struct o2_impl_reg_in *in, struct o2_impl_reg_plan *out,
			struct o2_impl_refusal *refusal)
{
	int32_t status;

	get_reg(in, &asked.reg);
	if (ask(O2_STAGE_REG_PLAN, refusal, &status))
		put_plan(&answer.reg, out);
	return status;
}

static void put_work(const struct o2_rdma_plan *plan, struct o2_impl_rdma_plan *out)
{
	out->lkey = plan->lkey;
	out->rkey = plan->rkey;
	out->nob = plan->nob;
	out->nwr = plan->nwr;
	for (uint32_t i = 0; i < plan->nwr; i++)
		out->wr[i] = (struct o2_impl_wr){.remote_addr = plan->wr[i].remote_addr,
						 .length = plan->wr[i].length,
						 .first_sge = plan->wr[i].first_sge,
						 .num_sge = plan->wr[i].num_sge};
	out->nsge = plan->nsge;
	for (uint32_t i = 0; i < plan->nsge; i++)
		out->sge[i] =
			(struct o2_impl_segment){.addr = plan->sge[i].addr, .length = plan->sge[i].length};
}

static int32_t rdma_plan(const struct o2_impl_rdma_in *in, struct o2_impl_rdma_plan *out,
			 struct o2_impl_refusal *refusal)
{
	int32_t status;

	get_desc(&in->source, &asked.rdma.source);
	get_desc(&in->sink, &asked.rdma.sink);
	asked.rdma.nob = in->nob;
	asked.rdma.limits =
		(struct o2_rdma_limits){.max_wrs = in->limits.max_wrs, .wrq_sge = in->limits.wrq_sge};
	if (ask(O2_STAGE_RDMA_PLAN, refusal, &status))
		put_work(&answer.rdma, out);
	return status;
}

static int32_t transfer(const struct o2_impl_transfer_in *in, struct o2_impl_transfer_out *out,
			struct o2_impl_refusal *refusal)
{
	int32_t status;

	asked.transfer.get = in->op == O2_IMPL_GET;
	asked.transfer.max_frags = in->max_frags;
	asked.transfer.wrq_sge = in->wrq_sge;
	get_node(&in->source, &asked.transfer.node[O2_SOURCE]);
	get_node(&in->sink, &asked.transfer.node[O2_SINK]);
	if (!ask(O2_STAGE_TRANSFER, refusal, &status))
		return status;
	put_plan(&answer.transfer.node[O2_SOURCE], &out->source);
	put_plan(&answer.transfer.node[O2_SINK], &out->sink);
	put_work(&answer.transfer.plan, &out->plan);
	return status;
}

const struct o2_impl *o2_impl_v1(void)
{
	static const struct o2_impl impl = {
		.abi_version = O2_IMPL_ABI_VERSION,
		.struct_bytes = sizeof(struct o2_impl),
		.name = "reference",
		.msg_decode = msg_decode,
		.msg_encode = msg_encode,
		.sg_build = sg_build,
		.dma_map = dma_map,
		.reg_plan = reg_plan,
		.rdma_plan = rdma_plan,
		.transfer = transfer,
	};
#ifdef O2_WITH_MUTANTS
	const char *mutant = getenv("O2_MUTANT");

	if (mutant != NULL && o2_mutant_select(mutant) != 0) {
		fprintf(stderr, "there is no defect '%s'\n", mutant);
		return NULL;
	}
#endif
	return &impl;
}
