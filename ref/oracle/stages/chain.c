/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "oracle/stage_ops.h"
#include "rdma/post.h"

/*
 * Stage rdma_chain: a chain of work requests as it is posted, i.e. the writes of a transfer followed by the
 * message that reports their completion (docs/oracle.md, "A chain").
 */

static const struct o2_field gather_fields[] = {
	{O2_FIELD("chain.sge[].addr", HEX, struct o2_impl_gather, addr)},
	{O2_FIELD("chain.sge[].length", UINT, struct o2_impl_gather, length)},
	{O2_FIELD("chain.sge[].lkey", HEX, struct o2_impl_gather, lkey)},
	{0},
};

static_assert(offsetof(struct o2_case_chain, rdma) == 0, "the table of rdma_plan's question is for both");

static const struct o2_field *rdma_fields(const void *chain)
{
	(void)chain;
	return o2_rdma_input_fields;
}

static const struct o2_field question_fields[] = {
	{.name = "rdma", .kind = O2_FIELD_MORE, .more = rdma_fields},
	{O2_FIELD("message", PART, struct o2_case_chain, message), .part = gather_fields,
	 .inside = (const char *const[]){"message.addr", "message.length", "message.lkey", NULL}},
	{0},
};

static const char *const opcodes[] = {"write", "send"};

static const struct o2_field wr_fields[] = {
	{O2_FIELD("chain.wr[].opcode", NAME, struct o2_impl_chain_wr, opcode), .names = opcodes, .limit = 2},
	{O2_FIELD("chain.wr[].signaled", BOOL, struct o2_impl_chain_wr, signaled)},
	{O2_FIELD("chain.wr[].remote_addr", HEX, struct o2_impl_chain_wr, remote_addr)},
	{O2_FIELD("chain.wr[].rkey", HEX, struct o2_impl_chain_wr, rkey)},
	{O2_FIELD("chain.wr[].first_sge", UINT, struct o2_impl_chain_wr, first_sge)},
	{O2_FIELD("chain.wr[].num_sge", UINT, struct o2_impl_chain_wr, num_sge)},
	{0},
};

static const struct o2_field result_fields[] = {
	O2_STAGE_LIST("chain.wr", struct o2_answer_chain, wr, nwr, wr_fields),
	O2_STAGE_LIST("chain.sge", struct o2_answer_chain, sge, nsge, gather_fields),
	{0},
};

O2_STAGE_CALL(rdma_chain, chain)

static void put(const struct o2_case *asked, struct o2_impl_slot *slot)
{
	struct o2_impl_chain *out = &slot->out->chain;

	o2_impl_put_rdma(&asked->chain.rdma, slot, &slot->in->chain.rdma);
	slot->in->chain.message = asked->chain.message;
	out->wr_capacity = O2_CHAIN_WRS;
	out->wr = o2_impl_slot_array(slot, O2_PART_WR, "wr", O2_CHAIN_WRS, sizeof(out->wr[0]));
	out->sge_capacity = O2_CHAIN_SGE;
	out->sge = o2_impl_slot_array(slot, O2_PART_SGE, "sge", O2_CHAIN_SGE, sizeof(out->sge[0]));
}

static void get(const struct o2_case *asked, struct o2_impl_slot *slot, struct o2_answer *answer)
{
	const struct o2_impl_chain *from = &slot->out->chain;
	const void *wr = o2_impl_take(slot, O2_PART_WR, from->nwr, sizeof(from->wr[0]), answer);
	const void *sge =
		wr == NULL ? NULL : o2_impl_take(slot, O2_PART_SGE, from->nsge, sizeof(from->sge[0]), answer);

	(void)asked;
	if (sge == NULL)
		return;
	answer->chain.nwr = from->nwr;
	answer->chain.nsge = from->nsge;
	memcpy(answer->chain.wr, wr, from->nwr * sizeof(from->wr[0]));
	memcpy(answer->chain.sge, sge, from->nsge * sizeof(from->sge[0]));
	for (uint32_t i = 0; i < from->nwr; i++)
		if (!o2_result_is_legal(wr_fields, &answer->chain.wr[i], answer))
			return;
}

/* --- the reference --- */

struct posted {
	struct o2_rdma_plan plan;
	struct ibv_send_wr wr[O2_CHAIN_WRS];
	struct ibv_sge sge[O2_CHAIN_SGE];
};

