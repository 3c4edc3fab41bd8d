/* SPDX-License-Identifier: MIT */
/* The state machine of a queue pair: the transitions that ibv_modify_qp(3) allows, and their effects. */
#include "loopverbs/internal.h"

#define AV	(IBV_QP_AV)
#define PKEY	(IBV_QP_PKEY_INDEX)
#define ACCESS	(IBV_QP_ACCESS_FLAGS)
#define PATH	(IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE)
#define RNR	(IBV_QP_MIN_RNR_TIMER)
#define CUR	(IBV_QP_CUR_STATE)
#define CONNECT (IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN)

/* One transition: the attributes that are required and those that are optional, by queue pair type. */
struct transition {
	enum ibv_qp_state from;
	enum ibv_qp_state to;
	int must_rc, may_rc;
	int must_uc, may_uc;
	int must_ud, may_ud;
};

/* ibv_modify_qp(3) and the InfiniBand specification, "QP state transitions". */
static const struct transition transitions[] = {
	{IBV_QPS_RESET, IBV_QPS_INIT, PKEY | IBV_QP_PORT | ACCESS, 0, PKEY | IBV_QP_PORT | ACCESS, 0,
	 PKEY | IBV_QP_PORT | IBV_QP_QKEY, 0},
	{IBV_QPS_INIT, IBV_QPS_INIT, 0, PKEY | IBV_QP_PORT | ACCESS, 0, PKEY | IBV_QP_PORT | ACCESS, 0,
	 PKEY | IBV_QP_PORT | IBV_QP_QKEY},
	{IBV_QPS_INIT, IBV_QPS_RTR, CONNECT | IBV_QP_MAX_DEST_RD_ATOMIC | RNR,
	 IBV_QP_ALT_PATH | ACCESS | PKEY, CONNECT, IBV_QP_ALT_PATH | ACCESS | PKEY, 0, PKEY | IBV_QP_QKEY},
	{IBV_QPS_RTR, IBV_QPS_RTS,
	 IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC,
	 CUR | PATH | ACCESS | RNR, IBV_QP_SQ_PSN, CUR | PATH | ACCESS, IBV_QP_SQ_PSN, CUR | IBV_QP_QKEY},
	{IBV_QPS_RTS, IBV_QPS_RTS, 0, CUR | PATH | ACCESS | RNR, 0, CUR | PATH | ACCESS, 0,
	 CUR | IBV_QP_QKEY},
	{IBV_QPS_RTS, IBV_QPS_SQD, 0, IBV_QP_EN_SQD_ASYNC_NOTIFY, 0, IBV_QP_EN_SQD_ASYNC_NOTIFY, 0,
	 IBV_QP_EN_SQD_ASYNC_NOTIFY},
	{IBV_QPS_SQD, IBV_QPS_RTS, 0, CUR | PATH | ACCESS | RNR, 0, CUR | PATH | ACCESS, 0,
	 CUR | IBV_QP_QKEY},
	{IBV_QPS_SQD, IBV_QPS_SQD, 0,
	 IBV_QP_PORT | AV | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC |
		 IBV_QP_MAX_DEST_RD_ATOMIC | PATH | ACCESS | PKEY | RNR,
	 0, AV | PATH | ACCESS | PKEY, 0, PKEY | IBV_QP_QKEY},
	{IBV_QPS_SQE, IBV_QPS_RTS, 0, 0, 0, CUR | ACCESS, 0, CUR | IBV_QP_QKEY},
};

