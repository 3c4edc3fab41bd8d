/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "lnd/conn_internal.h"
#include "lnd/qp_path.h"

/* From INIT to ESTABLISHED: who the peer is and what was agreed (docs/transport.md, "Setting up"). */

static int check_state(const struct o2_conn *conn, struct o2_error *error)
{
	if (conn->state == O2_CONN_INIT)
		return 0;
	return o2_refuse_other(error, -EISCONN, "conn/not-init", "state", conn->state, O2_CONN_INIT);
}

static int refuse_range(struct o2_error *error, const char *rule, const char *field, uint32_t value,
			uint32_t low, uint32_t high)
{
	return o2_refuse(error, -EPROTO, rule, field, O2_NO_INDEX, value, value < low ? low : high);
}

static int check_peer(const struct o2_conn *conn, const struct o2_conn_peer *peer, struct o2_error *error)
{
	uint32_t least = o2_min_queue_depth(peer->version), depth = conn->flow.queue_depth;

	/* Receives and tunables are those of the version that the connection was created with. */
	if (peer->version != conn->config.version)
		return o2_refuse_other(error, -EPROTO, "conn/peer-version", "version", peer->version,
				       conn->config.version);
	if (peer->queue_depth < least || peer->queue_depth > depth)
		return refuse_range(error, "conn/peer-queue-depth", "queue_depth", peer->queue_depth, least,
				    depth);
	if (peer->max_frags == 0 || peer->max_frags > conn->config.max_frags)
		return refuse_range(error, "conn/peer-max-frags", "max_frags", peer->max_frags, 1,
				    conn->config.max_frags);
	if (peer->max_msg_bytes < O2_MIN_MSG_BYTES || peer->max_msg_bytes > O2_MSG_BYTES)
		return refuse_range(error, "conn/peer-max-msg", "max_msg_bytes", peer->max_msg_bytes,
				    O2_MIN_MSG_BYTES, O2_MSG_BYTES);
	return 0;
}

static void adopt_peer(struct o2_conn *conn, const struct o2_conn_peer *peer)
{
	conn->peer = *peer;
	conn->config.queue_depth = peer->queue_depth;
	conn->config.max_frags = peer->max_frags;
	if (o2_cksum_wanted(conn))
		conn->config.cksum_flavour = peer->cksum_flavour;
	o2_credits_init(&conn->credits, peer->version, peer->queue_depth, &conn->flow);
}

int o2_conn_set_peer(struct o2_conn *conn, const struct o2_conn_peer *peer, struct o2_error *error)
{
	int rc = check_state(conn, error);

	if (rc == 0)
		rc = check_peer(conn, peer, error);
	if (rc == 0)
		adopt_peer(conn, peer);
	return rc;
}

void o2_conn_establish(struct o2_conn *conn)
{
	if (conn->state != O2_CONN_INIT)
		return;
	conn->last_post_ms = o2_conn_now_ms(conn);
	conn->state = O2_CONN_ESTABLISHED;
	o2_receive_parked(conn);
	o2_pump(conn);
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
	int rc = check_state(conn, error);

	if (rc == 0)
		rc = check_peer(conn, &peer, error);
	if (rc == 0)
		rc = o2_qp_to_rts(conn->ni, conn->qp, &path, error);
	if (rc != 0)
		return rc;
	adopt_peer(conn, &peer);
	o2_conn_establish(conn);
	return 0;
}
