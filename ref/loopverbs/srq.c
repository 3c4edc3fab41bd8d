/* SPDX-License-Identifier: MIT */
/* Receive rings and shared receive queues. */
#include <assert.h>
#include <stdlib.h>

#include "loopverbs/internal.h"

int o2l_rq_init(struct o2l_rq *rq, uint32_t max_wr, uint32_t max_sge)
{
	*rq = (struct o2l_rq){.max_wr = max_wr, .max_sge = max_sge};
	if (max_wr == 0)
		return 0;
	rq->ring = malloc(sizeof(*rq->ring) * max_wr);
	rq->sges = max_sge ? malloc(sizeof(*rq->sges) * max_wr * max_sge) : NULL;
	if (!rq->ring || (max_sge && !rq->sges)) {
		o2l_rq_fini(rq);
		return ENOMEM;
	}
	return 0;
}

void o2l_rq_fini(struct o2l_rq *rq)
{
	free(rq->ring);
	free(rq->sges);
	rq->ring = NULL;
	rq->sges = NULL;
}

static int post_one(struct o2l_rq *rq, const struct ibv_recv_wr *wr)
{
	uint32_t slot;

	if (wr->num_sge < 0 || (uint32_t)wr->num_sge > rq->max_sge)
		return EINVAL;
	if (rq->count == rq->max_wr)
		return ENOMEM;
	slot = o2l_ring_at(rq->head, rq->count, rq->max_wr);
	rq->ring[slot] = (struct o2l_recv){wr->wr_id, (uint32_t)wr->num_sge};
	if (wr->num_sge)
		memcpy(&rq->sges[(size_t)slot * rq->max_sge], wr->sg_list,
		       sizeof(*wr->sg_list) * (size_t)wr->num_sge);
	rq->count++;
	o2l_fabric.counters.posted_recvs++;
	return 0;
}

int o2l_rq_post(struct o2l_rq *rq, const struct ibv_pd *pd, uint32_t qp_num, struct ibv_recv_wr *wr,
		struct ibv_recv_wr **bad)
{
	const uint32_t before = rq->count;
	int error = 0;

	for (; wr && !error; wr = wr->next) {
		error = o2l_fault(O2_LOOP_CALL_POST_RECV, qp_num);
		if (!error)
			error = post_one(rq, wr);
		if (!error)
			o2l_scribble(pd, wr);
		else
			*bad = wr;
	}
	if (rq->count != before) /* a refused post would cost those who wait a retry, in no time */
		o2l_wake_rnr(rq, NULL);
	return error;
}

const struct ibv_sge *o2l_rq_sges(const struct o2l_rq *rq)
{
	return rq->sges ? &rq->sges[(size_t)rq->head * rq->max_sge] : NULL;
}

void o2l_rq_pop(struct o2l_qp *qp)
{
	struct o2l_rq *rq = qp->rq;

	rq->head = o2l_ring_at(rq->head, 1, rq->max_wr);
	rq->count--;
	if (qp->ibv.srq) {
		struct o2l_srq *srq = O2L_CONTAINER(qp->ibv.srq, struct o2l_srq, ibv);

		if (srq->limit && rq->count < srq->limit) {
			const struct ibv_async_event event = {{.srq = &srq->ibv},
							      IBV_EVENT_SRQ_LIMIT_REACHED};

			srq->limit = 0; /* the event is sent once, until it is armed again */
			o2l_async(srq->ibv.context, &event);
		}
	}
}

struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *init)
{
	struct o2l_srq *srq;

	if (init->attr.max_wr == 0 || init->attr.max_wr > O2L_MAX_SRQ_WR ||
	    init->attr.max_sge > O2L_MAX_SRQ_SGE)
		return o2l_refuse_object(EINVAL);
	srq = calloc(1, sizeof(*srq));
	if (!srq || o2l_rq_init(&srq->rq, init->attr.max_wr, init->attr.max_sge)) {
		free(srq);
		return o2l_refuse_object(ENOMEM);
	}
	srq->ibv.context = pd->context;
	srq->ibv.srq_context = init->srq_context;
	srq->ibv.pd = pd;
	pthread_mutex_init(&srq->ibv.mutex, NULL);
	pthread_cond_init(&srq->ibv.cond, NULL);
	o2l_lock();
	srq->ibv.handle = o2l_next_handle();
	O2L_CONTAINER(pd, struct o2l_pd, ibv)->users++;
	LIST_INSERT_HEAD(&o2l_context_of(pd->context)->srqs, srq, link);
	o2l_fabric.counters.live_srqs++;
	o2l_unlock();
	return &srq->ibv;
}

