/* SPDX-License-Identifier: MIT */
/* Completion queues. */
#include <stdlib.h>

#include "loopverbs/internal.h"

/* Round up to a number of the form 2^n - 1, as soft-RoCE does. */
static uint32_t round_entries(uint32_t cqe)
{
	uint32_t rounded = 1;

	while (rounded < cqe)
		rounded = rounded * 2 + 1;
	return rounded;
}

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context,
			     struct ibv_comp_channel *channel, int comp_vector)
{
	struct o2l_cq *cq;
	int fault;

	if (cqe < 1 || cqe > (int)O2L_MAX_CQE || comp_vector < 0 ||
	    comp_vector >= context->num_comp_vectors || (channel && channel->context != context))
		return o2l_refuse_object(EINVAL);
	o2l_lock();
	fault = o2l_fault(O2_LOOP_CALL_MAKE, 0);
	o2l_unlock();
	cq = fault ? NULL : calloc(1, sizeof(*cq));
	if (cq) {
		cq->ibv.cqe = (int)round_entries((uint32_t)cqe);
		cq->ring = malloc(sizeof(*cq->ring) * (size_t)cq->ibv.cqe);
	}
	if (!cq || !cq->ring) {
		free(cq);
		return o2l_refuse_object(ENOMEM);
	}
	cq->ibv.context = context;
	cq->ibv.channel = channel;
	cq->ibv.cq_context = cq_context;
	pthread_mutex_init(&cq->ibv.mutex, NULL);
	pthread_cond_init(&cq->ibv.cond, NULL);
	o2l_lock();
	cq->ibv.handle = o2l_next_handle();
	if (channel)
		channel->refcnt++;
	LIST_INSERT_HEAD(&o2l_context_of(context)->cqs, cq, link);
	o2l_fabric.counters.live_cqs++;
	o2l_unlock();
	return &cq->ibv;
}

void o2l_cq_free(struct o2l_cq *cq)
{
	if (cq->ibv.channel) {
		o2l_channel_forget(cq);
		cq->ibv.channel->refcnt--;
	}
	o2l_async_forget(o2l_context_of(cq->ibv.context), cq);
	LIST_REMOVE(cq, link);
	o2l_fabric.counters.live_cqs--;
	pthread_mutex_destroy(&cq->ibv.mutex);
	pthread_cond_destroy(&cq->ibv.cond);
	free(cq->ring);
	free(cq);
}

int ibv_destroy_cq(struct ibv_cq *ibv)
{
	struct o2l_cq *cq = O2L_CONTAINER(ibv, struct o2l_cq, ibv);
	int error = 0;

	o2l_lock();
	/* ibv_get_cq_event(3): destroying blocks until all events are acknowledged.  Fail instead. */
	if (cq->users || cq->events_delivered != cq->ibv.comp_events_completed)
		error = EBUSY;
	else
		o2l_cq_free(cq);
	o2l_unlock();
	return error;
}

int ibv_resize_cq(struct ibv_cq *ibv, int cqe)
{
	struct o2l_cq *cq = O2L_CONTAINER(ibv, struct o2l_cq, ibv);
	uint32_t entries, error = 0;
	struct ibv_wc *ring;

	if (cqe < 1 || cqe > (int)O2L_MAX_CQE)
		return EINVAL;
	entries = round_entries((uint32_t)cqe);
	ring = malloc(sizeof(*ring) * entries);
	if (!ring)
		return ENOMEM;
	o2l_lock();
	if ((uint32_t)cqe < cq->count) {
		error = EINVAL;
	} else {
		struct ibv_wc *old = cq->ring;

		for (uint32_t i = 0; i < cq->count; i++)
			ring[i] = old[o2l_ring_at(cq->head, i, (uint32_t)cq->ibv.cqe)];
		cq->ring = ring;
		cq->head = 0;
		cq->ibv.cqe = (int)entries;
		ring = old;
	}
	o2l_unlock();
	free(ring);
	return (int)error;
}

static void overrun(struct o2l_cq *cq)
{
	const struct ibv_async_event event = {{.cq = &cq->ibv}, IBV_EVENT_CQ_ERR};

	o2l_fabric.counters.overruns++;
	o2l_async(cq->ibv.context, &event);
}

void o2l_cq_push(struct o2l_cq *cq, const struct ibv_wc *wc, bool solicited)
{
	uint32_t entries = (uint32_t)cq->ibv.cqe;

	if (cq->count == entries) {
		overrun(cq);
		return;
	}
	cq->ring[o2l_ring_at(cq->head, cq->count, entries)] = *wc;
	cq->count++;
	o2l_fabric.counters.completions++;
	if (wc->status == IBV_WC_WR_FLUSH_ERR)
		o2l_fabric.counters.flushed++;
	if (cq->armed == O2L_ARMED_ANY ||
	    (cq->armed == O2L_ARMED_SOLICITED && (solicited || wc->status != IBV_WC_SUCCESS))) {
		cq->armed = O2L_NOT_ARMED;
		o2l_channel_notify(cq);
	}
}

static bool has_completion(const void *cq)
{
	return ((const struct o2l_cq *)cq)->count > 0;
}

/*
 * Programs wait by polling, so an empty poll advances the virtual clock to the next timer.  A program that has
 * armed the queue is about to sleep on its channel and will not poll; for it the clock advances until this queue
 * has a completion or no timer is left.
 */
static void wait_virtually(struct o2l_cq *cq)
{
	if (cq->armed != O2L_NOT_ARMED && cq->ibv.channel)
		o2l_sleep(has_completion, cq);
	else
		o2l_tick();
}

int o2l_poll_cq(struct ibv_cq *ibv, int num_entries, struct ibv_wc *wc)
{
	struct o2l_cq *cq = O2L_CONTAINER(ibv, struct o2l_cq, ibv);
	int polled = 0;

	o2l_lock();
	if (o2l_fault(O2_LOOP_CALL_POLL, 0)) {
		o2l_unlock();
		return -1;
	}
	o2l_run();
	if (cq->count == 0)
		wait_virtually(cq);
	while (polled < num_entries && cq->count) {
		wc[polled++] = cq->ring[cq->head];
		cq->head = o2l_ring_at(cq->head, 1, (uint32_t)cq->ibv.cqe);
		cq->count--;
	}
	o2l_unlock();
	return polled;
}

int o2l_req_notify_cq(struct ibv_cq *ibv, int solicited_only)
{
	struct o2l_cq *cq = O2L_CONTAINER(ibv, struct o2l_cq, ibv);
	int fault;

	o2l_lock();
	fault = o2l_fault(O2_LOOP_CALL_POLL, 0);
	if (fault) {
		o2l_unlock();
		return fault;
	}
	if (!solicited_only)
		cq->armed = O2L_ARMED_ANY;
	else if (cq->armed == O2L_NOT_ARMED)
		cq->armed = O2L_ARMED_SOLICITED;
	o2l_run();
	o2l_unlock();
	return 0;
}
