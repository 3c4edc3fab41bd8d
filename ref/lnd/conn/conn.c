/* SPDX-License-Identifier: MIT */
#include "lnd/conn/conn.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/breaks.h"
#include "lnd/conn/conn_internal.h"
#include "lnd/ni/path.h"
#include "reg/bind.h"

/* Creation and destruction of a connection.  The other files of this directory have what happens in between. */

static uint64_t rx_area_bytes(const struct o2_conn *conn)
{
	return (uint64_t)conn->nrecv * O2_MSG_BYTES;
}

static int make_arrays(struct o2_conn *conn, struct o2_error *error)
{
	uint32_t max_frags = conn->config.max_frags;

	for (int list = 0; list < O2_TX_LISTS; list++)
		TAILQ_INIT(&conn->list[list]);
	conn->most[O2_TX_OURS] = conn->config.max_transfers;
	/* A peer may start as many transfers as it has credits before we have seen the previous ones end. */
	conn->most[O2_TX_PEERS] = 2 * conn->config.queue_depth;
	conn->most[O2_TX_NOOPS] = O2_NOOP_TXS;
	conn->nrecv = o2_qp_recv_wrs(&conn->config);
	conn->chain.wr_capacity = max_frags + O2_TX_EXTRA_WRS;
	conn->chain.sge_capacity = max_frags * conn->config.wrq_sge + O2_IMMEDIATE_SGE;
	conn->parked = calloc(conn->nrecv, sizeof(*conn->parked));
	conn->chain.wr = calloc(conn->chain.wr_capacity, sizeof(*conn->chain.wr));
	conn->chain.sge = calloc(conn->chain.sge_capacity, sizeof(*conn->chain.sge));
	conn->chain.ops = conn->ni->config.work_ops;
	if (conn->parked == NULL || conn->chain.wr == NULL || conn->chain.sge == NULL)
		return o2_fail(error, -ENOMEM, "conn/memory", "receives", conn->nrecv);
	return 0;
}

/* The receive buffers are private memory of the connection, in a region of their own that no peer can access. */
static int make_rx_area(struct o2_conn *conn, struct o2_error *error)
{
	int access = IBV_ACCESS_LOCAL_WRITE;
	int rc;

	conn->rx_area = aligned_alloc(O2_MSG_BYTES, rx_area_bytes(conn));
	if (conn->rx_area == NULL)
		return o2_fail(error, -ENOMEM, "conn/slots", "message slots", conn->nrecv);
	if (!o2_breaks("reg/slots-local", true))
		access |= IBV_ACCESS_REMOTE_WRITE;
	rc = o2_dma_map_single(conn->rx_area, rx_area_bytes(conn), O2_DMA_FROM_DEVICE,
			       conn->ni->config.bounce, &conn->rx_dma, error);
	if (rc != 0)
		return rc;
	return o2_reg_mr(&o2_reg_libibverbs, conn->ni->pd, conn->rx_dma.device, rx_area_bytes(conn),
			 (uintptr_t)conn->rx_dma.device, access, &conn->rx_mr, error);
}

static int fill(struct o2_conn *conn, struct o2_error *error)
{
	int rc = o2_qp_create(conn, error);

	if (rc == 0)
		rc = make_arrays(conn, error);
	if (rc == 0)
		rc = make_rx_area(conn, error);
	for (uint32_t rx = 0; rc == 0 && rx < conn->nrecv; rx++)
		rc = o2_rx_post(conn, rx, error);
	return rc;
}

