/* SPDX-License-Identifier: MIT */
/*
 * The engine decides which queue pair runs next, keeps the timers, and completes requests.
 *
 * Everything happens inside verbs calls, one work request at a time, so the behaviour of a program depends only
 * on its own calls.  Time is virtual (docs/loopverbs.md, "Time").
 */
#include "loopverbs/internal.h"

#define TICKS_AT_MOST (1u << 20) /* of one sleep */

void o2l_kick(struct o2l_qp *qp)
{
	if (qp->queued || qp->wait != O2L_NO_WAIT || qp->sq_count == 0)
		return;
	if (qp->state != IBV_QPS_RTS && !(qp->state == IBV_QPS_SQD && qp->begun))
		return;
	qp->queued = true;
	o2l_fabric.runnable_count++;
	TAILQ_INSERT_TAIL(&o2l_fabric.runnable, qp, run_link);
}

static void dequeue(struct o2l_qp *qp)
{
	if (!qp->queued)
		return;
	qp->queued = false;
	o2l_fabric.runnable_count--;
	TAILQ_REMOVE(&o2l_fabric.runnable, qp, run_link);
}

static void stop_waiting(struct o2l_qp *qp)
{
	if (qp->wait == O2L_NO_WAIT)
		return;
	qp->wait = O2L_NO_WAIT;
	qp->wait_peer = NULL;
	TAILQ_REMOVE(&o2l_fabric.waiting, qp, wait_link);
}

void o2l_unschedule(struct o2l_qp *qp)
{
	dequeue(qp);
	stop_waiting(qp);
}

static void start_waiting(struct o2l_qp *qp, enum o2l_wait wait, uint64_t ns)
{
	qp->wait = wait;
	qp->due_ns = ns == O2L_NEVER ? O2L_NEVER : o2l_fabric.counters.clock_ns + ns;
	TAILQ_INSERT_TAIL(&o2l_fabric.waiting, qp, wait_link);
}

/* Retry the sends that wait for a receive of rq: all, or those to `peer`, if it can receive no more. */
void o2l_wake_rnr(const struct o2l_rq *rq, const struct o2l_qp *peer)
{
	struct o2l_qp *qp = TAILQ_FIRST(&o2l_fabric.waiting);

	while (qp) {
		struct o2l_qp *next = TAILQ_NEXT(qp, wait_link);

		if (qp->wait == O2L_WAIT_RNR && qp->wait_peer->rq == rq && (!peer || qp->wait_peer == peer)) {
			stop_waiting(qp);
			o2l_kick(qp);
		}
		qp = next;
	}
}

static enum ibv_wc_opcode wc_opcode(enum ibv_wr_opcode opcode)
{
	switch (opcode) {
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		return IBV_WC_RDMA_WRITE;
	case IBV_WR_RDMA_READ:
		return IBV_WC_RDMA_READ;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
		return IBV_WC_COMP_SWAP;
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		return IBV_WC_FETCH_ADD;
	case IBV_WR_LOCAL_INV:
		return IBV_WC_LOCAL_INV;
	case IBV_WR_BIND_MW:
		return IBV_WC_BIND_MW;
	case O2_LOOP_WR_REG_MR:
		return IBV_WC_DRIVER1;
	default:
		return IBV_WC_SEND;
	}
}

void o2l_complete_send(struct o2l_qp *qp, enum ibv_wc_status status, uint32_t byte_len)
{
	const struct o2l_send *wr = &qp->sq[qp->sq_head];
	bool signalled = wr->flags & IBV_SEND_SIGNALED || qp->init.sq_sig_all || status != IBV_WC_SUCCESS;
	struct ibv_wc wc = {
		.wr_id = wr->wr_id,
		.status = status,
		.opcode = wc_opcode(wr->opcode),
		.byte_len = byte_len,
		.qp_num = qp->ibv.qp_num,
	};

	qp->sq_head = o2l_ring_at(qp->sq_head, 1, qp->init.cap.max_send_wr);
	qp->sq_count--;
	qp->begun = false;
	if (signalled)
		o2l_cq_push(O2L_CONTAINER(qp->ibv.send_cq, struct o2l_cq, ibv), &wc, false);
}

static void fail(struct o2l_qp *qp, enum ibv_wc_status status)
{
	o2l_complete_send(qp, status, 0);
	o2l_qp_error(qp);
}

/*
 * The peer has no receive.  If rnr_retry is 7, wait for one; else wait for up to rnr_retry timers, then fail.  A
 * request that was woken by a receive of a shared queue, which another one took, waits for the rest of its timer.
 */
