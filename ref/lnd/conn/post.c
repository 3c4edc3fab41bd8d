/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <string.h>

#include "lnd/conn/conn_internal.h"
#include "wire/layout.h"

/* Posting: a message and all work requests that precede it, in one chain (docs/transport.md, "Posting"). */

struct o2_msg *o2_msg_begin(struct o2_conn *conn, enum o2_msg_type type)
{
	struct o2_msg *msg = &conn->tx_msg;

	msg->order = conn->config.order;
	msg->cksum_flavour = conn->config.cksum_flavour;
	msg->ibm_version = conn->credits.version;
	msg->ibm_type = (uint8_t)type;
	msg->ibm_credits = 0;
	msg->ibm_srcnid = conn->self.nid;
	msg->ibm_srcstamp = conn->self.incarnation;
	msg->ibm_dstnid = conn->peer.nid;
	msg->ibm_dststamp = conn->peer.incarnation;
	memset(&msg->u, 0, sizeof(msg->u));
	return msg;
}

struct o2_lnet_hdr o2_conn_lnet_hdr(const struct o2_conn *conn, enum o2_lnet_type type, uint64_t match_bits,
				    uint64_t nob)
{
	struct o2_lnet_hdr hdr = {
		.dest_nid = conn->peer.nid,
		.src_nid = conn->self.nid,
		.dest_pid = O2_LNET_PID,
		.src_pid = O2_LNET_PID,
		.type = (uint32_t)type,
	};

	if (type == O2_LNET_PUT) {
		hdr.msg.put.match_bits = match_bits;
		/* A handle of all ones requests no LNet acknowledgement. */
		hdr.msg.put.ack_wmd = (struct o2_lnet_handle){UINT64_MAX, UINT64_MAX};
	} else if (type == O2_LNET_GET) {
		hdr.msg.get.match_bits = match_bits;
		hdr.msg.get.sink_length = (uint32_t)nob;
		hdr.msg.get.return_wmd = (struct o2_lnet_handle){conn->self.incarnation,
								 conn->ni->tx_sets[conn->cpt].next_cookie};
	} else if (type == O2_LNET_ACK) {
		hdr.msg.ack.match_bits = match_bits;
		hdr.msg.ack.mlength = (uint32_t)nob;
	}
	return hdr;
}

static void fill_message(const struct o2_tx *tx, struct o2_msg *msg)
{
	switch (tx->type) {
	case O2_MSG_IMMEDIATE:
		msg->u.immediate.hdr = tx->hdr;
		/* The payload is in the slot already, at the place where the codec would put it. */
		msg->u.immediate.payload = (const uint8_t *)tx->base.message + O2_AT_PAYLOAD;
		break;
	case O2_MSG_PUT_REQ:
		msg->u.putreq.hdr = tx->hdr;
		msg->u.putreq.ibprm_cookie = tx->base.cookie;
		break;
	case O2_MSG_PUT_ACK:
		msg->u.putack.ibpam_src_cookie = tx->peer_cookie;
		msg->u.putack.ibpam_dst_cookie = tx->base.cookie;
		msg->u.putack.ibpam_rd = tx->arrays->desc;
		break;
	case O2_MSG_GET_REQ:
		msg->u.get.hdr = tx->hdr;
		msg->u.get.ibgm_cookie = tx->base.cookie;
		msg->u.get.ibgm_rd = tx->arrays->desc;
		break;
	case O2_MSG_PUT_NAK:
	case O2_MSG_PUT_DONE:
	case O2_MSG_GET_DONE:
		msg->u.completion.ibcm_cookie = tx->peer_cookie;
		msg->u.completion.ibcm_status = (int32_t)tx->status;
		break;
	case O2_MSG_NOOP:
	case O2_MSG_CONNREQ:
	case O2_MSG_CONNACK:
		break;
	}
}

/* Encode the transmit's message into its slot, with the credits owed now.  Returns its length or -errno. */
static int encode(struct o2_conn *conn, const struct o2_tx *tx, struct o2_error *error)
{
	struct o2_msg *msg = o2_msg_begin(conn, tx->type);
	struct o2_wire_options options = conn->config.wire;

	/* require_checksum is a demand on the peer.  Our own messages follow cksum_flavour alone. */
	options.require_checksum = false;
	fill_message(tx, msg);
	msg->ibm_credits = o2_credits_byte(&conn->credits);
	return o2_msg_encode(msg, &options, tx->base.message, conn->peer.max_msg_bytes, error);
}

static bool ends_writes(const struct o2_tx *tx)
{
	return tx->type == O2_MSG_PUT_DONE || tx->type == O2_MSG_GET_DONE;
}

/*
 * Plan the RDMA WRITEs.  If the plan is refused, the operation fails on our side, and the DONE, which is sent in
 * any case, tells the peer.
 */
static const struct o2_rdma_plan *plan_writes(struct o2_conn *conn, struct o2_tx *tx)
{
	struct o2_rdma_limits limits = {conn->config.max_frags, conn->config.wrq_sge};
	struct o2_rdma_plan *plan = &conn->scratch.rdma;
	struct o2_error error;
	int rc;

	if (!ends_writes(tx) || tx->status <= 0)
		return NULL;
	rc = o2_rdma_plan(&tx->arrays->desc, &tx->arrays->sink_desc, (uint64_t)tx->status, &limits, plan,
			  &error);
	if (rc == 0) {
		tx->nob = (uint64_t)tx->status;
		tx->nwr = plan->nwr;
		return plan;
	}
	tx->status = rc;
	o2_tx_fault_stage(tx, rc, &error);
	return NULL;
}

