/* SPDX-License-Identifier: MIT */
#ifndef O2_RDMA_WORK_OPS_H
#define O2_RDMA_WORK_OPS_H

#include <infiniband/verbs.h>
#include <stdint.h>

#include "wire/desc.h"

/*
 * The calls of libibverbs by which a connection's work goes out and its end comes back, as a table that may
 * be put in front of libibverbs: what is about to be posted can be looked at, changed or refused, and a
 * completion can be held back or changed.  A member that is NULL: libibverbs itself.  The table outlives the
 * interface. Source: docs/transport.md, "Posting".
 * kernel: ib_post_send
 */
struct o2_work_ops {
	void *context;
	/*
	 * In the place of ibv_post_send(3).  The list may be changed before it goes on, but what has the last
	 * request's wr_id must complete.  sink: the peer's memory that the list's message is the end of
	 * writing to, or NULL.
	 */
	int (*post_send)(void *context, struct ibv_qp *qp, struct ibv_send_wr *list, struct ibv_send_wr **bad,
			 const struct o2_rdma_desc *sink);
	/* In the place of ibv_poll_cq(3); now_ms: by the interface's clock. */
	int (*poll_cq)(void *context, struct ibv_cq *cq, int count, struct ibv_wc *wc, uint64_t now_ms);
	/* This completion queue is about to be destroyed; its completions are nobody's any more. */
	void (*forget_cq)(void *context, struct ibv_cq *cq);
};

#endif
