/* SPDX-License-Identifier: MIT */
/* Which queue pairs run and wait, and how requests complete: docs/loopverbs.md, "How it runs" and "Failures". */
#include <string.h>

#include "props/verbs/verbs_internal.h"

/* hook: the device's or the model's; number: of the queue pair, or 0. */
int o2_verbs_fault(struct o2_verbs_hook *hook, enum o2_loop_call call, uint32_t number)
{
	if (hook->after[call] == 0)
		return 0;
	hook->numbers = (hook->numbers ^ number) * UINT64_C(0x100000001b3) + call;
	if (--hook->after[call] != 0)
		return 0;
	return hook->error[call];
}

int64_t o2_verbs_choose(struct o2_verbs_hook *hook)
{
	hook->random = hook->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (int64_t)(hook->random >> 60) - 2; /* -2 and -1: run nothing now */
}

/* --- events --- */

void o2_verbs_tell(struct o2_verbs_side *side, enum ibv_event_type type, const void *element)
{
	if (side->events < O2_VERBS_EVENTS)
		side->event[side->events++] = (struct o2_verbs_event){type, element};
}

void o2_verbs_forget(struct o2_verbs_side *side, const void *element)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < side->events; i++)
		if (side->event[i].element != element)
			side->event[kept++] = side->event[i];
	side->events = kept;
}

static void notify(struct o2_verbs_side *side, uint32_t index)
{
	struct o2_verbs_cq *cq = &side->cq[index];

	cq->armed = O2_VERBS_UNARMED;
	if (cq->channel && cq->pending++ == 0)
		side->ready[side->readies++] = index;
}

void o2_verbs_push(struct o2_verbs_world *world, struct o2_verbs_side *side, uint32_t index,
		   const struct ibv_wc *wc, bool solicited)
{
	struct o2_verbs_cq *cq = &side->cq[index];

	if (cq->count == cq->entries) {
		o2_verbs_saw(world, O2_VERBS_SEEN_OVERRUN);
		world->counters.overruns++;
		o2_verbs_tell(side, IBV_EVENT_CQ_ERR, cq->cq);
		return;
	}
	cq->wc[cq->count++] = *wc;
	world->counters.completions++;
	if (wc->status == IBV_WC_WR_FLUSH_ERR) {
		world->counters.flushed++;
		o2_verbs_saw(world, O2_VERBS_SEEN_FLUSHED);
	}
	if (cq->armed == O2_VERBS_ANY)
		notify(side, index);
	else if (cq->armed == O2_VERBS_SOLICITED && (solicited || wc->status != IBV_WC_SUCCESS)) {
		if (cq->channel && wc->status == IBV_WC_SUCCESS)
			o2_verbs_saw(world, O2_VERBS_SEEN_SOLICITED_ONLY);
		notify(side, index);
	}
}

/* --- lists --- */

static bool is_in(struct o2_verbs_qp *const *list, uint32_t count, const struct o2_verbs_qp *qp)
{
	for (uint32_t i = 0; i < count; i++)
		if (list[i] == qp)
			return true;
	return false;
}

static void drop(struct o2_verbs_qp **list, uint32_t *count, const struct o2_verbs_qp *qp)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < *count; i++)
		if (list[i] != qp)
			list[kept++] = list[i];
	*count = kept;
}

void o2_verbs_kick(struct o2_verbs_world *world, struct o2_verbs_qp *qp)
{
	if (qp->wait == O2_VERBS_NO_WAIT && qp->sends > 0 &&
	    (qp->state == IBV_QPS_RTS || (qp->state == IBV_QPS_SQD && qp->begun)) &&
	    !is_in(world->runnable, world->runnables, qp))
		world->runnable[world->runnables++] = qp;
}

static void wait_no_more(struct o2_verbs_world *world, struct o2_verbs_qp *qp)
{
	qp->wait = O2_VERBS_NO_WAIT;
	drop(world->waiting, &world->waitings, qp);
}

/* Remove a queue pair from both lists. */
static void stop(struct o2_verbs_world *world, struct o2_verbs_qp *qp)
{
	drop(world->runnable, &world->runnables, qp);
	wait_no_more(world, qp);
}

/* Wake the requesters that wait for a receive of this ring, or (ring NULL) of this queue pair. */
void o2_verbs_wake(struct o2_verbs_world *world, const struct o2_verbs_ring *ring,
		   const struct o2_verbs_qp *peer)
{
	for (uint32_t i = 0; i < world->waitings;) {
		struct o2_verbs_qp *qp = world->waiting[i];
		struct o2_verbs_qp *asked = qp->wait_for;

		if (qp->wait != O2_VERBS_WAIT_RNR ||
		    (ring == NULL ? asked != peer : o2_verbs_ring_of(world, asked) != ring)) {
			i++;
			continue;
		}
		wait_no_more(world, qp);
		o2_verbs_kick(world, qp);
		if (ring != NULL)
			o2_verbs_saw(world, O2_VERBS_SEEN_RNR_WOKEN);
	}
}

