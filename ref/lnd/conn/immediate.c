/* SPDX-License-Identifier: MIT */
#include "lnd/conn/immediate.h"

#include <errno.h>
#include <string.h>

#include "lnd/conn/conn_internal.h"
#include "mem/kmap.h"
#include "wire/layout.h"

/* IMMEDIATE: an LNet message and its payload in one (docs/transport.md, "IMMEDIATE"). */

#define CARRIES_PAYLOAD (1u << O2_LNET_PUT | 1u << O2_LNET_REPLY)
#define SENT_AT_ONCE	(CARRIES_PAYLOAD | 1u << O2_LNET_ACK | 1u << O2_LNET_GET)

uint32_t o2_conn_immediate_max(const struct o2_conn *conn)
{
	return conn->peer.max_msg_bytes - O2_MSG_HEADER_BYTES - O2_LNET_HDR_BYTES;
}

static int start(struct o2_conn *conn, const struct o2_lnet_hdr *hdr, uint64_t payload_bytes,
		 struct o2_tx **tx, struct o2_error *error)
{
	uint32_t max = o2_conn_immediate_max(conn);
	int rc;

	if (payload_bytes > max)
		return o2_refuse_value(error, -EMSGSIZE, "conn/payload-too-long", "payload bytes",
				       payload_bytes, max);
	rc = o2_submit_start(conn, O2_OP_SEND, O2_SOURCE, hdr,
			     payload_bytes > 0 ? CARRIES_PAYLOAD : SENT_AT_ONCE, tx, error);
	if (rc != 0)
		return rc;
	(*tx)->hdr.payload_length = (uint32_t)payload_bytes;
	(*tx)->nob = payload_bytes;
	return 0;
}

/*
 * Register the payload, to be sent from where it lies.  False: that cannot be, or takes more gather entries
 * than a request has; then it is copied.
 */
static bool gather(struct o2_conn *conn, struct o2_tx *tx, const struct o2_transfer_memory *memory)
{
	if (!conn->config.immediate_gather)
		return false;
	if (o2_tx_map(conn, tx, memory, NULL) == 0 && tx->arrays->desc.rd_nfrags < O2_IMMEDIATE_SGE)
		return true;
	o2_tx_unmap(conn, tx);
	return false;
}

int o2_conn_send(struct o2_conn *conn, const struct o2_lnet_hdr *hdr, const struct o2_transfer_memory *memory,
		 uint64_t *cookie_out, struct o2_error *error)
{
	uint64_t nob = memory == NULL ? 0 : memory->buffer.nob;
	struct o2_tx *tx;
	int rc = start(conn, hdr, nob, &tx, error);

	if (rc != 0)
		return rc;
	if (memory != NULL)
		tx->tag = memory->tag;
	tx->gather = nob > 0 && gather(conn, tx, memory);
	/* The checksum is of the bytes, wherever they are sent from; its flavour may be known by then. */
	if (nob > 0 && (!tx->gather || conn->config.cksum_flavour != O2_CKSUM_NONE || o2_cksum_wanted(conn)))
		rc = o2_copy_from_buffer(&conn->ni->arena, &memory->buffer,
					 (uint8_t *)tx->base.message + O2_AT_PAYLOAD, error);
	if (rc != 0) {
		o2_tx_drop(conn, tx);
		return rc;
	}
	o2_submit(conn, tx, O2_MSG_IMMEDIATE, cookie_out);
	return 0;
}

int o2_conn_send_bytes(struct o2_conn *conn, const struct o2_lnet_hdr *hdr, const void *payload,
		       uint32_t payload_bytes, uint64_t tag, uint64_t *cookie_out, struct o2_error *error)
{
	struct o2_tx *tx;
	int rc = start(conn, hdr, payload_bytes, &tx, error);

	if (rc != 0)
		return rc;
	tx->tag = tag;
	if (payload_bytes > 0)
		memcpy((uint8_t *)tx->base.message + O2_AT_PAYLOAD, payload, payload_bytes);
	o2_submit(conn, tx, O2_MSG_IMMEDIATE, cookie_out);
	return 0;
}

void o2_immediate_handle(struct o2_conn *conn)
{
	int rc = conn->ops.receive == NULL ? 0 : conn->ops.receive(conn->context, &conn->rx_msg);

	if (rc < 0)
		o2_conn_refuse_message(conn, NULL, "conn/lnet-header", "hdr.type",
				       conn->rx_msg.u.immediate.hdr.type, O2_NO_LIMIT);
}

enum o2_lnd_form o2_lnd_choose(const struct o2_lnd_question *question)
{
	bool large = question->nob > 0 && (question->force_rdma || question->nob > question->immediate_max);

	switch (question->type) {
	case O2_LNET_PUT:
	case O2_LNET_REPLY:
		return large ? O2_FORM_PUT_REQ : O2_FORM_IMMEDIATE;
	case O2_LNET_GET:
		return large && !question->routed ? O2_FORM_GET_REQ : O2_FORM_IMMEDIATE;
	case O2_LNET_ACK:
	case O2_LNET_HELLO:
		break;
	}
	return O2_FORM_IMMEDIATE;
}
