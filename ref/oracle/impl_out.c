/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "oracle/stage_ops.h"

/*
 * Read answers from the out structs of o2ref/impl.h.  Slots are untrusted: counts are checked, and arrays are
 * read at the addresses that the oracle chose, since the implementation may have changed the pointers.
 */

#define ERRNO_LIMIT 4095u

const void *o2_impl_take(struct o2_impl_slot *slot, enum o2_impl_part part, uint64_t count, uint32_t size,
			 struct o2_answer *answer)
{
	struct o2_impl_array *array = &slot->array[part - O2_PART_ARRAYS];

	if (count > array->bytes / size) {
		o2_answer_break(answer, O2_CHECK_RUN_COUNT_OVER_CAPACITY,
				"the answer counts %llu in array %s, capacity %u", (unsigned long long)count,
				array->name, array->bytes / size);
		return NULL;
	}
	array->used = (uint32_t)count * size;
	return array->start;
}

static bool is_flag(uint32_t value, const char *field, struct o2_answer *answer)
{
	if (value <= 1)
		return true;
	o2_answer_break(answer, O2_CHECK_RUN_VALUE, "%s is %u, expected 0 or 1", field, value);
	return false;
}

static void get_frags(struct o2_impl_slot *slot, const struct o2_impl_desc *from, struct o2_rdma_desc *desc,
		      struct o2_answer *answer)
{
	const struct o2_impl_frag *frag =
		o2_impl_take(slot, O2_PART_A, from->rd_nfrags, sizeof(*frag), answer);

	if (frag == NULL)
		return;
	desc->rd_nfrags = from->rd_nfrags;
	for (uint32_t i = 0; i < desc->rd_nfrags; i++)
		desc->rd_frags[i] =
			(struct o2_rdma_frag){.rf_nob = frag[i].rf_nob, .rf_addr = frag[i].rf_addr};
}

static void get_payload(struct o2_impl_slot *slot, const struct o2_impl_msg *from, struct o2_answer *answer)
{
	struct o2_answer_msg *out = &answer->msg_decode;
	const uint8_t *payload = o2_impl_take(slot, O2_PART_B, from->hdr.payload_length, 1, answer);

	if (payload == NULL)
		return;
	memcpy(out->payload, payload, from->hdr.payload_length);
	out->msg.u.immediate.payload = out->payload;
}

static void get_message(struct o2_impl_slot *slot, const struct o2_impl_msg *from, struct o2_answer *answer)
{
	struct o2_msg *msg = &answer->msg_decode.msg;

	if (!is_flag(from->big_endian, "big_endian", answer))
		return;
	if (from->cksum_flavour > O2_IMPL_CKSUM_UNVERIFIED) {
		o2_answer_break(answer, O2_CHECK_RUN_VALUE, "cksum_flavour is %u, expected at most %u",
				from->cksum_flavour, O2_IMPL_CKSUM_UNVERIFIED);
		return;
	}
	o2_impl_get_msg(from, msg);
	if (msg->ibm_type == O2_MSG_PUT_ACK)
		get_frags(slot, &from->rd, &msg->u.putack.ibpam_rd, answer);
	if (msg->ibm_type == O2_MSG_GET_REQ)
		get_frags(slot, &from->rd, &msg->u.get.ibgm_rd, answer);
	if (msg->ibm_type == O2_MSG_IMMEDIATE)
		get_payload(slot, from, answer);
}

static void get_bytes(struct o2_impl_slot *slot, const struct o2_impl_bytes *from, struct o2_answer *answer)
{
	const uint8_t *bytes = o2_impl_take(slot, O2_PART_A, from->length_bytes, 1, answer);

	if (bytes == NULL)
		return;
	answer->msg_encode.length_bytes = (uint32_t)from->length_bytes;
	memcpy(answer->msg_encode.bytes, bytes, from->length_bytes);
}

static void get_list(struct o2_impl_slot *slot, const struct o2_impl_sg_list *from, struct o2_answer *answer)
{
	const struct o2_impl_sg_entry *entry =
		o2_impl_take(slot, O2_PART_A, from->count, sizeof(*entry), answer);

	if (entry == NULL || !is_flag(from->gaps, "gaps", answer))
		return;
	answer->sg.count = from->count;
	answer->sg.gaps = from->gaps != 0;
	answer->sg.nob = from->nob;
	for (uint32_t i = 0; i < from->count; i++)
		answer->sg.entry[i] = (struct o2_sg_entry){
			.page = entry[i].page, .offset = entry[i].offset, .length = entry[i].length};
}