static void no_receive(struct o2l_qp *qp, const struct o2l_qp *peer)
{
	const uint64_t now_ns = o2l_fabric.counters.clock_ns;
	const bool woken = qp->begun && qp->due_ns > now_ns;

	qp->begun = true;
	o2l_fabric.counters.rnr_waits += !woken;
	if (qp->attr.rnr_retry == O2L_RETRY_FOREVER) {
		start_waiting(qp, O2L_WAIT_RNR, O2L_NEVER);
	} else if (woken) {
		start_waiting(qp, O2L_WAIT_RNR, qp->due_ns - now_ns);
	} else if (qp->rnr_left == 0) {
		fail(qp, IBV_WC_RNR_RETRY_EXC_ERR);
		return;
	} else {
		qp->rnr_left--;
		start_waiting(qp, O2L_WAIT_RNR, o2l_rnr_timer_ns(peer->attr.min_rnr_timer));
	}
	qp->wait_peer = peer;
}

/* The peer enters ERR after the requester's completion, even if both are the same queue pair. */
void o2l_break_peer(struct o2l_qp *peer)
{
	if (!peer || !peer->broken)
		return;
	peer->broken = false;
	o2l_qp_error(peer);
}

static void step(struct o2l_qp *qp)
{
	struct o2l_outcome outcome = {0};
	int fault;

	dequeue(qp);
	fault = o2l_fault(O2_LOOP_CALL_EXECUTE, qp->ibv.qp_num);
	if (fault) {
		fail(qp, (enum ibv_wc_status)fault);
		return;
	}
	switch (o2l_execute(qp, &qp->sq[qp->sq_head], &outcome)) {
	case O2L_DONE:
		qp->rnr_left = qp->attr.rnr_retry;
		qp->ack_left = qp->attr.retry_cnt;
		o2l_complete_send(qp, IBV_WC_SUCCESS, outcome.byte_len);
		o2l_break_peer(outcome.peer);
		o2l_kick(qp);
		o2l_qp_drained(qp);
		break;
	case O2L_RNR:
		no_receive(qp, outcome.peer);
		break;
	case O2L_LOST:
		o2l_fabric.counters.lost++;
		qp->begun = true;
		start_waiting(qp, O2L_WAIT_ACK, o2l_ack_timeout_ns(qp->attr.timeout));
		break;
	case O2L_FAILED:
		fail(qp, outcome.status);
		o2l_break_peer(outcome.peer);
		break;
	}
}

/* Select the queue pair that runs next: round robin, or by the hook. */
static struct o2l_qp *pick(void)
{
	struct o2l_qp *qp = TAILQ_FIRST(&o2l_fabric.runnable);
	uint32_t qp_nums[64];
	unsigned int count = 0;
	int choice;

	if (!qp || !o2l_fabric.pick)
		return qp;
	TAILQ_FOREACH(qp, &o2l_fabric.runnable, run_link) {
		if (count == sizeof(qp_nums) / sizeof(qp_nums[0]))
			break; /* the hook chooses among the oldest 64 */
		qp_nums[count++] = qp->ibv.qp_num;
	}
	choice = o2l_fabric.pick(o2l_fabric.pick_arg, qp_nums, count);
	if (choice < 0)
		return NULL;
	return o2l_index_get(&o2l_fabric.qps, qp_nums[(unsigned int)choice % count]);
}

bool o2l_run(void)
{
	struct o2l_qp *qp;
	bool worked = false;

	if (o2l_fabric.runnable_count == 0)
		return false;
	while ((qp = pick()) != NULL) {
		step(qp);
		worked = true;
	}
	return worked;
}

/* A timer has fired: send again, unless no retries are left. */
static void expire(struct o2l_qp *qp)
{
	bool lost = qp->wait == O2L_WAIT_ACK;

	stop_waiting(qp);
	if (lost && (qp->attr.retry_cnt != O2L_RETRY_FOREVER || o2l_fabric.option[O2_LOOP_FINITE_RETRY])) {
		if (qp->ack_left == 0) {
			fail(qp, IBV_WC_RETRY_EXC_ERR);
			return;
		}
		qp->ack_left--;
	}
	o2l_kick(qp);
}

bool o2l_tick(void)
{
	struct o2l_qp *qp, *first = NULL;

	TAILQ_FOREACH(qp, &o2l_fabric.waiting, wait_link) {
		if (qp->due_ns != O2L_NEVER && (!first || qp->due_ns < first->due_ns))
			first = qp;
	}
	if (!first)
		return false;
	if (first->due_ns > o2l_fabric.counters.clock_ns)
		o2l_fabric.counters.clock_ns = first->due_ns;
	expire(first);
	o2l_run();
	return true;
}

/*
 * Advance the clock until over(arg), or until no timer is left; but timers that only repeat must not keep the
 * device's lock.
 */
void o2l_sleep(bool (*over)(const void *arg), const void *arg)
{
	for (uint32_t left = TICKS_AT_MOST; left > 0 && !over(arg) && o2l_tick(); left--)
		;
}
