/* SPDX-License-Identifier: MIT */
#ifndef TESTS_LOOPVERBS_TRACE_BATCH_H
#define TESTS_LOOPVERBS_TRACE_BATCH_H

/*
 * Posts a batch of work requests on one side and waits until both sides are idle.  Static, for trace.c.
 *
 * These rules make the outcome the same on any device: one batch runs at a time, and its last request is
 * signalled; a request that fails on its own side comes first and fits one packet, because earlier requests
 * might or might not have been acknowledged when it fails; requests after a READ are fenced.
 */

#include "tests/device/loopverbs/trace_world.h"

#define BATCH 4u

struct request {
	struct ibv_send_wr wr;
	struct ibv_sge sges[MAX_SGE];
	struct window *window; /* the window that the request binds or invalidates */
	struct window bound;   /* BIND_MW: the window's state if the bind succeeds */

	uint32_t new_rkey;
	bool done;
};

struct batch {
	struct request request[BATCH];
	uint32_t count;
};

static const char *opcode_name(enum ibv_wr_opcode opcode)
{
	static const char *const names[] = {
		[IBV_WR_RDMA_WRITE] = "WRITE",
		[IBV_WR_RDMA_WRITE_WITH_IMM] = "WRITE_IMM",
		[IBV_WR_SEND] = "SEND",
		[IBV_WR_SEND_WITH_IMM] = "SEND_IMM",
		[IBV_WR_RDMA_READ] = "READ",
		[IBV_WR_ATOMIC_CMP_AND_SWP] = "CMP_SWP",
		[IBV_WR_ATOMIC_FETCH_AND_ADD] = "FETCH_ADD",
		[IBV_WR_LOCAL_INV] = "LOCAL_INV",
		[IBV_WR_BIND_MW] = "BIND_MW",
		[IBV_WR_SEND_WITH_INV] = "SEND_INV",
	};

	return names[opcode];
}

static bool is_local_status(enum ibv_wc_status status)
{
	return status == IBV_WC_LOC_QP_OP_ERR || status == IBV_WC_LOC_PROT_ERR ||
	       status == IBV_WC_MW_BIND_ERR;
}

/* Fixed names: the texts of ibv_wc_status_str differ between libraries. */
static const char *status_name(const struct world *w, const struct side *s, enum ibv_wc_status status)
{
	static const char *const names[] = {
		[IBV_WC_SUCCESS] = "SUCCESS",
		[IBV_WC_LOC_LEN_ERR] = "LOC_LEN_ERR",
		[IBV_WC_LOC_QP_OP_ERR] = "LOC_QP_OP_ERR",
		[IBV_WC_LOC_PROT_ERR] = "LOC_PROT_ERR",
		[IBV_WC_WR_FLUSH_ERR] = "WR_FLUSH_ERR",
		[IBV_WC_MW_BIND_ERR] = "MW_BIND_ERR",
		[IBV_WC_REM_INV_REQ_ERR] = "REM_INV_REQ_ERR",
		[IBV_WC_REM_ACCESS_ERR] = "REM_ACCESS_ERR",
		[IBV_WC_REM_OP_ERR] = "REM_OP_ERR",
		[IBV_WC_RETRY_EXC_ERR] = "RETRY_EXC_ERR",
		[IBV_WC_RNR_RETRY_EXC_ERR] = "RNR_RETRY_EXC_ERR",
		[IBV_WC_GENERAL_ERR] = "GENERAL_ERR",
	};

	/* Newer kernels flush a request that failed locally.  A flush on a healthy queue pair is such a
	 * failure. */
	if (w->merge_local && (is_local_status(status) || (status == IBV_WC_WR_FLUSH_ERR && !s->error)))
		return "LOCAL_FAILURE";
	if ((size_t)status < sizeof(names) / sizeof(names[0]) && names[status])
		return names[status];
	return "another status";
}

/* Polls one completion, for longer than any operation can take; false if none arrives. */
static bool poll_one(struct ibv_cq *cq, struct ibv_wc *wc)
{
	int64_t end = now_ms() + SETTLE_MS;

	do {
		int polled = ibv_poll_cq(cq, 1, wc);

		if (polled < 0)
			die("ibv_poll_cq");
		if (polled)
			return true;
		sched_yield();
	} while (now_ms() < end);
	return false;
}

/* Takes the completion of one receive of s.  Returns its status, or -1 if none arrives. */
static int take_recv(struct world *w, struct side *s)
{
	struct ibv_wc wc;

	if (!poll_one(s->rcq, &wc)) {
		printf("%u wc %c recv: none\n", w->op, s->name);
		s->recvs = 0;
		return -1;
	}
	s->recvs--;
	printf("%u wc %c recv %" PRIu64 " %s", w->op, s->name, wc.wr_id, status_name(w, s, wc.status));
	if (wc.status == IBV_WC_SUCCESS) {
		printf(" %s len %u", wc.opcode == IBV_WC_RECV ? "RECV" : "RECV_RDMA_WITH_IMM", wc.byte_len);
		if (wc.wc_flags & IBV_WC_WITH_IMM)
			printf(" imm %x", wc.imm_data);
	} else {
		s->error = true;
	}
	printf("\n");
	return (int)wc.status;
}