int o2_conn_create(struct o2_ni *ni, const struct o2_conn_config *config, const struct o2_conn_ops *ops,
		   void *context, struct o2_conn **conn_out, struct o2_error *error)
{
	struct o2_conn *conn = malloc(sizeof(*conn));
	int rc;

	*conn_out = NULL;
	if (conn == NULL)
		return o2_fail(error, -ENOMEM, "conn/memory", "connection", sizeof(*conn));
	/* Clearing the rest too, some hundred KiB, would be most of the cost of creating a connection. */
	memset(conn, 0, O2_CONN_STATE_BYTES);
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
	/* Set ops only now: nobody is told that a connection is closed if its creation failed. */
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

int o2_conn_arm(struct o2_conn *conn)
{
	struct o2_error error;
	int rc;

	if (conn->ni->channel == NULL)
		return -EOPNOTSUPP;
	/* If the queue is armed already, no completion has come since, or its event still waits to be taken. */
	if (conn->state != O2_CONN_DISCONNECTED && !conn->armed) {
		rc = ibv_req_notify_cq(conn->cq, 0);
		if (rc != 0) {
			o2_fail(&error, -EIO, "conn/arm", "ibv_req_notify_cq", (uint64_t)rc);
			o2_conn_fail_by(conn, O2_FAULT_DEVICE, &error, NULL);
		}
		conn->armed = rc == 0;
	}
	/* A completion that came after the last poll and before the request raises no event, so poll again. */
	return o2_conn_progress(conn);
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
	const struct o2_watched gone = {.kind = O2_WATCHED_GONE, .ours = true, .conn = conn};

	if (conn == NULL)
		return;
	o2_conn_close(conn, 0);
	o2_watch_tell(conn->ni->config.watch, &gone);
	if (conn->cq != NULL)
		destroy_cq(conn);
	if (conn->rx_mr != NULL)
		ibv_dereg_mr(conn->rx_mr);
	o2_dma_unmap_single(&conn->rx_dma);
	free(conn->rx_area);
	free(conn->chain.sge);
	free(conn->chain.wr);
	free(conn->parked);
	free(conn);
}

/* From INIT to ESTABLISHED: setting the peer and the negotiated parameters (docs/transport.md, "Setting up"). */

static int check_peer(const struct o2_conn *conn, const struct o2_conn_peer *peer, struct o2_error *error)
{
	uint32_t least = o2_min_queue_depth(peer->version), depth = conn->flow.queue_depth;
	int rc;

	if (conn->state != O2_CONN_INIT)
		return o2_refuse_other(error, -EISCONN, "conn/not-init", "state", conn->state, O2_CONN_INIT);
	/* The receives and the tunables were chosen for the version at creation. */
	if (peer->version != conn->config.version)
		return o2_refuse_other(error, -EPROTO, "conn/peer-version", "version", peer->version,
				       conn->config.version);
	rc = o2_refuse_range(error, -EPROTO, "conn/peer-queue-depth", "queue_depth", peer->queue_depth, least,
			     depth);
	/* At most the value at creation. */
	if (rc == 0)
		rc = o2_refuse_range(error, -EPROTO, "conn/peer-max-frags", "max_frags", peer->max_frags, 1,
				     conn->chain.wr_capacity - O2_TX_EXTRA_WRS);
	if (rc == 0)
		rc = o2_refuse_range(error, -EPROTO, "conn/peer-max-msg", "max_msg_bytes",
				     peer->max_msg_bytes, O2_MIN_MSG_BYTES, O2_MSG_BYTES);
	return rc;
}

static void adopt_peer(struct o2_conn *conn, const struct o2_conn_peer *peer)
{
	conn->peer = *peer;
	conn->cpt = o2_ni_cpt(conn->ni, peer->nid);
	conn->config.queue_depth = peer->queue_depth;
	conn->config.max_frags = peer->max_frags;
	if (o2_cksum_wanted(conn))
		conn->config.cksum_flavour = peer->cksum_flavour;
	o2_credits_init(&conn->credits, peer->version, peer->queue_depth, &conn->flow);
}

int o2_conn_set_peer(struct o2_conn *conn, const struct o2_conn_peer *peer, struct o2_error *error)
{
	int rc = check_peer(conn, peer, error);

	if (rc == 0)
		adopt_peer(conn, peer);
	return rc;
}

void o2_conn_establish(struct o2_conn *conn)
{
	if (conn->state != O2_CONN_INIT)
		return;
	conn->last_post_ms = o2_clock_ms(&conn->ni->clock);
	conn->state = O2_CONN_ESTABLISHED;
	o2_conn_resume(conn);
}

static uint32_t smaller(uint32_t ours, uint32_t theirs)
{
	return theirs != 0 && theirs < ours ? theirs : ours;
}

int o2_conn_connect(struct o2_conn *conn, const struct o2_conn_address *address, struct o2_error *error)
{
	struct o2_conn_peer peer = {
		.nid = address->nid,
		.incarnation = address->incarnation,
		.version = conn->config.version,
		.queue_depth = smaller(conn->config.queue_depth, address->queue_depth),
		.max_frags = smaller(conn->config.max_frags, address->max_frags),
		.max_msg_bytes = O2_MSG_BYTES,
	};
	struct o2_qp_path path = {
		.gid = address->gid,
		.dest_qp_num = address->qp_num,
		.dest_psn = address->psn,
		.psn = conn->self.psn,
		.retry_count = conn->config.retry_count,
		.rnr_retry_count = conn->config.rnr_retry_count,
		.ack_timeout = conn->config.ack_timeout,
	};
	int rc = check_peer(conn, &peer, error);

	if (rc == 0)
		rc = o2_qp_to_rts(conn->ni, conn->qp, &path, error);
	if (rc != 0)
		return rc;
	adopt_peer(conn, &peer);
	o2_conn_establish(conn);
	return 0;
}

int o2_conn_set_limits(struct o2_conn *conn, const struct o2_conn_config *config, struct o2_error *error)
{
	/* The arrays were sized for the values at creation, which therefore remain the upper limits. */
	const uint32_t most_frags = conn->chain.wr_capacity - O2_TX_EXTRA_WRS;
	const uint32_t most_sge = (conn->chain.sge_capacity - O2_IMMEDIATE_SGE) / most_frags;
	int rc;

	if (conn->nopen > 0)
		return o2_refuse_value(error, -EBUSY, "conn/transfer-open", "operations open", conn->nopen,
				       0);
	rc = o2_refuse_range(error, -EINVAL, "conn/max-frags", "max_frags", config->max_frags, 1, most_frags);
	if (rc == 0)
		rc = o2_refuse_range(error, -EINVAL, "conn/wrq-sge", "wrq_sge", config->wrq_sge, 1, most_sge);
	if (rc != 0)
		return rc;
	if (config->order != O2_LITTLE_ENDIAN && config->order != O2_BIG_ENDIAN)
		return o2_refuse_value(error, -EINVAL, "conn/order", "order", config->order, O2_BIG_ENDIAN);
	if ((uint32_t)config->cksum_flavour > O2_CKSUM_SIGNED)
		return o2_refuse_value(error, -EINVAL, "conn/cksum-flavour", "cksum_flavour",
				       config->cksum_flavour, O2_CKSUM_SIGNED);
	conn->config.max_frags = config->max_frags;
	conn->config.wrq_sge = config->wrq_sge;
	conn->config.order = config->order;
	conn->config.cksum_flavour = config->cksum_flavour;
	return 0;
}

static uint32_t count_waiting(const struct o2_conn *conn)
{
	const struct o2_tx *tx;
	uint32_t count = 0;

	TAILQ_FOREACH(tx, &conn->list[O2_LIST_QUEUE], link)
		count += o2_takes_reserve(tx->type);
	TAILQ_FOREACH(tx, &conn->list[O2_LIST_ACTIVE], link)
		count += tx->waiting && o2_takes_reserve(tx->type);
	return count;
}

void o2_conn_view(const struct o2_conn *conn, struct o2_conn_view *view)
{
	*view = (struct o2_conn_view){
		.state = conn->state,
		.flow = conn->credits,
		.queued_noops = conn->nlisted[O2_LIST_NOOPS],
		.queued = conn->nlisted[O2_LIST_QUEUE],
		.queued_reserved = conn->nlisted[O2_LIST_RESERVED],
		.queued_window = conn->nlisted[O2_LIST_WINDOW],
		.queued_nocred = conn->nlisted[O2_LIST_NOCRED],
		.active = conn->nlisted[O2_LIST_ACTIVE] + conn->nlisted[O2_LIST_INVALIDATE],
		.waiting = count_waiting(conn),
		.puts_accepted = conn->puts_accepted,
		.parked = conn->nparked,
		.parked_for_window = conn->parked_for_window,
		.open = conn->nopen,
		.send_wrs = conn->send_wrs,
		.send_wrs_max = conn->send_wrs_max,
		.recv_wrs = conn->recv_wrs,
		.recv_wrs_max = conn->nrecv,
		.cq_entries = conn->cq_entries,
	};
}
