/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "base/mutant.h"
#include "lnd/conn_internal.h"
#include "wire/checks.h"

/* Queue pair attributes, as ibv_modify_qp(3) wants them. */
#define MIN_RNR_TIMER  12u /* 0.64 ms: the peer reposts receives at once */
#define HOP_LIMIT      64u
#define PSN_MASK       0xffffffu
#define MAX_QUEUE_PAIR 0xffffffu

/*
 * Full transfers, with the requests for the life of their keys: as many as may be in flight.  So nothing ever
 * waits for room in the send queue.
 */
uint32_t o2_qp_send_wrs(const struct o2_conn_config *config, const struct o2_flow_tunables *flow)
{
	if (o2_mutant(SEND_QUEUE_SHORT)) {
		o2_mutant_differs(true);
		return config->queue_depth * (config->max_frags + 1);
	}
	return o2_full_transfers(flow) * (config->max_frags + O2_TX_EXTRA_WRS);
}

uint32_t o2_qp_recv_wrs(const struct o2_conn_config *config)
{
	return 2 * config->queue_depth + (config->version == O2_MSG_VERSION_1 ? 0 : O2_EXTRA_RECVS);
}

/* In an error every request completes, the unsignalled ones too. */
static uint32_t cq_entries(const struct o2_conn_config *config, const struct o2_flow_tunables *flow)
{
	return o2_qp_recv_wrs(config) +
	       o2_mutate(COMPLETION_QUEUE_SHORT, o2_qp_send_wrs(config, flow), 2 * config->queue_depth);
}

static int refuse_range(struct o2_error *error, const char *rule, const char *field, uint32_t value,
			uint32_t low, uint32_t high)
{
	if (value >= low && value <= high)
		return 0;
	return o2_refuse(error, -EINVAL, rule, field, O2_NO_INDEX, value, value < low ? low : high);
}

static int check_config(const struct o2_conn_config *config, uint32_t max_sge, struct o2_error *error)
{
	const struct {
		const char *rule;
		const char *field;
		uint32_t value;
		uint32_t low;
		uint32_t high;
	} ranges[] = {
		{"conn/queue-depth", "queue_depth", config->queue_depth, o2_min_queue_depth(config->version),
		 O2_MAX_QUEUE_DEPTH},
		{"conn/max-frags", "max_frags", config->max_frags, 1, O2_MAX_FRAGS},
		{"conn/wrq-sge", "wrq_sge", config->wrq_sge, 1, O2_MAX_WRQ_SGE},
		{"conn/device-sge", "wrq_sge", config->wrq_sge, 1, max_sge},
		{"conn/retry-count", "retry_count", config->retry_count, 0, 6},
		{"conn/rnr-retry-count", "rnr_retry_count", config->rnr_retry_count, 0, 6},
		{"conn/ack-timeout", "ack_timeout", config->ack_timeout, 0, 31},
		{"conn/version", "version", config->version, O2_MSG_VERSION_1, O2_MSG_VERSION_2},
		{"conn/max-transfers", "max_transfers", config->max_transfers, 1, O2_MAX_TRANSFERS},
		{"conn/peer-tx-credits", "peer_tx_credits", config->peer_tx_credits, 0, O2_MAX_QUEUE_DEPTH},
		{"conn/order", "order", config->order, O2_LITTLE_ENDIAN, O2_BIG_ENDIAN},
		{"conn/cksum-flavour", "cksum_flavour", config->cksum_flavour, O2_CKSUM_NONE,
		 O2_CKSUM_SIGNED},
	};
	int rc = 0;

	for (unsigned int i = 0; i < sizeof(ranges) / sizeof(ranges[0]) && rc == 0; i++)
		rc = refuse_range(error, ranges[i].rule, ranges[i].field, ranges[i].value, ranges[i].low,
				  ranges[i].high);
	return rc == 0 ? o2_check_options(&config->wire, error) : rc;
}

static void resolve(const struct o2_conn_config *config, struct o2_flow_tunables *flow)
{
	*flow = (struct o2_flow_tunables){
		.queue_depth = config->queue_depth,
		.peer_tx_credits = config->peer_tx_credits,
		.peercredits_hiw = config->peercredits_hiw,
		.concurrent_sends = config->concurrent_sends,
	};
	o2_flow_resolve(flow, config->version);
	/* What is in flight at a time follows the depth, also where that is below peer_tx_credits. */
	if (flow->concurrent_sends > 2 * flow->queue_depth)
		flow->concurrent_sends = 2 * flow->queue_depth;
}

int o2_qp_fit(struct o2_ni *ni, struct o2_conn_config *config, struct o2_flow_tunables *flow,
	      struct o2_error *error)
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
	resolve(config, flow);
	while (o2_qp_send_wrs(config, flow) > max_wr || o2_qp_recv_wrs(config) > max_wr ||
	       cq_entries(config, flow) > max_cqe) {
		if (config->queue_depth == o2_min_queue_depth(config->version))
			return o2_refuse(error, -EINVAL, "conn/device-queue", "send work requests",
					 O2_NO_INDEX, o2_qp_send_wrs(config, flow),
					 max_wr < max_cqe ? max_wr : max_cqe);
		config->queue_depth--;
		resolve(config, flow);
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

static uint32_t send_sge(const struct o2_conn_config *config)
{
	if (config->immediate_gather && config->wrq_sge < O2_IMMEDIATE_SGE)
		return O2_IMMEDIATE_SGE;
	return config->wrq_sge;
}

/* One completion queue for both directions; it holds everything that can be posted. */
int o2_qp_create(struct o2_conn *conn, struct o2_error *error)
{
	struct o2_ni *ni = conn->ni;
	uint32_t send_wrs = o2_qp_send_wrs(&conn->config, &conn->flow);
	uint32_t cqe = cq_entries(&conn->config, &conn->flow);
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = send_wrs,
			.max_recv_wr = conn->nrecv,
			.max_send_sge = send_sge(&conn->config),
			.max_recv_sge = 1},
	};
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = ni->config.port,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};

	errno = 0;
	conn->cq = ibv_create_cq(ni->context, (int)cqe, NULL, NULL, 0);
	if (conn->cq == NULL)
		return o2_refuse(error, errno != 0 ? -errno : -EIO, "conn/create-cq", "cqe", O2_NO_INDEX, cqe,
				 0);
	conn->send_wrs_max = send_wrs;
	conn->cq_entries = cqe;
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
