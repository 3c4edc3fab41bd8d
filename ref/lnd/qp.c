/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "lnd/conn_internal.h"

/* Queue pair attributes, as ibv_modify_qp(3) wants them. */
#define MIN_RNR_TIMER  12u /* 0.64 ms: the peer reposts receives at once */
#define HOP_LIMIT      64u
#define PSN_MASK       0xffffffu
#define MAX_QUEUE_PAIR 0xffffffu

/* Below this a peer could not have a request and its completion under way (docs/transport.md). */
#define MIN_QUEUE_DEPTH 2u
#define MAX_QUEUE_DEPTH 8u

/*
 * The work requests of 2 * queue_depth full transfers, those that we start and those that the peer starts.
 * All transfers that can be open fit, so nothing ever waits for room in the send queue.
 */
uint32_t o2_qp_send_wrs(const struct o2_conn_config *config)
{
	return 2 * config->queue_depth * (config->max_frags + O2_TX_EXTRA_WRS);
}

uint32_t o2_qp_recv_wrs(const struct o2_conn_config *config)
{
	return 2 * config->queue_depth + O2_EXTRA_RECVS;
}

static int check_config(const struct o2_conn_config *config, uint32_t max_sge, struct o2_error *error)
{
	if (config->queue_depth < MIN_QUEUE_DEPTH || config->queue_depth > MAX_QUEUE_DEPTH)
		return o2_refuse(error, -EINVAL, "conn/queue-depth", "queue_depth", O2_NO_INDEX,
				 config->queue_depth,
				 config->queue_depth < MIN_QUEUE_DEPTH ? MIN_QUEUE_DEPTH : MAX_QUEUE_DEPTH);
	if (config->max_frags == 0 || config->max_frags > O2_MAX_FRAGS)
		return o2_refuse(error, -EINVAL, "conn/max-frags", "max_frags", O2_NO_INDEX,
				 config->max_frags, O2_MAX_FRAGS);
	if (config->wrq_sge == 0 || config->wrq_sge > O2_MAX_WRQ_SGE)
		return o2_refuse(error, -EINVAL, "conn/wrq-sge", "wrq_sge", O2_NO_INDEX, config->wrq_sge,
				 O2_MAX_WRQ_SGE);
	if (config->wrq_sge > max_sge)
		return o2_refuse(error, -EINVAL, "conn/device-sge", "wrq_sge", O2_NO_INDEX, config->wrq_sge,
				 max_sge);
	if (config->retry_count > 6)
		return o2_refuse(error, -EINVAL, "conn/retry-count", "retry_count", O2_NO_INDEX,
				 config->retry_count, 6);
	if (config->rnr_retry_count > 6)
		return o2_refuse(error, -EINVAL, "conn/rnr-retry-count", "rnr_retry_count", O2_NO_INDEX,
				 config->rnr_retry_count, 6);
	if (config->ack_timeout > 31)
		return o2_refuse(error, -EINVAL, "conn/ack-timeout", "ack_timeout", O2_NO_INDEX,
				 config->ack_timeout, 31);
	return 0;
}

int o2_qp_fit(struct o2_ni *ni, struct o2_conn_config *config, struct o2_error *error)
{
	struct ibv_device_attr attr;
	uint32_t max_wr, max_cqe;
	int rc;

	memset(&attr, 0, sizeof(attr));
	rc = ibv_query_device(ni->context, &attr);
	if (rc != 0)
		return o2_refuse(error, -(rc > 0 ? rc : EIO), "conn/query-device", "device", O2_NO_INDEX, 0,
				 0);
	rc = check_config(config, (uint32_t)attr.max_sge, error);
	if (rc != 0)
		return rc;
	max_wr = (uint32_t)attr.max_qp_wr;
	max_cqe = (uint32_t)attr.max_cqe;
	while (o2_qp_send_wrs(config) > max_wr || o2_qp_recv_wrs(config) > max_wr ||
	       o2_qp_send_wrs(config) + o2_qp_recv_wrs(config) > max_cqe) {
		if (config->queue_depth == MIN_QUEUE_DEPTH)
			return o2_refuse(error, -EINVAL, "conn/device-queue", "send work requests",
					 O2_NO_INDEX, o2_qp_send_wrs(config),
					 max_wr < max_cqe ? max_wr : max_cqe);
		config->queue_depth--;
	}
	return 0;
}

static int modify(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask, struct o2_error *error)
{
	int rc = ibv_modify_qp(qp, attr, mask);

	if (rc == 0)
		return 0;
	return o2_refuse(error, -(rc > 0 ? rc : EIO), "conn/modify-qp", "qp_state", O2_NO_INDEX,
			 attr->qp_state, qp->state);
}

/*
 * One completion queue for both directions.  It holds everything that can be posted: in an error every
 * request completes, the unsignalled ones too.
 */
int o2_qp_create(struct o2_conn *conn, struct o2_error *error)
{
	struct o2_ni *ni = conn->ni;
	uint32_t send_wrs = o2_qp_send_wrs(&conn->config);
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = send_wrs,
			.max_recv_wr = conn->nrecv,
			.max_send_sge = conn->config.wrq_sge,
			.max_recv_sge = 1},
	};
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = ni->config.port,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};

	errno = 0;
	conn->cq = ibv_create_cq(ni->context, (int)(send_wrs + conn->nrecv), NULL, NULL, 0);
	if (conn->cq == NULL)
		return o2_refuse(error, errno != 0 ? -errno : -EIO, "conn/create-cq", "cqe", O2_NO_INDEX,
				 send_wrs + conn->nrecv, 0);
	init.send_cq = conn->cq;
	init.recv_cq = conn->cq;
	conn->qp = ibv_create_qp(ni->pd, &init);
	if (conn->qp == NULL)
		return o2_refuse(error, errno != 0 ? -errno : -EIO, "conn/create-qp", "max_send_wr",
				 O2_NO_INDEX, send_wrs, 0);
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

static int check_peer(const struct o2_conn_address *peer, struct o2_error *error)
{
	if (peer->qp_num > MAX_QUEUE_PAIR)
		return o2_refuse(error, -EINVAL, "conn/peer-qp-num", "qp_num", O2_NO_INDEX, peer->qp_num,
				 MAX_QUEUE_PAIR);
	if (peer->queue_depth == 1)
		return o2_refuse(error, -EINVAL, "conn/peer-queue-depth", "queue_depth", O2_NO_INDEX,
				 peer->queue_depth, MIN_QUEUE_DEPTH);
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
		.dest_qp_num = conn->peer.qp_num,
		.rq_psn = conn->peer.psn,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = MIN_RNR_TIMER,
		.ah_attr = {.is_global = 1,
			    .port_num = ni->config.port,
			    .grh = {.dgid = conn->peer.gid,
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
	int rc = check_peer(&conn->peer, error);

	if (rc != 0)
		return rc;
	if (conn->peer.queue_depth != 0 && conn->peer.queue_depth < conn->config.queue_depth)
		conn->config.queue_depth = conn->peer.queue_depth;
	if (conn->peer.max_frags != 0 && conn->peer.max_frags < conn->config.max_frags)
		conn->config.max_frags = conn->peer.max_frags;
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
