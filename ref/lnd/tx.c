/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/breaks.h"
#include "lnd/conn_internal.h"

/* Codes below this are not errnos on any Linux; a peer may send any number (docs/transport.md, "Errors"). */
#define LOWEST_ERRNO (-4095)

static void append(struct o2_tx_head *head, struct o2_tx *tx)
{
	tx->next = NULL;
	tx->prev = head->last;
	if (head->last != NULL)
		head->last->next = tx;
	else
		head->first = tx;
	head->last = tx;
	head->count++;
}

static void take_out(struct o2_tx_head *head, struct o2_tx *tx)
{
	if (tx->prev != NULL)
		tx->prev->next = tx->next;
	else
		head->first = tx->next;
	if (tx->next != NULL)
		tx->next->prev = tx->prev;
	else
		head->last = tx->prev;
	head->count--;
}

void o2_tx_move(struct o2_conn *conn, struct o2_tx *tx, enum o2_tx_list list)
{
	if (tx->list != O2_LIST_NONE)
		take_out(&conn->list[tx->list], tx);
	tx->list = list;
	if (list != O2_LIST_NONE)
		append(&conn->list[list], tx);
}

/* Idle ones form a stack: what was used last is what the caches know. */
static void make_idle(struct o2_conn *conn, struct o2_tx *tx, enum o2_tx_owner owner)
{
	struct o2_tx_head *head = &conn->idle[owner];

	tx->owner = owner;
	tx->in_use = false;
	tx->prev = NULL;
	tx->next = head->first;
	head->first = tx;
	head->count++;
}

void o2_tx_init(struct o2_conn *conn, const uint32_t owner_count[O2_TX_OWNERS])
{
	struct o2_tx *end = conn->tx;

	for (int owner = 0; owner < O2_TX_OWNERS; owner++) {
		end += owner_count[owner];
		for (uint32_t i = 1; i <= owner_count[owner]; i++)
			make_idle(conn, end - i, (enum o2_tx_owner)owner);
	}
}

struct o2_tx *o2_tx_start(struct o2_conn *conn, enum o2_tx_owner owner, enum o2_transfer_op op,
			  enum o2_side side, struct o2_error *error)
{
	struct o2_tx *tx = conn->idle[owner].first;

	if (tx == NULL) {
		o2_refuse(error, -EBUSY, "conn/too-many-transfers", "operations open or queued", O2_NO_INDEX,
			  (uint64_t)conn->config.max_transfers + 1, conn->config.max_transfers);
		return NULL;
	}
	conn->idle[owner].first = tx->next;
	conn->idle[owner].count--;
	memset(tx, 0, offsetof(struct o2_tx, hdr));
	if (o2_tx_slot_take(conn, tx, error) != 0) {
		make_idle(conn, tx, owner);
		return NULL;
	}
	tx->owner = owner;
	tx->op = op;
	tx->side = side;
	tx->initiator = owner == O2_TX_OURS;
	tx->silent = true;
	tx->in_use = true;
	conn->nopen += owner != O2_TX_NOOPS;
	return tx;
}

/* An equal cookie of a transmit that waits for something else, or for nothing, is not a match. */
struct o2_tx *o2_tx_find(struct o2_conn *conn, uint64_t cookie, enum o2_msg_type type)
{

	for (struct o2_tx *tx = conn->list[O2_LIST_ACTIVE].first; tx != NULL; tx = tx->next) {
		if (tx->cookie != cookie)
			continue;
		if (tx->waiting && tx->type == type)
			return tx;
	}
	return NULL;
}

static enum o2_tx_list list_of(const struct o2_conn *conn, enum o2_msg_type type)
{
	if (o2_takes_reserve(type))
		return O2_LIST_RESERVED;
	if (!o2_takes_credit(conn->credits.version, type))
		return O2_LIST_NOCRED;
	return type == O2_MSG_NOOP ? O2_LIST_NOOPS : O2_LIST_QUEUE;
}

void o2_tx_await_window(struct o2_conn *conn, struct o2_tx *tx, enum o2_msg_type type)
{
	tx->type = type;
	tx->deadline_ms = o2_deadline(conn);
	o2_tx_move(conn, tx, O2_LIST_WINDOW);
}

void o2_tx_queue(struct o2_conn *conn, struct o2_tx *tx, enum o2_msg_type type)
{
	tx->type = type;
	tx->deadline_ms = o2_deadline(conn);
	tx->waiting = o2_takes_reserve(type) || type == O2_MSG_PUT_ACK;
	o2_tx_move(conn, tx, list_of(conn, type));
}

/*
 * A sink's key dies before the operation is reported: no peer can write into memory that its owner believes
 * finished.  Where that takes a work request, its completion is waited for.
 */
void o2_tx_settle(struct o2_conn *conn, struct o2_tx *tx)
{
	tx->waiting = false;
	if (o2_binding_needs_invalidate(&tx->binding)) {
		tx->invalidating = true;
		o2_tx_move(conn, tx, O2_LIST_INVALIDATE);
	} else {
		o2_tx_check_done(conn, tx);
	}
}

void o2_tx_check_done(struct o2_conn *conn, struct o2_tx *tx)
{
	if (tx->list == O2_LIST_ACTIVE && tx->nsends == 0 && !tx->waiting && !tx->invalidating)
		o2_tx_end(conn, tx);
}

void o2_tx_end(struct o2_conn *conn, struct o2_tx *tx)
{
	struct o2_transfer_result result;
	bool silent = tx->silent;

	o2_tx_unmap(conn, tx);
	result = (struct o2_transfer_result){
		.op = tx->op,
		.initiator = tx->initiator,
		.side = tx->side,
		.tag = tx->tag,
		.cookie = tx->cookie,
		.health = tx->health,
		.status = tx->fault.code,
		.nob = tx->fault.code == 0 ? tx->nob : 0,
		.nfrags = tx->nfrags,
		.nwr = tx->nwr,
		.fault = tx->fault,
	};
	o2_tx_drop(conn, tx);
	if (!silent)
		conn->ops.done(conn->context, &result);
}

void o2_tx_drop(struct o2_conn *conn, struct o2_tx *tx)
{
	o2_tx_move(conn, tx, O2_LIST_NONE);
	o2_tx_unmap(conn, tx);
	o2_tx_slot_give(conn, tx);
	conn->nopen -= tx->owner != O2_TX_NOOPS;
	make_idle(conn, tx, tx->owner);
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
	int code = o2_breaks("transfer/lowest-errno", status < LOWEST_ERRNO) ? -EIO : status;

	if (tx->fault.side != O2_FAULT_NONE)
		return;
	tx->health = O2_HEALTH_REMOTE_ERROR;
	tx->fault.side = O2_FAULT_PEER_STATUS;
	tx->fault.code = code;
	o2_refuse(&tx->fault.error, code, "transfer/peer-status", "-ibcm_status", O2_NO_INDEX,
		  (uint64_t)(-(int64_t)status), O2_NO_LIMIT);
}
