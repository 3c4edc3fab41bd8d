/* SPDX-License-Identifier: MIT */
/*
 * The reference as a shared object with the ABI of o2ref/impl.h.  `o2ref check` of this object compares the
 * reference with itself, and so tests the conversions in between (tests/system/test_oracle.py, tests/bench).
 * If it is built with the deliberate defects of tests/mutants/, the environment variable O2_MUTANT selects
 * the defect.
 */
#include <stdio.h>
#include <stdlib.h>

#include "oracle/answer.h"
#include "props/engine/mutant.h"
#include "tests/impl/reference/reference_in.h"

/* These may be static: the functions are not called from several threads. */
static struct o2_case asked;
static struct o2_answer answer;

/* Ask the reference.  True: there is a result to copy; false: the stage function must return *status. */
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

static void put_frags(const struct o2_rdma_frag *from, uint32_t count, struct o2_impl_frag *frag)
{
	for (uint32_t i = 0; i < count; i++)
		frag[i] = (struct o2_impl_frag){.rf_addr = from[i].rf_addr, .rf_nob = from[i].rf_nob};
}

static int32_t msg_decode(const struct o2_impl_msg_decode_in *in, struct o2_impl_msg *out,
			  struct o2_impl_refusal *refusal)
{
	const struct o2_msg *msg = &answer.msg_decode.msg;
	const struct o2_rdma_desc *desc;
	int32_t status;

	get_options(&in->options, &asked.msg_decode.options);
	asked.msg_decode.length_bytes = (uint32_t)in->length_bytes;
	memcpy(asked.msg_decode.bytes, in->bytes, in->length_bytes);
	if (!ask(O2_STAGE_MSG_DECODE, refusal, &status))
		return status;
	desc = o2_msg_desc(msg);
	o2_impl_put_msg(msg, out);
	if (desc != NULL) {
		out->rd.rd_nfrags = desc->rd_nfrags;
		put_frags(desc->rd_frags, desc->rd_nfrags, out->rd.rd_frags);
	}
	if (msg->ibm_type == O2_MSG_IMMEDIATE)
		memcpy(out->payload, msg->u.immediate.payload, msg->u.immediate.hdr.payload_length);
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

	get_rdma(in, &asked.rdma);
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

static int32_t device(const struct o2_impl_device_in *in, struct o2_impl_device_out *out,
		      struct o2_impl_refusal *refusal)
{
	int32_t status;

	asked.device = *in;
	if (ask(O2_STAGE_DEVICE, refusal, &status))
		*out = answer.device;
	return status;
}

static int32_t rdma_chain(const struct o2_impl_chain_in *in, struct o2_impl_chain *out,
			  struct o2_impl_refusal *refusal)
{
	int32_t status;

	get_rdma(&in->rdma, &asked.chain.rdma);
	asked.chain.message = in->message;
	if (!ask(O2_STAGE_RDMA_CHAIN, refusal, &status))
		return status;
	out->nwr = answer.chain.nwr;
	memcpy(out->wr, answer.chain.wr, out->nwr * sizeof(out->wr[0]));
	out->nsge = answer.chain.nsge;
	memcpy(out->sge, answer.chain.sge, out->nsge * sizeof(out->sge[0]));
	return status;
}

static int32_t connect(const struct o2_impl_connect_in *in, struct o2_impl_connect_out *out,
		       struct o2_impl_refusal *refusal)
{
	int32_t status;

	asked.connect.in = *in;
	memcpy(asked.connect.bytes, in->bytes, in->length_bytes);
	if (ask(O2_STAGE_CONNECT, refusal, &status))
		*out = answer.connect;
	return status;
}

static int32_t deliver(const struct o2_impl_deliver_in *in, struct o2_impl_deliver_out *out,
		       struct o2_impl_refusal *refusal)
{
	int32_t status;

