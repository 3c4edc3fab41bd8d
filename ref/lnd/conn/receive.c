/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stddef.h>

#include "base/breaks.h"
#include "lnd/conn/conn_internal.h"
#include "wire/checksum.h"
#include "wire/desc_codec.h"

/* Receives, and the handling of messages that have arrived (docs/transport.md, "Receiving"). */

uint8_t *o2_rx_bytes(const struct o2_conn *conn, uint32_t rx)
{
	return conn->rx_area + (uint64_t)rx * O2_MSG_BYTES;
}

int o2_rx_post(struct o2_conn *conn, uint32_t rx, struct o2_error *error)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)conn->rx_dma.device + (uint64_t)rx * O2_MSG_BYTES,
		.length = O2_MSG_BYTES,
		.lkey = conn->rx_mr->lkey,
	};
	struct ibv_recv_wr wr = {
		.wr_id = O2_WR_ID_RX(rx),
		.sg_list = &sge,
		.num_sge = 1,
	};
	struct ibv_recv_wr *bad = NULL;
	int rc;

	o2_dma_sync_for_device(&conn->rx_dma, (size_t)rx * O2_MSG_BYTES, O2_MSG_BYTES);
	rc = ibv_post_recv(conn->qp, &wr, &bad);
	if (rc != 0)
		return o2_fail(error, o2_errno_or(rc, EIO), "conn/post-recv", "slot", rx);
	conn->recv_wrs++;
	return 0;
}

static void fail_stale(struct o2_conn *conn, const char *rule, const char *field, uint64_t value,
		       uint64_t expected)
{
	struct o2_error error;

	o2_refuse_peer_other(&error, -ESTALE, rule, field, value, expected);
	o2_conn_fail_by(conn, O2_FAULT_PEER_MESSAGE, &error, NULL);
}

/* A message from or to another node, or of another incarnation of either, ends the connection. */
static bool check_endpoints(struct o2_conn *conn)
{
	const struct o2_msg *msg = &conn->rx_msg;

	if (o2_breaks("conn/srcnid", msg->ibm_srcnid != conn->peer.nid))
		fail_stale(conn, "conn/srcnid", "ibm_srcnid", msg->ibm_srcnid, conn->peer.nid);
	else if (o2_breaks("conn/dstnid", msg->ibm_dstnid != conn->self.nid))
		fail_stale(conn, "conn/dstnid", "ibm_dstnid", msg->ibm_dstnid, conn->self.nid);
	else if (msg->ibm_srcstamp != conn->peer.incarnation)
		fail_stale(conn, "conn/srcstamp", "ibm_srcstamp", msg->ibm_srcstamp, conn->peer.incarnation);
	else if (msg->ibm_dststamp != conn->self.incarnation)
		fail_stale(conn, "conn/dststamp", "ibm_dststamp", msg->ibm_dststamp, conn->self.incarnation);
	return conn->state == O2_CONN_ESTABLISHED;
}

/* Post the receive again and count what that gives, which may allow a send.  counted: see o2_repost_of. */
static void repost(struct o2_conn *conn, uint32_t rx, enum o2_msg_type type, bool counted)
{
	struct o2_error error;

	if (conn->state != O2_CONN_ESTABLISHED)
		return;
	if (o2_rx_post(conn, rx, &error) != 0) {
		o2_conn_fail_by(conn, O2_FAULT_LOCAL_STAGE, &error, NULL);
		return;
	}
	o2_credits_repost(&conn->credits, type, o2_repost_of(conn->credits.version, type, counted));
	o2_pump(conn);
}

/*
 * The payload stays in the receive until the upper layer has handled it.  A GET has no payload: its receive is
 * posted first, so that the REPLY, which the upper layer sends from inside, carries the credit.
 */
static void handle_immediate(struct o2_conn *conn, uint32_t rx)
{
	const uint32_t lnet_type = conn->rx_msg.u.immediate.hdr.type;
	const bool first = lnet_type == O2_LNET_GET;

	if (first)
		repost(conn, rx, O2_MSG_IMMEDIATE, false);
	if (conn->state == O2_CONN_ESTABLISHED && conn->ops.receive != NULL &&
	    conn->ops.receive(conn->context, &conn->rx_msg) < 0)
		o2_conn_refuse_message(conn, "conn/lnet-header", "hdr.type", lnet_type, O2_NO_LIMIT);
	if (!first)
		repost(conn, rx, O2_MSG_IMMEDIATE, false);
}

