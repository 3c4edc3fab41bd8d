/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "lnd/conn/conn_internal.h"
#include "wire/desc_codec.h"

/* GET: the initiator is the sink (docs/transport.md, "GET"). */

int o2_conn_get(struct o2_conn *conn, const struct o2_lnet_hdr *hdr, const struct o2_transfer_memory *sink,
		uint64_t *cookie_out, struct o2_error *error)
{
	struct o2_tx *tx;
	int rc = o2_submit_start(conn, O2_OP_GET, O2_SINK, hdr, 1u << O2_LNET_GET, &tx, error);

	if (rc != 0)
		return rc;
	return o2_submit_request(conn, tx, O2_MSG_GET_REQ, sink, cookie_out, error);
}

static void complete(struct o2_conn *conn, struct o2_tx *tx, int64_t status)
{
	tx->status = status;
	o2_tx_queue(conn, tx, O2_MSG_GET_DONE);
	o2_pump(conn);
}

/* Map the source; 0 or the errno that the sink is told. */
static int prepare(struct o2_conn *conn, struct o2_tx *tx, const struct o2_transfer_memory *memory,
		   struct o2_error *error)
{
	uint64_t sink_bytes = o2_desc_bytes(&tx->arrays->sink_desc);

	if (memory->buffer.nob > sink_bytes)
		return o2_refuse_value(error, -EINVAL, "conn/match-longer-than-sink", "buffer.nob",
				       memory->buffer.nob, sink_bytes);
	return o2_tx_map(conn, tx, memory, error);
}

/* Source: the peer wants to GET, and match has said what.  A failure of ours is the status of GET_DONE. */
static void answer(struct o2_conn *conn, struct o2_tx *tx, const struct o2_transfer_memory *memory)
{
	struct o2_error error;
	int rc;

	tx->silent = false;
	tx->tag = memory->tag;
	tx->nfrags = tx->arrays->sink_desc.rd_nfrags;
	if (memory->buffer.nob == 0) {
		complete(conn, tx, 0);
		return;
	}
	rc = prepare(conn, tx, memory, &error);
	if (rc != 0)
		o2_tx_fault_stage(tx, rc, &error);
	complete(conn, tx, rc != 0 ? rc : (int64_t)tx->nob_mapped);
}

void o2_get_handle_req(struct o2_conn *conn, struct o2_tx *tx)
{
	const struct o2_msg *request = &conn->rx_msg;
	struct o2_transfer_memory memory = {.mode = O2_REG_GLOBAL};
	int rc;

	tx->peer_cookie = request->u.get.ibgm_cookie;
	tx->arrays->sink_desc = request->u.get.ibgm_rd;
	rc = conn->ops.match(conn->context, request, o2_desc_bytes(&tx->arrays->sink_desc), &memory);
	if (o2_match_ended(conn, tx, rc, &memory, request->u.get.hdr.type))
		return;
	if (rc == 0)
		answer(conn, tx, &memory);
	else
		complete(conn, tx, rc);
}
