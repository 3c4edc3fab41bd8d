/* SPDX-License-Identifier: MIT */
#ifndef O2_RDMA_WORK_OPS_H
#define O2_RDMA_WORK_OPS_H

#include <infiniband/verbs.h>
#include <stdint.h>

#include "wire/desc.h"

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

#endif