/* Map the memory that match gave for a request.  Returns 0, or the errno to report to the peer. */
static int map_matched(struct o2_conn *conn, struct o2_tx *tx, const struct o2_transfer_memory *memory,
		       uint64_t offered_bytes)
{
	const bool put = tx->op == O2_OP_PUT;
	struct o2_error error;
	int rc = 0;

	tx->silent = false;
	tx->tag = memory->tag;
	if (memory->buffer.nob > offered_bytes)
		rc = o2_refuse_value(&error, -EINVAL,
				     put ? "conn/match-longer-than-offered" : "conn/match-longer-than-sink",
				     "buffer.nob", memory->buffer.nob, offered_bytes);
	else if (memory->buffer.nob > 0)
		rc = o2_tx_map(conn, tx, memory, &error);
	if (rc != 0)
		o2_tx_fault_stage(tx, rc, &error);
	return rc;
}

/*
 * PUT_REQ, GET_REQ: match supplies the sink, or the source.  A PUT is answered by PUT_ACK if it has bytes and the
 * sink is mapped, else by PUT_NAK, with status 0 if nothing matched.  A GET is answered by GET_DONE, with the
 * bytes of the source or our errno.  Returns true if the answer is PUT_ACK.
 * o2iblnd: kiblnd_recv
 */
static bool handle_request(struct o2_conn *conn, struct o2_tx *tx)
{
	const struct o2_msg *request = &conn->rx_msg;
	const bool put = tx->op == O2_OP_PUT;
	const struct o2_lnet_hdr *hdr = put ? &request->u.putreq.hdr : &request->u.get.hdr;
	struct o2_transfer_memory memory = {.mode = O2_REG_GLOBAL};
	enum o2_msg_type answer = O2_MSG_GET_DONE;
	uint64_t sink_bytes = 0;
	int rc;

	tx->peer_cookie = put ? request->u.putreq.ibprm_cookie : request->u.get.ibgm_cookie;
	if (!put) {
		tx->arrays->sink_desc = request->u.get.ibgm_rd;
		sink_bytes = o2_desc_bytes(&tx->arrays->sink_desc);
	}
	rc = conn->ops.match(conn->context, request, sink_bytes, &memory);
	if (conn->state != O2_CONN_ESTABLISHED || rc == -EPROTO) {
		o2_match_ended(conn, tx, rc, &memory, hdr->type);
		return false;
	}
	if (rc == 0) {
		tx->nfrags = put ? 0 : tx->arrays->sink_desc.rd_nfrags;
		rc = map_matched(conn, tx, &memory, put ? hdr->payload_length : sink_bytes);
	}
	if (!put) {
		tx->status = rc != 0 ? rc : (int64_t)tx->nob_mapped;
	} else if (rc != 0 || tx->nob_mapped == 0) {
		answer = O2_MSG_PUT_NAK;
		tx->status = rc == -ENODATA ? 0 : rc;
	} else {
		answer = O2_MSG_PUT_ACK;
		tx->nfrags = tx->arrays->desc.rd_nfrags;
		conn->puts_accepted++;
	}
	o2_tx_queue(conn, tx, answer);
	o2_pump(conn);
	return answer == O2_MSG_PUT_ACK;
}

/*
 * The sink has described its memory.  The peer always gets an answer: if the writes cannot be planned, a PUT_DONE
 * with the errno, and the transfer fails on our side as well.
 */
static void handle_put_ack(struct o2_conn *conn)
{
	const struct o2_msg *ack = &conn->rx_msg;
	struct o2_tx *tx =
		o2_tx_find(conn, ack->u.putack.ibpam_src_cookie, O2_MSG_PUT_REQ, "ibpam_src_cookie");

	if (tx == NULL)
		return;
	tx->arrays->sink_desc = ack->u.putack.ibpam_rd;
	tx->nfrags = tx->arrays->sink_desc.rd_nfrags;
	tx->peer_cookie = ack->u.putack.ibpam_dst_cookie;
	tx->status = (int64_t)o2_desc_bytes(&tx->arrays->sink_desc);
	o2_tx_queue(conn, tx, O2_MSG_PUT_DONE);
	o2_pump(conn);
}

/*
 * PUT_NAK: the peer does not want the bytes, or cannot take them.  PUT_DONE: the bytes have arrived, or the status
 * says why not.  GET_DONE: status bytes have arrived, which may be fewer than we described.
 * o2iblnd: kiblnd_handle_completion
 */
