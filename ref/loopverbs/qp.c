/* SPDX-License-Identifier: MIT */
/* Queue pairs: creation, query, destruction. */
#include <stdlib.h>

#include "loopverbs/internal.h"

#define SGE_BYTES 16u /* size of one gather entry in a work queue element */

static int check_init(const struct ibv_pd *pd, const struct ibv_qp_init_attr *init)
{
	const struct ibv_qp_cap *cap = &init->cap;

	switch (init->qp_type) {
	case IBV_QPT_RC:
	case IBV_QPT_UC:
	case IBV_QPT_UD:
		break;
	default:
		return EOPNOTSUPP;
	}
	if (!init->send_cq || !init->recv_cq || init->send_cq->context != pd->context ||
	    init->recv_cq->context != pd->context)
		return EINVAL;
	if (cap->max_send_wr > O2L_MAX_QP_WR || cap->max_send_sge > O2L_MAX_SGE ||
	    cap->max_inline_data > O2L_MAX_INLINE)
		return EINVAL;
	if (init->srq)
		return init->srq->context == pd->context ? 0 : EINVAL;
	return cap->max_recv_wr > O2L_MAX_QP_WR || cap->max_recv_sge > O2L_MAX_SGE ? EINVAL : 0;
}

/* Gather entries and inline data share the queue element, so both get the larger size, as in soft-RoCE. */
static void grant(struct ibv_qp_cap *cap, bool shared)
{
	uint32_t bytes = cap->max_send_sge * SGE_BYTES;

	if (bytes < cap->max_inline_data)
		bytes = (cap->max_inline_data + SGE_BYTES - 1) / SGE_BYTES * SGE_BYTES;
	cap->max_send_sge = bytes / SGE_BYTES;
	cap->max_inline_data = bytes;
	if (shared) {
		cap->max_recv_wr = 0;
		cap->max_recv_sge = 0;
	}
}

static void free_rings(struct o2l_qp *qp)
{
	free(qp->sq);
	free(qp->sq_sges);
	free(qp->sq_inline);
	o2l_rq_fini(&qp->own_rq);
}

static int alloc_rings(struct o2l_qp *qp)
{
	const struct ibv_qp_cap *cap = &qp->init.cap;
	size_t slots = cap->max_send_wr;

	if (slots) {
		qp->sq = malloc(sizeof(*qp->sq) * slots);
		if (cap->max_send_sge) {
			qp->sq_sges = malloc(sizeof(*qp->sq_sges) * slots * cap->max_send_sge);
			qp->sq_inline = malloc(slots * cap->max_inline_data);
		}
		if (!qp->sq || (cap->max_send_sge && (!qp->sq_sges || !qp->sq_inline)))
			return ENOMEM;
	}
	return o2l_rq_init(&qp->own_rq, cap->max_recv_wr, cap->max_recv_sge);
}

static void fill_qp(struct o2l_qp *qp, struct ibv_pd *pd, const struct ibv_qp_init_attr *init, uint32_t qpn)
{
	qp->ibv.context = pd->context;
	qp->ibv.qp_context = init->qp_context;
	qp->ibv.pd = pd;
	qp->ibv.send_cq = init->send_cq;
	qp->ibv.recv_cq = init->recv_cq;
	qp->ibv.srq = init->srq;
	qp->ibv.handle = o2l_next_handle();
	qp->ibv.qp_num = qpn;
	qp->ibv.state = IBV_QPS_RESET;
	qp->ibv.qp_type = init->qp_type;
	pthread_mutex_init(&qp->ibv.mutex, NULL);
	pthread_cond_init(&qp->ibv.cond, NULL);
	qp->device = o2l_context_of(pd->context)->device;
	qp->rq = init->srq ? &O2L_CONTAINER(init->srq, struct o2l_srq, ibv)->rq : &qp->own_rq;
	O2L_CONTAINER(pd, struct o2l_pd, ibv)->users++;
	O2L_CONTAINER(init->send_cq, struct o2l_cq, ibv)->users++;
	O2L_CONTAINER(init->recv_cq, struct o2l_cq, ibv)->users++;
	if (init->srq)
		O2L_CONTAINER(init->srq, struct o2l_srq, ibv)->users++;
	LIST_INSERT_HEAD(&o2l_context_of(pd->context)->qps, qp, link);
	o2l_fabric.counters.live_qps++;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *init)
{
	struct o2l_qp *qp;
	uint32_t qpn;
	int error = check_init(pd, init);

	if (error)
		return o2l_refuse_object(error);
	qp = calloc(1, sizeof(*qp));
	if (!qp)
		return o2l_refuse_object(ENOMEM);
	qp->init = *init;
	grant(&qp->init.cap, init->srq != NULL);
	error = alloc_rings(qp);
	o2l_lock();
	if (!error)
		error = o2l_fault(O2_LOOP_CALL_MAKE, 0);
	if (error || o2l_index_add(&o2l_fabric.qps, qp, &qpn)) {
		o2l_unlock();
		free_rings(qp);
		free(qp);
		return o2l_refuse_object(ENOMEM);
	}
	fill_qp(qp, pd, init, qpn);
	init->cap = qp->init.cap;
	o2l_unlock();
	return &qp->ibv;
}

