/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "lnd/conn_internal.h"

/* How operations of our own begin (docs/transport.md, "Operations"). */

static int check_state(const struct o2_conn *conn, struct o2_error *error)
{
	if (conn->state == O2_CONN_ESTABLISHED)
		return 0;
	return o2_refuse_other(error, -ENOTCONN, "conn/not-established", "state", conn->state,
			       O2_CONN_ESTABLISHED);
}

int o2_submit_start(struct o2_conn *conn, enum o2_transfer_op op, enum o2_side side,
		    const struct o2_lnet_hdr *hdr, uint32_t types, struct o2_tx **tx, struct o2_error *error)
{
	struct o2_error ours;
	int rc = check_state(conn, error);

	if (rc != 0)
		return rc;
	if (hdr->type > O2_LNET_REPLY || (types >> hdr->type & 1) == 0)
		return o2_refuse(error, -EINVAL, "conn/lnet-type", "hdr.type", O2_NO_INDEX, hdr->type, types);
	*tx = o2_tx_start(conn, O2_TX_OURS, op, side, &ours);
	if (*tx == NULL) {
		if (error != NULL)
			*error = ours;
		return ours.code;
	}
	(*tx)->hdr = *hdr;
	return 0;
}

static void announce(struct o2_tx *tx, uint64_t *cookie_out)
{
	tx->silent = false;
	if (cookie_out != NULL)
		*cookie_out = tx->cookie;
}

void o2_submit(struct o2_conn *conn, struct o2_tx *tx, enum o2_msg_type type, uint64_t *cookie_out)
{
	announce(tx, cookie_out);
	o2_tx_queue(conn, tx, type);
	o2_pump(conn);
}

int o2_submit_request(struct o2_conn *conn, struct o2_tx *tx, enum o2_msg_type type,
		      const struct o2_transfer_memory *memory, uint64_t *cookie_out, struct o2_error *error)
{
	bool waits;
	int rc = o2_tx_map_or_wait(conn, tx, memory, &waits, error);

	if (rc != 0) {
		o2_tx_drop(conn, tx);
		return rc;
	}
	tx->tag = memory->tag;
	if (!waits) {
		o2_submit(conn, tx, type, cookie_out);
		return 0;
	}
	announce(tx, cookie_out);
	o2_tx_await_window(conn, tx, type);
	return 0;
}