static void handle_completion(struct o2_conn *conn, enum o2_msg_type type)
{
	const enum o2_msg_type ours = type == O2_MSG_PUT_NAK	? O2_MSG_PUT_REQ
				      : type == O2_MSG_PUT_DONE ? O2_MSG_PUT_ACK
								: O2_MSG_GET_REQ;
	const int32_t status = conn->rx_msg.u.completion.ibcm_status;
	struct o2_tx *tx = o2_tx_find(conn, conn->rx_msg.u.completion.ibcm_cookie, ours, "ibcm_cookie");
	struct o2_error error;

	if (tx == NULL)
		return;
	conn->puts_accepted -= type == O2_MSG_PUT_DONE;
	if (o2_outcome_judge(type, status, tx->nob_mapped, &error) != 0) {
		o2_conn_fail_by(conn, O2_FAULT_PEER_MESSAGE, &error, tx);
		return;
	}
	if (status < 0)
		o2_tx_fault_peer(tx, status);
	else
		tx->nob = (uint64_t)status;
	o2_tx_settle(conn, tx);
}

/* NOOPs without credits are keep-alives.  More of them than this per second end the connection. */
#define EMPTY_NOOPS_MAX 16u
#define EMPTY_NOOPS_MS	1000u

static void handle_noop(struct o2_conn *conn)
{
	const uint64_t now_ms = o2_clock_ms(&conn->ni->clock);
	uint64_t span_ms, most;

	if (conn->rx_msg.ibm_credits != 0)
		return;
	if (now_ms - conn->empty_noops_since_ms >= EMPTY_NOOPS_MS) {
		conn->empty_noops_since_ms = now_ms;
		conn->empty_noops = 0;
	}
	/* The clock stands still between its steps, so this NOOP may have come as late as the next one. */
	span_ms = now_ms - conn->empty_noops_since_ms + o2_clock_step_ms(&conn->ni->clock);
	most = span_ms <= EMPTY_NOOPS_MS ? EMPTY_NOOPS_MAX
					 : 1 + (EMPTY_NOOPS_MAX * span_ms - 1) / EMPTY_NOOPS_MS;
	if (++conn->empty_noops > most)
		o2_conn_refuse_message(conn, "conn/noop-storm", "empty NOOPs in a second", conn->empty_noops,
				       most);
}

/* Handle the message in conn->rx_msg, then post its receive again.  tx: reserved for a request. */
static void handle(struct o2_conn *conn, uint32_t rx, struct o2_tx *tx)
{
	enum o2_msg_type type = (enum o2_msg_type)conn->rx_msg.ibm_type;
	/* For a NOOP of version 1 with credits: o2_credits_receive has counted its own credit. */
	bool counted = conn->rx_msg.ibm_credits != 0;

	switch (type) {
	case O2_MSG_IMMEDIATE:
		handle_immediate(conn, rx);
		return;
	case O2_MSG_PUT_REQ:
	case O2_MSG_GET_REQ:
		counted = handle_request(conn, tx);
		break;
	case O2_MSG_PUT_ACK:
		handle_put_ack(conn);
		break;
	case O2_MSG_PUT_NAK:
	case O2_MSG_PUT_DONE:
	case O2_MSG_GET_DONE:
		handle_completion(conn, type);
		break;
	case O2_MSG_NOOP:
		handle_noop(conn);
		break;
	case O2_MSG_CONNREQ:
	case O2_MSG_CONNACK:
		if (o2_breaks("conn/unexpected-type", true))
			o2_conn_refuse_message(conn, "conn/unexpected-type", "ibm_type", type, O2_NO_LIMIT);
		break;
	}
	repost(conn, rx, type, counted);
}

static void refuse_undecoded(struct o2_conn *conn, const struct o2_parked *message,
			     const struct o2_error *error)
{
	struct o2_transfer_fault fault = o2_fault_of(O2_FAULT_PEER_MESSAGE, error->code, error);
	struct o2_wire_options options = conn->config.wire;

	/* Would the option have accepted the message? */
	options.tolerate_immediate_checksum = true;
	fault.tolerable = o2_msg_decode(o2_rx_bytes(conn, message->rx), message->length, &options,
					&conn->rx_msg, NULL) == 0;
	o2_conn_fail(conn, &fault, NULL);
}

/*
 * Decode the message into conn->rx_msg and check its sender.  False: the connection has closed.  *dropped: the
 * codec refuses only this message; its header alone is valid.
 */
static bool decode(struct o2_conn *conn, const struct o2_parked *message, bool *dropped)
{
	const uint8_t *bytes = o2_rx_bytes(conn, message->rx);
	const struct o2_watched watched = {
		.kind = O2_WATCHED_MESSAGE, .conn = conn, .bytes = bytes, .length_bytes = message->length};
	struct o2_error error;

	if (conn->ni->config.watch != NULL && !message->accounted)
		o2_watch_tell(conn->ni->config.watch, &watched);
	o2_error_clear(&error);
	*dropped = o2_msg_decode(bytes, message->length, &conn->config.wire, &conn->rx_msg, &error) != 0;
	if (*dropped && error.class != O2_CLASS_MESSAGE) {
		refuse_undecoded(conn, message, &error);
		return false;
	}
	return check_endpoints(conn);
}

