/* SPDX-License-Identifier: MIT */
#include "lnd/conn.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/breaks.h"
#include "lnd/conn_internal.h"
#include "reg/bind_modes.h"

/* How a connection is made and unmade; what happens in between stands in the other files of this room. */

static uint64_t slots_bytes(const struct o2_conn *conn)
{
	return (uint64_t)conn->nrecv * O2_MSG_BYTES;
}

/* A peer may start as many transfers as it has credits before we have seen the end of those before. */
static void count_txs(const struct o2_conn *conn, uint32_t count[O2_TX_OWNERS])
{
	count[O2_TX_OURS] = conn->config.max_transfers;
	count[O2_TX_PEERS] = 2 * conn->config.queue_depth;
	count[O2_TX_NOOPS] = O2_NOOP_TXS;
}

static int make_arrays(struct o2_conn *conn, struct o2_error *error)
{
	uint32_t count[O2_TX_OWNERS];
	uint32_t max_frags = conn->config.max_frags;

	count_txs(conn, count);
	conn->ntx = count[O2_TX_OURS] + count[O2_TX_PEERS] + count[O2_TX_NOOPS];
	conn->nrecv = o2_qp_recv_wrs(&conn->config);
	conn->chain.wr_capacity = max_frags + O2_TX_EXTRA_WRS;
	conn->chain.sge_capacity = max_frags * conn->config.wrq_sge + O2_IMMEDIATE_SGE;
	conn->tx = calloc(conn->ntx, sizeof(*conn->tx));
	conn->parked = calloc(conn->nrecv, sizeof(*conn->parked));
	conn->chain.wr = calloc(conn->chain.wr_capacity, sizeof(*conn->chain.wr));
	conn->chain.sge = calloc(conn->chain.sge_capacity, sizeof(*conn->chain.sge));
	conn->chain.ops = conn->ni->config.work_ops;
	if (conn->tx == NULL || conn->parked == NULL || conn->chain.wr == NULL || conn->chain.sge == NULL)
		return o2_refuse(error, -ENOMEM, "conn/memory", "transmits", O2_NO_INDEX, conn->ntx,
				 O2_NO_LIMIT);
	o2_tx_init(conn, count);
	return 0;
}

/* The slots for receiving are the connection's own memory and a region of their own: no peer can reach them.
 */
static int make_slots(struct o2_conn *conn, struct o2_error *error)
{
	int access = IBV_ACCESS_LOCAL_WRITE;
	void *slots =
		mmap(NULL, slots_bytes(conn), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (slots == MAP_FAILED)
		return o2_refuse(error, -errno, "conn/slots", "message slots", O2_NO_INDEX, conn->nrecv,
				 O2_NO_LIMIT);
	conn->slots = slots;
	if (!o2_breaks("reg/slots-local", true))
		access |= IBV_ACCESS_REMOTE_WRITE;
	return o2_reg_region(conn->ni->pd, slots, slots_bytes(conn), (uintptr_t)slots, access, &conn->slot_mr,
			     error);
}

static int fill(struct o2_conn *conn, struct o2_error *error)
{
	int rc = o2_qp_fit(conn->ni, &conn->config, &conn->flow, error);

	if (rc == 0)
		rc = o2_qp_create(conn, error);
	if (rc == 0)
		rc = make_arrays(conn, error);
	if (rc == 0)
		rc = make_slots(conn, error);
	for (uint32_t slot = 0; rc == 0 && slot < conn->nrecv; slot++)
		rc = o2_recv_post(conn, slot, error);
	return rc;
}

int o2_conn_create(struct o2_ni *ni, const struct o2_conn_config *config, const struct o2_conn_ops *ops,
		   void *context, struct o2_conn **conn_out, struct o2_error *error)
{
	struct o2_conn *conn = calloc(1, sizeof(*conn));
	int rc;

	*conn_out = NULL;
	if (conn == NULL)
		return o2_refuse(error, -ENOMEM, "conn/memory", "connection", O2_NO_INDEX, sizeof(*conn),
				 O2_NO_LIMIT);
	conn->ni = ni;
	conn->device = ni->device;
	conn->config = *config;
	conn->context = context;
	conn->peer.max_msg_bytes = O2_MSG_BYTES;
	rc = fill(conn, error);
	if (rc != 0) {
		o2_conn_destroy(conn);
		return rc;
	}
	/* Only now: a connection that was never made has nobody to tell that it is closed. */
	conn->ops = *ops;
	o2_credits_init(&conn->credits, conn->config.version, conn->config.queue_depth, &conn->flow);
	*conn_out = conn;
	return 0;
}

void o2_conn_get_address(const struct o2_conn *conn, struct o2_conn_address *address)
{
	*address = conn->self;
}

struct ibv_qp *o2_conn_qp(const struct o2_conn *conn)
{
	return conn->qp;
}

struct ibv_cq *o2_conn_cq(const struct o2_conn *conn)
{
	return conn->cq;
}

enum o2_conn_state o2_conn_get_state(const struct o2_conn *conn)
{
	return conn->state;
}

const struct o2_transfer_fault *o2_conn_get_fault(const struct o2_conn *conn)
{
	return &conn->fault;
}

static void destroy_cq(struct o2_conn *conn)
{
	const struct o2_work_ops *ops = conn->ni->config.work_ops;

	if (ops != NULL && ops->forget_cq != NULL)
		ops->forget_cq(ops->context, conn->cq);
	ibv_destroy_cq(conn->cq);
}

void o2_conn_destroy(struct o2_conn *conn)
{
	if (conn == NULL)
		return;
	o2_conn_close(conn, 0);
	if (conn->cq != NULL)
		destroy_cq(conn);
	if (conn->slot_mr != NULL)
		ibv_dereg_mr(conn->slot_mr);
	if (conn->slots != NULL)
		munmap(conn->slots, slots_bytes(conn));
	free(conn->chain.sge);
	free(conn->chain.wr);
	free(conn->parked);
	free(conn->tx);
	free(conn);
}
