/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "lnd/conn/conn_internal.h"
#include "mem/kmap.h"
#include "wire/layout.h"

/* The start of our own operations: PUT, GET and IMMEDIATE (docs/transport.md, "Operations"). */

#define CARRIES_PAYLOAD (1u << O2_LNET_PUT | 1u << O2_LNET_REPLY)
#define SENT_AT_ONCE	(CARRIES_PAYLOAD | 1u << O2_LNET_ACK | 1u << O2_LNET_GET)

enum o2_lnd_form o2_lnd_choose(const struct o2_lnd_question *question)
{
	bool large = question->nob > 0 && (question->force_rdma || question->nob > question->immediate_max);

	if (large && (question->type == O2_LNET_PUT || question->type == O2_LNET_REPLY))
		return O2_FORM_PUT_REQ;
	if (large && question->type == O2_LNET_GET && !question->routed)
		return O2_FORM_GET_REQ;
	return O2_FORM_IMMEDIATE;
}

uint32_t o2_conn_immediate_max(const struct o2_conn *conn)
{
	return conn->peer.max_msg_bytes - O2_MSG_HEADER_BYTES - O2_LNET_HDR_BYTES;
}

/* Take a transmit for an operation.  types: the LNet types that it may carry, as a bit set (bit t for type t). */
static int start(struct o2_conn *conn, enum o2_transfer_op op, const struct o2_lnet_hdr *hdr, uint32_t types,
		 struct o2_tx **tx, struct o2_error *error)
{
	int rc;

	if (conn->state != O2_CONN_ESTABLISHED)
		return o2_refuse_other(error, -ENOTCONN, "conn/not-established", "state", conn->state,
				       O2_CONN_ESTABLISHED);
	if (hdr->type > O2_LNET_REPLY || (types >> hdr->type & 1) == 0)
		return o2_fail(error, -EINVAL, "conn/lnet-type", "hdr.type", hdr->type);
	rc = o2_tx_start(conn, O2_TX_OURS, op, tx, error);
	if (rc == 0)
		(*tx)->hdr = *hdr;
	return rc;
}

/* From now on the upper layer knows the operation, and ops->done reports it.  waits: for a window of the arena. */
static void submit(struct o2_conn *conn, struct o2_tx *tx, enum o2_msg_type type, bool waits,
		   uint64_t *cookie_out)
{
	tx->silent = false;
	if (cookie_out != NULL)
		*cookie_out = tx->base.cookie;
	if (waits) {
		o2_tx_await_window(conn, tx, type);
		return;
	}
	o2_tx_queue(conn, tx, type);
	o2_pump(conn);
}

/* PUT and GET: map our memory, or wait for a window, and send the request that describes it. */
static int request(struct o2_conn *conn, enum o2_transfer_op op, uint32_t types,
		   const struct o2_lnet_hdr *hdr, const struct o2_transfer_memory *memory,
		   uint64_t *cookie_out, struct o2_error *error)
{
	bool waits = !TAILQ_EMPTY(&conn->list[O2_LIST_WINDOW]);
	struct o2_tx *tx;
	int rc = start(conn, op, hdr, types, &tx, error);

	if (rc != 0)
		return rc;
	/* Requests that wait already go first, even if this one needs no window. */
	rc = waits ? o2_tx_plan(conn, tx, memory, error) : o2_tx_map_request(conn, tx, memory, &waits, error);
	if (rc != 0) {
		o2_tx_end(conn, tx);
		return rc;
	}
	tx->tag = memory->tag;
	if (waits)
		tx->memory = *memory;
	submit(conn, tx, op == O2_OP_PUT ? O2_MSG_PUT_REQ : O2_MSG_GET_REQ, waits, cookie_out);
	return 0;
}

int o2_conn_put(struct o2_conn *conn, const struct o2_lnet_hdr *hdr, const struct o2_transfer_memory *source,
		uint64_t *cookie_out, struct o2_error *error)
{
	return request(conn, O2_OP_PUT, CARRIES_PAYLOAD, hdr, source, cookie_out, error);
}

int o2_conn_get(struct o2_conn *conn, const struct o2_lnet_hdr *hdr, const struct o2_transfer_memory *sink,
		uint64_t *cookie_out, struct o2_error *error)
{
	return request(conn, O2_OP_GET, 1u << O2_LNET_GET, hdr, sink, cookie_out, error);
}

/* IMMEDIATE: an LNet message and its payload in one message (docs/transport.md, "IMMEDIATE"). */

static int start_immediate(struct o2_conn *conn, const struct o2_lnet_hdr *hdr, uint64_t payload_bytes,
			   struct o2_tx **tx, struct o2_error *error)
{
	uint32_t max = o2_conn_immediate_max(conn);
	int rc;

	if (payload_bytes > max)
		return o2_refuse_value(error, -EMSGSIZE, "conn/payload-too-long", "payload bytes",
				       payload_bytes, max);
	rc = start(conn, O2_OP_SEND, hdr, payload_bytes > 0 ? CARRIES_PAYLOAD : SENT_AT_ONCE, tx, error);
	if (rc != 0)
		return rc;
	(*tx)->hdr.payload_length = (uint32_t)payload_bytes;
	(*tx)->nob = payload_bytes;
	return 0;
}

/*
 * Register the payload, to send it from its own memory.  False: copy it, because gathering is off, registering
 * failed, or it takes more gather entries than a work request has.
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
	int rc = start_immediate(conn, hdr, nob, &tx, error);

	if (rc != 0)
		return rc;
	if (memory != NULL)
		tx->tag = memory->tag;
	tx->gather = nob > 0 && gather(conn, tx, memory);
	/* A checksum needs a copy of gathered bytes too; its flavour may become known before the post. */
	if (nob > 0 && (!tx->gather || conn->config.cksum_flavour != O2_CKSUM_NONE || o2_cksum_wanted(conn)))
		rc = o2_copy_from_buffer(&conn->ni->arena, &memory->buffer,
					 (uint8_t *)tx->base.message + O2_AT_PAYLOAD, error);
	if (rc != 0) {
		o2_tx_end(conn, tx);
		return rc;
	}
	submit(conn, tx, O2_MSG_IMMEDIATE, false, cookie_out);
	return 0;
}

int o2_conn_send_bytes(struct o2_conn *conn, const struct o2_lnet_hdr *hdr, const void *payload,
		       uint32_t payload_bytes, uint64_t tag, uint64_t *cookie_out, struct o2_error *error)
{
	struct o2_tx *tx;
	int rc = start_immediate(conn, hdr, payload_bytes, &tx, error);

	if (rc != 0)
		return rc;
	tx->tag = tag;
	if (payload_bytes > 0)
		memcpy((uint8_t *)tx->base.message + O2_AT_PAYLOAD, payload, payload_bytes);
	submit(conn, tx, O2_MSG_IMMEDIATE, false, cookie_out);
	return 0;
}