bool o2_cksum_wanted(const struct o2_conn *conn)
{
	return conn->config.cksum_auto && conn->config.cksum_flavour == O2_CKSUM_NONE;
}

/* Use the peer's checksum flavour from now on, beginning with the answer to this message. */
static void learn_checksum(struct o2_conn *conn, const struct o2_parked *message)
{
	conn->config.cksum_flavour = o2_msg_checksum_shown(o2_rx_bytes(conn, message->rx), message->length);
	if (conn->config.cksum_flavour != O2_CKSUM_NONE && conn->ops.checksum_shown != NULL)
		conn->ops.checksum_shown(conn->context, conn->config.cksum_flavour);
}

/* Account for a message's credits once, whether it is handled now or parked.  False: the connection closed. */
static bool account(struct o2_conn *conn, struct o2_parked *message)
{
	struct o2_error error;

	if (message->accounted)
		return true;
	message->accounted = true;
	if (o2_credits_receive(&conn->credits, (enum o2_msg_type)conn->rx_msg.ibm_type,
			       conn->rx_msg.ibm_credits, &error) != 0) {
		o2_conn_fail_by(conn, O2_FAULT_PEER_MESSAGE, &error, NULL);
		return false;
	}
	/* Transmits that waited for these credits are posted before those that this message causes. */
	if (conn->rx_msg.ibm_credits != 0)
		o2_pump(conn);
	return conn->state == O2_CONN_ESTABLISHED;
}

/*
 * Must the message wait in its receive?  That slows down a peer that starts too much.  A request waits while it
 * has no transmit, window or registration.  Requests and IMMEDIATEs also wait behind others, to match in order.
 */
static bool must_wait(struct o2_conn *conn, bool in_line, struct o2_tx **tx)
{
	const bool put = conn->rx_msg.ibm_type == O2_MSG_PUT_REQ;
	const bool request = put || conn->rx_msg.ibm_type == O2_MSG_GET_REQ;
	struct o2_reg_domain *domain = &conn->ni->domain;
	const uint64_t unbinds = domain->unbinds;

	if (in_line && (request || conn->rx_msg.ibm_type == O2_MSG_IMMEDIATE))
		return true;
	if (!request)
		return false;
	/* Park it only if no window is free for match's memory but one will be released. */
	conn->parked_for_window =
		!o2_reg_window_free(domain) && o2_window_comes_back(conn, -ENOBUFS, unbinds);
	if (conn->parked_for_window) {
		conn->parked_unbinds = unbinds;
		return true;
	}
	return o2_tx_start(conn, O2_TX_PEERS, put ? O2_OP_PUT : O2_OP_GET, tx, NULL) != 0;
}

/* in_line: other messages are parked already.  False: this message must be parked as well. */
static bool receive(struct o2_conn *conn, struct o2_parked *message, bool in_line)
{
	struct o2_tx *tx = NULL;
	bool dropped;

	if (!decode(conn, message, &dropped))
		return true;
	if (o2_cksum_wanted(conn))
		learn_checksum(conn, message);
	if (!account(conn, message))
		return true;
	if (dropped) {
		repost(conn, message->rx, O2_MSG_IMMEDIATE, false);
		return true;
	}
	if (must_wait(conn, in_line, &tx))
		return false;
	handle(conn, message->rx, tx);
	return true;
}

void o2_receive_completed(struct o2_conn *conn, uint32_t rx, uint32_t length)
{
	struct o2_parked message = {rx, length, false};

	conn->recv_wrs--;
	o2_dma_sync_for_cpu(&conn->rx_dma, (size_t)rx * O2_MSG_BYTES, O2_MSG_BYTES);
	/* Before the connection is established the message cannot be validated, so park it. */
	if (conn->state == O2_CONN_ESTABLISHED && receive(conn, &message, conn->nparked > 0))
		return;
	conn->parked[(conn->parked_first + conn->nparked) % conn->nrecv] = message;
	conn->nparked++;
}

void o2_receive_parked(struct o2_conn *conn)
{
	while (conn->state == O2_CONN_ESTABLISHED && conn->nparked > 0 && o2_tx_left(conn, O2_TX_PEERS)) {
		if (!receive(conn, &conn->parked[conn->parked_first], false))
			return;
		conn->parked_first = (conn->parked_first + 1) % conn->nrecv;
		conn->nparked--;
	}
}
