/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "lnd/conn_internal.h"

/* Queue pair attributes, as ibv_modify_qp(3) wants them. */
#define MIN_RNR_TIMER  12u /* 0.64 ms: the peer reposts receives at once */
#define HOP_LIMIT      64u
#define PSN_MASK       0xffffffu
#define MAX_QUEUE_PAIR 0xffffffu

static int modify(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask, struct o2_error *error)
{
	int rc = ibv_modify_qp(qp, attr, mask);

	if (rc == 0)
		return 0;
	return o2_refuse(error, -(rc > 0 ? rc : EIO), "conn/modify-qp", "qp_state", O2_NO_INDEX,
			 attr->qp_state, qp->state);
}

/* One completion queue for both directions; it holds everything that can be posted. */
static int create_queues(struct o2_conn *conn, struct o2_error *error)
{
	uint32_t cqe = o2_qp_cq_entries(&conn->config, &conn->flow);
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = o2_qp_send_wrs(&conn->config, &conn->flow),
			.max_recv_wr = o2_qp_recv_wrs(&conn->config),
			.max_send_sge = o2_qp_send_sge(&conn->config),
			.max_recv_sge = 1},
	};
	int code;

	errno = 0;
	conn->cq = ibv_create_cq(conn->ni->context, (int)cqe, NULL, NULL, 0);
	if (conn->cq == NULL)
		return o2_refuse(error, errno != 0 ? -errno : -EIO, "conn/create-cq", "cqe", O2_NO_INDEX, cqe,
				 0);
	init.send_cq = conn->cq;
	init.recv_cq = conn->cq;
	conn->qp = ibv_create_qp(conn->ni->pd, &init);
	conn->send_wrs_max = init.cap.max_send_wr;
	conn->cq_entries = cqe;
	if (conn->qp != NULL)
		return 0;
	code = errno != 0 ? -errno : -EIO;
	ibv_destroy_cq(conn->cq);
	conn->cq = NULL;
	return o2_refuse(error, code, "conn/create-qp", "max_send_wr", O2_NO_INDEX,
			 o2_qp_send_wrs(&conn->config, &conn->flow), 0);
}

/* Where memory is short a smaller depth may do. */
static int create_as_deep_as_possible(struct o2_conn *conn, struct o2_error *error)
{
	int rc;

	while ((rc = create_queues(conn, error)) == -ENOMEM && o2_qp_shrink(&conn->config, &conn->flow))
		;
	return rc;
}

int o2_qp_create(struct o2_conn *conn, struct o2_error *error)
{
	struct o2_ni *ni = conn->ni;
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = ni->config.port,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};
	int rc = create_as_deep_as_possible(conn, error);

	if (rc != 0)
		return rc;
	conn->self = (struct o2_conn_address){
		.gid = ni->gid,
		.qp_num = conn->qp->qp_num,
		/* Any number will do; one that differs between queue pairs shows a stray packet. */
		.psn = conn->qp->qp_num * 0x9e3779b1u >> 8 & PSN_MASK,
		.nid = ni->config.nid,
		.incarnation = ni->config.incarnation,
		.queue_depth = conn->config.queue_depth,
		.max_frags = conn->config.max_frags,
	};
	return modify(conn->qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS,
		      error);
}

int o2_qp_check_address(const struct o2_conn_address *peer, struct o2_error *error)
{
	if (peer->qp_num > MAX_QUEUE_PAIR)
		return o2_refuse(error, -EINVAL, "conn/peer-qp-num", "qp_num", O2_NO_INDEX, peer->qp_num,
				 MAX_QUEUE_PAIR);
	if (peer->psn > PSN_MASK)
		return o2_refuse(error, -EINVAL, "conn/peer-psn", "psn", O2_NO_INDEX, peer->psn, PSN_MASK);
	return 0;
}

int o2_qp_connect(struct o2_conn *conn, struct o2_error *error)
{
	const struct o2_ni *ni = conn->ni;
	struct ibv_qp_attr rtr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = ni->mtu,
		.dest_qp_num = conn->address.qp_num,
		.rq_psn = conn->address.psn,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = MIN_RNR_TIMER,
		.ah_attr = {.is_global = 1,
			    .port_num = ni->config.port,
			    .grh = {.dgid = conn->address.gid,
				    .sgid_index = ni->config.gid_index,
				    .hop_limit = HOP_LIMIT}},
	};
	struct ibv_qp_attr rts = {
		.qp_state = IBV_QPS_RTS,
		.sq_psn = conn->self.psn,
		.timeout = conn->config.ack_timeout,
		.retry_cnt = conn->config.retry_count,
		.rnr_retry = conn->config.rnr_retry_count,
		.max_rd_atomic = 1,
	};
	int rc;

	rc = modify(conn->qp, &rtr,
		    IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			    IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
		    error);
	if (rc == 0)
		rc = modify(conn->qp, &rts,
			    IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				    IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC,
			    error);
	return rc;
}

void o2_qp_fail(struct o2_conn *conn)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};

	/* A failure changes nothing: the queue pair is destroyed next. */
	ibv_modify_qp(conn->qp, &attr, IBV_QP_STATE);
}