static void get_segments(struct o2_impl_slot *slot, const struct o2_impl_dma_list *from,
			 struct o2_answer *answer)
{
	const struct o2_impl_segment *segment =
		o2_impl_take(slot, O2_PART_A, from->count, sizeof(*segment), answer);

	if (segment == NULL)
		return;
	answer->dma.count = from->count;
	answer->dma.nob = from->nob;
	for (uint32_t i = 0; i < from->count; i++)
		answer->dma.segment[i] =
			(struct o2_dma_segment){.addr = segment[i].addr, .length = segment[i].length};
}

void o2_impl_get_plan(struct o2_impl_slot *slot, const struct o2_impl_reg_plan *from, enum o2_impl_part first,
		      enum o2_side side, struct o2_reg_plan *plan, struct o2_answer *answer)
{
	const uint64_t *page = o2_impl_take(slot, first, from->npages, sizeof(*page), answer);
	const struct o2_impl_segment *entry =
		o2_impl_take(slot, first + 1, from->nentries, sizeof(*entry), answer);
	const struct o2_impl_frag *frag = o2_impl_take(slot, first + 2, from->nfrags, sizeof(*frag), answer);

	if (page == NULL || entry == NULL || frag == NULL ||
	    !is_flag(from->remote_write, "remote_write", answer))
		return;
	plan->access = (side == O2_SINK ? O2_ACCESS_LOCAL_WRITE : 0u) |
		       (from->remote_write ? O2_ACCESS_REMOTE_WRITE : 0u);
	plan->iova = from->iova;
	plan->length = from->length;
	plan->page_offset = from->page_offset;
	plan->npages = from->npages;
	memcpy(plan->page, page, from->npages * sizeof(*page));
	plan->nentries = from->nentries;
	for (uint32_t i = 0; i < from->nentries; i++)
		plan->entry[i] = (struct o2_dma_segment){.addr = entry[i].addr, .length = entry[i].length};
	plan->nfrags = from->nfrags;
	for (uint32_t i = 0; i < from->nfrags; i++)
		plan->frag[i] = (struct o2_rdma_frag){.rf_nob = frag[i].rf_nob, .rf_addr = frag[i].rf_addr};
}

static void get_work(struct o2_impl_slot *slot, const struct o2_impl_rdma_plan *from,
		     struct o2_rdma_plan *plan, struct o2_answer *answer)
{
	const struct o2_impl_wr *wr = o2_impl_take(slot, O2_PART_WR, from->nwr, sizeof(*wr), answer);
	const struct o2_impl_segment *sge = o2_impl_take(slot, O2_PART_SGE, from->nsge, sizeof(*sge), answer);

	if (wr == NULL || sge == NULL)
		return;
	plan->lkey = from->lkey;
	plan->rkey = from->rkey;
	plan->nob = from->nob;
	plan->nwr = from->nwr;
	for (uint32_t i = 0; i < from->nwr; i++)
		plan->wr[i] = (struct o2_rdma_wr){.remote_addr = wr[i].remote_addr,
						  .length = wr[i].length,
						  .first_sge = wr[i].first_sge,
						  .num_sge = wr[i].num_sge};
	plan->nsge = from->nsge;
	for (uint32_t i = 0; i < from->nsge; i++)
		plan->sge[i] = (struct o2_rdma_sge){.addr = sge[i].addr, .length = sge[i].length};
}

/* Set the members of a plan that repeat the question. */
static void set_known(struct o2_reg_plan *plan, enum o2_reg_mode mode, enum o2_side side, uint32_t page_bytes)
{
	plan->mode = mode;
	plan->side = side;
	plan->page_bytes = page_bytes;
}

static void get_transfer(struct o2_impl_slot *slot, const struct o2_case_transfer *asked,
			 struct o2_answer *answer)
{
	const struct o2_impl_transfer_out *from = &slot->out->transfer;
	struct o2_answer_transfer *out = &answer->transfer;

