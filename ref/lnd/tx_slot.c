/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <stddef.h>

#include "lnd/conn_internal.h"
#include "lnd/ni_pools.h"

/*
 * The message slot of a transmit: O2_MSG_BYTES from the pool of the peer's CPU partition.  All transmits of a
 * connection come from one set, so no two of them have the same cookie.
 */

static struct o2_tx_set *set_of(const struct o2_conn *conn)
{
	return &conn->ni->tx_sets[o2_ni_cpt(conn->ni, conn->peer.nid)];
}

int o2_tx_slot_take(struct o2_conn *conn, struct o2_tx *tx, struct o2_error *error)
{
	struct o2_tx_set *set = set_of(conn);
	int rc = o2_tx_take(set, &tx->slot, error);

	if (rc != 0)
		return rc;
	tx->slot_set = set;
	tx->slot->conn = conn;
	tx->cookie = tx->slot->cookie;
	return 0;
}

void o2_tx_slot_give(struct o2_conn *conn, struct o2_tx *tx)
{
	int rc;

	(void)conn;
	if (tx->slot == NULL)
		return;
	tx->slot->conn = NULL;
	rc = o2_tx_put(tx->slot_set, tx->slot, NULL);
	assert(rc == 0);
	tx->slot = NULL;
}

int o2_tx_slot_check(const struct o2_conn *conn, const struct o2_tx *tx, struct o2_error *error)
{
	return o2_tx_check_device(tx->slot_set, tx->slot, conn->device, error);
}

uint64_t o2_tx_next_cookie(const struct o2_conn *conn)
{
	return set_of(conn)->next_cookie;
}

uint8_t *o2_tx_slot_bytes(const struct o2_conn *conn, const struct o2_tx *tx)
{
	(void)conn;
	return tx->slot->message;
}

uint32_t o2_tx_slot_lkey(const struct o2_conn *conn, const struct o2_tx *tx)
{
	(void)conn;
	return o2_ni_slot_lkey(tx->slot);
}
