/* SPDX-License-Identifier: MIT */
#include "second.h"

/* rdma_chain: the writes of rdma_plan, with their keys, followed by the message. */

int32_t second_rdma_chain(const struct o2_impl_chain_in *in, struct o2_impl_chain *out,
			  struct o2_impl_refusal *refusal)
{
	static struct o2_impl_wr write[O2_IMPL_MAX_FRAGS];
	static struct o2_impl_segment piece[O2_IMPL_MAX_FRAGS * O2_IMPL_MAX_WRQ_SGE];
	struct o2_impl_rdma_plan plan = {.wr = write, .sge = piece};
	int32_t status = second_rdma_plan(&in->rdma, &plan, refusal);

	if (status != O2_IMPL_OK)
		return status;
	for (uint32_t i = 0; i < plan.nwr; i++)
		out->wr[i] = (struct o2_impl_chain_wr){
			.opcode = O2_IMPL_WRITE,
			.remote_addr = write[i].remote_addr,
			.rkey = in->rdma.sink.rd_key,
			.first_sge = write[i].first_sge,
			.num_sge = write[i].num_sge,
		};
	for (uint32_t i = 0; i < plan.nsge; i++)
		out->sge[i] = (struct o2_impl_gather){
			.addr = piece[i].addr, .length = piece[i].length, .lkey = in->rdma.source.rd_key};
	out->wr[plan.nwr] = (struct o2_impl_chain_wr){
		.opcode = O2_IMPL_SEND, .signaled = 1, .first_sge = plan.nsge, .num_sge = 1};
	out->sge[plan.nsge] = in->message;
	out->nwr = plan.nwr + 1;
	out->nsge = plan.nsge + 1;
	return O2_IMPL_OK;
}