static void wait_for(struct o2_verbs_world *world, struct o2_verbs_qp *qp, enum o2_verbs_wait wait,
		     uint64_t ns)
{
	qp->wait = wait;
	qp->due_ns = ns == O2_VERBS_NEVER ? ns : world->counters.clock_ns + ns;
	world->waiting[world->waitings++] = qp;
}

/* --- how requests end --- */

static enum ibv_wc_opcode opcode_of(enum ibv_wr_opcode opcode)
{
	switch ((int)opcode) {
	case IBV_WR_SEND:
	case IBV_WR_SEND_WITH_IMM:
	case IBV_WR_SEND_WITH_INV:
		return IBV_WC_SEND;
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
		return IBV_WC_RDMA_WRITE;
	}
}

void o2_verbs_complete(struct o2_verbs_world *world, struct o2_verbs_qp *qp, enum ibv_wc_status status,
		       uint32_t bytes)
{
	const struct o2_verbs_send *send = &qp->send[0];
	const struct ibv_wc wc = {
		.wr_id = send->wr_id,
		.status = status,
		.opcode = opcode_of(send->opcode),
		.byte_len = bytes,
		.qp_num = qp->number,
	};
	const bool told = qp->sig_all || status != IBV_WC_SUCCESS || (send->flags & IBV_SEND_SIGNALED) != 0;

	qp->begun = false;
	qp->sends--;
	memmove(&qp->send[0], &qp->send[1], qp->sends * sizeof(qp->send[0]));
	if (told)
		o2_verbs_push(world, &world->side[qp->side], qp->send_cq, &wc, false);
	else
		o2_verbs_saw(world, O2_VERBS_SEEN_UNSIGNALLED);
}

void o2_verbs_error(struct o2_verbs_world *world, struct o2_verbs_qp *qp)
{
	struct ibv_wc wc = {.status = IBV_WC_WR_FLUSH_ERR, .opcode = IBV_WC_RECV, .qp_num = qp->number};
	struct o2_verbs_side *side = &world->side[qp->side];

	if (qp->state == IBV_QPS_ERR)
		return;
	stop(world, qp);
	qp->state = IBV_QPS_ERR;
	while (qp->sends > 0)
		o2_verbs_complete(world, qp, IBV_WC_WR_FLUSH_ERR, 0);
	if (qp->shared)
		o2_verbs_tell(side, IBV_EVENT_QP_LAST_WQE_REACHED, qp->qp);
	while (!qp->shared && qp->own.count > 0) {
		wc.wr_id = qp->own.recv[0].wr_id;
		o2_verbs_pop(world, qp);
		o2_verbs_push(world, side, qp->recv_cq, &wc, true);
	}
	o2_verbs_wake(world, NULL, qp);
}

void o2_verbs_reset(struct o2_verbs_world *world, struct o2_verbs_qp *qp)
{
	stop(world, qp);
	qp->sends = 0;
	qp->own.count = 0;
	qp->state = IBV_QPS_RESET;
	qp->broken = qp->begun = false;
	qp->attr = (struct ibv_qp_attr){0};
	qp->dest_side = O2_VERBS_NONE;
	qp->sq_psn = 0;
	qp->rq_psn = 0;
	o2_verbs_wake(world, NULL, qp);
}

static void fail(struct o2_verbs_world *world, struct o2_verbs_qp *qp, enum ibv_wc_status status)
{
	o2_verbs_complete(world, qp, status, 0);
	o2_verbs_error(world, qp);
}

/* InfiniBand specification, RNR NAK timer field: 10 us, then doubling by pairs; 0 is the longest. */
static uint64_t rnr_ns(uint8_t field)
{
	if (field == 0)
		return UINT64_C(655360000);
	if (field == 1)
		return 10000;
	return (field % 2 == 0 ? UINT64_C(20000) : UINT64_C(30000)) << (field / 2 - 1);
}

/* A timer that has not fired when a receive wakes the request goes on if another request takes the receive. */
static void no_receive(struct o2_verbs_world *world, struct o2_verbs_qp *qp, struct o2_verbs_qp *peer)
{
	const bool running = qp->begun && qp->due_ns > world->counters.clock_ns;
	const bool endless = qp->attr.rnr_retry == 7;
	uint64_t ns = endless ? O2_VERBS_NEVER : rnr_ns(peer->attr.min_rnr_timer);

	qp->begun = true;
	if (running && !endless)
		ns = qp->due_ns - world->counters.clock_ns;
	world->counters.rnr_waits += !running;
	o2_verbs_saw(world, O2_VERBS_SEEN_RNR_WAIT);
	if (!running && !endless && qp->rnr_left == 0) {
		o2_verbs_saw(world, O2_VERBS_SEEN_RNR_FAILED);
		fail(world, qp, IBV_WC_RNR_RETRY_EXC_ERR);
		return;
	}
	qp->rnr_left -= !running && !endless;
	wait_for(world, qp, O2_VERBS_WAIT_RNR, ns);
	qp->wait_for = peer;
}