/* Takes the completions of all receives that a failed queue pair flushes. */
static void drain_recvs(struct world *w, struct side *s)
{
	s->error = true;
	while (s->recvs)
		take_recv(w, s);
}

static bool takes_recv(enum ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_SEND || opcode == IBV_WR_SEND_WITH_IMM || opcode == IBV_WR_SEND_WITH_INV ||
	       opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
}

static void print_request(struct world *w, struct side *s, const struct request *r)
{
	uint32_t length = 0;

	for (int i = 0; i < r->wr.num_sge; i++)
		length += r->wr.sg_list[i].length;
	printf("%u post %c %" PRIu64 " %s sges %d len %u%s%s%s\n", w->op, s->name, r->wr.wr_id,
	       opcode_name(r->wr.opcode), r->wr.num_sge, length,
	       r->wr.send_flags & IBV_SEND_SIGNALED ? " signalled" : "",
	       r->wr.send_flags & IBV_SEND_FENCE ? " fence" : "",
	       r->wr.send_flags & IBV_SEND_INLINE ? " inline" : "");
}

/*
 * Updates the window of a completed request.  A device may have executed a local request that it then reports
 * as flushed.  So after a failure the only safe step is to free the window, which is done at once.
 */
static void settle_window(struct world *w, struct side *owner, struct request *r, enum ibv_wc_status status)
{
	if (!r->window)
		return;
	if (status == IBV_WC_SUCCESS) {
		if (r->wr.opcode == IBV_WR_BIND_MW)
			*r->window = r->bound;
		else
			r->window->state = FREE;
		return;
	}
	printf("%u window %c %u gone\n", w->op, owner->name, (uint32_t)(r->window - owner->window));
	if (ibv_dealloc_mw(r->window->mw))
		die("ibv_dealloc_mw");
	r->window->mw = NULL;
}

static struct request *by_wr_id(struct batch *b, uint64_t wr_id)
{
	for (uint32_t i = 0; i < b->count; i++)
		if (b->request[i].wr.wr_id == wr_id)
			return &b->request[i];
	return NULL;
}

static bool blames_peer(enum ibv_wc_status status)
{
	return status == IBV_WC_REM_ACCESS_ERR || status == IBV_WC_REM_OP_ERR ||
	       status == IBV_WC_REM_INV_REQ_ERR;
}

/* Marks request r and all before it as done; the earlier ones had no completion if not signalled. */
static void end_request(struct world *w, struct side *s, struct side *peer, struct batch *b,
			struct request *r, enum ibv_wc_status status)
{
	for (struct request *q = b->request; q <= r; q++) {
		enum ibv_wc_status own = q == r ? status : IBV_WC_SUCCESS;
		struct side *owner = q->wr.opcode == IBV_WR_SEND_WITH_INV ? peer : s;

		if (q->done)
			continue;
		q->done = true;
		if (own == IBV_WC_SUCCESS && takes_recv(q->wr.opcode) && peer->recvs) {
			int theirs = take_recv(w, peer);

			/* The SEND left, but its receive failed: the invalidate failed at the peer. */
			settle_window(w, owner, q,
				      theirs == IBV_WC_SUCCESS ? IBV_WC_SUCCESS : IBV_WC_GENERAL_ERR);
		} else {
			settle_window(w, owner, q, own);
		}
	}
	if (status != IBV_WC_SUCCESS)
		s->error = true;
	if (blames_peer(status))
		peer->error = true;
}

static void wait_batch(struct world *w, struct side *s, struct side *peer, struct batch *b)
{
	struct request *last = &b->request[b->count - 1];
	struct ibv_wc wc;

	while (!last->done) {
		struct request *r;

		if (!poll_one(s->scq, &wc)) {
			printf("%u wc %c send: none\n", w->op, s->name);
			return;
		}
		r = by_wr_id(b, wc.wr_id);
		printf("%u wc %c send %" PRIu64 " %s", w->op, s->name, wc.wr_id,
		       status_name(w, s, wc.status));
		if (wc.status == IBV_WC_SUCCESS && wc.opcode == IBV_WC_RDMA_READ)
			printf(" read %u", wc.byte_len);
		printf("\n");
		if (!r)
			return; /* no request has this wr_id, as the printed line shows */
		end_request(w, s, peer, b, r, wc.status);
	}
	if (s->error)
		drain_recvs(w, s);
	if (peer->error)
		drain_recvs(w, peer);
}

/* Posts the batch and waits for its last request, which is always signalled. */
static void run_batch(struct world *w, struct side *s, struct side *peer, struct batch *b)
{
	struct ibv_send_wr *bad = NULL;
	int error;

	b->request[b->count - 1].wr.send_flags |= IBV_SEND_SIGNALED;
	for (uint32_t i = 0; i < b->count; i++) {
		struct request *r = &b->request[i];

		r->wr.next = i + 1 < b->count ? &b->request[i + 1].wr : NULL;
		print_request(w, s, r);
	}
	error = ibv_post_send(s->qp, &b->request[0].wr, &bad);
	printf("%u posted %s\n", w->op, error_name(error));
	if (error)
		return;
	for (uint32_t i = 0; i < b->count; i++)
		if (b->request[i].wr.opcode == IBV_WR_BIND_MW)
			b->request[i].wr.bind_mw.mw->rkey = b->request[i].new_rkey;
	wait_batch(w, s, peer, b);
}

#endif
