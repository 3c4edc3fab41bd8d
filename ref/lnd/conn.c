/* SPDX-License-Identifier: MIT */
#include "lnd/conn.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/mutant.h"
#include "lnd/choose.h"
#include "lnd/conn_internal.h"
#include "reg/bind_modes.h"

static uint64_t slots_bytes(const struct o2_conn *conn)
{
	return ((uint64_t)conn->nrecv + (uint64_t)conn->ntx) * O2_MSG_BYTES;
}

static int make_arrays(struct o2_conn *conn, struct o2_error *error)
{
	uint32_t max_frags = conn->config.max_frags;

	conn->ntx = 2 * conn->config.queue_depth;
	conn->nrecv = o2_qp_recv_wrs(&conn->config);
	conn->next_cookie = 1;
	conn->chain.wr_capacity = max_frags + o2_mutate(NO_MESSAGE_SLOT, O2_TX_EXTRA_WRS, 0u);
	conn->chain.sge_capacity = max_frags * conn->config.wrq_sge + 1;
	conn->tx = calloc(conn->ntx, sizeof(*conn->tx));
	conn->parked = calloc(conn->nrecv, sizeof(*conn->parked));
	conn->chain.wr = calloc(conn->chain.wr_capacity, sizeof(*conn->chain.wr));
	conn->chain.sge = calloc(conn->chain.sge_capacity, sizeof(*conn->chain.sge));
	if (conn->tx == NULL || conn->parked == NULL || conn->chain.wr == NULL || conn->chain.sge == NULL)
		return o2_refuse(error, -ENOMEM, "conn/memory", "queue_depth", O2_NO_INDEX,
				 conn->config.queue_depth, 0);
	return 0;
}

