/* SPDX-License-Identifier: MIT */
#include "rdma/post.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>

struct ibv_send_wr *o2_chain_add(struct o2_post_chain *chain)
{
	struct ibv_send_wr *wr = &chain->wr[chain->nwr];

	assert(chain->nwr < chain->wr_capacity);
	*wr = (struct ibv_send_wr){.next = NULL};
	if (chain->nwr > 0)
		chain->wr[chain->nwr - 1].next = wr;
	chain->nwr++;
	return wr;
}

void o2_chain_add_requests(struct o2_post_chain *chain, const struct ibv_send_wr *wr, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		struct ibv_send_wr *added = o2_chain_add(chain), *next = added->next;

		*added = wr[i];
		added->next = next;
	}
}

static struct ibv_sge *add_sge(struct o2_post_chain *chain, uint64_t addr, uint32_t length, uint32_t lkey)
{
	struct ibv_sge *sge = &chain->sge[chain->nsge];

	assert(chain->nsge < chain->sge_capacity);
	*sge = (struct ibv_sge){.addr = addr, .length = length, .lkey = lkey};
	chain->nsge++;
	return sge;
}

void o2_chain_add_plan(struct o2_post_chain *chain, const struct o2_rdma_plan *plan, uint64_t wr_id)
{
	for (uint32_t i = 0; i < plan->nwr; i++) {
		const struct o2_rdma_wr *planned = &plan->wr[i];
		struct ibv_send_wr *wr = o2_chain_add(chain);

		wr->wr_id = wr_id;
		wr->opcode = IBV_WR_RDMA_WRITE;
		wr->wr.rdma.remote_addr = planned->remote_addr;
		wr->wr.rdma.rkey = plan->rkey;
		wr->sg_list = &chain->sge[chain->nsge];
		wr->num_sge = (int)planned->num_sge;
		for (uint32_t j = 0; j < planned->num_sge; j++) {
			const struct o2_rdma_sge *piece = &plan->sge[planned->first_sge + j];

			add_sge(chain, piece->addr, piece->length, plan->lkey);
		}
	}
}

void o2_chain_add_message(struct o2_post_chain *chain, const struct o2_post_message *message, uint64_t wr_id)
{
	struct ibv_send_wr *wr = o2_chain_add(chain);

	wr->wr_id = wr_id;
	wr->opcode = IBV_WR_SEND;
	wr->send_flags = IBV_SEND_SIGNALED;
	wr->sg_list = add_sge(chain, message->addr, message->length, message->lkey);
	wr->num_sge = 1;
}

void o2_chain_gather(struct o2_post_chain *chain, const struct o2_post_message *piece)
{
	add_sge(chain, piece->addr, piece->length, piece->lkey);
	chain->wr[chain->nwr - 1].num_sge++;
}

int o2_chain_post(struct o2_post_chain *chain, struct ibv_qp *qp, uint32_t *nposted, struct o2_error *error)
{
	const struct o2_work_ops *ops = chain->ops;
	const uint32_t nwr = chain->nwr;
	struct ibv_send_wr *bad = NULL;
	int rc;

	*nposted = nwr;
	if (nwr == 0)
		return 0;
	if (ops != NULL && ops->post_send != NULL)
		rc = ops->post_send(ops->context, qp, chain->wr, &bad, chain->sink);
	else
		rc = ibv_post_send(qp, chain->wr, &bad);
	chain->nwr = 0;
	chain->nsge = 0;
	chain->sink = NULL;
	if (rc == 0)
		return 0;
	*nposted = bad == NULL ? 0 : (uint32_t)(bad - chain->wr);
	/* ibv_post_send(3) returns the errno; some providers return -1 and set errno instead. */
	if (rc < 0)
		rc = errno != 0 ? errno : EIO;
	return o2_refuse_other(error, -rc, "post/send", "posted work requests", *nposted, nwr);
}