	for (uint32_t i = 0; i < 2; i++)
		set_known(&out->node[i], asked->node[i].mode, (enum o2_side)i,
			  asked->node[i].memory.space.page_bytes);
	o2_impl_get_plan(slot, &from->source, O2_PART_A, O2_SOURCE, &out->node[O2_SOURCE], answer);
	if (answer->kind == O2_ANSWER_RESULT)
		o2_impl_get_plan(slot, &from->sink, O2_PART_D, O2_SINK, &out->node[O2_SINK], answer);
	if (answer->kind == O2_ANSWER_RESULT)
		get_work(slot, &from->plan, &out->plan, answer);
}

static void get_refusal(const struct o2_impl_refusal *from, struct o2_answer *answer)
{
	if (from->error == 0 || from->error > ERRNO_LIMIT) {
		o2_answer_break(answer, O2_CHECK_RUN_STATUS, "a refusal with error %u, expected an errno",
				from->error);
		return;
	}
	if (memchr(from->name, 0, sizeof(from->name)) == NULL) {
		o2_answer_break(answer, O2_CHECK_RUN_STATUS, "the refusal's name does not end");
		return;
	}
	if (from->cost > O2_IMPL_COST_CONNECTION || from->where > O2_IMPL_WHERE_WRITES) {
		o2_answer_break(answer, O2_CHECK_RUN_VALUE, "the refusal has cost %u, where %u", from->cost,
				from->where);
		return;
	}
	answer->kind = O2_ANSWER_REFUSED;
	answer->refusal.error = (int)from->error;
	answer->refusal.cost = (enum o2_answer_cost)from->cost;
	answer->refusal.where = (enum o2_answer_where)from->where;
	answer->refusal.index = from->index;
	memcpy(answer->refusal.name, from->name, sizeof(from->name));
}

static void get_result(const struct o2_case *asked, struct o2_impl_slot *slot, struct o2_answer *answer)
{
	switch (asked->stage) {
	case O2_STAGE_MSG_DECODE:
		get_message(slot, &slot->out->msg_decode, answer);
		break;
	case O2_STAGE_MSG_ENCODE:
		get_bytes(slot, &slot->out->msg_encode, answer);
		break;
	case O2_STAGE_SG_BUILD:
		get_list(slot, &slot->out->sg, answer);
		break;
	case O2_STAGE_DMA_MAP:
		get_segments(slot, &slot->out->dma, answer);
		break;
	case O2_STAGE_REG_PLAN:
		set_known(&answer->reg, asked->reg.request.mode, asked->reg.request.side,
			  asked->reg.request.page_bytes);
		o2_impl_get_plan(slot, &slot->out->reg, O2_PART_A, asked->reg.request.side, &answer->reg,
				 answer);
		break;
	case O2_STAGE_RDMA_PLAN:
		get_work(slot, &slot->out->rdma, &answer->rdma, answer);
		break;
	case O2_STAGE_TRANSFER:
	default:
		get_transfer(slot, &asked->transfer, answer);
		break;
	}
}

/* Read a result through the stage's ops, and check the rules that its field table cannot express. */
static void get_by_ops(const struct o2_stage_ops *ops, const struct o2_case *asked, struct o2_impl_slot *slot,
		       struct o2_answer *answer)
{
	struct o2_error error;
	char what[O2_ERROR_WHAT_BYTES];

	ops->get(asked, slot, answer);
	if (answer->kind != O2_ANSWER_RESULT || ops->result_check == NULL ||
	    ops->result_check(asked, answer, &error) == 0)
		return;
	o2_error_what(&error, what, sizeof(what));
	o2_answer_break(answer, O2_CHECK_RUN_VALUE, "%s", what);
}

void o2_impl_get_answer(const struct o2_case *asked, struct o2_impl_slot *slot, int32_t status,
			struct o2_answer *answer)
{
	switch (status) {
	case O2_IMPL_OK:
		answer->kind = O2_ANSWER_RESULT;
		if (o2_stage_ops(asked->stage) != NULL)
			get_by_ops(o2_stage_ops(asked->stage), asked, slot, answer);
		else
			get_result(asked, slot, answer);
		break;
	case O2_IMPL_REFUSED:
		get_refusal(slot->refusal, answer);
		break;
	case O2_IMPL_NOT_IMPLEMENTED:
		answer->kind = O2_ANSWER_NOT_IMPLEMENTED;
		break;
	default:
		o2_answer_break(answer, O2_CHECK_RUN_STATUS, "the function returned %d", status);
	}
}