/* The message slots are the connection's own memory and a region of their own: no peer can reach them. */
static int make_slots(struct o2_conn *conn, struct o2_error *error)
{
	void *slots =
		mmap(NULL, slots_bytes(conn), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (slots == MAP_FAILED)
		return o2_refuse(error, -errno, "conn/slots", "message slots", O2_NO_INDEX,
				 conn->nrecv + conn->ntx, 0);
	conn->slots = slots;
	return o2_reg_region(conn->ni->pd, slots, slots_bytes(conn), (uintptr_t)slots, IBV_ACCESS_LOCAL_WRITE,
			     &conn->slot_mr, error);
}

int o2_conn_create(struct o2_ni *ni, const struct o2_conn_config *config, const struct o2_conn_ops *ops,
		   void *context, struct o2_conn **conn_out, struct o2_error *error)
{
	struct o2_conn *conn = calloc(1, sizeof(*conn));
	int rc;

	*conn_out = NULL;
	if (conn == NULL)
		return o2_refuse(error, -ENOMEM, "conn/memory", "connection", O2_NO_INDEX, sizeof(*conn), 0);
	conn->ni = ni;
	conn->config = *config;
	conn->ops = *ops;
	conn->context = context;
	rc = o2_qp_fit(ni, &conn->config, error);
	if (rc == 0)
		rc = make_arrays(conn, error);
	if (rc == 0)
		rc = make_slots(conn, error);
	if (rc == 0)
		rc = o2_qp_create(conn, error);
	for (uint32_t slot = 0; rc == 0 && slot < conn->nrecv; slot++)
		rc = o2_recv_post(conn, slot, error);
	if (rc != 0) {
		o2_conn_destroy(conn);
		return rc;
	}
	*conn_out = conn;
	return 0;
}

void o2_conn_get_address(const struct o2_conn *conn, struct o2_conn_address *address)
{
	*address = conn->self;
}

int o2_conn_connect(struct o2_conn *conn, const struct o2_conn_address *peer, struct o2_error *error)
{
	int rc;

	if (conn->state != O2_CONN_INIT)
		return o2_refuse(error, -EISCONN, "conn/not-init", "state", O2_NO_INDEX, conn->state,
				 O2_CONN_INIT);
	conn->peer = *peer;
	rc = o2_qp_connect(conn, error);
	if (rc == 0)
		o2_conn_establish(conn, conn->now_ms);
	return rc;
}

int o2_conn_set_peer(struct o2_conn *conn, const struct o2_conn_peer *peer, struct o2_error *error)
{
	if (conn->state != O2_CONN_INIT)
		return o2_refuse(error, -EISCONN, "conn/not-init", "state", O2_NO_INDEX, conn->state,
				 O2_CONN_INIT);
	if (peer->queue_depth < 2 || peer->queue_depth > conn->config.queue_depth)
		return o2_refuse(error, -EPROTO, "conn/peer-queue-depth", "queue_depth", O2_NO_INDEX,
				 peer->queue_depth, conn->config.queue_depth);
	if (peer->max_frags == 0 || peer->max_frags > conn->config.max_frags)
		return o2_refuse(error, -EPROTO, "conn/peer-max-frags", "max_frags", O2_NO_INDEX,
				 peer->max_frags, conn->config.max_frags);
	conn->peer.nid = peer->nid;
	conn->peer.incarnation = peer->incarnation;
	conn->config.queue_depth = peer->queue_depth;
	conn->config.max_frags = peer->max_frags;
	return 0;
}

void o2_conn_establish(struct o2_conn *conn, uint64_t now_ms)
{
	conn->now_ms = now_ms;
	conn->state = O2_CONN_ESTABLISHED;
}

struct ibv_qp *o2_conn_qp(const struct o2_conn *conn)
{
	return conn->qp;
}

struct ibv_cq *o2_conn_cq(const struct o2_conn *conn)
{
	return conn->cq;
}

void o2_conn_clock(struct o2_conn *conn, uint64_t now_ms)
{
	if (now_ms > conn->now_ms)
		conn->now_ms = now_ms;
}

uint32_t o2_conn_immediate_max(const struct o2_conn *conn)
{
	(void)conn;
	return O2_IMMEDIATE_MAX;
}

int o2_conn_send(struct o2_conn *conn, const struct o2_lnet_hdr *hdr, const struct o2_transfer_memory *memory,
		 uint64_t *cookie_out, struct o2_error *error)
{
	(void)memory;
	(void)cookie_out;
	return o2_refuse(error, -EOPNOTSUPP, "conn/no-immediate", "type", O2_NO_INDEX, hdr->type,
			 conn->state);
}

int o2_conn_send_bytes(struct o2_conn *conn, const struct o2_lnet_hdr *hdr, const void *payload,
		       uint32_t payload_bytes, uint64_t *cookie_out, struct o2_error *error)
{
	(void)payload;
	(void)cookie_out;
	return o2_refuse(error, -EOPNOTSUPP, "conn/no-immediate", "type", payload_bytes, hdr->type,
			 conn->state);
}

void o2_conn_view(const struct o2_conn *conn, struct o2_conn_view *view)
{
	*view = (struct o2_conn_view){
		.state = conn->state,
		.version = O2_MSG_VERSION_2,
		.queue_depth = conn->config.queue_depth,
		.parked = conn->nparked,
		.send_wrs_max = o2_qp_send_wrs(&conn->config),
		.recv_wrs_max = conn->nrecv,
		.cq_entries = o2_qp_send_wrs(&conn->config) + conn->nrecv,
	};
}

enum o2_conn_state o2_conn_get_state(const struct o2_conn *conn)
{
	return conn->state;
}

const struct o2_transfer_fault *o2_conn_get_fault(const struct o2_conn *conn)
{
	return &conn->fault;
}

/*
 * Take the queue pair away.  The order matters to devices (docs/transport.md, "Closing"): a window that is
 * bound must go before its queue pair, and the completions of a queue pair in error are not waited for.
 */
static void destroy_qp(struct o2_conn *conn)
{
	struct ibv_wc wc;

	if (conn->qp == NULL)
		return;
	o2_qp_fail(conn);
	for (uint32_t i = 0; i < conn->ntx; i++)
		if (conn->tx[i].state != O2_TX_FREE)
			o2_reg_unbind(&conn->ni->domain, &conn->tx[i].binding);
	ibv_destroy_qp(conn->qp);
	conn->qp = NULL;
	while (ibv_poll_cq(conn->cq, 1, &wc) > 0)
		;
}

void o2_conn_fail(struct o2_conn *conn, const struct o2_transfer_fault *fault, struct o2_tx *culprit)
{
	if (conn->state == O2_CONN_CLOSING || conn->state == O2_CONN_DISCONNECTED)
		return;
	conn->state = O2_CONN_CLOSING;
	conn->fault = *fault;
	if (culprit != NULL && culprit->fault.side == O2_FAULT_NONE)
		culprit->fault = *fault;
	destroy_qp(conn);
	for (uint32_t i = 0; i < conn->ntx; i++) {
		struct o2_tx *tx = &conn->tx[i];

		if (tx->state == O2_TX_FREE)
			continue;
		if (tx->fault.side == O2_FAULT_NONE)
			tx->fault = (struct o2_transfer_fault){
				.side = O2_FAULT_CLOSED,
				.code = -ECONNABORTED,
				.error = fault->error,
			};
		o2_tx_end(conn, tx);
	}
	conn->state = O2_CONN_DISCONNECTED;
	if (conn->ops.closed != NULL)
		conn->ops.closed(conn->context, &conn->fault);
}

void o2_conn_refuse_peer(struct o2_conn *conn, struct o2_tx *culprit, const struct o2_error *error)
{
	struct o2_transfer_fault fault = {
		.side = O2_FAULT_PEER_MESSAGE,
		.code = error->code,
		.error = *error,
	};

	o2_conn_fail(conn, &fault, culprit);
}

void o2_conn_refuse_message(struct o2_conn *conn, struct o2_tx *culprit, const char *rule, const char *field,
			    uint64_t value, uint64_t limit)
{
	struct o2_error error;

	o2_refuse(&error, -EPROTO, rule, field, O2_NO_INDEX, value, limit);
	error.class = O2_CLASS_CONNECTION;
	o2_conn_refuse_peer(conn, culprit, &error);
}

void o2_conn_close(struct o2_conn *conn, int code)
{
	struct o2_transfer_fault fault = {
		.side = code == 0 ? O2_FAULT_NONE : O2_FAULT_CLOSED,
		.code = code,
	};

	o2_error_clear(&fault.error);
	o2_conn_fail(conn, &fault, NULL);
}

void o2_conn_destroy(struct o2_conn *conn)
{
	if (conn == NULL)
		return;
	o2_conn_close(conn, 0);
	if (conn->cq != NULL)
		ibv_destroy_cq(conn->cq);
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