/* Resize the ring, keeping the posted receives. */
static int resize(struct o2l_srq *srq, uint32_t max_wr)
{
	struct o2l_rq *old = &srq->rq, rq;

	if (max_wr == 0 || max_wr > O2L_MAX_SRQ_WR || max_wr < old->count || max_wr < srq->limit)
		return EINVAL;
	if (o2l_rq_init(&rq, max_wr, old->max_sge))
		return ENOMEM;
	for (uint32_t i = 0; i < old->count; i++) {
		uint32_t slot = o2l_ring_at(old->head, i, old->max_wr);

		rq.ring[i] = old->ring[slot];
		assert(old->ring[slot].num_sge == 0 || rq.sges != NULL);
		if (old->ring[slot].num_sge)
			memcpy(&rq.sges[(size_t)i * rq.max_sge], &old->sges[(size_t)slot * old->max_sge],
			       sizeof(*rq.sges) * old->ring[slot].num_sge);
	}
	rq.count = old->count;
	o2l_rq_fini(old);
	*old = rq;
	return 0;
}

int ibv_modify_srq(struct ibv_srq *ibv, struct ibv_srq_attr *attr, int mask)
{
	struct o2l_srq *srq = O2L_CONTAINER(ibv, struct o2l_srq, ibv);
	int error = 0;

	if (mask & ~(IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT))
		return EINVAL;
	o2l_lock();
	if (mask & IBV_SRQ_LIMIT && attr->srq_limit > (mask & IBV_SRQ_MAX_WR ? attr->max_wr : srq->rq.max_wr))
		error = EINVAL;
	if (!error && mask & IBV_SRQ_MAX_WR)
		error = resize(srq, attr->max_wr);
	if (!error && mask & IBV_SRQ_LIMIT)
		srq->limit = attr->srq_limit;
	o2l_unlock();
	return error;
}

int ibv_query_srq(struct ibv_srq *ibv, struct ibv_srq_attr *attr)
{
	const struct o2l_srq *srq = O2L_CONTAINER(ibv, struct o2l_srq, ibv);

	o2l_lock();
	*attr = (struct ibv_srq_attr){srq->rq.max_wr, srq->rq.max_sge, srq->limit};
	o2l_unlock();
	return 0;
}

void o2l_srq_free(struct o2l_srq *srq)
{
	o2l_async_forget(o2l_context_of(srq->ibv.context), srq);
	O2L_CONTAINER(srq->ibv.pd, struct o2l_pd, ibv)->users--;
	LIST_REMOVE(srq, link);
	o2l_fabric.counters.live_srqs--;
	pthread_mutex_destroy(&srq->ibv.mutex);
	pthread_cond_destroy(&srq->ibv.cond);
	o2l_rq_fini(&srq->rq);
	free(srq);
}

int ibv_destroy_srq(struct ibv_srq *ibv)
{
	struct o2l_srq *srq = O2L_CONTAINER(ibv, struct o2l_srq, ibv);
	int error = 0;

	o2l_lock();
	if (srq->users)
		error = EBUSY;
	else
		o2l_srq_free(srq);
	o2l_unlock();
	return error;
}

int o2l_post_srq_recv(struct ibv_srq *ibv, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	struct o2l_srq *srq = O2L_CONTAINER(ibv, struct o2l_srq, ibv);
	int error;

	o2l_lock();
	error = o2l_rq_post(&srq->rq, ibv->pd, 0, wr, bad);
	o2l_run();
	o2l_unlock();
	return error;
}
