/* SPDX-License-Identifier: MIT */
#include "lnd/ni/path.h"

#include <errno.h>

#define HOP_LIMIT   64u
#define NUMBER_MASK 0xffffffu /* queue pair and packet sequence numbers have 24 bits */

uint32_t o2_qp_psn(const struct ibv_qp *qp)
{
	return qp->qp_num * 0x9e3779b1u >> 8 & NUMBER_MASK;
}

int o2_qp_modify(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask, struct o2_error *error)
{
	int rc = ibv_modify_qp(qp, attr, mask);

	if (rc == 0)
		return 0;
	return o2_fail(error, o2_errno_or(rc, EIO), "conn/modify-qp", "qp_state", attr->qp_state);
}

int o2_qp_to_rts(const struct o2_ni *ni, struct ibv_qp *qp, const struct o2_qp_path *path,
		 struct o2_error *error)
{
	struct ibv_qp_attr rtr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = ni->mtu,
		.dest_qp_num = path->dest_qp_num,
		.rq_psn = path->dest_psn,
		.min_rnr_timer = O2_QP_MIN_RNR_TIMER,
		.ah_attr = {.is_global = 1,
			    .port_num = ni->config.port,
			    .grh = {.dgid = path->gid,
				    .sgid_index = ni->config.gid_index,
				    .hop_limit = HOP_LIMIT}},
	};
	struct ibv_qp_attr rts = {
		.qp_state = IBV_QPS_RTS,
		.sq_psn = path->psn,
		.timeout = path->ack_timeout,
		.retry_cnt = path->retry_count,
		.rnr_retry = path->rnr_retry_count,
	};
	const int rtr_mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			     IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	const int rts_mask = IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			     IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC;
	int rc = o2_refuse_range(error, -EINVAL, "conn/peer-qp-num", "qp_num", path->dest_qp_num, 0,
				 NUMBER_MASK);

	if (rc == 0)
		rc = o2_refuse_range(error, -EINVAL, "conn/peer-psn", "psn", path->dest_psn, 0, NUMBER_MASK);
	if (rc == 0)
		rc = o2_qp_modify(qp, &rtr, rtr_mask, error);
	if (rc == 0)
		rc = o2_qp_modify(qp, &rts, rts_mask, error);
	return rc;
}