static bool transition_ok(enum ibv_qp_type type, enum ibv_qp_state from, enum ibv_qp_state to, int mask)
{
	mask &= ~IBV_QP_STATE;
	if (to == IBV_QPS_RESET || (to == IBV_QPS_ERR && from != IBV_QPS_RESET))
		return mask == 0;
	for (size_t i = 0; i < sizeof(transitions) / sizeof(transitions[0]); i++) {
		const struct transition *t = &transitions[i];
		int must, may;

		if (t->from != from || t->to != to)
			continue;
		if (from == IBV_QPS_SQE && type == IBV_QPT_RC)
			return false;
		must = type == IBV_QPT_RC ? t->must_rc : type == IBV_QPT_UC ? t->must_uc : t->must_ud;
		may = type == IBV_QPT_RC ? t->may_rc : type == IBV_QPT_UC ? t->may_uc : t->may_ud;
		return (mask & must) == must && (mask & ~(must | may)) == 0;
	}
	return false;
}

static bool values_ok(const struct o2l_qp *qp, const struct ibv_qp_attr *a, int mask)
{
	if (mask & IBV_QP_PORT && a->port_num != 1)
		return false;
	if (mask & IBV_QP_PKEY_INDEX && a->pkey_index != 0)
		return false;
	if (mask & IBV_QP_AV && o2l_check_ah_attr(qp->device, &a->ah_attr))
		return false;
	if (mask & IBV_QP_PATH_MTU && (a->path_mtu < IBV_MTU_256 || a->path_mtu > IBV_MTU_4096))
		return false;
	if (mask & IBV_QP_TIMEOUT && a->timeout > 31)
		return false;
	if (mask & IBV_QP_RETRY_CNT && a->retry_cnt > 7)
		return false;
	if (mask & IBV_QP_RNR_RETRY && a->rnr_retry > 7)
		return false;
	if (mask & IBV_QP_MIN_RNR_TIMER && a->min_rnr_timer > 31)
		return false;
	if (mask & IBV_QP_MAX_QP_RD_ATOMIC && a->max_rd_atomic > O2L_MAX_RD_ATOMIC)
		return false;
	if (mask & IBV_QP_MAX_DEST_RD_ATOMIC && a->max_dest_rd_atomic > O2L_MAX_RD_ATOMIC)
		return false;
	return !(mask & (IBV_QP_ALT_PATH | IBV_QP_CAP | IBV_QP_RATE_LIMIT)); /* not supported */
}

/* Copy one field if its bit is set in the mask. */
#define TAKE(bit, field)                           \
	do {                                       \
		if (mask & (bit))                  \
			qp->attr.field = a->field; \
	} while (0)

static void take_values(struct o2l_qp *qp, const struct ibv_qp_attr *a, int mask)
{
	TAKE(IBV_QP_PKEY_INDEX, pkey_index);
	TAKE(IBV_QP_PORT, port_num);
	TAKE(IBV_QP_ACCESS_FLAGS, qp_access_flags);
	TAKE(IBV_QP_QKEY, qkey);
	TAKE(IBV_QP_PATH_MTU, path_mtu);
	TAKE(IBV_QP_DEST_QPN, dest_qp_num);
	TAKE(IBV_QP_MAX_DEST_RD_ATOMIC, max_dest_rd_atomic);
	TAKE(IBV_QP_MAX_QP_RD_ATOMIC, max_rd_atomic);
	TAKE(IBV_QP_MIN_RNR_TIMER, min_rnr_timer);
	TAKE(IBV_QP_TIMEOUT, timeout);
	TAKE(IBV_QP_RETRY_CNT, retry_cnt);
	TAKE(IBV_QP_RNR_RETRY, rnr_retry);
	TAKE(IBV_QP_EN_SQD_ASYNC_NOTIFY, en_sqd_async_notify);
	TAKE(IBV_QP_PATH_MIG_STATE, path_mig_state);
	if (mask & IBV_QP_AV) {
		qp->attr.ah_attr = a->ah_attr;
		qp->dest_device = o2l_device_by_gid(&a->ah_attr.grh.dgid);
	}
	if (mask & IBV_QP_RQ_PSN)
		qp->rq_psn = a->rq_psn & O2L_PSN_MASK;
	if (mask & IBV_QP_SQ_PSN)
		qp->sq_psn = a->sq_psn & O2L_PSN_MASK;
	qp->rnr_left = qp->attr.rnr_retry;
	qp->ack_left = qp->attr.retry_cnt;
}