static void take_chain(const struct o2_post_chain *from, struct o2_answer_chain *chain)
{
	chain->nwr = from->nwr;
	chain->nsge = from->nsge;
	for (uint32_t i = 0; i < from->nwr; i++) {
		const struct ibv_send_wr *wr = &from->wr[i];
		const bool writes = wr->opcode == IBV_WR_RDMA_WRITE;

		chain->wr[i] = (struct o2_impl_chain_wr){
			.remote_addr = writes ? wr->wr.rdma.remote_addr : 0,
			.rkey = writes ? wr->wr.rdma.rkey : 0,
			.opcode = writes ? O2_IMPL_WRITE : O2_IMPL_SEND,
			.signaled = (wr->send_flags & IBV_SEND_SIGNALED) != 0,
			.first_sge = (uint32_t)(wr->sg_list - from->sge),
			.num_sge = (uint32_t)wr->num_sge,
		};
	}
	for (uint32_t i = 0; i < from->nsge; i++)
		chain->sge[i] = (struct o2_impl_gather){
			.addr = from->sge[i].addr, .length = from->sge[i].length, .lkey = from->sge[i].lkey};
}

static int reference(const struct o2_case *asked, struct o2_answer *answer, struct o2_error *error)
{
	const struct o2_rdma_input *in = &asked->chain.rdma;
	const struct o2_post_message message = {.addr = asked->chain.message.addr,
						.length = asked->chain.message.length,
						.lkey = asked->chain.message.lkey};
	struct posted *posted = malloc(sizeof(*posted));
	struct o2_post_chain chain;
	int rc;

	if (posted == NULL)
		return o2_fail(error, -ENOMEM, "chain/memory", "bytes", sizeof(*posted));
	chain = (struct o2_post_chain){.wr = posted->wr,
				       .sge = posted->sge,
				       .wr_capacity = O2_CHAIN_WRS,
				       .sge_capacity = O2_CHAIN_SGE};
	rc = o2_rdma_plan(&in->source, &in->sink, in->nob, &in->limits, &posted->plan, error);
	if (rc == 0) {
		o2_chain_add_plan(&chain, &posted->plan, 0);
		o2_chain_add_message(&chain, &message, 0);
		take_chain(&chain, &answer->chain);
	}
	free(posted);
	return rc;
}

/* --- comparison of two answers --- */

static void compare_message(struct o2_comparison *comparison, const struct o2_case_chain *asked,
			    const struct o2_answer_chain *found)
{
	const struct o2_impl_chain_wr *wr = &found->wr[found->nwr - 1];
	const struct o2_impl_gather *sge;

	if (wr->num_sge != 1) {
		o2_differ(comparison, O2_CHECK_CHAIN_MESSAGE_BYTES, "wr[].num_sge", found->nwr - 1, 1,
			  wr->num_sge);
		return;
	}
	if (found->nsge == 0) {
		o2_differ(comparison, O2_CHECK_CHAIN_MESSAGE_BYTES, "nsge", O2_NO_INDEX, 1, 0);
		return;
	}
	if (wr->first_sge >= found->nsge) {
		o2_differ(comparison, O2_CHECK_CHAIN_MESSAGE_BYTES, "wr[].first_sge", found->nwr - 1,
			  found->nsge - 1, wr->first_sge);
		return;
	}
	sge = &found->sge[wr->first_sge];
	o2_expect_hex(comparison, O2_CHECK_CHAIN_MESSAGE_BYTES, "sge[].addr", wr->first_sge,
		      asked->message.addr, sge->addr);
	o2_expect(comparison, O2_CHECK_CHAIN_MESSAGE_BYTES, "sge[].length", wr->first_sge,
		  asked->message.length, sge->length);
	o2_expect_hex(comparison, O2_CHECK_CHAIN_MESSAGE_BYTES, "sge[].lkey", wr->first_sge,
		      asked->message.lkey, sge->lkey);
}

static_assert(sizeof(((struct o2_rdma_plan *)NULL)->sge) / sizeof(struct o2_rdma_sge) == O2_CHAIN_SGE - 1,
	      "a plan holds all that a chain gathers but the message");

