/* SPDX-License-Identifier: MIT */
#ifndef O2_RDMA_POST_H
#define O2_RDMA_POST_H

#include <infiniband/verbs.h>
#include <stdint.h>

#include "base/error.h"
#include "rdma/rdma_plan.h"

/*
 * Hooks in place of the two libibverbs calls by which a connection posts work and polls completions.  A hook
 * can look at what is about to be posted, change or refuse it, and hold back or change completions.  A NULL
 * member means that libibverbs itself is called.  The table must outlive the interface.  Source:
 * docs/transport.md, "Posting".
 * kernel: ib_post_send
 */
struct o2_work_ops {
	void *context;
	/*
	 * Called in place of ibv_post_send(3).  The hook may change the list before it passes it on, but a
	 * request with the wr_id of the last one must complete.  sink: if the list's message is the
	 * PUT_DONE or GET_DONE of a transfer, the peer's memory that the transfer writes to; else NULL.
	 */
	int (*post_send)(void *context, struct ibv_qp *qp, struct ibv_send_wr *list, struct ibv_send_wr **bad,
			 const struct o2_rdma_desc *sink);
	/* Called in place of ibv_poll_cq(3).  now_ms: time of the interface's clock. */
	int (*poll_cq)(void *context, struct ibv_cq *cq, int count, struct ibv_wc *wc, uint64_t now_ms);
	/* cq is about to be destroyed: drop its completions that were held back. */
	void (*forget_cq)(void *context, struct ibv_cq *cq);
};

/*
 * A chain of work requests, built in memory and posted to the queue pair by one ibv_post_send(3). Source:
 * docs/transport.md, "Posting".  Nothing is ever sent inline.
 *
 * The arrays belong to the caller, who may build the next chain in them as soon as this one was posted.
 */
struct o2_post_chain {
	struct ibv_send_wr *wr;
	struct ibv_sge *sge;
	uint32_t wr_capacity;
	uint32_t sge_capacity;
	uint32_t nwr;
	uint32_t nsge;
	const struct o2_work_ops *ops;	 /* NULL: libibverbs */
	const struct o2_rdma_desc *sink; /* passed to o2_work_ops.post_send; NULL in an empty chain */
};

/* The local memory of a message or of a piece of one. */
struct o2_post_message {
	uint64_t addr;
	uint32_t length;
	uint32_t lkey;
};

/*
 * Append a zeroed request, linked to the one before it, and return it.  The caller must have left room for it
 * (asserted): no input can exceed the capacity.
 */
struct ibv_send_wr *o2_chain_add(struct o2_post_chain *chain);

/* Append copies of `count` requests, in this order.  They have no gather entries. */
void o2_chain_add_requests(struct o2_post_chain *chain, const struct ibv_send_wr *wr, uint32_t count);

/* Append the plan's work requests as unsignalled RDMA WRITEs, all with this wr_id. */
/* o2iblnd: kiblnd_init_rdma */
void o2_chain_add_plan(struct o2_post_chain *chain, const struct o2_rdma_plan *plan, uint64_t wr_id);

/* Append a signalled SEND of the message. */
void o2_chain_add_message(struct o2_post_chain *chain, const struct o2_post_message *message, uint64_t wr_id);

/* Append one more gather entry to the last request of the chain. */
void o2_chain_gather(struct o2_post_chain *chain, const struct o2_post_message *piece);

/*
 * Post the chain, which is empty afterwards in any case.  *nposted: how many of its requests the queue pair
 * accepted; all of them unless the call failed.  Returns 0 or -errno of ibv_post_send.
 * kernel: ib_post_send
 */
int o2_chain_post(struct o2_post_chain *chain, struct ibv_qp *qp, uint32_t *nposted, struct o2_error *error);

#endif