/* Reset: empty both queues without completions.  Bound windows stay bound, as measured on soft-RoCE. */
void o2l_qp_reset(struct o2l_qp *qp)
{
	o2l_unschedule(qp);
	qp->sq_count = 0;
	qp->own_rq.count = 0;
	qp->state = IBV_QPS_RESET;
	qp->begun = false;
	qp->broken = false;
	memset(&qp->attr, 0, sizeof(qp->attr));
	qp->dest_device = NULL;
	qp->sq_psn = 0;
	qp->rq_psn = 0;
	o2l_wake_rnr(qp->rq, qp);
}

static void flush_recvs(struct o2l_qp *qp)
{
	struct ibv_wc wc = {.status = IBV_WC_WR_FLUSH_ERR, .opcode = IBV_WC_RECV, .qp_num = qp->ibv.qp_num};

	while (qp->own_rq.count) {
		wc.wr_id = qp->own_rq.ring[qp->own_rq.head].wr_id;
		o2l_rq_pop(qp);
		o2l_cq_push(O2L_CONTAINER(qp->ibv.recv_cq, struct o2l_cq, ibv), &wc, true);
	}
}

void o2l_qp_error(struct o2l_qp *qp)
{
	if (qp->state == IBV_QPS_ERR)
		return;
	o2l_unschedule(qp);
	qp->state = IBV_QPS_ERR;
	while (qp->sq_count)
		o2l_complete_send(qp, IBV_WC_WR_FLUSH_ERR, 0);
	if (qp->ibv.srq) {
		const struct ibv_async_event event = {{.qp = &qp->ibv}, IBV_EVENT_QP_LAST_WQE_REACHED};

		o2l_async(qp->ibv.context, &event);
	} else {
		flush_recvs(qp);
	}
	o2l_wake_rnr(qp->rq, qp);
}

/* In SQD, a request that was begun is still completed; then the program is told. */
void o2l_qp_drained(struct o2l_qp *qp)
{
	const struct ibv_async_event event = {{.qp = &qp->ibv}, IBV_EVENT_SQ_DRAINED};

	if (qp->state == IBV_QPS_SQD && !qp->begun && qp->attr.en_sqd_async_notify)
		o2l_async(qp->ibv.context, &event);
}

static void enter(struct o2l_qp *qp, enum ibv_qp_state to)
{
	if (to == IBV_QPS_RESET) {
		o2l_qp_reset(qp);
	} else if (to == IBV_QPS_ERR) {
		o2l_qp_error(qp);
	} else {
		qp->state = to;
		if (to == IBV_QPS_SQD && !qp->begun)
			o2l_unschedule(qp);
		o2l_kick(qp);
		o2l_qp_drained(qp);
	}
}

int ibv_modify_qp(struct ibv_qp *ibv, struct ibv_qp_attr *attr, int mask)
{
	struct o2l_qp *qp = O2L_CONTAINER(ibv, struct o2l_qp, ibv);
	enum ibv_qp_state from, to;
	int error = 0;

	o2l_lock();
	o2l_run();
	from = mask & IBV_QP_CUR_STATE ? attr->cur_qp_state : qp->state;
	to = mask & IBV_QP_STATE ? attr->qp_state : from;
	if (to != IBV_QPS_ERR && o2l_fault(O2_LOOP_CALL_MODIFY, ibv->qp_num)) {
		error = ENOMEM;
	} else if (from != qp->state || !transition_ok(ibv->qp_type, from, to, mask) ||
		   !values_ok(qp, attr, mask)) {
		error = EINVAL;
	} else {
		take_values(qp, attr, mask);
		if (mask & IBV_QP_STATE) {
			enter(qp, to);
			ibv->state = to;
		}
		o2l_run();
	}
	o2l_unlock();
	return error;
}