bool o2_chain_writes(const struct o2_case_chain *asked, const struct o2_answer_chain *chain,
		     struct o2_rdma_plan *plan)
{
	/* The arrays are too long to be cleared for each check. */
	plan->lkey = asked->rdma.source.rd_key;
	plan->rkey = asked->rdma.sink.rd_key;
	plan->nob = plan->nwr = plan->nsge = 0;
	for (uint32_t i = 0; i < chain->nwr; i++)
		if ((chain->wr[i].opcode == O2_IMPL_SEND) != (i == chain->nwr - 1))
			return false;
	if (chain->nwr == 0)
		return false;
	plan->nwr = chain->nwr - 1;
	for (uint32_t i = 0; i < plan->nwr; i++) {
		const struct o2_impl_chain_wr *wr = &chain->wr[i];
		uint64_t length = 0;

		for (uint64_t k = wr->first_sge; k < chain->nsge && k - wr->first_sge < wr->num_sge; k++)
			length += chain->sge[k].length;
		plan->wr[i] = (struct o2_rdma_wr){.remote_addr = wr->remote_addr,
						  .length = (uint32_t)length,
						  .first_sge = wr->first_sge,
						  .num_sge = wr->num_sge};
		plan->nob += length;
	}
	plan->nsge = chain->nsge > 0 ? chain->nsge - 1 : 0;
	for (uint32_t i = 0; i < plan->nsge; i++)
		plan->sge[i] =
			(struct o2_rdma_sge){.addr = chain->sge[i].addr, .length = chain->sge[i].length};
	return true;
}

/* All writes must have the sink's rkey, and their gather entries the source's lkey. */
static void compare_keys(struct o2_comparison *comparison, const struct o2_answer_chain *chain,
			 const struct o2_rdma_plan *plan)
{
	for (uint32_t i = 0; i < plan->nwr; i++)
		o2_expect_hex(comparison, O2_CHECK_CHAIN_WRITES, "wr[].rkey", i, plan->rkey,
			      chain->wr[i].rkey);
	for (uint32_t i = 0; i < plan->nsge; i++)
		o2_expect_hex(comparison, O2_CHECK_CHAIN_WRITES, "sge[].lkey", i, plan->lkey,
			      chain->sge[i].lkey);
}

static void compare(struct o2_comparison *comparison, const struct o2_case *asked,
		    const struct o2_answer *expected, const struct o2_answer *found)
{
	const struct o2_answer_chain *chain = &found->chain;
	static struct o2_rdma_plan right;

	for (uint32_t i = 0; i < chain->nwr; i++) {
		const bool last = i == chain->nwr - 1;

		if ((chain->wr[i].opcode == O2_IMPL_SEND) != last) {
			o2_differ(comparison, O2_CHECK_CHAIN_MESSAGE_LAST, "wr[].opcode", i, last,
				  chain->wr[i].opcode);
			return;
		}
		if ((chain->wr[i].signaled != 0) != last)
			o2_differ(comparison, O2_CHECK_CHAIN_SIGNALED, "wr[].signaled", i, last,
				  chain->wr[i].signaled);
	}
	if (chain->nwr == 0) {
		o2_differ(comparison, O2_CHECK_CHAIN_MESSAGE_LAST, "nwr", O2_NO_INDEX, expected->chain.nwr,
			  0);
		return;
	}
	compare_message(comparison, &asked->chain, chain);
	(void)o2_chain_writes(&asked->chain, &expected->chain, &right);
	(void)o2_chain_writes(&asked->chain, chain, &comparison->exact.rdma);
	compare_keys(comparison, chain, &comparison->exact.rdma);
	o2_compare_rdma(comparison, &asked->chain.rdma, &right, &comparison->exact.rdma);
}

const struct o2_stage_ops o2_stage_chain = {
	O2_STAGE_OPS(rdma_chain, O2_CHECK_CHAIN_REFUSED_LEGAL, O2_CHECK_CHAIN_ERRNO, O2_CHECK_CHAIN_RULE,
		     O2_CHECKS, O2_CHECKS),
	.request =
		"{\"form\":\"o2ref/rdma_chain/input\",\"version\":1,\"nob\":512,\"limits\":{\"max_wrs\":257,"
		"\"wrq_sge\":2},\"source\":{\"rd_key\":\"0x11\",\"rd_frags\":[{\"rf_nob\":512,\"rf_addr\":"
		"\"0x1000\"}]},\"sink\":{\"rd_key\":\"0x22\",\"rd_frags\":[{\"rf_nob\":512,\"rf_addr\":"
		"\"0x1000\"}]},\"message\":{\"addr\":\"0x8000\",\"length\":60,\"lkey\":\"0x33\"}}",
	O2_STAGE_QUESTION(chain),
	O2_STAGE_RESULT(chain),
	.member = "chain",
	.compare = compare,
};