	asked.deliver.in = *in;
	memcpy(asked.deliver.bytes, in->bytes, in->length_bytes);
	if (ask(O2_STAGE_DELIVER, refusal, &status))
		*out = answer.deliver;
	return status;
}

static int32_t keys(const struct o2_impl_keys_in *in, struct o2_impl_keys_out *out,
		    struct o2_impl_refusal *refusal)
{
	int32_t status;

	asked.keys = (struct o2_case_keys){
		.order = in->order, .lkey = in->lkey, .rkey = in->rkey, .count = in->count};
	memcpy(asked.keys.event, in->event, in->count * sizeof(in->event[0]));
	if (ask(O2_STAGE_KEYS, refusal, &status)) {
		out->count = answer.keys.count;
		memcpy(out->step, answer.keys.step, out->count * sizeof(out->step[0]));
	}
	return status;
}

static int32_t send_plan(const struct o2_impl_send_in *in, struct o2_impl_send_out *out,
			 struct o2_impl_refusal *refusal)
{
	int32_t status;

	asked.send.max_msg_size = in->max_msg_size;
	asked.send.max_frags = in->max_frags;
	asked.send.max_sge = in->max_sge;
	asked.send.slot_addr = in->slot_addr;
	asked.send.slot_lkey = in->slot_lkey;
	get_message(&in->msg, &asked.send.msg);
	get_node(&in->memory, &asked.send.memory);
	if (!ask(O2_STAGE_SEND_PLAN, refusal, &status))
		return status;
	out->slot.length_bytes = answer.send.slot.length_bytes;
	memcpy(out->slot.bytes, answer.send.slot.bytes, out->slot.length_bytes);
	out->nsge = answer.send.nsge;
	memcpy(out->sge, answer.send.sge, out->nsge * sizeof(out->sge[0]));
	put_plan(&answer.send.plan, &out->plan);
	return status;
}

static int32_t setup(const struct o2_impl_setup_in *in, struct o2_impl_setup_out *out,
		     struct o2_impl_refusal *refusal)
{
	int32_t status;

	asked.setup = (struct o2_case_setup){.mode = in->mode,
					     .queue_depth = in->queue_depth,
					     .tx_count = in->tx_count,
					     .pool_size = in->pool_size,
					     .error = in->error,
					     .count = in->count};
	memcpy(asked.setup.round, in->round, in->count * sizeof(in->round[0]));
	if (ask(O2_STAGE_SETUP, refusal, &status)) {
		out->count = answer.setup.count;
		memcpy(out->event, answer.setup.event, out->count * sizeof(out->event[0]));
	}
	return status;
}

static int32_t flow(const struct o2_impl_flow_in *in, struct o2_impl_flow_out *out,
		    struct o2_impl_refusal *refusal)
{
	int32_t status;

	asked.flow = (struct o2_case_flow){.ibm_version = in->ibm_version,
					   .queue_depth = in->queue_depth,
					   .high_water = in->high_water,
					   .concurrent_sends = in->concurrent_sends,
					   .keepalive_ms = in->keepalive_ms,
					   .count = in->count};
	memcpy(asked.flow.event, in->event, in->count * sizeof(in->event[0]));
	if (ask(O2_STAGE_FLOW, refusal, &status)) {
		out->count = answer.flow.count;
		memcpy(out->step, answer.flow.step, out->count * sizeof(out->step[0]));
	}
	return status;
}

const struct o2_impl_2 *o2_impl_v2(void)
{
	static const struct o2_impl_2 impl = {
		O2_IMPL_2_HEAD("reference"), .device = device,	 .rdma_chain = rdma_chain,
		.connect = connect,	     .deliver = deliver, .keys = keys,
		.send_plan = send_plan,	     .setup = setup,	 .flow = flow};

	return &impl;
}

const struct o2_impl *o2_impl_v1(void)
{
	static const struct o2_impl impl = {
		O2_IMPL_HEAD("reference"), .msg_decode = msg_decode, .msg_encode = msg_encode,
		.sg_build = sg_build,	   .dma_map = dma_map,	     .reg_plan = reg_plan,
		.rdma_plan = rdma_plan,	   .transfer = transfer,
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