/* The extended call, if it asks for nothing that the plain call cannot do. */
struct ibv_qp *o2l_create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *init)
{
	(void)context;
	if (!(init->comp_mask & IBV_QP_INIT_ATTR_PD) ||
	    init->comp_mask & ~(uint32_t)(IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS) ||
	    (init->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS && init->create_flags))
		return o2l_refuse_object(EOPNOTSUPP);
	/* The plain structure is the beginning of the extended one; verbs.h relies on this too. */
	return ibv_create_qp(init->pd, (struct ibv_qp_init_attr *)(void *)init);
}

/* The extended send API is not supported, only ibv_post_send. */
struct ibv_qp_ex *ibv_qp_to_qp_ex(struct ibv_qp *qp)
{
	(void)qp;
	return NULL;
}

int ibv_query_qp(struct ibv_qp *ibv, struct ibv_qp_attr *attr, int mask, struct ibv_qp_init_attr *init)
{
	const struct o2l_qp *qp = O2L_CONTAINER(ibv, struct o2l_qp, ibv);

	(void)mask;
	o2l_lock();
	o2l_run();
	*attr = qp->attr;
	attr->qp_state = qp->state;
	attr->cur_qp_state = qp->state;
	attr->sq_draining = qp->state == IBV_QPS_SQD && qp->begun;
	attr->cap = qp->init.cap;
	attr->sq_psn = qp->sq_psn;
	attr->rq_psn = qp->rq_psn;
	*init = qp->init;
	ibv->state = qp->state;
	o2l_unlock();
	return 0;
}

void o2l_qp_free(struct o2l_qp *qp)
{
	o2l_qp_reset(qp);
	o2l_async_forget(o2l_context_of(qp->ibv.context), qp);
	o2l_index_remove(&o2l_fabric.qps, qp->ibv.qp_num);
	O2L_CONTAINER(qp->ibv.pd, struct o2l_pd, ibv)->users--;
	O2L_CONTAINER(qp->ibv.send_cq, struct o2l_cq, ibv)->users--;
	O2L_CONTAINER(qp->ibv.recv_cq, struct o2l_cq, ibv)->users--;
	if (qp->ibv.srq)
		O2L_CONTAINER(qp->ibv.srq, struct o2l_srq, ibv)->users--;
	LIST_REMOVE(qp, link);
	o2l_fabric.counters.live_qps--;
	pthread_mutex_destroy(&qp->ibv.mutex);
	pthread_cond_destroy(&qp->ibv.cond);
	free_rings(qp);
	free(qp);
}

int ibv_destroy_qp(struct ibv_qp *ibv)
{
	struct o2l_qp *qp = O2L_CONTAINER(ibv, struct o2l_qp, ibv);
	int error = 0;

	o2l_lock();
	/*
	 * A type 2 window still bound would outlive its QP (docs/loopverbs.md, "Differences from soft-RoCE").
	 */
	if (qp->bound_windows)
		error = EBUSY;
	else
		o2l_qp_free(qp);
	o2l_unlock();
	return error;
}
