/* SPDX-License-Identifier: MIT */
#include "lnd/conn_internal.h"

/* The message slot of a transmit: O2_MSG_BYTES that no peer can write other than by a SEND. */

int o2_tx_slot_take(struct o2_conn *conn, struct o2_tx *tx, struct o2_error *error)
{
	(void)error;
	tx->cookie = conn->next_cookie++;
	return 0;
}

void o2_tx_slot_give(struct o2_conn *conn, struct o2_tx *tx)
{
	(void)conn;
	(void)tx;
}

uint8_t *o2_tx_slot_bytes(const struct o2_conn *conn, const struct o2_tx *tx)
{
	return conn->slots + ((uint64_t)conn->nrecv + (uint64_t)(tx - conn->tx)) * O2_MSG_BYTES;
}

uint32_t o2_tx_slot_lkey(const struct o2_conn *conn, const struct o2_tx *tx)
{
	(void)tx;
	return conn->slot_mr->lkey;
}
