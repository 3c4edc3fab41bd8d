/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "lnd/conn_internal.h"

/* Codes below this are not errnos on any Linux; a peer may send any number (docs/transport.md, "Errors"). */
#define LOWEST_ERRNO (-4095)

/*
 * Transfers that we start and transfers that the peer starts have a half of the table each, so that neither
 * side can use up the other's room.  Of ours no more are used than both ends have agreed on.
 */
static struct o2_tx *find_free(const struct o2_conn *conn, bool initiator)
{
	uint32_t first = initiator ? 0 : conn->ntx / 2;
	uint32_t end = initiator ? conn->config.queue_depth : conn->ntx;

	for (uint32_t i = first; i < end; i++)
		if (conn->tx[i].state == O2_TX_FREE)
			return &conn->tx[i];
	return NULL;
}

bool o2_tx_available(const struct o2_conn *conn, bool initiator)
{
	return find_free(conn, initiator) != NULL;
}

struct o2_tx *o2_tx_start(struct o2_conn *conn, enum o2_transfer_op op, bool initiator, enum o2_side side)
{
	struct o2_tx *tx = find_free(conn, initiator);

	if (tx == NULL)
		return NULL;
	memset(tx, 0, sizeof(*tx));
	tx->state = O2_TX_STARTING;
	tx->op = op;
	tx->initiator = initiator;
	tx->side = side;
	tx->silent = true;
	return o2_tx_slot_take(conn, tx, NULL) == 0 ? tx : NULL;
}

struct o2_tx *o2_tx_find(struct o2_conn *conn, uint64_t cookie, enum o2_tx_state state)
{
	for (uint32_t i = 0; i < conn->ntx; i++)
		if (conn->tx[i].state == state && conn->tx[i].cookie == cookie)
			return &conn->tx[i];
	return NULL;
}

int o2_tx_initiate(struct o2_conn *conn, enum o2_transfer_op op, enum o2_side side,
		   const struct o2_transfer_memory *memory, struct o2_tx **tx_out, struct o2_error *error)
{
	struct o2_tx *tx;
	int rc;

	if (conn->state != O2_CONN_ESTABLISHED)
		return o2_refuse(error, -ENOTCONN, "conn/not-established", "state", O2_NO_INDEX, conn->state,
				 O2_CONN_ESTABLISHED);
	tx = o2_tx_start(conn, op, true, side);
	if (tx == NULL)
		return o2_refuse(error, -EBUSY, "conn/too-many-transfers", "open transfers", O2_NO_INDEX,
				 (uint64_t)conn->config.queue_depth + 1, conn->config.queue_depth);
	tx->tag = memory->tag;
	rc = o2_tx_map(conn, tx, memory, error);
	if (rc != 0)
		o2_tx_end(conn, tx);
	*tx_out = tx;
	return rc;
}

int o2_tx_request(struct o2_conn *conn, struct o2_tx *tx, enum o2_tx_state wait, uint64_t *cookie_out,
		  struct o2_error *error)
{
	int rc = o2_msg_post(conn, tx, NULL, error);

	if (rc != 0) {
		/* A failed post has closed the connection, and that has ended the transmit. */
		if (tx->state != O2_TX_FREE)
			o2_tx_end(conn, tx);
		return rc;
	}
	tx->silent = false;
	tx->state = wait;
	if (cookie_out != NULL)
		*cookie_out = tx->cookie;
	return 0;
}

/*
 * A sink's key dies before the transfer is reported: no peer can write into memory that its owner believes
 * finished.  Where that takes a work request, its completion is waited for.
 */
static void invalidate(struct o2_conn *conn, struct o2_tx *tx)
{
	struct o2_transfer_fault fault = {.side = O2_FAULT_LOCAL_STAGE};
	uint32_t nposted;

	tx->state = O2_TX_INVALIDATING;
	o2_chain_reset(&conn->chain);
	o2_binding_invalidate_wr(&tx->binding, o2_wr_id(O2_WORK_INV, (uint32_t)(tx - conn->tx)),
				 o2_chain_add(&conn->chain));
	fault.code = o2_chain_post(&conn->chain, conn->qp, &nposted, &fault.error);
	if (fault.code != 0)
		o2_conn_fail(conn, &fault, tx);
}

void o2_tx_settle(struct o2_conn *conn, struct o2_tx *tx)
{
	if (o2_binding_needs_invalidate(&tx->binding)) {
		invalidate(conn, tx);
		return;
	}
	tx->state = O2_TX_FINISHING;
	if (tx->nsends == 0)
		o2_tx_end(conn, tx);
}

void o2_tx_end(struct o2_conn *conn, struct o2_tx *tx)
{
	struct o2_transfer_result result = {
		.op = tx->op,
		.initiator = tx->initiator,
		.side = tx->side,
		.tag = tx->tag,
		.cookie = tx->cookie,
		.status = tx->fault.code,
		.nob = tx->fault.code == 0 ? tx->nob : 0,
		.nfrags = tx->nfrags,
		.nwr = tx->nwr,
		.fault = tx->fault,
	};
	bool silent = tx->silent;

	if (tx->fault.code == 0)
		o2_reg_deliver(&conn->ni->domain, &tx->binding, tx->nob);
	o2_tx_unmap(conn, tx);
	o2_tx_slot_give(conn, tx);
	tx->state = O2_TX_FREE;
	if (!silent)
		conn->ops.done(conn->context, &result);
}

void o2_tx_fault_stage(struct o2_tx *tx, int code, const struct o2_error *error)
{
	if (tx->fault.side == O2_FAULT_NONE)
		tx->fault = (struct o2_transfer_fault){
			.side = O2_FAULT_LOCAL_STAGE,
			.code = code,
			.error = *error,
		};
}

void o2_tx_fault_peer(struct o2_tx *tx, int32_t status)
{
	int code = status < LOWEST_ERRNO ? -EIO : status;

	if (tx->fault.side != O2_FAULT_NONE)
		return;
	tx->fault.side = O2_FAULT_PEER_STATUS;
	tx->fault.code = code;
	o2_refuse(&tx->fault.error, code, "transfer/peer-status", "-ibcm_status", O2_NO_INDEX,
		  (uint64_t)(-(int64_t)status), 0);
}
