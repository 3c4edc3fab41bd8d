/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "lnd/conn/conn_internal.h"
#include "lnd/ni/path.h"

/* Fit tunables and queue depth to the interface's device. */
static int fit(struct o2_ni *ni, struct o2_conn_config *config, struct o2_flow_tunables *flow,
	       struct o2_error *error)
{
	struct ibv_device_attr attr = {0};
	struct o2_qp_device device;
	int rc = ibv_query_device(ni->context, &attr);

	if (rc != 0)
		return o2_fail(error, o2_errno_or(rc, EIO), "conn/query-device", "device", 0);
	device = (struct o2_qp_device){
		.max_sge = (uint32_t)attr.max_sge,
		.max_wr = (uint32_t)attr.max_qp_wr,
		.max_cqe = (uint32_t)attr.max_cqe,
	};
	return o2_qp_fit_device(&device, config, flow, error);
}

/* One completion queue serves sends and receives; it has room for everything that can be posted. */
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
	conn->cq = ibv_create_cq(conn->ni->context, (int)cqe, &conn->armed, conn->ni->channel, 0);
	if (conn->cq == NULL)
		return o2_fail(error, o2_errno_or(errno, EIO), "conn/create-cq", "cqe", cqe);
	init.send_cq = conn->cq;
	init.recv_cq = conn->cq;
	conn->qp = ibv_create_qp(conn->ni->pd, &init);
	conn->send_wrs_max = init.cap.max_send_wr;
	conn->cq_entries = cqe;
	if (conn->qp != NULL)
		return 0;
	code = o2_errno_or(errno, EIO);
	ibv_destroy_cq(conn->cq);
	conn->cq = NULL;
	return o2_fail(error, code, "conn/create-qp", "max_send_wr",
		       o2_qp_send_wrs(&conn->config, &conn->flow));
}

int o2_qp_create(struct o2_conn *conn, struct o2_error *error)
{
	struct o2_ni *ni = conn->ni;
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = ni->config.port,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};
	int rc = fit(ni, &conn->config, &conn->flow, error);

	if (rc != 0)
		return rc;
	/* If the device is short of memory, try a smaller depth. */
	while ((rc = create_queues(conn, error)) == -ENOMEM && o2_qp_shrink(&conn->config, &conn->flow))
		;
	if (rc != 0)
		return rc;
	conn->self = (struct o2_conn_address){
		.gid = ni->gid,
		.qp_num = conn->qp->qp_num,
		.psn = o2_qp_psn(conn->qp),
		.nid = ni->config.nid,
		.incarnation = ni->config.incarnation,
		.queue_depth = conn->config.queue_depth,
		.max_frags = conn->config.max_frags,
	};
	return o2_qp_modify(conn->qp, &attr,
			    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS, error);
}
