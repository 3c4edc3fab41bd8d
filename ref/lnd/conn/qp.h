/* SPDX-License-Identifier: MIT */
#ifndef O2_LND_CONN_QP_H
#define O2_LND_CONN_QP_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "lnd/conn/conn.h"
#include "lnd/conn/credits.h"

/* The queue pair of a connection: the depth of its queues, and its creation (docs/transport.md, "Sizes"). */

/* Work requests of a transfer besides its RDMA WRITEs: the message, and the bind and the invalidate of its key. */
#define O2_TX_EXTRA_WRS 3u

/* Gather entries of an IMMEDIATE whose payload is not copied: one for the headers, the others for pages. */
#define O2_IMMEDIATE_SGE 5u
static_assert(O2_IMMEDIATE_SGE <= O2_MAX_WRQ_SGE, "a work request holds them");

/* Limits of a device for each queue pair. */
struct o2_qp_device {
	uint32_t max_sge; /* gather entries of a work request */
	uint32_t max_wr;  /* work requests of a queue */
	uint32_t max_cqe; /* entries of a completion queue */
};

/*
 * Set and check the tunables, and reduce queue_depth to what the device supports.  -EINVAL: a tunable is out of
 * range, or the device does not support the smallest depth.
 */
int o2_qp_fit_device(const struct o2_qp_device *device, struct o2_conn_config *config,
		     struct o2_flow_tunables *flow, struct o2_error *error);
/* Make room for one transfer less: queue_depth and concurrent_sends follow.  False: they are minimal. */
bool o2_qp_shrink(struct o2_conn_config *config, struct o2_flow_tunables *flow);
/*
 * The queue depths that resolved tunables require (docs/transport.md, "Sizes"): work requests of the send queue,
 * receives, entries of the completion queue; and gather entries of one send request.
 */
/* o2iblnd: kiblnd_send_wrs, IBLND_SEND_WRS */
uint32_t o2_qp_send_wrs(const struct o2_conn_config *config, const struct o2_flow_tunables *flow);
/* o2iblnd: IBLND_RX_MSGS, IBLND_RECV_WRS */
uint32_t o2_qp_recv_wrs(const struct o2_conn_config *config);
/* o2iblnd: IBLND_CQ_ENTRIES */
uint32_t o2_qp_cq_entries(const struct o2_conn_config *config, const struct o2_flow_tunables *flow);
uint32_t o2_qp_send_sge(const struct o2_conn_config *config);

/*
 * Create the queue pair, with queues as deep as the interface's device allows, and move it to INIT.  queue_depth
 * shrinks as long as the device has too little memory for it.
 * kernel: rdma_create_qp
 */
int o2_qp_create(struct o2_conn *conn, struct o2_error *error);
#endif
