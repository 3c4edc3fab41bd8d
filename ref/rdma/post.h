/* SPDX-License-Identifier: MIT */
#ifndef O2_RDMA_POST_H
#define O2_RDMA_POST_H

#include <infiniband/verbs.h>
#include <stdint.h>

#include "base/error.h"
#include "rdma/rdma_plan.h"

/*
 * A table that may be put in front of the two calls of libibverbs by which a connection posts its work and
 * learns of completions.  It can look at what is about to be posted, change or refuse it, and hold back or
 * change completions.  A member that is NULL: libibverbs itself.  The table outlives the interface. Source:
 * docs/transport.md, "Posting".
 * kernel: ib_post_send
 */
struct o2_work_ops {
	void *context;
	/*
	 * In the place of ibv_post_send(3).  The list may be changed before it is passed on, but a request
	 * with the wr_id of the last one must complete.  sink: the peer's memory whose writing the list's
	 * message completes, or NULL.
	 */
	int (*post_send)(void *context, struct ibv_qp *qp, struct ibv_send_wr *list, struct ibv_send_wr **bad,
			 const struct o2_rdma_desc *sink);
	/* In the place of ibv_poll_cq(3); now_ms: by the interface's clock. */
	int (*poll_cq)(void *context, struct ibv_cq *cq, int count, struct ibv_wc *wc, uint64_t now_ms);
	/* This completion queue is about to be destroyed: drop the completions of it that were held back. */
	void (*forget_cq)(void *context, struct ibv_cq *cq);
};

/*
 * Posting: a chain of work requests is put together in memory and goes to the queue pair in one
 * ibv_post_send(3).  Source: docs/transport.md, "Posting".  Nothing is ever sent inline.
 *
 * The arrays belong to the caller; they are free for the next chain as soon as the chain was posted.
 */
struct o2_post_chain {
	struct ibv_send_wr *wr;
	struct ibv_sge *sge;
	uint32_t wr_capacity;
	uint32_t sge_capacity;
	uint32_t nwr;
	uint32_t nsge;
	const struct o2_work_ops *ops;	 /* NULL: libibverbs */
	const struct o2_rdma_desc *sink; /* goes to o2_work_ops.post_send; NULL in an empty chain */
};

/* Where a message, or a piece of one, is sent from. */
struct o2_post_message {
	uint64_t addr;
	uint32_t length;
	uint32_t lkey;
};

/*
 * A zeroed request at the end of the chain, linked to the one before it.  The caller has left room for it
 * (asserted): no input can exceed the capacity.
 */
struct ibv_send_wr *o2_chain_add(struct o2_post_chain *chain);

/* Copies of `count` requests, in this order.  They gather nothing. */
void o2_chain_add_requests(struct o2_post_chain *chain, const struct ibv_send_wr *wr, uint32_t count);

/* The plan's work requests as unsignalled RDMA WRITEs, all with this wr_id. */
/* o2iblnd: kiblnd_init_rdma */
void o2_chain_add_plan(struct o2_post_chain *chain, const struct o2_rdma_plan *plan, uint64_t wr_id);

/* A signalled SEND. */
void o2_chain_add_message(struct o2_post_chain *chain, const struct o2_post_message *message, uint64_t wr_id);

/* One more gather entry for the last request of the chain. */
void o2_chain_gather(struct o2_post_chain *chain, const struct o2_post_message *piece);

/*
 * Post the chain, which is empty afterwards in any case.  *nposted: how many of its requests the queue pair has
 * taken, all of them unless the call failed.  Returns 0 or -errno of ibv_post_send.
 * kernel: ib_post_send
 */
int o2_chain_post(struct o2_post_chain *chain, struct ibv_qp *qp, uint32_t *nposted, struct o2_error *error);

#endif
