/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "lnd/conn/conn_internal.h"
#include "wire/desc_codec.h"

/* PUT: the initiator is the source (docs/transport.md, "PUT"). */

int o2_conn_put(struct o2_conn *conn, const struct o2_lnet_hdr *hdr, const struct o2_transfer_memory *source,
		uint64_t *cookie_out, struct o2_error *error)
{
	struct o2_tx *tx;
	int rc = o2_submit_start(conn, O2_OP_PUT, O2_SOURCE, hdr, 1u << O2_LNET_PUT | 1u << O2_LNET_REPLY,
				 &tx, error);

	if (rc != 0)
		return rc;
	return o2_submit_request(conn, tx, O2_MSG_PUT_REQ, source, cookie_out, error);
}

/* Answer a PUT_REQ with PUT_NAK: no transfer of bytes will follow. */
static void refuse(struct o2_conn *conn, struct o2_tx *tx, int status)
{
	tx->status = status;
	o2_tx_queue(conn, tx, O2_MSG_PUT_NAK);
	o2_pump(conn);
}

/* Map the sink; 0 or the errno that the source is told. */
static int prepare(struct o2_conn *conn, struct o2_tx *tx, const struct o2_transfer_memory *memory,
		   struct o2_error *error)
{
	uint64_t offered = conn->rx_msg.u.putreq.hdr.payload_length;

	if (memory->buffer.nob > offered)
		return o2_refuse_value(error, -EINVAL, "conn/match-longer-than-offered", "buffer.nob",
				       memory->buffer.nob, offered);
	return o2_tx_map(conn, tx, memory, error);
}

/* Sink: the peer wants to PUT, and match has said where to.  True: answered with PUT_ACK. */
static bool answer(struct o2_conn *conn, struct o2_tx *tx, const struct o2_transfer_memory *memory)
{
	struct o2_error error;
	int rc;

	tx->silent = false;
	tx->tag = memory->tag;
	if (memory->buffer.nob == 0) {
		refuse(conn, tx, 0);
		return false;
	}
	rc = prepare(conn, tx, memory, &error);
	if (rc != 0) {
		o2_tx_fault_stage(tx, rc, &error);
		refuse(conn, tx, rc);
		return false;
	}
	tx->nfrags = tx->arrays->desc.rd_nfrags;
	conn->puts_accepted++;
	o2_tx_queue(conn, tx, O2_MSG_PUT_ACK);
	o2_pump(conn);
	return true;
}

bool o2_put_handle_req(struct o2_conn *conn, struct o2_tx *tx)
{
	const struct o2_msg *request = &conn->rx_msg;
	struct o2_transfer_memory memory = {.mode = O2_REG_GLOBAL};
	int rc;

	tx->peer_cookie = request->u.putreq.ibprm_cookie;
	rc = conn->ops.match(conn->context, request, 0, &memory);
	if (o2_match_ended(conn, tx, rc, &memory, request->u.putreq.hdr.type))
		return false;
	if (rc == 0)
		return answer(conn, tx, &memory);
	refuse(conn, tx, rc == -ENODATA ? 0 : rc);
	return false;
}

/*
 * Source: the sink has described its memory.  Whatever it says gets an answer: when the writes cannot be
 * planned that is a PUT_DONE with the errno, and the transfer fails on our side as well.
 */
void o2_put_handle_ack(struct o2_conn *conn)
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
