/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "lnd/conn_internal.h"
#include "wire/layout.h"

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
		/* No LNet acknowledgement is asked for: that is what a handle of all ones says. */
		hdr.msg.put.ack_wmd = (struct o2_lnet_handle){UINT64_MAX, UINT64_MAX};
	} else if (type == O2_LNET_GET) {
		hdr.msg.get.match_bits = match_bits;
		hdr.msg.get.sink_length = (uint32_t)nob;
		hdr.msg.get.return_wmd =
			(struct o2_lnet_handle){conn->self.incarnation, o2_tx_next_cookie(conn)};
	} else if (type == O2_LNET_ACK) {
		hdr.msg.ack.match_bits = match_bits;
		hdr.msg.ack.mlength = (uint32_t)nob;
	}
	return hdr;
}

/* The payload of an IMMEDIATE stands in the slot where encoding would put it. */
static void fill_immediate(const struct o2_conn *conn, const struct o2_tx *tx, struct o2_msg *msg)
{
	msg->u.immediate.hdr = tx->hdr;
	msg->u.immediate.payload = o2_tx_slot_bytes(conn, tx) + O2_AT_PAYLOAD;
}

static void fill(const struct o2_conn *conn, const struct o2_tx *tx, struct o2_msg *msg)
{
	switch (tx->type) {
	case O2_MSG_IMMEDIATE:
		fill_immediate(conn, tx, msg);
		break;
	case O2_MSG_PUT_REQ:
		msg->u.putreq.hdr = tx->hdr;
		msg->u.putreq.ibprm_cookie = tx->cookie;
		break;
	case O2_MSG_PUT_ACK:
		msg->u.putack.ibpam_src_cookie = tx->peer_cookie;
		msg->u.putack.ibpam_dst_cookie = tx->cookie;
		msg->u.putack.ibpam_rd = tx->desc;
		break;
	case O2_MSG_GET_REQ:
		msg->u.get.hdr = tx->hdr;
		msg->u.get.ibgm_cookie = tx->cookie;
		msg->u.get.ibgm_rd = tx->desc;
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

int o2_tx_encode(struct o2_conn *conn, const struct o2_tx *tx, struct o2_error *error)
{
	struct o2_msg *msg = o2_msg_begin(conn, tx->type);
	struct o2_wire_options options = conn->config.wire;

	/* What we ask of the peer is no rule for us: our own flavour is set for itself. */
	options.require_checksum = false;
	msg->ibm_credits = o2_credits_byte(&conn->credits);
	fill(conn, tx, msg);
	return o2_msg_encode(msg, &options, o2_tx_slot_bytes(conn, tx), conn->peer.max_msg_bytes, error);
}