/* Add the message to the chain; a payload that was not copied is gathered from its own memory. */
static void add_message(struct o2_conn *conn, const struct o2_tx *tx, uint32_t length)
{
	struct o2_post_message message = {
		.addr = tx->base.message_addr,
		.length = tx->gather ? (uint32_t)O2_AT_PAYLOAD : length,
	};

	message.lkey = o2_ni_slot_ready(&tx->base, message.length);
	o2_chain_add_message(&conn->chain, &message, O2_WR_ID_TX(tx, O2_WORK_MESSAGE));
	for (uint32_t i = 0; tx->gather && i < tx->arrays->desc.rd_nfrags; i++) {
		message.addr = tx->arrays->desc.rd_frags[i].rf_addr;
		message.length = tx->arrays->desc.rd_frags[i].rf_nob;
		message.lkey = tx->arrays->desc.rd_key;
		o2_chain_gather(&conn->chain, &message);
	}
}

/* The codec refused the message: our operation fails; an answer must not be missing, so the connection ends. */
static void fail_encode(struct o2_conn *conn, struct o2_tx *tx, int rc, const struct o2_error *error)
{
	if (!tx->initiator || tx->type == O2_MSG_PUT_DONE) {
		o2_tx_move(conn, tx, O2_LIST_ACTIVE);
		o2_conn_fail_by(conn, O2_FAULT_LOCAL_STAGE, error, tx);
		return;
	}
	if (o2_takes_reserve(tx->type))
		conn->credits.reserved++;
	tx->waiting = false;
	o2_tx_fault_stage(tx, rc, error);
	o2_tx_end(conn, tx);
}

static void tell_watch(const struct o2_conn *conn, const struct o2_tx *tx, const struct o2_rdma_plan *plan,
		       uint32_t length)
{
	const struct o2_watch *watch = conn->ni->config.watch;
	struct o2_watched watched = {.kind = O2_WATCHED_WRITE, .ours = true, .conn = conn};

	for (uint32_t i = 0; plan != NULL && i < plan->nwr; i++) {
		watched.addr = plan->wr[i].remote_addr;
		watched.rkey = plan->rkey;
		watched.length_bytes = plan->wr[i].length;
		o2_watch_tell(watch, &watched);
	}
	watched.kind = O2_WATCHED_MESSAGE;
	watched.bytes = tx->gather ? NULL : tx->base.message;
	watched.length_bytes = length;
	o2_watch_tell(watch, &watched);
}

void o2_tx_post(struct o2_conn *conn, struct o2_tx *tx)
{
	const struct o2_rdma_plan *plan = plan_writes(conn, tx);
	uint64_t silent = O2_WR_ID_TX(tx, O2_WORK_SILENT);
	struct o2_error error;
	struct ibv_send_wr lead[O2_BINDING_CHAIN];
	uint32_t nlead, nposted, length;
	int rc = o2_pool_set_check(&tx->set->set, &tx->base.pool->base, conn->device, &error);

	if (rc != 0) {
		o2_tx_move(conn, tx, O2_LIST_ACTIVE);
		o2_conn_fail_by(conn, O2_FAULT_DEVICE, &error, tx);
		return;
	}
	rc = encode(conn, tx, &error);
	if (rc < 0) {
		fail_encode(conn, tx, rc, &error);
		return;
	}
	length = (uint32_t)rc;
	o2_tx_move(conn, tx, O2_LIST_ACTIVE);
	/* The bind comes first: the RDMA WRITEs of a source gather under this key too. */
	nlead = o2_binding_chain(&tx->binding, silent, lead);
	o2_chain_add_requests(&conn->chain, lead, nlead);
	if (plan != NULL)
		o2_chain_add_plan(&conn->chain, plan, silent);
	if (ends_writes(tx))
		conn->chain.sink = &tx->arrays->sink_desc;
	add_message(conn, tx, length);
	rc = o2_chain_post(&conn->chain, conn->qp, &nposted, &error);
	/* The device may execute the requests that it accepted, even if it refused the requests behind them. */
	o2_binding_posted(&tx->binding, conn->qp->qp_num, nposted < nlead ? nposted : nlead, rc == 0);
	if (rc != 0) {
		o2_conn_fail_by(conn, O2_FAULT_LOCAL_STAGE, &error, tx);
		return;
	}
	if (conn->ni->config.watch != NULL)
		tell_watch(conn, tx, plan, length);
	/* Count the message only now: a message whose post failed does not count. */
	assert(tx->nsends < sizeof(tx->posted_wrs) / sizeof(tx->posted_wrs[0]));
	tx->posted_wrs[tx->nsends++] = nposted;
	conn->send_wrs += nposted;
	conn->last_post_ms = o2_clock_ms(&conn->ni->clock);
	o2_credits_post(&conn->credits, tx->type);
}

void o2_tx_post_invalidate(struct o2_conn *conn, struct o2_tx *tx)
{
	struct o2_error error;
	uint32_t nposted;
	int rc;

	o2_tx_move(conn, tx, O2_LIST_ACTIVE);
	o2_binding_invalidate_wr(&tx->binding, O2_WR_ID_TX(tx, O2_WORK_INV), o2_chain_add(&conn->chain));
	conn->invalidates_in_flight++;
	conn->send_wrs++;
	rc = o2_chain_post(&conn->chain, conn->qp, &nposted, &error);
	o2_binding_invalidate_posted(&tx->binding, rc == 0);
	if (rc != 0)
		o2_conn_fail_by(conn, O2_FAULT_LOCAL_STAGE, &error, tx);
}