void o2_verbs_break_peer(struct o2_verbs_world *world, struct o2_verbs_qp *peer)
{
	if (peer != NULL && peer->broken) {
		peer->broken = false;
		o2_verbs_error(world, peer);
	}
}

/* ibv_modify_qp(3): 4.096 us * 2^timeout; 0: no time-out. */
static uint64_t answer_ns(uint8_t timeout)
{
	return timeout == 0 ? O2_VERBS_NEVER : UINT64_C(4096) << timeout;
}

/* InfiniBand specification, state SQD: a request that was begun is completed, then the event follows. */
void o2_verbs_drained(struct o2_verbs_world *world, struct o2_verbs_qp *qp)
{
	if (qp->state != IBV_QPS_SQD || qp->begun || !qp->attr.en_sqd_async_notify)
		return;
	o2_verbs_saw(world, O2_VERBS_SEEN_DRAINED);
	o2_verbs_tell(&world->side[qp->side], IBV_EVENT_SQ_DRAINED, qp->qp);
}

/* In SQD, no other request begins. */
void o2_verbs_drain(struct o2_verbs_world *world, struct o2_verbs_qp *qp)
{
	if (!qp->begun)
		drop(world->runnable, &world->runnables, qp);
}

static void step(struct o2_verbs_world *world, struct o2_verbs_qp *qp)
{
	struct o2_verbs_outcome outcome = {0};
	int fault;

	drop(world->runnable, &world->runnables, qp);
	fault = o2_verbs_fault(&world->hook, O2_LOOP_CALL_EXECUTE, qp->number);
	if (fault != 0) {
		o2_verbs_saw(world, O2_VERBS_SEEN_FAULT);
		fail(world, qp, (enum ibv_wc_status)fault);
		return;
	}
	switch (o2_verbs_execute(world, qp, &qp->send[0], &outcome)) {
	case O2_VERBS_DONE:
		qp->rnr_left = qp->attr.rnr_retry;
		qp->ack_left = qp->attr.retry_cnt;
		o2_verbs_complete(world, qp, IBV_WC_SUCCESS, outcome.bytes);
		o2_verbs_break_peer(world, outcome.peer);
		o2_verbs_kick(world, qp);
		o2_verbs_drained(world, qp);
		break;
	case O2_VERBS_RNR:
		no_receive(world, qp, outcome.peer);
		break;
	case O2_VERBS_LOST:
		world->counters.lost++;
		o2_verbs_saw(world, O2_VERBS_SEEN_LOST);
		qp->begun = true;
		wait_for(world, qp, O2_VERBS_WAIT_ACK, answer_ns(qp->attr.timeout));
		break;
	case O2_VERBS_FAILED:
		fail(world, qp, outcome.status);
		o2_verbs_break_peer(world, outcome.peer);
		break;
	}
}

static struct o2_verbs_qp *next(struct o2_verbs_world *world)
{
	struct o2_verbs_picked *picked;
	int64_t choice;

	if (world->runnables == 0)
		return NULL;
	if (!world->hook.picks)
		return world->runnable[0];
	if (world->log.picks < O2_VERBS_LOG) {
		picked = &world->log.pick[world->log.picks];
		picked->count = world->runnables;
		for (uint32_t i = 0; i < world->runnables; i++)
			picked->number[i] = world->runnable[i]->number;
	}
	world->log.picks++;
	choice = o2_verbs_choose(&world->hook);
	o2_verbs_saw(world, O2_VERBS_SEEN_PICKED);
	return choice < 0 ? NULL : world->runnable[(uint64_t)choice % world->runnables];
}

void o2_verbs_run(struct o2_verbs_world *world)
{
	struct o2_verbs_qp *qp;

	while ((qp = next(world)) != NULL)
		step(world, qp);
}

bool o2_verbs_tick(struct o2_verbs_world *world)
{
	struct o2_verbs_qp *first = NULL;
	bool counted;

	for (uint32_t i = 0; i < world->waitings; i++)
		if (world->waiting[i]->due_ns != O2_VERBS_NEVER &&
		    (first == NULL || world->waiting[i]->due_ns < first->due_ns))
			first = world->waiting[i];
	if (first == NULL)
		return false;
	if (first->due_ns > world->counters.clock_ns)
		world->counters.clock_ns = first->due_ns;
	counted = first->wait == O2_VERBS_WAIT_ACK &&
		  (first->attr.retry_cnt != 7 || world->option[O2_LOOP_FINITE_RETRY]);
	wait_no_more(world, first);
	if (counted && first->ack_left == 0) {
		o2_verbs_saw(world, O2_VERBS_SEEN_LOST_FAILED);
		fail(world, first, IBV_WC_RETRY_EXC_ERR);
	} else {
		first->ack_left -= counted;
		o2_verbs_kick(world, first);
	}
	o2_verbs_run(world);
	return true;
}
